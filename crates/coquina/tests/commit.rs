//! Laws of commits: wherever one is cut off, the file is as of the commit before it or the one after it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod plain;

use std::fs;

use coquina::frame::{Kind, Mode};
use plain::{Folder, Plain, Step, content, created, opened, read_bytes, read_file, spec};

/// Changes of an array of 6 x 5 in chunks of 4 x 3; each list is one commit.
fn commits() -> Vec<(&'static str, Vec<Step>)> {
    let write = Step::Write { from: vec![1, 1], len: vec![4, 3], seed: 7 };
    let append = Step::Append { axis: 0, len: 3, seed: 11 };
    let layer = Step::SetLayer { content: Some(b"unit: mm".repeat(9)) };
    vec![
        ("append", vec![append.clone()]),
        ("append columns", vec![Step::Append { axis: 1, len: 4, seed: 10 }]),
        ("update", vec![write.clone()]),
        ("update of all", vec![Step::Fill { from: vec![0, 0], seed: 3 }]),
        ("growing", vec![Step::Resize { shape: vec![9, 8] }]),
        ("growing within chunks", vec![Step::Resize { shape: vec![7, 6] }]),
        ("shrinking", vec![Step::Resize { shape: vec![3, 5] }]),
        ("shrinking within chunks", vec![Step::Resize { shape: vec![5, 4] }]),
        ("metadata", vec![layer.clone()]),
        ("a transaction", vec![layer, append, write, Step::Resize { shape: vec![8, 9] }]),
    ]
}

/// A file before and after a commit, and what it holds then.
struct Change {
    what: &'static str,
    before: (Vec<u8>, Plain),
    after: (Vec<u8>, Plain),
}

fn changes(folder: &Folder) -> Vec<Change> {
    let change = |(number, (what, steps)): (usize, (&'static str, Vec<Step>))| {
        let path = folder.path(&number.to_string());
        let (array, mut plain) = created(&path, Kind::Contiguous, &spec(&[6, 5], &[4, 3], &[2, 2]));
        Step::Write { from: vec![0, 0], len: vec![6, 5], seed: 5 }.run(&array, &mut plain).unwrap();
        let before = (fs::read(&path).unwrap(), plain.clone());
        array.begin().unwrap();
        steps.iter().try_for_each(|step| step.run(&array, &mut plain)).unwrap();
        assert_eq!(read_file(&path).unwrap(), before.1, "{what}: seen before its commit");
        array.commit().unwrap();
        Change { what, before, after: (fs::read(&path).unwrap(), plain) }
    };
    commits().into_iter().enumerate().map(change).collect()
}

#[test]
fn a_commit_that_was_cut_at_any_byte_has_not_happened() {
    let folder = Folder::new();
    let path = folder.path("cut");
    for Change { what, before, after } in changes(&folder) {
        let (old, new) = (&before.0, &after.0);
        let header_len = usize::try_from(u32::from_be_bytes(*old[11..].first_chunk().unwrap())).unwrap();
        assert_eq!(read_bytes(new).unwrap(), after.1, "{what}");
        assert!(
            new.len() > old.len() && new[header_len..].starts_with(&old[header_len..]),
            "{what}: overwritten"
        );
        for end in old.len()..=new.len() {
            let cut = [old, &new[old.len()..end]].concat();
            // The header is switched last: a whole record behind an old header is not a commit yet.
            assert_eq!(read_bytes(&cut).unwrap(), before.1, "{what}: {end} of {} bytes", new.len());
            if end % 37 == 0 {
                // Whoever writes next goes on from the last commit.
                fs::write(&path, &cut).unwrap();
                let mut plain = before.1.clone();
                let array = opened(&path, Mode::Write).unwrap();
                Step::Append { axis: 1, len: 2, seed: 2 }.run(&array, &mut plain).unwrap();
                assert_eq!(content(&array).unwrap(), plain, "{what}: {end}");
                assert_eq!(read_file(&path).unwrap(), plain, "{what}: {end}");
            }
        }
    }
}

#[test]
fn a_header_that_was_torn_at_any_byte_is_that_of_one_commit_or_the_other() {
    let folder = Folder::new();
    let path = folder.path("torn");
    for Change { what, before, after } in changes(&folder) {
        let (old, new) = (&before.0, &after.0);
        let header_len = usize::try_from(u32::from_be_bytes(*old[11..].first_chunk().unwrap())).unwrap();
        for end in 0..=header_len {
            for (first, second) in [(new, old), (old, new)] {
                let torn = [&first[..end], &second[end..header_len], &new[header_len..]].concat();
                let found =
                    read_bytes(&torn).unwrap_or_else(|error| panic!("{what}: torn at {end}: {error}"));
                assert!(found == before.1 || found == after.1, "{what}: torn at {end}");
                if end % 29 == 0 {
                    fs::write(&path, &torn).unwrap();
                    let (array, mut plain) = (opened(&path, Mode::Write).unwrap(), found);
                    Step::Append { axis: 0, len: 1, seed: 2 }.run(&array, &mut plain).unwrap();
                    assert_eq!(read_file(&path).unwrap(), plain, "{what}: torn at {end}");
                }
            }
        }
    }
}
