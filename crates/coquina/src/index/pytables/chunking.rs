//! How the rows of an index are cut: into superblocks, blocks, slices and chunks.
//!
//! Source: `docs/formats/pytables-indexes.md`, "Writing" and "Where a value came from".

use crate::base::error::{Error, Result};

/// Sizes at which slices of complete indexes stop growing: in rows, and in bytes of values.
const SLICE_MAX: u64 = 1 << 30;
const SLICE_BYTES_MAX: u64 = 1600 << 20;
/// A block has the slices of no more chunks than this, a superblock of no more slices.
const PARTS_MAX: u64 = 1 << 20;
/// For fewer rows, and for more, sizes do not change any more.
const ROWS_MIN: u64 = 100_000;
const ROWS_MAX: u64 = 1_000_000_000_000;
/// Sizes have fewer bits than this, so that sums and products of two of them stay numbers.
const SIZE_BITS: u32 = 62;

/// Rows of a superblock, block, slice and chunk; of how many values one is kept; and the effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunking {
    /// Rows of a superblock.
    pub superblock: u64,
    /// Rows of a block.
    pub block: u64,
    /// Rows of a slice.
    pub slice: u64,
    /// Rows of a chunk.
    pub chunk: u64,
    /// Of so many values one is kept.
    pub reduction: u64,
    /// PyTables' `optlevel`.
    pub optlevel: u64,
}

impl Chunking {
    /// How a complete index of so many rows is cut, as PyTables does at its highest effort.
    pub fn for_rows(rows: u64, item_bytes: u64) -> Self {
        let rows = rows.clamp(ROWS_MIN, ROWS_MAX);
        let chunk = 64 << rows.ilog10();
        let mut slice = rounded_down(1024.0 * 2_f64.powf(decimal_logarithm(rows))) / chunk * chunk * 4;
        while slice > SLICE_MAX || slice.saturating_mul(item_bytes) > SLICE_BYTES_MAX {
            slice /= 2;
        }
        let chunk = chunk / 2;
        let slice = (slice / chunk).max(2) * chunk * 2;
        let block = whole(chunk * (rows / chunk + 1).min(PARTS_MAX), slice);
        let superblock = whole(slice * (rows / slice + 1).min(PARTS_MAX), block);
        Self { superblock, block, slice, chunk, reduction: 1, optlevel: 9 }
    }

    /// Chunks of a slice.
    pub(super) fn chunks(&self) -> u64 {
        self.slice / self.chunk
    }

    /// Values that are kept of a chunk.
    pub(super) fn kept(&self) -> u64 {
        self.chunk / self.reduction
    }

    /// Fails if one of the sizes is no multiple of the one below.
    ///
    /// # Errors
    /// `Corrupt`, with the sizes.
    pub fn check(&self) -> Result<()> {
        let Self { block, slice, chunk, reduction, .. } = *self;
        let sizes =
            [("slicesize", slice, chunk), ("blocksize", block, slice), ("chunksize", chunk, reduction)];
        for (name, size, part) in sizes {
            if part == 0 || size < part || size % part != 0 || size >= 1 << SIZE_BITS {
                return Err(Error::corrupt(format!("{name} {size} of parts of {part}")));
            }
        }
        Ok(())
    }

    /// How many rows a stored number of so many bytes stands for. `chunk_rows`: of a chunk of the table.
    pub(super) fn bucket_rows(&self, item_bytes: usize, chunk_rows: u64) -> u64 {
        let rows = chunk_rows.min(self.chunk).max(1);
        match item_bytes {
            1 => rows.max(self.slice.div_ceil(1 << 8)),
            2 => rows.max(self.block.div_ceil(1 << 16)),
            8 => 1,
            _ => rows,
        }
    }
}

/// The first multiple of `part` behind `size`.
fn whole(size: u64, part: u64) -> u64 {
    (size / part + 1) * part
}

#[expect(clippy::cast_precision_loss, reason = "rows have no more than 40 bits here")]
fn decimal_logarithm(rows: u64) -> f64 {
    (rows as f64).log10()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, less than 2^32")]
fn rounded_down(size: f64) -> u64 {
    size as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_multiples_of_each_other() {
        for rows in [0, 100_000, 123_456, 1_000_000, 100_000_000, 1_000_000_000, ROWS_MAX, 100 * ROWS_MAX] {
            for item_bytes in [1, 8, 100, 5000] {
                let cut = Chunking::for_rows(rows, item_bytes);
                cut.check().unwrap();
                assert_eq!(cut.superblock % cut.block, 0);
                assert!(cut.chunks() >= 2, "{cut:?}");
                assert!(cut.slice <= 1 << 31 && cut.slice * item_bytes <= 4 << 30, "{cut:?}");
            }
        }
    }

    #[test]
    fn a_million_rows_are_cut_as_pytables_does() {
        let wanted = Chunking {
            superblock: 2_097_152,
            block: 1_048_576,
            slice: 524_288,
            chunk: 2048,
            reduction: 1,
            optlevel: 9,
        };
        assert_eq!(Chunking::for_rows(1_000_000, 8), wanted);
    }

    #[test]
    fn sizes_that_do_not_divide_each_other_are_refused() {
        let cut = Chunking::for_rows(0, 8);
        for wrong in [
            Chunking { slice: 0, ..cut },
            Chunking { chunk: 0, ..cut },
            Chunking { chunk: cut.chunk - 1, ..cut },
            Chunking { block: cut.block + 1, ..cut },
            Chunking { reduction: 0, ..cut },
            Chunking { reduction: u64::MAX, ..cut },
            Chunking { block: 1 << 63, slice: 1 << 63, ..cut },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
