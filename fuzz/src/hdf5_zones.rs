//! Chunks of HDF5 datasets with zone maps: what they say of their items is true of the items that come out.

use std::sync::Arc;

use coquina::hdf5::{FrameChunk, Pipeline, Slot, ZoneField, ZoneKind};
use coquina::store::Statistics;
use coquina_kernels::{Type, best_level, bounds};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::frame_mutate::mutate_frame;
use crate::mutate::{Random, flip_bit, mutate, set_byte};
use crate::seeds::sample;
use crate::targets::{LIMITS, job};

const BLOSC2: u16 = 32026;
const LAYER: &[u8] = b"coquina_zones";
/// What the seal of a map is a sum of, besides the map.
const FIXED_BYTES: usize = 87;
const HEAD_BYTES: usize = 12;
const SUM_AT: usize = 4;

/// What an input holds: `item bytes u16 | rows u16 | sum u64 | frame`, little-endian. The sum is that of the front and
/// of the items as they were when the map was made; 0 for a map that may be a lie.
struct Zoned<'a> {
    item_bytes: usize,
    rows: u16,
    sum: u64,
    frame: &'a [u8],
}

impl<'a> Zoned<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let (head, frame) = input.split_first_chunk::<HEAD_BYTES>()?;
        let [a, b, c, d, sum @ ..] = *head;
        let (item_bytes, rows) = (u16::from_le_bytes([a, b]).into(), u16::from_le_bytes([c, d]));
        Some(Self { item_bytes, rows, sum: u64::from_le_bytes(sum), frame })
    }
}

fn sum(input: &[u8], items: &[u8]) -> u64 {
    xxh3_64_with_seed(items, xxh3_64(input.get(..SUM_AT).unwrap_or_default()))
}

/// Bounds of the items as they were written hold. For other items they need not: a map is sealed, the items that it is
/// about are not. None are of items that are not there, and there are none but for numbers.
pub(crate) fn hdf5_zones(input: &[u8]) -> bool {
    let Some(Zoned { item_bytes, rows, sum: wanted, frame }) = Zoned::read(input) else { return false };
    let bytes = item_bytes * usize::from(rows);
    if bytes > 1 << 16 {
        return false;
    }
    let source = Arc::new(frame.to_vec());
    let opened = FrameChunk::open(source, 0, frame.len() as u64, &[rows.into()], item_bytes, &LIMITS);
    let Ok(chunk) = opened else { return false };
    let mut items = vec![0; bytes];
    let is_sound = chunk.read_items(&mut items).is_ok();
    let is_as_written = is_sound && wanted != 0 && sum(input, &items) == wanted;
    let all = u64::from(rows);
    for offset in 0..item_bytes.min(40) {
        for width in [1, 2, 4, 8] {
            for range in [0..all, all / 3..all / 2, all / 2..all, 0..1, all.saturating_sub(1)..all] {
                let Some((ty, known)) = chunk.bounds(range.clone(), offset, width) else { continue };
                assert!(!range.is_empty() && ty.bytes() == width, "{range:?}: {width} bytes of {ty:?}");
                assert!(offset + width <= item_bytes, "{width} bytes at {offset} of {item_bytes}");
                if is_as_written {
                    let start = usize::try_from(range.start).unwrap_or(0) * item_bytes;
                    let end = usize::try_from(range.end).unwrap_or(0) * item_bytes;
                    let of = |item: &[u8]| item[offset..offset + width].to_vec();
                    let numbers = items[start..end].chunks(item_bytes).flat_map(of).collect::<Vec<u8>>();
                    check(ty, &known, &numbers);
                }
            }
            assert_eq!(chunk.bounds(0..all + 1, offset, width), None, "bounds of what is not there");
        }
    }
    is_sound
}

/// Whether what is known holds for these numbers.
fn check(ty: Type, known: &Statistics, numbers: &[u8]) {
    let found = bounds(best_level(), ty, numbers);
    let Some(found) = found else { return };
    let width = ty.bytes();
    assert!(known.has_nan || !found.has_nan, "{ty:?}: a NaN that is not known of");
    // With the ends that are known among them, the least and the greatest are these ends.
    let with = [numbers, &known.min[..width], &known.max[..width]].concat();
    let together = bounds(best_level(), ty, &with).map(|all| (all.min, all.max));
    assert_eq!(together, Some((known.min, known.max)), "{ty:?}: numbers outside of their bounds");
    let is_same = (found.min, found.max, found.has_nan) == (known.min, known.max, known.has_nan);
    assert!(!known.is_exact || is_same, "{ty:?}: {known:?} is not exact: {found:?}");
}

/// Chunks with maps of several fields, of all items or of some. No two have items of as many bytes.
pub(crate) fn hdf5_zoned() -> Vec<Vec<u8>> {
    let field = |offset, ty| ZoneField { offset, kind: ZoneKind::Number(ty) };
    let numbers = [field(0, Type::F32)];
    let records = [
        field(0, Type::I64),
        field(8, Type::F64),
        field(9, Type::F32),
        field(17, Type::Bool),
        field(18, Type::U16),
    ];
    let mut seeds = Vec::new();
    for (number, (item_bytes, fields)) in
        [(4_u16, &numbers[..]), (20, &records[..]), (300, &records[1..])].into_iter().enumerate()
    {
        for (turn, (codec, filter, part)) in
            [(5_u32, 1_u32, 1_u64), (1, 1, 2), (0, 0, 1), (5, 2, 1)].into_iter().enumerate()
        {
            let rows = [600_u16, 90, 12][number] + u16::try_from(turn).unwrap_or(0) * 7;
            let bytes = u32::from(rows) * u32::from(item_bytes);
            let values = vec![1, 256, item_bytes.into(), bytes, 5, filter, codec];
            let slots = vec![Slot { id: BLOSC2, is_optional: true, values }];
            let mut items = sample(usize::try_from(bytes).unwrap_or(0));
            if turn == 2 {
                // NaNs, zeros of both signs.
                items.iter_mut().step_by(5).for_each(|byte| *byte = 0xff);
                items.iter_mut().skip(7).step_by(90).for_each(|byte| *byte = 0x80);
            }
            let frame = Pipeline::new(slots, &[rows.into()], item_bytes.into())
                .and_then(|pipeline| pipeline.with_zones(fields))
                // Checksums refuse most of what is mutated, before anybody looks at the map.
                .map(|pipeline| if turn % 2 == 0 { pipeline.without_sums() } else { pipeline })
                .and_then(|pipeline| pipeline.encode_rows(&items, u64::from(rows) / part, &job()))
                .unwrap_or_default();
            let head = [item_bytes.to_le_bytes(), rows.to_le_bytes()].concat();
            let sum = sum(&head, &items).to_le_bytes();
            seeds.push([&head, &sum[..], &frame].concat());
        }
    }
    seeds
}

/// Another frame, or another map under a seal that fits: a lie that somebody took care of.
pub(crate) fn mutate_zoned(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let Some((head, frame)) = seed.split_at_checked(HEAD_BYTES) else { return mutate(seed, other, random) };
    let (mut head, mut frame) = (head.to_vec(), frame.to_vec());
    match random.below(8) {
        0 => set_byte(&mut head[..SUM_AT], random),
        1 => flip_bit(&mut head[..SUM_AT], random),
        _ => {}
    }
    if random.below(3) == 0 {
        frame = mutate_frame(&frame, other.get(HEAD_BYTES..).unwrap_or_default(), random);
    } else if let Some((at, len)) = map_of(&frame) {
        let map = &mut frame[at..at + len];
        for _ in 0..=random.below(3) {
            // Mostly its head: counts, and what the fields are.
            let front = if random.below(3) == 0 { map.len() } else { map.len().min(8 + 12 + 25) };
            if random.below(2) == 0 {
                flip_bit(&mut map[..front], random);
            } else {
                set_byte(&mut map[..front], random);
            }
        }
        if random.below(4) > 0 && seal(&mut frame, at, len) {
            head[SUM_AT..].fill(0);
        }
    }
    if random.below(4) == 0 {
        flip_bit(&mut frame, random);
    }
    [head, frame].concat()
}

/// Where the map stands in a frame, its seal in front, and its bytes.
fn map_of(frame: &[u8]) -> Option<(usize, usize)> {
    let name = frame.windows(LAYER.len()).position(|window| window == LAYER)? + LAYER.len();
    // Behind the name: a marker, and where the content begins; there: a marker, its length.
    let number = |at: usize| {
        let bytes = frame.get(at + 1..at + 5)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let at = number(name)?;
    let len = number(at)?;
    (len >= 8 && frame.len().checked_sub(at + 5)? >= len).then_some((at + 5, len))
}

/// Seals a map anew; whether there was something to seal.
fn seal(frame: &mut [u8], at: usize, len: usize) -> bool {
    let Some(fixed) = frame.get(..FIXED_BYTES).map(xxh3_64) else { return false };
    let Some((seal, content)) = frame[at..at + len].split_first_chunk_mut::<8>() else { return false };
    *seal = xxh3_64_with_seed(content, fixed).to_le_bytes();
    true
}
