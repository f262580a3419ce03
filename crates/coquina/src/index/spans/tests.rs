//! Spans, told of changes, say of each row who knows it.

use proptest::prelude::*;

use super::*;

const ROWS: u64 = 8;

/// What is known of rows, said row by row: the run that knows each of them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model(Vec<Option<i32>>);

impl Model {
    fn forget(&mut self, span: u64) {
        let len = self.0.len();
        let start = usize::try_from(span * ROWS).unwrap().min(len);
        self.0[start..(start + 8).min(len)].fill(None);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Change(u64, u64),
    Resize(u64),
    Own(Vec<u64>),
    Verify(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..90_u64, 0..90_u64).prop_map(|(a, b)| Step::Change(a, b)),
        (0..90_u64).prop_map(Step::Resize),
        proptest::collection::btree_set(0..11_u64, 0..11)
            .prop_map(|set| Step::Own(set.into_iter().collect())),
        (0..11_u64).prop_map(Step::Verify),
    ];
    proptest::collection::vec(step, 0..12)
}

fn fingerprint(range: &Range<u64>) -> u64 {
    range.start * 1000 + range.end
}

proptest! {
    #[test]
    fn open_ranges_are_what_nobody_owns(steps in steps(), first in 0..90_u64) {
        let mut spans = Spans::new(ROWS).unwrap();
        let (mut nrows, mut model) = (first, Model(vec![None; usize::try_from(first).unwrap()]));
        for (run, step) in (1..).zip(steps) {
            let before = model.clone();
            match step {
                Step::Change(start, stop) => {
                    let told = spans.changed(start..stop.min(nrows));
                    (start..stop.min(nrows)).for_each(|row| model.forget(row / ROWS));
                    prop_assert_eq!(told, model != before);
                }
                Step::Resize(to) => {
                    let told = spans.resized(to);
                    // A span of which rows are cut off has a fingerprint of others.
                    if to < nrows && before.0[usize::try_from(to).unwrap()].is_some() {
                        model.forget(to / ROWS);
                    }
                    model.0.resize(usize::try_from(to).unwrap(), None);
                    prop_assert_eq!(told, before.0.iter().skip(model.0.len()).any(Option::is_some));
                    nrows = to;
                }
                Step::Own(wanted) => {
                    // Spans that end within are those of which not all rows are known by now.
                    let open = spans.wanted(&BTreeSet::new(), nrows);
                    let wanted: Vec<u64> = open.into_iter().filter(|span| wanted.contains(span)).collect();
                    // All but the last are whole, and so an owner of the last one that has grown is the last.
                    let ranges = spans.ranges(&wanted, nrows);
                    let marks: Vec<u64> = ranges.iter().map(fingerprint).collect();
                    spans.own(&wanted, run, nrows, &marks).unwrap();
                    for range in ranges {
                        for row in range {
                            model.0[usize::try_from(row).unwrap()] = Some(i32::try_from(run).unwrap());
                        }
                    }
                }
                Step::Verify(span) => {
                    let mut marks: Vec<u64> = spans.fingerprinted().iter().map(fingerprint).collect();
                    if let Some(at) = spans.fingerprinted().iter().position(|range| range.start == span * ROWS) {
                        marks[at] += 1;
                        model.forget(span);
                    }
                    prop_assert_eq!(spans.verify(&marks).unwrap(), model != before);
                }
            }
            let mut found = vec![true; model.0.len()];
            for range in spans.open_ranges(nrows) {
                range.for_each(|row| found[usize::try_from(row).unwrap()] = false);
            }
            let known: Vec<bool> = model.0.iter().map(Option::is_some).collect();
            prop_assert_eq!(&found, &known);
            prop_assert!(spans.open_ranges(nrows).windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert_eq!(spans.rows(), known.iter().filter(|is| **is).count() as u64);
            let last = known.iter().rposition(|is| *is).map_or(0, |row| row as u64 + 1);
            prop_assert_eq!(spans.stop(), last);
            for (run, rows) in spans.rows_of() {
                prop_assert_eq!(model.0.iter().filter(|owner| **owner == Some(run)).count() as u64, rows);
            }
            let owned: BTreeSet<i32> = spans.rows_of().into_keys().collect();
            prop_assert_eq!(spans.wanted(&owned, nrows).len() as u64, nrows.div_ceil(ROWS));
            let place = |span: &u64| usize::try_from(span * ROWS).unwrap();
            let all_open = |span: &u64| known[place(span)..].iter().take(8).all(|is| !is);
            let wanted = spans.wanted(&BTreeSet::new(), nrows);
            prop_assert!((0..nrows.div_ceil(ROWS)).filter(all_open).all(|span| wanted.contains(&span)));
            let again = Spans::read(&spans.bytes(), ROWS);
            let is_whole = spans.owned().rev().skip(1).all(|(_, span)| span.rows() == ROWS);
            prop_assert_eq!(again.is_ok(), is_whole);
            if let Ok(again) = again {
                prop_assert_eq!(again, spans.clone());
            }
        }
    }
}

#[test]
fn spans_that_cannot_be_are_refused() {
    let bytes = |spans: &[(i32, i32)]| {
        let items = spans.iter().map(|&(run, rows)| Span { fingerprint: 7, run, rows }).collect();
        Spans { items, span_rows: ROWS }.bytes()
    };
    assert!(Spans::read(&bytes(&[(1, 8), (-1, 90), (2, 3), (-7, 0)]), ROWS).is_ok());
    for wrong in [&[(1, 0)][..], &[(1, 9)], &[(1, -1)], &[(1, 3), (1, 8)], &[(1, 3), (-1, 0), (1, 8)]] {
        assert!(Spans::read(&bytes(wrong), ROWS).is_err(), "{wrong:?}");
    }
    let mut spans = Spans::new(ROWS).unwrap();
    assert!(spans.own(&[1], 1, 8, &[0]).is_err() && spans.own(&[0], 1 << 31, 8, &[0]).is_err());
    assert!(spans.own(&[0], 1, 8, &[]).is_err() && spans.verify(&[1]).is_err());
    assert!(Spans::new(0).is_err() && Spans::new(1 << 31).is_err());
}

#[test]
fn units_side_by_side_are_one_range() {
    let found = joined([0, 1, 3, 4, 9].into_iter(), 10, 45);
    assert_eq!(found, [0..20, 30..45]);
}
