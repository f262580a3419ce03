//! Version 1 B-trees of chunks: the index of all files that HDF5 1.8 can read.
//!
//! In: the address of the root. Out: rows. Nodes have no checksums.
//! Source: HDF5 File Format Specification 3.0, III.A.1, node type 1.
//! Invariant: a child is one level below its node, and each node takes bytes of the file once.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, address, uint};
use super::rows::{Rows, Stored};
use crate::base::error::{Error, Result};

const SIGNATURE: &[u8; 4] = b"TREE";
const CHUNK_NODE: u8 = 1;

/// Rows of the tree with this root.
pub(super) fn read(blocks: &mut Blocks<'_>, widths: Widths, root: u64, rows: &mut Rows<'_>) -> Result<()> {
    // Size and mask, then the coordinates of the first item, and one more for the bytes of an item, which is 0.
    let key = 8 + 8 * (rows.rank() + 1);
    let entry = key + widths.address;
    // The level that a node must have; the root says its own.
    let mut waiting = vec![(root, None)];
    while let Some((node, wanted)) = waiting.pop() {
        let place = |e: Error| e.at(format!("node at {node}"));
        let head = read_head(blocks, widths, node, wanted).map_err(place)?;
        let bytes = head.bytes + head.count * entry + key;
        let content = blocks.take(node, bytes).map_err(place)?;
        let entries = content[head.bytes..].chunks_exact(entry).take(head.count);
        if head.level == 0 {
            for entry in entries {
                put(entry, key, rows).map_err(place)?;
            }
            continue;
        }
        // The last one waiting is the next: lowest addresses come first, as they were mostly written.
        for entry in entries.rev() {
            let child = address(&entry[key..]).ok_or_else(|| place(Error::corrupt("a child nowhere")))?;
            waiting.push((child, Some(head.level - 1)));
        }
    }
    Ok(())
}

struct Head {
    level: u8,
    /// Used entries.
    count: usize,
    /// Of the head itself.
    bytes: usize,
}

fn read_head(blocks: &mut Blocks<'_>, widths: Widths, node: u64, wanted: Option<u8>) -> Result<Head> {
    let bytes = 8 + 2 * widths.address;
    let mut fields = Fields::new(blocks.peek(node, bytes)?);
    if fields.bytes(4, "signature")? != SIGNATURE {
        return Err(Error::corrupt("it does not start with its signature, TREE"));
    }
    let (kind, level) = (fields.u8("type")?, fields.u8("level")?);
    if kind != CHUNK_NODE {
        return Err(Error::corrupt(format!("type {kind}: not a tree of chunks")));
    }
    if let Some(wanted) = wanted.filter(|&wanted| wanted != level) {
        return Err(Error::corrupt(format!("level {level} where {wanted} must be")));
    }
    Ok(Head { level, count: fields.u16("entries")?.into(), bytes })
}

/// The row of an entry of a leaf.
fn put(entry: &[u8], key: usize, rows: &mut Rows<'_>) -> Result<()> {
    let Some(address) = address(&entry[key..]) else { return Ok(()) };
    let stored = Stored { address, size: uint(&entry[..4]), mask: mask_of(entry) };
    rows.put_start(&entry[8..key - 8], stored)
}

fn mask_of(entry: &[u8]) -> u32 {
    u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]])
}
