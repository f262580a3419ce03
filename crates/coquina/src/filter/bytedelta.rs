//! Byte delta: within each byte plane of a shuffled block, every byte less the one before it.
//!
//! The parameter byte is the width, that is the number of planes; 0 means the typesize.
//! Source: `docs/formats/filters.md`, "Bytedelta".

use coquina_kernels::{best_level, bytedelta_decode, bytedelta_encode};

use super::{BYTEDELTA, Filter, Stage, width};
use crate::base::error::Result;

pub(super) struct Bytedelta;

/// The first, faulty version (id 34): read only.
pub(super) struct OldBytedelta;

impl Filter for Bytedelta {
    fn name(&self) -> &'static str {
        "bytedelta"
    }

    fn id(&self) -> u8 {
        BYTEDELTA
    }

    fn default_meta(&self, typesize: usize) -> u8 {
        u8::try_from(typesize).unwrap_or(0)
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        bytedelta_encode(best_level(), width(stage), block, out);
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        bytedelta_decode(best_level(), width(stage), block, out);
        Ok(())
    }
}

impl Filter for OldBytedelta {
    fn name(&self) -> &'static str {
        "bytedelta-old"
    }

    fn id(&self) -> u8 {
        34
    }

    fn is_writable(&self) -> bool {
        false
    }

    /// Kept as the inverse of `decode`, so that the laws of filters can be tested on it too.
    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        by_plane(width(stage), block, out, |plane, out| bytedelta_encode(best_level(), 1, plane, out));
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        by_plane(width(stage), block, out, |plane, out| bytedelta_decode(best_level(), 1, plane, out));
        Ok(())
    }
}

/// It forgot the running byte once per plane, before the last bytes that do not fill a 16-byte register.
fn by_plane(width: usize, block: &[u8], out: &mut [u8], code: impl Fn(&[u8], &mut [u8])) {
    let plane_bytes = block.len() / width;
    let (planes, tail) = block.split_at(plane_bytes * width);
    let (out_planes, out_tail) = out.split_at_mut(plane_bytes * width);
    out_tail.copy_from_slice(tail);
    if plane_bytes == 0 {
        return;
    }
    for (plane, out) in planes.chunks_exact(plane_bytes).zip(out_planes.chunks_exact_mut(plane_bytes)) {
        let registers = plane_bytes - plane_bytes % 16;
        code(&plane[..registers], &mut out[..registers]);
        code(&plane[registers..], &mut out[registers..]);
    }
}
