//! Laws of frames: what was committed is read, whatever happens to a writer, and damage is noticed.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod frames;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use coquina::chunk::{Special, encode_special};
use coquina::frame::{Change, Entry, Frame, Kind, Mode, Spec, Stored, SumState, Whole, write_frame};
use coquina::{ErrorKind, Existing, Limits, ReadAt, Result};
use frames::{
    EACH, Folder, LIMITS, Random, State, TYPESIZE, append, content, opened, packed, spec, state, to_count,
    unpacked, written,
};

/// One random step of a writer, on the frame and on the model of it.
fn step(random: &mut Random, frame: &mut Frame, model: &mut State) {
    let mut change = Change::default();
    let (first, shift) = (random.below(model.chunks.len() as u64 + 1), random.below(3));
    let remap = move |number: u64| match number {
        before if before < first => Some(before),
        new if new < first + shift => None,
        behind => Some(behind - shift),
    };
    match random.below(5) {
        0 => model.chunks.resize(usize::try_from(random.below(12)).unwrap(), vec![0; EACH]),
        1 => {
            let at = usize::try_from(first).unwrap();
            (0..shift).for_each(|_| model.chunks.insert(at, vec![0; EACH]));
            change.remap = Some(&remap);
        }
        2 => {
            model.chunks = vec![vec![0; EACH]; usize::try_from(first).unwrap()];
            change.fill = Some(Special::Uninit);
        }
        _ => {}
    }
    for (number, content) in (0..).zip(&mut model.chunks) {
        change.entries.extend(random_entry(random, frame, content).map(|entry| (number, entry)));
    }
    if random.below(2) == 0 {
        model.shape = format!("{:04}", random.below(10_000)).into_bytes();
        change.metalayers.push(("shape".to_owned(), model.shape.clone()));
    }
    change.vlmetalayers.extend(random_value(random, &mut model.values));
    change.nchunks = model.chunks.len() as u64;
    change.nbytes = change.nchunks * EACH as u64;
    frame.apply(change).unwrap();
}

/// Perhaps another chunk, put into the frame; `bytes` become what it decodes to.
fn random_entry(random: &mut Random, frame: &mut Frame, bytes: &mut Vec<u8>) -> Option<Entry> {
    let chunk = match random.below(8) {
        0 => {
            bytes.fill(0);
            return Some(Entry::Special(Special::Zeros));
        }
        1..=3 => packed(&content(random.below(1000), EACH)),
        4 => encode_special(Special::Nans, &[], EACH, TYPESIZE).unwrap(),
        5 => {
            let value = random.below(1 << 30).to_le_bytes();
            encode_special(Special::Value, &value[..TYPESIZE], EACH, TYPESIZE).unwrap()
        }
        _ => return None,
    };
    *bytes = unpacked(&chunk).unwrap();
    Some(frame.put(&chunk).unwrap())
}

/// Perhaps a change of a variable-length metalayer, made to `values` as well.
fn random_value(
    random: &mut Random,
    values: &mut Vec<(String, Vec<u8>)>,
) -> Option<(String, Option<Vec<u8>>)> {
    let name = format!("name{}", random.below(4));
    let place = values.iter().position(|(known, _)| *known == name);
    match (random.below(3), place) {
        (0, Some(place)) => {
            values.remove(place);
            Some((name, None))
        }
        (1, place) => {
            let value = content(random.below(9), usize::try_from(random.below(99)).unwrap());
            match place {
                Some(place) => values[place].1 = value.clone(),
                None => values.push((name.clone(), value.clone())),
            }
            Some((name, Some(value)))
        }
        _ => None,
    }
}

#[test]
fn whatever_a_writer_does_readers_see_its_last_commit() {
    let folder = Folder::new("writer");
    for (seed, kind) in (0..24).flat_map(|seed| [(seed, Kind::Contiguous), (seed, Kind::Sparse)]) {
        let mut random = Random(seed);
        let path = folder.path(&format!("{seed}-{kind:?}"));
        let spec = Spec { with_sums: seed % 3 > 0, ..spec() };
        let mut frame = Frame::create(&path, kind, &spec, Existing::Refuse).unwrap();
        let mut model = State { shape: b"0000".to_vec(), ..State::default() };
        if seed % 2 == 0 {
            step(&mut random, &mut frame, &mut model);
        }
        frame.commit(false).unwrap();
        frame.publish().unwrap();
        let mut committed = model.clone();
        let mut reader = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap();
        for _ in 0..25 {
            step(&mut random, &mut frame, &mut model);
            assert_eq!(state(&frame.snapshot()).unwrap(), model, "seed {seed}: applied");
            match random.below(8) {
                0 => {
                    frame.rollback();
                    model = committed.clone();
                }
                1 => {
                    drop(frame);
                    model = committed.clone();
                    frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
                }
                2 => {
                    frame.compact().unwrap();
                    committed = model.clone();
                    assert_eq!(frame.snapshot().dead_bytes(), 0);
                }
                3 => {
                    frame.commit(true).unwrap();
                    committed = model.clone();
                    frame.close().unwrap();
                    frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
                }
                4 => {}
                _ => {
                    frame.commit(false).unwrap();
                    committed = model.clone();
                }
            }
            assert_eq!(state(&frame.snapshot()).unwrap(), model, "seed {seed}: own");
            assert_eq!(opened(&path).unwrap(), committed, "seed {seed}: opened");
            reader.refresh().unwrap();
            assert_eq!(state(&reader.snapshot()).unwrap(), committed, "seed {seed}: refreshed");
            assert!(!reader.refresh().unwrap());
            let sums = if spec.with_sums { SumState::Fresh } else { SumState::Absent };
            assert_eq!(reader.snapshot().sums(), sums);
        }
    }
}

#[test]
fn a_snapshot_of_a_contiguous_frame_outlives_all_that_a_writer_does() {
    let folder = Folder::new("outlives");
    let path = folder.path("f");
    let mut all =
        vec![(written(&path, Kind::Contiguous, &spec(), 3), Frame::open(&path, 0, Mode::Read, LIMITS))];
    let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    for round in 0..5 {
        append(&mut frame, 10 * round..10 * round + 2);
        all.push((state(&frame.snapshot()).unwrap(), Frame::open(&path, 0, Mode::Read, LIMITS)));
        if round == 2 {
            frame.compact().unwrap();
        }
    }
    for (expected, reader) in all {
        assert_eq!(state(&reader.unwrap().snapshot()).unwrap(), expected);
    }
}

#[test]
fn a_commit_that_was_cut_anywhere_has_not_happened() {
    let folder = Folder::new("cut");
    let path = folder.path("f");
    let old = written(&path, Kind::Contiguous, &spec(), 3);
    let before = fs::read(&path).unwrap();
    let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    append(&mut frame, 50..52);
    let new = state(&frame.snapshot()).unwrap();
    drop(frame);
    let after = fs::read(&path).unwrap();
    let header_len = usize::try_from(u32::from_be_bytes(after[11..15].try_into().unwrap())).unwrap();
    // Nothing of the old commit but the header has been written again.
    assert_eq!(before[header_len..], after[header_len..before.len()]);
    for end in before.len()..=after.len() {
        let mut cut = after[..end].to_vec();
        cut[..header_len].copy_from_slice(&before[..header_len]);
        fs::write(&path, &cut).unwrap();
        assert_eq!(opened(&path).unwrap(), old, "{end}");
    }
    // The next writer goes on from there, and removes the rest.
    let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    append(&mut frame, 50..52);
    assert_eq!(state(&frame.snapshot()).unwrap(), new);
    assert_eq!(fs::read(&path).unwrap(), after);
}

#[test]
fn a_torn_header_opens_at_one_commit_or_the_other() {
    let folder = Folder::new("torn");
    let path = folder.path("f");
    for count in [0, 3] {
        let _ = fs::remove_file(&path);
        let old = written(&path, Kind::Contiguous, &spec(), count);
        let before = fs::read(&path).unwrap();
        let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
        append(&mut frame, 50..52);
        let new = state(&frame.snapshot()).unwrap();
        drop(frame);
        let after = fs::read(&path).unwrap();
        let header_len = usize::try_from(u32::from_be_bytes(after[11..15].try_into().unwrap())).unwrap();
        let mut seen = [0; 2];
        for (torn_at, is_front_new) in (0..=header_len).flat_map(|at| [(at, true), (at, false)]) {
            let mut torn = after.clone();
            let old_part = if is_front_new { torn_at..header_len } else { 0..torn_at };
            torn[old_part.clone()].copy_from_slice(&before[old_part]);
            fs::write(&path, &torn).unwrap();
            let found = opened(&path).unwrap_or_else(|e| panic!("{torn_at}: {e}"));
            assert!(found == old || found == new, "{torn_at}");
            seen[usize::from(found == new)] += 1;
            // A writer puts the header right.
            let writer = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
            assert_eq!(state(&writer.snapshot()).unwrap(), found);
            drop(writer);
            let header = &fs::read(&path).unwrap()[..header_len];
            assert!(header == &before[..header_len] || header == &after[..header_len]);
        }
        assert!(seen[0] > 0 && seen[1] > 10, "{seen:?}");
    }
}

#[test]
fn a_frame_inside_other_bytes_is_read_and_not_written() {
    let folder = Folder::new("inside");
    let path = folder.path("f");
    let expected = written(&path, Kind::Contiguous, &spec(), 3);
    let inside = [&b"before"[..], &fs::read(&path).unwrap(), b"behind"].concat();
    fs::write(&path, &inside).unwrap();
    let frame = Frame::open(&path, 6, Mode::Read, LIMITS).unwrap();
    assert_eq!(state(&frame.snapshot()).unwrap(), expected);
    assert!(Frame::open(&path, 6, Mode::Write, LIMITS).is_err());
    let frame = Frame::from_source(Arc::new(inside), 6, LIMITS).unwrap();
    assert_eq!(state(&frame.snapshot()).unwrap(), expected);
    for offset in [0, 5, 7, 1 << 40, u64::MAX] {
        assert!(Frame::open(&path, offset, Mode::Read, LIMITS).is_err(), "{offset}");
    }
}

#[test]
fn there_is_one_writer_and_the_lock_moves_with_the_frame() {
    let folder = Folder::new("lock");
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let path = folder.path(&format!("{kind:?}"));
        let mut frame = Frame::create(&path, kind, &spec(), Existing::Refuse).unwrap();
        append(&mut frame, 0..3);
        frame.publish().unwrap();
        let refused = || {
            let error = Frame::open(&path, 0, Mode::Write, LIMITS).err().unwrap();
            assert_eq!(error.io().unwrap().kind(), std::io::ErrorKind::WouldBlock);
        };
        refused();
        append(&mut frame, 3..5);
        frame.compact().unwrap();
        refused();
        append(&mut frame, 5..7);
        refused();
        assert!(opened(&path).is_ok());
        let snapshot = frame.snapshot();
        drop(frame);
        let frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
        assert_eq!(state(&frame.snapshot()).unwrap(), state(&snapshot).unwrap());
        frame.close().unwrap();
        Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    }
}

#[test]
fn a_new_frame_is_not_there_before_it_is_published() {
    let folder = Folder::new("publish");
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let path = folder.path("f");
        let old = written(&path, kind, &spec(), 2);
        let refused = Frame::create(&path, kind, &spec(), Existing::Refuse).err().unwrap();
        assert_eq!(refused.io().unwrap().kind(), std::io::ErrorKind::AlreadyExists);
        let mut frame = Frame::create(&path, kind, &spec(), Existing::Replace).unwrap();
        append(&mut frame, 50..53);
        drop(frame);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is left of it");
        assert_eq!(opened(&path).unwrap(), old);
        let mut frame = Frame::create(&path, kind, &spec(), Existing::Replace).unwrap();
        append(&mut frame, 50..53);
        let snapshot = frame.snapshot();
        assert_eq!(opened(&path).unwrap(), old);
        frame.publish().unwrap();
        let new = state(&snapshot).unwrap();
        assert_eq!(opened(&path).unwrap(), new);
        append(&mut frame, 53..54);
        frame.close().unwrap();
        assert_eq!(opened(&path).unwrap().chunks.len(), 4);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
        if kind == Kind::Contiguous {
            fs::remove_file(&path).unwrap();
        }
    }
    let path = folder.path("f");
    fs::write(path.join("thesis.tex"), b"").unwrap();
    assert!(Frame::create(&path, Kind::Sparse, &spec(), Existing::Replace).is_err());
    assert!(Frame::create(&path, Kind::Contiguous, &spec(), Existing::Replace).is_err());
}

#[test]
fn chunks_of_unequal_sizes_each_keep_their_own() {
    let folder = Folder::new("variable");
    for (kind, with_sums) in [(Kind::Contiguous, true), (Kind::Sparse, true), (Kind::Contiguous, false)] {
        let path = folder.path(&format!("{kind:?}{with_sums}"));
        let spec = Spec { chunk_bytes: 0, with_sums, ..spec() };
        let mut frame = Frame::create(&path, kind, &spec, Existing::Refuse).unwrap();
        let contents = [content(1, 100), vec![0; 240], content(2, 240), vec![0; 41], content(3, 7)];
        let put = |(number, bytes): (u64, &Vec<u8>)| (number, frame.put(&packed(bytes)).unwrap());
        let mut entries: Vec<_> = (0..).zip(&contents).map(put).collect();
        let nans = encode_special(Special::Nans, &[], 80, 8).unwrap();
        entries.push((5, frame.put(&nans).unwrap()));
        assert!(entries.iter().all(|(_, entry)| matches!(entry, Entry::Stored(_))));
        let nbytes = 628 + 80;
        frame.apply(Change { nchunks: 6, nbytes, entries, ..Change::default() }).unwrap();
        frame.publish().unwrap();
        let mut expected = contents.to_vec();
        expected.push(unpacked(&nans).unwrap());
        assert_eq!(opened(&path).unwrap().chunks, expected);
        let snapshot = frame.snapshot();
        assert_eq!((snapshot.chunk_bytes(), snapshot.nbytes_of(4).unwrap()), (0, 7));
        frame.compact().unwrap();
        assert_eq!(opened(&path).unwrap().chunks, expected);
        let zeros = vec![(0, Entry::Special(Special::Zeros))];
        assert!(frame.apply(Change { nchunks: 1, nbytes: 4, entries: zeros, ..Change::default() }).is_err());
    }
}

#[test]
fn what_does_not_fit_together_is_refused_and_changes_nothing() {
    let folder = Folder::new("refused");
    let path = folder.path("f");
    let mut frame = Frame::create(&path, Kind::Contiguous, &spec(), Existing::Refuse).unwrap();
    append(&mut frame, 0..2);
    let before = state(&frame.snapshot()).unwrap();
    let short = frame.put(&packed(&content(1, 100))).unwrap();
    let whole = frame.put(&packed(&content(1, EACH))).unwrap();
    let named = |name: &str| vec![(name.to_owned(), Some(b"x".to_vec()))];
    let (twice, gone) = (|_| Some(0), |_| Some(7));
    let refused: Vec<(&str, Change<'_>)> = vec![
        ("a short chunk in the middle", to_count(3, vec![(0, short)])),
        ("more chunks than bytes", Change { nbytes: 1, ..to_count(2, vec![]) }),
        ("a chunk behind the last", to_count(2, vec![(2, whole)])),
        ("a repeated value without value", to_count(2, vec![(1, Entry::Special(Special::Value))])),
        ("a last chunk that is cut", Change { nbytes: EACH as u64 + 1, ..to_count(2, vec![]) }),
        ("a chunk in two places", Change { remap: Some(&twice), ..to_count(2, vec![]) }),
        ("a chunk that was never there", Change { remap: Some(&gone), ..to_count(2, vec![]) }),
        ("our own name", Change { vlmetalayers: named("coquina"), ..to_count(2, vec![]) }),
        ("a long name", Change { vlmetalayers: named(&"x".repeat(32)), ..to_count(2, vec![]) }),
        (
            "too many names",
            Change {
                vlmetalayers: (0..16).flat_map(|n| named(&format!("n{n}"))).collect(),
                ..to_count(2, vec![])
            },
        ),
        ("nothing to delete", Change { vlmetalayers: vec![("n".into(), None)], ..to_count(2, vec![]) }),
        ("another length", Change { metalayers: vec![("shape".into(), vec![1])], ..to_count(2, vec![]) }),
        ("no such layer", Change { metalayers: vec![("none".into(), vec![1])], ..to_count(2, vec![]) }),
    ];
    for (what, change) in refused {
        assert!(frame.apply(change).is_err(), "{what}");
        assert_eq!(state(&frame.snapshot()).unwrap(), before, "{what}");
    }
    assert!(frame.put(b"no chunk").is_err());
    assert!(frame.put(&[packed(&[1; EACH]), vec![0]].concat()).is_err());
    frame.publish().unwrap();
    let mut reader = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap();
    assert!(!reader.is_writable() && frame.is_writable());
    assert!(reader.put(&packed(&[1; EACH])).is_err());
    assert!(reader.commit(false).is_err() && reader.compact().is_err());
}

#[test]
fn very_many_chunks_of_zeros_cost_nothing() {
    let folder = Folder::new("many");
    let path = folder.path("f");
    let spec = Spec { chunk_bytes: 1 << 20, ..spec() };
    let mut frame = Frame::create(&path, Kind::Contiguous, &spec, Existing::Refuse).unwrap();
    let nchunks = 200_000_000;
    frame.apply(Change { nchunks, nbytes: nchunks << 20, ..Change::default() }).unwrap();
    frame.publish().unwrap();
    frame.close().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1000);
    let reader = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap();
    assert_eq!((reader.snapshot().nchunks(), reader.snapshot().special_chunks()), (nchunks, nchunks));
    let frame = Frame::open(&path, 0, Mode::Read, Limits::default()).unwrap();
    assert!(
        matches!(frame.snapshot().chunk(nchunks - 1), Ok(Stored::Special(Special::Zeros, bytes)) if bytes == 1 << 20)
    );
    let mut frame = Frame::open(&path, 0, Mode::Write, Limits::default()).unwrap();
    let too_many = Change { nchunks: 1 << 28, nbytes: 1 << 48, ..Change::default() };
    assert_eq!(frame.apply(too_many).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn very_many_chunks_with_few_that_are_stored_cost_little() {
    let folder = Folder::new("few");
    let path = folder.path("f");
    let mut frame = Frame::create(&path, Kind::Contiguous, &spec(), Existing::Refuse).unwrap();
    let (nchunks, stored) = (50_000_000_u64, [0_u64, 1, 777_777, 49_999_999]);
    let nbytes = nchunks * EACH as u64;
    frame.apply(Change { nchunks, nbytes, ..Change::default() }).unwrap();
    for number in stored {
        let put = frame.put(&packed(&[7; EACH])).unwrap();
        let entries = vec![(number, put)];
        frame.apply(Change { nchunks, nbytes, entries, ..Change::default() }).unwrap();
    }
    frame.publish().unwrap();
    frame.compact().unwrap();
    frame.close().unwrap();
    // 400 MB of entries.
    assert!(fs::metadata(&path).unwrap().len() < 8 << 20);
    let reader = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap().snapshot();
    assert_eq!((reader.nchunks(), reader.special_chunks()), (nchunks, nchunks - 4));
    let mut found = Vec::new();
    let mut at = 0;
    while at < nchunks {
        let special = matches!(reader.chunk(at), Ok(Stored::Special(..)));
        found.extend((!special).then_some(at));
        at = if special { reader.alike_until(at, nchunks) } else { at + 1 };
    }
    assert_eq!(found, stored);
}

#[test]
fn a_whole_frame_holds_what_its_chunks_hold() {
    let folder = Folder::new("whole");
    let path = folder.path("f");
    let expected = written(&path, Kind::Sparse, &spec(), 4);
    let snapshot = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap().snapshot();
    for with_sums in [true, false] {
        let spec = Spec { with_sums, ..snapshot.spec() };
        let mut out = Vec::new();
        let vlmetalayers = [("note".to_owned(), b"value".to_vec())];
        let whole = Whole {
            spec: &spec,
            nbytes: snapshot.nbytes(),
            nchunks: snapshot.nchunks(),
            chunk: &|number| snapshot.chunk(number),
            statistics: None,
            alike_until: None,
            vlmetalayers: &vlmetalayers,
        };
        assert_eq!(write_frame(&mut out, &whole).unwrap(), out.len() as u64);
        let frame = Frame::from_source(Arc::new(out.clone()), 0, LIMITS).unwrap();
        assert_eq!(frame.snapshot().dead_bytes(), 0);
        let found = state(&frame.snapshot()).unwrap();
        assert_eq!(found, State { values: vlmetalayers.to_vec(), ..expected.clone() });
        // The same bytes whatever the way to them.
        let again = frame.snapshot();
        let mut twice = Vec::new();
        write_frame(&mut twice, &Whole { chunk: &|number| again.chunk(number), ..whole }).unwrap();
        assert_eq!(out, twice);
        let nchunks = again.nchunks();
        let mut by_runs = Vec::new();
        let alike_until = |number: u64| again.alike_until(number, nchunks);
        write_frame(&mut by_runs, &Whole { alike_until: Some(&alike_until), ..whole }).unwrap();
        assert_eq!(out, by_runs);
        let bad = Whole { nchunks: 3, ..whole };
        assert!(write_frame(&mut Vec::new(), &bad).is_err());
    }
}

#[test]
fn chunks_have_identities_that_tell_contents_apart() {
    let folder = Folder::new("identity");
    for with_sums in [true, false] {
        let path = folder.path(&format!("{with_sums}"));
        written(&path, Kind::Contiguous, &Spec { with_sums, ..spec() }, 2);
        let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
        let id = |frame: &Frame, number| match frame.snapshot().chunk(number).unwrap() {
            Stored::At { id, .. } => id,
            Stored::Special(..) => panic!("chunk {number} is stored"),
        };
        let mut ids = vec![id(&frame, 0), id(&frame, 1)];
        for seed in 10..14 {
            let entry = frame.put(&packed(&content(seed, EACH))).unwrap();
            frame.apply(to_count(2, vec![(1, entry)])).unwrap();
            ids.push(id(&frame, 1));
            frame.rollback();
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6);
    }
}

/// Runs in a process of its own that may not write files beyond some size, as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_old_data_are_still_there() {
    const CHILD: &str = "COQUINA_FRAME_TEST_FULL_DISK";
    let Some(path) = std::env::var_os(CHILD) else {
        let folder = Folder::new("full");
        let path = folder.path("f");
        let old = written(&path, Kind::Contiguous, &spec(), 3);
        let len = fs::metadata(&path).unwrap().len();
        let test = "a_full_disk_is_an_error_and_the_old_data_are_still_there";
        let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\" --nocapture";
        let shell = std::process::Command::new("sh")
            .args(["-c", limited])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env(CHILD, &path)
            .output()
            .unwrap();
        assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
        let new = opened(&path).unwrap();
        assert_eq!(new.chunks.len(), 4);
        assert_eq!(new.chunks[..3], old.chunks);
        assert!(fs::metadata(&path).unwrap().len() < len + 4096);
        return;
    };
    let path = PathBuf::from(path);
    let old = opened(&path).unwrap();
    let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    let noise = |seed: u64| {
        let mut random = Random(seed);
        (0..EACH).map(|_| u8::try_from(random.below(256)).unwrap()).collect::<Vec<_>>()
    };
    let mut error = None;
    for round in 0..100 {
        let put: Result<Vec<_>> =
            (0..100).map(|number| Ok((number, frame.put(&packed(&noise(round * 100 + number)))?))).collect();
        let done =
            put.and_then(|entries| frame.apply(to_count(100, entries))).and_then(|()| frame.commit(false));
        let count = frame.snapshot().nchunks();
        assert_eq!(state(&frame.snapshot()).unwrap(), opened(&path).unwrap());
        if let Err(e) = done {
            error = Some(e);
            break;
        }
        assert_eq!(count, 100);
    }
    assert_eq!(error.unwrap().kind(), ErrorKind::Io);
    // What the last commit has left behind is gone, so that a small one fits.
    let entries = (0..).zip(&old.chunks).map(|(number, bytes)| (number, frame.put(&packed(bytes)).unwrap()));
    let entries = entries.collect();
    frame.apply(to_count(4, entries)).unwrap();
    frame.compact().unwrap();
}

#[test]
fn links_out_of_a_sparse_frame_are_not_followed() {
    let folder = Folder::new("links");
    let path = folder.path("f");
    written(&path, Kind::Sparse, &spec(), 2);
    let outside = folder.path("outside");
    fs::rename(path.join("00000001.chunk"), &outside).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, path.join("00000001.chunk")).unwrap();
    let frame = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap();
    assert!(frame.snapshot().chunk_data(0).is_ok() && frame.snapshot().chunk_data(1).is_err());
    assert_eq!(
        ReadAt::len(&fs::File::open(&outside).unwrap()).unwrap(),
        fs::metadata(&outside).unwrap().len()
    );
}
