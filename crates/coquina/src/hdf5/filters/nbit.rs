//! N-bit (5): of every number only the bits that its type says it has.
//!
//! In: a bit stream, and the type as a tree in the parameters. Out: elements, with zeros around their bits.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "N-bit".

use super::Filter;
use super::bits::{field, low_bytes, unpack};
use crate::base::error::{Error, Result};

/// How deep arrays and compounds may be nested. HDF5 names no bound; the stack has one.
const DEPTH_MAX: usize = 32;

pub(super) struct Nbit;

impl Filter for Nbit {
    fn id(&self) -> u16 {
        5
    }

    fn name(&self) -> &'static str {
        "nbit"
    }

    fn decoded_bytes(&self, stored: &[u8], values: &[u32]) -> Result<Option<usize>> {
        let values = Values::read(values)?;
        if values.is_plain {
            return Ok(Some(stored.len()));
        }
        Ok((values.count as usize).checked_mul(values.element()?.size()))
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, values, out)
    }
}

/// The parameters of the filter.
struct Values<'a> {
    /// Chunks are stored as they are, for all bits of the elements count.
    is_plain: bool,
    count: u32,
    tree: &'a [u32],
}

/// A type: how bytes are made of bits.
#[derive(Debug)]
enum Node {
    Atomic { size: usize, is_big_endian: bool, precision: u32, offset: u32 },
    Array { size: usize, base: Box<Node> },
    Compound { size: usize, members: Vec<(usize, Node)> },
    Bytes { size: usize },
}

impl<'a> Values<'a> {
    fn read(values: &'a [u32]) -> Result<Self> {
        // The first value is how many there are.
        let Some((&[_, is_plain, count], tree)) = values.split_first_chunk() else {
            return Err(Error::corrupt(format!("nbit: {} parameters", values.len())));
        };
        Ok(Self { is_plain: is_plain == 1, count, tree })
    }

    fn element(&self) -> Result<Node> {
        Node::read(&mut Tree { rest: self.tree }, 0)
    }
}

/// The parameters that describe the type, one after another.
struct Tree<'a> {
    rest: &'a [u32],
}

impl Tree<'_> {
    fn next(&mut self, field: &str) -> Result<u32> {
        let cut = || Error::corrupt(format!("nbit: {field}: the parameters end"));
        let (value, rest) = self.rest.split_first().ok_or_else(cut)?;
        self.rest = rest;
        Ok(*value)
    }

    /// A size that is not zero: every node takes bits, so all work is bounded by the stored bytes.
    fn size(&mut self, field: &str) -> Result<usize> {
        match self.next(field)? {
            0 => Err(Error::corrupt(format!("nbit: {field}: 0 is not a size"))),
            size => Ok(size as usize),
        }
    }
}

impl Node {
    fn read(tree: &mut Tree<'_>, depth: usize) -> Result<Self> {
        if depth > DEPTH_MAX {
            return Err(Error::unsupported(format!("nbit: types nested deeper than {DEPTH_MAX}")));
        }
        match tree.next("class")? {
            1 => Self::read_atomic(tree),
            2 => {
                let size = tree.size("size of an array")?;
                let base = Box::new(Self::read(tree, depth + 1)?);
                if !size.is_multiple_of(base.size()) {
                    let sentence = format!("nbit: an array of {size} bytes, items of {}", base.size());
                    return Err(Error::corrupt(sentence));
                }
                Ok(Self::Array { size, base })
            }
            3 => Self::read_compound(tree, depth),
            4 => Ok(Self::Bytes { size: tree.size("size of bytes")? }),
            class => Err(Error::corrupt(format!("nbit: {class} is not a class"))),
        }
    }

    fn read_atomic(tree: &mut Tree<'_>) -> Result<Self> {
        let size = tree.size("size of a number")?;
        let order = tree.next("byte order")?;
        let precision = tree.next("precision")?;
        let offset = tree.next("offset")?;
        let bits = u64::from(precision) + u64::from(offset);
        if precision == 0 || bits > 8 * size as u64 || order > 1 {
            return Err(Error::corrupt(format!(
                "nbit: precision {precision}, offset {offset}, order {order} in a number of {size} bytes"
            )));
        }
        Ok(Self::Atomic { size, is_big_endian: order == 1, precision, offset })
    }

    fn read_compound(tree: &mut Tree<'_>, depth: usize) -> Result<Self> {
        let size = tree.size("size of a compound")?;
        let count = tree.size("number of members")?;
        // Not allocated in advance: the number is bounded by the parameters alone, which end.
        let mut members = Vec::new();
        for _ in 0..count {
            if members.last().is_some_and(|(_, member): &(_, Self)| member.loses_place()) {
                // HDF5 2.0 and before reads and writes something else than the parameters say, and loses
                // data.
                return Err(Error::unsupported(
                    "nbit: a member behind one that is an array of arrays or compounds",
                ));
            }
            let offset = tree.next("offset of a member")? as usize;
            let member = Self::read(tree, depth + 1)?;
            if offset.checked_add(member.size()).is_none_or(|end| end > size) {
                let member = member.size();
                let sentence = format!("nbit: a member of {member} bytes at {offset}, a compound of {size}");
                return Err(Error::corrupt(sentence));
            }
            members.push((offset, member));
        }
        Ok(Self::Compound { size, members })
    }

    fn size(&self) -> usize {
        match self {
            Self::Atomic { size, .. }
            | Self::Array { size, .. }
            | Self::Compound { size, .. }
            | Self::Bytes { size } => *size,
        }
    }

    /// Whether HDF5 has lost its place in the parameters behind this node: it goes back to the base of an
    /// array for each item, and after the last one stays there.
    fn loses_place(&self) -> bool {
        match self {
            Self::Array { base, .. } => matches!(**base, Self::Array { .. } | Self::Compound { .. }),
            Self::Compound { members, .. } => members.last().is_some_and(|(_, member)| member.loses_place()),
            Self::Atomic { .. } | Self::Bytes { .. } => false,
        }
    }

    /// Fills `out`, which is all zeros and one element, from the bits at `at`; returns where they end.
    fn decode(&self, bits: &[u8], mut at: usize, out: &mut [u8]) -> Option<usize> {
        match self {
            Self::Atomic { is_big_endian, precision, offset, .. } => {
                atomic(bits, at, out, *is_big_endian, *offset..*offset + *precision)?;
                at += *precision as usize;
            }
            Self::Array { base, .. } => {
                for item in out.chunks_exact_mut(base.size()) {
                    at = base.decode(bits, at, item)?;
                }
            }
            Self::Compound { members, .. } => {
                for (offset, member) in members {
                    at = member.decode(bits, at, out.get_mut(*offset..*offset + member.size())?)?;
                }
            }
            Self::Bytes { .. } => {
                for byte in out {
                    [*byte] = low_bytes(field(bits, at, 8)?, false);
                    at += 8;
                }
            }
        }
        Some(at)
    }
}

/// Puts the bits of a number in their place; `range` counts from its lowest bit.
fn atomic(
    bits: &[u8],
    mut at: usize,
    out: &mut [u8],
    is_big_endian: bool,
    range: std::ops::Range<u32>,
) -> Option<()> {
    // The highest come first: from each byte those which are in the range.
    let mut end = range.end;
    while end > range.start {
        let number = (end - 1) / 8;
        let start = range.start.max(number * 8);
        let [part] = low_bytes(field(bits, at, end - start)? << (start % 8), false);
        let place = number as usize;
        let place = if is_big_endian { out.len() - 1 - place } else { place };
        // A member that lies over another one adds its bits, as in HDF5.
        *out.get_mut(place)? |= part;
        at += (end - start) as usize;
        end = start;
    }
    Some(())
}

/// Numbers and nothing else, in a size of the machine: one loop.
fn numbers<const S: usize>(bits: &[u8], node: &Node, out: &mut [u8]) -> Option<()> {
    let Node::Atomic { is_big_endian, precision, offset, .. } = node else { return None };
    unpack::<S>(bits, *precision, out, |number| low_bytes(number << offset, *is_big_endian))
}

/// Fills `out` with the elements.
pub(super) fn decode(stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
    let values = Values::read(values)?;
    if values.is_plain {
        if stored.len() != out.len() {
            return Err(Error::corrupt(format!("nbit: {} bytes in place of {}", stored.len(), out.len())));
        }
        out.copy_from_slice(stored);
        return Ok(());
    }
    let element = values.element()?;
    let out_bytes = out.len();
    if (values.count as usize).checked_mul(element.size()) != Some(out_bytes) {
        let (count, size) = (values.count, element.size());
        return Err(Error::corrupt(format!(
            "nbit: {count} elements of {size} bytes in place of {out_bytes} bytes"
        )));
    }
    let mut base = &element;
    while let Node::Array { base: inner, .. } = base {
        base = inner;
    }
    let is_done = match (base, base.size()) {
        (Node::Atomic { .. }, 1) => numbers::<1>(stored, base, out),
        (Node::Atomic { .. }, 2) => numbers::<2>(stored, base, out),
        (Node::Atomic { .. }, 4) => numbers::<4>(stored, base, out),
        (Node::Atomic { .. }, 8) => numbers::<8>(stored, base, out),
        _ => {
            out.fill(0);
            let mut items = out.chunks_exact_mut(base.size());
            items.try_fold(0, |at, item| base.decode(stored, at, item)).map(|_| ())
        }
    };
    is_done.ok_or_else(|| Error::truncated(format!("nbit: {} bytes for {out_bytes}", stored.len())))
}

#[cfg(test)]
mod tests;
