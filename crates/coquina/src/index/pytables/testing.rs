//! For the laws of these indexes: plain values of every kind, and indexes that are made of them naively.

use std::cmp::Ordering;
use std::sync::Arc;

use coquina_kernels::Type;
use proptest::prelude::*;

use super::*;
use crate::array::{BoxSource, Walk, copy_region};
use crate::base::error::Result;
use crate::index::{KeyKind, KeyRanges};
use crate::query::testing::random;

/// Items in memory.
#[derive(Clone)]
pub(super) struct Plain {
    pub(super) shape: Vec<u64>,
    pub(super) items: Vec<u8>,
    pub(super) item_bytes: usize,
}

impl Plain {
    pub(super) fn new(shape: &[u64], items: Vec<u8>, item_bytes: usize) -> Self {
        let count: u64 = shape.iter().product();
        assert_eq!(items.len() as u64, count * item_bytes as u64, "{shape:?}");
        Self { shape: shape.to_vec(), items, item_bytes }
    }
}

impl BoxSource for Plain {
    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        let walk: Vec<u64> = self.shape.iter().map(|&len| len.clamp(1, 100)).collect();
        Walk { chunks: walk.clone(), blocks: walk }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        copy_region(&self.items, self.item_bytes, &self.shape, start, shape, out)
    }
}

/// The kinds of values that are indexed, and their sizes.
pub(super) const KINDS: &[(KeyKind, usize)] = &[
    (KeyKind::Number(Type::Bool), 1),
    (KeyKind::Number(Type::I8), 1),
    (KeyKind::Number(Type::I16), 2),
    (KeyKind::Number(Type::I32), 4),
    (KeyKind::Number(Type::I64), 8),
    (KeyKind::Number(Type::U8), 1),
    (KeyKind::Number(Type::U16), 2),
    (KeyKind::Number(Type::U32), 4),
    (KeyKind::Number(Type::U64), 8),
    (KeyKind::Number(Type::F32), 4),
    (KeyKind::Number(Type::F64), 8),
    (KeyKind::Bytes, 1),
    (KeyKind::Bytes, 5),
    (KeyKind::Bytes, 8),
    (KeyKind::Bytes, 13),
];

/// Values with many that are equal, the ends of their type, both zeros, and NaN of several bits.
pub(super) fn column(kind: KeyKind, item_bytes: usize, rows: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut next = random(seed);
    let mut value = move || -> Vec<u8> {
        let (choice, small) = (next(12), next(40));
        match kind {
            KeyKind::Bytes => {
                let text = [b"prefix-x", &b"a\0\xff\x01z"[..], b"", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"];
                let mut text = text[usize::try_from(choice % 4).unwrap()].to_vec();
                text.extend_from_slice(small.to_string().as_bytes());
                text.resize(item_bytes, 0);
                text
            }
            KeyKind::Number(Type::F32) => {
                let odd = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY];
                let plain = f32::from(u8::try_from(small).unwrap()) - 20.5;
                odd.get(usize::try_from(choice).unwrap()).unwrap_or(&plain).to_le_bytes().to_vec()
            }
            KeyKind::Number(Type::F64) => {
                let odd = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
                let plain = f64::from(u8::try_from(small).unwrap()) - 20.5;
                odd.get(usize::try_from(choice).unwrap()).unwrap_or(&plain).to_le_bytes().to_vec()
            }
            KeyKind::Number(Type::Bool) => vec![u8::from(choice > 6)],
            _ => {
                let wide = if choice < 2 { u64::MAX >> choice } else { small.wrapping_sub(9) };
                wide.to_le_bytes()[..item_bytes].to_vec()
            }
        }
    };
    (0..rows).map(|_| value()).collect()
}

/// The order in which values are sorted, said in another way than by keys.
pub(super) fn compare(kind: KeyKind, one: &[u8], other: &[u8]) -> Ordering {
    macro_rules! numbers {
        ($number:ty) => {{
            let number = |bytes: &[u8]| <$number>::from_le_bytes(bytes.try_into().unwrap());
            let order = number(one).partial_cmp(&number(other));
            order.unwrap_or_else(|| is_nan(kind, one).cmp(&is_nan(kind, other)))
        }};
    }
    match kind {
        KeyKind::Number(Type::I8) => numbers!(i8),
        KeyKind::Number(Type::I16) => numbers!(i16),
        KeyKind::Number(Type::I32) => numbers!(i32),
        KeyKind::Number(Type::I64) => numbers!(i64),
        KeyKind::Number(Type::U16) => numbers!(u16),
        KeyKind::Number(Type::U32) => numbers!(u32),
        KeyKind::Number(Type::U64) => numbers!(u64),
        KeyKind::Number(Type::F32) => numbers!(f32),
        KeyKind::Number(Type::F64) => numbers!(f64),
        _ => one.cmp(other),
    }
}

pub(super) fn is_nan(kind: KeyKind, value: &[u8]) -> bool {
    match kind {
        KeyKind::Number(Type::F32) => f32::from_le_bytes(value.try_into().unwrap()).is_nan(),
        KeyKind::Number(Type::F64) => f64::from_le_bytes(value.try_into().unwrap()).is_nan(),
        _ => false,
    }
}

/// The bytes of a string that PyTables compares.
pub(super) fn compared(kind: KeyKind, value: &[u8]) -> &[u8] {
    let end = value.iter().position(|&byte| byte == 0 && kind == KeyKind::Bytes);
    &value[..end.unwrap_or(value.len())]
}

/// How indexes of these tests are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) chunking: Chunking,
    /// Bytes of a stored row or bucket.
    pub(super) item_bytes: usize,
    /// Rows of a chunk of the table.
    pub(super) table_chunk_rows: u64,
}

pub(super) fn rows_in_order(kind: KeyKind, values: &[Vec<u8>]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..values.len()).collect();
    rows.sort_by(|&one, &other| compare(kind, &values[one], &values[other]));
    rows
}

/// An index of values, cut and stored naively: slices are cut from the rows as they are.
pub(super) fn naive(kind: KeyKind, values: &[Vec<u8>], setup: &Setup) -> (Stored, Facts) {
    let Setup { chunking, item_bytes, table_chunk_rows } = *setup;
    let size = usize::try_from(chunking.slice).unwrap();
    let bucket_rows = chunking.bucket_rows(item_bytes, table_chunk_rows);
    let mut stored = Stored::new(values[0].len(), item_bytes);
    let full_slices = values.len() / size;
    for (slice, part) in values.chunks(size).enumerate() {
        let from = match item_bytes {
            1 => slice as u64 * chunking.slice / bucket_rows,
            2 => (slice as u64 * chunking.slice / chunking.block) * chunking.block / bucket_rows,
            _ => 0,
        };
        let order = rows_in_order(kind, part);
        let number = |&at: &usize| ((slice * size + at) as u64 / bucket_rows - from).to_le_bytes();
        let sorted: Vec<&[u8]> = order.iter().map(|&at| &*part[at]).collect();
        let indices: Vec<u8> = order.iter().flat_map(|at| number(at)[..item_bytes].to_vec()).collect();
        stored.add(&sorted, &indices, &chunking, slice < full_slices);
    }
    let rest = (values.len() % size) as u64;
    let rest_kept = rest.div_ceil(chunking.reduction);
    stored.shape(full_slices as u64, &chunking);
    (stored, Facts { chunking, rest, rest_kept, table_chunk_rows })
}

/// The arrays of an index.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) sorted: Plain,
    pub(super) indices: Plain,
    pub(super) ranges: Plain,
    pub(super) bounds: Plain,
    pub(super) rest_sorted: Plain,
    pub(super) rest_indices: Plain,
}

impl Stored {
    pub(super) fn new(value_bytes: usize, item_bytes: usize) -> Self {
        let none = |bytes| Plain::new(&[0], Vec::new(), bytes);
        let (values, rows) = (none(value_bytes), none(item_bytes));
        Self {
            sorted: values.clone(),
            indices: rows.clone(),
            ranges: values.clone(),
            bounds: values.clone(),
            rest_sorted: values,
            rest_indices: rows,
        }
    }

    /// Adds a slice: its values in order, and where they came from.
    pub(super) fn add(&mut self, sorted: &[&[u8]], indices: &[u8], chunking: &Chunking, is_full: bool) {
        let usize_of = |number: u64| usize::try_from(number).unwrap();
        let kept: Vec<&[u8]> = sorted.iter().step_by(usize_of(chunking.reduction)).copied().collect();
        let firsts: Vec<&[u8]> = sorted.iter().step_by(usize_of(chunking.chunk)).copied().collect();
        let last = sorted[sorted.len() - 1];
        if is_full {
            self.sorted.items.extend(kept.concat());
            self.indices.items.extend(indices);
            self.ranges.items.extend([sorted[0], last].concat());
            self.bounds.items.extend(firsts[1..].concat());
        } else {
            self.rest_sorted.items = [kept.concat(), firsts.concat(), last.to_vec()].concat();
            self.rest_indices.items = indices.to_vec();
        }
    }

    /// Gives the arrays their shapes.
    pub(super) fn shape(&mut self, slices: u64, chunking: &Chunking) {
        self.sorted.shape = vec![slices, chunking.slice / chunking.reduction];
        self.indices.shape = vec![slices, chunking.slice];
        self.ranges.shape = vec![slices, 2];
        self.bounds.shape = vec![slices, chunking.chunks() - 1];
        for rest in [&mut self.rest_sorted, &mut self.rest_indices] {
            rest.shape = vec![(rest.items.len() / rest.item_bytes) as u64];
        }
    }

    pub(super) fn all(&mut self) -> [&mut Plain; 6] {
        let Self { sorted, indices, ranges, bounds, rest_sorted, rest_indices } = self;
        [ranges, bounds, rest_sorted, sorted, indices, rest_indices]
    }

    pub(super) fn open(&self, facts: &Facts, kind: KeyKind) -> Result<Index> {
        let share = |plain: &Plain| -> Arc<dyn BoxSource> { Arc::new(plain.clone()) };
        let arrays = Arrays {
            sorted: share(&self.sorted),
            indices: share(&self.indices),
            ranges: share(&self.ranges),
            bounds: share(&self.bounds),
            rest_sorted: share(&self.rest_sorted),
            rest_indices: share(&self.rest_indices),
        };
        let value_bytes = self.sorted.item_bytes;
        Index::open(arrays, facts, Keys { kind, value_bytes, is_rounded: false })
    }
}

pub(super) fn key_of(kind: KeyKind, value: &[u8]) -> u64 {
    crate::base::scratch::with_scratch(value.len(), |room| {
        room.copy_from_slice(value);
        value_keys::keys(kind, room, value.len()).unwrap()[0]
    })
}

/// Ranges of keys between values that there are, in order; and rows whose values are in them, found by a scan.
pub(super) fn asked(
    kind: KeyKind,
    values: &[Vec<u8>],
    picks: &[usize],
    missing: bool,
) -> (KeyRanges, Vec<i64>) {
    let numbers: Vec<&Vec<u8>> = values.iter().filter(|value| !is_nan(kind, value)).collect();
    let mut ends: Vec<&Vec<u8>> =
        picks.iter().filter_map(|&pick| numbers.get(pick % numbers.len().max(1)).copied()).collect();
    ends.sort_by(|one, other| compare(kind, one, other));
    if ends.len() % 2 == 1 {
        ends.push(ends[ends.len() - 1]);
    }
    let pairs: Vec<(&Vec<u8>, &Vec<u8>)> = ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let is_in = |value: &Vec<u8>| {
        if is_nan(kind, value) {
            return missing;
        }
        // As the first bytes of strings are all that keys say, so they are all that is compared here.
        let part = |value: &[u8]| {
            let part = compared(kind, value);
            part[..part.len().min(if kind == KeyKind::Bytes { 8 } else { part.len() })].to_vec()
        };
        pairs.iter().any(|(low, high)| {
            compare(kind, &part(low), &part(value)) != Ordering::Greater
                && compare(kind, &part(value), &part(high)) != Ordering::Greater
        })
    };
    let rows = values.iter().zip(0..).filter(|(value, _)| is_in(value)).map(|(_, row)| row).collect();
    let ranges = pairs.iter().map(|(low, high)| key_of(kind, low)..=key_of(kind, high));
    (KeyRanges::union(ranges.collect()), rows)
}

pub(super) fn listed(answer: &Answer) -> Vec<i64> {
    match answer {
        Answer::Rows(rows) => rows.clone(),
        Answer::Ranges(ranges) => {
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            ranges.iter().cloned().flatten().collect()
        }
        Answer::All => panic!("these are few rows"),
    }
}

pub(super) fn chunking(slices: u64, chunks: u64, kept: u64, reduction: u64) -> Chunking {
    let chunk = kept * reduction;
    let slice = chunk * chunks;
    Chunking { superblock: 4 * slice * slices, block: slice * slices, slice, chunk, reduction, optlevel: 6 }
}

pub(super) fn setups() -> impl Strategy<Value = Setup> {
    let cut = (1..4_u64, 1..6_u64, 1..9_u64, prop_oneof![Just(1_u64), Just(2), Just(4)]);
    (cut, prop_oneof![Just(1_usize), Just(2), Just(4), Just(8)], 1..90_u64).prop_map(
        |((slices, chunks, kept, reduction), item_bytes, table_chunk_rows)| Setup {
            chunking: chunking(slices, chunks, kept, reduction),
            item_bytes,
            table_chunk_rows,
        },
    )
}
