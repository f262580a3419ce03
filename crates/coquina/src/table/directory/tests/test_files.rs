//! Laws of the files of a directory: swept, replaced, written anew, refused where they are foreign.

use super::*;

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
