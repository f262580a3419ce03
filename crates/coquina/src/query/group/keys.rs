//! The keys of rows: the items of some columns one behind another, equal ones with the same bytes.
//!
//! In: columns, and the matches of a box. Out: keys of one width. A text stands in them as its code.

use coquina_kernels::items::{Number, items_mut};

use super::super::gather::gather;
use super::super::hashing::Hashing;
use super::super::rows::Rows;
use super::super::scan::{Column, Part, check_strings};
use super::super::strings::Source;
use super::super::walk::Picked;
use super::slots::index;
use super::table::{Table, padded};
use super::texts::{CODE_BYTES, Texts};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

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

    /// Makes items nothing where `mask` is not 0: floats NaN, others 0.
    fn blank(self, mask: &[u8], items: &mut [u8]) {
        let bytes = items.len() / mask.len().max(1);
        for (item, _) in items.chunks_exact_mut(bytes.max(1)).zip(mask).filter(|(_, is_null)| **is_null != 0)
        {
            match self {
                Self::Bytes | Self::Bool => item.fill(0),
                Self::F32 => items_mut(item).fill(f32::NAN),
                Self::F64 => items_mut(item).fill(f64::NAN),
            }
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
    /// Its items, or texts of any length.
    pub column: Column<'q>,
    /// What the items are; texts are bytes.
    pub kind: KeyKind,
    /// Items of one byte: where it is not 0 an item counts as zeros, floats as NaN, a text as one of no bytes.
    pub mask: Option<&'q dyn BoxSource>,
}

impl<'q> Key<'q> {
    /// Bytes that it takes in a key.
    fn bytes(&self) -> usize {
        match self.column {
            Column::Items(source) => source.item_bytes(),
            Column::Strings { .. } => CODE_BYTES,
        }
    }

    /// The sources that have an item for each row.
    pub(super) fn sources(&self) -> impl Iterator<Item = &'q dyn BoxSource> {
        let first = match self.column {
            Column::Items(source) => source,
            Column::Strings { offsets, .. } => offsets,
        };
        std::iter::once(first).chain(self.mask)
    }

    fn check(&self, rows: &Rows) -> Result<()> {
        check_mask(self.mask)?;
        match self.column {
            Column::Strings { offsets, bytes } => {
                let kind = self.kind;
                if kind != KeyKind::Bytes {
                    return Err(Error::invalid(format!("texts as {kind:?}: they are bytes")));
                }
                check_strings(offsets, bytes, rows)
            }
            Column::Items(source) => {
                let (bytes, kind) = (source.item_bytes(), self.kind);
                if !bytes.is_multiple_of(kind.unit()) || bytes == 0 {
                    return Err(Error::invalid(format!("items of {bytes} bytes as {kind:?}")));
                }
                Ok(())
            }
        }
    }

    /// Fills `items`, which is aligned, with the items of the matches, or the codes of the texts.
    fn read(&self, picked: &Picked<'_>, texts: Option<&mut Texts>, items: &mut [u8]) -> Result<bool> {
        let Some(mask) = self.mask else { return self.read_masked(picked, None, texts, items) };
        with_scratch(picked.count, |room| {
            let is_decoded = gather(mask, picked, room)?;
            Ok(self.read_masked(picked, Some(room), texts, items)? | is_decoded)
        })
    }

    fn read_masked(
        &self,
        picked: &Picked<'_>,
        mask: Option<&[u8]>,
        texts: Option<&mut Texts>,
        items: &mut [u8],
    ) -> Result<bool> {
        match (self.column, texts) {
            (Column::Items(source), _) => {
                let is_decoded = gather(source, picked, items)?;
                if let Some(mask) = mask {
                    self.kind.blank(mask, items);
                }
                self.kind.make_same(items);
                Ok(is_decoded)
            }
            (Column::Strings { offsets, bytes }, Some(texts)) => {
                texts.read(&Source { offsets, bytes }, picked, mask, items_mut(items))?;
                Ok(true)
            }
            (Column::Strings { .. }, None) => Ok(false),
        }
    }
}

/// Whether a mask, if there is one, has items of one byte.
pub(super) fn check_mask(mask: Option<&dyn BoxSource>) -> Result<()> {
    match mask.map_or(1, BoxSource::item_bytes) {
        1 => Ok(()),
        bytes => Err(Error::invalid(format!("a mask of items of {bytes} bytes"))),
    }
}

/// The columns of keys, and where the items of each stand in them.
pub(super) struct Keys<'q> {
    columns: &'q [Key<'q>],
    /// Bytes of a key.
    pub(super) width: usize,
}

impl<'q> Keys<'q> {
    pub(super) fn new(columns: &'q [Key<'q>], rows: &Rows) -> Result<Self> {
        let mut bytes = 0_usize;
        for (number, key) in columns.iter().enumerate() {
            key.check(rows).map_err(|e| e.at(format!("key {number}")))?;
            let (more, all) = (key.bytes(), bytes.checked_add(key.bytes()));
            bytes = all.ok_or_else(|| Error::limit(format!("key {number}: items of {more} bytes")))?;
        }
        Ok(Self { columns, width: padded(bytes) })
    }

    /// A table of keys, none yet; about `expected` different ones.
    pub(super) fn table(&self, hashing: Hashing, expected: usize) -> Table {
        match self.columns {
            // A key is the code of its text, and no more.
            [Key { column: Column::Strings { .. }, .. }] => Table::of_codes(hashing),
            _ => Table::new(self.width, hashing, expected),
        }
    }

    /// The texts of each column, none yet; none for items.
    pub(super) fn texts(&self, hashing: Hashing, expected: usize) -> Vec<Option<Texts>> {
        let of = |key: &Key<'_>| {
            matches!(key.column, Column::Strings { .. }).then(|| Texts::new(hashing, expected))
        };
        self.columns.iter().map(of).collect()
    }

    /// Fills `keys`, which is aligned, with those of the matches; whether anything was decoded.
    pub(super) fn read(
        &self,
        picked: &Picked<'_>,
        texts: &mut [Option<Texts>],
        keys: &mut [u8],
    ) -> Result<bool> {
        if let ([key], [texts]) = (self.columns, &mut *texts)
            && key.bytes() == self.width
        {
            return key.read(picked, texts.as_mut(), keys);
        }
        keys.fill(0);
        let (mut first, mut is_decoded) = (0, false);
        for (key, texts) in self.columns.iter().zip(texts) {
            let bytes = key.bytes();
            with_scratch(picked.count * bytes, |items| {
                is_decoded |= key.read(picked, texts.as_mut(), items)?;
                let parts = keys.chunks_exact_mut(self.width).map(|key| &mut key[first..first + bytes]);
                copy(items, bytes, parts);
                Result::<()>::Ok(())
            })?;
            first += bytes;
        }
        Ok(is_decoded)
    }

    /// Merges the texts of the next piece, and gives its keys the codes that its texts have here.
    pub(super) fn merge(
        &self,
        texts: &mut [Option<Texts>],
        others: &[Option<Texts>],
        keys: &mut [u8],
    ) -> Result<()> {
        let mut first = 0;
        for (number, (key, pair)) in self.columns.iter().zip(texts.iter_mut().zip(others)).enumerate() {
            if let (Some(texts), Some(other)) = pair
                && let Column::Strings { bytes, .. } = key.column
            {
                let len = bytes.shape().first().copied().unwrap_or(0);
                let codes = texts.merge(other, len).map_err(|e| e.at(format!("key {number}")))?;
                for key in keys.chunks_exact_mut(self.width) {
                    let code = codes[index(code_at(key, first))];
                    key[first..first + CODE_BYTES].copy_from_slice(&code.to_le_bytes());
                }
            }
            first += key.bytes();
        }
        Ok(())
    }

    /// The items of each column in these keys.
    pub(super) fn split(&self, keys: &[u8], texts: &[Option<Texts>]) -> Vec<Part> {
        let mut first = 0;
        let mut parts = Vec::with_capacity(self.columns.len());
        for (key, texts) in self.columns.iter().zip(texts) {
            let bytes = key.bytes();
            let keys = keys.chunks_exact(self.width);
            parts.push(match texts {
                Some(texts) => texts.part(keys.map(|key| code_at(key, first))),
                None => Part::Items(keys.map(|key| &key[first..first + bytes]).collect::<Vec<_>>().concat()),
            });
            first += bytes;
        }
        parts
    }
}

/// The code that stands in a key.
fn code_at(key: &[u8], first: usize) -> u32 {
    key[first..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Copies items of `bytes` bytes to places that are apart.
fn copy<'k>(items: &[u8], bytes: usize, to: impl Iterator<Item = &'k mut [u8]>) {
    macro_rules! copy_each {
        ($($width:literal),*) => {
            match bytes {
                // Copies of a known length are a move or two.
                $($width => to.zip(items.as_chunks::<$width>().0).for_each(|(to, item)| to.copy_from_slice(item)),)*
                _ => to.zip(items.chunks_exact(bytes)).for_each(|(to, item)| to.copy_from_slice(item)),
            }
        };
    }
    copy_each!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
}
