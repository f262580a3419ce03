//! Items in memory, and the numbers of rows, as sources.

use coquina_kernels::items::bytes_of;

use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::Result;

/// Rows of a box.
const BLOCK: u64 = 1 << 14;

fn walk() -> Walk {
    Walk { chunks: vec![4 * BLOCK], blocks: vec![BLOCK] }
}

/// Items one behind another.
pub(super) struct InMemory {
    pub(super) items: Vec<u8>,
    pub(super) item_bytes: usize,
}

impl BoxSource for InMemory {
    fn shape(&self) -> Vec<u64> {
        vec![(self.items.len() / self.item_bytes.max(1)) as u64]
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes, out.len())?;
        let first = usize::try_from(start[0]).unwrap_or(usize::MAX).saturating_mul(self.item_bytes);
        out.copy_from_slice(&self.items[first..][..out.len()]);
        Ok(())
    }
}

/// The number of each row, as a 64-bit integer.
pub(super) struct RowNumbers(pub(super) u64);

impl BoxSource for RowNumbers {
    fn shape(&self) -> Vec<u64> {
        vec![self.0]
    }

    fn item_bytes(&self) -> usize {
        8
    }

    fn walk(&self) -> Walk {
        walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 8, out.len())?;
        for (out, row) in out.chunks_exact_mut(8).zip(start[0]..) {
            out.copy_from_slice(bytes_of(&[row]));
        }
        Ok(())
    }
}
