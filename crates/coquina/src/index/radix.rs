//! Sorts pairs of keys and rows in memory, on all threads.
//!
//! In: keys and their rows, which rise. Out: pairs in the order of the keys, and of the rows where these are equal.
//! Naively: a stable sort by the key. Here the pairs are first brought to their buckets, which are cut by a sample and
//! have about as many pairs each, and then each bucket is sorted by the leading bits in which its pairs differ, and
//! what comes of that again, until few are left. As no step changes the order of equal keys, pairs that all have the
//! same key are sorted already.
//! Invariant: the result does not depend on the number of threads, since there is only one.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use coquina_kernels::items::{Number, items_mut};

use super::piece::Piece;
use super::splitters::{SAMPLES_EACH, Splitters};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// About so many pairs make a bucket: it is sorted within a cache.
const BUCKET_PAIRS: usize = 1 << 14;
/// Entries are brought to their buckets in about so many groups at the same time.
const GROUPS: usize = 32;
/// Pairs that are so few are compared with each other.
const FEW: usize = 20;
/// A step looks at so many bits at most.
const STEP_BITS: u32 = 11;
/// After a step about so many pairs are to be left together.
const LEFT_BITS: u32 = 3;

/// From where keys and rows of pairs are counted.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    key: u64,
    key_bits: u32,
    row: u64,
    row_bits: u32,
}

/// The least and the greatest key of pairs, and their least and greatest row.
pub(super) struct Bounds {
    pub(super) keys: RangeInclusive<u64>,
    pub(super) rows: RangeInclusive<u64>,
}

impl Bounds {
    /// Those of the keys and rows of pieces; none without rows.
    pub(super) fn of(pieces: &[Piece]) -> Option<Self> {
        let keys = widest(pieces.iter().filter_map(Piece::bounds))?;
        let rows = widest(pieces.iter().filter_map(Piece::rows))?;
        Some(Self { keys, rows })
    }
}

/// The least of all and the greatest one.
fn widest(bounds: impl Iterator<Item = RangeInclusive<u64>>) -> Option<RangeInclusive<u64>> {
    bounds.reduce(|all, one| *all.start().min(one.start())..=*all.end().max(one.end()))
}

impl Origin {
    /// For keys and rows within these bounds.
    pub(super) fn new(bounds: &Bounds) -> Self {
        let Bounds { keys, rows } = bounds;
        let (key, row) = (*keys.start(), *rows.start());
        Self { key, key_bits: bits(keys.end() - key), row, row_bits: bits(rows.end() - row) }
    }

    /// Whether pairs have room in one number.
    pub(super) fn is_narrow(&self) -> bool {
        self.row_bits + self.key_bits <= u64::BITS && self.row_bits < u64::BITS
    }
}

/// How many bits a number has.
pub(super) fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// A key and its row.
pub(super) trait Pair: Number + Default {
    fn new(origin: &Origin, key: u64, row: u64) -> Self;
    fn key(self, origin: &Origin) -> u64;
    fn row(self, origin: &Origin) -> u64;
    /// In whose order pairs are sorted; where it is the same, they are so already.
    fn leading(self) -> u64;
}

/// Both in one number: the key stands above the row.
impl Pair for u64 {
    #[inline(always)]
    fn new(origin: &Origin, key: u64, row: u64) -> Self {
        (key - origin.key) << origin.row_bits | (row - origin.row)
    }

    #[inline(always)]
    fn key(self, origin: &Origin) -> u64 {
        (self >> origin.row_bits) + origin.key
    }

    #[inline(always)]
    fn row(self, origin: &Origin) -> u64 {
        (self & ((1 << origin.row_bits) - 1)) + origin.row
    }

    #[inline(always)]
    fn leading(self) -> u64 {
        self
    }
}

impl Pair for [u64; 2] {
    #[inline(always)]
    fn new(_origin: &Origin, key: u64, row: u64) -> Self {
        [key, row]
    }

    #[inline(always)]
    fn key(self, _origin: &Origin) -> u64 {
        self[0]
    }

    #[inline(always)]
    fn row(self, _origin: &Origin) -> u64 {
        self[1]
    }

    #[inline(always)]
    fn leading(self) -> u64 {
        self[0]
    }
}

/// Keys with their rows, which rise.
pub(super) trait Entries: Send + Sync {
    fn len(&self) -> usize;
    /// The key at a place.
    fn key(&self, at: usize) -> u64;
    /// Calls something with each key and its row.
    fn each(&self, see: impl FnMut(u64, u64));
}

impl Entries for Piece {
    fn len(&self) -> usize {
        self.len()
    }

    fn key(&self, at: usize) -> u64 {
        self.keys()[at]
    }

    #[inline]
    fn each(&self, see: impl FnMut(u64, u64)) {
        self.each(see);
    }
}

impl Entries for Vec<[u64; 2]> {
    fn len(&self) -> usize {
        self.len()
    }

    fn key(&self, at: usize) -> u64 {
        self[at][0]
    }

    #[inline]
    fn each(&self, mut see: impl FnMut(u64, u64)) {
        self.iter().for_each(|&[key, row]| see(key, row));
    }
}

/// Some keys out of entries, from all over them.
pub(super) fn sample<E: Entries>(entries: &[E], wanted: usize) -> Vec<u64> {
    let total: usize = entries.iter().map(Entries::len).sum();
    let step = (total / wanted.max(1)).max(1);
    let mut keys = Vec::with_capacity(total / step + entries.len());
    let mut seen = 0_usize;
    for part in entries {
        // Not at even distances: what comes again and again must not be met at the same place each time.
        let mut at = 0;
        while at < part.len() {
            let shift = seen.wrapping_mul(0x9e37_79b9) % step;
            keys.extend((at + shift < part.len()).then(|| part.key(at + shift)));
            seen += 1;
            at += step;
        }
    }
    keys
}

/// The sorted pairs of all entries.
pub(super) fn sorted<P: Pair, E: Entries>(entries: Vec<E>, origin: &Origin, job: &Job<'_>) -> Result<Vec<P>> {
    let total: usize = entries.iter().map(Entries::len).sum();
    let wanted = total / BUCKET_PAIRS;
    let splitters = Splitters::new(sample(&entries, SAMPLES_EACH * wanted), wanted);
    let bytes = total.saturating_mul(size_of::<P>());
    let mut pairs = vec![P::default(); total];
    let sizes = spread(grouped(entries, total), &splitters, origin, &mut pairs, job)?;
    let mut left = &mut pairs[..];
    let mut buckets = Vec::with_capacity(sizes.len());
    for size in sizes {
        buckets.push(left.split_off_mut(..size).unwrap_or_default());
    }
    job.run(bytes, buckets.into_iter(), |bucket| {
        sort_bucket(bucket);
        Ok(0)
    })?;
    Ok(pairs)
}

/// Entries in groups of about the same size.
fn grouped<E: Entries>(entries: Vec<E>, total: usize) -> Vec<Vec<E>> {
    let wanted = total.div_ceil(GROUPS).max(1);
    let mut groups = Vec::with_capacity(GROUPS + 1);
    let (mut group, mut len) = (Vec::new(), 0);
    for part in entries {
        len += part.len();
        group.push(part);
        if len >= wanted {
            groups.push(std::mem::take(&mut group));
            len = 0;
        }
    }
    groups.push(group);
    groups
}

/// Which bucket each entry of a group belongs to, and how many belong to each.
struct Counted<E> {
    group: Vec<E>,
    buckets: Vec<u16>,
    counts: Vec<usize>,
}

fn count<E: Entries>(group: Vec<E>, splitters: &Splitters) -> Counted<E> {
    let mut counts = vec![0; splitters.buckets()];
    let mut buckets = Vec::new();
    if counts.len() > 1 {
        buckets.reserve_exact(group.iter().map(Entries::len).sum());
        for part in &group {
            part.each(|key, _| buckets.push(u16::try_from(splitters.bucket(key)).unwrap_or(u16::MAX)));
        }
        buckets.iter().for_each(|&bucket| counts[usize::from(bucket)] += 1);
    } else {
        counts[0] = group.iter().map(Entries::len).sum();
    }
    Counted { group, buckets, counts }
}

/// Brings the pairs of groups to their buckets, in the order in which they come; how many each bucket has.
fn spread<P: Pair, E: Entries>(
    groups: Vec<Vec<E>>,
    splitters: &Splitters,
    origin: &Origin,
    pairs: &mut [P],
    job: &Job<'_>,
) -> Result<Vec<usize>> {
    let bytes = size_of_val(pairs);
    let counted = Mutex::new(Vec::with_capacity(groups.len()));
    job.run(bytes, groups.into_iter().enumerate(), |(number, group)| {
        let group = count(group, splitters);
        counted.lock().unwrap_or_else(PoisonError::into_inner).push((number, group));
        Ok(0)
    })?;
    let mut counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    counted.sort_unstable_by_key(|(number, _)| *number);
    let buckets = splitters.buckets();
    let mut places: Vec<Vec<_>> = counted.iter().map(|_| Vec::with_capacity(buckets)).collect();
    let mut sizes = vec![0; buckets];
    let mut left = pairs;
    for (bucket, size) in sizes.iter_mut().enumerate() {
        for ((_, group), places) in counted.iter().zip(&mut places) {
            let len = group.counts[bucket];
            places.push(left.split_off_mut(..len).unwrap_or_default().iter_mut());
            *size += len;
        }
    }
    job.run(bytes, counted.into_iter().zip(places), |((_, counted), mut places)| {
        let mut buckets = counted.buckets.iter();
        for part in &counted.group {
            part.each(|key, row| {
                let bucket = buckets.next().map_or(0, |&bucket| usize::from(bucket));
                if let Some(place) = places[bucket].next() {
                    *place = P::new(origin, key, row);
                }
            });
        }
        Ok(0)
    })?;
    Ok(sizes)
}

/// Sorts pairs whose rows rise where their keys are equal.
fn sort_bucket<P: Pair>(pairs: &mut [P]) {
    if pairs.len() <= FEW {
        pairs.sort_by_key(|pair| pair.leading());
        return;
    }
    if is_sorted(pairs) {
        return;
    }
    with_scratch(size_of_val(pairs), |room| step(pairs, items_mut(room)));
}

fn is_sorted<P: Pair>(pairs: &[P]) -> bool {
    pairs.is_sorted_by_key(|pair| pair.leading())
}

/// Sorts pairs that are not sorted by the leading bits in which they differ, then what is left together.
fn step<P: Pair>(pairs: &mut [P], room: &mut [P]) {
    let first = pairs[0].leading();
    let (min, max) = pairs.iter().fold((first, first), |(min, max), pair| {
        let leading = pair.leading();
        (min.min(leading), max.max(leading))
    });
    let range_bits = bits(max - min);
    let step_bits = pairs.len().ilog2().saturating_sub(LEFT_BITS).clamp(1, STEP_BITS).min(range_bits);
    let shift = range_bits - step_bits;
    let digit = |pair: P| usize::try_from((pair.leading() - min) >> shift).unwrap_or(usize::MAX);
    let mut places = vec![0_usize; 1 << step_bits];
    for &pair in &*pairs {
        places[digit(pair)] += 1;
    }
    let mut end = 0;
    for place in &mut places {
        (*place, end) = (end, end + *place);
    }
    let room = &mut room[..pairs.len()];
    for &pair in &*pairs {
        let place = &mut places[digit(pair)];
        room[*place] = pair;
        *place += 1;
    }
    pairs.copy_from_slice(room);
    // Where each begins has become where it ends.
    let mut start = 0;
    for end in places {
        let together = &mut pairs[start..end];
        start = end;
        if together.len() <= FEW {
            together.sort_by_key(|pair| pair.leading());
        } else if shift > 0 && !is_sorted(together) {
            step(together, room);
        }
    }
}
