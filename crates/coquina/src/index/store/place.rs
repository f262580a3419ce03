//! A place where the arrays of indexes are, beside the table that they are of.
//!
//! In: paths of arrays, such as `price/runs/3/rows`. Out: arrays, and the metadata of each index.
//! Invariant: nothing here knows what the arrays mean.

use std::path::PathBuf;
use std::sync::Arc;

use coquina_kernels::items::bytes_of;

use crate::array::BoxSource;
use crate::base::error::{Error, Result};

/// What the items of an array of an index are, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Unsigned numbers of one byte.
    U8,
    /// Unsigned numbers of two bytes.
    U16,
    /// Unsigned numbers of four bytes.
    U32,
    /// Unsigned numbers of eight bytes.
    U64,
    /// Spans of 16 bytes.
    Span,
    /// Zones of 24 bytes.
    Zone,
}

impl ItemKind {
    /// The bytes of an item.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
            Self::Span => 16,
            Self::Zone => 24,
        }
    }
}

/// An array that is to be made.
#[derive(Clone, Debug)]
pub struct NewIndexArray {
    /// Where.
    pub path: String,
    /// What its items are.
    pub kind: ItemKind,
    /// Name of the codec,
    pub codec: &'static str,
    /// and its level.
    pub level: u8,
    /// Items of a chunk, which is one block.
    pub chunk: u64,
    /// Whether items rise by little: differences of their bytes are smaller than the bytes.
    pub rises: bool,
}

/// An array that is there.
#[derive(Clone)]
pub struct PlacedArray {
    /// Its items.
    pub source: Arc<dyn BoxSource>,
    /// Whether they are unsigned numbers, little endian.
    pub is_unsigned: bool,
    /// What they are, for people.
    pub dtype: String,
}

impl PlacedArray {
    /// All items.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let shape = self.source.shape();
        let bytes = shape.first().and_then(|&len| usize::try_from(len).ok());
        let bytes = bytes.and_then(|len| len.checked_mul(self.source.item_bytes()));
        let mut items = Vec::new();
        let bytes = bytes.filter(|&bytes| items.try_reserve_exact(bytes).is_ok());
        let bytes = bytes.ok_or_else(|| Error::limit(format!("an array of shape {shape:?}")))?;
        items.resize(bytes, 0);
        if bytes > 0 {
            self.source.fill(&[0], &shape, &mut items)?;
        }
        Ok(items)
    }
}

/// Items that are to be written.
#[derive(Clone, Debug)]
pub enum ArrayItems {
    /// Of one byte.
    U8(Vec<u8>),
    /// Of two bytes.
    U16(Vec<u16>),
    /// Of four bytes.
    U32(Vec<u32>),
    /// Of eight bytes.
    U64(Vec<u64>),
    /// As they are stored.
    Bytes(Vec<u8>),
}

impl ArrayItems {
    /// Their bytes, in the machine's order: little endian, on all machines that there are.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::U8(items) | Self::Bytes(items) => items,
            Self::U16(items) => bytes_of(items),
            Self::U32(items) => bytes_of(items),
            Self::U64(items) => bytes_of(items),
        }
    }
}

/// Takes items for each of some arrays.
pub type AppendItems<'a> = dyn FnMut(Vec<ArrayItems>) -> Result<()> + 'a;

/// A place for the arrays and the metadata of indexes.
pub trait IndexPlace {
    /// The names right below a path; none for nothing.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    fn names(&self, path: &str) -> Result<Vec<String>>;

    /// The array at a path.
    ///
    /// # Errors
    /// `Corrupt` if there is none, `Io`.
    fn array(&self, path: &str) -> Result<PlacedArray>;

    /// Makes arrays, and writes to them what `fill` gives, a part for each at a time. All is written when it returns.
    ///
    /// # Errors
    /// Those of `fill`, and what goes wrong with writing.
    fn write(
        &mut self,
        arrays: &[NewIndexArray],
        fill: &mut dyn FnMut(&mut AppendItems<'_>) -> Result<()>,
    ) -> Result<()>;

    /// Removes what is at a path, and below.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&mut self, path: &str) -> Result<()>;

    /// Sets the metadata of the index that is called `key` here.
    ///
    /// # Errors
    /// `Io`.
    fn set_metadata(&mut self, key: &str, text: &str) -> Result<()>;

    /// Has everything written so far reach the file before anything that follows.
    ///
    /// # Errors
    /// `Io`.
    fn flush(&mut self) -> Result<()>;

    /// The folder for files of what does not fit into memory; that of the system's if there is none.
    fn folder(&self) -> Option<PathBuf>;
}
