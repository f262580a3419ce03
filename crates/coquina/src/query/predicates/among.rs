//! Membership: which numbers are among some others.
//!
//! In: a source of numbers, and values of the same type. Out: a truth byte for each number. Few values are compared
//! one after another in loops without branches, small types have a table of all their numbers, others are hashed.
//! A box within whose bounds no value lies is known to hold none.
//! Source: NumPy's `isin`: a NaN is like no number, and the two zeros are one.

use std::any::Any;
use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::items;

use super::super::hashing::{Hashing, slot_of};
use super::super::numbers::{Real, numbers, with_real};
use super::len_of;
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// Up to so many values are compared one after another.
const FEW: usize = 16;
/// Items that are compared with all values before the next ones are.
const BATCH: usize = 2048;

/// Which numbers are among some values.
pub struct Among {
    source: Arc<dyn BoxSource>,
    ty: Type,
    values: Vec<u8>,
    members: Box<dyn Members>,
}

impl Among {
    /// Whether the numbers of `source`, which are of type `ty`, are among `values`, in the machine's byte order.
    ///
    /// # Errors
    /// `Invalid` for complex numbers, for more than one axis, and for items or values of another size.
    pub fn new(source: Arc<dyn BoxSource>, ty: Type, values: &[u8]) -> Result<Self> {
        len_of(&*source)?;
        let (name, bytes) = (ty.name(), source.item_bytes());
        if bytes != ty.bytes() || !values.len().is_multiple_of(bytes) {
            let found = values.len();
            return Err(Error::invalid(format!("{name}: items of {bytes} bytes, {found} bytes of values")));
        }
        let given = values.to_vec();
        let truths: Vec<u8>;
        let values = if ty == Type::Bool {
            // Every byte that is not 0 is true.
            let has = |truth| values.iter().any(|&value| (value != 0) == truth);
            truths = (0..=u8::MAX).filter(|&byte| has(byte != 0)).collect();
            &truths[..]
        } else {
            values
        };
        let members = with_real!(ty, T => members_of(numbers::<T>(values)))
            .ok_or_else(|| Error::invalid(format!("type {name}: takes real numbers")))?;
        Ok(Self { source, ty, values: given, members })
    }

    /// The numbers, and their type.
    pub(crate) fn numbers(&self) -> (&Arc<dyn BoxSource>, Type) {
        (&self.source, self.ty)
    }

    /// The values among which they may be.
    pub(crate) fn values(&self) -> &[u8] {
        &self.values
    }
}

impl BoxSource for Among {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.source.shape()
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        self.source.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 1, out.len())?;
        with_scratch(out.len() * self.ty.bytes(), |room| {
            self.source.fill(start, shape, room)?;
            self.members.test(room, out);
            Ok(())
        })
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        if self.members.is_empty() {
            return Some(vec![0]);
        }
        if let Some(item) = self.source.uniform(start, shape) {
            return (item.len() == self.ty.bytes()).then(|| {
                with_scratch(item.len(), |room| {
                    let mut out = vec![0];
                    room.copy_from_slice(&item);
                    self.members.test(room, &mut out);
                    out
                })
            });
        }
        let bounds = self.source.bounds(start, shape)?;
        let is_sound = bounds.min.len() == self.ty.bytes() && bounds.max.len() == self.ty.bytes();
        (is_sound && !self.members.has_within(&bounds.min, &bounds.max)).then(|| vec![0])
    }
}

/// The values of one type.
trait Members: Send + Sync {
    fn is_empty(&self) -> bool;
    /// Whether a value lies within these bounds.
    fn has_within(&self, min: &[u8], max: &[u8]) -> bool;
    /// Tells for each of the items, which are aligned.
    fn test(&self, items: &[u8], out: &mut [u8]);
}

/// Values in ascending order, each once, and none of them NaN.
struct Values<T> {
    sorted: Vec<T>,
    found_by: FoundBy,
}

enum FoundBy {
    /// Comparing with each.
    Comparing,
    /// A truth for each number of 1 or 2 bytes.
    Table(Vec<u8>),
    Hash(Slots),
}

fn members_of<T: Real>(mut values: Vec<T>) -> Box<dyn Members> {
    values.retain(|value| !value.is_nan());
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.dedup();
    let found_by = match size_of::<T>() {
        1 => FoundBy::Table(table(&values, 1 << 8)),
        _ if values.len() <= FEW => FoundBy::Comparing,
        2 => FoundBy::Table(table(&values, 1 << 16)),
        _ => FoundBy::Hash(Slots::new(values.iter().map(|value| value.key()))),
    };
    Box::new(Values { sorted: values, found_by })
}

/// A truth for each of the numbers by the last bits of their keys.
fn table<T: Real>(values: &[T], len: usize) -> Vec<u8> {
    let mut table = vec![0; len];
    for value in values {
        table[slot_of(value.key(), len - 1)] = 1;
    }
    table
}

impl<T: Real> Members for Values<T> {
    fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    fn has_within(&self, min: &[u8], max: &[u8]) -> bool {
        let (min, max) = (numbers::<T>(min), numbers::<T>(max));
        let (Some(&min), Some(&max)) = (min.first(), max.first()) else { return true };
        // Where all items are NaN the bounds are, and no comparison holds.
        let first = self.sorted.partition_point(|&value| value < min);
        self.sorted.get(first).is_some_and(|&value| min <= value && value <= max)
    }

    fn test(&self, bytes: &[u8], out: &mut [u8]) {
        let numbers = items::<T>(bytes);
        match &self.found_by {
            FoundBy::Comparing => {
                for (numbers, out) in numbers.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
                    out.fill(0);
                    for &value in &self.sorted {
                        for (out, &number) in out.iter_mut().zip(numbers) {
                            *out |= u8::from(number == value);
                        }
                    }
                }
            }
            FoundBy::Table(table) => {
                let mask = table.len() - 1;
                for (out, &number) in out.iter_mut().zip(numbers) {
                    *out = table[slot_of(number.key(), mask)];
                }
            }
            FoundBy::Hash(slots) => {
                let (Some(&min), Some(&max)) = (self.sorted.first(), self.sorted.last()) else { return };
                for (out, &number) in out.iter_mut().zip(numbers) {
                    *out = u8::from(min <= number && number <= max && slots.has(number.key()));
                }
            }
        }
    }
}

/// Keys in open addressing, at most half of the slots taken.
struct Slots {
    slots: Vec<u64>,
    /// What free slots hold: no key.
    free: u64,
    hashing: Hashing,
}

impl Slots {
    fn new(keys: impl ExactSizeIterator<Item = u64> + Clone) -> Self {
        // One of so many numbers is no key.
        let mut taken = vec![false; keys.len() + 1];
        for key in keys.clone() {
            if let Some(taken) = usize::try_from(key).ok().and_then(|key| taken.get_mut(key)) {
                *taken = true;
            }
        }
        let free = taken.iter().position(|&taken| !taken).unwrap_or(0) as u64;
        let len = (2 * keys.len()).next_power_of_two();
        let mut slots = Self { slots: vec![free; len], free, hashing: Hashing::new() };
        for key in keys {
            let at = slots.place(key);
            slots.slots[at] = key;
        }
        slots
    }

    /// The slot of a key, or the free one where it would be.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = slot_of(self.hashing.number(key), mask);
        while self.slots[at] != key && self.slots[at] != self.free {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline(always)]
    fn has(&self, key: u64) -> bool {
        key != self.free && self.slots[self.place(key)] == key
    }
}
