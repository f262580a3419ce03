//! ZFP: blocks of floating-point items, coded in cells of four along each axis, with a bound on the error
//! (`zfp_accuracy`), a number of bit planes (`zfp_precision`) or a number of bits (`zfp_rate`). Lossy.
//!
//! In: one whole block of an array of 1 to 4 axes, items as they are. Out: a stream without header, padded to 64 bits.
//! The parameter byte is the power of ten of the bound; bit planes; or hundredths of the block's own size.
//! Source: `docs/formats/codecs.md`, "ZFP". The same bits as C-Blosc2 writes, and the same items as it reads.
//! Invariant: a stream is read to its end and no further, and no bytes make it panic, loop or allocate.

mod bits;
mod cells;
mod number;
mod order;
mod planes;
mod transform;

use self::bits::{BitReader, BitWriter};
use self::cells::Cells;
use self::number::Number;
use self::planes::{Planes, Progress};
use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Parameter, Streams, no_dictionary};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;

/// What the parameter byte is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Accuracy,
    Precision,
    Rate,
}

/// One of the three codecs.
pub(super) struct Zfp {
    name: &'static str,
    id: u8,
    mode: Mode,
}

pub(super) static ACCURACY: Zfp = Zfp { name: "zfp_accuracy", id: 33, mode: Mode::Accuracy };
pub(super) static PRECISION: Zfp = Zfp { name: "zfp_precision", id: 34, mode: Mode::Precision };
pub(super) static RATE: Zfp = Zfp { name: "zfp_rate", id: 35, mode: Mode::Rate };

/// The fewest items that C-Blosc2 compresses along an axis of a block.
const SIDE_MIN: u32 = 4;
const AXES_MAX: usize = 4;
/// What no cell reaches: the bits of one, and the exponent of the least number of all.
const CELL_BITS_MAX: u32 = 16_658;
const EXPONENT_MIN: i32 = -1074;
const PLANES_MAX: u32 = 64;

/// How much of a cell is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Bits that a cell takes at least; zeros follow what it needs.
    bits_min: u32,
    bits_max: u32,
    planes_max: u32,
    /// The exponent of the bound on the error.
    exponent_min: i32,
}

impl Extent {
    /// What the parameter byte asks for, for items of `width` bits, of which `exponent` are the exponent.
    fn new(mode: Mode, meta: u8, axes: usize, width: u32, exponent: u32) -> Self {
        let any =
            Self { bits_min: 1, bits_max: CELL_BITS_MAX, planes_max: PLANES_MAX, exponent_min: EXPONENT_MIN };
        let axes = u32::try_from(axes).unwrap_or(0);
        match mode {
            Mode::Accuracy => Self { exponent_min: exponent_of_ten(meta.cast_signed()), ..any },
            Mode::Precision => Self { planes_max: (u32::from(meta) + 3 + 2 * axes).min(PLANES_MAX), ..any },
            Mode::Rate => {
                // Hundredths of a cell's own bits, rounded; these are multiples of 128, so that there are no halves.
                let percent = width * 4_u32.pow(axes) * u32::from(meta);
                let bits = ((percent + 50) / 100).max(1 + exponent);
                Self { bits_min: bits, bits_max: bits, ..any }
            }
        }
    }

    /// The bit planes of a cell with that exponent.
    #[inline(always)]
    fn planes(&self, exponent: i32, axes: usize) -> u32 {
        let guard = 2 * i32::try_from(axes).unwrap_or(0) + 2;
        u32::try_from(exponent - self.exponent_min + guard).unwrap_or(0).min(self.planes_max)
    }
}

/// The power of two at or below `10^power`.
fn exponent_of_ten(power: i8) -> i32 {
    // 217706 / 2^16 is the binary logarithm of ten, near enough for all powers that a byte can say.
    (i32::from(power) * 217_706) >> 16
}

/// What keeps blocks of such an array from being coded, with what to do.
fn check_layout(name: &str, typesize: usize, layout: &BlockLayout) -> Result<()> {
    let shape = layout.shape();
    let refuse = |why: String| Err(Error::invalid(format!("{name}: {why}")));
    if shape.is_empty() {
        return refuse("needs the axes of an array; only chunks of arrays take it".into());
    }
    if shape.len() > AXES_MAX {
        return refuse(format!("takes arrays of 1 to {AXES_MAX} axes, not {}: reshape it", shape.len()));
    }
    let is_number = matches!(typesize, 4 | 8) && layout.kind().is_none_or(|kind| kind == 'f');
    if !is_number || layout.is_big_endian() {
        return refuse(format!(
            "takes little-endian float32 and float64, not items of {typesize} bytes of this dtype: convert them"
        ));
    }
    if shape.iter().any(|&size| size < SIDE_MIN) {
        return refuse(format!(
            "blocks of shape {shape:?}: takes {SIDE_MIN} items and more along each axis: give chunks= and blocks= of as many, \
             which may reach beyond the array, or leave axes out"
        ));
    }
    Ok(())
}

struct Encoder {
    mode: Mode,
    meta: u8,
    layout: BlockLayout,
}

struct Decoder {
    name: &'static str,
    mode: Mode,
    meta: u8,
    layout: BlockLayout,
}

impl Codec for Zfp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn id(&self) -> u8 {
        self.id
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
        let about = match self.mode {
            Mode::Accuracy => "the power of ten of the error that is allowed, -128 to 127",
            Mode::Precision => "the number of bit planes that are kept, less a few, 0 to 255",
            Mode::Rate => "the hundredths of its size that are kept, 1 to 255",
        };
        Some(Parameter { about, is_signed: self.mode == Mode::Accuracy })
    }

    fn check(&self, meta: u8, typesize: usize, layout: &BlockLayout) -> Result<()> {
        if meta == 0 && self.mode == Mode::Rate {
            return Err(Error::invalid(
                "zfp_rate: parameter 0: takes 1..=255, the hundredths of the size that are kept, as (\"zfp_rate\", 25)",
            ));
        }
        check_layout(self.name, typesize, layout)
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name, options.dictionary)?;
        Ok(Box::new(Encoder { mode: self.mode, meta: options.meta, layout: options.layout }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name, options.dictionary)?;
        let (name, mode, meta, layout) = (self.name, self.mode, options.meta, options.layout);
        Ok(Box::new(Decoder { name, mode, meta, layout }))
    }

    fn is_lossy(&self, _meta: u8, _text: &str) -> bool {
        true
    }
}

impl Encode for Encoder {
    /// Blocks with items that are not finite, and what is not a whole block, are better stored as they are.
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let Some(shape) = self.layout.shape_of(stream.len()) else { return Ok(None) };
        Ok(match self.layout.item_bytes() {
            Some(4) => encode::<f32>(self.mode, self.meta, shape, stream, out),
            Some(8) => encode::<f64>(self.mode, self.meta, shape, stream, out),
            _ => None,
        })
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        if self.layout.shape().is_empty() {
            let name = self.name;
            return Err(Error::unsupported(format!(
                "{name}: the chunk can be decoded through its array only"
            )));
        }
        let shape = self.layout.shape_of(out.len()).unwrap_or_default();
        let decoded = match self.layout.item_bytes() {
            Some(4) => decode::<f32>(self.mode, self.meta, shape, stream, out),
            Some(8) => decode::<f64>(self.mode, self.meta, shape, stream, out),
            _ => None,
        };
        decoded.ok_or_else(|| {
            let (name, layout) = (self.name, self.layout.shape());
            let (bytes, room) = (stream.len(), out.len());
            Error::corrupt(format!(
                "{name}: {bytes} bytes do not hold a block of shape {layout:?} in {room} bytes"
            ))
        })
    }
}

fn encode<T: Number>(mode: Mode, meta: u8, shape: &[u32], stream: &[u8], out: &mut [u8]) -> Option<usize> {
    if shape.len() > AXES_MAX {
        return None;
    }
    let extent = Extent::new(mode, meta, shape.len(), T::WIDTH, T::EXPONENT_BITS);
    let (items, bits) = (T::items(stream), BitWriter::new(out));
    match shape.len() {
        1 => encode_cells::<T, 1, 4, 1>(&extent, &Cells::new(shape)?, items, bits),
        2 => encode_cells::<T, 2, 16, 1>(&extent, &Cells::new(shape)?, items, bits),
        3 => encode_cells::<T, 3, 64, 1>(&extent, &Cells::new(shape)?, items, bits),
        4 => encode_cells::<T, 4, 256, 4>(&extent, &Cells::new(shape)?, items, bits),
        _ => None,
    }
}

fn decode<T: Number>(mode: Mode, meta: u8, shape: &[u32], stream: &[u8], out: &mut [u8]) -> Option<()> {
    // The bits of a cell of more axes could not be counted.
    if shape.len() > AXES_MAX {
        return None;
    }
    let extent = Extent::new(mode, meta, shape.len(), T::WIDTH, T::EXPONENT_BITS);
    let (items, bits) = (T::items_mut(out), BitReader::new(stream));
    match shape.len() {
        1 => decode_cells::<T, 1, 4, 1>(&extent, &Cells::new(shape)?, bits, items),
        2 => decode_cells::<T, 2, 16, 1>(&extent, &Cells::new(shape)?, bits, items),
        3 => decode_cells::<T, 3, 64, 1>(&extent, &Cells::new(shape)?, bits, items),
        4 => decode_cells::<T, 4, 256, 4>(&extent, &Cells::new(shape)?, bits, items),
        _ => None,
    }
}

/// `None` if a value is not finite, or the stream does not fit.
fn encode_cells<T: Number, const D: usize, const N: usize, const WORDS: usize>(
    extent: &Extent,
    cells: &Cells<D>,
    items: &[T::Bytes],
    mut bits: BitWriter<'_>,
) -> Option<usize> {
    for place in cells.places() {
        let cell: [T; N] = cells.gather(items, &place);
        put_cell::<T, D, N, WORDS>(extent, &cell, &mut bits)?;
        if bits.is_full() {
            return None;
        }
    }
    bits.finish()
}

fn put_cell<T: Number, const D: usize, const N: usize, const WORDS: usize>(
    extent: &Extent,
    cell: &[T; N],
    bits: &mut BitWriter<'_>,
) -> Option<()> {
    let biased = T::exponent(cell)?;
    let exponent = biased - T::BIAS;
    let planes = extent.planes(exponent, D);
    if planes == 0 || biased == 0 {
        bits.put_zeros(extent.bits_min);
        return Some(());
    }
    let head = 1 + T::EXPONENT_BITS;
    bits.put(u64::from(biased.unsigned_abs()) << 1 | 1, head);
    let mut integers = [<T::Int as number::Int>::ZERO; N];
    T::quantise(cell, exponent, &mut integers);
    let coefficients = transform::forward::<T::Int, D, N>(&mut integers);
    let mut progress = Progress { known: 0, budget: extent.bits_max - head };
    let lowest = T::WIDTH.saturating_sub(planes);
    let front = Planes::put_front(&coefficients, lowest..T::WIDTH, &mut progress, bits);
    let coefficients = Planes::of(coefficients, T::WIDTH);
    for k in (lowest..front).rev() {
        if progress.budget == 0 {
            break;
        }
        coefficients.put::<WORDS>(k, &mut progress, bits);
    }
    let spent = extent.bits_max - progress.budget;
    bits.put_zeros(extent.bits_min.saturating_sub(spent));
    Some(())
}

/// `None` if the stream ends before all cells are read.
fn decode_cells<T: Number, const D: usize, const N: usize, const WORDS: usize>(
    extent: &Extent,
    cells: &Cells<D>,
    mut bits: BitReader<'_>,
    items: &mut [T::Bytes],
) -> Option<()> {
    for place in cells.places() {
        let cell = take_cell::<T, D, N, WORDS>(extent, &mut bits);
        if bits.is_past_end() {
            return None;
        }
        cells.scatter(&cell, &place, items);
    }
    Some(())
}

fn take_cell<T: Number, const D: usize, const N: usize, const WORDS: usize>(
    extent: &Extent,
    bits: &mut BitReader<'_>,
) -> [T; N] {
    let mut cell = [T::ZERO; N];
    let end = bits.position() + extent.bits_min as usize;
    if bits.bit() {
        let biased = i32::try_from(bits.take(T::EXPONENT_BITS)).unwrap_or(0);
        let exponent = biased - T::BIAS;
        let lowest = T::WIDTH.saturating_sub(extent.planes(exponent, D));
        let mut progress = Progress { known: 0, budget: extent.bits_max - 1 - T::EXPONENT_BITS };
        let mut planes = Planes::<N>::zeros();
        for k in (lowest..T::WIDTH).rev() {
            if progress.budget == 0 {
                break;
            }
            planes.take::<WORDS>(k, &mut progress, bits);
        }
        let integers: [T::Int; N] = transform::backward::<T::Int, D, N>(&planes.coefficients(T::WIDTH));
        T::restore(&integers, exponent, &mut cell);
    }
    bits.skip_to(end);
    cell
}

#[cfg(test)]
mod tests;
