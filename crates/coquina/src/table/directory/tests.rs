//! Laws of directories: each change is one commit, whatever fails, and what is read was committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::array::{Access, Array, ArraySpec, Fill, Selection, Values, Window, commit_together};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::json::{Json, JsonObject, JsonText};
use crate::base::pool::Job;
use crate::base::testing::random;
use crate::chunk::{Params, Special};
use crate::frame::{Manifest, faults};
use crate::table::{NodeKind, TableStorage};

const WRITE: DirectoryOptions =
    DirectoryOptions { writable: true, durable: false, wait: std::time::Duration::ZERO, damaged: false };
const READ: DirectoryOptions = DirectoryOptions { writable: false, ..WRITE };

/// A folder for one test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-directory-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn table(&self) -> PathBuf {
        self.0.join("t")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn spec() -> ArraySpec {
    ArraySpec {
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
    }
}

fn array(directory: &TableDirectory, path: &str) -> Arc<Array> {
    directory.array(path.as_bytes()).unwrap().unwrap()
}

fn append(directory: &TableDirectory, path: &str, items: &[u8]) -> Result<()> {
    let array = directory.array(path.as_bytes())?.unwrap();
    array.append(0, items.len() as u64, Values::Bytes(items), &Job::inline())
}

fn items(array: &Array) -> Result<Vec<u8>> {
    let len = array.grid().shape()[0];
    let mut out = vec![0; usize::try_from(len).unwrap()];
    let window = Window { offset: 0, bytes: 1 };
    array.read(&Selection::region(std::slice::from_ref(&(0..len))), window, &mut out, &Job::inline())?;
    Ok(out)
}

/// All that there is: paths, what the manifest says of them, and the items of arrays.
fn shown(directory: &TableDirectory) -> Result<Vec<(String, String, Vec<u8>)>> {
    let one = |path: JsonText| {
        let node = directory.node(path.as_bytes()).unwrap();
        let mut text = Vec::new();
        Node::clone(&node).with_state(None).write(&mut text);
        let found = directory.array(path.as_bytes())?.map_or(Ok(Vec::new()), |array| items(&array))?;
        Ok((path.to_string(), String::from_utf8_lossy(&text).into_owned(), found))
    };
    directory.paths().into_iter().map(one).collect()
}

fn at(path: &Path, options: DirectoryOptions) -> Vec<(String, String, Vec<u8>)> {
    shown(&TableDirectory::open(path, options).unwrap()).unwrap()
}

/// A table with two arrays of ten items and a list of texts.
fn made(path: &Path) -> Arc<TableDirectory> {
    let directory = TableDirectory::make(path, false).unwrap();
    let fill = || {
        for name in ["a", "g/b"] {
            directory.create_array(&name.into(), &spec(), None)?;
            append(&directory, name, &[1; 10])?;
        }
        directory.put_texts(&"kinds".into(), vec!["é".into(), "".into()])
    };
    directory.change(fill).unwrap();
    directory
}

/// A change, and whether it is one of nodes too.
type Change = fn(&TableDirectory) -> Result<()>;

/// What changes a table in each way that there is.
const CHANGES: [Change; 6] = [
    |directory| {
        append(directory, "a", &[2; 5])?;
        append(directory, "g/b", &[3; 5])
    },
    |directory| {
        append(directory, "a", &[2; 5])?;
        directory.change_attributes(b"", |attributes| attributes.set("unit".into(), "mm".into()))
    },
    |directory| {
        directory.create_array(&"more".into(), &spec(), None)?;
        append(directory, "more", &[7; 3])
    },
    |directory| directory.remove_below(b"g"),
    |directory| {
        directory.move_to(b"a", b"c/d")?;
        append(directory, "c/d", &[4])
    },
    |directory| {
        array(directory, "a").resize(&[3], &Job::inline())?;
        directory.put_texts(&"kinds".into(), vec!["new".into()])
    },
];

#[test]
fn a_change_is_one_commit_and_is_there_when_the_directory_is_opened_again() {
    let folder = Folder::new("again");
    for (number, change) in CHANGES.iter().enumerate() {
        let path = folder.0.join(number.to_string());
        let directory = made(&path);
        let (before, generation) = (shown(&directory).unwrap(), directory.generation());
        assert_eq!(at(&path, READ), before);
        directory.begin().unwrap();
        directory.change(|| change(&directory)).unwrap();
        assert_eq!(at(&path, READ), before, "{number}: seen before its end");
        directory.end(true).unwrap();
        let after = shown(&directory).unwrap();
        assert!(after != before && directory.generation() == generation + 1, "{number}");
        assert_eq!(at(&path, READ), after, "{number}");
        directory.close().unwrap();
        assert!(directory.check_usable().is_err() && directory.change(|| Ok(())).is_err());
        for options in [READ, WRITE] {
            assert_eq!(at(&path, options), after, "{number}");
        }
        let text = fs::read(path.join("table.json")).unwrap();
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), after.len() + 3, "lines stay behind");
    }
}

#[test]
fn a_change_that_fails_changes_nothing_and_leaves_no_file() {
    let folder = Folder::new("undo");
    let directory = made(&folder.table());
    let names = || fs::read_dir(folder.table()).unwrap().count();
    let (before, count) = (shown(&directory).unwrap(), names());
    for change in CHANGES {
        let failed = directory.change(|| {
            directory.change(|| change(&directory))?;
            Err::<(), _>(Error::limit("enough"))
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!((shown(&directory).unwrap(), names()), (before.clone(), count));
        assert_eq!(at(&folder.table(), READ), before);
    }
    directory.change(|| CHANGES[0](&directory)).unwrap();
    assert_eq!(at(&folder.table(), READ), shown(&directory).unwrap());
    assert!(directory.end(true).is_err(), "an end without a beginning");
}

#[test]
fn after_any_call_that_fails_the_table_is_as_before_or_after_and_goes_on_or_refuses() {
    // `lasting` is a kill: no call after it comes to anything.
    for (number, change) in CHANGES.iter().enumerate() {
        for (durable, lasting) in [(false, false), (false, true), (true, false), (true, true)] {
            for fault in 1.. {
                let folder = Folder::new(&format!("fault-{number}-{durable}-{lasting}"));
                drop(made(&folder.table()));
                let options = DirectoryOptions { durable, ..WRITE };
                let directory = TableDirectory::open(&folder.table(), options).unwrap();
                // From here on lines can be added.
                directory
                    .change(|| append(&directory, "a", &[9]).and(append(&directory, "g/b", &[9])))
                    .unwrap();
                let before = shown(&directory).unwrap();
                faults::fail_at(fault, lasting);
                let done = directory.change(|| change(&directory));
                let has_failed = faults::end();
                assert!(done.is_ok() || has_failed, "{number} {fault}: an error without a fault");
                let stored = at(&folder.table(), READ);
                if !directory.is_broken() {
                    let now = shown(&directory).unwrap();
                    assert_eq!(stored, now, "{number} {fault}: seen by others");
                    assert_eq!(done.is_err(), now == before, "{number} {fault}");
                    directory.change(|| directory.put_group(&"goes on".into())).unwrap();
                    assert_eq!(at(&folder.table(), READ), shown(&directory).unwrap(), "{number} {fault}");
                    directory.change(|| directory.remove_below(b"goes on")).unwrap();
                } else {
                    assert!(done.is_err() && directory.change(|| Ok(())).is_err(), "{number} {fault}");
                }
                drop(directory);
                let again = TableDirectory::open(&folder.table(), WRITE).unwrap();
                assert_eq!(shown(&again).unwrap(), stored, "{number} {fault}: opened again");
                if stored == before {
                    again.change(|| change(&again)).unwrap();
                }
                let after = shown(&again).unwrap();
                assert_ne!(after, before);
                again.close().unwrap();
                assert_eq!(at(&folder.table(), READ), after, "{number} {fault}");
                if !has_failed {
                    break;
                }
            }
        }
    }
}

#[test]
fn all_who_write_a_directory_in_a_process_have_the_same_one() {
    let folder = Folder::new("users");
    let path = folder.table();
    let first = made(&path);
    let second = TableDirectory::open(&path, WRITE).unwrap();
    assert!(Arc::ptr_eq(&first, &second) && first.id() == second.id());
    let durable = TableDirectory::open(&path, DirectoryOptions { durable: true, ..WRITE }).unwrap();
    assert!(first.is_durable() && array(&first, "a").is_durable());
    durable.close().unwrap();
    second.close().unwrap();
    first.change(|| CHANGES[0](&first)).unwrap();
    first.close().unwrap();
    assert!(first.change(|| Ok(())).is_err());
    // Who forgets a directory has let go of it.
    let again = TableDirectory::open(&path, WRITE).unwrap();
    assert!(!Arc::ptr_eq(&first, &again) && again.id() != first.id());
    drop(again);
    TableDirectory::open(&path, WRITE).unwrap().close().unwrap();
    // Somebody else has the lock.
    let lock = crate::frame::FolderLock::take(&path).unwrap();
    let error = TableDirectory::open(&path, WRITE).map(drop).unwrap_err();
    assert_eq!(error.io().unwrap().kind(), std::io::ErrorKind::WouldBlock);
    drop(lock);
    assert!(TableDirectory::make(&path, false).is_err());
}

#[test]
fn readers_keep_their_commit_until_they_refresh() {
    let folder = Folder::new("readers");
    let directory = made(&folder.table());
    for change in [0, 1, 2, 5, 4] {
        let reader = TableDirectory::open(&folder.table(), READ).unwrap();
        let before = shown(&reader).unwrap();
        assert!(!reader.is_outdated().unwrap() && !reader.refresh().unwrap());
        let known = array(&reader, "g/b");
        directory.change(|| CHANGES[change](&directory)).unwrap();
        assert_eq!(shown(&reader).unwrap(), before);
        assert!(reader.is_outdated().unwrap() && reader.refresh().unwrap());
        assert_eq!(shown(&reader).unwrap(), shown(&directory).unwrap());
        assert_eq!(Arc::ptr_eq(&known, &array(&reader, "g/b")), change != 0);
        assert!(reader.change(|| reader.put_group(&"x".into())).is_err());
        assert_eq!(shown(&reader).unwrap(), shown(&directory).unwrap());
    }
}

#[test]
fn threads_wait_for_each_other_and_never_mix_their_changes() {
    let folder = Folder::new("threads");
    let directory = made(&folder.table());
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let directory = &directory;
            scope.spawn(move || {
                for _ in 0..20 {
                    let both =
                        || append(directory, "a", &[thread; 3]).and(append(directory, "g/b", &[thread; 3]));
                    directory.change(both).unwrap();
                }
            });
        }
        for _ in 0..20 {
            let found = at(&folder.table(), READ);
            assert_eq!(found[1].2, found[2].2);
        }
    });
    let found = at(&folder.table(), READ);
    assert_eq!(found[1].2.len(), 10 + 4 * 20 * 3);
    assert!(found[1].2[10..].chunks(3).all(|rows| rows.iter().all(|row| *row == rows[0])));
}

#[test]
fn what_killed_writers_leave_is_removed_by_the_first_commit() {
    let folder = Folder::new("sweep");
    drop(made(&folder.table()));
    let (table, index) = (folder.table(), folder.table().join("index"));
    drop(made(&index));
    let left = ["0099.b2nd", ".0100.b2nd.12-0.tmp", "table.json.tmp"];
    let kept = ["notes.txt", "001.b2nd", "0001.b2nd.bak"];
    for name in left.iter().chain(&kept) {
        fs::write(table.join(name), b"x").unwrap();
        fs::write(index.join(name), b"x").unwrap();
    }
    let directory = TableDirectory::open(&table, WRITE).unwrap();
    let before = at(&index, READ);
    directory.change(|| CHANGES[0](&directory)).unwrap();
    for name in left {
        assert!(!table.join(name).exists() && !index.join(name).exists(), "{name}");
    }
    for name in kept {
        assert!(table.join(name).exists() && index.join(name).exists(), "{name}");
    }
    assert_eq!(at(&index, READ), before);
    drop(directory);
    fs::remove_dir_all(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let directory = TableDirectory::open(&table, WRITE).unwrap();
    directory.change(|| CHANGES[0](&directory)).unwrap();
    assert!(!index.exists(), "nothing was committed there");
}

#[test]
fn compacting_gives_room_back_and_readers_keep_what_they_have() {
    let folder = Folder::new("compact");
    let directory = made(&folder.table());
    for item in 0..30 {
        let array = array(&directory, "a");
        let window = Window { offset: 0, bytes: 1 };
        let all = Selection::all(&[10]);
        directory.change(|| array.write(&all, window, Values::Bytes(&[item; 10]), &Job::inline())).unwrap();
    }
    let reader = TableDirectory::open(&folder.table(), READ).unwrap();
    let (before, old) = (shown(&reader).unwrap(), array(&reader, "a"));
    directory.compact().unwrap();
    assert_eq!(array(&directory, "a").stats().sizes.dead_bytes, 0);
    assert_eq!(items(&array(&directory, "a")).unwrap(), [29; 10]);
    assert_eq!((items(&old).unwrap(), shown(&reader).unwrap()), (vec![29; 10], before));
    assert!(reader.refresh().unwrap());
    assert_eq!(shown(&reader).unwrap(), shown(&directory).unwrap());
    directory.change(|| CHANGES[0](&directory)).unwrap();
    assert_eq!(at(&folder.table(), READ), shown(&directory).unwrap());
}

#[test]
fn only_tables_are_replaced_and_old_handles_write_no_more() {
    let folder = Folder::new("replace");
    let (old, new) = (folder.table(), folder.0.join("new"));
    let directory = made(&old);
    let other = made(&new);
    other.change(|| CHANGES[1](&other)).unwrap();
    let wanted = shown(&other).unwrap();
    other.close().unwrap();
    fs::write(old.join("notes.txt"), b"mine").unwrap();
    let error = put_in_place(&new, &old).unwrap_err();
    assert!(error.to_string().contains("notes.txt") && new.exists(), "{error}");
    fs::remove_file(old.join("notes.txt")).unwrap();
    put_in_place(&new, &old).unwrap();
    assert!(!new.exists());
    let error = directory.change(|| Ok(())).unwrap_err();
    assert!(error.to_string().contains("replaced"), "{error}");
    assert_eq!(at(&old, WRITE), wanted);
    fs::create_dir(&new).unwrap();
    assert!(check_is_replaceable(&new).is_err() && check_is_replaceable(&old).is_ok());
}

#[test]
fn files_of_other_commits_are_refused_and_what_is_left_can_be_read() {
    let folder = Folder::new("foreign");
    let path = folder.table();
    let directory = made(&path);
    directory.change(|| CHANGES[0](&directory)).unwrap();
    let wanted = items(&array(&directory, "a")).unwrap();
    directory.close().unwrap();
    let file = path.join("0001.b2nd");
    let good = fs::read(&file).unwrap();
    fs::copy(path.join("0002.b2nd"), &file).unwrap();
    let open = |options| TableDirectory::open(&path, options).unwrap();
    let error = open(READ).array(b"a").map(drop).unwrap_err();
    assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains("'a'"), "{error}");
    fs::remove_file(&file).unwrap();
    assert_eq!(open(READ).array(b"a").map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
    let damaged = DirectoryOptions { damaged: true, ..READ };
    assert_eq!(open(damaged).array(b"a").map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
    fs::write(&file, &good).unwrap();
    assert_eq!(items(&array(&open(damaged), "a")).unwrap(), wanted);
    assert!(open(READ).array(b"g").unwrap().is_none() && open(READ).array(b"kinds").unwrap().is_none());
}

#[test]
fn manifests_keep_what_python_wrote_and_hostile_ones_are_errors() {
    let folder = Folder::new("hostile");
    let path = folder.table();
    made(&path).close().unwrap();
    let write = |text: &[u8]| {
        let mut manifest = Manifest::new(&path.join("table.json"));
        commit_together(&[], &mut manifest, crate::array::Text::Whole(text), false);
    };
    let whole = crate::frame::read_manifest(&path.join("table.json")).unwrap().whole;
    let text = String::from_utf8(whole).unwrap();
    let odd = "\"attrs\": {\"big\": 123456789012345678901234567890, \"nan\": NaN, \"f\": 1.50, \"o\": {}}, \"x\": [1]";
    let text = text.replacen("\"attrs\": {}", odd, 1).into_bytes();
    write(&text);
    let found = manifest::read(&path).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&manifest::whole_text(&found.nodes, found.generation)),
        String::from_utf8_lossy(&text)
    );
    let mut next = random(7);
    let marks = b"[]{}\",:0123456789.aetr -";
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bad = text.clone();
        for _ in 0..1 + next(3) {
            let place = usize::try_from(1 + next(bad.len() as u64 - 1)).unwrap();
            bad[place] = marks[usize::try_from(next(marks.len() as u64)).unwrap()];
        }
        write(&bad);
        match TableDirectory::open(&path, READ) {
            Ok(directory) => drop(shown(&directory)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    for version in
        ["{}", "[]", "{\"coquina table\": 1, \"nodes\": {\"\": {\"kind\": \"group\", \"attrs\": {}}}}"]
    {
        fs::write(path.join("table.json"), version).unwrap();
        assert_eq!(TableDirectory::open(&path, READ).is_ok(), version.contains("nodes"), "{version}");
    }
}

#[test]
fn a_directory_is_a_storage_of_tables() {
    let folder = Folder::new("storage");
    let mut storage: Box<dyn TableStorage> =
        Box::new(DirectoryStorage(TableDirectory::make(&folder.table(), false).unwrap()));
    storage.begin().unwrap();
    assert!(storage.begin().is_err());
    storage.create_group("g").unwrap();
    let members = vec![("low".to_string(), -1), ("high".to_string(), i128::from(u64::MAX))];
    let array = storage.create_array("g/a", &spec(), Some(members.clone())).unwrap();
    array.append(0, 2, Values::Bytes(&[1, 2]), &Job::inline()).unwrap();
    storage.set_texts("g/texts", &["é".to_string()]).unwrap();
    let unit: JsonObject = [("unit".into(), Json::from("mm"))].into_iter().collect();
    storage.set_attributes("g/a", unit.clone()).unwrap();
    storage.commit().unwrap();
    assert!(storage.create_group("g").is_err() && storage.remove("none").is_err());
    assert!(
        storage.array("g").is_err() && storage.texts("g/a").is_err() && storage.set_texts("g", &[]).is_err()
    );
    assert!(storage.set_attributes("none", unit.clone()).is_err() && storage.rename("g", "g/texts").is_err());
    storage.begin().unwrap();
    storage.rename("g", "h").unwrap();
    storage.remove("h/texts").unwrap();
    storage.undo().unwrap();
    assert_eq!(storage.names("g"), ["a", "texts"]);
    storage.begin().unwrap();
    storage.rename("g", "h").unwrap();
    storage.commit().unwrap();
    storage.close().unwrap();
    assert!(storage.check().is_err());
    let mut storage: Box<dyn TableStorage> =
        Box::new(DirectoryStorage(TableDirectory::open(&folder.table(), READ).unwrap()));
    assert_eq!((storage.names(""), storage.names("h")), (vec!["h".into()], vec!["a".into(), "texts".into()]));
    assert_eq!((storage.kind("h/a"), storage.kind("g")), (Some(NodeKind::Array), None));
    assert_eq!((storage.members("h/a"), storage.attributes("h/a")), (Some(members), unit));
    assert_eq!(storage.texts("h/texts").unwrap(), ["é"]);
    assert_eq!(items(&storage.array("h/a").unwrap()).unwrap(), [1, 2]);
    assert!(storage.begin().is_err() && !storage.is_writable() && storage.place().is_some());
}
