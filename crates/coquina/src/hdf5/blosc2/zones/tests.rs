//! Laws of zone maps: bounds are those of the items, and damage leaves no wrong bound.

use std::sync::Arc;

use proptest::prelude::*;

use super::ZoneKind::{Number, Text};
use super::*;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::hdf5::{Blosc2Spec, FrameChunk, Pipeline, Slot};

/// Blosc2 by Zstandard, for records of `item_bytes` bytes.
fn slot(rows: usize, item_bytes: usize, block_bytes: usize) -> Slot {
    let narrow = |n: usize| u32::try_from(n).unwrap();
    let values = vec![1, narrow(block_bytes), narrow(item_bytes), narrow(rows * item_bytes), 5, 1, 5];
    Slot { id: 32026, is_optional: false, values }
}

/// A chunk of `items`, of which the first `rows` count.
fn stored(items: &[u8], item_bytes: usize, block_bytes: usize, fields: &[ZoneField], rows: u64) -> Vec<u8> {
    let all = items.len() / item_bytes;
    let pipeline = Pipeline::new(vec![slot(all, item_bytes, block_bytes)], &[all as u64], item_bytes);
    pipeline.unwrap().with_zones(fields).unwrap().encode_rows(items, rows, &Job::inline()).unwrap()
}

fn open(stored: &[u8], rows: u64, item_bytes: usize) -> Result<FrameChunk> {
    let (source, len) = (Arc::new(stored.to_vec()), stored.len() as u64);
    FrameChunk::open(source, 0, len, &[rows], item_bytes, &Limits::default())
}

/// A field of some items, one behind the other.
fn values(items: &[u8], item_bytes: usize, field: ZoneField, rows: Range<usize>) -> Vec<u8> {
    let range = field.offset..field.offset + field.kind.item_bytes();
    let items = items.chunks(item_bytes).take(rows.end).skip(rows.start);
    items.flat_map(|item| &item[range.clone()]).copied().collect()
}

/// Naively: the type and the bounds of the numbers of some items; nothing of texts.
fn naive(
    items: &[u8],
    item_bytes: usize,
    field: ZoneField,
    rows: Range<usize>,
) -> Option<(Type, Statistics)> {
    let Number(ty) = field.kind else { return None };
    Some((ty, statistics(ty, &values(items, item_bytes, field, rows))?))
}

/// Naively: the bounds of the texts of some items; nothing of numbers.
fn naive_texts(
    items: &[u8],
    item_bytes: usize,
    fields: &[ZoneField],
    rows: Range<usize>,
) -> Option<TextBounds> {
    let Some(ZoneField { offset, kind: Text(bytes) }) = fields.first() else { return None };
    let is_ended = |item: &[u8]| item.iter().skip_while(|&&byte| byte != 0).all(|&byte| byte == 0);
    let own = items.chunks(item_bytes).take(rows.end).skip(rows.start).all(is_ended);
    let bounds = TextBounds::of_texts((*bytes).into(), &values(items, item_bytes, fields[0], rows));
    Some(bounds?.ended(own && fields.len() == 1 && *offset == 0))
}

/// Whether they are the same question.
fn are_alike(a: &ZoneField, b: &ZoneField) -> bool {
    a.offset == b.offset
        && match (a.kind, b.kind) {
            (Number(a), Number(b)) => a.bytes() == b.bytes(),
            (Text(_), Text(_)) => true,
            _ => false,
        }
}

fn fields(item_bytes: usize) -> impl Strategy<Value = Vec<ZoneField>> {
    let kinds: Vec<ZoneKind> = TYPES.map(Number).into_iter().chain((1..=8).map(Text)).collect();
    let field =
        (prop::sample::select(kinds), 0..item_bytes).prop_filter_map("in the item", move |(kind, offset)| {
            (offset + kind.item_bytes() <= item_bytes).then_some(ZoneField { offset, kind })
        });
    prop::collection::vec(field, 1..5)
}

fn records() -> impl Strategy<Value = (usize, Vec<ZoneField>, Vec<u8>)> {
    prop::sample::select(vec![8_usize, 9, 24, 300]).prop_flat_map(|item_bytes| {
        // Few values make NaNs, equal numbers and zeros of both signs.
        let byte = prop::sample::select(vec![0_u8, 0, 1, 0x7f, 0x80, 0xf0, 0xff]);
        let items = prop::collection::vec(byte, 1..60).prop_map(move |some| {
            let bytes = some.len() * item_bytes;
            some.iter()
                .cycle()
                .zip(some.iter().rev().cycle().skip(some.len() / 2))
                .map(|(a, b)| a ^ b)
                .take(bytes)
                .collect()
        });
        (Just(item_bytes), fields(item_bytes), items)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bounds_are_those_of_the_items_and_maps_are_read_as_written(
        (item_bytes, fields, items) in records(), zone_rows in 1..20_usize, ends in any::<(u16, u16)>(),
    ) {
        let all = items.len() / item_bytes;
        let (a, b) = (usize::from(ends.0) % (all + 1), usize::from(ends.1) % (all + 1));
        let rows = a.min(b)..a.max(b);
        let mut zones = Zones::gather(&fields, item_bytes, &items, zone_rows);
        let content = zones.write().unwrap();
        prop_assert_eq!(content.len(), zones.stored_bytes());
        prop_assert_eq!(Zones::read(&content, all, item_bytes), Some(zones.clone()));
        prop_assert_eq!(Zones::read(&content, all - 1, item_bytes), None);
        prop_assert_eq!(Zones::read(&content[..content.len() - 1], all, item_bytes), None);
        loop {
            for field in &fields {
                let place = fields.iter().position(|other| are_alike(other, field)).unwrap();
                let field = fields[place];
                let zone = zones.zone_rows;
                let around = rows.start / zone * zone..(rows.end.div_ceil(zone) * zone).min(all);
                if let Text(bytes) = field.kind {
                    let found = zones.text_bounds(&rows, field.offset, bytes.into());
                    let rest = [&[field], &fields[..place], &fields[place + 1..]].concat();
                    let wide = naive_texts(&items, item_bytes, &rest, around);
                    prop_assert_eq!(found, wide.filter(|_| !rows.is_empty()));
                    prop_assert_eq!(zones.text_bounds(&rows, field.offset, usize::from(bytes) - 1), None);
                    continue;
                }
                let found = zones.bounds(rows.clone(), field.offset, field.kind.item_bytes());
                let Some((ty, found)) = found else {
                    prop_assert!(rows.is_empty());
                    continue;
                };
                let own = naive(&items, item_bytes, field, rows.clone());
                let wide = naive(&items, item_bytes, field, around.clone());
                prop_assert_eq!(Number(ty), field.kind);
                prop_assert_eq!(found.is_exact, around == rows);
                prop_assert_eq!(Statistics { is_exact: true, ..found }, wide.unwrap().1);
                prop_assert!(!found.is_exact || own == wide);
            }
            if zones.count() == 1 {
                break;
            }
            zones = zones.joined();
        }
    }

    #[test]
    fn chunks_have_them_for_the_rows_that_count(
        (item_bytes, fields, items) in records(), blocks in 1..6_usize, cut in any::<u16>(),
    ) {
        let all = items.len() / item_bytes;
        let rows = 1 + usize::from(cut) % all;
        let stored = stored(&items, item_bytes, all.div_ceil(blocks) * item_bytes, &fields, rows as u64);
        let frame = open(&stored, all as u64, item_bytes).unwrap();
        let mut out = vec![0; items.len()];
        frame.read_items(&mut out).unwrap();
        prop_assert!(out == items);
        let field = fields[0];
        let window = |rows: usize| (0..rows as u64, field.offset, field.kind.item_bytes());
        let bounds = |rows: usize| {
            let (rows, offset, width) = window(rows);
            frame.bounds(rows, offset, width).filter(|_| matches!(field.kind, Number(_)))
        };
        let text_bounds = |rows: usize| {
            let (rows, offset, width) = window(rows);
            frame.text_bounds(rows, offset, width).filter(|_| matches!(field.kind, Text(_)))
        };
        if frame.repeated().is_none() {
            prop_assert_eq!(bounds(rows), naive(&items, item_bytes, field, 0..rows));
            prop_assert_eq!(text_bounds(rows), naive_texts(&items, item_bytes, &fields, 0..rows));
        }
        prop_assert!(bounds(rows + 1).is_none() && text_bounds(rows + 1).is_none());
    }
}

/// A chunk of 100 records with an ascending and a random number.
fn sample() -> (Vec<u8>, [ZoneField; 3], Vec<u8>) {
    let mut random = 1_u64;
    let items: Vec<u8> = (0..100_i32)
        .flat_map(|n| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            [&n.to_le_bytes()[..], &random.to_le_bytes()].concat()
        })
        .collect();
    let fields = [(0, Number(Type::I32)), (4, Number(Type::U64)), (4, Text(8))]
        .map(|(offset, kind)| ZoneField { offset, kind });
    let stored = stored(&items, 12, 240, &fields, 95);
    (items, fields, stored)
}

#[test]
fn no_flipped_bit_gives_a_wrong_bound() {
    let (items, fields, mut stored) = sample();
    let frame = open(&stored, 100, 12).unwrap();
    assert_eq!(frame.bounds(20..40, 0, 4).unwrap().1.min[..4], [20, 0, 0, 0]);
    let header_len = usize::try_from(u32::from_be_bytes(*stored[11..].first_chunk().unwrap())).unwrap();
    let mut refused = 0;
    for bit in 0..8 * header_len {
        stored[bit / 8] ^= 1 << (bit % 8);
        // All of the header is under a checksum but the numbers of threads, which say who wrote it.
        let opened = open(&stored, 100, 12);
        refused += usize::from(opened.is_err());
        if let Ok(frame) = opened {
            for (field, zone) in fields.iter().flat_map(|field| [0, 20, 80].map(|zone| (field, zone))) {
                let rows = zone..(zone + 20).min(95);
                let (from, to) = (rows.start as u64, rows.end as u64);
                let width = field.kind.item_bytes();
                if matches!(field.kind, Text(_)) {
                    let found = frame.text_bounds(from..to, field.offset, width);
                    let own = naive_texts(&items, 12, &[*field, fields[0]], rows);
                    assert!(found.is_none() || found == own, "bit {bit}");
                } else {
                    let found = frame.bounds(from..to, field.offset, width);
                    assert!(found.is_none() || found == naive(&items, 12, *field, rows), "bit {bit}");
                }
            }
        }
        stored[bit / 8] ^= 1 << (bit % 8);
    }
    // The name and the offset of the checksums themselves are not: without them the map has its own.
    assert!(refused > 8 * (header_len - 40), "{refused}");
}

#[test]
fn a_map_that_contradicts_itself_or_the_chunk_is_none() {
    let fields =
        [ZoneField { offset: 1, kind: Number(Type::I16) }, ZoneField { offset: 8, kind: Number(Type::F64) }];
    let items: Vec<u8> = (0..160).collect();
    let zones = Zones::gather(&fields, 16, &items, 4);
    let content = zones.write().unwrap();
    assert!(Zones::read(&content, 10, 16).is_some());
    assert!(Zones::read(&content, 10, 15).is_none());
    let with = |at: usize, byte: u8| {
        let mut content = content.clone();
        content[at] = byte;
        Zones::read(&content, 10, 16)
    };
    // Version, zero, count, items, items of a zone, type, flags.
    for (at, byte) in [
        (0, 2),
        (1, 1),
        (2, 3),
        (2, 0),
        (3, 9),
        (4, 11),
        (4, 0),
        (7, 1),
        (8, 0),
        (8, 2),
        (16, 11),
        (16, 16),
        (16, 25),
        (22, 2),
    ] {
        assert!(with(at, byte).is_none(), "byte {at} is {byte}");
    }
    let huge = [&[1, 0, 0xff, 0xff, 10, 0, 0, 0, 1, 0, 0, 0][..], &[0; 200]].concat();
    assert!(Zones::read(&huge, 10, 16).is_none());
}

#[test]
fn a_program_that_changes_the_frame_leaves_no_map() {
    let (_, _, mut stored) = sample();
    assert!(open(&stored, 100, 12).unwrap().bounds(0..95, 0, 4).is_some());
    // Whatever C-Blosc2 changes in a frame, it writes numbers of threads into its header.
    (stored[64], stored[67]) = (1, 1);
    let frame = open(&stored, 100, 12).unwrap();
    assert!(frame.bounds(0..95, 0, 4).is_none());
}

#[test]
fn small_chunks_get_few_zones_and_told_values_none() {
    let field = ZoneField { offset: 0, kind: Number(Type::I64) };
    let zeros = stored(&[0; 80_000], 8, 800, &[field], 10_000);
    assert!(zeros.len() < 300, "{}", zeros.len());
    let frame = open(&zeros, 10_000, 8).unwrap();
    assert!(frame.repeated().is_some() && frame.bounds(0..10_000, 0, 8).is_none());
    // What shrinks to little gets few zones.
    let one = stored(&5_i64.to_le_bytes().repeat(10_000), 8, 800, &[field], 10_000);
    let frame = open(&one, 10_000, 8).unwrap();
    let zones = frame.bounds(0..10_000, 0, 8).unwrap();
    assert!(zones.1.is_exact && zones.1.min == 5_i64.to_le_bytes());
    let plain = stored(&5_i64.to_le_bytes().repeat(10_000), 8, 800, &[], 10_000);
    assert!(
        one.len() - plain.len() <= BYTES_FREE.max(plain.len() / SHARE) + 40,
        "{} {}",
        one.len(),
        plain.len()
    );
    // Fields that would take more than the chunk.
    let fields: Vec<ZoneField> =
        (0..100).map(|at| ZoneField { offset: at, kind: Number(Type::I64) }).collect();
    let wide = stored(&[7; 120].repeat(1000), 120, 1200, &fields, 1000);
    assert!(
        wide.len() < 1200 + 4 * 100 && open(&wide, 1000, 120).unwrap().bounds(0..1000, 0, 8).is_none(),
        "{}",
        wide.len()
    );
}

#[test]
fn fields_outside_of_items_and_types_without_order_are_refused() {
    let pipeline = Pipeline::new(vec![slot(10, 8, 0)], &[10], 8).unwrap();
    let numbers = [(1, Type::I64), (8, Type::I8), (usize::MAX, Type::I16), (0, Type::C64)];
    let texts = [(0, Text(0)), (0, Text(9)), (1, Text(8)), (usize::MAX, Text(1))];
    for (offset, kind) in numbers.map(|(offset, ty)| (offset, Number(ty))).into_iter().chain(texts) {
        assert!(pipeline.clone().with_zones(&[ZoneField { offset, kind }]).is_err(), "{offset} {kind:?}");
    }
    // Those that can have none do not ask.
    let gzip = Slot { id: 1, is_optional: true, values: vec![5] };
    let field = [ZoneField { offset: 0, kind: Number(Type::I64) }];
    assert!(Pipeline::new(vec![gzip], &[10], 8).unwrap().with_zones(&field).is_ok());
    let spec = Blosc2Spec::new(&slot(10, 8, 0).values, &[10], 8).unwrap();
    assert!(spec.blocks.is_none());
}
