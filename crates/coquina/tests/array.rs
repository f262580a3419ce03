//! Laws of arrays in memory: reading and writing any selection equals the same on a plain buffer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use coquina::Job;
use coquina::array::{
    Access, Array, ArraySpec, AxisSelection, Fill, Points, Selection, Target, Values, Window,
};
use coquina::chunk::{Params, Special};
use coquina::codec::by_name;
use proptest::prelude::*;

const TYPESIZE: usize = 4;
const WHOLE: Window = Window { offset: 0, bytes: TYPESIZE };

fn spec(shape: &[u64], chunks: &[u64], blocks: &[u64]) -> ArraySpec {
    ArraySpec {
        shape: shape.into(),
        chunks: Some(chunks.into()),
        blocks: Some(blocks.into()),
        access: Access::Any,
        dtype: "<i4".into(),
        fill: Fill::Special(Special::Zeros),
        // Blocks of LZ4 are decoded as far as they are wanted.
        params: Params {
            typesize: TYPESIZE,
            codec: by_name(["lz4", "zstd"][shape.len() % 2]).unwrap(),
            ..Params::default()
        },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

/// The plain version: items of a C-order buffer.
struct Plain {
    shape: Vec<u64>,
    items: Vec<[u8; TYPESIZE]>,
}

impl Plain {
    fn numbered(shape: &[u64]) -> Self {
        let items = (0..u32::try_from(shape.iter().product::<u64>()).unwrap()).map(|n| (n + 1).to_le_bytes());
        Self { shape: shape.into(), items: items.collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.items.concat()
    }

    /// Where the selected items stand, in the order of the result.
    fn places(&self, selection: &Selection) -> Vec<usize> {
        let shape = selection.shape();
        let total: u64 = shape.iter().product();
        (0..total).map(|number| self.place(selection, &shape, number)).collect()
    }

    fn place(&self, selection: &Selection, shape: &[u64], mut number: u64) -> usize {
        let mut at = vec![0; shape.len()];
        for (at, len) in at.iter_mut().zip(shape).rev() {
            *at = number % len;
            number /= len;
        }
        let point = selection.points.as_ref().map(|points| at.remove(points.place));
        let mut rest = at.into_iter();
        let mut place = 0;
        for (axis, selected) in selection.axes.iter().enumerate() {
            let index = match selected {
                Some(AxisSelection::Range { start, step, .. }) => {
                    let way = rest.next().unwrap().cast_signed() * step;
                    start.checked_add_signed(way).unwrap()
                }
                Some(AxisSelection::List(indices)) => indices[usize::try_from(rest.next().unwrap()).unwrap()],
                None => {
                    let points = selection.points.as_ref().unwrap();
                    let which = points.axes.iter().position(|&a| a == axis).unwrap();
                    points.coordinates[which][usize::try_from(point.unwrap()).unwrap()]
                }
            };
            place = place * self.shape[axis] + index;
        }
        usize::try_from(place).unwrap()
    }
}

fn axis_selection(size: u64) -> impl Strategy<Value = AxisSelection> {
    let range = (0..size, -3_i64..=3, 0..=size).prop_map(move |(start, step, len)| {
        let step = if step == 0 { 1 } else { step };
        let room =
            if step > 0 { (size - 1 - start) / step.unsigned_abs() } else { start / step.unsigned_abs() };
        AxisSelection::Range { start, step, len: len.min(room + 1) }
    });
    let list = prop::collection::vec(0..size, 0..6).prop_map(AxisSelection::List);
    prop_oneof![3 => range, 1 => list]
}

fn selection(shape: Vec<u64>) -> impl Strategy<Value = Selection> {
    let ndim = shape.len();
    let axes: Vec<_> = shape.iter().map(|&size| axis_selection(size)).collect();
    let coordinates: Vec<_> = shape.iter().map(|&size| prop::collection::vec(0..size, 5)).collect();
    let joint = prop::collection::vec(any::<bool>(), ndim);
    (axes, coordinates, joint, 0..6_usize, 0..=ndim, any::<bool>()).prop_map(
        |(axes, coordinates, joint, len, place, has_points)| {
            let mut axes: Vec<_> = axes.into_iter().map(Some).collect();
            if !has_points || !joint.contains(&true) {
                return Selection { axes, points: None };
            }
            let chosen: Vec<usize> = (0..axes.len()).filter(|&axis| joint[axis]).collect();
            chosen.iter().for_each(|&axis| axes[axis] = None);
            let coordinates = chosen.iter().map(|&axis| coordinates[axis][..len.min(5)].to_vec()).collect();
            let place = place.min(axes.len() - chosen.len());
            Selection { axes, points: Some(Points { axes: chosen, coordinates, place }) }
        },
    )
}

fn cut(shape: &[u64]) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> + use<> {
    let axes: Vec<_> = shape.iter().map(|&size| (1..=size + 2, 1..=size + 2)).collect();
    axes.prop_map(|axes| axes.into_iter().map(|(a, b)| (a.max(b), a.min(b))).unzip())
}

fn case() -> impl Strategy<Value = (Vec<u64>, (Vec<u64>, Vec<u64>), Selection)> {
    prop::collection::vec(1..12_u64, 0..4)
        .prop_flat_map(|shape| (Just(shape.clone()), cut(&shape), selection(shape)))
}

fn numbered(shape: &[u64], cut: &(Vec<u64>, Vec<u64>)) -> (Array, Plain) {
    let plain = Plain::numbered(shape);
    let array = Array::create(&spec(shape, &cut.0, &cut.1), &Target::Memory).unwrap();
    array.write(&Selection::all(shape), WHOLE, Values::Bytes(&plain.bytes()), &Job::default()).unwrap();
    (array, plain)
}

fn all(array: &Array) -> Vec<u8> {
    let shape = array.grid().shape().to_vec();
    let mut out = vec![0xee; usize::try_from(shape.iter().product::<u64>()).unwrap() * TYPESIZE];
    array.read(&Selection::all(&shape), WHOLE, &mut out, &Job::default()).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn reading_equals_a_plain_buffer((shape, cut, selection) in case(), field in any::<bool>()) {
        let (array, plain) = numbered(&shape, &cut);
        let window = if field { Window { offset: 1, bytes: 2 } } else { WHOLE };
        let places = plain.places(&selection);
        let expected: Vec<u8> = places.iter()
            .flat_map(|&place| plain.items[place][window.offset..window.offset + window.bytes].to_vec())
            .collect();
        for _ in 0..2 {
            let mut out = vec![0xee; expected.len()];
            array.read(&selection, window, &mut out, &Job::default()).unwrap();
            prop_assert_eq!(&out, &expected);
        }
    }

    #[test]
    fn writing_equals_a_plain_buffer((shape, cut, selection) in case(), field in any::<bool>(), uniform in any::<bool>()) {
        let (array, mut plain) = numbered(&shape, &cut);
        let window = if field { Window { offset: 1, bytes: 2 } } else { WHOLE };
        let places = plain.places(&selection);
        let mut values = Vec::new();
        for (number, &place) in places.iter().enumerate() {
            let number = if uniform { 77 } else { u32::try_from(number).unwrap() + 1000 };
            let value = &number.to_le_bytes()[..window.bytes];
            plain.items[place][window.offset..window.offset + window.bytes].copy_from_slice(value);
            values.extend_from_slice(value);
        }
        let item = 77_u32.to_le_bytes();
        let values = if uniform { Values::Uniform(&item[..window.bytes]) } else { Values::Bytes(&values) };
        array.write(&selection, window, values, &Job::default()).unwrap();
        prop_assert_eq!(all(&array), plain.bytes());
    }

    #[test]
    fn what_a_resize_uncovers_is_zeros((shape, cut, _) in case(), lens in prop::collection::vec(0..12_u64, 4)) {
        let (array, plain) = numbered(&shape, &cut);
        let small: Vec<u64> = shape.iter().zip(&lens).map(|(&a, &b)| a.min(b)).collect();
        let large: Vec<u64> = shape.iter().zip(&lens).map(|(&a, &b)| a.max(b)).collect();
        array.resize(&small, &Job::default()).unwrap();
        array.resize(&large, &Job::default()).unwrap();
        let mut expected = Plain { items: vec![[0; TYPESIZE]; usize::try_from(large.iter().product::<u64>()).unwrap()], shape: large };
        let kept = Selection::all(&small);
        for (from, to) in plain.places(&kept).into_iter().zip(expected.places(&kept)) {
            expected.items[to] = plain.items[from];
        }
        prop_assert_eq!(all(&array), expected.bytes());
    }

    #[test]
    fn appending_equals_growing_and_writing((shape, cut, _) in case(), axis in 0..4_usize, len in 0..9_u64) {
        prop_assume!(!shape.is_empty());
        let axis = axis % shape.len();
        let (array, plain) = numbered(&shape, &cut);
        let mut grown = shape.clone();
        grown[axis] += len;
        let added = len * shape.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, n)| n).product::<u64>();
        let values: Vec<u8> = (0..u32::try_from(added).unwrap()).flat_map(|n| (n + 5000).to_le_bytes()).collect();
        array.append(axis, len, Values::Bytes(&values), &Job::default()).unwrap();
        let mut expected = Plain { items: vec![[0; TYPESIZE]; usize::try_from(grown.iter().product::<u64>()).unwrap()], shape: grown.clone() };
        let old = Selection::all(&shape);
        for (from, to) in plain.places(&old).into_iter().zip(expected.places(&old)) {
            expected.items[to] = plain.items[from];
        }
        let mut ranges: Vec<_> = grown.iter().map(|&n| 0..n).collect();
        ranges[axis].start = shape[axis];
        for (value, place) in values.chunks(TYPESIZE).zip(expected.places(&Selection::region(&ranges))) {
            expected.items[place] = value.try_into().unwrap();
        }
        prop_assert_eq!(all(&array), expected.bytes());
    }
}

#[test]
fn a_failed_transaction_leaves_the_array_as_it_was() {
    let (array, plain) = numbered(&[6, 7], &(vec![3, 3], vec![2, 2]));
    array.begin().unwrap();
    array.write(&Selection::all(&[6, 7]), WHOLE, Values::Uniform(&[1; 4]), &Job::default()).unwrap();
    array.resize(&[9, 9], &Job::default()).unwrap();
    assert_eq!(array.grid().shape(), [9, 9]);
    array.rollback();
    assert_eq!(all(&array), plain.bytes());

    array.begin().unwrap();
    array.write(&Selection::all(&[6, 7]), WHOLE, Values::Uniform(&[1; 4]), &Job::default()).unwrap();
    let outside = Selection::region(&[0..7, 0..1]);
    assert!(array.write(&outside, WHOLE, Values::Uniform(&[1; 4]), &Job::default()).is_err());
    assert!(array.commit().is_err());
    assert_eq!(all(&array), plain.bytes());
}

#[test]
fn a_slice_decodes_only_the_blocks_that_it_touches() {
    let (array, _) = numbered(&[64, 64], &(vec![32, 32], vec![8, 8]));
    array.set_cache_bytes(0);
    let row = Selection::region(&[5..6, 0..64]);
    assert_eq!(array.blocks_touched(&row).unwrap(), 8);
    let before = array.stats().blocks_decoded;
    array.read(&row, WHOLE, &mut [0; 64 * TYPESIZE], &Job::default()).unwrap();
    assert_eq!(array.stats().blocks_decoded - before, 8);
}
