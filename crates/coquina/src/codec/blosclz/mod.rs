//! BloscLZ: a byte-oriented LZ77 code with one hash probe per position, made for shuffled binary data.
//!
//! Source: `docs/formats/codecs.md`, "BloscLZ".
//! Invariant: `decode` fills its output exactly or fails; no bytes make it panic, loop or allocate.

mod decode;
mod encode;
mod sink;

use std::cell::RefCell;

use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, no_dictionary};
use crate::base::error::{Error, Result};

pub(super) struct Blosclz;

struct Encoder {
    level: u8,
}

struct Decoder;

thread_local! {
    static STATE: RefCell<encode::Encoder> = RefCell::new(encode::Encoder::new());
}

impl Codec for Blosclz {
    fn name(&self) -> &'static str {
        "blosclz"
    }

    fn id(&self) -> u8 {
        0
    }

    fn format(&self) -> u8 {
        0
    }

    fn splits(&self, _level: u8) -> bool {
        true
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Encoder { level: options.level }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Decoder))
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(STATE.with_borrow_mut(|state| state.encode(self.level, stream, out)))
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        decode::decode(stream, out).map_err(|e| Error::corrupt(e.to_string()))
    }
}
