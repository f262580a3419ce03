//! Arrays whose items may lose something: no item loses more than was promised, whatever is written and how.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use coquina::array::{Access, Array, ArraySpec, Fill, OpenOptions, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::filter::{Pipeline, Slot};
use coquina::frame::Frame;
use coquina::lossy::{Bound, Contract, LossyMethod, Reached, Record};
use coquina::{ErrorKind, Job, codec};
use proptest::prelude::*;

const WINDOW: Window = Window { offset: 0, bytes: 4 };

fn spec(shape: &[u64], chunks: &[u64], blocks: &[u64]) -> ArraySpec {
    ArraySpec {
        shape: shape.into(),
        chunks: Some(chunks.into()),
        blocks: Some(blocks.into()),
        access: Access::Any,
        dtype: "<f4".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { codec: codec::by_name("zstd").unwrap(), typesize: 4, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

fn record(name: &str, value: f64, method: Option<LossyMethod>) -> Record {
    let contract = Contract::new(Bound::of(name, value).unwrap(), method, "<f4").unwrap();
    Record { contract, reached: Reached::NOTHING }
}

fn under(spec: &ArraySpec, record: Record) -> Array {
    let array = Array::create(spec, &Target::Memory).unwrap();
    array.set_lossy(record).unwrap();
    array
}

fn bytes(items: &[f32]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

fn items(array: &Array) -> Vec<f32> {
    let shape = array.grid().shape().to_vec();
    let mut out = vec![0xee; usize::try_from(shape.iter().product::<u64>()).unwrap() * 4];
    array.read(&Selection::all(&shape), WINDOW, &mut out, &Job::default()).unwrap();
    assert!(array.verify(&Job::default()).unwrap().is_empty());
    out.as_chunks::<4>().0.iter().map(|item| f32::from_le_bytes(*item)).collect()
}

fn write(array: &Array, ranges: &[std::ops::Range<u64>], values: &[f32]) {
    array.write(&Selection::region(ranges), WINDOW, Values::Bytes(&bytes(values)), &Job::default()).unwrap();
}

/// Waves, with noise of about this size.
fn waves(count: usize, noise: f32) -> Vec<f32> {
    let mut state = 1_u32;
    let mut item = |at: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        280.0 + 20.0 * (at as f32 / 40.0).sin() + noise * ((state >> 8) as f32 / 16_777_216.0 - 0.5)
    };
    (0..count).map(&mut item).collect()
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -1000.0_f32..1000.0,
        2 => any::<u32>().prop_map(f32::from_bits),
        1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MAX, 1e-45]),
    ]
}

fn bound() -> impl Strategy<Value = Record> {
    let method = || {
        prop::sample::select(vec![
            None,
            Some(LossyMethod::Round),
            Some(LossyMethod::Zfp),
            Some(LossyMethod::Trunc),
        ])
    };
    prop_oneof![
        ((-20_i32..20), method()).prop_map(|(e, method)| record("max_error", 1.7_f64.powi(e), method)),
        ((1_i32..30), prop::sample::select(vec![None, Some(LossyMethod::Trunc)]))
            .prop_map(|(e, method)| record("relative_error", 1.5_f64.powi(-e), method)),
    ]
}

/// Whether an item may be stored for one that was given.
fn is_allowed(record: &Record, given: f32, stored: f32) -> bool {
    if !given.is_finite() {
        return given.to_bits() == stored.to_bits() || given.is_nan() && stored.is_nan();
    }
    let apart = (f64::from(given) - f64::from(stored)).abs();
    match record.contract.bound() {
        Bound::MaxError(limit) => apart <= limit,
        Bound::RelativeError(limit) => apart <= limit * f64::from(given).abs(),
        _ => stored.is_finite(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_item_is_further_than_promised_whatever_is_written(
        values in prop::collection::vec(number(), 15 * 13),
        (from, len) in ((0_u64..15, 0_u64..13), (1_u64..15, 1_u64..13)),
        more in prop::collection::vec(number(), 15 * 13),
        record in bound(),
    ) {
        let array = under(&spec(&[15, 13], &[8, 8], &[4, 5]), record);
        let mut given = values.clone();
        write(&array, &[0..15, 0..13], &values);
        let first = items(&array);
        let region = [from.0..(from.0 + len.0).min(15), from.1..(from.1 + len.1).min(13)];
        let is_inside = |at: usize| {
            region[0].contains(&(at as u64 / 13)) && region[1].contains(&(at as u64 % 13))
        };
        let part: Vec<f32> = (0..given.len()).filter(|&at| is_inside(at)).map(|at| more[at]).collect();
        write(&array, &region, &part);
        let second = items(&array);
        for at in 0..given.len() {
            prop_assert!(is_allowed(&record, given[at], first[at]), "{} to {}", given[at], first[at]);
            if is_inside(at) {
                given[at] = more[at];
                prop_assert!(is_allowed(&record, given[at], second[at]), "{} to {}", given[at], second[at]);
            } else {
                prop_assert_eq!(first[at].to_bits(), second[at].to_bits(), "nobody wrote there");
            }
        }
        let reached = array.lossy().unwrap().unwrap().reached;
        let worst = given.iter().zip(&second).filter(|(x, _)| x.is_finite());
        let worst = worst.map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs()).fold(0.0, f64::max);
        prop_assert!(reached.max_error >= worst);
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let values = bytes(&waves(64 * 300, 3.0));
    for (name, value) in [("max_error", 0.1), ("psnr", 50.0), ("ratio", 7.0), ("keep_bits", 9.0)] {
        let stored = [1, 2, 5].map(|threads| {
            let array = under(&spec(&[64, 300], &[16, 100], &[4, 50]), record(name, value, None));
            let job = Job::default().threads(Some(threads));
            array.write(&Selection::all(&[64, 300]), WINDOW, Values::Bytes(&values), &job).unwrap();
            array.to_bytes().unwrap()
        });
        assert!(stored.iter().all(|bytes| *bytes == stored[0]), "{name}");
    }
}

#[test]
fn a_ratio_is_reached_with_little_to_spare() {
    let values = waves(256 * 256, 4.0);
    for method in [None, Some(LossyMethod::Round)] {
        for ratio in [3.0, 4.5, 6.0, 8.0, 12.0, 20.0] {
            let array = under(&spec(&[256, 256], &[128, 256], &[32, 128]), record("ratio", ratio, method));
            write(&array, &[0..256, 0..256], &values);
            let reached = array.stats().nbytes as f64 / array.stats().sizes.cbytes as f64;
            assert!((0.95 * ratio..=1.05 * ratio).contains(&reached), "{ratio} asked for, {reached} reached");
        }
    }
}

#[test]
fn a_peak_ratio_holds_for_the_array() {
    let values = waves(100 * 90, 3.0);
    for method in [None, Some(LossyMethod::Round), Some(LossyMethod::Zfp)] {
        for psnr in [20.0, 45.5, 70.0, 120.0] {
            let array = under(&spec(&[100, 90], &[40, 30], &[8, 10]), record("psnr", psnr, method));
            write(&array, &[0..100, 0..90], &values);
            let stored = items(&array);
            let squares: f64 = values.iter().zip(&stored).map(|(x, y)| f64::from(x - y).powi(2)).sum();
            let (least, most) = values.iter().fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
            let reached = 10.0 * (f64::from(most - least).powi(2) * values.len() as f64 / squares).log10();
            assert!(reached >= psnr, "{psnr} asked for, {reached} reached");
        }
    }
}

#[test]
fn what_was_promised_and_reached_is_read_again() {
    let array = under(&spec(&[40, 40], &[20, 20], &[10, 10]), record("max_error", 0.5, None));
    write(&array, &[0..40, 0..40], &waves(1600, 3.0));
    let said = array.lossy().unwrap().unwrap();
    assert!(said.reached.max_error > 0.0 && said.reached.max_error <= 0.5);
    assert_eq!(said.reached.chunks.iter().sum::<u64>(), 4);
    let again = Array::from_source(Arc::new(array.to_bytes().unwrap()), &OpenOptions::default()).unwrap();
    assert_eq!(again.lossy().unwrap(), Some(said));
    assert_eq!(again.layer_names(), Vec::<String>::new(), "it is no metadata of the user's");
    assert_eq!(array.set_layer("coquina.lossy", None).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_change_that_is_taken_back_has_lost_nothing() {
    let array = under(&spec(&[40, 40], &[20, 20], &[10, 10]), record("max_error", 0.5, None));
    array.begin().unwrap();
    write(&array, &[0..40, 0..40], &waves(1600, 3.0));
    assert!(array.lossy().unwrap().unwrap().reached.max_error > 0.0);
    array.rollback();
    assert_eq!(array.lossy().unwrap().unwrap().reached, Reached::NOTHING);
}

#[test]
fn a_damaged_record_promises_nothing_and_the_items_are_read() {
    let array = under(&spec(&[20], &[10], &[5]), record("max_error", 0.5, None));
    write(&array, std::slice::from_ref(&(0..20)), &waves(20, 3.0));
    let frame =
        Frame::from_source(Arc::new(array.to_bytes().unwrap()), 0, coquina::Limits::default()).unwrap();
    let stored = frame.snapshot().vlmetalayer("coquina.lossy").unwrap().unwrap();
    assert_eq!(stored, array.lossy().unwrap().unwrap().write());
    for damaged in [stored[..20].to_vec(), [&stored[..30], &[1], &stored[31..]].concat(), Vec::new()] {
        let copy = Array::create(&spec(&[20], &[10], &[5]), &Target::Memory).unwrap();
        write(&copy, std::slice::from_ref(&(0..20)), &items(&array));
        let mut bytes = copy.to_bytes().unwrap();
        bytes = with_layer(&bytes, &damaged);
        let found = Array::from_source(Arc::new(bytes), &OpenOptions::default()).unwrap();
        assert_eq!(found.lossy().unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(items(&found), items(&array));
    }
}

/// The frame with this content of the layer.
fn with_layer(bytes: &[u8], content: &[u8]) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("coquina-lossy-{}-{}", std::process::id(), content.len()));
    std::fs::write(&folder, bytes).unwrap();
    let mut frame = Frame::open(&folder, 0, coquina::frame::Mode::Write, coquina::Limits::default()).unwrap();
    let snapshot = frame.snapshot();
    let change = coquina::frame::Change {
        nchunks: snapshot.nchunks(),
        nbytes: snapshot.nbytes(),
        vlmetalayers: vec![("coquina.lossy".into(), Some(content.to_vec()))],
        ..coquina::frame::Change::default()
    };
    frame.apply(change).unwrap();
    frame.commit(false).unwrap();
    frame.close().unwrap();
    let bytes = std::fs::read(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    bytes
}

#[test]
fn codecs_and_filters_that_lose_something_themselves_are_refused() {
    let pipeline = Pipeline::new(&[Slot { id: 4, meta: 10 }]).unwrap();
    let plain = spec(&[20], &[10], &[5]);
    let lossy = ArraySpec { params: Params { pipeline, ..plain.params }, ..plain };
    let array = Array::create(&lossy, &Target::Memory).unwrap();
    assert_eq!(array.set_lossy(record("max_error", 0.5, None)).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn chunks_of_another_bound_are_not_taken_over() {
    let target = under(&spec(&[40], &[10], &[5]), record("max_error", 0.5, None));
    let part = |record: Option<Record>| {
        let part = Array::create(&spec(&[20], &[10], &[5]), &Target::Memory).unwrap();
        if let Some(record) = record {
            part.set_lossy(record).unwrap();
        }
        write(&part, std::slice::from_ref(&(0..20)), &waves(20, 3.0));
        part
    };
    let (same, exact) = (part(Some(record("max_error", 0.5, None))), part(None));
    target.adopt(&[0], &same).unwrap();
    target.adopt(&[20], &exact).unwrap();
    assert_eq!(target.lossy().unwrap().unwrap().reached, same.lossy().unwrap().unwrap().reached);
    let other = part(Some(record("max_error", 0.6, None)));
    assert_eq!(target.adopt(&[0], &other).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(exact.adopt(&[0], &same).unwrap_err().kind(), ErrorKind::Invalid);
}
