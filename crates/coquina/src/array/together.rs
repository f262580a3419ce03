//! Arrays in files of their own that are committed together, such as the columns of a table.
//!
//! In: arrays with changes of an open transaction, and a manifest that names their states. Out: all of the changes, or
//! none. The manifest takes the place of the old one in one step, and that is the commit.
//! Source: `docs/formats/frame.md`, "Commits of several frames".
//! Invariant: an array that has taken part is in a transaction, and is committed in no other way.

use super::handle::Array;
use crate::base::error::{Error, Result};
use crate::frame::{CommitId, Manifest};

/// What has become of a commit.
#[derive(Debug)]
pub enum Outcome {
    /// It has happened.
    Committed,
    /// It has happened, and may not outlive a power cut; nothing more can be written.
    NotDurable(Error),
    /// It has not happened, and all changes are undone.
    Undone(Error),
    /// Nobody knows; nothing more can be written.
    Unknown(Error),
}

impl Array {
    /// What tells the last commit of a file from all other states; `None` for what is in no file.
    pub fn commit_id(&self) -> Option<CommitId> {
        self.waited_writer().store.commit_id()
    }

    /// Writes all changes since [`Array::begin`], to be committed by [`commit_together`]; returns the id by which a
    /// manifest names the state.
    ///
    /// # Errors
    /// `Io`, or `Invalid` if one of the changes has failed; all of them are then to be rolled back.
    pub fn prepare(&self) -> Result<CommitId> {
        let mut writer = self.writer()?;
        writer.check()?;
        let durable = writer.durable;
        let done = writer.store.prepare(durable);
        if done.is_err() {
            writer.is_broken = true;
            self.go_back(&mut writer);
        }
        done
    }

    /// Forgets all changes since the last commit; those to come are of the next one.
    ///
    /// # Errors
    /// As [`Array::begin`].
    pub fn undo(&self) -> Result<()> {
        self.rollback();
        self.begin()
    }

    fn finish(&self) {
        let state = self.state();
        let mut writer = self.waited_writer();
        writer.store.finish();
        writer.committed = state;
    }
}

/// What a commit writes: a JSON object.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// The manifest, in place of the old one.
    Whole(&'a [u8]),
    /// What has changed since the last commit, in one line.
    Line(&'a [u8]),
}

/// Commits the prepared states of these arrays by a manifest that names them. The arrays go on in a transaction.
pub fn commit_together(arrays: &[&Array], manifest: &mut Manifest, text: Text<'_>, durable: bool) -> Outcome {
    let (written, text) = match text {
        Text::Whole(text) => (manifest.replace(text, durable), text),
        Text::Line(text) => (manifest.add(text), text),
    };
    let Err(error) = written else {
        return finish(arrays, if durable { manifest.sync() } else { Ok(()) });
    };
    // Not even a write that has failed says for sure that nothing has happened.
    match manifest.ends_with(text) {
        Some(true) => finish(arrays, Err(error)),
        Some(false) => match arrays.iter().try_for_each(|array| array.undo()) {
            Ok(()) => Outcome::Undone(error),
            Err(_) => Outcome::Unknown(error),
        },
        None => {
            abandon(arrays);
            Outcome::Unknown(error)
        }
    }
}

fn finish(arrays: &[&Array], synced: Result<()>) -> Outcome {
    arrays.iter().for_each(|array| array.finish());
    match synced {
        Ok(()) => Outcome::Committed,
        Err(error) => {
            abandon(arrays);
            Outcome::NotDurable(error)
        }
    }
}

fn abandon(arrays: &[&Array]) {
    arrays.iter().for_each(|array| array.waited_writer().store.abandon());
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::array::{Access, ArraySpec, Fill, OpenOptions, Selection, Target, Values, Window};
    use crate::base::io::Existing;
    use crate::base::pool::Job;
    use crate::chunk::{Params, Special};
    use crate::frame::{Kind, Mode, faults, read_manifest};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("coquina-together-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, number: usize) -> PathBuf {
            self.0.join(format!("{number}.b2nd"))
        }

        fn manifest(&self) -> Manifest {
            Manifest::new(&self.0.join("manifest.json"))
        }

        /// The last that was written.
        fn text(&self) -> Vec<u8> {
            let found = read_manifest(&self.0.join("manifest.json")).unwrap();
            found.lines.into_iter().next_back().unwrap_or(found.whole)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn create(path: PathBuf, kind: Kind) -> Array {
        let spec = ArraySpec {
            shape: vec![0],
            chunks: Some(vec![8]),
            blocks: Some(vec![4]),
            access: Access::Any,
            dtype: "|u1".into(),
            fill: Fill::Special(Special::Zeros),
            params: Params { typesize: 1, ..Params::default() },
            checksums: true,
            statistics: true,
            tuning: None,
        };
        let target = Target::File { path, kind, existing: Existing::Replace };
        let array = Array::create(&spec, &target).unwrap();
        array.publish().unwrap();
        array
    }

    fn open(path: &Path, commit: Option<CommitId>, mode: Mode) -> Result<Array> {
        let options = OpenOptions { mode, commit, ..OpenOptions::default() };
        Array::open(path, &options)
    }

    fn append(array: &Array, items: &[u8]) -> Result<()> {
        array.append(0, items.len() as u64, Values::Bytes(items), &Job::inline())
    }

    fn items(array: &Array) -> Vec<u8> {
        let len = array.grid().shape()[0];
        let mut out = vec![0; usize::try_from(len).unwrap()];
        let window = Window { offset: 0, bytes: 1 };
        array
            .read(&Selection::region(std::slice::from_ref(&(0..len))), window, &mut out, &Job::inline())
            .unwrap();
        out
    }

    fn resize(array: &Array, len: u64) {
        array.resize(&[len], &Job::inline()).unwrap();
    }

    /// What changes two arrays: whoever sees it of one must see it of the other.
    fn steps() -> Vec<fn(&Array, u8)> {
        vec![
            |array, seed| append(array, &[seed; 21]).unwrap(),
            |array, seed| append(array, &[seed + 1; 5]).unwrap(),
            |array, seed| {
                let window = Window { offset: 0, bytes: 1 };
                let values = Values::Bytes(&[seed; 9]);
                array
                    .write(&Selection::region(std::slice::from_ref(&(3..12))), window, values, &Job::inline())
                    .unwrap();
            },
            |array, _| resize(array, 10),
            |array, _| resize(array, 0),
            |array, seed| append(array, &[seed + 3; 3]).unwrap(),
            |array, _| array.set_layer("unit", Some(b"mm".to_vec())).unwrap(),
        ]
    }

    fn ids(arrays: &[&Array]) -> Vec<CommitId> {
        arrays.iter().map(|array| array.prepare().unwrap()).collect()
    }

    fn text(ids: &[CommitId]) -> Vec<u8> {
        format!("{{{ids:?}}}").into_bytes()
    }

    #[test]
    fn a_commit_of_two_arrays_that_was_cut_anywhere_is_the_last_one_or_the_new_one() {
        let folder = Folder::new("cut");
        let (a, b) = (create(folder.file(0), Kind::Contiguous), create(folder.file(1), Kind::Contiguous));
        let arrays = [&a, &b];
        arrays.iter().for_each(|array| array.begin().unwrap());
        let mut old = ids(&arrays);
        let mut held = arrays.map(items);
        for (number, step) in steps().into_iter().enumerate() {
            let before = [0, 1].map(|n| fs::read(folder.file(n)).unwrap());
            arrays.iter().zip([7, 70]).for_each(|(array, seed)| step(array, seed));
            let new = ids(&arrays);
            let wanted = arrays.map(items);
            let copy = folder.0.join("copy.b2nd");
            let found = |bytes: &[u8], id, mode| {
                fs::write(&copy, bytes).unwrap();
                open(&copy, Some(id), mode).map(|array| items(&array))
            };
            for n in 0..2 {
                let all = fs::read(folder.file(n)).unwrap();
                for end in (usize::try_from(old[n].end).unwrap()..=all.len()).rev().step_by(5) {
                    // No manifest names the new state yet.
                    assert_eq!(
                        found(&all[..end], old[n], Mode::Read).unwrap(),
                        held[n],
                        "step {number}, {end} bytes"
                    );
                    assert_eq!(
                        found(&all[..end], old[n], Mode::Write).unwrap(),
                        held[n],
                        "step {number}, {end} bytes"
                    );
                    if held[n].is_empty() && number > 0 {
                        // The header of a frame that has become empty says where no record is.
                        continue;
                    }
                    let newest = items(&open(&copy, None, Mode::Read).unwrap());
                    assert_eq!(newest, held[n], "step {number}, {end} bytes, opened alone");
                }
                assert_eq!(found(&all, new[n], Mode::Read).unwrap(), wanted[n], "step {number}");
                let other = open(&folder.file(1 - n), Some(new[n]), Mode::Read);
                assert_eq!(other.is_ok(), new[0] == new[1], "step {number}: the other");
                assert!(new[0] != new[1] || wanted[0] == wanted[1], "step {number}: one id for two states");
                fs::write(&copy, &before[n]).unwrap();
                let is_same = old[n] == new[n];
                assert_eq!(open(&copy, Some(new[n]), Mode::Read).is_ok(), is_same, "step {number}: older");
            }
            let outcome = commit_together(&arrays, &mut folder.manifest(), Text::Whole(&text(&new)), false);
            assert!(matches!(outcome, Outcome::Committed), "{outcome:?}");
            for n in 0..2 {
                let (all, front) = (fs::read(folder.file(n)).unwrap(), before[n].len().min(300));
                for torn in (0..front).step_by(3) {
                    // The manifest names the new state, and the header is that of the old one, or half of it.
                    let bytes = [&all[..torn], &before[n][torn..front], &all[front..]].concat();
                    assert_eq!(
                        found(&bytes, new[n], Mode::Read).ok(),
                        Some(wanted[n].clone()),
                        "step {number}, torn at {torn}"
                    );
                    assert_eq!(
                        found(&bytes, new[n], Mode::Write).ok(),
                        Some(wanted[n].clone()),
                        "step {number}, torn at {torn}"
                    );
                    assert_eq!(items(&open(&copy, None, Mode::Read).unwrap()), wanted[n], "opened alone");
                }
            }
            (old, held) = (new, wanted);
        }
    }

    #[test]
    fn after_any_call_that_fails_the_arrays_are_as_committed_and_go_on_or_refuse() {
        for case in 0..8 {
            let (durable, lasting, has_lines) = (case & 1 > 0, case & 2 > 0, case & 4 > 0);
            for fault in 1.. {
                let folder = Folder::new(&format!("fail-{case}"));
                let made = [0, 1].map(|n| create(folder.file(n), Kind::Contiguous));
                let arrays = [&made[0], &made[1]];
                arrays.iter().for_each(|array| {
                    array.set_durable(durable);
                    array.begin().unwrap();
                    append(array, &[1; 11]).unwrap();
                });
                let (tried, manifest) = (RefCell::new(Vec::new()), RefCell::new(folder.manifest()));
                let commit = |item: u8| -> Result<()> {
                    let changed = arrays.iter().try_for_each(|array| append(array, &[item; 6]));
                    let prepared =
                        changed.and_then(|()| arrays.iter().map(|array| array.prepare()).collect());
                    let new: Vec<CommitId> = match prepared {
                        Ok(new) => new,
                        Err(error) => {
                            arrays.iter().try_for_each(|array| array.undo())?;
                            return Err(error);
                        }
                    };
                    tried.borrow_mut().push(new.clone());
                    let (new, manifest) = (text(&new), &mut *manifest.borrow_mut());
                    let is_line = has_lines && manifest.takes_line();
                    let new = if is_line { Text::Line(&new) } else { Text::Whole(&new) };
                    match commit_together(&arrays, manifest, new, durable) {
                        Outcome::Committed => Ok(()),
                        Outcome::NotDurable(error) | Outcome::Undone(error) | Outcome::Unknown(error) => {
                            Err(error)
                        }
                    }
                };
                commit(2).unwrap();
                let mut wanted = vec![[[1; 11].as_slice(), &[2; 6]].concat()];
                faults::fail_at(fault, lasting);
                let failed = commit(3);
                let has_failed = faults::end();
                assert!(failed.is_ok() || has_failed, "{fault}: an error without a fault");
                wanted.push([&wanted[0][..], &[3; 6]].concat());
                let found = arrays.map(items);
                assert_eq!(found[0], found[1], "{fault}: of two commits");
                assert!(wanted.contains(&found[0]), "{fault}");
                let second = commit(4);
                let now = [&found[0][..], &[4; 6]].concat();
                let wanted = if second.is_ok() { &now } else { &found[0] };
                assert_eq!(arrays.map(items), [wanted.clone(), wanted.clone()], "{fault}");
                drop(made);
                let last = folder.text();
                let tried = tried.borrow();
                let named = tried.iter().find(|ids| text(ids) == last).unwrap();
                for (n, id) in named.iter().enumerate() {
                    let again = open(&folder.file(n), Some(*id), Mode::Read).unwrap();
                    assert_eq!(items(&again), *wanted, "{fault}");
                }
                if !has_failed {
                    break;
                }
            }
        }
    }

    #[test]
    fn after_any_call_that_fails_an_array_is_as_its_file_is_and_goes_on_or_refuses() {
        for kind in [Kind::Contiguous, Kind::Sparse] {
            for (durable, lasting) in [(false, false), (true, false), (true, true)] {
                for fault in 1.. {
                    let folder = Folder::new(&format!("alone-{kind:?}-{durable}-{lasting}"));
                    let array = create(folder.file(0), kind);
                    array.set_durable(durable);
                    append(&array, &[1; 11]).unwrap();
                    faults::fail_at(fault, lasting);
                    let failed = append(&array, &[2; 6]);
                    let has_failed = faults::end();
                    let mut found = items(&array);
                    assert!(failed.is_err() || found.len() == 17, "{kind:?} {fault}");
                    assert!([11, 17].contains(&found.len()), "{kind:?} {fault}");
                    let newest = items(&open(&folder.file(0), None, Mode::Read).unwrap());
                    let second = append(&array, &[4; 5]);
                    if second.is_ok() {
                        assert_eq!(newest, found, "{kind:?} {fault}: goes on from another state");
                        found.extend([4; 5]);
                    }
                    assert_eq!(items(&array), found, "{kind:?} {fault}");
                    drop(array);
                    let again = items(&open(&folder.file(0), None, Mode::Write).unwrap());
                    assert_eq!(again, if second.is_ok() { found } else { newest }, "{kind:?} {fault}");
                    if !has_failed {
                        break;
                    }
                }
            }
        }
    }
}
