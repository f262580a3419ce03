//! Bytes that are far away: each question takes long, however little it asks for.
//!
//! In: a source that answers many ranges in one go, [`Ranges`]. Out: [`Far`], which is read as any other source is.
//! Who knows what will be read has it held before ([`ReadAt::hold`]): the ranges are put together to a few requests,
//! asked for at once, and kept until the [`Held`] is dropped. What was not held is asked for when it is read.
//! Invariant: no byte differs from what the source gives, whether it was held or not.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use super::error::{Error, Result};
use super::held::{Held, Piece, Pieces};
use super::io::{ReadAt, ends_early};

/// Ranges with fewer bytes between them are asked for as one: to wait for an answer takes longer than to get these.
pub(crate) const GAP_BYTES: u64 = 32 << 10;
/// Longer requests are cut, so that several may be under way.
pub(crate) const REQUEST_BYTES_MAX: u64 = 8 << 20;

/// What is far away.
pub trait Ranges: Send + Sync {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all these ranges, in their order: one answer.
    ///
    /// # Errors
    /// What the source says.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Piece>>;

    /// The bytes of one range that nobody foresaw. What stands around it may be kept.
    ///
    /// # Errors
    /// What the source says.
    fn read(&self, range: Range<u64>) -> Result<Piece>;
}

/// A source that is far away, read at positions.
pub struct Far {
    source: Box<dyn Ranges>,
    held: RwLock<Vec<Weak<Pieces>>>,
}

impl Far {
    /// Reads from this source.
    pub fn new(source: Box<dyn Ranges>) -> Self {
        Self { source, held: RwLock::default() }
    }

    /// What is held now by anybody.
    fn held(&self) -> Vec<Arc<Pieces>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.iter().filter_map(Weak::upgrade).collect()
    }

    fn has(&self, offset: u64, bytes: usize) -> bool {
        offset.checked_add(bytes as u64).is_some_and(|end| end <= self.source.len())
    }
}

impl ReadAt for Far {
    fn len(&self) -> Result<u64> {
        Ok(self.source.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        if !self.has(offset, buffer.len()) {
            return Err(ends_early(buffer, offset));
        }
        if buffer.is_empty() || self.held().iter().any(|pieces| pieces.read(buffer, offset)) {
            return Ok(());
        }
        let piece = self.source.read(offset..offset + buffer.len() as u64)?;
        let bytes = checked(&piece, offset, buffer.len())?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn hold(&self, ranges: &[Range<u64>]) -> Result<Held> {
        let mut held = self.held();
        let len = self.source.len();
        let ranges: Vec<_> = ranges.iter().map(|range| range.start.min(len)..range.end.min(len)).collect();
        // What serves none of them is not kept alive for them.
        held.retain(|pieces| ranges.iter().any(|range| !range.is_empty() && pieces.holds(range)));
        let missing = ranges.into_iter().filter(|range| !held.iter().any(|pieces| pieces.holds(range)));
        let requests = requests(missing.collect(), GAP_BYTES, REQUEST_BYTES_MAX);
        if requests.is_empty() {
            return Ok(Held::new(held));
        }
        let fetched = self.source.fetch(&requests)?;
        if fetched.len() != requests.len() {
            let (asked, found) = (requests.len(), fetched.len());
            return Err(Error::truncated(format!("{found} answers to {asked} ranges")));
        }
        let mut pieces = Vec::with_capacity(fetched.len());
        for (range, piece) in requests.into_iter().zip(fetched) {
            let bytes = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            checked(&piece, range.start, bytes)?;
            pieces.push((range.start, piece));
        }
        let pieces = Arc::new(Pieces::new(pieces));
        let mut all = self.held.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|pieces| pieces.strong_count() > 0);
        all.push(Arc::downgrade(&pieces));
        held.push(pieces);
        Ok(Held::new(held))
    }

    fn is_far(&self) -> bool {
        true
    }
}

/// The bytes of a piece, if there are as many as were asked for.
fn checked(piece: &Piece, offset: u64, bytes: usize) -> Result<&[u8]> {
    let found = (**piece).as_ref();
    if found.len() != bytes {
        let found = found.len();
        return Err(Error::truncated(format!("{bytes} bytes at {offset}: the answer has {found}")));
    }
    Ok(found)
}

/// The fewest requests that have all bytes of `ranges`, in order: neighbours with at most `gap` bytes between them are
/// put together, and what is longer than `longest` is cut.
fn requests(mut ranges: Vec<Range<u64>>, gap: u64, longest: u64) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    let cut = |range: Range<u64>| {
        let count = (range.end - range.start).div_ceil(longest.max(1));
        let piece = (range.end - range.start).div_ceil(count);
        (0..count).map(move |n| range.start + n * piece..range.end.min(range.start + (n + 1) * piece))
    };
    merged.into_iter().flat_map(cut).filter(|range| !range.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    /// Counts what is asked of bytes in memory.
    struct Counted(Vec<u8>, Arc<Mutex<Vec<usize>>>);

    impl Ranges for Counted {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Piece>> {
            self.1.lock().unwrap().push(ranges.len());
            let piece = |range: &Range<u64>| -> Piece {
                let place = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
                Box::new(self.0[place].to_vec())
            };
            Ok(ranges.iter().map(piece).collect())
        }

        fn read(&self, range: Range<u64>) -> Result<Piece> {
            Ok(self.fetch(&[range])?.remove(0))
        }
    }

    fn far(bytes: &[u8]) -> (Far, Arc<Mutex<Vec<usize>>>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        (Far::new(Box::new(Counted(bytes.to_vec(), Arc::clone(&asked)))), asked)
    }

    fn naive(ranges: &[Range<u64>], len: u64) -> Vec<bool> {
        (0..len).map(|at| ranges.iter().any(|range| range.contains(&at))).collect()
    }

    proptest! {
        #[test]
        fn requests_have_all_that_is_wanted_and_no_wide_gap(
            starts in prop::collection::vec((0_u64..500, 0_u64..60), 0..20), gap in 0_u64..40, longest in 1_u64..90,
        ) {
            let ranges: Vec<_> = starts.iter().map(|&(start, len)| start..start + len).collect();
            let found = requests(ranges.clone(), gap, longest);
            prop_assert!(found.iter().all(|range| !range.is_empty() && range.end - range.start <= longest));
            prop_assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let (wanted, asked) = (naive(&ranges, 600), naive(&found, 600));
            let mut run = 0;
            for at in 0..600 {
                prop_assert!(asked[at] || !wanted[at]);
                run = if asked[at] && !wanted[at] { run + 1 } else { 0 };
                prop_assert!(run <= gap);
            }
            // Neighbours that a gap of that many bytes parts are one request, or pieces of one.
            for pair in found.windows(2) {
                prop_assert!(pair[0].end == pair[1].start || pair[1].start - pair[0].end > gap);
            }
        }

        #[test]
        fn what_is_held_is_read_without_a_question(
            starts in prop::collection::vec((0_u64..3000, 1_u64..400), 1..8), at in 0_u64..3000, len in 0_usize..500,
        ) {
            let bytes: Vec<u8> = (0..3000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
            let (far, asked) = far(&bytes);
            let ranges: Vec<_> = starts.iter().map(|&(start, len)| start..start + len).collect();
            let held = far.hold(&ranges).unwrap();
            prop_assert_eq!(asked.lock().unwrap().len(), 1);
            for range in &ranges {
                let range = range.start..range.end.min(3000);
                let mut out = vec![0; usize::try_from(range.end - range.start).unwrap()];
                far.read_exact_at(&mut out, range.start).unwrap();
                let from = usize::try_from(range.start).unwrap();
                prop_assert_eq!(&out[..], &bytes[from..from + out.len()]);
            }
            let again = far.hold(&ranges).unwrap();
            prop_assert_eq!(asked.lock().unwrap().len(), 1);
            drop((held, again));
            let mut out = vec![0; len];
            let from = usize::try_from(at).unwrap();
            match far.read_exact_at(&mut out, at) {
                Ok(()) => prop_assert_eq!(&out[..], &bytes[from..from + len]),
                Err(_) => prop_assert!(from + len > bytes.len()),
            }
        }
    }

    #[test]
    fn an_answer_of_another_length_is_an_error() {
        struct Short;
        impl Ranges for Short {
            fn len(&self) -> u64 {
                100
            }
            fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Piece>> {
                Ok(ranges.iter().map(|_| -> Piece { Box::new(vec![0; 3]) }).collect())
            }
            fn read(&self, range: Range<u64>) -> Result<Piece> {
                Ok(self.fetch(&[range])?.remove(0))
            }
        }
        let far = Far::new(Box::new(Short));
        assert!(far.hold(&[10..20, 90..95]).is_err());
        assert!(far.read_exact_at(&mut [0; 5], 10).is_err());
        assert!(far.read_exact_at(&mut [0; 5], 98).is_err());
        assert!(far.read_exact_at(&mut [0; 5], u64::MAX).is_err());
        far.read_exact_at(&mut [0; 3], 10).unwrap();
    }
}
