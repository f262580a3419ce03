//! Laws of chunks that are taken over from another array: the whole is what one writer would have made of it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod plain;

use std::ops::Range;
use std::sync::Arc;

use coquina::array::{Array, ArraySpec, OpenOptions, Selection, Target, Values};
use coquina::chunk::Params;
use coquina::frame::{Kind, Mode};
use coquina::{ErrorKind, Existing, Job};
use plain::{Folder, ITEMS, TYPESIZE, coordinates, count, created, opened, spec};
use proptest::prelude::*;

/// An array in memory with these items.
fn array_of(spec: &ArraySpec, items: &[u32]) -> Array {
    let array = Array::create(spec, &Target::Memory).unwrap();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    array.write(&Selection::all(&spec.shape), ITEMS, Values::Bytes(&bytes), &Job::default()).unwrap();
    array
}

/// The items of a region, where item `n` of the whole is `item(n)`.
fn part(shape: &[u64], region: &[Range<u64>], item: impl Fn(u64) -> u32) -> (Vec<u64>, Vec<u32>) {
    let lens: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let number = |at: Vec<u64>| {
        let at = at.iter().zip(region).map(|(at, range)| at + range.start);
        at.zip(shape).fold(0, |place, (at, len)| place * len + at)
    };
    let items = (0..count(&lens) as u64).map(|n| item(number(coordinates(&lens, n)))).collect();
    (lens, items)
}

/// All regions of `units` chunks along each axis.
fn regions(shape: &[u64], extents: &[u64]) -> Vec<Vec<Range<u64>>> {
    let mut regions = vec![Vec::new()];
    for (&len, &extent) in shape.iter().zip(extents) {
        let ranges = (0..len.div_ceil(extent)).map(|at| at * extent..len.min((at + 1) * extent));
        let ranges: Vec<_> = ranges.collect();
        regions = regions
            .iter()
            .flat_map(|region| {
                ranges.iter().map(|range| [region.as_slice(), std::slice::from_ref(range)].concat())
            })
            .collect();
    }
    regions
}

/// Of each axis: how long it is, chunk, block, and how many chunks a part has.
type Axis = (u64, u64, u64, u64);

fn axes() -> impl Strategy<Value = Vec<Axis>> {
    let axis = (1..20_u64, 1..6_u64, 1..6_u64, 1..4_u64);
    prop::collection::vec(axis, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_make_the_whole(axes in axes(), modulus in prop::sample::select(vec![1, 2, 5000]), kind in 0..3, order in any::<u64>()) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|axis| axis.1.max(axis.2)).collect();
        let blocks: Vec<u64> = axes.iter().map(|axis| axis.1.min(axis.2)).collect();
        let spec = spec(&shape, &chunks, &blocks);
        let item = |number: u64| u32::try_from(number * 7 % modulus).unwrap();
        let items: Vec<u32> = (0..count(&shape) as u64).map(item).collect();
        let wanted = array_of(&spec, &items);
        let folder = Folder::new();
        let path = folder.path("a");
        let kind = [None, Some(Kind::Contiguous), Some(Kind::Sparse)][usize::try_from(kind).unwrap()];
        let array = match kind {
            None => Array::create(&spec, &Target::Memory).unwrap(),
            Some(kind) => {
                let target = Target::File { path: path.clone(), kind, existing: Existing::Refuse };
                Array::create(&spec, &target).unwrap()
            }
        };
        let extents: Vec<u64> = chunks.iter().zip(&axes).map(|(chunk, axis)| chunk * axis.3).collect();
        let mut regions = regions(&shape, &extents);
        let turn = usize::try_from(order % regions.len() as u64).unwrap();
        regions.rotate_left(turn);
        array.begin().unwrap();
        for (number, region) in regions.iter().enumerate() {
            let (lens, items) = part(&shape, region, item);
            let mut part = array_of(&ArraySpec { shape: lens, ..spec.clone() }, &items);
            if number % 2 == 0 {
                // As it comes from another process.
                part = Array::from_source(Arc::new(part.to_bytes().unwrap()), &OpenOptions::default()).unwrap();
            }
            let start: Vec<u64> = region.iter().map(|range| range.start).collect();
            array.adopt(&start, &part).unwrap();
        }
        array.commit().unwrap();
        array.publish().unwrap();
        prop_assert_eq!(array.to_bytes().unwrap(), wanted.to_bytes().unwrap());
        prop_assert_eq!(array.stats().sizes.dead_bytes, 0);
        if kind.is_some() {
            array.close().unwrap();
            drop(array);
            let again = opened(&path, Mode::Read).unwrap();
            prop_assert!(again.verify(&Job::default()).unwrap().is_empty());
            prop_assert_eq!(again.to_bytes().unwrap(), wanted.to_bytes().unwrap());
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let whole = spec(&[10, 9], &[4, 3], &[2, 3]);
    let array = array_of(&whole, &[3; 90]);
    let before = array.to_bytes().unwrap();
    let refused = |start: &[u64], spec: &ArraySpec| {
        let part = array_of(spec, &vec![5; count(&spec.shape)]);
        assert_eq!(array.adopt(start, &part).unwrap_err().kind(), ErrorKind::Invalid, "{start:?}");
    };
    let part = |shape: &[u64]| spec(shape, &[4, 3], &[2, 3]);
    refused(&[1, 0], &part(&[4, 3]));
    refused(&[0, 0], &part(&[3, 3]));
    refused(&[8, 0], &part(&[4, 3]));
    refused(&[12, 0], &part(&[4, 3]));
    refused(&[u64::MAX - 3, 0], &part(&[4, 3]));
    refused(&[0], &part(&[4, 3]));
    refused(&[0], &spec(&[4], &[4], &[2]));
    refused(&[0, 0], &spec(&[4, 3], &[4, 3], &[4, 3]));
    refused(&[0, 0], &spec(&[4, 6], &[4, 6], &[2, 3]));
    refused(&[0, 0], &ArraySpec { dtype: "<f4".into(), ..part(&[4, 3]) });
    let wide = Params { typesize: 2 * TYPESIZE, ..part(&[4, 3]).params };
    let wide = ArraySpec { params: wide, dtype: "<u8".into(), ..part(&[4, 3]) };
    let wide = Array::create(&wide, &Target::Memory).unwrap();
    assert_eq!(array.adopt(&[0, 0], &wide).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(array.to_bytes().unwrap(), before);
}

#[test]
fn damaged_parts_are_refused() {
    let whole = spec(&[600], &[200], &[50]);
    let items: Vec<u32> = (0..600).map(|n| n * n).collect();
    let array = Array::create(&whole, &Target::Memory).unwrap();
    let good = array_of(&whole, &items).to_bytes().unwrap();
    let before = array.to_bytes().unwrap();
    let mut refused = 0;
    for place in 0..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 4;
        let Ok(part) = Array::from_source(Arc::new(bytes), &OpenOptions::default()) else { continue };
        let array = Array::create(&whole, &Target::Memory).unwrap();
        if array.adopt(&[0], &part).is_err() {
            refused += 1;
            assert_eq!(array.to_bytes().unwrap(), before);
        } else if array.verify(&Job::default()).unwrap().is_empty() {
            // The damage was elsewhere: in names, in what the chunks of an index are padded with.
            let mut out = vec![0; 600 * TYPESIZE];
            array.read(&Selection::all(&[600]), ITEMS, &mut out, &Job::default()).unwrap();
            let wanted: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
            assert_eq!(out, wanted, "byte {place}");
        }
    }
    assert!(refused > 100, "{refused} of {}", good.len());
}

#[test]
fn the_state_sum_tells_commits_apart() {
    let folder = Folder::new();
    let path = folder.path("a");
    let (array, _) = created(&path, Kind::Contiguous, &spec(&[40], &[10], &[5]));
    let mut seen = Vec::new();
    for value in 0..5_u32 {
        array
            .write(&Selection::all(&[40]), ITEMS, Values::Uniform(&value.to_le_bytes()), &Job::default())
            .unwrap();
        let sum = array.state_sum().unwrap();
        assert_eq!(opened(&path, Mode::Read).unwrap().state_sum(), Some(sum));
        assert!(!seen.contains(&sum));
        seen.push(sum);
    }
    assert_eq!(Array::create(&spec(&[4], &[4], &[4]), &Target::Memory).unwrap().state_sum(), None);
}
