//! Laws of arrays in files: they are plain buffers, for one writer and for readers that come and go.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod plain;

use std::path::Path;

use coquina::array::{Array, ArraySpec, Selection, Values};
use coquina::frame::{Kind, Mode};
use coquina::{ErrorKind, Job};
use plain::{Folder, ITEMS, Plain, Step, content, created, opened, read_file, spec};
use proptest::prelude::*;

fn step() -> impl Strategy<Value = Step> {
    let numbers = |most: u64| prop::collection::vec(0..most, 3);
    let seed = any::<u32>().prop_map(|seed| seed % 1000);
    let content = prop::option::of(prop::collection::vec(any::<u8>(), 0..40));
    prop_oneof![
        4 => (numbers(9), numbers(6), seed.clone()).prop_map(|(from, len, seed)| Step::Write { from, len, seed }),
        1 => (numbers(9), seed.clone()).prop_map(|(from, seed)| Step::Fill { from, seed }),
        2 => (0..3_usize, 0..5_u64, seed).prop_map(|(axis, len, seed)| Step::Append { axis, len, seed }),
        3 => numbers(9).prop_map(|shape| Step::Resize { shape }),
        1 => content.prop_map(|content| Step::SetLayer { content }),
    ]
}

/// What is done with the handle.
#[derive(Clone, Debug)]
enum Act {
    Step(Step),
    Transaction(Vec<Step>, bool),
    Compact,
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => step().prop_map(Act::Step),
        2 => (prop::collection::vec(step(), 0..4), any::<bool>()).prop_map(|(steps, keep)| Act::Transaction(steps, keep)),
        1 => Just(Act::Compact),
        1 => Just(Act::Reopen),
    ]
}

/// Of each axis how long it is, and two numbers for chunk and block.
fn axes() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    prop::collection::vec((0..8_u64, 1..5_u64, 1..4_u64), 1..4)
}

fn cut(axes: &[(u64, u64, u64)]) -> ArraySpec {
    let chunks: Vec<u64> = axes.iter().map(|&(_, chunk, block)| chunk.max(block)).collect();
    let blocks: Vec<u64> = axes.iter().map(|&(_, chunk, block)| chunk.min(block)).collect();
    spec(&axes.iter().map(|&(len, ..)| len).collect::<Vec<_>>(), &chunks, &blocks)
}

/// Does it. The array is the same handle or another one for the same file; `plain` is what it holds then.
fn run(act: &Act, array: Array, plain: &mut Plain, path: &Path) -> Array {
    match act {
        Act::Step(step) => step.run(&array, plain).unwrap(),
        Act::Transaction(steps, keep) => {
            let mut inside = plain.clone();
            array.begin().unwrap();
            steps.iter().try_for_each(|step| step.run(&array, &mut inside)).unwrap();
            assert_eq!(content(&array).unwrap(), inside, "within a transaction");
            assert_eq!(read_file(path).unwrap(), *plain, "from outside of it");
            if *keep {
                array.commit().unwrap();
                *plain = inside;
            } else {
                array.rollback();
            }
        }
        Act::Compact => array.compact().unwrap(),
        Act::Reopen => {
            array.close().unwrap();
            drop(array);
            return opened(path, Mode::Write).unwrap();
        }
    }
    array
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn whatever_is_done_to_a_file_is_what_is_done_to_a_plain_buffer(
        axes in axes(),
        acts in prop::collection::vec(act(), 1..14),
        is_sparse in any::<bool>(),
    ) {
        let folder = Folder::new();
        let path = folder.path("array");
        let kind = if is_sparse { Kind::Sparse } else { Kind::Contiguous };
        let (mut array, mut plain) = created(&path, kind, &cut(&axes));
        let reader = opened(&path, Mode::Read).unwrap();
        let mut seen = plain.clone();
        for act in &acts {
            array = run(act, array, &mut plain, &path);
            prop_assert_eq!(content(&array).unwrap(), plain.clone());
            // A reader stays where it is until it asks; of a directory, files that it needs may be removed.
            if !is_sparse {
                prop_assert_eq!(content(&reader).unwrap(), seen.clone());
            }
            reader.refresh().unwrap();
            seen = plain.clone();
            prop_assert_eq!(content(&reader).unwrap(), seen.clone());
        }
        array.close().unwrap();
        prop_assert_eq!(read_file(&path).unwrap(), plain);
    }
}

#[test]
fn there_is_one_writer_and_readers_see_its_commits_when_they_ask() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let folder = Folder::new();
        let path = folder.path("array");
        let (writer, mut plain) = created(&path, kind, &spec(&[6, 5], &[4, 3], &[2, 2]));
        let write = Step::Write { from: vec![0, 0], len: vec![6, 5], seed: 7 };
        write.run(&writer, &mut plain).unwrap();
        let refused = opened(&path, Mode::Write).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Io);
        let reader = opened(&path, Mode::Read).unwrap();
        assert!(!reader.is_writable() && !reader.refresh().unwrap());
        assert_eq!(write.run(&reader, &mut plain.clone()).unwrap_err().kind(), ErrorKind::Invalid);
        let before = plain.clone();
        Step::Append { axis: 0, len: 6, seed: 11 }.run(&writer, &mut plain).unwrap();
        assert_eq!(content(&reader).unwrap(), before);
        assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
        assert_eq!(content(&reader).unwrap(), plain);
        // The file is another one after this: readers that have the old one open keep it.
        Step::Fill { from: vec![2, 2], seed: 6 }.run(&writer, &mut plain).unwrap();
        reader.refresh().unwrap();
        writer.compact().unwrap();
        assert_eq!(content(&reader).unwrap(), plain);
        assert!(opened(&path, Mode::Write).is_err(), "the lock got lost when the file was replaced");
        write.run(&writer, &mut plain).unwrap();
        assert!(reader.refresh().unwrap());
        assert_eq!(content(&reader).unwrap(), plain);
        drop(writer);
        let writer = opened(&path, Mode::Write).unwrap();
        assert_eq!(content(&writer).unwrap(), plain);
    }
}

#[test]
fn a_reader_in_the_middle_of_commits_always_sees_a_whole_one() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let folder = Folder::new();
        let path = folder.path("array");
        let (writer, _) = created(&path, kind, &spec(&[8, 8], &[4, 4], &[2, 2]));
        let all = Selection::all(&[8, 8]);
        let write = |n: u32| writer.write(&all, ITEMS, Values::Uniform(&n.to_le_bytes()), &Job::default());
        write(0).unwrap();
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let reader = opened(&path, Mode::Read).unwrap();
                let (mut last, mut changes) = (0, 0);
                for _ in 0..2000 {
                    changes += u32::from(reader.refresh().unwrap());
                    let items = content(&reader).unwrap().items;
                    let first = u32::from_le_bytes(items[0]);
                    assert!(items.iter().all(|item| *item == items[0]), "parts of two commits");
                    assert!(first >= last, "an older commit after a newer one");
                    last = first;
                }
                changes
            });
            let mut number = 0;
            while !reading.is_finished() {
                number += 1;
                write(number).unwrap();
            }
            assert!(reading.join().unwrap() > 0);
        });
    }
}
