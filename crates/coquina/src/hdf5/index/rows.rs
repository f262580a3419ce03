//! Rows of the table of chunks: from what an index stores to the coordinates of a chunk's first item.
//!
//! In: chunk numbers or coordinates, and [`Stored`]. Out: calls of the caller's function.
//! Source: HDF5 File Format Specification 3.0, "Data Layout Message", and the order in which libhdf5 numbers chunks.
//! Invariant: a chunk outside of the shape is not reported: no item of the dataset is in it.

use super::ChunkRow;
use super::fields::{address, uint};
use super::messages::{Chunked, Space};
use crate::base::error::{Error, Result};

/// What is called with each chunk.
pub(super) type Each<'a> = &'a mut dyn FnMut(&[u64], ChunkRow) -> Result<()>;

/// A stored chunk, as an index has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// Counts from the superblock.
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) mask: u32,
}

/// Where rows go.
pub(super) struct Rows<'a> {
    dims: &'a [u64],
    shape: &'a [u64],
    /// Chunks along each axis of the shape.
    grid: Vec<u64>,
    base: u64,
    starts: Vec<u64>,
    each: Each<'a>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(chunked: &'a Chunked, space: &'a Space, base: u64, each: Each<'a>) -> Self {
        let (dims, shape) = (&chunked.dims[..], &space.shape[..]);
        let grid = shape.iter().zip(dims).map(|(items, dim)| items.div_ceil(*dim)).collect();
        Self { dims, shape, grid, base, starts: vec![0; dims.len()], each }
    }

    pub(super) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Coordinates of the last chunk in the grid of chunks; `None` if there is no chunk.
    pub(super) fn last(&self) -> Option<Vec<u64>> {
        self.grid.iter().map(|chunks| chunks.checked_sub(1)).collect()
    }

    /// The chunk whose first item is at these coordinates, 8 bytes each.
    pub(super) fn put_start(&mut self, start: &[u8], stored: Stored) -> Result<()> {
        let axes = self.starts.iter_mut().zip(start.chunks_exact(8)).zip(self.dims.iter().zip(self.shape));
        for ((place, stored), (dim, items)) in axes {
            let start = uint(stored);
            if !start.is_multiple_of(*dim) {
                return Err(Error::corrupt(format!("a chunk at item {start}, chunks have {dim}")));
            }
            if start >= *items {
                return Ok(());
            }
            *place = start;
        }
        self.report(stored)
    }

    /// The chunk with these coordinates in the grid of chunks.
    pub(super) fn put_scaled(&mut self, scaled: impl Iterator<Item = u64>, stored: Stored) -> Result<()> {
        let axes = self.starts.iter_mut().zip(scaled).zip(self.dims.iter().zip(&self.grid));
        for ((place, scaled), (dim, chunks)) in axes {
            if scaled >= *chunks {
                return Ok(());
            }
            *place = scaled * dim;
        }
        self.report(stored)
    }

    fn report(&mut self, stored: Stored) -> Result<()> {
        let address = self.base.checked_add(stored.address);
        let address = address.ok_or_else(|| Error::corrupt(format!("a chunk at {}", stored.address)))?;
        (self.each)(&self.starts, ChunkRow { address, size: stored.size, mask: stored.mask })
    }
}

/// Bytes of a whole chunk, and so of a stored one that no filter made smaller.
pub(super) fn chunk_bytes(chunked: &Chunked) -> Result<u64> {
    let bytes = chunked.dims.iter().try_fold(chunked.itemsize as u64, |bytes, &n| bytes.checked_mul(n));
    bytes.ok_or_else(|| Error::corrupt(format!("chunks {:?} of more bytes than 64 bits count", chunked.dims)))
}

/// What filters do to the chunks of a dataset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filtering {
    /// Whether there are any: then stored chunks have a size and a mask.
    pub(super) is_filtered: bool,
    /// Bytes of a whole chunk without them.
    pub(super) chunk_bytes: u64,
}

/// How arrays and version 2 B-trees encode a stored chunk: the address, and if filters run, bytes and mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    address_bytes: usize,
    /// Of the field that holds the stored bytes; 0 without filters.
    size_bytes: usize,
    chunk_bytes: u64,
}

impl Encoding {
    /// One that takes `bytes`, as the header of the index says. Layout version 5 has wider sizes than version 4:
    /// the width follows from the sum.
    pub(super) fn new(
        bytes: usize,
        is_filtered: bool,
        address_bytes: usize,
        chunk_bytes: u64,
    ) -> Result<Self> {
        let size_bytes = match (bytes.checked_sub(address_bytes), is_filtered) {
            (Some(0), false) => 0,
            (Some(more @ 5..=12), true) => more - 4,
            _ => {
                let text = format!("elements of {bytes} bytes, filtered: {is_filtered}");
                return Err(Error::corrupt(text));
            }
        };
        Ok(Self { address_bytes, size_bytes, chunk_bytes })
    }

    /// Bytes of an element.
    pub(super) fn bytes(&self) -> usize {
        match self.size_bytes {
            0 => self.address_bytes,
            size => self.address_bytes + size + 4,
        }
    }

    /// What an element says; `None` if the chunk is not stored.
    pub(super) fn decode(&self, element: &[u8]) -> Option<Stored> {
        let (place, rest) = element.split_at_checked(self.address_bytes)?;
        let address = address(place)?;
        if self.size_bytes == 0 {
            return Some(Stored { address, size: self.chunk_bytes, mask: 0 });
        }
        let (size, mask) = rest.split_at_checked(self.size_bytes)?;
        let mask = u32::from_le_bytes(*mask.first_chunk()?);
        Some(Stored { address, size: uint(size), mask })
    }
}

/// Walks over chunk numbers and knows the coordinates that belong to them.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    /// The axes, slowest first: C order, but that an unlimited axis comes first.
    axes: Vec<usize>,
    /// Chunks along each axis, at most.
    most: Vec<u64>,
    /// Coordinates of the chunk in the grid of chunks.
    scaled: Vec<u64>,
}

impl Numbering {
    /// All numbers there may ever be, so that growth changes none.
    pub(super) fn new(chunked: &Chunked, space: &Space) -> Result<Self> {
        let unlimited = space.most.iter().position(Option::is_none);
        let mut axes: Vec<usize> = (0..space.most.len()).collect();
        if let Some(first) = unlimited {
            axes[..=first].rotate_right(1);
        }
        if space.most.iter().filter(|most| most.is_none()).count() > 1 {
            return Err(Error::corrupt("chunks are numbered, but several axes have no end"));
        }
        let chunks = |(most, dim): (&Option<u64>, &u64)| most.map_or(u64::MAX, |most| most.div_ceil(*dim));
        let most: Vec<u64> = space.most.iter().zip(&chunked.dims).map(chunks).collect();
        let limited = axes[usize::from(unlimited.is_some())..].iter();
        if limited.map(|&axis| most[axis]).try_fold(1_u64, u64::checked_mul).is_none() {
            return Err(Error::corrupt("more chunks than 64 bits count"));
        }
        Ok(Self { axes, scaled: vec![0; most.len()], most })
    }

    /// How many numbers there are; `None` where an axis has no end.
    pub(super) fn count(&self) -> Option<u64> {
        self.most
            .iter()
            .try_fold(1, |count: u64, &most| if most == u64::MAX { None } else { count.checked_mul(most) })
    }

    /// The number of the chunk at these coordinates in the grid of chunks, if it fits.
    pub(super) fn number(&self, scaled: &[u64]) -> Option<u64> {
        self.axes
            .iter()
            .try_fold(0_u64, |number, &axis| number.checked_mul(self.most[axis])?.checked_add(scaled[axis]))
    }

    /// Goes to a number. Without chunks along some axis, nothing has a number, and the place is the origin.
    pub(super) fn seek(&mut self, number: u64) {
        let mut left = number;
        for &axis in self.axes.iter().rev() {
            let most = self.most[axis].max(1);
            self.scaled[axis] = left % most;
            left /= most;
        }
    }

    /// Goes to the next number.
    pub(super) fn advance(&mut self) {
        for &axis in self.axes.iter().rev() {
            self.scaled[axis] += 1;
            if self.scaled[axis] < self.most[axis] {
                return;
            }
            self.scaled[axis] = 0;
        }
    }

    pub(super) fn scaled(&self) -> impl Iterator<Item = u64> {
        self.scaled.iter().copied()
    }
}

/// Where rows go whose chunks are known by their numbers.
pub(super) struct NumberedRows<'r, 'a> {
    pub(super) numbers: Numbering,
    pub(super) rows: &'r mut Rows<'a>,
}

impl NumberedRows<'_, '_> {
    /// Rows of elements that stand one after another, the first of which has this number.
    pub(super) fn put_elements(&mut self, elements: &[u8], first: u64, encoding: &Encoding) -> Result<()> {
        self.numbers.seek(first);
        for element in elements.chunks_exact(encoding.bytes()) {
            if let Some(stored) = encoding.decode(element) {
                self.rows.put_scaled(self.numbers.scaled(), stored)?;
            }
            self.numbers.advance();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::index::messages::Index;

    fn chunked(dims: &[u64]) -> Chunked {
        let index = Index::FixedArray;
        Chunked { dims: dims.to_vec(), itemsize: 4, address: None, index, filters_partial_edges: true }
    }

    #[test]
    fn numbers_count_an_unlimited_axis_slowest() {
        let space = Space { shape: vec![5, 6, 7], most: vec![Some(5), None, Some(9)] };
        let mut numbers = Numbering::new(&chunked(&[2, 3, 4]), &space).unwrap();
        assert_eq!(numbers.count(), None);
        let mut walked = numbers.clone();
        for number in 0..60 {
            numbers.seek(number);
            let scaled: Vec<_> = numbers.scaled().collect();
            assert_eq!(scaled, [number % 9 / 3, number / 9, number % 3]);
            assert!(walked.scaled().eq(numbers.scaled()));
            assert_eq!(numbers.number(&scaled), Some(number));
            walked.advance();
        }
    }

    #[test]
    fn widths_of_sizes_follow_from_the_element() {
        let wide = Encoding::new(20, true, 8, 100).unwrap();
        let mut element = 5_u64.to_le_bytes().to_vec();
        element.extend(1_u64.to_le_bytes());
        element.extend(6_u32.to_le_bytes());
        assert_eq!(wide.decode(&element), Some(Stored { address: 5, size: 1, mask: 6 }));
        assert_eq!(wide.decode(&[0xff; 20]), None);
        assert!(Encoding::new(12, true, 8, 100).is_err());
        assert!(Encoding::new(14, false, 8, 100).is_err());
    }
}
