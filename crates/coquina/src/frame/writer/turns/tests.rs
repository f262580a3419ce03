//! Laws of records in turns: a frame that is written so is as one that is written whole, wherever it is stopped.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::base::io::Existing;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Chunk, Params, Special, encode};
use crate::frame::{Change, Entry, Frame, Kind, Mode, Snapshot, Spec, Statistics, faults};

const EACH: usize = 64;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-turns-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("frame.b2frame")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the chunks hold: so many bytes of this, or zeros.
type Model = Vec<Option<u8>>;
/// The numbers of chunks, and what they are to hold.
type Seeds = Vec<(usize, Option<u8>)>;

fn packed(seed: u8) -> Vec<u8> {
    let bytes: Vec<u8> = (0..EACH)
        .map(|at| seed.wrapping_mul(31).wrapping_add(u8::try_from(at * at % 251).unwrap()))
        .collect();
    encode(&bytes, &Params { typesize: 4, ..Params::default() }, &Job::inline()).unwrap()
}

fn statistics_of(seed: u8) -> Statistics {
    Statistics {
        min: [seed, 0, 0, 0, 0, 0, 0, 0],
        max: [seed; 8].map(|b| b / 2),
        is_exact: true,
        has_nan: false,
    }
}

/// Puts these chunks, and makes the frame `count` chunks long; not committed.
fn change(frame: &mut Frame, model: &mut Model, count: usize, seeds: &[(usize, Option<u8>)]) -> Result<()> {
    let mut entries = Vec::new();
    let mut statistics = Vec::new();
    for &(number, seed) in seeds {
        let entry = match seed {
            Some(seed) => frame.put(&packed(seed))?,
            None => Entry::Special(Special::Zeros),
        };
        entries.push((number as u64, entry));
        statistics
            .extend(seed.filter(|seed| seed % 3 > 0).map(|seed| (number as u64, Some(statistics_of(seed)))));
    }
    let (nchunks, nbytes) = (count as u64, (count * EACH) as u64);
    frame.apply(Change { nchunks, nbytes, entries, statistics: Some(statistics), ..Change::default() })?;
    model.resize(count, None);
    for &(number, seed) in seeds {
        model[number] = seed;
    }
    Ok(())
}

fn shown(snapshot: &Snapshot) -> Result<Model> {
    (0..snapshot.nchunks())
        .map(|number| {
            let chunk = snapshot.chunk_data(number)?;
            let chunk = Chunk::parse(&chunk, &Limits::default())?;
            let mut out = vec![0xff; EACH];
            chunk.decode_into(&mut out, &Job::inline())?;
            let seed = (0..=u8::MAX)
                .find(|seed| out[0] == seed.wrapping_mul(31) && out[1] == out[0].wrapping_add(1));
            if let Some(seed) = seed {
                let expected = (seed % 3 > 0).then(|| Statistics {
                    max: [seed / 2, seed / 2, seed / 2, seed / 2, 0, 0, 0, 0],
                    ..statistics_of(seed)
                });
                assert!(
                    snapshot
                        .statistics(number)
                        .is_none_or(|known| Some(known) == expected || known == statistics_of(seed))
                );
            }
            Ok(seed)
        })
        .collect()
}

fn at(path: &Path) -> Result<Model> {
    shown(&Frame::open(path, 0, Mode::Read, Limits::default())?.snapshot())
}

/// A file of 300 chunks.
fn made(path: &Path) -> Model {
    let spec = Spec { typesize: 4, chunk_bytes: EACH, ..Spec::default() };
    let mut frame = Frame::create(path, Kind::Contiguous, &spec, Existing::Replace).unwrap();
    let mut model = Model::new();
    let seeds: Vec<_> = (0..300).map(|n| (n, (n % 7 > 0).then(|| u8::try_from(n % 200).unwrap()))).collect();
    change(&mut frame, &mut model, 300, &seeds).unwrap();
    frame.publish().unwrap();
    frame.close().unwrap();
    model
}

fn opened(path: &Path) -> Frame {
    Frame::open(path, 0, Mode::Write, Limits::default()).unwrap()
}

/// The changes of one commit after another: chunks that come, chunks that change, fewer and many more of them.
fn steps() -> Vec<(usize, Seeds)> {
    let append = |from: usize, count: usize| {
        let seeds = (from..from + count).map(|n| (n, Some(u8::try_from(n % 199).unwrap()))).collect();
        (from + count, seeds)
    };
    vec![
        append(300, 1),
        append(301, 1),
        append(302, 3),
        (305, vec![(4, Some(99)), (200, None), (304, Some(1))]),
        (290, vec![]),
        append(290, 2),
        (292, vec![(291, Some(2))]),
        append(292, 400),
        append(692, 1),
        append(693, 1),
        (200, vec![(1, Some(9))]),
        append(200, 5),
        append(205, 100),
        append(305, 1),
    ]
}

#[test]
fn frames_written_in_turns_are_as_their_changes_say() {
    let folder = Folder::new("model");
    let path = folder.file();
    let mut model = made(&path);
    let mut frame = opened(&path);
    let mut in_turns = 0;
    for (number, (count, seeds)) in steps().into_iter().enumerate() {
        let before = (fs::read(&path).unwrap(), model.clone(), frame.snapshot());
        change(&mut frame, &mut model, count, &seeds).unwrap();
        assert_eq!(
            (at(&path).unwrap(), shown(&frame.snapshot()).unwrap()),
            (before.1.clone(), model.clone())
        );
        frame.commit(number % 3 == 0).unwrap();
        let after = fs::read(&path).unwrap();
        in_turns += usize::from(
            Frame::open(&path, 0, Mode::Read, Limits::default()).unwrap().snapshot().is_in_turns(),
        );
        assert_eq!(
            (at(&path).unwrap(), shown(&frame.snapshot()).unwrap()),
            (model.clone(), model.clone()),
            "{number}"
        );
        assert_eq!(shown(&before.2).unwrap(), before.1, "{number}: a snapshot from before");
        // Until the header is switched, the last commit is what there is; a header that was torn is one or the other.
        let (len, copy) = (
            usize::try_from(u32::from_be_bytes(*after[11..].first_chunk().unwrap())).unwrap(),
            folder.0.join("copy"),
        );
        for end in 0..=len {
            fs::write(&copy, [&after[..end], &before.0[end..len], &after[len..]].concat()).unwrap();
            let found = at(&copy).unwrap_or_else(|error| panic!("{number}: torn at {end}: {error}"));
            assert!(found == before.1 || found == model, "{number}: torn at {end}");
            assert!(end > 0 || found == before.1, "{number}: not committed yet");
            if end % 41 == 0 {
                // Whoever writes next goes on from what was found.
                let (mut other, mut found) = (opened(&copy), found);
                let count = found.len() + 1;
                change(&mut other, &mut found, count, &[(count - 1, Some(5))]).unwrap();
                other.commit(false).unwrap();
                other.close().unwrap();
                assert_eq!(at(&copy).unwrap(), found, "{number}: torn at {end}");
            }
        }
    }
    assert!(in_turns >= 8, "{in_turns} of the commits");
    let long = fs::metadata(&path).unwrap().len();
    frame.close().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < long && at(&path).unwrap() == model);
    assert!(!Frame::open(&path, 0, Mode::Read, Limits::default()).unwrap().snapshot().is_in_turns());
}

#[test]
fn after_any_call_that_fails_a_frame_in_turns_is_as_before_or_after() {
    for (lasting, durable) in [(false, true), (true, false)] {
        for fault in 1.. {
            let folder = Folder::new(&format!("fault-{lasting}-{durable}"));
            let path = folder.file();
            let mut model = made(&path);
            let mut frame = opened(&path);
            let mut has_failed = false;
            for (count, seeds) in steps().into_iter().take(9) {
                let mut after = model.clone();
                faults::fail_at(fault, lasting);
                let done = change(&mut frame, &mut after, count, &seeds).and_then(|()| frame.commit(durable));
                has_failed = faults::end();
                let found = at(&path).unwrap();
                match done {
                    Ok(()) => assert_eq!(found, after),
                    Err(_) => assert!(found == model || found == after),
                }
                model = found;
                if has_failed {
                    break;
                }
            }
            // Who goes on, here or after opening again, goes on from there.
            for is_again in [false, true] {
                if is_again {
                    drop(frame);
                    frame = opened(&path);
                }
                let (mut after, count) = (model.clone(), model.len() + 1);
                let done = change(&mut frame, &mut after, count, &[(count - 1, Some(7))]);
                match done.and_then(|()| frame.commit(false)) {
                    Ok(()) => model = after,
                    Err(_) => assert!(!is_again),
                }
                assert_eq!(at(&path).unwrap(), model);
            }
            frame.close().unwrap();
            assert_eq!(at(&path).unwrap(), model);
            if !has_failed {
                break;
            }
        }
    }
}

#[test]
fn closing_that_fails_loses_nothing() {
    for fault in 1_u32.. {
        let folder = Folder::new("close");
        let path = folder.file();
        let mut model = made(&path);
        let mut frame = opened(&path);
        for (count, seeds) in steps().into_iter().take(2 + usize::try_from(fault % 2).unwrap()) {
            change(&mut frame, &mut model, count, &seeds).unwrap();
            frame.commit(false).unwrap();
        }
        faults::fail_at(fault.div_ceil(2), false);
        let _ = frame.close();
        let has_failed = faults::end();
        assert_eq!(at(&path).unwrap(), model);
        opened(&path).close().unwrap();
        assert_eq!(at(&path).unwrap(), model);
        if !has_failed && fault % 2 == 0 {
            break;
        }
    }
}

#[test]
fn a_commit_writes_as_much_for_many_chunks_as_for_few() {
    let folder = Folder::new("bytes");
    let path = folder.file();
    let mut model = made(&path);
    let mut written = Vec::new();
    for many in [300, 20_000] {
        let mut frame = opened(&path);
        let seeds: Vec<_> = (model.len()..many).map(|n| (n, Some(3))).collect();
        change(&mut frame, &mut model, many, &seeds).unwrap();
        frame.commit(false).unwrap();
        for _ in 0..3 {
            let count = model.len() + 1;
            change(&mut frame, &mut model, count, &[(count - 1, Some(8))]).unwrap();
            frame.commit(false).unwrap();
        }
        let (before, last) = (fs::read(&path).unwrap(), model.len());
        change(&mut frame, &mut model, last + 1, &[(last, Some(8))]).unwrap();
        frame.commit(false).unwrap();
        let after = fs::read(&path).unwrap();
        assert_eq!(before.len(), after.len());
        written.push(before.iter().zip(&after).filter(|(before, after)| before != after).count());
        frame.close().unwrap();
    }
    assert!(written[0] < 600 && written[1] < 600, "{written:?} bytes");
}

#[test]
fn records_that_are_full_are_followed_by_larger_ones() {
    let folder = Folder::new("full");
    let path = folder.file();
    let mut model = made(&path);
    let mut frame = opened(&path);
    for number in 0..60 {
        let (from, count) = (model.len(), model.len() + 11);
        let seeds: Vec<_> = (from..count).map(|n| (n, Some(u8::try_from(n % 197).unwrap()))).collect();
        change(&mut frame, &mut model, count, &seeds).unwrap();
        frame.commit(false).unwrap();
        let reader = Frame::open(&path, 0, Mode::Read, Limits::default()).unwrap();
        assert_eq!(reader.snapshot().is_in_turns(), number > 0, "{number}");
        assert_eq!(shown(&reader.snapshot()).unwrap(), model);
    }
    frame.close().unwrap();
    assert_eq!(at(&path).unwrap(), model);
}

#[test]
fn records_that_are_given_up_all_the_time_are_hardly_ever_begun() {
    let folder = Folder::new("patience");
    let path = folder.file();
    let mut model = made(&path);
    let mut frame = opened(&path);
    let mut in_turns = 0;
    for number in 0..100_u8 {
        let count = model.len() + 1;
        change(&mut frame, &mut model, count, &[(count - 1, Some(number))]).unwrap();
        let vlmetalayers = vec![("note".to_owned(), Some(vec![number; 5]))];
        let (nchunks, nbytes) = (count as u64, (count * EACH) as u64);
        let statistics = Some(Vec::new());
        frame.apply(Change { nchunks, nbytes, vlmetalayers, statistics, ..Change::default() }).unwrap();
        frame.commit(false).unwrap();
        let reader = Frame::open(&path, 0, Mode::Read, Limits::default()).unwrap();
        assert_eq!(reader.snapshot().vlmetalayer("note").unwrap(), Some(vec![number; 5]));
        in_turns += u32::from(reader.snapshot().is_in_turns());
    }
    assert_eq!(at(&path).unwrap(), model);
    assert!(in_turns <= 4, "{in_turns} times");
}
