//! Bytes that were fetched before they are read, and are at hand as long as somebody holds them.

use std::ops::Range;
use std::sync::Arc;

/// Some bytes that were fetched, whoever owns their memory.
pub type Piece = Box<dyn AsRef<[u8]> + Send + Sync>;

/// Pieces that were fetched at once, by where they start; none overlaps another.
pub(super) struct Pieces(Vec<(u64, Piece)>);

impl Pieces {
    pub(super) fn new(pieces: Vec<(u64, Piece)>) -> Self {
        Self(pieces)
    }

    /// The bytes that are here of those from `at` on, up to the end of a piece.
    fn from(&self, at: u64) -> Option<&[u8]> {
        let next = self.0.partition_point(|(start, _)| *start <= at);
        let (start, piece) = self.0.get(next.checked_sub(1)?)?;
        let bytes = (**piece).as_ref().get(usize::try_from(at - start).ok()?..)?;
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Fills `buffer` with the bytes from `at` on, if all are here.
    pub(super) fn read(&self, mut buffer: &mut [u8], mut at: u64) -> bool {
        while !buffer.is_empty() {
            let Some(bytes) = self.from(at) else { return false };
            let count = bytes.len().min(buffer.len());
            let (now, rest) = buffer.split_at_mut(count);
            now.copy_from_slice(&bytes[..count]);
            (buffer, at) = (rest, at + count as u64);
        }
        true
    }

    /// Whether all bytes of a range are here.
    pub(super) fn holds(&self, range: &Range<u64>) -> bool {
        let mut at = range.start;
        while at < range.end {
            let Some(bytes) = self.from(at) else { return false };
            at += bytes.len() as u64;
        }
        true
    }
}

/// Bytes of a source that are at hand as long as this lives.
#[derive(Default)]
#[must_use = "dropped, it holds nothing any more"]
pub struct Held {
    _pieces: Vec<Arc<Pieces>>,
}

impl Held {
    pub(super) fn new(pieces: Vec<Arc<Pieces>>) -> Self {
        Self { _pieces: pieces }
    }
}
