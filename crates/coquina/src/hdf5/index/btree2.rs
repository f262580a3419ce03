//! Version 2 B-trees of chunks: the index of datasets with several unlimited axes.
//!
//! In: the address of the header. Out: rows. Records are chunks, in leaves and in internal nodes alike.
//! Source: HDF5 File Format Specification 3.0, III.A.2; record types 10 (chunks without filters) and 11.
//! Invariant: a node has no more records than its bytes have room for, and takes bytes of the file once.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, size, uint};
use super::rows::{Encoding, Filtering, Rows};
use crate::base::error::{Error, Result};

const UNFILTERED: u8 = 10;
const FILTERED: u8 = 11;
/// Signature, version and type before the records, and the checksum behind them.
const FRAME_BYTES: usize = 10;
/// Every level at least doubles the number of records.
const DEPTH_MAX: usize = 64;

/// What the header says of all nodes.
struct Tree {
    kind: u8,
    record: usize,
    encoding: Encoding,
    /// From the leaves up.
    levels: Vec<Level>,
    /// Bytes of the number of records of a child.
    count_bytes: usize,
    root: Option<u64>,
    root_records: usize,
}

/// Nodes of one height.
struct Level {
    records_max: usize,
    /// Bytes of the number of records below a node of this level, its own included; leaves have none.
    total_bytes: usize,
}

/// A node that is to be read.
struct Node {
    address: u64,
    records: usize,
    /// 0 for leaves.
    height: usize,
}

/// Rows of the tree whose header is at `address`.
pub(super) fn read(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    filtering: Filtering,
    rows: &mut Rows<'_>,
) -> Result<()> {
    let length = 4 + 2 + 4 + 2 + 2 + 2 + widths.address + 2 + widths.length + 4;
    let header = Fields::new(blocks.signed(*b"BTHD", address, length)?);
    let tree = Tree::read(header, widths, filtering, rows.rank()).map_err(|e| e.at("BTHD"))?;
    let Some(root) = tree.root else { return Ok(()) };
    let mut waiting = vec![Node { address: root, records: tree.root_records, height: tree.levels.len() - 1 }];
    while let Some(node) = waiting.pop() {
        let place = |e: Error| e.at(format!("node at {}", node.address));
        tree.read_node(blocks, widths, &node, &mut waiting, rows).map_err(place)?;
    }
    Ok(())
}

impl Tree {
    fn read(mut fields: Fields<'_>, widths: Widths, filtering: Filtering, rank: usize) -> Result<Self> {
        let Filtering { is_filtered, chunk_bytes } = filtering;
        fields.version(0, "version")?;
        let kind = fields.u8("type")?;
        let wanted = if is_filtered { FILTERED } else { UNFILTERED };
        if kind != wanted {
            return Err(Error::corrupt(format!("records of type {kind}, the filters ask for {wanted}")));
        }
        let node = size(fields.u32("node size")?.into(), "node size")?;
        let record = usize::from(fields.u16("record size")?);
        let depth = usize::from(fields.u16("depth")?);
        fields.bytes(2, "percentages")?;
        let root = fields.address(widths, "root")?;
        let root_records = usize::from(fields.u16("records of the root")?);
        if depth > DEPTH_MAX {
            return Err(Error::corrupt(format!("depth {depth}")));
        }
        let element = record.checked_sub(8 * rank);
        let element = element.ok_or_else(|| Error::corrupt(format!("records of {record} bytes")))?;
        let encoding = Encoding::new(element, is_filtered, widths.address, chunk_bytes)?;
        let mut levels =
            vec![Level { records_max: node.saturating_sub(FRAME_BYTES) / record, total_bytes: 0 }];
        let count_bytes = width_of(levels[0].records_max as u64);
        let mut total = levels[0].records_max as u64;
        for _ in 0..depth {
            let pointer = widths.address + count_bytes + levels.last().map_or(0, |level| level.total_bytes);
            let records_max = node.saturating_sub(FRAME_BYTES + pointer) / (record + pointer);
            // As the library counts; a tree that would have more records than 64 bits count cannot be full.
            total = (records_max as u64 + 1).saturating_mul(total).saturating_add(records_max as u64);
            levels.push(Level { records_max, total_bytes: width_of(total) });
        }
        if levels.iter().any(|level| level.records_max == 0) {
            return Err(Error::corrupt(format!(
                "nodes of {node} bytes have no room for a record of {record}"
            )));
        }
        Ok(Self { kind, record, encoding, levels, count_bytes, root, root_records })
    }

    fn read_node(
        &self,
        blocks: &mut Blocks<'_>,
        widths: Widths,
        node: &Node,
        waiting: &mut Vec<Node>,
        rows: &mut Rows<'_>,
    ) -> Result<()> {
        let &Node { address, records: count, height } = node;
        let most = self.levels[height].records_max;
        if count > most {
            return Err(Error::corrupt(format!("{count} records, there is room for {most}")));
        }
        let total_bytes = if height == 0 { 0 } else { self.levels[height - 1].total_bytes };
        let pointer = widths.address + self.count_bytes + total_bytes;
        let pointers = if height == 0 { 0 } else { (count + 1) * pointer };
        let bytes = FRAME_BYTES + count * self.record + pointers;
        let signature = if height == 0 { *b"BTLF" } else { *b"BTIN" };
        let mut fields = Fields::new(blocks.signed(signature, address, bytes)?);
        fields.version(0, "version")?;
        let kind = fields.u8("type")?;
        if kind != self.kind {
            return Err(Error::corrupt(format!("records of type {kind} in a tree of type {}", self.kind)));
        }
        for record in fields.bytes(count * self.record, "records")?.chunks_exact(self.record) {
            let (element, scaled) = record.split_at(self.encoding.bytes());
            if let Some(stored) = self.encoding.decode(element) {
                rows.put_scaled(scaled.chunks_exact(8).map(uint), stored)?;
            }
        }
        if height > 0 {
            let first = waiting.len();
            for pointer in fields.bytes(pointers, "children")?.chunks_exact(pointer) {
                let mut fields = Fields::new(pointer);
                let address = fields.address(widths, "child")?;
                let address = address.ok_or_else(|| Error::corrupt("a child nowhere"))?;
                let records =
                    size(fields.uint(self.count_bytes, "records of a child")?, "records of a child")?;
                waiting.push(Node { address, records, height: height - 1 });
            }
            // The last one waiting is the next.
            waiting[first..].reverse();
        }
        Ok(())
    }
}

/// Bytes that hold every number up to `most`.
fn width_of(most: u64) -> usize {
    let bits = 64 - most.leading_zeros();
    bits.max(1).div_ceil(8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_as_wide_as_the_largest_one() {
        let widths = [0, 1, 255, 256, 65_535, 65_536, u64::MAX].map(width_of);
        assert_eq!(widths, [1, 1, 1, 2, 2, 3, 8]);
    }
}
