//! HTJ2K (32033): a chunk is an image, and stored as one code-stream of high-throughput JPEG 2000.
//!
//! In: a code-stream, which says what the image is. Out: samples. Its coder is that of the codec 40, from outside of
//! the engine: without it the filter is as if it were not known.
//! Source: `docs/formats/hdf5-filters.md`, "HTJ2K".

use super::{Filter, append, value};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::codec::{self, DecodeOptions, EncodeOptions};

/// The codec of the same streams.
const CODEC: u8 = 40;
/// The parameters: version, kind of the samples, columns, rows, components.
const VERSION: u32 = 1;
/// Bits of the kind: the bytes of a sample, whether it has a sign, whether its high byte is first.
const SIZE: u32 = 0x7f;
const SIGNED: u32 = 0x80;
const BIG_ENDIAN: u32 = 0x100;
/// Bytes of an encoded chunk beyond twice its size: noise and tiny images grow.
const SLACK_BYTES: usize = 4096;

pub(super) struct Htj2k;

/// What the samples of a dataset are.
#[derive(Clone, Copy)]
struct Samples {
    bytes: usize,
    is_signed: bool,
    is_swapped: bool,
}

impl Samples {
    /// The samples that the parameters tell of. None are known if they tell nothing.
    fn new(values: &[u32]) -> Result<Option<Self>> {
        let kind = values.get(1).copied().unwrap_or(0);
        let bytes = (kind & SIZE) as usize;
        let is_known = kind & !(SIZE | SIGNED | BIG_ENDIAN) == 0 && bytes <= 2;
        if values.first().is_some_and(|&version| version != VERSION) || !is_known {
            return Err(Error::unsupported(format!("parameters {values:?}: not of version {VERSION}")));
        }
        let is_swapped = bytes == 2 && kind & BIG_ENDIAN != 0;
        Ok((bytes > 0).then_some(Self { bytes, is_signed: kind & SIGNED != 0, is_swapped }))
    }

    /// What the codec is to know of an image.
    fn layout(self, shape: &[u64]) -> BlockLayout {
        let kind = if self.is_signed { 'i' } else { 'u' };
        BlockLayout::new(shape, self.bytes, &format!("<{kind}{}", self.bytes))
    }
}

impl Filter for Htj2k {
    fn id(&self) -> u16 {
        32033
    }

    fn name(&self) -> &'static str {
        "htj2k"
    }

    fn needs_codec(&self) -> Option<u8> {
        Some(CODEC)
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        let samples = Samples::new(values)?.ok_or_else(|| {
            Error::unsupported(format!("parameters {values:?}: say nothing of the bytes of a sample"))
        })?;
        let shape = [(out.len() / samples.bytes) as u64];
        let layout = samples.layout(&shape);
        let options = DecodeOptions { typesize: samples.bytes, layout, ..DecodeOptions::default() };
        codec::by_id(CODEC)?.decoder(&options)?.decode(stored, out)?;
        if samples.is_swapped {
            swap(out);
        }
        Ok(())
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn takes(&self, plain: usize, values: &[u32]) -> bool {
        let samples = Samples::new(values).ok().flatten();
        let wanted = (2..5)
            .try_fold(samples.map_or(0, |s| s.bytes), |all, number| all.checked_mul(value(values, number)));
        plain > 0 && wanted == Some(plain) && codec::by_id(CODEC).is_ok()
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let samples = Samples::new(values)?.filter(|_| self.takes(plain.len(), values));
        let samples = samples.ok_or_else(|| {
            Error::invalid(format!("parameters {values:?}: not an image of {} bytes", plain.len()))
        })?;
        let shape = [3, 2, 4].map(|number| value(values, number) as u64);
        // One component is no axis: a short last axis would be taken for components.
        let shape = shape.get(..if shape[2] > 1 { 3 } else { 2 }).unwrap_or_default();
        let options = EncodeOptions {
            typesize: samples.bytes,
            layout: samples.layout(shape),
            ..EncodeOptions::default()
        };
        let encoder = codec::by_id(CODEC)?.encoder(&options)?;
        let mut swapped = Vec::new();
        if samples.is_swapped {
            swapped = plain.to_vec();
            swap(&mut swapped);
        }
        let plain = if samples.is_swapped { &swapped } else { plain };
        append(out, 2 * plain.len() + SLACK_BYTES, |room| {
            encoder
                .encode(plain, room)?
                .ok_or_else(|| Error::limit("an image that grows beyond twice its size"))
        })
    }
}

/// Swaps the bytes of each pair.
fn swap(bytes: &mut [u8]) {
    bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_are_of_no_image_are_refused() {
        for values in [&[2, 2, 4, 4, 1][..], &[1, 4, 4, 4, 1], &[1, 0x202, 4, 4, 1], &[1, 3]] {
            assert!(Samples::new(values).is_err(), "{values:?}");
        }
        let samples = Samples::new(&[1, 0x182, 4, 4, 1]).unwrap().unwrap();
        assert!(samples.is_signed && samples.is_swapped && samples.bytes == 2);
        assert!(Samples::new(&[]).unwrap().is_none());
        // No image has nothing in it, whether there is a coder or not.
        assert!(!Htj2k.takes(0, &[1, 2, 0, 4, 1]) && !Htj2k.takes(16, &[1, 2, 4, 4, 1]));
    }
}
