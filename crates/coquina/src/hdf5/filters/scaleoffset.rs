//! Scale-offset (6): integers less their minimum, or floats as scaled integers less theirs, in as few bits as
//! they need.
//!
//! In: a head with the number of bits and the minimum, then a bit stream. Out: the elements in the file's
//! byte order.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "Scale-offset".
//! Invariant: floats are computed in their own width, in the order of operations of HDF5, so results are
//! equal to it.

use super::Filter;
use super::bits::{low_bytes, unpack};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// Where the codes start: the number of bits (4), the width of the minimum (1), the minimum (8), zeros.
const HEAD_BYTES: usize = 21;
/// Kind 0: floats times a power of ten.
const DECIMAL: u32 = 0;
/// Kind 2: integers.
const INTEGER: u32 = 2;

pub(super) struct ScaleOffset;

impl Filter for ScaleOffset {
    fn id(&self) -> u16 {
        6
    }

    fn name(&self) -> &'static str {
        "scaleoffset"
    }

    fn decoded_bytes(&self, _stored: &[u8], values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(Values::read(values)?.bytes()?))
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, values, out)
    }
}

/// The parameters of the filter.
struct Values {
    kind: u32,
    /// The power of ten for floats; the number of bits for integers, 0 if the filter found it.
    scale: i32,
    count: u32,
    is_float: bool,
    size: u32,
    is_big_endian: bool,
    /// The bits of the fill value.
    fill: Option<u64>,
}

/// What the codes of a chunk mean.
struct Codes {
    minbits: u32,
    /// As the file has it: the bits of a float, or an integer.
    minval: u64,
    /// The code for `fill`, if there is a fill value.
    fill_code: Option<u64>,
    fill: u64,
    is_big_endian: bool,
}

impl Values {
    fn read(values: &[u32]) -> Result<Self> {
        let value = |number: usize| {
            let cut = || Error::corrupt(format!("scaleoffset: {} parameters", values.len()));
            values.get(number).copied().ok_or_else(cut)
        };
        let fill_word = |number| values.get(number).copied().unwrap_or_default();
        let has_fill = value(7)? != 0;
        Self {
            kind: value(0)?,
            scale: value(1)?.cast_signed(),
            count: value(2)?,
            is_float: value(3)? == 1,
            size: value(4)?,
            is_big_endian: value(6)? == 1,
            fill: has_fill.then(|| u64::from(fill_word(9)) << 32 | u64::from(fill_word(8))),
        }
        .check()
    }

    fn check(self) -> Result<Self> {
        let Self { kind, is_float, size, .. } = self;
        let is_known = match (kind, is_float) {
            (DECIMAL, true) => [4, 8].contains(&size),
            (INTEGER, false) => [1, 2, 4, 8].contains(&size),
            _ => false,
        };
        if is_known {
            return Ok(self);
        }
        let numbers = if is_float { "floats" } else { "integers" };
        Err(Error::unsupported(format!("scaleoffset: kind {kind} for {numbers} of {size} bytes")))
    }

    /// Bytes of the elements.
    fn bytes(&self) -> Result<usize> {
        let bytes = u64::from(self.count) * u64::from(self.size);
        usize::try_from(bytes).map_err(|_| Error::corrupt(format!("scaleoffset: {bytes} bytes of elements")))
    }

    /// Whether it was asked for as many bits as elements have: then chunks are stored as they are, without
    /// head.
    fn is_plain(&self) -> bool {
        self.kind == INTEGER && i64::from(self.scale) == i64::from(self.size) * 8
    }

    fn codes(&self, head: &mut ByteReader<'_>) -> Result<Codes> {
        let minbits = head.u32_le("scaleoffset: minbits")?;
        if minbits > self.size * 8 {
            let sentence = format!("scaleoffset: minbits: {minbits} for elements of {} bytes", self.size);
            return Err(Error::corrupt(sentence));
        }
        let width = head.u8("scaleoffset: width of the minimum")?;
        let minval = u64::from_le_bytes(head.array("scaleoffset: minimum")?);
        let minval = if width < 8 { minval & ((1 << (8 * width)) - 1) } else { minval };
        // Elements of `minbits` = 64 are never coded, so the shift is always possible where it counts.
        let ones = 1_u64.checked_shl(minbits).map_or(u64::MAX, |end| end - 1);
        let (fill_code, fill) = (self.fill.map(|_| ones), self.fill.unwrap_or_default());
        Ok(Codes { minbits, minval, fill_code, fill, is_big_endian: self.is_big_endian })
    }
}

impl Codes {
    /// The elements of `S` bytes, by what a code means where it is not the fill value's.
    fn decode<const S: usize>(&self, body: &[u8], out: &mut [u8], value: impl Fn(u64) -> u64) -> Option<()> {
        let item = |code| {
            let bits = if self.fill_code == Some(code) { self.fill } else { value(code) };
            low_bytes::<S>(bits, self.is_big_endian)
        };
        if self.minbits == 0 {
            out.as_chunks_mut().0.fill(item(0));
            return Some(());
        }
        unpack(body, self.minbits, out, item)
    }

    fn integers<const S: usize>(&self, body: &[u8], out: &mut [u8]) -> Option<()> {
        self.decode::<S>(body, out, |code| code.wrapping_add(self.minval))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits of an f32 are the low half of the minimum")]
    fn floats32(&self, body: &[u8], out: &mut [u8], scale: i32) -> Option<()> {
        let (min, power) = (f32::from_bits(self.minval as u32), 10_f32.powf(scale as f32));
        self.decode::<4>(body, out, |code| u64::from((code as f32 / power + min).to_bits()))
    }

    fn floats64(&self, body: &[u8], out: &mut [u8], scale: i32) -> Option<()> {
        let (min, power) = (f64::from_bits(self.minval), 10_f64.powf(f64::from(scale)));
        self.decode::<8>(body, out, |code| (code as f64 / power + min).to_bits())
    }
}

/// Fills `out` with the elements.
pub(super) fn decode(stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
    let values = Values::read(values)?;
    if values.bytes()? != out.len() {
        let (count, size) = (values.count, values.size);
        let sentence =
            format!("scaleoffset: {count} elements of {size} bytes in place of {} bytes", out.len());
        return Err(Error::corrupt(sentence));
    }
    let cut = || Error::truncated(format!("scaleoffset: {} bytes for {}", stored.len(), out.len()));
    if values.is_plain() {
        out.copy_from_slice(stored.get(..out.len()).ok_or_else(cut)?);
        return Ok(());
    }
    let codes = values.codes(&mut ByteReader::new(stored))?;
    let body = stored.get(HEAD_BYTES..).ok_or_else(cut)?;
    if codes.minbits == values.size * 8 {
        // Nothing was gained: the elements themselves, little-endian in every file.
        out.copy_from_slice(body.get(..out.len()).ok_or_else(cut)?);
        if values.is_big_endian {
            out.chunks_exact_mut(values.size as usize).for_each(<[u8]>::reverse);
        }
        return Ok(());
    }
    let out_bytes = out.len();
    match (values.is_float, values.size) {
        (true, 4) => codes.floats32(body, out, values.scale),
        (true, _) => codes.floats64(body, out, values.scale),
        (false, 1) => codes.integers::<1>(body, out),
        (false, 2) => codes.integers::<2>(body, out),
        (false, 4) => codes.integers::<4>(body, out),
        (false, _) => codes.integers::<8>(body, out),
    }
    .ok_or_else(|| Error::truncated(format!("scaleoffset: {} bytes for {out_bytes}", stored.len())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bits::BitWriter;
    use super::*;

    fn values(head: [u32; 8], fill: u64) -> Vec<u32> {
        let words = [fill, fill >> 32].map(|word| u32::try_from(word & 0xffff_ffff).unwrap());
        [&head[..], &words, &[0; 10]].concat()
    }

    /// A chunk with these codes.
    fn pack(minbits: u32, minval: u64, codes: &[u64]) -> Vec<u8> {
        let mut writer = BitWriter::default();
        writer.put(u64::from(minbits.swap_bytes()), 32);
        writer.put(8, 8);
        writer.put(minval.swap_bytes(), 64);
        writer.put(0, 64);
        codes.iter().for_each(|&code| writer.put(code, minbits));
        writer.put(0, 8);
        writer.bytes
    }

    fn unpack_all(stored: &[u8], values: &[u32]) -> Result<Vec<u8>> {
        let bytes = ScaleOffset.decoded_bytes(stored, values)?.unwrap();
        let (mut zeros, mut ones) = (vec![0; bytes], vec![0xff; bytes]);
        decode(stored, values, &mut zeros)?;
        decode(stored, values, &mut ones)?;
        assert_eq!(zeros, ones);
        Ok(zeros)
    }

    proptest! {
        #[test]
        fn integers_are_what_was_packed(
            size in (0..4_u32).prop_map(|power| 1 << power),
            bits in 0..64_u32,
            min: u64,
            fill in prop::option::of(any::<u64>()),
            is_big_endian: bool,
            seeds in prop::collection::vec(any::<u64>(), 0..70),
        ) {
            let minbits = bits % (size * 8);
            let codes: Vec<u64> = seeds.iter().map(|seed| seed & ((1 << minbits) - 1)).collect();
            let count = u32::try_from(codes.len()).unwrap();
            let head = [INTEGER, 0, count, 0, size, 1, is_big_endian.into(), fill.is_some().into()];
            let found = unpack_all(&pack(minbits, min, &codes), &values(head, fill.unwrap_or_default())).unwrap();
            let expected = codes.iter().flat_map(|&code| {
                let filled = fill.filter(|_| code == (1 << minbits) - 1);
                let mut bytes = filled.unwrap_or(code.wrapping_add(min)).to_le_bytes()[..size as usize].to_vec();
                if is_big_endian {
                    bytes.reverse();
                }
                bytes
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error(
            stored: Vec<u8>,
            minbits in 0..80_u32,
            head in [0..4_u32, 0..40_u32, 0..50_u32, 0..3_u32, 0..10_u32, 0..2_u32, 0..2_u32, 0..2_u32],
        ) {
            let stored = [&minbits.to_le_bytes(), &stored[..]].concat();
            let _ = unpack_all(&stored, &values(head, 77));
        }
    }

    #[test]
    fn floats_are_divided_then_moved() {
        let stored = pack(8, u64::from(1.25_f32.to_bits()), &[0, 25, 150, 255]);
        let found = unpack_all(&stored, &values([DECIMAL, 2, 4, 1, 4, 0, 0, 1], u64::from(7_f32.to_bits())));
        let expected = [1.25_f32, 1.5, 2.75, 7.0].map(f32::to_le_bytes).concat();
        assert_eq!(found.unwrap(), expected);
        let stored = pack(20, (-3.5_f64).to_bits(), &[0, 7, 1_048_575]);
        let found = unpack_all(&stored, &values([DECIMAL, 3, 3, 1, 8, 0, 1, 0], 0)).unwrap();
        let expected = [0_f64, 7.0, 1_048_575.0].map(|code| (code / 1000.0 - 3.5).to_be_bytes()).concat();
        assert_eq!(found, expected);
    }

    #[test]
    fn elements_of_all_bits_are_not_coded() {
        let stored = pack(16, 5, &[0x0102, 0x0304]);
        let of_order = |order| unpack_all(&stored, &values([INTEGER, 0, 2, 0, 2, 1, order, 0], 0)).unwrap();
        assert_eq!((of_order(0), of_order(1)), (vec![1, 2, 3, 4], vec![2, 1, 4, 3]));
        let plain = unpack_all(&[9, 8, 7, 6], &values([INTEGER, 16, 2, 0, 2, 1, 1, 0], 0)).unwrap();
        assert_eq!(plain, [9, 8, 7, 6]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let values = values([INTEGER, 0, 4, 0, 2, 1, 0, 0], 0);
        let stored = pack(9, 0, &[1, 2, 3, 4]);
        assert!(decode(&stored, &values, &mut [0; 8]).is_ok());
        assert!(decode(&stored, &values, &mut [0; 6]).is_err());
        for len in 0..HEAD_BYTES + 5 {
            assert!(decode(&stored[..len], &values, &mut [0; 8]).is_err(), "{len}");
        }
        assert!(decode(&pack(17, 0, &[1, 2, 3, 4]), &values, &mut [0; 8]).is_err());
        assert!(decode(&stored, &values[..7], &mut [0; 8]).is_err());
    }
}
