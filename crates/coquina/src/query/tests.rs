//! Scans and folds of columns in memory against loops over rows, for any cut, step, limit and number of threads.
#![expect(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]

use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::Type;
use coquina_kernels::reduce::Fold;

use super::*;
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{ErrorKind, Result};
use crate::base::pool::Job;

/// Items in memory, cut in any way; of whole chunks of one item that is known, if it may be.
struct Items {
    bytes: Vec<u8>,
    item: usize,
    cut: (u64, u64),
    knows: bool,
    read: AtomicU64,
}

impl Items {
    fn new(bytes: Vec<u8>, item: usize, cut: (u64, u64), knows: bool) -> Self {
        Self { bytes, item, cut, knows, read: AtomicU64::new(0) }
    }

    fn part(&self, start: &[u64], shape: &[u64]) -> &[u8] {
        &self.bytes[start[0] as usize * self.item..][..shape[0] as usize * self.item]
    }

    fn items_read(&self) -> u64 {
        self.read.swap(0, Ordering::Relaxed)
    }
}

impl BoxSource for Items {
    fn shape(&self) -> Vec<u64> {
        vec![(self.bytes.len() / self.item) as u64]
    }

    fn item_bytes(&self) -> usize {
        self.item
    }

    fn walk(&self) -> Walk {
        Walk { chunks: vec![self.cut.0], blocks: vec![self.cut.1] }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item, out.len())?;
        self.read.fetch_add(shape[0], Ordering::Relaxed);
        out.copy_from_slice(self.part(start, shape));
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let is_one_chunk = start[0] / self.cut.0 == (start[0] + shape[0] - 1) / self.cut.0;
        let part = self.part(start, shape);
        let first = &part[..self.item];
        (self.knows && is_one_chunk && part.chunks(self.item).all(|item| item == first))
            .then(|| first.to_vec())
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Truth values in stretches of one value, of any byte that is true, and stretches of all densities.
    fn mask(&mut self, len: usize) -> Vec<u8> {
        let mut mask = Vec::with_capacity(len);
        while mask.len() < len {
            let stretch = 1 + self.below(len as u64 / 3 + 1) as usize;
            let percent = [0, 0, 1, 50, 99, 100, 100][self.below(7) as usize];
            let value = [1, 1, 0x80][self.below(3) as usize];
            for _ in 0..stretch {
                mask.push(if self.below(100) < percent { value } else { 0 });
            }
        }
        mask.truncate(len);
        mask
    }

    fn column(&mut self, len: usize, item: usize, cut: (u64, u64), knows: bool) -> Items {
        let same = self.below(3) == 0;
        let byte = |random: &mut Self| if same { 7 } else { random.below(256) as u8 };
        Items::new((0..len * item).map(|_| byte(self)).collect(), item, cut, knows)
    }
}

/// A table: a condition, columns of items of these sizes, and one of strings.
struct Table {
    condition: Items,
    columns: Vec<Items>,
    offsets: Items,
    bytes: Items,
}

fn table(random: &mut Random, rows: usize, cuts: &[(u64, u64)]) -> Table {
    let mut cut = || cuts[random.below(cuts.len() as u64) as usize];
    let cuts: Vec<(u64, u64)> = (0..8).map(|_| cut()).collect();
    let knows = random.below(2) == 0;
    let condition = Items::new(random.mask(rows), 1, cuts[0], knows);
    let sizes = [1, 3, 8, 16].iter().zip(&cuts[1..]);
    let columns = sizes.map(|(&size, &cut)| random.column(rows, size, cut, knows)).collect();
    let mut ends = vec![5_i64];
    for row in 0..rows {
        let len = if row % 1000 == 17 { 9000 } else { random.below(6) as i64 };
        ends.push(ends[row] + len);
    }
    let bytes = (0..ends[rows] + 3).map(|n| (n % 251) as u8).collect();
    let offsets = ends.iter().flat_map(|end| end.to_ne_bytes_()).collect();
    Table {
        condition,
        columns,
        offsets: Items::new(offsets, 8, cuts[5], knows),
        bytes: Items::new(bytes, 1, (100_000, 3000), knows),
    }
}

/// Bytes as the machine has them.
trait Native {
    fn to_ne_bytes_(&self) -> Vec<u8>;
}

impl Native for i64 {
    fn to_ne_bytes_(&self) -> Vec<u8> {
        coquina_kernels::items::bytes_of(&[*self]).to_vec()
    }
}

impl Table {
    fn columns(&self) -> Vec<Column<'_>> {
        let strings = Column::Strings { offsets: &self.offsets, bytes: &self.bytes };
        self.columns.iter().map(|items| Column::Items(items)).chain([strings]).collect()
    }

    /// The rows that match.
    fn matches(&self, is_condition: bool, rows: Rows, limit: Option<u64>) -> Vec<usize> {
        let looked = (rows.start..rows.stop).step_by(rows.step as usize).map(|row| row as usize);
        let matching = looked.filter(|&row| !is_condition || self.condition.bytes[row] != 0);
        matching.take(limit.map_or(usize::MAX, |limit| limit as usize)).collect()
    }

    fn gathered(&self, matches: &[usize]) -> Vec<Part> {
        let items = |column: &Items| {
            let item = |row: &usize| column.bytes[row * column.item..][..column.item].to_vec();
            Part::Items(matches.iter().flat_map(item).collect())
        };
        let ends = coquina_kernels::items::items::<i64>;
        let mut aligned = coquina_kernels::items::Aligned::new();
        aligned.room(self.offsets.bytes.len()).copy_from_slice(&self.offsets.bytes);
        let ends = ends(&aligned.all()[..self.offsets.bytes.len()]);
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for &row in matches {
            bytes.extend(&self.bytes.bytes[ends[row] as usize..ends[row + 1] as usize]);
            offsets.push(bytes.len() as i64);
        }
        self.columns.iter().map(items).chain([Part::Strings { offsets, bytes }]).collect()
    }
}

fn job(threads: usize) -> Job<'static> {
    Job::default().threads(Some(threads))
}

fn check(table: &Table, rows: Rows, limit: Option<u64>, is_condition: bool) {
    let condition = is_condition.then_some(&table.condition as &dyn BoxSource);
    let columns = table.columns();
    let query = Query { condition, columns: &columns, rows, numbers: true, limit };
    let matches = table.matches(is_condition, rows, limit);
    let numbers: Vec<i64> = matches.iter().map(|&row| row as i64).collect();
    let wanted = table.gathered(&matches);
    let mut reports = Vec::new();
    for threads in [1, 2, 7] {
        let found = scan(&query, &job(threads)).unwrap();
        let what = || format!("{rows:?}, {limit:?}, {threads} threads");
        assert_eq!(found.matched, matches.len() as u64, "{}", what());
        assert!(found.numbers.as_ref() == Some(&numbers), "{}", what());
        assert!(found.parts == wanted, "{}", what());
        reports.push(found.report);
        let counted = scan(&Query { columns: &[], numbers: false, ..query }, &job(threads)).unwrap();
        assert_eq!((counted.matched, counted.parts, counted.numbers), (found.matched, vec![], None));
    }
    assert!(reports.iter().all(|report| *report == reports[0]), "{reports:?}");
}

#[test]
fn a_scan_is_a_loop_over_rows() {
    let mut random = Random(1);
    let all_cuts: [&[(u64, u64)]; 5] = [
        &[(1, 1)],
        &[(7, 3)],
        &[(100, 10), (30, 7)],
        &[(9000, 1500), (9000, 3000)],
        &[(20_000, 20_000), (5, 5)],
    ];
    for len in [0, 1, 2, 50, 1000, 30_000] {
        for cuts in all_cuts {
            let table = table(&mut random, len, cuts);
            let end = len as u64;
            for step in [1, 2, 3, 1000, u64::MAX] {
                let start = random.below(end / 2 + 1);
                let stop = end - random.below(end / 3 + 1).min(end);
                for limit in [None, Some(0), Some(1), Some(random.below(end + 2))] {
                    check(&table, Rows { start, stop, step }, limit, random.below(4) > 0);
                }
            }
        }
    }
}

#[test]
fn large_tables_in_few_and_in_many_chunks() {
    let mut random = Random(2);
    for cuts in [&[(150_000, 5000)][..], &[(100, 100)], &[(1000, 100), (1000, 50)]] {
        let table = table(&mut random, 300_000, cuts);
        for (rows, limit) in [
            (Rows { start: 0, stop: 300_000, step: 1 }, None),
            (Rows { start: 1, stop: 299_999, step: 1 }, Some(20_000)),
            (Rows { start: 12_345, stop: 290_000, step: 7 }, None),
        ] {
            check(&table, rows, limit, true);
        }
    }
}

#[test]
fn what_is_known_is_not_read() {
    let cut = (10_000, 5000);
    let mut mask = vec![0_u8; 40_000];
    mask[10_000..20_000].fill(1);
    mask[31_000] = 1;
    let condition = Items::new(mask, 1, cut, true);
    let column = Items::new((0..160_000).map(|n| (n / 4 % 199) as u8).collect(), 4, cut, true);
    let constant = Items::new(vec![9; 80_000], 2, cut, true);
    let rows = Rows { start: 0, stop: 40_000, step: 1 };
    let run = |columns: &[Column<'_>], limit| {
        let query = Query { condition: Some(&condition), columns, rows, numbers: true, limit };
        scan(&query, &job(1)).unwrap()
    };
    let found = run(&[Column::Items(&constant)], None);
    assert_eq!((found.matched, constant.items_read()), (10_001, 0));
    // Of one chunk nothing is known but of its second half.
    assert_eq!(condition.items_read(), 5000);
    assert_eq!(found.parts, [Part::Items(vec![9; 20_002])]);
    let report = Report { boxes: 8, skipped: 5, whole: 2, decoded: 0, rows_scanned: 5000 };
    assert_eq!(found.report, report);
    let found = run(&[Column::Items(&constant), Column::Items(&column)], None);
    // A single match is read alone.
    assert_eq!((found.matched, column.items_read(), constant.items_read()), (10_001, 10_001, 0));
    assert_eq!(found.report, Report { decoded: 3, ..report });
    let found = run(&[Column::Items(&column)], Some(5));
    assert_eq!((found.matched, found.numbers.unwrap()), (5, (10_000..10_005).collect()));
    // The first chunk was passed, and one box of the second was enough.
    assert_eq!((found.report.boxes, found.report.skipped), (3, 2));
}

#[test]
fn hostile_offsets_are_an_error() {
    let good = [0_i64, 3, 3, 7, 9, 12];
    let run = |offsets: &[i64], mask: &[u8]| {
        let bytes = offsets.iter().flat_map(|end| end.to_ne_bytes_()).collect();
        let offsets = Items::new(bytes, 8, (4, 2), false);
        let text = Items::new(b"abcdefghijkl".to_vec(), 1, (5, 5), false);
        let condition = Items::new(mask.to_vec(), 1, (4, 2), false);
        let columns = [Column::Strings { offsets: &offsets, bytes: &text }];
        let rows = Rows { start: 0, stop: 5, step: 1 };
        scan(
            &Query { condition: Some(&condition), columns: &columns, rows, numbers: false, limit: None },
            &job(1),
        )
        .map(|mut found| found.parts.remove(0))
    };
    let strings =
        |offsets: &[i64], bytes: &[u8]| Part::Strings { offsets: offsets.into(), bytes: bytes.into() };
    assert_eq!(run(&good, &[1; 5]).unwrap(), strings(&good, b"abcdefghijkl"));
    assert_eq!(run(&good, &[1, 0, 1, 0, 1]).unwrap(), strings(&[0, 3, 7, 10], b"abcdefgjkl"));
    for (place, value) in [(0, -1), (1, 4), (2, -5), (3, i64::MAX), (3, 2), (5, 13), (5, i64::MIN), (5, 8)] {
        let mut bad = good;
        bad[place] = value;
        let error = run(&bad, &[1; 5]).map(|_| ());
        if (place, value) == (1, 4) {
            // What comes after it says so.
            bad[2] = 3;
        }
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{bad:?}");
    }
    // Strings that nobody wants may stand anywhere.
    assert_eq!(run(&[0, 3, -7, 7, 9, 12], &[1, 0, 0, 1, 1]).unwrap(), strings(&[0, 3, 5, 8], b"abchijkl"));
    // Each chunk rises, but they overlap.
    assert_eq!(run(&[0, 12, 12, 12, 3, 12], &[1, 0, 0, 0, 1]).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn folds_are_those_of_the_gathered_items() {
    let mut random = Random(3);
    let names =
        ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "moments"];
    for (len, cut) in [(0, (5, 5)), (100, (7, 7)), (30_000, (9000, 1500)), (300_000, (100, 100))] {
        for knows in [false, true] {
            let condition = Items::new(random.mask(len), 1, cut, knows);
            let numbers: Vec<i32> = (0..len).map(|_| random.below(1000) as i32 - 300).collect();
            let bytes = |numbers: &[i32]| coquina_kernels::items::bytes_of(numbers).to_vec();
            let column = Items::new(bytes(&numbers), 4, cut, knows);
            let picked: Vec<i32> =
                (0..len).filter(|&row| condition.bytes[row] != 0).map(|row| numbers[row]).collect();
            let gathered = Items::new(bytes(&picked), 4, (len.max(1) as u64, 50), false);
            let rows = Rows { start: 0, stop: len as u64, step: 1 };
            for name in names {
                let fold = Fold::by_name(name).unwrap();
                let whole =
                    crate::compute::reduce::reduce(&gathered, Type::I32, fold, &[true], &job(1)).unwrap();
                let run = |threads| {
                    scan_fold(Some(&condition), &column, Type::I32, fold, rows, &job(threads)).unwrap()
                };
                let found = run(1);
                assert_eq!(found.matched, picked.len() as u64);
                assert!(same(name, &found.bytes, whole.bytes()), "{name} of {len}");
                for threads in [2, 7] {
                    assert_eq!(run(threads).bytes, found.bytes, "{name} of {len}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn extremes_of_all_rows_are_taken_from_bounds() {
    let numbers: Vec<f64> = (0..900).map(|n| f64::from((n * 7919) % 1009) - 300.5).collect();
    let signed: Vec<f64> = (0..90).map(|n| if n % 2 == 0 { 0.0 } else { -0.0 }).collect();
    let mut holes = numbers.clone();
    holes[50] = f64::NAN;
    for (numbers, is_known) in [(&numbers, true), (&signed, false), (&holes, false)] {
        let stop = numbers.len() as u64;
        for (rows, name) in [(0..stop, "min"), (0..stop, "max"), (3..stop - 2, "min"), (3..stop - 2, "max")] {
            let rows = Rows { start: rows.start, stop: rows.end, step: 1 };
            let fold = Fold::by_name(name).unwrap();
            let run = |ty| {
                let column = super::testing::Memory::of(numbers, 10, ty);
                let found = scan_fold(None, &*column, Type::F64, fold, rows, &job(2)).unwrap();
                (found.bytes, found.report.decoded)
            };
            let ((known, decoded), (read, all)) = (run(Some(Type::F64)), run(None));
            assert_eq!(known, read, "{name} of {stop} rows");
            assert!(if is_known { decoded == 0 } else { decoded > 0 }, "{decoded} boxes");
            assert!(all > 0);
        }
    }
}

/// Whether two cells are the same, but for how floating-point sums are rounded.
fn same(name: &str, found: &[u8], wanted: &[u8]) -> bool {
    if name != "moments" {
        return found == wanted;
    }
    let column = |bytes: &[u8], at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let close = |at| {
        let (a, b) = (column(found, at), column(wanted, at));
        a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * b.abs() || a.is_nan() && b.is_nan()
    };
    found.len() == wanted.len() && (0..found.len()).step_by(8).all(close)
}

#[test]
fn what_does_not_fit_is_refused() {
    let column = |len: usize, item| Items::new(vec![0; len * item], item, (10, 10), false);
    let (mask, wide, items) = (column(10, 1), column(10, 2), column(9, 4));
    let run = |condition: &Items, columns: &[Column<'_>], stop, step| {
        let rows = Rows { start: 0, stop, step };
        let query = Query { condition: Some(condition), columns, rows, numbers: false, limit: None };
        scan(&query, &job(1)).unwrap_err().to_string()
    };
    assert_eq!(run(&mask, &[], 10, 0), "rows: a step of 0");
    assert_eq!(run(&mask, &[], 11, 1), "condition: row 11 is the end, of 10");
    assert_eq!(run(&wide, &[], 10, 1), "condition: items of 2 bytes are not booleans");
    assert_eq!(run(&mask, &[Column::Items(&items)], 10, 1), "column 0: row 10 is the end, of 9");
    let strings = Column::Strings { offsets: &wide, bytes: &mask };
    assert!(run(&mask, &[strings], 9, 1).contains("takes 8 and 1"));
    let strings = Column::Strings { offsets: &items, bytes: &mask };
    assert!(run(&mask, &[strings], 9, 1).contains("row 10 is the end, of 9"));
}
