//! Tests of texts of a fixed width on their byte planes: one byte of all texts after another.
//!
//! In: a source of texts. Out: a truth byte for each, and mostly only the first planes are decoded: where no text begins
//! with the first letters of the constant, nothing else matters.
//! Plain version: `fixed.rs`.

use std::ops::Range;

use coquina_kernels::{best_level, plane_equal, plane_order};

use super::text::{Comparison, Unit};
use crate::array::{BoxSource, RowPlanes};
use crate::base::error::Result;
use crate::base::scratch::with_scratch;

/// A comparison with a constant, byte by byte in the order in which bytes decide.
pub(super) struct PlaneTest {
    /// The planes and the byte of the constant in each.
    bytes: Vec<(usize, u8)>,
    /// So many of them decide where texts have zeros at their ends only.
    until_end: usize,
    wanted: Wanted,
}

/// Texts of which an item may be one, each with its planes and bytes: so few are tested one by one.
pub(super) struct AmongPlanes(Vec<PlaneTest>);

/// Rows that are tested.
#[derive(Clone)]
pub(super) struct Rows {
    pub(super) rows: Range<u64>,
    /// Whether their texts are known to have zeros at their ends only.
    pub(super) are_ended: bool,
}

/// A set of more texts is looked up.
const AMONG_MAX: usize = 8;

/// What passes.
#[derive(Clone, Copy)]
enum Wanted {
    Same,
    Other,
    /// What is less, what is the same, what is greater.
    Order(Comparison),
}

impl PlaneTest {
    /// A comparison of items of `width` units with a constant that has room in them, and zeros behind it.
    pub(super) fn compare<T: Unit>(comparison: Comparison, constant: &[T], width: usize) -> Self {
        let wanted = match comparison {
            Comparison::Equal => Wanted::Same,
            Comparison::NotEqual => Wanted::Other,
            other => Wanted::Order(other),
        };
        let is_below = matches!(comparison, Comparison::Less | Comparison::GreaterEqual);
        let mut padded = constant.to_vec();
        // What is the same up to the end of the constant is not less, whatever stands behind.
        padded.resize(if is_below { constant.len() } else { width }, T::default());
        let until_end = padded.len().min(constant.len() + 1) * size_of::<T>();
        Self { bytes: plane_bytes(&padded, matches!(wanted, Wanted::Order(_))), until_end, wanted }
    }

    /// Whether items begin so.
    pub(super) fn starts<T: Unit>(constant: &[T]) -> Self {
        let bytes = plane_bytes(constant, false);
        Self { until_end: bytes.len(), bytes, wanted: Wanted::Same }
    }

    /// Fills `out` with the truths of these rows, if the source has planes of them; whether it has.
    pub(super) fn fill(&self, source: &dyn BoxSource, rows: Rows, out: &mut [u8]) -> Result<bool> {
        let Rows { rows, are_ended } = rows;
        let bytes = if are_ended { &self.bytes[..self.until_end] } else { &self.bytes };
        match self.wanted {
            Wanted::Same | Wanted::Other => {
                out.fill(1);
                let mut left = bytes;
                let done = source.planes(rows, &mut |planes: &RowPlanes<'_>| {
                    next(&mut left, planes, |plane, value| plane_equal(best_level(), plane, value, out))
                })?;
                if matches!(self.wanted, Wanted::Other) {
                    out.iter_mut().for_each(|byte| *byte ^= 1);
                }
                Ok(done)
            }
            Wanted::Order(comparison) => with_scratch(out.len(), |tie| {
                tie.fill(1);
                out.fill(0);
                let mut left = bytes;
                let done = source.planes(rows, &mut |planes: &RowPlanes<'_>| {
                    next(&mut left, planes, |plane, value| {
                        plane_order(best_level(), plane, 0, value, tie, out)
                    })
                })?;
                settle(comparison, tie, out);
                Ok(done)
            }),
        }
    }
}

impl AmongPlanes {
    /// Whether items of `width` units are one of these texts, which have no zeros at their ends; nothing for many texts.
    pub(super) fn new<T: Unit>(texts: &[Vec<T>], width: usize) -> Option<Self> {
        // What has no room is no item.
        let fitting = texts.iter().filter(|text| text.len() <= width);
        let tests = fitting.map(|text| PlaneTest::compare(Comparison::Equal, text, width));
        (texts.len() <= AMONG_MAX).then(|| Self(tests.collect()))
    }

    /// Fills `out` with the truths of these rows, if the source has planes of them; whether it has.
    pub(super) fn fill(&self, source: &dyn BoxSource, rows: Rows, out: &mut [u8]) -> Result<bool> {
        out.fill(0);
        with_scratch(out.len(), |same| {
            for test in &self.0 {
                // The planes that one test had decoded are there for the next one.
                if !test.fill(source, rows.clone(), same)? {
                    return Ok(false);
                }
                out.iter_mut().zip(&*same).for_each(|(out, same)| *out |= same);
            }
            Ok(true)
        })
    }
}

/// Takes the planes that are there, in order, as long as `narrow` leaves anything to be decided; the next one that is
/// wanted.
fn next(
    left: &mut &[(usize, u8)],
    planes: &RowPlanes<'_>,
    mut narrow: impl FnMut(&[u8], u8) -> bool,
) -> Option<usize> {
    while let Some((&(number, value), rest)) = left.split_first() {
        let Some(plane) = planes.get(number) else { return Some(number) };
        *left = if narrow(plane, value) { rest } else { &[] };
    }
    None
}

/// From where an item is less than the constant, or the same, to where the comparison holds.
fn settle(comparison: Comparison, tie: &[u8], less: &mut [u8]) {
    let each = less.iter_mut().zip(tie);
    match comparison {
        Comparison::Less => {}
        Comparison::LessEqual => each.for_each(|(less, tie)| *less |= tie),
        Comparison::Greater => each.for_each(|(less, tie)| *less = (*less | tie) ^ 1),
        Comparison::GreaterEqual => less.iter_mut().for_each(|less| *less ^= 1),
        Comparison::Equal => less.copy_from_slice(tie),
        Comparison::NotEqual => each.for_each(|(less, tie)| *less = tie ^ 1),
    }
}

/// The bytes of units and the planes that they are in; the highest byte of each first if the order matters, else the
/// lowest, as the others are mostly zeros.
fn plane_bytes<T: Unit>(units: &[T], by_order: bool) -> Vec<(usize, u8)> {
    let width = size_of::<T>();
    let mut all = Vec::with_capacity(size_of_val(units));
    for (number, unit) in units.iter().enumerate() {
        let bytes = coquina_kernels::items::bytes_of(std::slice::from_ref(unit));
        let places = bytes.iter().enumerate().map(|(at, &byte)| (number * width + at, byte));
        if by_order == cfg!(target_endian = "little") {
            all.extend(places.rev());
        } else {
            all.extend(places);
        }
    }
    all
}
