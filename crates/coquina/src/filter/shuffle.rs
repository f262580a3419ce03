//! Byte shuffle: puts the first bytes of all elements together, then the second bytes, and so on.
//!
//! The parameter byte is the width in bytes; 0 means the typesize. Bytes past the last whole element are copied.
//! Source: `docs/formats/filters.md`, "Shuffle".

use coquina_kernels::{best_level, shuffle, unshuffle};

use super::{Filter, SHUFFLE, Stage, width};
use crate::base::error::Result;

pub(super) struct Shuffle;

impl Filter for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn id(&self) -> u8 {
        SHUFFLE
    }

    fn decodes_fronts(&self, meta: u8, typesize: usize) -> bool {
        meta == 0 || usize::from(meta) == typesize
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        shuffle(best_level(), width(stage), block, out);
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        unshuffle(best_level(), width(stage), block, out);
        Ok(())
    }
}
