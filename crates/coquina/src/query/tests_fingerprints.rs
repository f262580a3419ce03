//! Fingerprints against hashes of the bytes themselves, whatever they are cut into and whatever is known of them.

use std::ops::Range;
use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::testing::{Memory, random};
use super::*;
use crate::base::error::ErrorKind;
use crate::base::pool::Job;

fn found(columns: &[Column<'_>], ranges: &[Range<u64>]) -> Vec<u64> {
    let run = |threads| fingerprints(columns, ranges, &Job::default().threads(Some(threads))).unwrap();
    let [one, two, seven] = [1, 2, 7].map(run);
    assert!(one == two && two == seven);
    one
}

/// Ranges of which some follow each other, and some are empty.
fn ranges(count: u64) -> impl Strategy<Value = Vec<Range<u64>>> {
    proptest::collection::vec((0..=count, 0_u64..700, any::<bool>()), 0..40).prop_map(move |parts| {
        let mut at = 0;
        let range = |(start, len, follows): (u64, u64, bool)| {
            let start = if follows { at } else { start };
            at = (start + len).min(count);
            start..at
        };
        parts.into_iter().map(range).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn items_are_hashed_as_they_lie((ranges, seed, block) in (ranges(9000), 0_u64..9, 1_u64..3000)) {
        let mut next = random(seed);
        let item = |row| if row % 4000 < 3000 { 7 } else { u16::try_from(next(9)).unwrap() };
        let items: Vec<u16> = (0..9000).map(item).collect();
        let wide: Vec<f64> = items.iter().map(|&item| f64::from(item).sqrt()).collect();
        let part = |range: &Range<u64>| usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        let wanted: Vec<u64> = ranges.iter().map(|range| xxh3_64(bytes_of(&items[part(range)]))).collect();
        let both = |range: &Range<u64>| [bytes_of(&items[part(range)]), bytes_of(&wide[part(range)])].concat();
        let of_both: Vec<u64> = ranges.iter().map(|range| xxh3_64(&both(range))).collect();
        // Whether it is known that items are all one, or not.
        for ty in [Some(Type::U16), None] {
            let (narrow, wide) = (Memory::of(&items, block, ty), Memory::of(&wide, block / 2 + 1, None));
            let (narrow, wide) = (Column::Items(&*narrow), Column::Items(&*wide));
            prop_assert_eq!(&found(&[narrow], &ranges), &wanted);
            prop_assert_eq!(&found(&[narrow, wide], &ranges), &of_both);
        }
    }

    #[test]
    fn texts_are_hashed_wherever_they_lie((ranges, seed, gap) in (ranges(2000), 0_u64..9, 0_i64..50)) {
        let mut next = random(seed);
        let mut text = |_| (0..next(9)).map(|_| u8::try_from(next(256)).unwrap()).collect();
        let texts: Vec<Vec<u8>> = (0..2000).map(&mut text).collect();
        let wanted = |range: &Range<u64>| {
            let texts = &texts[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            let lens = texts.iter().flat_map(|text| (text.len() as u64).to_le_bytes());
            xxh3_64(&lens.chain(texts.concat()).collect::<Vec<u8>>())
        };
        let wanted: Vec<u64> = ranges.iter().map(wanted).collect();
        let mut places = vec![gap];
        let mut bytes = vec![9; usize::try_from(gap).unwrap()];
        for text in &texts {
            bytes.extend(text);
            places.push(i64::try_from(bytes.len()).unwrap());
        }
        for block in [3, 100, 5000] {
            let (places, bytes) = (Memory::of(&places, block, None), Memory::of(&bytes, 2 * block, None));
            let column = Column::Strings { offsets: &*places, bytes: &*bytes };
            prop_assert_eq!(&found(&[column], &ranges), &wanted);
        }
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let kind = |columns: &[Column<'_>], range: Range<u64>| {
        fingerprints(columns, &[0..1, range], &Job::default()).unwrap_err().kind()
    };
    let items = Memory::of(&[1_u8; 10], 5, None);
    let bytes: Arc<Memory> = Memory::of(&[1_u8; 10], 5, None);
    assert_eq!(kind(&[Column::Items(&*items)], 5..11), ErrorKind::OutOfBounds);
    #[expect(clippy::reversed_empty_ranges, reason = "it is what is refused")]
    let reversed = 5..4;
    assert_eq!(kind(&[Column::Items(&*items)], reversed), ErrorKind::Invalid);
    for places in [[0_i64, 2, 1, 3], [0, 2, 3, 11], [0, -1, 2, 3], [0, 1, i64::MAX, i64::MIN]] {
        let places = Memory::of(&places, 2, None);
        let column = Column::Strings { offsets: &*places, bytes: &*bytes };
        assert_eq!(kind(&[column], 1..3), ErrorKind::Corrupt);
    }
    let places = Memory::of(&[0_i64, 2], 2, None);
    assert_eq!(kind(&[Column::Strings { offsets: &*places, bytes: &*bytes }], 1..2), ErrorKind::OutOfBounds);
    assert_eq!(fingerprints(&[], &[], &Job::default()).unwrap(), []);
}
