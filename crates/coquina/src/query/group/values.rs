//! The values of the rows of a box, and the numbers of the groups that they are of.
//!
//! In: the matches of a box, and the numbers of their groups. Out: each column folded. Values that a mask says are
//! missing, and NaN where they are passed over, are left out first. What is asked for twice in a row is read once.

use coquina_kernels::items::{Aligned, items};
use coquina_kernels::{Type, best_level, compress};

use super::super::gather::gather;
use super::super::walk::Picked;
use super::aggregates::Aggregation;
use super::column::Column;
use super::keys::KeyKind;
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::base::scratch::{with_aligned_scratch, with_scratch};

/// Values of which each group gets a result.
#[derive(Clone, Copy)]
pub struct Values<'q> {
    /// An item for each row.
    pub source: &'q dyn BoxSource,
    /// What the items are; none for bytes, which have counts and ends alone.
    pub ty: Option<Type>,
    /// What they come to.
    pub aggregation: Aggregation,
    /// Items of one byte: where it is not 0 there is no value, and nothing is counted.
    pub mask: Option<&'q dyn BoxSource>,
}

fn is_same(one: Option<&dyn BoxSource>, other: Option<&dyn BoxSource>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::addr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl Values<'_> {
    fn has_items_of(&self, other: &Self) -> bool {
        is_same(Some(self.source), Some(other.source))
            && self.ty == other.ty
            && is_same(self.mask, other.mask)
    }
}

/// Memory for the numbers of groups.
#[derive(Default)]
pub(super) struct Numbers {
    /// Of the rows of a box.
    pub(super) all: Vec<u32>,
    /// Of those that a mask leaves.
    present: Vec<u32>,
    /// Of those without NaN.
    kept: Vec<u32>,
}

/// Folds the values of the matches into the columns; whether anything was decoded.
pub(super) fn fold_all(
    wanted: &[Values<'_>],
    picked: &Picked<'_>,
    numbers: &mut Numbers,
    columns: &mut [Box<dyn Column>],
) -> Result<bool> {
    let mut is_decoded = false;
    with_aligned_scratch(|masks| {
        with_aligned_scratch(|room| {
            let mut reading = Reading { picked, masks, room, masked: None, there: None };
            for (values, column) in wanted.iter().zip(columns) {
                is_decoded |= reading.fold(values, numbers, &mut **column)?;
            }
            Ok(is_decoded)
        })
    })
}

/// What has been read of a box.
struct Reading<'r, 'v> {
    picked: &'r Picked<'r>,
    /// Where a value is present: 1, else 0.
    masks: &'r mut Aligned,
    room: &'r mut Aligned,
    /// The mask that this is.
    masked: Option<&'v dyn BoxSource>,
    /// The values that are there.
    there: Option<&'v Values<'v>>,
}

impl<'v> Reading<'_, 'v> {
    fn fold(
        &mut self,
        values: &'v Values<'v>,
        numbers: &mut Numbers,
        column: &mut dyn Column,
    ) -> Result<bool> {
        let mut is_decoded = self.read_mask(values.mask, numbers)?;
        let Numbers { all, present, kept } = numbers;
        let numbers = if values.mask.is_some() { &*present } else { &*all };
        if !values.aggregation.needs_values() {
            column.fold(numbers, &mut [])?;
            return Ok(is_decoded);
        }
        let bytes = numbers.len() * values.source.item_bytes();
        if self.there.is_none_or(|there| !there.has_items_of(values)) {
            is_decoded |= self.read(values, bytes)?;
            make_truths(values.ty, self.room.room(bytes));
        }
        self.there = Some(values).filter(|values| !values.aggregation.changes_values());
        let room = self.room.room(bytes);
        let numbers =
            if values.aggregation.skips_nan { keep_numbers(values.ty, room, numbers, kept) } else { numbers };
        column.fold(numbers, room)?;
        Ok(is_decoded)
    }

    /// Reads a mask, and which rows it leaves.
    fn read_mask(&mut self, mask: Option<&'v dyn BoxSource>, numbers: &mut Numbers) -> Result<bool> {
        let Some(source) = mask.filter(|_| !is_same(self.masked, mask)) else { return Ok(false) };
        let mask = self.masks.room(self.picked.count);
        let is_decoded = gather(source, self.picked, mask)?;
        mask.iter_mut().for_each(|byte| *byte = u8::from(*byte == 0));
        let present = numbers.all.iter().zip(&*mask).filter(|(_, is_present)| **is_present != 0);
        numbers.present.clear();
        numbers.present.extend(present.map(|(number, _)| *number));
        self.masked = Some(source);
        Ok(is_decoded)
    }

    /// Reads the values that are present, which have so many bytes.
    fn read(&mut self, values: &Values<'_>, bytes: usize) -> Result<bool> {
        let (picked, to) = (self.picked, self.room.room(bytes));
        let width = values.source.item_bytes();
        let all = picked.count * width;
        if all == bytes {
            return gather(values.source, picked, to);
        }
        let mask = &*self.masks.room(picked.count);
        with_scratch(all, |items| {
            let is_decoded = gather(values.source, picked, items)?;
            compress(best_level(), mask, items, width, to);
            Ok(is_decoded)
        })
    }
}

/// Makes bytes that are true but for 0 either 0 or 1.
fn make_truths(ty: Option<Type>, values: &mut [u8]) {
    if ty == Some(Type::Bool) {
        KeyKind::Bool.make_same(values);
    }
}

/// Moves the values that are no NaN to the front; the numbers of their groups.
fn keep_numbers<'n>(
    ty: Option<Type>,
    values: &mut [u8],
    all: &'n [u32],
    kept: &'n mut Vec<u32>,
) -> &'n [u32] {
    let is_number: fn(&[u8]) -> bool = match ty {
        Some(Type::F32 | Type::C64) => |item| items::<f32>(item).iter().all(|x| !x.is_nan()),
        Some(Type::F64 | Type::C128) => |item| items::<f64>(item).iter().all(|x| !x.is_nan()),
        _ => return all,
    };
    let width = ty.map_or(1, Type::bytes);
    kept.clear();
    for (row, &number) in all.iter().enumerate() {
        let item = row * width..(row + 1) * width;
        if is_number(&values[item.clone()]) {
            values.copy_within(item, kept.len() * width);
            kept.push(number);
        }
    }
    kept
}
