//! Sources that conditions need: halves as singles, one of several values of a row, and texts beside texts.

use std::any::Any;
use std::sync::Arc;

use coquina_kernels::items::{Aligned, bytes_of, items};

use super::super::columns::{Categories, ColumnValues, QueryColumn};
use super::super::numbers::numbers;
use super::super::predicates::{Comparison, Lookup};
use super::nodes::half;
use crate::array::{Bounds, BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::scratch::{with_aligned_scratch, with_scratch};
use crate::base::text_bounds::TextBounds;

/// Numbers of half precision as those of single precision.
pub(crate) struct Halves(pub(crate) Arc<dyn BoxSource>);

/// Exactly the number of these bits.
fn single_of(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    }
}

impl BoxSource for Halves {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.0.shape()
    }

    fn item_bytes(&self) -> usize {
        4
    }

    fn walk(&self) -> Walk {
        self.0.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 4, out.len())?;
        with_scratch(out.len() / 2, |halves| {
            self.0.fill(start, shape, halves)?;
            for (out, &half) in out.chunks_exact_mut(4).zip(items::<u16>(halves)) {
                out.copy_from_slice(bytes_of(&[single_of(half)]));
            }
            Ok(())
        })
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let item = self.0.uniform(start, shape)?;
        numbers::<u16>(&item).first().map(|&half| bytes_of(&[single_of(half)]).to_vec())
    }
}

/// Numbers of double precision as the nearest ones of half precision, in bits.
pub(super) struct ToHalves(pub(super) Arc<dyn BoxSource>);

/// The bits of a number that half precision has.
fn bits_of(number: f32) -> u16 {
    let sign = u16::from(number.is_sign_negative()) << 15;
    let bits = number.to_bits() & 0x7fff_ffff;
    let low = |bits: u32| u16::try_from(bits & 0xffff).unwrap_or(0);
    sign | match bits {
        0x7f80_0001.. => 0x7e00,
        0x7f80_0000 => 0x7c00,
        // The least exponent of normal numbers is -14; 127 - 15 is between the two biases.
        0x3880_0000.. => low((bits - (112 << 23)) >> 13),
        _ => low(fraction_of(number)),
    }
}

/// Numbers of single precision as those of half precision, in bits.
pub(in super::super) fn halves(singles: &[u8]) -> Vec<u8> {
    let halves = numbers::<f32>(singles).into_iter().map(|single| bits_of(half(single.into())));
    bytes_of(&halves.collect::<Vec<u16>>()).to_vec()
}

/// How many of the least numbers above 0 a subnormal number is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is whole, and less than 1024"
)]
fn fraction_of(number: f32) -> u32 {
    (number.abs() * 2_f32.powi(24)) as u32
}

impl BoxSource for ToHalves {
    fn shape(&self) -> Vec<u64> {
        self.0.shape()
    }

    fn item_bytes(&self) -> usize {
        2
    }

    fn walk(&self) -> Walk {
        self.0.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 2, out.len())?;
        with_aligned_scratch(|room| {
            let doubles = room.room(out.len() * 4);
            self.0.fill(start, shape, doubles)?;
            for (out, &double) in out.chunks_exact_mut(2).zip(items::<f64>(doubles)) {
                out.copy_from_slice(bytes_of(&[bits_of(half(double))]));
            }
            Ok(())
        })
    }
}

/// One of the values of each row, where these have axes of their own.
pub(crate) struct Element {
    pub(crate) source: Arc<dyn BoxSource>,
    /// Its place along each axis but the first.
    pub(crate) index: Vec<u64>,
}

impl Element {
    fn place(&self, start: &[u64]) -> Vec<u64> {
        start.iter().chain(&self.index).copied().collect()
    }

    fn lens(&self, shape: &[u64]) -> Vec<u64> {
        shape.iter().copied().chain(self.index.iter().map(|_| 1)).collect()
    }
}

impl BoxSource for Element {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.source.shape().into_iter().take(1).collect()
    }

    fn item_bytes(&self) -> usize {
        self.source.item_bytes()
    }

    fn walk(&self) -> Walk {
        let Walk { mut chunks, mut blocks } = self.source.walk();
        chunks.truncate(1);
        blocks.truncate(1);
        Walk { chunks, blocks }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes(), out.len())?;
        self.source.fill(&self.place(start), &self.lens(shape), out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.source.uniform(&self.place(start), &self.lens(shape))
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        self.source.bounds(&self.place(start), &self.lens(shape))
    }

    fn text_bounds(&self, start: &[u64], shape: &[u64]) -> Option<TextBounds> {
        self.source.text_bounds(&self.place(start), &self.lens(shape))
    }
}

/// How the texts of two columns compare, row by row. Rows without one are the business of the caller.
pub(super) struct TextPairs {
    pub(super) left: QueryColumn,
    pub(super) right: QueryColumn,
    pub(super) comparison: Comparison,
    pub(super) rows: u64,
}

impl BoxSource for TextPairs {
    fn shape(&self) -> Vec<u64> {
        vec![self.rows]
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        let Walk { chunks, blocks } = self.left.source().walk();
        let within = |lens: Vec<u64>| lens.into_iter().map(|len| len.min(self.rows).max(1)).collect();
        Walk { chunks: within(chunks), blocks: within(blocks) }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 1, out.len())?;
        let (&[first], &[count]) = (start, shape) else { return Ok(()) };
        let left = texts(&self.left, first, count)?;
        let right = texts(&self.right, first, count)?;
        for ((out, left), right) in out.iter_mut().zip(&left).zip(&right) {
            *out = u8::from(self.comparison.holds(left.cmp(right)));
        }
        Ok(())
    }
}

/// Items of a source, and how many bytes they are.
fn read(source: &dyn BoxSource, first: u64, count: u64) -> Result<(Aligned, usize)> {
    let bytes = usize::try_from(count).ok().and_then(|n| n.checked_mul(source.item_bytes()));
    let bytes = bytes.ok_or_else(|| Error::limit(format!("{count} items of texts")))?;
    let mut out = Aligned::new();
    source.fill(&[first], &[count], out.room(bytes))?;
    Ok((out, bytes))
}

/// The texts of some rows as UTF-8, empty where there is none.
pub(super) fn texts(column: &QueryColumn, first: u64, count: u64) -> Result<Vec<String>> {
    match &column.values {
        ColumnValues::FixedBytes(source) => {
            let (items, bytes) = read(&**source, first, count)?;
            let text = |item: &[u8]| {
                let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                String::from_utf8_lossy(&item[..len]).into_owned()
            };
            Ok(items.all()[..bytes].chunks(source.item_bytes().max(1)).map(text).collect())
        }
        ColumnValues::FixedPoints(source) => {
            let (bytes, len) = read(&**source, first, count)?;
            let text = |points: &[u32]| {
                let len = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
                let char_of = |&point: &u32| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
                points[..len].iter().map(char_of).collect()
            };
            Ok(items::<u32>(&bytes.all()[..len]).chunks((source.item_bytes() / 4).max(1)).map(text).collect())
        }
        ColumnValues::Texts { offsets, bytes } => {
            let (places, len) = read(&**offsets, first, count + 1)?;
            let places = items::<i64>(&places.all()[..len]);
            let whole = bytes.shape().first().copied().unwrap_or(0);
            let is_sound = places.windows(2).all(|pair| pair[0] <= pair[1])
                && places.first().is_some_and(|&place| place >= 0)
                && places.last().is_some_and(|&place| place.unsigned_abs() <= whole);
            if !is_sound {
                return Err(Error::corrupt(format!("texts {first} and on: their places do not ascend")));
            }
            let (start, end) = (places[0].unsigned_abs(), places[places.len() - 1].unsigned_abs());
            let (data, len) = read(&**bytes, start, end - start)?;
            let data = &data.all()[..len];
            let at = |place: i64| usize::try_from(place.unsigned_abs() - start).unwrap_or(usize::MAX);
            let text = |pair: &[i64]| String::from_utf8_lossy(&data[at(pair[0])..at(pair[1])]).into_owned();
            Ok(places.windows(2).map(text).collect())
        }
        ColumnValues::Categories { ty, codes, categories, .. } => {
            let Categories::Texts(known) = &**categories else { return Ok(Vec::new()) };
            let lookup = Lookup::new(
                Arc::clone(codes),
                *ty,
                bytes_of(&(0..known.len() as u64).collect::<Vec<_>>()),
                bytes_of(&[u64::MAX]),
            )?;
            let (places, len) = read(&lookup, first, count)?;
            let text = |&place: &u64| usize::try_from(place).ok().and_then(|at| known.get(at)).cloned();
            Ok(items::<u64>(&places.all()[..len])
                .iter()
                .map(|place| text(place).unwrap_or_default())
                .collect())
        }
        _ => Err(Error::invalid(format!("column {:?} has no texts", column.path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_numbers_that_their_bits_say() {
        for (bits, value) in [
            (0, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (1, 2_f32.powi(-24)),
            (0x0400, 2_f32.powi(-14)),
        ] {
            assert_eq!(single_of(bits).to_bits(), f32::to_bits(value), "{bits:#x}");
        }
        assert_eq!([f32::INFINITY, f32::NAN].map(bits_of), [0x7c00, 0x7e00]);
        assert!(single_of(0x7c01).is_nan() && single_of(0xfc00) == f32::NEG_INFINITY);
        for bits in 0..0x7c00_u16 {
            let single = single_of(bits);
            assert_eq!(half(single.into()), single);
            assert_eq!((bits_of(single), bits_of(-single)), (bits, bits | 0x8000));
        }
    }
}
