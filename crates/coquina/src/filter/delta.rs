//! Delta: the XOR of every block with block 0 of its chunk, and of block 0's elements with the one before.
//!
//! The reference is block 0 as the decoder returns it, whatever other filters stand in the pipeline.
//! Source: `docs/formats/filters.md`, "Delta".

use coquina_kernels::{best_level, xor_chain_decode, xor_chain_encode, xor_into};

use super::{DELTA, Filter, Stage};
use crate::base::error::Result;

pub(super) struct Delta;

fn element_bytes(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// XORs whole elements with the reference; bytes past the last one are copied.
///
/// A reference shorter than the block is the caller's broken promise: blocks are never longer than block 0.
fn against(stage: &Stage<'_>, reference: &[u8], block: &[u8], out: &mut [u8]) {
    let width = element_bytes(stage.typesize);
    let whole = block.len() / width * width;
    let (elements, tail) = block.split_at(whole);
    let (out_elements, out_tail) = out.split_at_mut(whole);
    xor_into(best_level(), elements, &reference[..whole], out_elements);
    out_tail.copy_from_slice(tail);
}

impl Filter for Delta {
    fn name(&self) -> &'static str {
        "delta"
    }

    fn id(&self) -> u8 {
        DELTA
    }

    fn needs_reference(&self) -> bool {
        true
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        match stage.reference {
            Some(reference) => against(stage, reference, block, out),
            None => xor_chain_encode(best_level(), element_bytes(stage.typesize), block, out),
        }
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        match stage.reference {
            Some(reference) => against(stage, reference, block, out),
            None => xor_chain_decode(best_level(), element_bytes(stage.typesize), block, out),
        }
        Ok(())
    }
}
