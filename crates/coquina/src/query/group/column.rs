//! What a column of results does, whatever its aggregate: it takes values of groups, and what other pieces know.

use std::any::Any;

use crate::base::error::{Error, Result};

/// What is known for each group.
pub(super) trait Column: Send {
    /// Makes room for so many groups.
    fn grow(&mut self, groups: usize);
    /// Takes values, which are aligned, of the groups of these numbers.
    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()>;
    /// Takes what another column of the same kind knows, whose groups have these numbers here.
    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()>;
    /// Bytes of memory.
    fn bytes(&self) -> usize;
    /// The results.
    fn finish(&self) -> Vec<u8>;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The index of a group.
#[inline(always)]
pub(super) fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The other column as one of the same type: pieces are made by the same query as the whole.
pub(super) fn same<T: 'static>(other: Box<dyn Column>) -> Result<Box<T>> {
    other.into_any().downcast().map_err(|_| Error::invalid("groups of another query"))
}
