//! Laws of commits: all of a change or nothing, for writers, readers, threads and after calls that fail.

use super::*;

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
fn arrays_that_are_opened_late_are_as_of_the_commit_that_is_shown() {
    let folder = Folder::new("late");
    let directory = made(&folder.table());
    let before = shown(&directory).unwrap();
    let reader = TableDirectory::open(&folder.table(), READ).unwrap();
    for generation in 0..3 {
        let both = || append(&directory, "a", &[generation; 3]).and(append(&directory, "g/b", &[generation]));
        directory.change(both).unwrap();
    }
    assert_eq!(shown(&reader).unwrap(), before);
    let now = shown(&directory).unwrap();
    assert_ne!(now, before);
    assert_eq!(at(&folder.table(), READ), now);
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
