//! The header of a new frame, and of one that is yet to get chunks.
//!
//! Source: `docs/formats/frame.md`, "Header".

use super::header::{
    AT_FLAGS, AT_FRAME_LEN, CODEC_SEE_BELOW, FLAG_VARIABLE_CHUNKS, Header, MAGIC, flags, put, variable_blocks,
};
use super::metalayers;
use super::spec::{Kind, Spec};
use crate::base::error::{Error, Result};
use crate::chunk::Split;

/// Where the length of the header stands.
const AT_HEADER_LEN: usize = 11;

impl Header {
    /// The header of a frame without chunks.
    pub(crate) fn new(spec: &Spec, kind: Kind) -> Result<Self> {
        spec.check()?;
        let size = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX).to_be_bytes();
        let codec = if spec.codec_id < CODEC_SEE_BELOW { spec.codec_id } else { CODEC_SEE_BELOW };
        let split = match spec.split {
            Split::Always => 0,
            Split::Never => 1,
            Split::Auto => 2,
        };
        let mut raw = Vec::from(MAGIC);
        raw.push(0xd2);
        raw.extend([0; 4]);
        raw.push(0xcf);
        raw.extend([0; 8]);
        raw.extend([0xa4, flags(spec.chunk_bytes), u8::from(kind == Kind::Sparse)]);
        raw.extend([codec | spec.level << 4, split]);
        for _ in ["nbytes", "cbytes"] {
            raw.push(0xd3);
            raw.extend([0; 8]);
        }
        for bytes in [spec.typesize, spec.blocksize, spec.chunk_bytes] {
            raw.push(0xd2);
            raw.extend(size(bytes));
        }
        raw.extend([0xd1, 0, 0, 0xd1, 0, 0, 0xc2, 0xd8, 6]);
        raw.extend(spec.pipeline.slots.map(|slot| slot.id));
        raw.extend([spec.codec_id, spec.codec_meta]);
        raw.extend(spec.pipeline.slots.map(|slot| slot.meta));
        raw.extend([u8::from(spec.dictionary), 0]);
        let layers = spec.metalayers.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        metalayers::write(&mut raw, layers, 0)?;
        if spec.has_variable_blocks
            && let Some(flags) = raw.get_mut(AT_FLAGS)
        {
            *flags = variable_blocks(*flags);
        }
        let header_len = size(raw.len());
        put(&mut raw, AT_HEADER_LEN, &header_len);
        let frame_len = (raw.len() as u64).to_be_bytes();
        put(&mut raw, AT_FRAME_LEN, &frame_len);
        Self::read(raw).map_err(|e| Error::invalid(e.to_string()).at("frame"))
    }

    /// Whether it is said how large chunks are, or that they vary; C-Blosc2 leaves it open until there are some.
    pub(crate) fn knows_chunk_bytes(&self) -> bool {
        self.chunk_bytes > 0
            || self.raw().get(AT_FLAGS).is_some_and(|flags| flags & FLAG_VARIABLE_CHUNKS != 0)
    }
}
