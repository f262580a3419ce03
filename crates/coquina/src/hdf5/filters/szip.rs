//! Szip (4): the adaptive entropy coder of CCSDS 121, in the form that HDF5 uses.
//!
//! In: the number of bytes, then a bit stream of blocks of samples. Out: elements in the file's byte order.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "Szip".
//! Invariant: no sample leaves its number of bits, whatever the stream says.

use coquina_kernels::{best_level, unshuffle};

use super::Filter;
use super::bits::{BitReader, low_bytes};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// Bit of the mask: samples of more than a byte are big-endian.
const MSB: u32 = 16;
/// Bit of the mask: samples were predicted by the one before.
const NN: u32 = 32;
/// The most samples of a block, and blocks of a scanline.
const BLOCK_MAX: u32 = 32;
const BLOCKS_MAX: u32 = 128;
/// A run of zero blocks written as this one reaches to the end of the interval or of a segment.
const REST_OF_SEGMENT: usize = 5;
/// Blocks of a segment.
const SEGMENT: usize = 64;

pub(super) struct Szip;

impl Filter for Szip {
    fn id(&self) -> u16 {
        4
    }

    fn name(&self) -> &'static str {
        "szip"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(ByteReader::new(stored).u32_le("szip: number of bytes")? as usize))
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, values, out)
    }
}

/// How samples are cut and coded.
struct Coding {
    is_predicted: bool,
    is_big_endian: bool,
    /// Samples of a block.
    block: usize,
    /// Bits of a sample, at most 24.
    bits: u32,
    /// Bytes in which a sample is kept.
    bytes: usize,
    /// Samples of a scanline.
    scanline: usize,
    /// How many byte planes the elements were cut in before.
    planes: usize,
}

impl Coding {
    fn read(values: &[u32]) -> Result<Self> {
        let Some(&[mask, block, bits, scanline]) = values.first_chunk() else {
            return Err(Error::corrupt(format!("szip: {} parameters", values.len())));
        };
        if block == 0
            || block > BLOCK_MAX
            || block % 2 != 0
            || scanline == 0
            || scanline > BLOCKS_MAX * BLOCK_MAX
        {
            let sentence = format!("szip: blocks of {block} samples in scanlines of {scanline}");
            return Err(Error::corrupt(sentence));
        }
        let (bytes, planes) = match bits {
            1..=8 => (1, 1),
            9..=16 => (2, 1),
            17..=24 => (4, 1),
            32 => (1, 4),
            64 => (1, 8),
            _ => return Err(Error::unsupported(format!("szip: samples of {bits} bits"))),
        };
        Ok(Self {
            is_predicted: mask & NN != 0,
            is_big_endian: mask & MSB != 0,
            block: block as usize,
            bits: if planes > 1 { 8 } else { bits },
            bytes,
            scanline: scanline as usize,
            planes,
        })
    }

    /// The largest sample.
    fn sample_max(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Fills `out` with the samples of the stream.
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        match self.bytes {
            1 => self.scanlines::<1>(stream, out),
            2 => self.scanlines::<2>(stream, out),
            _ => self.scanlines::<4>(stream, out),
        }
    }

    fn scanlines<const S: usize>(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let (samples, odd) = out.as_chunks_mut::<S>();
        if !odd.is_empty() {
            let sentence = format!("szip: {} bytes behind the last sample of {S}", odd.len());
            return Err(Error::corrupt(sentence));
        }
        let blocks = self.scanline.div_ceil(self.block);
        let mut interval = Interval::new(self, stream, blocks * self.block);
        for (number, scanline) in samples.chunks_mut(self.scanline).enumerate() {
            // Of a cut scanline the blocks behind its end say nothing.
            interval.decode(scanline.len()).map_err(|error| error.at(format!("szip: scanline {number}")))?;
            for (slot, sample) in scanline.iter_mut().zip(&interval.samples) {
                *slot = low_bytes(u64::from(*sample), self.is_big_endian);
            }
        }
        Ok(())
    }
}

/// One scanline at a time, padded to whole blocks.
struct Interval<'a> {
    coding: &'a Coding,
    reader: BitReader<'a>,
    /// Bits of a block's id.
    id_bits: u32,
    /// The samples; before prediction is undone, the residuals behind the reference.
    samples: Vec<u32>,
}

impl<'a> Interval<'a> {
    fn new(coding: &'a Coding, stream: &'a [u8], len: usize) -> Self {
        let id_bits = match coding.bits {
            ..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        Self { coding, reader: BitReader::new(stream), id_bits, samples: vec![0; len] }
    }

    /// Decodes the blocks that hold the first `len` samples.
    fn decode(&mut self, len: usize) -> Result<()> {
        let block = self.coding.block;
        let (blocks, wanted) = (self.samples.len() / block, len.div_ceil(block));
        let mut done = 0;
        while done < wanted {
            let cut = || Error::truncated(format!("block {done}: the stream ends"));
            let residuals = self.samples.get_mut(done * block..).unwrap_or_default();
            let mut coder = Block {
                reader: &mut self.reader,
                bits: self.coding.bits,
                has_reference: self.coding.is_predicted && done == 0,
            };
            let id = coder.reader.take(self.id_bits).ok_or_else(cut)?;
            let is_low = id == 0 && coder.reader.take(1).ok_or_else(cut)? == 0;
            if is_low {
                let zeros = coder.zero_run(residuals, done, blocks).ok_or_else(cut)?;
                let Some(run) = residuals.get_mut(..zeros.saturating_mul(block)) else {
                    return Err(Error::corrupt(format!(
                        "block {done}: {zeros} blocks of zeros, {blocks} in all"
                    )));
                };
                run.iter_mut().skip(usize::from(coder.has_reference)).for_each(|residual| *residual = 0);
                done += zeros;
                continue;
            }
            let residuals = residuals.get_mut(..block).unwrap_or_default();
            let seen = coder.residuals(residuals, id, self.id_bits).ok_or_else(cut)?;
            if seen > u64::from(self.coding.sample_max()) {
                let bits = self.coding.bits;
                return Err(Error::corrupt(format!("block {done}: a residual of more than {bits} bits")));
            }
            done += 1;
        }
        if self.coding.is_predicted {
            unpredict(self.samples.get_mut(..len).unwrap_or_default(), self.coding.sample_max());
        }
        Ok(())
    }
}

/// The coded form of one block, or of a run of blocks of zeros.
struct Block<'r, 'a> {
    reader: &'r mut BitReader<'a>,
    bits: u32,
    /// The first sample stands as it is in place of its residual.
    has_reference: bool,
}

impl Block<'_, '_> {
    #[inline]
    fn sample(&mut self) -> Option<u32> {
        u32::try_from(self.reader.take(self.bits)?).ok()
    }

    /// Puts the reference, if there is one; returns the places behind it.
    #[inline]
    fn reference<'s>(&mut self, samples: &'s mut [u32]) -> Option<&'s mut [u32]> {
        if !self.has_reference {
            return Some(samples);
        }
        let (first, rest) = samples.split_first_mut()?;
        *first = self.sample()?;
        Some(rest)
    }

    /// How many blocks from `done` on, out of `blocks`, are zeros; puts the reference.
    fn zero_run(&mut self, samples: &mut [u32], done: usize, blocks: usize) -> Option<usize> {
        self.reference(samples)?;
        let run = self.reader.zeros()? as usize + 1;
        Some(match run {
            ..REST_OF_SEGMENT => run,
            REST_OF_SEGMENT => (blocks - done).min(SEGMENT - done % SEGMENT),
            _ => run - 1,
        })
    }

    /// Decodes a block that is not zeros; returns the bits that any residual has set.
    #[inline]
    fn residuals(&mut self, samples: &mut [u32], id: u64, id_bits: u32) -> Option<u64> {
        if id == 0 {
            return self.second_extension(samples);
        }
        if id == (1 << id_bits) - 1 {
            for sample in samples {
                *sample = self.sample()?;
            }
            return Some(0);
        }
        let rest = self.reference(samples)?;
        self.split(rest, u32::try_from(id).ok()? - 1)
    }

    /// The high bits of all samples, each as a run of zeros, then the `low` bits of all.
    #[inline]
    fn split(&mut self, samples: &mut [u32], low: u32) -> Option<u64> {
        let (mut high_seen, mut low_seen) = (0, 0);
        for sample in &mut *samples {
            *sample = self.reader.zeros()?;
            high_seen |= *sample;
        }
        if low > 0 {
            for sample in samples {
                let bits = u32::try_from(self.reader.take(low)?).ok()?;
                low_seen |= bits;
                // What is shifted out is in `high_seen`.
                *sample = *sample << low | bits;
            }
        }
        Some(u64::from(high_seen) << low | u64::from(low_seen))
    }

    /// Pairs of samples, each as one run of zeros: `sum * (sum + 1) / 2 + second`, for the sum of both.
    ///
    /// In a block with a reference the first pair tells only its second sample.
    fn second_extension(&mut self, samples: &mut [u32]) -> Option<u64> {
        let mut seen = 0;
        let reference = if self.has_reference { Some(self.sample()?) } else { None };
        for pair in samples.as_chunks_mut::<2>().0 {
            let (mut sum, mut second) = (0, self.reader.zeros()?);
            while second > sum {
                sum += 1;
                second -= sum;
            }
            *pair = [sum - second, second];
            seen |= sum;
        }
        if let (Some(reference), Some(first)) = (reference, samples.first_mut()) {
            *first = reference;
        }
        Some(u64::from(seen))
    }
}

/// Turns residuals into samples; the first is one already.
///
/// A residual counts steps away from the sample before, to both sides in turn, as long as both sides have
/// room; then to the other side alone.
fn unpredict(samples: &mut [u32], max: u32) {
    let Some((first, rest)) = samples.split_first_mut() else { return };
    let mut x = *first;
    for sample in rest {
        let residual = *sample;
        let room = x.min(max - x);
        x = if residual <= 2 * room {
            x.wrapping_add(residual >> 1 ^ (residual & 1).wrapping_neg())
        } else if x == room {
            residual
        } else {
            max - residual
        };
        *sample = x;
    }
}

/// Fills `out` with the elements.
pub(super) fn decode(stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
    let coding = Coding::read(values)?;
    let Some((head, stream)) = stored.split_first_chunk() else {
        return Err(Error::truncated(format!("szip: {} bytes, less than the head", stored.len())));
    };
    let bytes = u32::from_le_bytes(*head);
    // The field has 32 bits, whatever the size of the chunk.
    if u64::from(bytes) != out.len() as u64 & 0xffff_ffff {
        return Err(Error::corrupt(format!("szip: {bytes} bytes in place of {}", out.len())));
    }
    if coding.planes == 1 {
        return coding.decode(stream, out);
    }
    let mut planes = vec![0; out.len()];
    coding.decode(stream, &mut planes)?;
    unshuffle(best_level(), coding.planes, &planes, out);
    Ok(())
}

#[cfg(test)]
mod tests;
