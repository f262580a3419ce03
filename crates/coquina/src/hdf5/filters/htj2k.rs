//! HTJ2K (32033): a chunk is an image, and stored as one code-stream of high-throughput JPEG 2000.
//!
//! In: a code-stream, which says what the image is. Out: samples. Its coder is that of the codec 40, from outside of
//! the engine: without it the filter is as if it were not known.
//! Source: `docs/formats/hdf5-filters.md`, "HTJ2K".

use super::{Filter, append, value};
use crate::base::bytes::ByteReader;
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
/// Of a code-stream: its first two markers, and the bit of a component that says that samples have a sign.
const START: [u8; 4] = [0xff, 0x4f, 0xff, 0x51];
const STREAM_SIGNED: u8 = 0x80;
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

    /// Those of a code-stream that makes so many bytes, for writers that gave no parameters: their bytes follow from
    /// the bytes of a chunk, and so from the dtype; the first component says whether they have a sign.
    ///
    /// Source: ISO/IEC 15444-1, A.5.1 "Image and tile size (SIZ)".
    fn of_stream(stored: &[u8], out_bytes: usize) -> Result<Self> {
        let mut stream = ByteReader::new(stored);
        if stream.array::<4>("start of the code-stream")? != START {
            return Err(Error::corrupt("no code-stream: it does not start with the markers SOC and SIZ"));
        }
        stream.array::<4>("length and capabilities of SIZ")?;
        let mut next = |field| stream.array(field).map(u32::from_be_bytes);
        let (right, bottom) = (next("width")?, next("height")?);
        let (left, top) = (next("left edge")?, next("top edge")?);
        stream.array::<16>("tiles")?;
        let components = u16::from_be_bytes(stream.array("components")?);
        let [kind] = stream.array("precision of the first component")?;
        let (width, height) = (u64::from(right.saturating_sub(left)), u64::from(bottom.saturating_sub(top)));
        let samples = width.checked_mul(height).and_then(|area| area.checked_mul(u64::from(components)));
        let bytes = [1, 2]
            .into_iter()
            .find(|&bytes| samples.and_then(|samples| samples.checked_mul(bytes)) == Some(out_bytes as u64));
        let bytes = bytes.ok_or_else(|| {
            let image = format!("{width} by {height} samples of {components} components");
            Error::unsupported(format!("{image} in a chunk of {out_bytes} bytes, and no parameters"))
        })?;
        Ok(Self {
            bytes: if bytes == 1 { 1 } else { 2 },
            is_signed: kind & STREAM_SIGNED != 0,
            is_swapped: false,
        })
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
        let samples = match Samples::new(values)? {
            Some(samples) => samples,
            None => Samples::of_stream(stored, out.len())?,
        };
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

    /// The start of a stream of 48 by 64 samples of one component of this kind.
    fn stream(kind: u8) -> Vec<u8> {
        let mut stream = START.to_vec();
        stream.extend([0, 41, 0x40, 0]);
        for number in [50_u32, 67, 2, 3, 48, 64, 0, 0] {
            stream.extend(number.to_be_bytes());
        }
        stream.extend([0, 1, kind, 1, 1]);
        stream
    }

    #[test]
    fn a_stream_says_what_parameters_do_not() {
        for (kind, is_signed) in [(15, false), (0x8f, true), (7, false), (0x80 | 7, true)] {
            for bytes in [1, 2] {
                let found = Samples::of_stream(&stream(kind), bytes * 48 * 64).unwrap();
                assert_eq!((found.bytes, found.is_signed, found.is_swapped), (bytes, is_signed, false));
            }
        }
        for bytes in [0, 1, 48 * 64 - 1, 3 * 48 * 64, usize::MAX] {
            assert!(Samples::of_stream(&stream(15), bytes).is_err(), "{bytes}");
        }
        let whole = stream(15);
        for end in 0..43 {
            assert!(Samples::of_stream(&whole[..end], 2 * 48 * 64).is_err(), "{end}");
        }
    }

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
