//! What an array says of its loss: the contract, and what was reached so far.
//!
//! In and out: a small MessagePack map, which other readers show as it is. A sum over it is its last entry, so that a
//! damaged record promises nothing.
//! Source: `docs/formats/lossy.md`.

use xxhash_rust::xxh3::xxh3_64;

use super::contract::{Bound, Contract, LossyMethod};
use super::measure::Measured;
use crate::base::error::{Error, Result};

/// The layer that keeps it, which users cannot take.
pub const LAYER: &str = "coquina.lossy";
const VERSION: u64 = 1;
/// Entries of the map.
const ENTRIES: u8 = 13;
/// How chunks may have been written.
pub const WAYS: usize = 5;
/// What stands for means that are chosen for each chunk.
const CHOSEN: &str = "any";
/// The bytes of the sum with its key.
const SUM_BYTES: usize = 4 + 9;

/// What was lost so far, and by which means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The greatest distance of an item from what was given.
    pub max_error: f64,
    /// The greatest of these as a part of the number that was given.
    pub relative_error: f64,
    /// The greatest mean of the squares of distances of a write to a chunk, as parts of its peak: the distance of the least
    /// and the greatest number.
    pub mean_square: f64,
    /// How many chunks have been written rounded, truncated, by ZFP or prediction and as images, and how many as they were given.
    pub chunks: [u64; WAYS],
}

impl Reached {
    /// Nothing was lost, as nothing was written.
    pub const NOTHING: Self =
        Self { max_error: 0.0, relative_error: 0.0, mean_square: 0.0, chunks: [0; WAYS] };

    /// What a chunk lost.
    pub(super) fn of(measured: &Measured, method: Option<LossyMethod>) -> Self {
        let mut chunks = [0; WAYS];
        chunks[match method {
            Some(LossyMethod::Round) => 0,
            Some(LossyMethod::Trunc) => 1,
            // A contract has one of the two: prediction is on demand, and then ZFP is not tried.
            Some(LossyMethod::Zfp | LossyMethod::Predict) => 2,
            Some(LossyMethod::J2k | LossyMethod::Htj2k) => 3,
            None => 4,
        }] = 1;
        let &Measured { max_error, relative_error, .. } = measured;
        Self { max_error, relative_error, mean_square: measured.mean_square, chunks }
    }

    /// What the two lost together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut chunks = self.chunks;
        chunks.iter_mut().zip(other.chunks).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        Self {
            max_error: self.max_error.max(other.max_error),
            relative_error: self.relative_error.max(other.relative_error),
            mean_square: self.mean_square.max(other.mean_square),
            chunks,
        }
    }

    /// The least peak signal-to-noise ratio of a write to a chunk, in decibels.
    pub fn psnr(&self) -> f64 {
        -10.0 * self.mean_square.log10()
    }

    /// Whether it can have been measured.
    fn is_sound(&self) -> bool {
        self.max_error >= 0.0 && self.relative_error >= 0.0 && self.mean_square >= 0.0
    }
}

/// A contract, and what was reached under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// What was promised.
    pub contract: Contract,
    /// What was lost so far.
    pub reached: Reached,
}

/// The entries with numbers of chunks, in the order of [`Reached::chunks`].
const COUNTS: [&str; WAYS] = ["rounded", "truncated", "transformed", "images", "exact"];

impl Record {
    /// The stored bytes.
    pub fn write(&self) -> Vec<u8> {
        let Self { contract, reached } = self;
        let mut out = Entries(vec![0x80 | ENTRIES]);
        out.number("version", VERSION);
        out.text("bound", contract.bound().name());
        out.float("value", contract.bound().value());
        out.text("means", contract.method().map_or(CHOSEN, LossyMethod::name));
        out.float("max_error", reached.max_error);
        out.float("relative_error", reached.relative_error);
        out.float("mean_square", reached.mean_square);
        for (name, count) in COUNTS.into_iter().zip(reached.chunks) {
            out.number(name, count);
        }
        let sum = xxh3_64(&out.0);
        out.number("sum", sum);
        out.0
    }

    /// The record in stored bytes, of an array of NumPy's dtype of this text.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are none, or have changed; `Unsupported` for a later version.
    pub fn read(bytes: &[u8], dtype: &str) -> Result<Self> {
        Self::parse(bytes, dtype).map_err(|e| e.at(LAYER))
    }

    fn parse(bytes: &[u8], dtype: &str) -> Result<Self> {
        let mut entries = Reader { left: bytes };
        entries.mark(0x80 | ENTRIES)?;
        let version = entries.number("version")?;
        if version != VERSION {
            return Err(Error::unsupported(format!("version {version}: this program knows {VERSION}")));
        }
        let (name, value) = (entries.text("bound")?, entries.float("value")?);
        let method = Some(entries.text("means")?).filter(|&method| method != CHOSEN);
        let (max_error, relative_error) = (entries.float("max_error")?, entries.float("relative_error")?);
        let mean_square = entries.float("mean_square")?;
        let mut chunks = [0; WAYS];
        for (name, count) in COUNTS.into_iter().zip(&mut chunks) {
            *count = entries.number(name)?;
        }
        let sum = entries.number("sum")?;
        let summed = bytes.len().checked_sub(SUM_BYTES).and_then(|end| bytes.get(..end)).unwrap_or_default();
        if !entries.left.is_empty() || xxh3_64(summed) != sum {
            return Err(Error::corrupt("the sum of the record does not match: it has been changed"));
        }
        let contract =
            || Contract::new(Bound::of(name, value)?, method.map(LossyMethod::of).transpose()?, dtype);
        let contract = contract().map_err(|e| Error::corrupt(e.to_string()))?;
        let reached = Reached { max_error, relative_error, mean_square, chunks };
        if !reached.is_sound() {
            return Err(Error::corrupt(format!("errors {max_error}, {relative_error}, {mean_square}")));
        }
        Ok(Self { contract, reached })
    }
}

/// The entries of a map that is written: keys are short texts, numbers have 8 bytes.
struct Entries(Vec<u8>);

impl Entries {
    fn short(&mut self, text: &str) {
        self.0.push(0xa0 | u8::try_from(text.len()).unwrap_or(0));
        self.0.extend(text.as_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.short(key);
        self.short(value);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.short(key);
        self.0.push(0xcf);
        self.0.extend(value.to_be_bytes());
    }

    fn float(&mut self, key: &str, value: f64) {
        self.short(key);
        self.0.push(0xcb);
        self.0.extend(value.to_be_bytes());
    }
}

/// Reads the entries in the order in which they are written.
struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let left = self.left.len();
        let (taken, rest) = self
            .left
            .split_at_checked(count)
            .ok_or_else(|| Error::truncated(format!("{count} bytes needed, {left} left")))?;
        self.left = rest;
        Ok(taken)
    }

    fn mark(&mut self, wanted: u8) -> Result<()> {
        match self.take(1)? {
            [found] if *found == wanted => Ok(()),
            found => Err(Error::corrupt(format!("mark {found:02x?} where {wanted:#04x} belongs"))),
        }
    }

    fn short(&mut self) -> Result<&'a str> {
        let length = match self.take(1)? {
            [mark] if mark & 0xe0 == 0xa0 => usize::from(mark & 0x1f),
            found => return Err(Error::corrupt(format!("mark {found:02x?} where a text belongs"))),
        };
        std::str::from_utf8(self.take(length)?).map_err(|_| Error::corrupt("a text that is no UTF-8"))
    }

    fn key(&mut self, wanted: &str) -> Result<()> {
        let found = self.short()?;
        if found == wanted {
            Ok(())
        } else {
            Err(Error::corrupt(format!("{found:?} where {wanted:?} belongs")))
        }
    }

    fn text(&mut self, key: &str) -> Result<&'a str> {
        self.key(key)?;
        self.short()
    }

    fn bytes(&mut self, key: &str, mark: u8) -> Result<[u8; 8]> {
        self.key(key)?;
        self.mark(mark)?;
        let bytes = self.take(8)?;
        bytes.try_into().map_err(|_| Error::corrupt("a number that is not 8 bytes"))
    }

    fn number(&mut self, key: &str) -> Result<u64> {
        Ok(u64::from_be_bytes(self.bytes(key, 0xcf)?))
    }

    fn float(&mut self, key: &str) -> Result<f64> {
        Ok(f64::from_be_bytes(self.bytes(key, 0xcb)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let reached = Reached {
            max_error: 0.25,
            relative_error: 1e-3,
            mean_square: 1e-7,
            chunks: [3, 0, 70, 9, 1 << 40],
        };
        let of = |name, value, method: Option<LossyMethod>, reached| Record {
            contract: Contract::new(Bound::of(name, value).unwrap(), method, "<f4").unwrap(),
            reached,
        };
        vec![
            of("max_error", 0.5, None, reached),
            of("relative_error", 1e-3, Some(LossyMethod::Trunc), Reached::NOTHING),
            of("psnr", 60.0, Some(LossyMethod::Zfp), reached),
            of("keep_bits", 12.0, None, reached),
            of("ratio", 10.5, Some(LossyMethod::Round), reached),
        ]
    }

    #[test]
    fn records_are_read_as_written() {
        for record in records() {
            assert_eq!(Record::read(&record.write(), "<f4").unwrap(), record);
        }
    }

    #[test]
    fn no_prefix_and_no_flipped_bit_of_a_record_promises_anything() {
        for record in records() {
            let bytes = record.write();
            for end in 0..bytes.len() {
                assert!(Record::read(&bytes[..end], "<f4").is_err());
            }
            for bit in 0..bytes.len() * 8 {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(Record::read(&bytes, "<f4").is_err(), "bit {bit}");
            }
            assert!(Record::read(&[&bytes[..], &[0]].concat(), "<f4").is_err());
        }
    }

    #[test]
    fn a_record_of_items_that_cannot_be_rounded_is_damage() {
        for dtype in ["|b1", "<M8[ns]", "|S4", "", "f4", "<i1"] {
            assert!(Record::read(&records()[3].write(), dtype).is_err(), "{dtype}");
        }
    }
}
