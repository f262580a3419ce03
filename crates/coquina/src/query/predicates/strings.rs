//! Conditions on texts of any length: bytes of UTF-8, one text behind another, and where each of them begins.
//!
//! In: a source of `n + 1` places, 64-bit integers, and a source of bytes: text `i` is those from place `i` to place
//! `i + 1`. Out: a truth byte for each text. Texts whose length decides are not read.
//! Invariant: places from files are hostile: they must ascend and lie within the bytes, or nothing is read.

use std::any::Any;
use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use coquina_kernels::items::items;
use coquina_kernels::{best_level, keep_picked, pick_lengths};

use super::len_of;
use super::text::{Comparison, Test, TextTest};
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// About so many bytes of texts are read at once.
const BATCH_BYTES: usize = 1 << 20;
/// No text may be longer.
const TEXT_BYTES_MAX: usize = 1 << 30;
/// Bytes of a place.
const PLACE_BYTES: usize = 8;

/// Which texts of any length pass a test.
pub struct Strings {
    places: Arc<dyn BoxSource>,
    bytes: Arc<dyn BoxSource>,
    asked: TextTest,
    test: Test<u8>,
}

impl Strings {
    /// Tests the texts that lie between `places` in `bytes`.
    ///
    /// # Errors
    /// `Invalid` for sources of more than one axis, or of items of another size.
    pub fn new(places: Arc<dyn BoxSource>, bytes: Arc<dyn BoxSource>, asked: TextTest) -> Result<Self> {
        for (source, name, wanted) in [(&places, "places", PLACE_BYTES), (&bytes, "bytes of texts", 1)] {
            len_of(&**source).map_err(|e| e.at(name))?;
            let found = source.item_bytes();
            if found != wanted {
                return Err(Error::invalid(format!("{name}: items of {found} bytes, takes {wanted}")));
            }
        }
        let test = Test::new(&asked, |constant| Ok(Cow::Borrowed(constant)))?;
        Ok(Self { places, bytes, asked, test })
    }

    /// Where each text begins, and the bytes of all texts.
    pub(crate) fn texts(&self) -> [&Arc<dyn BoxSource>; 2] {
        [&self.places, &self.bytes]
    }

    /// The test.
    pub(crate) fn asked(&self) -> &TextTest {
        &self.asked
    }

    /// Tests the texts between some places, the first of them text `first`.
    fn run(&self, places: &[i64], first: u64, out: &mut [u8]) -> Result<()> {
        check(places, len_of(&*self.bytes)?, first)?;
        let (lens, other) = self.test.lens();
        let len = |rows: Range<usize>| size(places[rows.end] - places[rows.start]);
        let is_looked_at = |row: &usize| lens.contains(&len(*row..row + 1));
        let mut row = 0;
        // Texts whose length decides are passed over.
        while let Some(begin) = (row..out.len()).find(is_looked_at) {
            out[row..begin].fill(u8::from(other));
            if len(begin..begin + 1) > TEXT_BYTES_MAX {
                let (number, len) = (first + begin as u64, len(begin..begin + 1));
                return Err(Error::limit(format!(
                    "text {number}: {len} bytes, the limit is {TEXT_BYTES_MAX}"
                )));
            }
            // As many texts as are read at once, the last of them one that must be.
            let left = if len(begin..out.len()) <= BATCH_BYTES {
                out.len()
            } else {
                (begin + 1..out.len()).find(|&next| len(begin..next + 1) > BATCH_BYTES).unwrap_or(out.len())
            };
            let end = (begin + 1..left).rfind(is_looked_at).map_or(begin + 1, |last| last + 1);
            self.batch(&places[begin..=end], &mut out[begin..end])?;
            row = end;
        }
        out[row..].fill(u8::from(other));
        Ok(())
    }

    /// Tests texts that are read at once.
    fn batch(&self, places: &[i64], out: &mut [u8]) -> Result<()> {
        let (Some(&start), Some(&end)) = (places.first(), places.last()) else { return Ok(()) };
        with_scratch(size(end - start), |room| {
            if !room.is_empty() {
                self.bytes.fill(&[start.cast_unsigned()], &[room.len() as u64], room)?;
            }
            match &self.test {
                Test::Compare(Comparison::Equal, constant) => {
                    let len = length(constant);
                    each_front(places, room, out, constant, &(len..=len));
                }
                Test::Starts(constant) => {
                    each_front(places, room, out, constant, &(length(constant)..=i64::MAX));
                }
                test => each(places, room, out, |text| test.is_passed_by(text)),
            }
            Ok(())
        })
    }
}

/// Tests the texts between places in `bytes`, which stand from the first of them on.
#[inline(always)]
fn each(places: &[i64], bytes: &[u8], out: &mut [u8], passes: impl Fn(&[u8]) -> bool) {
    let first = places.first().copied().unwrap_or(0);
    let mut start = 0;
    for (out, place) in out.iter_mut().zip(&places[1..]) {
        let end = size(place - first);
        *out = u8::from(passes(&bytes[start..end]));
        start = end;
    }
}

/// Tests whether texts begin with a constant and have a length in `lens`, by a word of each that has.
#[inline(always)]
fn each_front(places: &[i64], bytes: &[u8], out: &mut [u8], constant: &[u8], lens: &RangeInclusive<i64>) {
    const WORD: usize = size_of::<u128>();
    let mut word = [0; WORD];
    let in_word = constant.len().min(WORD);
    word[..in_word].copy_from_slice(&constant[..in_word]);
    let wanted = u128::from_le_bytes(word);
    let mask = if in_word == WORD { u128::MAX } else { (1 << (8 * in_word)) - 1 };
    let first = places.first().copied().unwrap_or(0);
    pick_lengths(best_level(), places, lens, out);
    keep_picked(out, |text| {
        let text = &bytes[size(places[text] - first)..];
        match text.first_chunk::<WORD>() {
            Some(word) if u128::from_le_bytes(*word) & mask != wanted => false,
            Some(_) if constant.len() <= WORD => true,
            // It is long, or stands near to the end.
            _ => text.starts_with(constant),
        }
    });
}

/// The length of a constant as a distance of places.
fn length(constant: &[u8]) -> i64 {
    i64::try_from(constant.len()).unwrap_or(i64::MAX)
}

/// A distance of places that have been checked.
#[inline(always)]
fn size(bytes: i64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Checks that places ascend within so many bytes.
fn check(places: &[i64], bytes: u64, first: u64) -> Result<()> {
    let is_rising = places.windows(2).fold(true, |is_rising, pair| is_rising & (pair[0] <= pair[1]));
    let is_inside =
        |place: Option<&i64>| place.is_none_or(|&place| u64::try_from(place).is_ok_and(|p| p <= bytes));
    if is_rising && is_inside(places.first()) && is_inside(places.last()) {
        return Ok(());
    }
    let mut least = 0;
    for (number, &place) in places.iter().enumerate() {
        if place < least || place.cast_unsigned() > bytes {
            let number = first + number as u64;
            return Err(Error::corrupt(format!(
                "place {number} of texts: {place}, takes {least} to {bytes}, the number of their bytes"
            )));
        }
        least = place;
    }
    Ok(())
}

/// Lengths along the axis of places as those along the axis of texts.
fn within(lens: &[u64], texts: u64) -> Vec<u64> {
    lens.iter().map(|&len| len.min(texts).max(1)).collect()
}

impl BoxSource for Strings {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.places.shape().into_iter().map(|places| places.saturating_sub(1)).collect()
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        let (Walk { chunks, blocks }, texts) = (self.places.walk(), self.shape());
        let texts = texts.first().copied().unwrap_or(0);
        Walk { chunks: within(&chunks, texts), blocks: within(&blocks, texts) }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 1, out.len())?;
        let (&[first], &[len]) = (start, shape) else { return Ok(()) };
        if len == 0 {
            return Ok(());
        }
        with_scratch((out.len() + 1) * PLACE_BYTES, |places| {
            self.places.fill(start, &[len + 1], places)?;
            self.run(items(places), first, out)
        })
    }
}
