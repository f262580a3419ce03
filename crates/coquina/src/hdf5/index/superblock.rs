//! The superblock: where the file begins behind a user block, and how wide its addresses and lengths are.
//!
//! In: a file. Out: [`Widths`]; addresses of `blocks` count from the superblock from then on.
//! Source: HDF5 File Format Specification 3.0, "Disk Format: Level 0A", versions 0 to 3.
//! Invariant: files whose addresses are split over several files are refused.

use super::blocks::Blocks;
use super::fields::{Fields, Widths};
use super::header;
use crate::base::error::{Error, Result};

const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
/// Message of a superblock extension: how a driver spreads the file.
const DRIVER_MESSAGE: u16 = 0x14;

/// Finds and reads the superblock.
pub(super) fn read(blocks: &mut Blocks<'_>) -> Result<Widths> {
    let base = find(blocks)?;
    // What the superblock says of its own address is not looked at: whoever puts bytes in front of a file does not
    // change it, and then the place where it was found counts.
    blocks.set_base(base);
    let version = blocks.peek(8, 1)?[0];
    match version {
        0 | 1 => read_old(blocks, version),
        2 | 3 => read_new(blocks),
        _ => Err(Error::unsupported(format!("version {version}, known are 0 to 3"))),
    }
    .map_err(|e| e.at("superblock"))
}

/// It may stand at 0, 512, 1024 and every power of 2 behind them.
fn find(blocks: &mut Blocks<'_>) -> Result<u64> {
    let mut at = 0;
    while at < blocks.room() {
        if blocks.room() - at >= 8 && blocks.peek(at, 8)? == SIGNATURE {
            return Ok(at);
        }
        at = if at == 0 { 512 } else { 2 * at };
    }
    Err(Error::corrupt("there is no HDF5 signature in it"))
}

fn widths(address: u8, length: u8) -> Result<Widths> {
    for (field, width) in [("size of offsets", address), ("size of lengths", length)] {
        if !matches!(width, 2 | 4 | 8) {
            return Err(Error::unsupported(format!("{field}: {width} bytes, known are 2, 4 and 8")));
        }
    }
    Ok(Widths { address: address.into(), length: length.into() })
}

fn read_old(blocks: &mut Blocks<'_>, version: u8) -> Result<Widths> {
    let fixed = if version == 0 { 24 } else { 28 };
    let mut fields = Fields::new(blocks.peek(0, fixed)?);
    fields.bytes(13, "versions")?;
    let widths = widths(fields.u8("size of offsets")?, fields.u8("size of lengths")?)?;
    let mut fields = Fields::new(blocks.peek(fixed as u64, 4 * widths.address)?);
    fields.bytes(3 * widths.address, "base, free space and end")?;
    match fields.address(widths, "driver information")? {
        None => Ok(widths),
        Some(_) => Err(split()),
    }
}

fn read_new(blocks: &mut Blocks<'_>) -> Result<Widths> {
    let mut fields = Fields::new(blocks.peek(9, 2)?);
    let widths = widths(fields.u8("size of offsets")?, fields.u8("size of lengths")?)?;
    let content = blocks.summed(0, 12 + 4 * widths.address + 4)?;
    let mut fields = Fields::new(content);
    fields.bytes(12 + widths.address, "base")?;
    if let Some(extension) = fields.address(widths, "extension")? {
        let mut has_driver = false;
        header::walk(blocks, widths, extension, &mut |message| {
            has_driver |= message.kind == DRIVER_MESSAGE;
            Ok(())
        })
        .map_err(|e| e.at("extension"))?;
        if has_driver {
            return Err(split());
        }
    }
    Ok(widths)
}

fn split() -> Error {
    Error::unsupported("a driver that spreads a file over several ones")
}
