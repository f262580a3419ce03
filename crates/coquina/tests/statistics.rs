//! Laws of what is known of the items of chunks: it is true of all items, after whatever has been done to an array, and
//! nothing is known where somebody else may have changed it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod plain;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use coquina::array::{Array, ArraySpec, Bounds, Fill, OpenOptions, Selection, Target, Values};
use coquina::chunk::{Params, Special, encode};
use coquina::filter::{Pipeline, Slot};
use coquina::frame::{Change, Frame, Kind, Mode, SumState};
use coquina::{Existing, Job, Limits};
use plain::{Folder, ITEMS, Plain, Step, TYPESIZE, coordinates, count, created, opened, spec};
use proptest::prelude::*;

/// Items as numbers; `None` for a NaN. All of them are exact as doubles.
fn number(dtype: &str, item: &[u8]) -> Option<f64> {
    let item: [u8; TYPESIZE] = item.try_into().unwrap();
    let number = match dtype {
        "<u4" => u32::from_le_bytes(item).into(),
        "<i4" => i32::from_le_bytes(item).into(),
        _ => f32::from_le_bytes(item).into(),
    };
    (!f64::is_nan(number)).then_some(number)
}

/// The items of a region.
fn items(plain: &Plain, region: &[Range<u64>]) -> Vec<[u8; TYPESIZE]> {
    let shape: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let item = |number| {
        let at = coordinates(&shape, number);
        let at: Vec<u64> = at.iter().zip(region).map(|(at, range)| at + range.start).collect();
        plain.items[plain.place(&at)]
    };
    (0..count(&shape) as u64).map(item).collect()
}

/// What is known of all chunks, which must be true of their items.
fn known(array: &Array, plain: &Plain) -> Vec<Option<Bounds>> {
    let (grid, dtype) = (array.grid(), array.dtype().unwrap().to_owned());
    let check = |chunk: u64| {
        let bounds = array.chunk_bounds(chunk)?;
        let numbers: Vec<_> = items(plain, &grid.region(chunk)).iter().map(|i| number(&dtype, i)).collect();
        let (min, max) = (number(&dtype, &bounds.min), number(&dtype, &bounds.max));
        let all = || numbers.iter().flatten().copied();
        let at = || format!("chunk {chunk} of {numbers:?}: {bounds:?}");
        assert!(all().all(|x| min.unwrap() <= x && x <= max.unwrap()), "{}", at());
        assert!(bounds.has_nan || !numbers.contains(&None), "{}", at());
        if bounds.is_exact {
            assert_eq!(bounds.has_nan, numbers.contains(&None), "{}", at());
            assert_eq!(min, all().reduce(f64::min), "{}", at());
            assert_eq!(max, all().reduce(f64::max), "{}", at());
        }
        Some(bounds)
    };
    (0..grid.nchunks()).map(check).collect()
}

fn is_exact(known: &[Option<Bounds>]) -> bool {
    known.iter().all(|bounds| bounds.as_ref().is_some_and(|bounds| bounds.is_exact))
}

fn step() -> impl Strategy<Value = Step> {
    let numbers = |most: u64| prop::collection::vec(0..most, 3);
    // Some are infinities, NaNs or negative zeros where they are floats.
    let special = prop::sample::select(vec![0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x8000_0000, 0]);
    let seed = prop_oneof![3 => 0..1000_u32, 1 => any::<u32>(), 1 => special];
    prop_oneof![
        4 => (numbers(9), numbers(6), seed.clone()).prop_map(|(from, len, seed)| Step::Write { from, len, seed }),
        1 => (numbers(9), seed.clone()).prop_map(|(from, seed)| Step::Fill { from, seed }),
        2 => (0..3_usize, 0..5_u64, seed).prop_map(|(axis, len, seed)| Step::Append { axis, len, seed }),
        3 => numbers(9).prop_map(|shape| Step::Resize { shape }),
    ]
}

#[derive(Clone, Debug)]
enum Act {
    Step(Step),
    Transaction(Vec<Step>, bool),
    Compact,
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => step().prop_map(Act::Step),
        1 => (prop::collection::vec(step(), 0..4), any::<bool>()).prop_map(|(steps, keep)| Act::Transaction(steps, keep)),
        1 => Just(Act::Compact),
        1 => Just(Act::Reopen),
    ]
}

/// An array: of each axis how long it is and two numbers for chunk and block, and what else there is to choose.
#[derive(Clone, Debug)]
struct Cut {
    axes: Vec<(u64, u64, u64)>,
    fill: Fill,
    dtype: &'static str,
    level: u8,
}

impl Cut {
    fn spec(&self) -> ArraySpec {
        let chunks: Vec<u64> = self.axes.iter().map(|&(_, chunk, block)| chunk.max(block)).collect();
        let blocks: Vec<u64> = self.axes.iter().map(|&(_, chunk, block)| chunk.min(block)).collect();
        let spec = spec(&self.axes.iter().map(|&(len, ..)| len).collect::<Vec<_>>(), &chunks, &blocks);
        let params = Params { level: self.level, ..spec.params };
        ArraySpec { fill: self.fill.clone(), dtype: self.dtype.into(), params, ..spec }
    }
}

fn cut() -> impl Strategy<Value = Cut> {
    let axes = prop::collection::vec((0..8_u64, 1..5_u64, 1..4_u64), 1..4);
    let fill = prop_oneof![
        Just(Fill::Special(Special::Zeros)),
        Just(Fill::Special(Special::Uninit)),
        Just(Fill::Value(7_u32.to_le_bytes().to_vec())),
        Just(Fill::Value(f32::NAN.to_le_bytes().to_vec())),
    ];
    let dtype = prop::sample::select(vec!["<u4", "<i4", "<f4"]);
    (axes, fill, dtype, 0..6_u8).prop_map(|(axes, fill, dtype, level)| Cut { axes, fill, dtype, level })
}

fn plain_of(spec: &ArraySpec) -> Plain {
    let item = match &spec.fill {
        Fill::Value(item) => item.as_slice().try_into().unwrap(),
        Fill::Special(_) => [0; TYPESIZE],
    };
    Plain { shape: spec.shape.clone(), items: vec![item; count(&spec.shape)], layer: None }
}

/// Does it; the array is the same handle or another one for the same file.
fn run(act: &Act, array: Array, plain: &mut Plain, path: Option<&Path>) -> Array {
    match act {
        Act::Step(step) => step.run(&array, plain).unwrap(),
        Act::Transaction(steps, keep) => {
            let mut inside = plain.clone();
            let before = known(&array, plain);
            array.begin().unwrap();
            for step in steps {
                step.run(&array, &mut inside).unwrap();
                known(&array, &inside);
            }
            if *keep {
                array.commit().unwrap();
                *plain = inside;
            } else {
                array.rollback();
                assert_eq!(known(&array, plain), before);
            }
        }
        Act::Compact => {
            let before = known(&array, plain);
            array.compact().unwrap();
            assert_eq!(known(&array, plain), before);
        }
        Act::Reopen => {
            let Some(path) = path else { return array };
            let before = known(&array, plain);
            array.close().unwrap();
            drop(array);
            let again = opened(path, Mode::Write).unwrap();
            assert_eq!(known(&again, plain), before);
            return again;
        }
    }
    known(&array, plain);
    array
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn bounds_are_true_whatever_is_done(cut in cut(), acts in prop::collection::vec(act(), 0..12), kind in 0..3) {
        let (folder, spec) = (Folder::new(), cut.spec());
        let path = folder.path("a");
        let kind = [None, Some(Kind::Contiguous), Some(Kind::Sparse)][usize::try_from(kind).unwrap()];
        let mut array = match kind {
            None => {
                let array = Array::create(&spec, &Target::Memory).unwrap();
                array.publish().unwrap();
                array
            }
            Some(kind) => created(&path, kind, &spec).0,
        };
        let mut plain = plain_of(&spec);
        for act in &acts {
            array = run(act, array, &mut plain, kind.map(|_| path.as_path()));
        }
        let before = known(&array, &plain);
        let copy = Array::from_source(Arc::new(array.to_bytes().unwrap()), &OpenOptions::default()).unwrap();
        prop_assert_eq!(known(&copy, &plain), before.clone());
        // All anew: then all of it is known, and just so.
        let all = Step::Write { from: vec![0; 3], len: vec![9; 3], seed: 2 };
        array = run(&Act::Step(all), array, &mut plain, None);
        prop_assert!(plain.shape.iter().any(|&len| len > 9) || is_exact(&known(&array, &plain)));
        drop((array, copy));
        if kind.is_some() {
            known(&opened(&path, Mode::Read).unwrap(), &plain);
        }
    }

    #[test]
    fn what_was_exact_is_exact_after_appending(cut in cut(), steps in prop::collection::vec((0..3_usize, 0..6_u64, 0..1000_u32), 1..5)) {
        let spec = ArraySpec { fill: Fill::Special(Special::Zeros), ..cut.spec() };
        let array = Array::create(&spec, &Target::Memory).unwrap();
        let mut plain = plain_of(&spec);
        for (axis, len, seed) in steps {
            Step::Append { axis, len, seed }.run(&array, &mut plain).unwrap();
            prop_assert!(is_exact(&known(&array, &plain)));
        }
    }
}

/// An array of 4000 numbers in a file, in chunks of 1600 in blocks of 400, which do compress.
fn numbers(path: &Path, spec: &ArraySpec) -> Plain {
    let (array, mut plain) = created(path, Kind::Contiguous, spec);
    let all = Step::Write { from: vec![0], len: vec![4000], seed: 102 };
    all.run(&array, &mut plain).unwrap();
    assert_eq!(array.stats().known_chunks, Some(3));
    array.close().unwrap();
    plain
}

fn line() -> ArraySpec {
    spec(&[4000], &[1600], &[400])
}

#[test]
fn a_part_of_a_chunk_leaves_limits_and_a_resize_takes_items_away() {
    let folder = Folder::new();
    let path = folder.path("a");
    let mut plain = numbers(&path, &line());
    let array = opened(&path, Mode::Write).unwrap();
    assert!(is_exact(&known(&array, &plain)));
    Step::Write { from: vec![1700], len: vec![1], seed: 5 }.run(&array, &mut plain).unwrap();
    let exact = |array: &Array| -> Vec<Option<bool>> {
        (0..3).map(|n| array.chunk_bounds(n).map(|bounds| bounds.is_exact)).collect()
    };
    assert_eq!(exact(&array), [Some(true), Some(false), Some(true)]);
    Step::Resize { shape: vec![3700] }.run(&array, &mut plain).unwrap();
    assert_eq!(exact(&array), [Some(true), Some(false), Some(false)]);
    let before = known(&array, &plain);
    assert!(array.chunk_bounds(3).is_none());
    array.close().unwrap();
    assert_eq!(known(&opened(&path, Mode::Read).unwrap(), &plain), before);
}

#[test]
fn a_frame_that_somebody_else_has_changed_is_not_believed() {
    let folder = Folder::new();
    let path = folder.path("a");
    let mut plain = numbers(&path, &line());
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    // As a program leaves it that does not know fingerprints.
    bytes[end - 17..].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let array = opened(&path, Mode::Write).unwrap();
    assert_eq!(array.stats().sizes.sums, SumState::Stale);
    assert_eq!(known(&array, &plain), [None, None, None]);
    // What is written anew is known.
    Step::Write { from: vec![1600], len: vec![1600], seed: 9 }.run(&array, &mut plain).unwrap();
    let after = known(&array, &plain);
    assert!(after[1].as_ref().unwrap().is_exact && after[0].is_none() && after[2].is_none());
    array.close().unwrap();
    assert_eq!(known(&opened(&path, Mode::Read).unwrap(), &plain), after);
}

#[test]
fn a_damaged_frame_is_not_believed() {
    let folder = Folder::new();
    let path = folder.path("a");
    let plain = numbers(&path, &line());
    let good = std::fs::read(&path).unwrap();
    let mut places = 0;
    for place in good.len() - 200..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 0x10;
        let options = OpenOptions { damaged: true, ..OpenOptions::default() };
        let Ok(array) = Array::from_source(Arc::new(bytes), &options) else { continue };
        places += 1;
        assert!((0..3).all(|number| array.chunk_bounds(number).is_none()), "byte {place}");
    }
    assert!(places > 100);
    assert!(is_exact(&known(&opened(&path, Mode::Read).unwrap(), &plain)));
}

#[test]
fn chunks_that_are_put_without_the_array_are_not_known() {
    let folder = Folder::new();
    let path = folder.path("a");
    numbers(&path, &line());
    let is_known = || -> Vec<bool> {
        let array = opened(&path, Mode::Read).unwrap();
        (0..array.grid().nchunks()).map(|number| array.chunk_bounds(number).is_some()).collect()
    };
    let mut frame = Frame::open(&path, 0, Mode::Write, Limits::default()).unwrap();
    let chunk = encode(
        &[7; 6400],
        &Params { typesize: 4, blocksize: Some(1600), ..Params::default() },
        &Job::default(),
    );
    let entry = frame.put(&chunk.unwrap()).unwrap();
    let change = |entries| Change { nchunks: 3, nbytes: 19200, entries, ..Change::default() };
    frame.apply(change(vec![(1, entry)])).unwrap();
    frame.commit(false).unwrap();
    assert_eq!(is_known(), [true, false, true]);
    // Another order: what was padding may be items now.
    let turned = |number: u64| Some(2 - number);
    frame.apply(Change { remap: Some(&turned), ..change(vec![]) }).unwrap();
    frame.commit(false).unwrap();
    assert_eq!(is_known(), [false; 3]);
}

#[test]
fn another_shape_by_the_frame_alone_forgets_what_was_known() {
    let folder = Folder::new();
    let path = folder.path("a");
    numbers(&path, &line());
    let mut frame = Frame::open(&path, 0, Mode::Write, Limits::default()).unwrap();
    let mut meta = frame.snapshot().metalayer("b2nd").unwrap().to_vec();
    // The shape is the first number.
    assert_eq!(meta[4..13], [0xd3, 0, 0, 0, 0, 0, 0, 0x0f, 0xa0]);
    meta[11..13].copy_from_slice(&4800_u16.to_be_bytes());
    let metalayers = vec![("b2nd".to_owned(), meta)];
    frame.apply(Change { nchunks: 3, nbytes: 19200, metalayers, ..Change::default() }).unwrap();
    frame.commit(false).unwrap();
    drop(frame);
    let array = opened(&path, Mode::Read).unwrap();
    assert_eq!(array.grid().shape(), [4800]);
    assert!((0..3).all(|number| array.chunk_bounds(number).is_none()));
}

/// Writes to a part of an array of one axis.
fn write(array: &Array, range: Range<u64>, values: Values<'_>) {
    array.write(&Selection::region(&[range]), ITEMS, values, &Job::default()).unwrap();
}

#[test]
fn without_the_wish_or_without_numbers_nothing_is_kept() {
    let folder = Folder::new();
    for (name, spec) in [
        ("off", ArraySpec { statistics: false, ..line() }),
        ("text", ArraySpec { dtype: "|S4".into(), ..line() }),
        ("turned", ArraySpec { dtype: ">i4".into(), ..line() }),
    ] {
        let path = folder.path(name);
        let target = Target::File { path: path.clone(), kind: Kind::Contiguous, existing: Existing::Refuse };
        let array = Array::create(&spec, &target).unwrap();
        let item = Values::Uniform(&[1, 2, 3, 4]);
        write(&array, 0..2000, item);
        array.publish().unwrap();
        array.close().unwrap();
        let array = opened(&path, Mode::Write).unwrap();
        write(&array, 0..4000, item);
        assert!((0..3).all(|number| array.chunk_bounds(number).is_none()), "{name}");
        // What the index tells is known in any case.
        write(&array, 0..1600, Values::Uniform(&[0; 4]));
        assert_eq!(array.chunk_bounds(0).is_some(), name == "off");
        let copy = Array::from_source(Arc::new(array.to_bytes().unwrap()), &OpenOptions::default()).unwrap();
        assert_eq!(copy.stats().known_chunks, (name == "off").then_some(1));
    }
}

#[test]
fn items_that_lose_bits_on_their_way_are_not_known() {
    let pipeline = Pipeline::new(&[Slot { id: 4, meta: 10 }]).unwrap();
    let spec = ArraySpec { dtype: "<f4".into(), params: Params { pipeline, ..line().params }, ..line() };
    let array = Array::create(&spec, &Target::Memory).unwrap();
    let items: Vec<u8> = (0..4000_u16).flat_map(|i| (1.001 * f32::from(i)).to_le_bytes()).collect();
    write(&array, 0..4000, Values::Bytes(&items));
    assert!((0..3).all(|number| array.chunk_bounds(number).is_none()));
    // A value that is repeated passes no filter.
    write(&array, 0..1600, Values::Uniform(&1.001_f32.to_le_bytes()));
    assert_eq!(array.chunk_bounds(0).unwrap().min, 1.001_f32.to_le_bytes());
    let mut out = [0; TYPESIZE];
    array.read(&Selection::region(std::slice::from_ref(&(5..6))), ITEMS, &mut out, &Job::default()).unwrap();
    assert_eq!(out, 1.001_f32.to_le_bytes());
    write(&array, 7..8, Values::Uniform(&1.003_f32.to_le_bytes()));
    assert!(array.chunk_bounds(0).is_none());
}
