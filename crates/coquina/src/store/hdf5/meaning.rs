//! Items that mean something else than the bytes that are stored: strings that end at their first NUL, times.
//!
//! In: stored bytes. Out: items as readers see them, and for times the way back.
//! Invariant: what is decoded is shown, and what is encoded is stored, at one place each.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use coquina_kernels::Type;

use super::Hdf5Spec;
use super::seconds::Seconds;
use super::terminated::Terminated;
use crate::base::error::{Error, Result};
use crate::base::text_bounds::TextBounds;
use crate::chunk::{BlockSource, Header, Params};
use crate::store::{OpenChunk, Statistics};

/// What stored items mean, where that is not what their bytes say.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Terminated(Terminated),
    Seconds(Seconds),
}

impl Meaning {
    /// That of the items of a dataset; `None` where they are what is stored.
    pub(super) fn of(spec: &Hdf5Spec) -> Result<Option<Self>> {
        let Some(seconds) = spec.seconds else {
            let terminated = Terminated::new(&spec.terminated, spec.typesize)?;
            return Ok(terminated.map(Self::Terminated));
        };
        if spec.typesize != 8 || !spec.zones.is_empty() || !spec.terminated.is_empty() {
            return Err(Error::invalid("times are items of 8 bytes, without strings and without zone maps"));
        }
        Ok(Some(Self::Seconds(seconds)))
    }

    /// Turns stored items into those that readers see. The last of strings may be cut.
    pub(super) fn show(&self, items: &mut [u8]) {
        match self {
            Self::Terminated(terminated) => terminated.clear_tails(items),
            Self::Seconds(seconds) => seconds.show(items),
        }
    }

    /// The byte order of times.
    pub(super) fn seconds(&self) -> Option<Seconds> {
        match self {
            // Nothing stands behind the strings of NumPy.
            Self::Terminated(_) => None,
            Self::Seconds(seconds) => Some(*seconds),
        }
    }
}

/// A chunk whose blocks are as readers see them.
pub(super) struct Shown {
    pub(super) chunk: Arc<dyn OpenChunk>,
    pub(super) meaning: Meaning,
}

impl OpenChunk for Shown {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        self.chunk.read_block(number, out)?;
        self.meaning.show(out);
        Ok(())
    }

    fn decodes_whole(&self) -> bool {
        self.chunk.decodes_whole()
    }

    fn reuse_encoded(&self, _number: usize, _params: &Params) -> Result<Option<Vec<u8>>> {
        Ok(None) // Its bytes are not those of the blocks.
    }

    fn item(&self) -> Option<Vec<u8>> {
        let mut item = self.chunk.item()?;
        self.meaning.show(&mut item);
        Some(item)
    }

    fn bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<(Type, Statistics)> {
        match self.meaning {
            Meaning::Terminated(_) => self.chunk.bounds(rows, offset, width), // Of numbers, which are not strings.
            Meaning::Seconds(_) => None,
        }
    }

    fn text_bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<TextBounds> {
        match self.meaning {
            Meaning::Terminated(_) => self.chunk.text_bounds(rows, offset, width),
            Meaning::Seconds(_) => None,
        }
    }

    fn header(&self) -> Option<Header> {
        self.chunk.header()
    }

    fn places(&self, number: usize, places: &mut Vec<Range<u64>>) {
        self.chunk.places(number, places);
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.chunk.memory_bytes()
    }
}

/// Blocks of seconds as they are to be stored.
pub(super) struct ToStore<'b> {
    blocks: &'b dyn BlockSource,
    seconds: Seconds,
    /// The first error; [`BlockSource::fill`] returns none.
    failed: Mutex<Option<Error>>,
}

impl<'b> ToStore<'b> {
    pub(super) fn new(blocks: &'b dyn BlockSource, seconds: Seconds) -> Self {
        Self { blocks, seconds, failed: Mutex::new(None) }
    }

    /// What was encoded of the blocks, unless one cannot be stored.
    pub(super) fn checked(self, encoded: Result<Vec<u8>>) -> Result<Vec<u8>> {
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(encoded, Err)
    }
}

impl BlockSource for ToStore<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.blocks.fill(number, out);
        if let Err(error) = self.seconds.store(out) {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}
