//! Ranges in order, as few as they can be.

use std::ops::Range;

/// The ranges without those that are empty, in order; what overlaps or touches is one.
pub(super) fn merged(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut some: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
    some.sort_unstable_by_key(|range| range.start);
    some.dedup_by(|next, range| {
        let is_near = next.start <= range.end;
        if is_near {
            range.end = range.end.max(next.end);
        }
        is_near
    });
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let ranges = [5..7, 0..2, 3..3, 2..3, 9..12, 10..11];
        assert_eq!(merged(ranges.into_iter()), [0..3, 5..7, 9..12]);
    }
}
