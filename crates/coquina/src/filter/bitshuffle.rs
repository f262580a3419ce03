//! Bit shuffle: puts bit 0 of all elements together, then bit 1, and so on.
//!
//! Elements go in groups of eight; what is left over is copied.
//! Source: `docs/formats/filters.md`, "Bitshuffle".

use coquina_kernels::{best_level, bitshuffle, bitunshuffle};

use super::{BITSHUFFLE, Filter, Stage};
use crate::base::error::Result;

pub(super) struct Bitshuffle;

/// Chunks up to this version copy a whole block whose element count is not a multiple of eight.
const VERSION_BLOSC1: u8 = 2;

fn is_copied(stage: &Stage<'_>, block: &[u8]) -> bool {
    stage.version <= VERSION_BLOSC1 && !(block.len() / stage.typesize).is_multiple_of(8)
}

impl Filter for Bitshuffle {
    fn name(&self) -> &'static str {
        "bitshuffle"
    }

    fn id(&self) -> u8 {
        BITSHUFFLE
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        if is_copied(stage, block) {
            out.copy_from_slice(block);
        } else {
            bitshuffle(best_level(), stage.typesize, block, out);
        }
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        if is_copied(stage, block) {
            out.copy_from_slice(block);
        } else {
            bitunshuffle(best_level(), stage.typesize, block, out);
        }
        Ok(())
    }
}
