//! What is known of some items: the least and the greatest of them.

use std::ops::Deref;

use coquina_kernels::elementwise::Run;
use coquina_kernels::items::items;
use coquina_kernels::{Type, best_level};

/// Bytes of the widest item.
const ITEM_BYTES_MAX: usize = 16;

/// The bytes of one item, where kernels may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Item {
    bytes: [u8; ITEM_BYTES_MAX],
    len: usize,
}

impl Item {
    fn new(bytes: &[u8], ty: Type) -> Option<Self> {
        let mut item = Self { bytes: [0; ITEM_BYTES_MAX], len: ty.bytes() };
        item.bytes.get_mut(..ty.bytes()).filter(|room| room.len() == bytes.len())?.copy_from_slice(bytes);
        Some(item)
    }

    /// What a kernel makes of single items.
    pub(super) fn computed(run: Run, args: &[&[u8]], ty: Type) -> Self {
        let mut item = Self { bytes: [0; ITEM_BYTES_MAX], len: ty.bytes() };
        run(best_level(), args, &mut item.bytes[..ty.bytes()]);
        item
    }
}

impl Deref for Item {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The least and the greatest item of some; a NaN is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// An item that no other is less than.
    pub min: Item,
    /// An item that no other is greater than.
    pub max: Item,
    /// Whether there may be NaNs too.
    pub has_nan: bool,
}

impl Interval {
    /// The bounds of items of a type; `None` if these are no items of it.
    pub fn new(min: &[u8], max: &[u8], has_nan: bool, ty: Type) -> Option<Self> {
        Some(Self { min: Item::new(min, ty)?, max: Item::new(max, ty)?, has_nan })
    }

    /// One item over and over.
    pub fn one(item: &[u8], ty: Type) -> Option<Self> {
        let item = Item::new(item, ty)?;
        Some(Self { min: item, max: item, has_nan: is_nan(&item, ty) })
    }

    pub(super) fn of_bool(value: bool) -> Option<Self> {
        Self::one(&[u8::from(value)], Type::Bool)
    }

    /// The one truth value of all.
    pub(super) fn truth(&self) -> Option<bool> {
        (self.min == self.max && self.min.len() == 1).then(|| self.min[0] != 0)
    }
}

fn is_nan(item: &[u8], ty: Type) -> bool {
    match ty {
        Type::F32 | Type::C64 => items::<f32>(item).iter().any(|part| part.is_nan()),
        Type::F64 | Type::C128 => items::<f64>(item).iter().any(|part| part.is_nan()),
        _ => false,
    }
}

pub(super) fn is_finite(item: &[u8], ty: Type) -> bool {
    match ty {
        Type::F32 => items::<f32>(item).iter().all(|part| part.is_finite()),
        _ => items::<f64>(item).iter().all(|part| part.is_finite()),
    }
}
