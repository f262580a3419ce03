//! Conditions on texts of any length: bytes of UTF-8, one text behind another, and where each of them begins.
//!
//! In: a source of `n + 1` places, 64-bit integers, and a source of bytes: text `i` is those from place `i` to place
//! `i + 1`. Out: a truth byte for each text. Texts whose length decides are not read.
//! Invariant: places from files are hostile: they must ascend and lie within the bytes, or nothing is read.

use std::borrow::Cow;
use std::sync::Arc;

use coquina_kernels::items::items;

use super::len_of;
use super::text::{Test, TextTest};
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
    test: Test<u8>,
}

impl Strings {
    /// Tests the texts that lie between `places` in `bytes`.
    ///
    /// # Errors
    /// `Invalid` for sources of more than one axis, or of items of another size.
    pub fn new(places: Arc<dyn BoxSource>, bytes: Arc<dyn BoxSource>, test: TextTest) -> Result<Self> {
        for (source, name, wanted) in [(&places, "places", PLACE_BYTES), (&bytes, "bytes of texts", 1)] {
            len_of(&**source).map_err(|e| e.at(name))?;
            let found = source.item_bytes();
            if found != wanted {
                return Err(Error::invalid(format!("{name}: items of {found} bytes, takes {wanted}")));
            }
        }
        Ok(Self { places, bytes, test: Test::new(&test, |constant| Ok(Cow::Borrowed(constant)))? })
    }

    /// Tests the texts between some places, the first of them text `first`.
    fn run(&self, places: &[i64], first: u64, out: &mut [u8]) -> Result<()> {
        let ends = checked(places, len_of(&*self.bytes)?, first)?;
        let (lens, other) = self.test.lens();
        let len = |row: usize| ends[row + 1] - ends[row];
        let mut row = 0;
        while row < out.len() {
            if !lens.contains(&len(row)) {
                out[row] = u8::from(other);
                row += 1;
                continue;
            }
            if len(row) > TEXT_BYTES_MAX {
                let (number, len) = (first + row as u64, len(row));
                return Err(Error::limit(format!(
                    "text {number}: {len} bytes, the limit is {TEXT_BYTES_MAX}"
                )));
            }
            // As many texts as are read at once, the last of them one that must be.
            let mut end = row + 1;
            let fits = |next: &usize| ends[next + 1] - ends[row] <= BATCH_BYTES;
            for next in (row + 1..out.len()).take_while(fits) {
                if lens.contains(&len(next)) {
                    end = next + 1;
                }
            }
            self.batch(&ends[row..=end], &mut out[row..end])?;
            row = end;
        }
        Ok(())
    }

    /// Tests texts that are read at once.
    fn batch(&self, ends: &[usize], out: &mut [u8]) -> Result<()> {
        let (Some(&start), Some(&end)) = (ends.first(), ends.last()) else { return Ok(()) };
        with_scratch(end - start, |room| {
            if !room.is_empty() {
                self.bytes.fill(&[start as u64], &[room.len() as u64], room)?;
            }
            for (out, text) in out.iter_mut().zip(ends.windows(2)) {
                *out = u8::from(self.test.is_passed_by(&room[text[0] - start..text[1] - start]));
            }
            Ok(())
        })
    }
}

/// Places that ascend within so many bytes.
fn checked(places: &[i64], bytes: u64, first: u64) -> Result<Vec<usize>> {
    let mut least = 0;
    let mut ends = Vec::with_capacity(places.len());
    for (number, &place) in places.iter().enumerate() {
        let found = usize::try_from(place).ok().filter(|&place| place >= least && place as u64 <= bytes);
        let Some(place) = found else {
            let number = first + number as u64;
            return Err(Error::corrupt(format!(
                "place {number} of texts: {place}, takes {least} to {bytes}, the number of their bytes"
            )));
        };
        least = place;
        ends.push(place);
    }
    Ok(ends)
}

/// Lengths along the axis of places as those along the axis of texts.
fn within(lens: &[u64], texts: u64) -> Vec<u64> {
    lens.iter().map(|&len| len.min(texts).max(1)).collect()
}

impl BoxSource for Strings {
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
