//! Sums of a chunk: one for each block, in a table behind the chunk, and one over the rest and that table.
//!
//! A block can so be verified when it alone is read, and nobody needs to read more than the blocks that are
//! wanted. The sum of a block is the low half of XXH3-64 of its stored bytes, in four bytes; that of the chunk is
//! XXH3-64 of what stands before the blocks and then the table. A block's stored bytes reach to the next block
//! in the chunk, or to its end.
//!
//! Invariant: the sum of a chunk is never 0, so that 0 can say "none"; a sum of 0 is made 1.

use std::borrow::Cow;
use std::num::NonZeroU64;

use xxhash_rust::xxh3::Xxh3Default;

use super::header::{Header, Kind};
use super::spans::{Spans, head_bytes, starts_range};
use crate::base::checksum::xxh3;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;

/// Bytes of a block's sum.
const BLOCK_SUM_BYTES: usize = 4;

/// Where a chunk stands, and how it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of its first byte.
    pub at: u64,
    /// Bytes from there on that belong to it at most: the chunk and its table of sums.
    pub room: u64,
    /// Its sum, if it has one: then the table of block sums follows the chunk's bytes directly.
    pub sum: Option<NonZeroU64>,
}

/// The sums of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The sum over all that stands before the blocks, and the table.
    pub chunk: NonZeroU64,
    /// Four bytes for each block.
    pub table: Vec<u8>,
}

/// The sums of a chunk, of which `chunk` are exactly the bytes.
///
/// # Errors
/// `Corrupt`, `Truncated` or `Unsupported` for bytes that are no chunk.
pub fn sums(chunk: &[u8]) -> Result<Sums> {
    let (head, table) = block_sums(chunk)?;
    let chunk = sum_of(&[head, &table]);
    Ok(Sums { chunk, table })
}

/// What stands before the blocks of a chunk, of which `chunk` are exactly the bytes, and the table of block sums.
pub(crate) fn block_sums(chunk: &[u8]) -> Result<(&[u8], Vec<u8>)> {
    let header = Header::read(chunk, &Limits::default())?;
    if chunk.len() != header.cbytes {
        let (cbytes, there) = (header.cbytes, chunk.len());
        return Err(Error::truncated(format!("chunk: {cbytes} bytes announced, {there} there")));
    }
    let head = head_bytes(&header, chunk)?;
    let mut table = vec![0; table_bytes(&header)?];
    if !table.is_empty() {
        let spans = match header.kind()? {
            Kind::Memcpyed => Spans::even(&header),
            _ => {
                let starts = chunk.get(starts_range(&header)).unwrap_or_default();
                let mut spans = Spans::new(&header, Cow::Borrowed(starts), head);
                spans.find_ends()?;
                spans
            }
        };
        for (number, sum) in table.chunks_exact_mut(BLOCK_SUM_BYTES).enumerate() {
            let block = chunk.get(spans.get(number)?).unwrap_or_default();
            sum.copy_from_slice(&block_sum(block));
        }
    }
    Ok((chunk.get(..head).unwrap_or_default(), table))
}

/// Bytes of the table of a chunk with this header.
pub(crate) fn table_bytes(header: &Header) -> Result<usize> {
    let nblocks = match header.kind()? {
        Kind::Special(_) => 0,
        _ if header.nbytes == 0 => 0,
        _ => header.nblocks(),
    };
    nblocks.checked_mul(BLOCK_SUM_BYTES).ok_or_else(|| Error::limit(format!("{nblocks} blocks")))
}

/// The sum over bytes that stand one part after another.
fn sum_of(parts: &[&[u8]]) -> NonZeroU64 {
    let mut hash = Xxh3Default::new();
    parts.iter().for_each(|part| hash.update(part));
    NonZeroU64::new(hash.digest()).unwrap_or(NonZeroU64::MIN)
}

fn block_sum(block: &[u8]) -> [u8; BLOCK_SUM_BYTES] {
    let [a, b, c, d, ..] = xxh3(block).to_le_bytes();
    [a, b, c, d]
}

/// Sums that do not stand behind their chunk but apart, for whoever keeps chunks inside of something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumsApart<'a> {
    /// The sum over `around` and all that stands before the blocks of the chunk.
    pub(crate) sum: NonZeroU64,
    /// A hash of what the chunk stands in; the table of block sums is a part of that.
    pub(crate) around: u64,
    /// Four bytes for each block.
    pub(crate) table: &'a [u8],
}

impl SumsApart<'_> {
    /// The sum of a chunk with this head; of one that is not stored the head is empty.
    pub(crate) fn sum(around: u64, head: &[u8]) -> NonZeroU64 {
        sum_of(&[&around.to_le_bytes(), head])
    }

    /// Checks the head of the chunk.
    pub(crate) fn check(&self, head: &[u8]) -> Result<()> {
        same(Self::sum(self.around, head), self.sum)
    }

    /// The block sums of a chunk with this header and head, which are checked.
    pub(super) fn verified(&self, header: &Header, head: &[u8]) -> Result<BlockSums> {
        self.check(head)?;
        let (found, wanted) = (self.table.len(), table_bytes(header)?);
        if found != wanted {
            return Err(Error::corrupt(format!("checksums: {found} bytes in place of {wanted}")));
        }
        Ok(BlockSums { table: self.table.into() })
    }
}

fn same(found: NonZeroU64, sum: NonZeroU64) -> Result<()> {
    if found == sum {
        return Ok(());
    }
    Err(Error::corrupt(format!("checksum: {found:#018x}, must be {sum:#018x}")).at("chunk head"))
}

/// The table of a chunk's block sums.
pub(super) struct BlockSums {
    table: Box<[u8]>,
}

impl BlockSums {
    /// Takes a table once the chunk's sum holds over it and `head`.
    pub(super) fn verified(sum: NonZeroU64, head: &[u8], table: &[u8]) -> Result<Self> {
        same(sum_of(&[head, table]), sum)?;
        Ok(Self { table: table.into() })
    }

    /// Checks the stored bytes of a block.
    pub(super) fn check(&self, number: usize, block: &[u8]) -> Result<()> {
        let at = BLOCK_SUM_BYTES * number;
        let sum = self.table.get(at..at + BLOCK_SUM_BYTES).unwrap_or_default();
        let found = block_sum(block);
        if sum != found {
            let (found, sum) = (u32::from_le_bytes(found), hex(sum));
            return Err(Error::corrupt(format!("checksum: {found:#010x}, must be {sum}")));
        }
        Ok(())
    }

    /// Bytes of memory that it takes beyond itself.
    pub(super) fn memory_bytes(&self) -> usize {
        self.table.len()
    }
}

fn hex(sum: &[u8]) -> String {
    let digits: String = sum.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
