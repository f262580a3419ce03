//! Attributes of variable length: whether the heap that has their values can be walked.
//!
//! libhdf5 walks a damaged collection of the global heap for ever, or beyond its end. What is looked at here first
//! can be read by it.
//!
//! In: the address of an object header. Out: nothing, or an error that says what is damaged.
//! Source: HDF5 File Format Specification 3.0, "Attribute Message" (0x0C), "Global Heap" (III.E).
//! Invariant: as many objects are looked at as bytes allow; every object takes some.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Blocks;
use super::fields::{Fields, Widths, size};
use super::{header, superblock};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;

const ATTRIBUTE: u16 = 0x0c;
const VLEN_CLASS: u8 = 9;
/// Of a message: its datatype is elsewhere.
const SHARED_DATATYPE: u8 = 1;
const DATATYPE_HEAD_BYTES: usize = 8;

/// Checks the heap collections that attributes of the object at `header` lie in. Attributes that are not in the
/// header itself, or have items of more than one part, are not looked at. Says whether there is a header that could be
/// read.
///
/// # Errors
/// `Corrupt`, `Truncated` or `Limit` for a collection that cannot be walked, or has not what an attribute says.
pub fn check_attributes(source: &dyn ReadAt, header: u64, limits: &Limits) -> Result<bool> {
    let mut blocks = Blocks::new(source, limits)?;
    let Ok(widths) = superblock::read(&mut blocks) else { return Ok(false) };
    let mut wanted: BTreeMap<u64, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let walked = header::walk(&mut blocks, widths, header, &mut |message| {
        if message.kind == ATTRIBUTE && !message.is_shared {
            // What cannot be understood is libhdf5's to refuse: it does not walk for it.
            if let Ok(sequences) = sequences(message.body, widths) {
                for (address, index, length) in sequences {
                    wanted.entry(address).or_default().insert((index, length));
                }
            }
        }
        Ok(())
    });
    if walked.is_err() {
        return Ok(false);
    }
    for (address, objects) in wanted {
        check_collection(&mut blocks, widths, address, &objects)
            .map_err(|e| e.at(format!("global heap at {address}")))?;
    }
    Ok(true)
}

/// Address, index and length of each value of variable length of an attribute.
fn sequences(body: &[u8], widths: Widths) -> Result<Vec<(u64, u32, u32)>> {
    let mut fields = Fields::new(body);
    let (version, flags) = (fields.u8("version")?, fields.u8("flags")?);
    let mut sizes = [0_usize; 3];
    for size in &mut sizes {
        *size = fields.u16("size")?.into();
    }
    if version == 3 {
        fields.u8("character set")?;
    }
    // Only the first version pads.
    let padded = |bytes: usize| if version == 1 { bytes.next_multiple_of(8) } else { bytes };
    let [name, datatype, space] = sizes.map(padded);
    fields.bytes(name, "name")?;
    let datatype = fields.bytes(datatype, "datatype")?;
    fields.bytes(space, "dataspace")?;
    let is_vlen = datatype.first().is_some_and(|class| class & 0x0f == VLEN_CLASS);
    if !is_vlen || (version > 1 && flags & SHARED_DATATYPE != 0) || datatype.len() < DATATYPE_HEAD_BYTES {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    while fields.left().len() >= 8 + widths.address {
        let length = fields.u32("length")?;
        let address = fields.address(widths, "heap")?;
        let index = fields.u32("index")?;
        // The null heap address is 0 for an empty value.
        if let Some(address) = address.filter(|&address| length > 0 && address > 0) {
            found.push((address, index, length));
        }
    }
    Ok(found)
}

/// Walks a collection as libhdf5 does, and looks for objects of at least so many bytes.
fn check_collection(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    objects: &BTreeSet<(u32, u32)>,
) -> Result<()> {
    let head_bytes = 8 + widths.length;
    let mut head = Fields::new(blocks.peek(address, head_bytes)?);
    if head.bytes(4, "signature")? != b"GCOL" {
        return Err(Error::corrupt("it does not start with its signature, GCOL"));
    }
    head.version(1, "collection")?;
    head.bytes(3, "reserved")?;
    let bytes = size(head.uint(widths.length, "size")?, "size")?;
    let content = blocks.take(address, bytes)?;
    let mut fields = Fields::new(content.get(head_bytes..).ok_or_else(|| Error::corrupt("size: too small"))?);
    let mut sizes = BTreeMap::new();
    // A rest that is too small for the head of an object is free.
    while fields.left().len() >= head_bytes {
        let left = fields.left().len() as u64;
        let index: u32 = fields.u16("index")?.into();
        fields.bytes(6, "references")?;
        let bytes = fields.uint(widths.length, "size of an object")?;
        // Of free space the size is that of all of it, its head included; objects are padded.
        let all = match index {
            0 => Some(bytes),
            _ => bytes.checked_next_multiple_of(8).and_then(|bytes| bytes.checked_add(head_bytes as u64)),
        };
        let all = all.filter(|&all| all >= head_bytes as u64 && all <= left);
        let all =
            all.ok_or_else(|| Error::corrupt(format!("object {index}: {bytes} bytes, {left} are left")))?;
        fields.bytes(size(all, "object")? - head_bytes, "object")?;
        if index > 0 && sizes.insert(index, bytes).is_some() {
            return Err(Error::corrupt(format!("object {index}: there are two of it")));
        }
    }
    for &(index, length) in objects {
        let found = sizes.get(&index).copied().unwrap_or(0);
        if found < length.into() {
            return Err(Error::corrupt(format!("object {index}: {found} bytes, not {length}")));
        }
    }
    Ok(())
}
