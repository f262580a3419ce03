//! A column in memory for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::items::{Number, bytes_of};
use coquina_kernels::{Type, best_level, bounds};

use crate::array::{Bounds, BoxSource, Walk, check_box};
use crate::base::error::Result;
pub(crate) use crate::base::testing::random;

/// Items in memory, of which blocks of so many tell bounds; it counts the items that are read.
pub(crate) struct Memory {
    pub(crate) items: Vec<u8>,
    pub(crate) item_bytes: usize,
    pub(crate) block: u64,
    pub(crate) ty: Option<Type>,
    pub(crate) read: AtomicU64,
}

impl Memory {
    pub(crate) fn of<T: Number>(items: &[T], block: u64, ty: Option<Type>) -> Arc<Self> {
        Self::new(bytes_of(items), size_of::<T>(), block, ty)
    }

    pub(crate) fn new(items: &[u8], item_bytes: usize, block: u64, ty: Option<Type>) -> Arc<Self> {
        Arc::new(Self { items: items.to_vec(), item_bytes, block, ty, read: AtomicU64::new(0) })
    }

    fn part(&self, start: &[u64], shape: &[u64]) -> &[u8] {
        let [start, len] = [start[0], shape[0]].map(|n| usize::try_from(n).unwrap() * self.item_bytes);
        &self.items[start..start + len]
    }
}

impl BoxSource for Memory {
    fn shape(&self) -> Vec<u64> {
        vec![(self.items.len() / self.item_bytes) as u64]
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        Walk { chunks: vec![3 * self.block], blocks: vec![self.block] }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes, out.len())?;
        self.read.fetch_add(shape[0], Ordering::Relaxed);
        out.copy_from_slice(self.part(start, shape));
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let items = self.part(start, shape);
        self.ty?;
        let first = items.get(..self.item_bytes)?;
        items.chunks_exact(self.item_bytes).all(|item| item == first).then(|| first.to_vec())
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        let found = bounds(best_level(), self.ty?, self.part(start, shape))?;
        let end = |bytes: [u8; 8]| bytes[..self.item_bytes].to_vec();
        Some(Bounds { min: end(found.min), max: end(found.max), is_exact: true, has_nan: found.has_nan })
    }
}
