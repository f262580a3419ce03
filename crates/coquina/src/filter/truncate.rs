//! Truncation: sets the low bits of every element to zero, so that what is left compresses well. Lossy.
//!
//! The parameter byte, read as signed, says how many bits to keep, or if negative how many to zero. Of floats
//! the bits are those of the mantissa.
//! Source: `docs/formats/filters.md`, "trunc_prec and int_trunc".

use super::{Filter, Stage};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;

pub(super) struct TruncPrec;
pub(super) struct IntTrunc;

fn mantissa_bits(typesize: usize) -> Option<u32> {
    match typesize {
        4 => Some(23),
        8 => Some(52),
        _ => None,
    }
}

/// How many low bits of `bits` the parameter byte zeroes.
fn zeroed(meta: u8, bits: u32) -> Option<u32> {
    let kept = i32::from(meta.cast_signed());
    let zeroed = if kept >= 0 { bits.checked_sub(kept.unsigned_abs())? } else { kept.unsigned_abs() };
    (zeroed < bits).then_some(zeroed)
}

fn check(name: &str, meta: u8, bits: u32) -> Result<()> {
    match zeroed(meta, bits) {
        Some(_) => Ok(()),
        None => {
            let (meta, last) = (meta.cast_signed(), bits - 1);
            Err(Error::invalid(format!(
                "{name}: parameter {meta}: takes 1..={bits} bits to keep or -{last}..=-1 bits to zero"
            )))
        }
    }
}

/// ANDs every little-endian element with the mask; bytes past the last one are copied.
fn mask(typesize: usize, zeroed: u32, block: &[u8], out: &mut [u8]) {
    let mask = u64::MAX << zeroed;
    match typesize {
        1 => mask_elements::<1>(mask, block, out),
        2 => mask_elements::<2>(mask, block, out),
        4 => mask_elements::<4>(mask, block, out),
        8 => mask_elements::<8>(mask, block, out),
        _ => out.copy_from_slice(block),
    }
}

fn mask_elements<const N: usize>(mask: u64, block: &[u8], out: &mut [u8]) {
    let mask = mask.to_le_bytes();
    let (elements, tail) = block.as_chunks::<N>();
    let (out_elements, out_tail) = out.as_chunks_mut::<N>();
    for (element, out) in elements.iter().zip(out_elements) {
        *out = std::array::from_fn(|i| element[i] & mask[i]);
    }
    out_tail.copy_from_slice(tail);
}

impl Filter for TruncPrec {
    fn name(&self) -> &'static str {
        "trunc_prec"
    }

    fn id(&self) -> u8 {
        4
    }

    fn check(&self, meta: u8, typesize: usize, _layout: &BlockLayout) -> Result<()> {
        let bits = mantissa_bits(typesize).ok_or_else(|| {
            Error::invalid(format!("trunc_prec: typesize {typesize}: takes float32 (4) or float64 (8)"))
        })?;
        check(self.name(), meta, bits)
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let zeroed = mantissa_bits(stage.typesize).and_then(|bits| zeroed(stage.meta, bits));
        mask(stage.typesize, zeroed.unwrap_or(0), block, out);
        Ok(())
    }

    fn decode(&self, _stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(block);
        Ok(())
    }

    fn decodes_to_itself(&self) -> bool {
        true
    }

    fn is_lossy(&self) -> bool {
        true
    }
}

impl Filter for IntTrunc {
    fn name(&self) -> &'static str {
        "int_trunc"
    }

    fn id(&self) -> u8 {
        36
    }

    fn check(&self, meta: u8, typesize: usize, _layout: &BlockLayout) -> Result<()> {
        match typesize {
            1 => check(self.name(), meta, 8),
            2 => check(self.name(), meta, 16),
            4 => check(self.name(), meta, 32),
            8 => check(self.name(), meta, 64),
            _ => Err(Error::invalid(format!("int_trunc: typesize {typesize}: takes 1, 2, 4 or 8"))),
        }
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let bits = u32::try_from(stage.typesize * 8).unwrap_or(64);
        mask(stage.typesize, zeroed(stage.meta, bits).unwrap_or(0), block, out);
        Ok(())
    }

    fn decode(&self, _stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(block);
        Ok(())
    }

    fn decodes_to_itself(&self) -> bool {
        true
    }

    fn is_lossy(&self) -> bool {
        true
    }
}
