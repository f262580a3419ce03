//! Laws of the filter pipeline: what was encoded decodes, and checksums notice every flipped bit.

use proptest::prelude::*;

use super::*;
use crate::base::error::ErrorKind;

fn slot(id: u16, values: &[u32]) -> Slot {
    Slot { id, is_optional: true, values: values.into() }
}

/// A filter by number, for items of `itemsize` bytes in chunks of `bytes`.
fn any_slot(number: usize, itemsize: u32, bytes: u32) -> Slot {
    match number % 12 {
        0 => slot(1, &[4]),
        1 | 2 => slot(2, &[itemsize]),
        3 | 4 => slot(3, &[]),
        5 => slot(32001, &[2, 2, itemsize, bytes, 5, 1, 0]),
        6 => slot(32004, &[0]),
        7 => slot(32008, &[0, 4, 1, 0, 2]),
        8 => slot(32008, &[0, 4, 1, 0, 0]),
        9 => slot(32015, &[3]),
        10 => slot(32026, &[1, 0, itemsize, bytes, 5, 1, 5, 2, 3, bytes / itemsize / 3]),
        _ => slot(32026, &[1, 0, itemsize, bytes, 5, 2, 1]),
    }
}

fn sample(bytes: usize, seed: u64) -> Vec<u8> {
    let item =
        |i: u64| if (i / 50 + seed).is_multiple_of(3) { i * i } else { i.wrapping_mul(seed | 1) >> 40 };
    (0..bytes as u64).map(|i| item(i / 3).to_le_bytes()[usize::from(i % 3 == 0)]).collect()
}

/// What the first filters make of `plain` where those whose bit is set are left out.
fn stored_with(slots: &[Slot], mask: u32, plain: &[u8]) -> Vec<u8> {
    let ran = slots.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 0).map(|(_, slot)| slot.clone());
    let pipeline = Pipeline::new(ran.collect(), &[plain.len() as u64], 1).unwrap();
    pipeline.encode(plain, &Job::inline()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_was_encoded_decodes_whatever_filters_ran(
        filters in prop::collection::vec(0..12_usize, 0..5),
        itemsize in prop::sample::select(vec![1_u32, 2, 3, 4, 8, 12, 255, 300]),
        rows in 1..40_u32,
        mask in 0..16_u32,
        seed in 0..1000_u64,
    ) {
        let bytes = 3 * rows * itemsize;
        let slots: Vec<Slot> = filters.iter().map(|&number| any_slot(number, itemsize, bytes)).collect();
        let plain = sample(bytes as usize, seed);
        let pipeline = Pipeline::new(slots.clone(), &[3, rows.into()], itemsize as usize).unwrap();
        prop_assert_eq!((pipeline.unknown(), pipeline.unwritable()), (None, None));
        let stored = pipeline.encode(&plain, &Job::default()).unwrap();
        let mut out = vec![0xaa; plain.len()];
        // Behind a compressor that does not tell, one that must be told cannot be undone.
        match pipeline.decode(&stored, 0, &mut out) {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            done => prop_assert!(done.is_ok(), "{slots:?}: {done:?}"),
        }
        prop_assert!(out == plain, "{slots:?}");
        let part = stored_with(&slots, mask, &plain);
        out.fill(0x55);
        if let Err(error) = pipeline.decode(&part, mask, &mut out) {
            prop_assert_eq!(error.kind(), ErrorKind::Unsupported);
        } else {
            prop_assert!(out == plain, "{slots:?} {mask:b}");
        }
        prop_assert!(pipeline.decode(&stored, 0, &mut out[1..]).is_err());
    }

    #[test]
    fn a_flipped_bit_never_passes_a_checksum(
        filters in prop::collection::vec(0..12_usize, 0..3),
        is_first in any::<bool>(),
        bit in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        let mut slots: Vec<Slot> = filters.iter().map(|&number| any_slot(number, 4, 1200)).collect();
        slots.insert(if is_first { 0 } else { slots.len() }, slot(3, &[]));
        let plain = sample(1200, 7);
        let pipeline = Pipeline::new(slots, &[3, 100], 4).unwrap();
        let mut stored = pipeline.encode(&plain, &Job::inline()).unwrap();
        let mut out = vec![0; 1200];
        prop_assert!(pipeline.decode(&stored[..end.index(stored.len())], 0, &mut out).is_err() || out == plain);
        let bit = bit.index(8 * stored.len());
        stored[bit / 8] ^= 1 << (bit % 8);
        // A bit that a codec does not look at does no harm.
        prop_assert!(pipeline.decode(&stored, 0, &mut out).is_err() || out == plain);
    }
}

#[test]
fn every_filter_of_the_classics_is_undone_at_its_place() {
    let plain = sample(4 * 999, 3);
    let (shuffle, deflate, sum) = (slot(2, &[8]), slot(1, &[4]), slot(3, &[]));
    for slots in [
        // h5py and PyTables.
        vec![shuffle.clone(), deflate.clone(), sum.clone()],
        // netCDF-4: 4 bytes are left over.
        vec![sum.clone(), shuffle.clone(), deflate.clone()],
        vec![sum.clone(), sum.clone()],
        vec![sum.clone(), deflate.clone(), sum.clone()],
        vec![deflate.clone(), shuffle, deflate.clone(), deflate],
    ] {
        let pipeline = Pipeline::new(slots, &[999], 4).unwrap();
        let stored = pipeline.encode(&plain, &Job::inline()).unwrap();
        let mut out = vec![0; plain.len()];
        pipeline.decode(&stored, 0, &mut out).unwrap();
        assert_eq!(out, plain);
    }
}

#[test]
fn what_can_be_read_in_part_follows_from_the_filters_that_ran() {
    let of = |ids: &[u16], mask| {
        let slots = ids.iter().map(|&id| slot(id, &[])).collect();
        Pipeline::new(slots, &[10], 1).unwrap().inner(mask)
    };
    assert_eq!(of(&[], 0), Inner::Stored);
    assert_eq!(of(&[1, 2], 3), Inner::Stored);
    assert_eq!(of(&[32022], 0), Inner::Stored);
    assert_eq!(of(&[32001], 0), Inner::Blosc);
    assert_eq!(of(&[32026], 0), Inner::Blosc2);
    assert_eq!(of(&[32022, 32026, 3], 4), Inner::Blosc2);
    assert_eq!(of(&[32026, 3], 0), Inner::Whole);
    assert_eq!(of(&[305], 0), Inner::Whole);
    assert_eq!(of(&[305], 1), Inner::Stored);
}

#[test]
fn what_is_not_known_is_named_and_harmless_where_it_did_not_run() {
    let slots = vec![slot(2, &[2]), slot(40_000, &[])];
    let pipeline = Pipeline::new(slots, &[5], 2).unwrap();
    assert_eq!((pipeline.unknown(), pipeline.unwritable()), (Some(40_000), Some(40_000)));
    let mut out = [0; 10];
    let error = pipeline.decode(&[0; 10], 0, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "filter 40000 is unknown");
    pipeline.decode(&[0, 1, 2, 3, 4, 10, 11, 12, 13, 14], 2, &mut out).unwrap();
    assert_eq!(out, [0, 10, 1, 11, 2, 12, 3, 13, 4, 14]);
    // Snappy is not written in Blosc2 chunks, and what rounds is only read.
    for (id, values) in
        [(32022, &[][..]), (4, &[]), (32026, &[1, 0, 4, 40, 5, 4, 5]), (32026, &[1, 0, 4, 40, 5, 1, 3])]
    {
        let pipeline = Pipeline::new(vec![slot(id, values)], &[10], 4).unwrap();
        assert_eq!((pipeline.unknown(), pipeline.unwritable()), (None, Some(id)));
        assert!(pipeline.encode(&[0; 40], &Job::inline()).is_err());
    }
    assert!(Pipeline::new(vec![slot(2, &[4]); 33], &[10], 4).is_err());
    assert!(Pipeline::new(vec![], &[u64::MAX, 2], 4).is_err());
}

#[test]
fn sizes_between_filters_are_bounded() {
    // A gigabyte of zeros, said to stand between two filters of a small chunk.
    let zeros = vec![0; 1 << 20];
    let mut huge = Vec::new();
    by_id(32015).unwrap().encode(&zeros, &[19], &mut huge).unwrap();
    let pipeline = Pipeline::new(vec![slot(32004, &[]), slot(32015, &[])], &[100], 1).unwrap();
    let error = pipeline.decode(&huge, 0, &mut [0; 100]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
