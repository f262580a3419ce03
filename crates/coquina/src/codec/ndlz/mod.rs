//! NDLZ: blocks of two axes and items of one byte, in cells of 4 by 4 or 8 by 8, of which rows repeat earlier ones.
//!
//! In: a block as rows of bytes. Out: the shape, then a token for each cell, in C order.
//! The parameter byte is the side of a cell. Source: `docs/formats/codecs.md`, "NDLZ".
//! Invariant: fills its output exactly or fails; a stream says all that its decoder needs.

mod decode;
mod encode;
mod tokens;

use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Parameter, Streams, no_dictionary};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;

pub(super) struct Ndlz;

/// The number of axes, and two lengths, in front of the tokens.
const HEADER_BYTES: usize = 9;
const AXES: u8 = 2;

/// The side that the parameter byte says.
fn side(meta: u8) -> Option<usize> {
    matches!(meta, 4 | 8).then_some(meta.into())
}

/// How a block is cut into cells.
#[derive(Clone, Copy)]
struct Cells {
    height: usize,
    width: usize,
    side: usize,
}

/// One cell: where its first byte is, and its own height and width, less than the side at the far edges.
#[derive(Clone, Copy)]
struct Cell {
    first: usize,
    height: usize,
    width: usize,
}

impl Cells {
    /// All cells, in their order.
    fn each(self) -> impl Iterator<Item = Cell> {
        (0..self.height).step_by(self.side).flat_map(move |top| {
            (0..self.width).step_by(self.side).map(move |left| Cell {
                first: top * self.width + left,
                height: self.side.min(self.height - top),
                width: self.side.min(self.width - left),
            })
        })
    }

    fn is_whole(self, cell: &Cell) -> bool {
        (cell.height, cell.width) == (self.side, self.side)
    }
}

struct Encoder {
    side: Option<usize>,
    layout: BlockLayout,
}

struct Decoder {
    meta: u8,
}

impl Codec for Ndlz {
    fn name(&self) -> &'static str {
        "ndlz"
    }

    fn id(&self) -> u8 {
        32
    }

    fn format(&self) -> u8 {
        6
    }

    /// Items of more bytes are coded a byte plane after another.
    fn splits(&self, _level: u8) -> bool {
        true
    }

    fn streams(&self) -> Streams {
        Streams::Planes
    }

    fn parameter(&self) -> Option<Parameter> {
        Some(Parameter { about: "the side of a cell, 4 or 8", is_signed: false })
    }

    fn check(&self, meta: u8, _typesize: usize, layout: &BlockLayout) -> Result<()> {
        if side(meta).is_none() {
            return Err(Error::invalid(format!(
                "ndlz: parameter {meta}: takes 4 or 8, the side of a cell, as (\"ndlz\", 4)"
            )));
        }
        match layout.shape() {
            [_, _] => Ok(()),
            [] => Err(Error::invalid("ndlz: needs the axes of an array; only chunks of arrays take it")),
            shape => {
                Err(Error::invalid(format!("ndlz: takes arrays of 2 axes, not {}: reshape it", shape.len())))
            }
        }
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Encoder { side: side(options.meta), layout: options.layout }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Decoder { meta: options.meta }))
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let &[height, width] = self.layout.shape() else { return Ok(None) };
        let (height, width) = (height as usize, width as usize);
        let is_block = height.checked_mul(width) == Some(stream.len());
        Ok(self.side.filter(|_| is_block).and_then(|side| {
            let cells = Cells { height, width, side };
            encode::encode(cells, stream, out)
        }))
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let Some(side) = side(self.meta) else {
            return Err(Error::corrupt(format!("ndlz: cells of side {}: takes 4 or 8", self.meta)));
        };
        decode::decode(side, stream, out)
            .ok_or_else(|| Error::corrupt(format!("ndlz: {} bytes do not hold {}", stream.len(), out.len())))
    }
}

#[cfg(test)]
mod tests;
