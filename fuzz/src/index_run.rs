//! Runs of an index of any content: what a look at every entry finds, or an error.

use std::collections::BTreeSet;
use std::sync::Arc;

use coquina::index::{KeyRanges, Run, Stored};
use coquina::{Error, ErrorKind};
use coquina_kernels::items::bytes_of;

use crate::mutate::{Random, flip_bit, mutate, set_byte};
use crate::query_texts::Memory;
use crate::targets::job;

const HEAD_BYTES: usize = 6;
const KEY_BYTES: usize = 8;
const ENDS: [u64; 6] = [0, 1, 1 << 16, 1 << 63, u64::MAX - 1, u64::MAX];

/// What an input holds: `entries u8 | missing rows u8 | entries of a block u8 | row bytes u8, 4 if even, else 8 | ends of
/// ranges u8 | missing rows that are not there u8 | first keys u64 | shifts u8 | ends u64 | offsets u16 | rows`,
/// little-endian.
struct Parts {
    first: Vec<u64>,
    shifts: Vec<u8>,
    ends: BTreeSet<u64>,
    offsets: Vec<u16>,
    rows: Vec<u64>,
    row_bytes: usize,
    block: usize,
    missing: u64,
}

impl Parts {
    fn read(input: &[u8]) -> Option<Self> {
        let ([entries, missing, block, row_bytes, ends, more], rest) =
            input.split_first_chunk::<HEAD_BYTES>()?;
        let (entries, block) = (usize::from(*entries), usize::from(*block));
        let row_bytes = if row_bytes % 2 == 0 { 4 } else { KEY_BYTES };
        let blocks = entries.div_ceil(block.max(1));
        let (first, rest) = rest.split_at_checked(blocks * KEY_BYTES)?;
        let (shifts, rest) = rest.split_at_checked(blocks)?;
        let (ends, rest) = rest.split_at_checked(usize::from(*ends) * KEY_BYTES)?;
        let (offsets, rest) = rest.split_at_checked(2 * entries)?;
        let rows = rest.get(..(entries + usize::from(*missing)) * row_bytes)?;
        let numbers = |bytes: &[u8]| -> Vec<u64> {
            bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect()
        };
        let small = |row: &[u8; 4]| u32::from_le_bytes(*row).into();
        Some(Self {
            first: numbers(first),
            shifts: shifts.to_vec(),
            ends: numbers(ends).into_iter().collect(),
            offsets: offsets.as_chunks().0.iter().map(|offset| u16::from_le_bytes(*offset)).collect(),
            rows: if row_bytes == 4 { rows.as_chunks().0.iter().map(small).collect() } else { numbers(rows) },
            row_bytes,
            block,
            missing: u64::from(*missing) + u64::from(*more),
        })
    }

    fn stored(&self) -> Stored {
        let memory = |items: Vec<u8>, item_bytes| Arc::new(Memory { items, item_bytes });
        let rows = if self.row_bytes == 4 {
            let small = self.rows.iter().map(|&row| u32::try_from(row).unwrap_or(u32::MAX));
            bytes_of(&small.collect::<Vec<u32>>()).to_vec()
        } else {
            bytes_of(&self.rows).to_vec()
        };
        Stored {
            offsets: memory(bytes_of(&self.offsets).to_vec(), 2),
            rows: memory(rows, self.row_bytes),
            first: self.first.clone(),
            shifts: self.shifts.clone(),
            entries: self.offsets.len() as u64,
            missing: self.missing,
            block_entries: self.block as u64,
        }
    }

    /// The keys that each entry may have, both ends within; none if they are not in order.
    fn cells(&self) -> Option<Vec<(u64, u64)>> {
        let mut cells = Vec::with_capacity(self.offsets.len());
        let next = self.first.iter().skip(1).chain([&u64::MAX]);
        let heads = self.first.iter().zip(&self.shifts).zip(next);
        let mut before = 0;
        for (offsets, ((&first, &shift), &next)) in self.offsets.chunks(self.block.max(1)).zip(heads) {
            if first < before || offsets.first() != Some(&0) || !offsets.is_sorted() {
                return None;
            }
            // The first entry of a block is known to the last bit.
            cells.push((first, first));
            for &offset in &offsets[1..] {
                let least = first.checked_add(u64::from(offset) << shift)?;
                // No key is greater than the first one of the next block.
                cells.push((least, least.checked_add((1 << shift) - 1)?.min(next)));
                before = least;
            }
            before = before.max(first);
        }
        Some(cells)
    }
}

/// Rows are those of entries whose cells touch a range, and all whose cells lie in one are found.
pub(crate) fn index_run(input: &[u8]) -> bool {
    let Some(parts) = Parts::read(input) else { return false };
    let is_corrupt = |error: &Error| assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let run = match Run::open(parts.stored()) {
        Ok(run) => run,
        Err(error) => {
            is_corrupt(&error);
            return false;
        }
    };
    let ends: Vec<u64> = parts.ends.iter().copied().collect();
    let (low, high): (Vec<u64>, Vec<u64>) =
        ends.as_chunks::<2>().0.iter().map(|ends| (ends[0], ends[1])).unzip();
    let Ok(ranges) = KeyRanges::new(&low, &high) else { panic!("{low:?} and {high:?} rise") };
    if let Err(error) = run.rows_at(0, parts.rows.len() as u64, &job()) {
        is_corrupt(&error);
    }
    let (found, count) = match (run.find(&ranges, &job()), run.count(&ranges, &job())) {
        (Ok(found), Ok(count)) => (found, count),
        (Err(error), _) | (_, Err(error)) => {
            is_corrupt(&error);
            return false;
        }
    };
    assert!(run.estimate(&ranges) >= count.0 + count.1, "fewer are foreseen than there are");
    let Some(cells) = parts.cells() else { return true };
    let rows = |is_wanted: &dyn Fn(u64, u64) -> bool| -> BTreeSet<i64> {
        let wanted = cells.iter().zip(&parts.rows).filter(|&(&(least, most), _)| is_wanted(least, most));
        wanted.map(|(_, row)| row.cast_signed()).collect()
    };
    let any = |test: &dyn Fn(u64, u64) -> bool| low.iter().zip(&high).any(|(&low, &high)| test(low, high));
    let inside = rows(&|least, most| any(&|low, high| low <= least && most <= high));
    let touching = rows(&|least, most| any(&|low, high| low <= most && least <= high));
    let sure: BTreeSet<i64> = found.sure.iter().copied().collect();
    let either: BTreeSet<i64> = found.unsure.iter().copied().chain(found.sure).collect();
    assert!(sure == inside, "{sure:?} are sure, {inside:?} are wanted");
    assert!(either == touching, "{either:?} are found, {touching:?} are wanted");
    true
}

/// Runs of keys that lie close together and far apart, and ranges of them.
pub(crate) fn index_runs() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (count, missing, block, row_bytes) in
        [(0_u8, 0_u8, 7_u8, 0_u8), (1, 0, 1, 1), (40, 3, 7, 0), (200, 0, 64, 1), (255, 9, 255, 0)]
    {
        for (turn, step) in [1_u64, 0, 700, 1 << 20, 1 << 50].into_iter().enumerate() {
            let keys: Vec<u64> = (0..u64::from(count)).map(|n| (n + n * n % 7) / 3 * step + 5).collect();
            let mut first = Vec::new();
            let (mut shifts, mut offsets) = (Vec::new(), Vec::new());
            for block in keys.chunks(block.into()) {
                let least = block.iter().copied().min().unwrap_or(0);
                let span = block.iter().copied().max().unwrap_or(0) - least;
                let shift = (u64::BITS - span.leading_zeros()).saturating_sub(u16::BITS);
                let mut near: Vec<u16> = block
                    .iter()
                    .map(|key| u16::try_from((key - least) >> shift).unwrap_or(u16::MAX))
                    .collect();
                near.sort_unstable();
                first.extend(least.to_le_bytes());
                shifts.push(u8::try_from(shift).unwrap_or(0));
                offsets.extend(near.into_iter().flat_map(u16::to_le_bytes));
            }
            let ends: Vec<u8> = [5, 6, 40 * step, 50 * step + 1, u64::MAX / 2, u64::MAX]
                .into_iter()
                .flat_map(u64::to_le_bytes)
                .collect();
            let rows = (0..u64::from(count) + u64::from(missing)).map(|row| row * 37 % 251);
            let width = if row_bytes == 0 { 4 } else { KEY_BYTES };
            let rows: Vec<u8> = rows.flat_map(|row| row.to_le_bytes()[..width].to_vec()).collect();
            let head = [count, missing, block, row_bytes, u8::try_from(6 - turn % 2).unwrap_or(0), 0];
            let ends = &ends[..usize::from(head[4]) * KEY_BYTES];
            seeds.push([&head, &first[..], &shifts, ends, &offsets, &rows].concat());
        }
    }
    seeds
}

/// Other keys, other ranges, other offsets.
pub(crate) fn mutate_run(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut input = seed.to_vec();
    for _ in 0..=random.below(2) {
        let at = HEAD_BYTES + random.below(input.len().saturating_sub(HEAD_BYTES));
        match random.below(16) {
            0 => return mutate(&input, other, random),
            1 => input.truncate(input.len() - random.below(20).min(input.len() / 4)),
            2 => flip_bit(&mut input[..HEAD_BYTES], random),
            3..=5 => {
                if let Some(place) = input.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<KEY_BYTES>())
                {
                    *place = random.one_of(&ENDS).to_le_bytes();
                }
            }
            6..=9 => set_byte(&mut input[HEAD_BYTES..], random),
            _ => flip_bit(&mut input[HEAD_BYTES..], random),
        }
    }
    input
}
