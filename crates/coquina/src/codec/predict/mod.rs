//! `predict`: blocks of floating-point items within a bound: each item is predicted from others, what is left is counted in
//! steps of twice the bound, and entropy coded. Lossy.
//!
//! In: one whole block, items as they are. Out: a stream that says its own shape, so that a chunk can be decoded alone.
//! The greatest error is a power of ten, which the parameter byte is; or the option `max_error`, which is not stored.
//! Source: `docs/formats/predict.md`.
//! Invariant: no item is further from what it was than the bound; NaN, infinities, the sign of zeros and the fill value of
//! the options come back bit for bit; no bytes make decoding panic, or allocate more than a few times the block.
#![expect(
    clippy::cast_possible_truncation,
    reason = "symbols, words and slots are cut out of wider numbers, by masks and ranges that the lines say"
)]

mod block;
mod kernels;
mod lattice;
mod plan;
mod rans;
mod symbols;
mod tables;
#[cfg(test)]
mod tests;
mod walk;

use self::walk::AXES;
use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Parameter, Streams, no_dictionary};
use crate::base::error::{Error, Result};
use crate::base::json::Json;
use crate::base::layout::BlockLayout;

const NAME: &str = "predict";

/// The codec.
pub(super) struct Predict;

/// What the options of an encoder say.
struct Bound {
    max_error: f64,
    /// The bits of a value that is kept.
    fill: Option<u64>,
}

impl Bound {
    fn of(options: &EncodeOptions<'_>) -> Result<Self> {
        if options.text.is_empty() {
            let power: f64 = format!("1e{}", options.meta.cast_signed()).parse().unwrap_or(f64::INFINITY);
            return Ok(Self { max_error: power, fill: None });
        }
        let found = Json::read(options.text.as_bytes()).map_err(|e| e.at(NAME))?;
        let max_error = found.get("max_error").and_then(Json::as_f64);
        let max_error = max_error.filter(|bound| *bound > 0.0 && bound.is_finite()).ok_or_else(|| {
            Error::invalid(format!(
                "{NAME}: options {:?}: max_error takes a finite distance above 0",
                options.text
            ))
        })?;
        let fill = found.get("fill").and_then(Json::as_str).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        Ok(Self { max_error, fill })
    }
}

/// The options that ask for this error at most, and keep a value of these bits.
pub(crate) fn options(max_error: f64, fill: Option<u64>) -> String {
    match fill {
        Some(bits) => format!(r#"{{"max_error": {max_error:e}, "fill": "{bits:x}"}}"#),
        None => format!(r#"{{"max_error": {max_error:e}}}"#),
    }
}

struct Encoder {
    bound: Bound,
    item_bytes: usize,
    layout: BlockLayout,
}

struct Decoder;

impl Codec for Predict {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        224
    }

    fn format(&self) -> u8 {
        6
    }

    fn splits(&self, _level: u8) -> bool {
        false
    }

    fn streams(&self) -> Streams {
        Streams::Items
    }

    fn parameter(&self) -> Option<Parameter> {
        Some(Parameter {
            about: "the power of ten of the error that is allowed, -128 to 127",
            is_signed: true,
        })
    }

    fn check(&self, _meta: u8, typesize: usize, layout: &BlockLayout) -> Result<()> {
        let is_number = matches!(typesize, 4 | 8) && layout.kind().is_none_or(|kind| kind == 'f');
        if !is_number || layout.is_big_endian() {
            return Err(Error::invalid(format!(
                "{NAME}: takes little-endian float32 and float64, not items of {typesize} bytes of this dtype: convert them"
            )));
        }
        Ok(())
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(NAME, options.dictionary)?;
        Ok(Box::new(Encoder {
            bound: Bound::of(options)?,
            item_bytes: options.typesize,
            layout: options.layout,
        }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(NAME, options.dictionary)?;
        Ok(Box::new(Decoder))
    }

    fn is_lossy(&self, _meta: u8, _text: &str) -> bool {
        true
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let item_bytes = self.layout.item_bytes().unwrap_or(self.item_bytes);
        let shape = shape(&self.layout, stream.len(), item_bytes);
        let Bound { max_error, fill } = self.bound;
        let encoded = match item_bytes {
            4 => block::encode::<f32>(stream, shape, max_error, fill),
            8 => block::encode::<f64>(stream, shape, max_error, fill),
            _ => None,
        };
        let Some(encoded) = encoded else { return Ok(None) };
        let Some(room) = out.get_mut(..encoded.len()) else { return Ok(None) };
        room.copy_from_slice(&encoded);
        Ok(Some(encoded.len()))
    }
}

/// The axes of a block; of more than there may be, the first ones are one. What is no whole block has one.
fn shape(layout: &BlockLayout, bytes: usize, item_bytes: usize) -> [usize; AXES] {
    let axes = layout.shape_of(bytes).unwrap_or_default();
    let mut shape = [1; AXES];
    if axes.is_empty() {
        shape[AXES - 1] = bytes / item_bytes.max(1);
        return shape;
    }
    for (i, &len) in axes.iter().rev().enumerate() {
        shape[(AXES - 1).saturating_sub(i)] *= len as usize;
    }
    shape
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let decoded = match stream.get(1) {
            Some(4) => block::decode::<f32>(stream, out),
            Some(8) => block::decode::<f64>(stream, out),
            _ => None,
        };
        decoded.ok_or_else(|| {
            let (bytes, room) = (stream.len(), out.len());
            Error::corrupt(format!("{NAME}: {bytes} bytes do not hold a block of {room} bytes"))
        })
    }
}
