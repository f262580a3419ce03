//! The keys of rows: the items of some columns one behind another, equal ones with the same bytes.

use coquina_kernels::items::{Number, items_mut};

use super::super::gather::gather;
use super::super::walk::Picked;
use super::table::padded;
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::room::with_room;

/// What the items of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Bytes, equal only where they are the same: integers, codes, texts of a fixed width.
    Bytes,
    /// Bytes that are true but for 0.
    Bool,
    /// Numbers of single precision, one or some. Zeros are one number, and so are all NaN.
    F32,
    /// Numbers of double precision, one or some.
    F64,
}

impl KeyKind {
    /// The kind of this name: "bytes", "bool", "f4", "f8", or "c8" and "c16" for complex ones.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "bytes" => Self::Bytes,
            "bool" => Self::Bool,
            "f4" | "c8" => Self::F32,
            "f8" | "c16" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes of its numbers.
    fn unit(self) -> usize {
        match self {
            Self::Bytes | Self::Bool => 1,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Makes items that are equal the same bytes.
    pub(super) fn make_same(self, bytes: &mut [u8]) {
        match self {
            Self::Bytes => {}
            Self::Bool => bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0)),
            // A negative zero and zero make zero.
            Self::F32 => each(bytes, |x: f32| if x.is_nan() { f32::NAN } else { x + 0.0 }),
            Self::F64 => each(bytes, |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        }
    }
}

fn each<T: Number>(bytes: &mut [u8], same: impl Fn(T) -> T) {
    for number in items_mut::<T>(bytes) {
        *number = same(*number);
    }
}

/// A column of a key.
#[derive(Clone, Copy)]
pub struct Key<'q> {
    /// Its items.
    pub source: &'q dyn BoxSource,
    /// What they are.
    pub kind: KeyKind,
}

/// The columns of keys, and where the items of each stand in them.
pub(super) struct Keys<'q> {
    columns: &'q [Key<'q>],
    /// Bytes of a key.
    pub(super) width: usize,
}

impl<'q> Keys<'q> {
    pub(super) fn new(columns: &'q [Key<'q>]) -> Result<Self> {
        let mut bytes = 0_usize;
        for (number, Key { source, kind }) in columns.iter().enumerate() {
            let item_bytes = source.item_bytes();
            if !item_bytes.is_multiple_of(kind.unit()) || item_bytes == 0 {
                return Err(Error::invalid(format!("key {number}: items of {item_bytes} bytes as {kind:?}")));
            }
            let all = bytes.checked_add(item_bytes);
            bytes = all.ok_or_else(|| Error::limit(format!("key {number}: items of {item_bytes} bytes")))?;
        }
        Ok(Self { columns, width: padded(bytes) })
    }

    /// Fills `keys`, which is aligned, with those of the matches; whether anything was decoded.
    pub(super) fn read(&self, picked: &Picked<'_>, keys: &mut [u8]) -> Result<bool> {
        if let [Key { source, kind }] = self.columns
            && source.item_bytes() == self.width
        {
            let is_decoded = gather(*source, picked, keys)?;
            kind.make_same(keys);
            return Ok(is_decoded);
        }
        keys.fill(0);
        let (mut first, mut is_decoded) = (0, false);
        for Key { source, kind } in self.columns {
            let bytes = source.item_bytes();
            with_room(picked.count * bytes, |items| {
                is_decoded |= gather(*source, picked, items)?;
                kind.make_same(items);
                let parts = keys.chunks_exact_mut(self.width).map(|key| &mut key[first..first + bytes]);
                copy(items, bytes, parts);
                Result::<()>::Ok(())
            })?;
            first += bytes;
        }
        Ok(is_decoded)
    }

    /// The items of each column in these keys.
    pub(super) fn split(&self, keys: &[u8]) -> Vec<Vec<u8>> {
        let mut first = 0;
        let mut parts = Vec::with_capacity(self.columns.len());
        for Key { source, .. } in self.columns {
            let bytes = source.item_bytes();
            let items = keys.chunks_exact(self.width).map(|key| &key[first..first + bytes]);
            parts.push(items.collect::<Vec<_>>().concat());
            first += bytes;
        }
        parts
    }
}

/// Copies items of `bytes` bytes to places that are apart.
fn copy<'k>(items: &[u8], bytes: usize, to: impl Iterator<Item = &'k mut [u8]>) {
    let each = to.zip(items.chunks_exact(bytes));
    match bytes {
        1 => each.for_each(|(to, item)| to[0] = item[0]),
        4 => each.for_each(|(to, item)| to[..4].copy_from_slice(&item[..4])),
        8 => each.for_each(|(to, item)| to[..8].copy_from_slice(&item[..8])),
        _ => each.for_each(|(to, item)| to.copy_from_slice(item)),
    }
}
