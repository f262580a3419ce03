//! Zones: the least and the greatest key of some rows that follow each other, and how many of these have none.
//!
//! In: a column with keys. Out: which zones may have keys in ranges.
//! Source: `docs/formats/indexes.md`, "Zones".
//! Invariant: a key of a row of a zone is within its bounds; a zone without keys has bounds that are the wrong way
//! round.

use std::ops::Range;

use super::key_ranges::KeyRanges;
use super::piece::Piece;
use super::read::Keyed;
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;

/// Rows of a zone, in a file.
pub const ZONE_ROWS: u64 = 1 << 14;
/// Bytes of a zone as it is stored.
const ZONE_BYTES: usize = 24;

/// One zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    low: u64,
    high: u64,
    /// How many rows have no key.
    missing: u64,
}

impl Zone {
    const NO_ROWS: Self = Self { low: u64::MAX, high: 0, missing: 0 };
    /// What is stored of zones that nobody has looked at.
    const UNSEEN: Self = Self { low: 0, high: 0, missing: 0 };
}

/// The zones of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones {
    items: Vec<Zone>,
    zone_rows: u64,
    /// As many zones are stored as whole spans have.
    per_span: u64,
}

impl Zones {
    /// No zones, of so many rows each, of spans of so many rows.
    ///
    /// # Errors
    /// `Invalid` for zones that are no parts of spans.
    pub fn new(zone_rows: u64, span_rows: u64) -> Result<Self> {
        if zone_rows == 0 || span_rows == 0 || !span_rows.is_multiple_of(zone_rows) {
            return Err(Error::invalid(format!("zones of {zone_rows} rows, spans of {span_rows}")));
        }
        Ok(Self { items: Vec::new(), zone_rows, per_span: span_rows / zone_rows })
    }

    /// The stored zones: 24 bytes each.
    ///
    /// # Errors
    /// As [`Zones::new`].
    pub fn read(bytes: &[u8], zone_rows: u64, span_rows: u64) -> Result<Self> {
        let mut zones = Self::new(zone_rows, span_rows)?;
        let mut reader = ByteReader::new(bytes);
        let mut next = |field| reader.i64_le(field).map(i64::cast_unsigned);
        for _ in 0..bytes.len() / ZONE_BYTES {
            zones.items.push(Zone { low: next("low")?, high: next("high")?, missing: next("missing")? });
        }
        Ok(zones)
    }

    /// The zones as they are stored.
    pub fn bytes(&self) -> Vec<u8> {
        let fields = self.items.iter().flat_map(|zone| [zone.low, zone.high, zone.missing]);
        fields.flat_map(u64::to_le_bytes).collect()
    }

    /// Rows of a zone.
    pub fn zone_rows(&self) -> u64 {
        self.zone_rows
    }

    /// Whether there are no zones.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The zones that may have keys in ranges, or rows without a key if `missing`, by their numbers.
    pub fn candidates(&self, keys: &KeyRanges, missing: bool) -> Vec<u64> {
        let ranges = keys.ranges();
        let has_keys = |zone: &Zone| {
            let place = ranges.partition_point(|range| *range.end() < zone.low);
            zone.low <= zone.high && ranges.get(place).is_some_and(|range| *range.start() <= zone.high)
        };
        let found = self.items.iter().enumerate();
        let found = found.filter(|(_, zone)| missing && zone.missing > 0 || has_keys(zone));
        found.map(|(number, _)| number as u64).collect()
    }

    /// Looks at the rows of ranges, which ascend and begin where zones do.
    ///
    /// # Errors
    /// `Invalid` for ranges that do not, and what goes wrong with reading.
    pub fn compute(&mut self, column: &Keyed<'_>, ranges: &[Range<u64>], job: &Job<'_>) -> Result<()> {
        let Some(last) = ranges.last() else { return Ok(()) };
        column.check(last.end)?;
        let is_wrong = |range: &&Range<u64>| range.is_empty() || !range.start.is_multiple_of(self.zone_rows);
        let pair = ranges.windows(2).find(|pair| pair[1].start < pair[0].end).map(|pair| &pair[1]);
        if let Some(range) = ranges.iter().find(is_wrong).or(pair) {
            return Err(Error::invalid(format!("rows {range:?}: takes ranges that ascend, of whole zones")));
        }
        let len = last.end.div_ceil(self.zone_rows).next_multiple_of(self.per_span);
        let len = usize::try_from(len);
        let len = len.map_err(|_| Error::limit(format!("zones of {} rows", last.end)))?;
        let mut items = self.items.clone();
        if items.len() < len {
            items.resize(len, Zone::UNSEEN);
        }
        for range in ranges {
            let [first, last] = [range.start / self.zone_rows, range.end.div_ceil(self.zone_rows)]
                .map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            items[first..last].fill(Zone::NO_ROWS);
        }
        let taker = Seen { items, zone_rows: self.zone_rows };
        self.items = column.each_piece(ranges, Ok, taker, job)?.items;
        Ok(())
    }
}

/// Zones whose rows are looked at.
struct Seen {
    items: Vec<Zone>,
    zone_rows: u64,
}

impl Seen {
    fn zone(&mut self, row: u64) -> &mut Zone {
        let place = usize::try_from(row / self.zone_rows).unwrap_or(usize::MAX);
        &mut self.items[place]
    }
}

impl Take<Piece> for Seen {
    type Rest = ();

    fn take(&mut self, mut piece: Piece) -> Result<()> {
        piece.each(|key, row| {
            let zone = self.zone(row);
            zone.low = zone.low.min(key);
            zone.high = zone.high.max(key);
        });
        piece.take_missing().for_each(|row| self.zone(row).missing += 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::slice::from_ref;

    use proptest::prelude::*;

    use super::super::KeyKind;
    use super::*;
    use crate::query::Column;
    use crate::query::testing::Memory;

    const ROWS: u64 = 10;

    proptest! {
        #[test]
        fn zones_are_candidates_if_a_row_is(
            values in proptest::collection::vec((0..40_u16, prop::bool::weighted(0.8)), 1..90),
            ends in proptest::collection::btree_set(0..42_u64, 0..8),
            (missing, again) in (any::<bool>(), any::<bool>()),
        ) {
            let items = Memory::of(&values.iter().map(|value| value.0).collect::<Vec<_>>(), 16, None);
            let mask = Memory::of(&values.iter().map(|value| u8::from(!value.1)).collect::<Vec<_>>(), 16, None);
            let kind = KeyKind::by_name("uint16").unwrap();
            let column = Keyed { column: Column::Items(&*items), kind, missing: Some(&*mask) };
            let mut zones = Zones::new(ROWS, 2 * ROWS).unwrap();
            let count = values.len() as u64;
            let job = Job::default();
            // At once, or a part and then the others.
            let cut = if again && count > 2 * ROWS { ROWS } else { 0 };
            let all = 0..count;
            let parts = [0..cut, 2 * cut..count];
            let rest = if cut > 0 { &parts } else { from_ref(&all) };
            zones.compute(&column, rest, &job).unwrap();
            if cut > 0 {
                zones.compute(&column, from_ref(&(cut..2 * cut)), &job).unwrap();
            }
            let ends: Vec<u64> = ends.into_iter().collect();
            let (low, high): (Vec<u64>, Vec<u64>) = ends.chunks_exact(2).map(|ends| (ends[0], ends[1])).unzip();
            let keys = KeyRanges::new(&low, &high).unwrap();
            let mut bounds = BTreeMap::<u64, (Vec<u64>, u64)>::new();
            for (row, &(value, has_key)) in (0..).zip(&values) {
                let zone = bounds.entry(row / ROWS).or_default();
                if has_key { zone.0.push(value.into()) } else { zone.1 += 1 }
            }
            let is_wanted = |(keys_in, gone): &(Vec<u64>, u64)| {
                let least = keys_in.iter().min().zip(keys_in.iter().max());
                let touches = |(&least, &most)| low.iter().zip(&high).any(|(&low, &high)| low <= most && high >= least);
                least.is_some_and(touches) || missing && *gone > 0
            };
            let wanted: Vec<u64> = bounds.iter().filter(|(_, zone)| is_wanted(zone)).map(|(&number, _)| number).collect();
            let mut found = zones.candidates(&keys, missing);
            // What is stored behind the last row, to fill a span, says that there is the key 0.
            found.retain(|zone| zone * ROWS < count);
            prop_assert_eq!(found, wanted);
            for ((_, (keys_in, gone)), zone) in bounds.iter().zip(&zones.items) {
                let low = keys_in.iter().copied().min().unwrap_or(u64::MAX);
                let high = keys_in.iter().copied().max().unwrap_or(0);
                prop_assert_eq!(zone, &Zone { low, high, missing: *gone });
            }
            prop_assert!(zones.items.len().is_multiple_of(2) && zones.items.len() - bounds.len() < 2);
            prop_assert_eq!(Zones::read(&zones.bytes(), ROWS, 2 * ROWS).unwrap(), zones);
        }
    }

    #[test]
    fn ranges_that_are_no_zones_are_refused() {
        let items = Memory::of(&[1_u8; 40], 16, None);
        let kind = KeyKind::by_name("uint8").unwrap();
        let column = Keyed { column: Column::Items(&*items), kind, missing: None };
        let mut zones = Zones::new(ROWS, 2 * ROWS).unwrap();
        let ranges = [1..10, 0..0, 0..41];
        let alone = ranges.each_ref().map(from_ref);
        for wrong in [alone[0], alone[1], alone[2], &[10..20, 0..10]] {
            assert!(zones.compute(&column, wrong, &Job::default()).is_err(), "{wrong:?}");
        }
        assert!(zones.is_empty() && Zones::new(0, 10).is_err() && Zones::new(10, 15).is_err());
    }
}
