//! First, middle and last values of chunks, gathered while values pass in order.
//!
//! In: sorted values of slices. Out: what the small arrays of an index have.
//! Source: `docs/formats/pytables-indexes.md`, "Slices" and "Writing".

use super::chunking::Chunking;

/// What the small arrays of an index have, as bytes: of full slices, one behind another; and of the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The first and the last value of each slice; the last that is no NaN, if there is one.
    pub ranges: Vec<u8>,
    /// The first value of each chunk, but the first one of each slice.
    pub bounds: Vec<u8>,
    /// Of each slice the middle one of the middle values of its chunks.
    pub mranges: Vec<u8>,
    /// The first values of chunks.
    pub abounds: Vec<u8>,
    /// Their middle values.
    pub mbounds: Vec<u8>,
    /// Their last values.
    pub zbounds: Vec<u8>,
    /// What `sortedLR` has behind the values: the first value of each chunk, and the last of all.
    pub rest_bounds: Vec<u8>,
}

/// Edges that are being gathered.
pub(super) struct Gathering {
    chunking: Chunking,
    item_bytes: usize,
    firsts: Vec<u8>,
    middles: Vec<u8>,
    lasts: Vec<u8>,
    /// The last value that has passed.
    last: Vec<u8>,
    /// Of each slice the last value that is no NaN.
    ends: Vec<u8>,
}

impl Gathering {
    pub(super) fn new(chunking: Chunking, item_bytes: usize) -> Self {
        let none = Vec::new;
        Self {
            chunking,
            item_bytes,
            firsts: none(),
            middles: none(),
            lasts: none(),
            last: none(),
            ends: none(),
        }
    }

    /// Takes whole chunks of a slice, or its last ones, of which the first `numbers` values are no NaN.
    pub(super) fn add(&mut self, slice: u64, values: &[u8], numbers: usize) {
        let (chunk, item) = (usize::try_from(self.chunking.chunk).unwrap_or(usize::MAX), self.item_bytes);
        for values in values.chunks(chunk.saturating_mul(item)) {
            let at = |number: usize| values.get(number * item..(number + 1) * item).unwrap_or_default();
            self.firsts.extend_from_slice(at(0));
            self.middles.extend_from_slice(at(chunk / 2));
            self.lasts.extend_from_slice(at(chunk - 1));
        }
        self.last = values.rchunks(item).next().unwrap_or_default().to_vec();
        // To PyTables nothing is at most NaN: it would find nothing in a slice that is told to end with it.
        let end = numbers.max(1) - 1;
        let place = usize::try_from(slice).unwrap_or(usize::MAX).saturating_mul(item);
        if numbers > 0 || self.ends.len() <= place {
            self.ends.truncate(place);
            self.ends.extend_from_slice(values.get(end * item..(end + 1) * item).unwrap_or_default());
        }
    }

    /// All edges; so many slices are full.
    pub(super) fn finish(self, full_slices: u64, rest: u64) -> Edges {
        let item = self.item_bytes;
        let chunks = usize::try_from(self.chunking.chunks()).unwrap_or(usize::MAX);
        let slices = usize::try_from(full_slices).unwrap_or(usize::MAX);
        let slice_bytes = chunks.saturating_mul(item);
        let all = slices.saturating_mul(slice_bytes);
        let full = |edges: &[u8]| edges.get(..all).unwrap_or(edges).to_vec();
        let (abounds, mbounds, zbounds) = (full(&self.firsts), full(&self.middles), full(&self.lasts));
        let mut edges = Edges { abounds, mbounds, zbounds, ..Edges::default() };
        let ends = self.ends.chunks_exact(item);
        for ((firsts, middles), end) in
            edges.abounds.chunks_exact(slice_bytes).zip(edges.mbounds.chunks_exact(slice_bytes)).zip(ends)
        {
            edges.ranges.extend_from_slice(&firsts[..item]);
            edges.ranges.extend_from_slice(end);
            edges.bounds.extend_from_slice(&firsts[item..]);
            edges.mranges.extend_from_slice(&middles[chunks / 2 * item..][..item]);
        }
        if rest > 0 {
            edges.rest_bounds.extend_from_slice(self.firsts.get(all..).unwrap_or_default());
            edges.rest_bounds.extend_from_slice(&self.last);
        }
        edges
    }
}
