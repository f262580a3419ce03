//! Laws of arrays that are tuned: whatever is chosen for a chunk, its items come back, and bytes depend on the items,
//! the goal and the order of the chunks alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod plain;

use std::ops::Range;
use std::sync::Arc;

use coquina::array::{
    Array, ArraySpec, BoxSource, Fill, OpenOptions, Selection, Target, Values, Walk, Window,
};
use coquina::chunk::{Params, Special};
use coquina::frame::{self, Frame, Kind, Mode};
use coquina::lossy::{Bound, Contract, Reached, Record};
use coquina::tune::{Goal, LAYER, Wants};
use coquina::{ErrorKind, Existing, Job, Limits, Result, codec, set_num_threads};
use plain::{Folder, Plain, Step, content, count, created, opened};
use proptest::prelude::*;

fn goal(tradeoff: f64) -> Goal {
    Goal::new(tradeoff, Wants::Both, None, false).unwrap()
}

fn tuned(spec: &ArraySpec) -> ArraySpec {
    ArraySpec { tuning: Some(Goal::default()), ..spec.clone() }
}

/// A line of chunks of 64 KiB.
fn line(nchunks: u64, dtype: &str, typesize: usize) -> ArraySpec {
    let rows = (64 << 10) / typesize as u64;
    let spec = plain::spec(&[nchunks * rows], &[rows], &[rows / 4]);
    let params = Params { typesize, ..spec.params };
    ArraySpec { dtype: dtype.into(), params, tuning: Some(Goal::default()), ..spec }
}

/// Bytes of chunks of many kinds: noise, slopes, texts, few values, and one value.
fn mixed(nchunks: usize, typesize: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut chunk = |kind: usize| -> Vec<u8> {
        let mut item = |at: u64| -> u64 {
            match kind % 7 {
                0 => u64::from(random()) << 20 ^ u64::from(random()),
                1 => at,
                2 => 1_000_000 + at * 3 + u64::from(random() % 5),
                3 => u64::from(random() % 3),
                4 => (at as f64 / 100.0).sin().to_bits(),
                5 => 77,
                _ => 0,
            }
        };
        let rows = (64 << 10) / typesize as u64;
        (0..rows).flat_map(|at| item(at).to_le_bytes().repeat(2)[..typesize].to_vec()).collect()
    };
    (0..nchunks).flat_map(|number| chunk(number / 2)).collect()
}

fn window(array: &Array) -> Window {
    Window { offset: 0, bytes: array.typesize() }
}

fn write(array: &Array, range: Range<u64>, values: Values<'_>, threads: usize) -> Result<()> {
    let selection = Selection::region(std::slice::from_ref(&range));
    array.write(&selection, window(array), values, &Job::default().threads(Some(threads)))
}

fn items(array: &Array) -> Vec<u8> {
    let shape = array.grid().shape().to_vec();
    let mut out = vec![0xee; count(&shape) * array.typesize()];
    array.read(&Selection::all(&shape), window(array), &mut out, &Job::default()).unwrap();
    assert!(array.verify(&Job::default()).unwrap().is_empty());
    out
}

/// How many chunks are encoded by this codec.
fn encoded_by(array: &Array, codec: &str) -> u64 {
    array.encodings().unwrap().iter().filter(|((name, _), _)| name == codec).map(|(_, count)| count).sum()
}

#[test]
fn the_items_of_every_dtype_come_back_and_bytes_do_not_depend_on_threads() {
    set_num_threads(8).unwrap();
    for (dtype, typesize) in [("|u1", 1), ("<i2", 2), ("<f4", 4), ("<f8", 8), ("<c16", 16), ("<U3", 12)] {
        let spec = line(40, dtype, typesize);
        let values = mixed(41, typesize)[..count(&spec.shape) * typesize].to_vec();
        let end = spec.shape[0];
        let made = |threads: usize| {
            let array = Array::create(&spec, &Target::Memory).unwrap();
            write(&array, 0..end, Values::Bytes(&values), threads).unwrap();
            assert!(items(&array) == values, "{dtype} by {threads} threads");
            let counters = array.tuner_counters();
            // A second write, over parts of chunks and beyond their end.
            let part = &values[..values.len() / 3 / typesize * typesize];
            write(&array, 7..7 + (part.len() / typesize) as u64, Values::Bytes(part), threads).unwrap();
            let job = Job::default().threads(Some(threads));
            array.append(0, (part.len() / typesize) as u64, Values::Bytes(part), &job).unwrap();
            let found = items(&array);
            assert!(found[7 * typesize..][..part.len()] == *part && found.ends_with(part), "{dtype}");
            (array.to_bytes().unwrap(), counters, array.tuner_counters())
        };
        let one = made(1);
        assert!(one.1.chosen == 40, "{dtype}: {:?}", one.1);
        for threads in [2, 8] {
            assert!(made(threads) == one, "{dtype} by {threads} threads");
        }
        let total: u64 = made(1).0.len() as u64;
        assert!(total < 2 * values.len() as u64);
    }
}

fn step(ndim: usize) -> impl Strategy<Value = Step> {
    let sizes = |most: u64| prop::collection::vec(1..=most, ndim);
    prop_oneof![
        4 => (sizes(9000), sizes(9000), any::<u32>()).prop_map(|(from, len, seed)| Step::Write {
            from,
            len,
            seed: seed >> 1
        }),
        1 => (sizes(60), any::<u32>()).prop_map(|(from, seed)| Step::Fill { from, seed: seed >> 1 }),
        2 => (0..ndim, 1..20_u64, any::<u32>())
            .prop_map(|(axis, len, seed)| Step::Append { axis, len, seed: seed >> 1 }),
        1 => sizes(50).prop_map(|shape| Step::Resize { shape }),
    ]
}

/// A shape, its chunks and its blocks; what is done; and the goal.
type Case = ([Vec<u64>; 3], Vec<Step>, f64);

fn case() -> impl Strategy<Value = Case> {
    (1..4_usize).prop_flat_map(|ndim| {
        let sizes = |most: u64| prop::collection::vec(1..=most, ndim);
        // In front of few axes long ones, so that chunks are large enough to be worth a choice.
        let long = [400, 20, 4][ndim - 1];
        let cut = (sizes(50), sizes(30), sizes(12)).prop_map(move |(shape, chunks, blocks)| {
            let [shape, chunks, blocks] = [shape, chunks, blocks].map(|mut lens: Vec<u64>| {
                lens[0] *= long;
                lens
            });
            let blocks = blocks.iter().zip(&chunks).map(|(&block, &chunk)| block.min(chunk)).collect();
            [shape, chunks, blocks]
        });
        (cut, prop::collection::vec(step(ndim), 1..8), prop::sample::select(vec![0.0, 0.4, 1.0]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn an_array_is_as_a_plain_buffer_whatever_is_done((cut, steps, tradeoff) in case(), reopens in any::<bool>()) {
        let folder = Folder::new();
        let path = folder.path("a.b2nd");
        let [shape, chunks, blocks] = cut;
        let spec = ArraySpec { tuning: Some(goal(tradeoff)), ..plain::spec(&shape, &chunks, &blocks) };
        let (mut array, mut plain) = created(&path, Kind::Contiguous, &spec);
        for step in &steps {
            step.run(&array, &mut plain).unwrap();
            prop_assert_eq!(content(&array).unwrap(), plain.clone());
            if reopens {
                array.close().unwrap();
                array = opened(&path, Mode::Write).unwrap();
            }
            prop_assert_eq!(array.tuning().unwrap(), Some(goal(tradeoff)));
            check_bounds(&array, &plain);
        }
        let told: u64 = array.encodings().unwrap().values().sum();
        prop_assert_eq!(told, array.grid().nchunks());
    }
}

/// No item is out of the bounds of its chunk.
fn check_bounds(array: &Array, plain: &Plain) {
    for number in 0..array.grid().nchunks() {
        let Some(bounds) = array.chunk_bounds(number) else { continue };
        let number_of = |item: &[u8]| u32::from_le_bytes(item.try_into().unwrap());
        let (min, max) = (number_of(&bounds.min), number_of(&bounds.max));
        let region = array.grid().region(number);
        let shape: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
        for at in 0..shape.iter().product() {
            let at = plain::coordinates(&shape, at);
            let at: Vec<u64> = at.iter().zip(&region).map(|(at, range)| range.start + at).collect();
            let item = number_of(&plain.items[plain.place(&at)]);
            assert!((min..=max).contains(&item), "{at:?}: {item} of {min}..={max}");
        }
    }
}

#[test]
fn chunks_of_one_value_have_no_blocks_also_at_the_edge() {
    for (dtype, typesize, item) in [
        ("<f4", 4, f32::NAN.to_le_bytes().to_vec()),
        ("<f8", 8, f64::NAN.to_le_bytes().to_vec()),
        ("<f8", 8, (-f64::NAN).to_le_bytes().to_vec()),
        ("<i4", 4, vec![0; 4]),
        ("<i2", 2, vec![3, 1]),
        ("|S5", 5, b"hello".to_vec()),
        ("|S300", 300, b"hello, ".repeat(50)[..300].to_vec()),
    ] {
        let rows = (64 << 10) / typesize as u64;
        let spec = ArraySpec { shape: vec![3 * rows + rows / 2 + 3], ..line(1, dtype, typesize) };
        let array = Array::create(&spec, &Target::Memory).unwrap();
        let all = item.repeat(count(&spec.shape));
        write(&array, 0..spec.shape[0], Values::Bytes(&all), 2).unwrap();
        assert!(items(&array) == all, "{dtype}");
        assert_eq!(encoded_by(&array, "special"), 4, "{dtype}: {:?}", array.encodings());
        let bits = |bits: &[u8]| bits == item.as_slice();
        let is_known = bits(&[0; 4]) || bits(&f32::NAN.to_le_bytes()) || bits(&f64::NAN.to_le_bytes());
        assert_eq!(array.stats().sizes.cbytes == 0, is_known, "{dtype}");
        // What comes behind the edge is zeros, and not more of the item.
        array.resize(&[4 * rows], &Job::default()).unwrap();
        let mut grown = all.clone();
        grown.resize(count(&[4 * rows]) * typesize, 0);
        assert!(items(&array) == grown, "{dtype}");
        // One other item makes blocks of it again.
        let mut other = all[..count(&[rows]) * typesize].to_vec();
        *other.last_mut().unwrap() ^= 1;
        write(&array, 0..rows, Values::Bytes(&other), 2).unwrap();
        assert!(items(&array)[..other.len()] == other, "{dtype}");
    }
}

#[test]
fn a_small_write_leaves_the_codec_of_a_chunk_and_a_large_one_does_not() {
    let rows = 16 << 10;
    let noise = mixed(1, 4);
    let spec = ArraySpec { tuning: None, ..line(1, "<i4", 4) };
    for name in ["lz4", "blosclz", "zlib", "zstd"] {
        let params = Params { codec: codec::by_name(name).unwrap(), ..spec.params };
        let array = Array::create(&ArraySpec { params, ..spec.clone() }, &Target::Memory).unwrap();
        let slope = mixed(3, 4)[2 * noise.len()..].to_vec();
        write(&array, 0..rows, Values::Bytes(&slope), 2).unwrap();
        assert_eq!(encoded_by(&array, name), 1);
        array.set_tuning(Some(goal(1.0))).unwrap();
        write(&array, 5..6, Values::Bytes(&[1, 2, 3, 4]), 2).unwrap();
        assert_eq!(encoded_by(&array, name), 1, "one of four blocks");
        assert_eq!(array.tuner_counters().chosen, 0);
        write(&array, 0..rows / 2, Values::Bytes(&noise[..noise.len() / 2]), 2).unwrap();
        assert_eq!(array.tuner_counters().chosen, 1, "two of four blocks");
        let expected = [&noise[..noise.len() / 2], &slope[slope.len() / 2..]].concat();
        assert!(items(&array) == expected, "{name}");
    }
}

/// A sum that is not cut as the array is, or is.
struct Computed {
    len: u64,
    walk: Walk,
}

impl BoxSource for Computed {
    fn shape(&self) -> Vec<u64> {
        vec![self.len]
    }

    fn item_bytes(&self) -> usize {
        4
    }

    fn walk(&self) -> Walk {
        self.walk.clone()
    }

    fn fill(&self, start: &[u64], _shape: &[u64], out: &mut [u8]) -> Result<()> {
        for (at, item) in (start[0]..).zip(out.as_chunks_mut::<4>().0) {
            *item = u32::try_from(at * at % 10_007).unwrap().to_le_bytes();
        }
        Ok(())
    }
}

#[test]
fn what_is_computed_is_stored_as_if_it_were_given() {
    set_num_threads(8).unwrap();
    let spec = line(20, "<u4", 4);
    let len = spec.shape[0];
    let stored = |values: Values<'_>, threads| {
        let array = Array::create(&spec, &Target::Memory).unwrap();
        write(&array, 0..len, values, threads).unwrap();
        (items(&array), array.to_bytes().unwrap())
    };
    let walk = Walk { chunks: spec.chunks.clone().unwrap(), blocks: spec.blocks.clone().unwrap() };
    let aligned = Computed { len, walk };
    let mut given = vec![0; count(&spec.shape) * 4];
    aligned.fill(&[0], &[len], &mut given).unwrap();
    let plain = stored(Values::Bytes(&given), 1);
    assert!(plain.0 == given);
    let other = Computed { len, walk: Walk { chunks: vec![5000], blocks: vec![700] } };
    for threads in [1, 8] {
        assert!(stored(Values::Computed(&aligned), threads) == plain, "{threads}");
        assert!(stored(Values::Computed(&other), threads) == plain, "{threads}");
    }
}

#[test]
fn a_bound_holds_and_what_is_rounded_is_tuned() {
    set_num_threads(8).unwrap();
    let spec = line(20, "<f4", 4);
    let values: Vec<f32> = (0..count(&spec.shape)).map(|at| (at as f32 / 300.0).sin() * 50.0).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|item| item.to_le_bytes()).collect();
    let contract = Contract::new(Bound::of("max_error", 0.01).unwrap(), None, "<f4").unwrap();
    let made = |tuning: Option<Goal>, threads: usize| {
        let array = Array::create(&ArraySpec { tuning, ..spec.clone() }, &Target::Memory).unwrap();
        array.set_lossy(Record { contract, reached: Reached::NOTHING }).unwrap();
        write(&array, 0..spec.shape[0], Values::Bytes(&bytes), threads).unwrap();
        write(&array, 10..20, Values::Bytes(&[0; 40]), threads).unwrap();
        (items(&array), array.to_bytes().unwrap())
    };
    let one = made(Some(goal(1.0)), 1);
    for (at, (item, value)) in one.0.as_chunks::<4>().0.iter().zip(&values).enumerate() {
        let value = if (10..20).contains(&at) { 0.0 } else { *value };
        assert!((f32::from_le_bytes(*item) - value).abs() <= 0.01, "{at}");
    }
    assert!(made(Some(goal(1.0)), 8) == one);
    let bytes = vec![0; bytes.len()];
    let array = Array::create(&spec, &Target::Memory).unwrap();
    array.set_lossy(Record { contract, reached: Reached::NOTHING }).unwrap();
    write(&array, 0..spec.shape[0], Values::Bytes(&bytes), 2).unwrap();
    assert_eq!(encoded_by(&array, "special"), 20);
}

#[test]
fn the_goal_is_kept_and_its_layer_is_no_layer_of_the_users() {
    let folder = Folder::new();
    let path = folder.path("a");
    let spec = tuned(&plain::spec(&[40_000], &[20_000], &[5_000]));
    let (array, mut plain) = created(&path, Kind::Sparse, &spec);
    assert!(array.layer_names().is_empty());
    assert_eq!(array.set_layer(LAYER, None).unwrap_err().kind(), ErrorKind::Invalid);
    array.close().unwrap();
    let array = opened(&path, Mode::Write).unwrap();
    assert_eq!(array.tuning().unwrap(), Some(Goal::default()));
    Step::Write { from: vec![3], len: vec![30_000], seed: 3 }.run(&array, &mut plain).unwrap();
    assert!(array.tuner_counters().chosen > 0);

    // A change that is rolled back has not been.
    array.begin().unwrap();
    array.set_tuning(Some(goal(0.25))).unwrap();
    assert_eq!(array.tuning().unwrap(), Some(goal(0.25)));
    array.rollback();
    assert_eq!(array.tuning().unwrap(), Some(Goal::default()));
    let reader = opened(&path, Mode::Read).unwrap();
    assert_eq!(reader.set_tuning(None).unwrap_err().kind(), ErrorKind::Invalid);
    array.set_tuning(Some(goal(0.25))).unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.tuning().unwrap(), Some(goal(0.25)));
    array.set_tuning(None).unwrap();
    array.set_tuning(None).unwrap();
    assert_eq!(array.tuning().unwrap(), None);
    let counters = array.tuner_counters();
    Step::Write { from: vec![0], len: vec![90], seed: 7 }.run(&array, &mut plain).unwrap();
    assert_eq!((array.tuner_counters(), counters.chosen), (counters, 0));
    assert_eq!(content(&array).unwrap(), plain);
}

#[test]
fn codecs_that_lose_something_leave_nothing_to_choose() {
    let spec = plain::spec(&[100], &[50], &[10]);
    let pipeline = coquina::filter::Pipeline::new(&[coquina::filter::Slot { id: 4, meta: 10 }]).unwrap();
    let lossy = ArraySpec { dtype: "<f4".into(), params: Params { pipeline, ..spec.params }, ..spec };
    let array = Array::create(&lossy, &Target::Memory).unwrap();
    assert_eq!(array.set_tuning(Some(Goal::default())).unwrap_err().kind(), ErrorKind::Invalid);
    assert!(Array::create(&tuned(&lossy), &Target::Memory).is_err());
}

/// The file at `path` with this content of the layer.
fn with_layer(path: &std::path::Path, content: &[u8]) {
    let mut frame = Frame::open(path, 0, Mode::Write, Limits::default()).unwrap();
    let snapshot = frame.snapshot();
    let change = frame::Change {
        nchunks: snapshot.nchunks(),
        nbytes: snapshot.nbytes(),
        vlmetalayers: vec![(LAYER.into(), Some(content.to_vec()))],
        ..frame::Change::default()
    };
    frame.apply(change).unwrap();
    frame.commit(false).unwrap();
    frame.close().unwrap();
}

#[test]
fn with_a_damaged_goal_items_are_read_and_nothing_is_written_until_it_is_set_anew() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let (array, mut plain) = created(&path, Kind::Contiguous, &tuned(&plain::spec(&[100], &[50], &[10])));
    Step::Write { from: vec![0], len: vec![100], seed: 3 }.run(&array, &mut plain).unwrap();
    array.close().unwrap();
    let good = Goal::default().write();
    for damaged in [good[..20].to_vec(), [&good[..9], b"x", &good[10..]].concat(), Vec::new()] {
        with_layer(&path, &damaged);
        let array = opened(&path, Mode::Write).unwrap();
        assert_eq!(array.tuning().unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(content(&array).unwrap(), plain);
        let error = write(&array, 0..1, Values::Bytes(&[1; 4]), 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("tuning goal cannot be read"), "{error}");
        assert_eq!(array.resize(&[120], &Job::default()).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(content(&array).unwrap(), plain);
        array.set_tuning(Some(goal(0.0))).unwrap();
        Step::Write { from: vec![5], len: vec![60], seed: 2 }.run(&array, &mut plain).unwrap();
        assert_eq!(content(&array).unwrap(), plain);
        array.close().unwrap();
    }
}

#[test]
fn saved_copies_and_fills_are_tuned_too() {
    let spec = ArraySpec { fill: Fill::Value(vec![1, 2, 3, 4]), ..tuned(&plain::spec(&[100], &[50], &[10])) };
    let folder = Folder::new();
    let array = Array::create(&spec, &Target::Memory).unwrap();
    array.save(&folder.path("a"), Kind::Contiguous, Existing::Refuse).unwrap();
    assert_eq!(opened(&folder.path("a"), Mode::Read).unwrap().tuning().unwrap(), spec.tuning);
    assert_eq!(encoded_by(&array, "special"), 2);
    let bytes = Arc::new(array.to_bytes().unwrap());
    let copy = Array::from_source(bytes, &OpenOptions::default()).unwrap();
    assert_eq!(copy.tuning().unwrap(), spec.tuning);
    let nans = ArraySpec { fill: Fill::Special(Special::Nans), dtype: "<f4".into(), ..spec };
    assert_eq!(encoded_by(&Array::create(&nans, &Target::Memory).unwrap(), "special"), 2);
}
