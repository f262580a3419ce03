//! Walks that leap from one row that may match to the next, against walks that come to every box.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;
use coquina_kernels::reduce::Fold;
use proptest::prelude::*;

use super::row_lists::tests::rows_of;
use super::testing::Memory;
use super::*;
use crate::array::{Access, Array, ArraySpec, BoxSource, Fill, Known, Target, Walk};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{Params, Special};
use crate::compute::{Bound, Input};
use crate::expr::{Node, Program, Tree};

fn job(threads: usize) -> Job<'static> {
    Job::default().threads(Some(threads))
}

/// A source that keeps to itself where it may be true.
struct Blind(Arc<dyn BoxSource>);

impl BoxSource for Blind {
    fn shape(&self) -> Vec<u64> {
        self.0.shape()
    }

    fn item_bytes(&self) -> usize {
        self.0.item_bytes()
    }

    fn walk(&self) -> Walk {
        self.0.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.0.fill(start, shape, out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.0.uniform(start, shape)
    }

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        self.0.known(start, shape)
    }
}

/// A program of truth values over some sources: functions of the two last results.
fn program(inputs: &[Arc<dyn BoxSource>], names: &[&str], rows: u64) -> Arc<dyn BoxSource> {
    let mut nodes: Vec<Node> = (0..inputs.len()).map(|number| Node::Load(number, Type::Bool)).collect();
    let mut last = 0;
    for (number, name) in names.iter().enumerate() {
        nodes.push(Node::Call((*name).into(), vec![last, number + 1]));
        last = nodes.len() - 1;
    }
    let input = |(number, source)| Input { source: Arc::clone(source), is_stored: number == 0 };
    let inputs = inputs.iter().enumerate().map(input).collect();
    Arc::new(Bound::new(Program::new(&Tree::new(nodes).unwrap()).unwrap(), inputs, vec![rows]).unwrap())
}

/// Rows here and there, in a cut, and some ranges.
#[derive(Clone, Debug)]
struct Case {
    masks: [Vec<bool>; 3],
    open: Vec<[i64; 2]>,
    cut: (u64, u64),
    rows: Rows,
}

fn cases() -> impl Strategy<Value = Case> {
    let cut = prop_oneof![Just((70_u64, 7_u64)), Just((9000, 1500)), Just((9000, 9000)), Just((50_000, 100))];
    let step = prop_oneof![4 => Just(1_u64), 1 => 2_u64..5000];
    (1_usize..60_000, cut, step, any::<u64>(), 0_u64..3).prop_flat_map(|(len, cut, step, seed, density)| {
        let mut next = super::testing::random(seed);
        let masks = [0, 1, 2].map(|which| {
            let every = [3, 300, 20_000][usize::try_from((density + which) % 3).unwrap()];
            (0..len).map(|_| next(every) == 0).collect()
        });
        let len = len as u64;
        let bounds = proptest::collection::btree_set(0..=len, 0..6);
        (Just(masks), bounds, 0..=len, 0..=len).prop_map(move |(masks, bounds, a, b)| {
            let bounds: Vec<i64> = bounds.into_iter().map(u64::cast_signed).collect();
            let open =
                bounds.chunks_exact(2).map(|pair| [pair[0], pair[0] + (pair[1] - pair[0]) / 3]).collect();
            Case { masks, open, cut, rows: Rows { start: a.min(b), stop: a.max(b), step } }
        })
    })
}

impl Case {
    fn sets(&self) -> [Arc<dyn BoxSource>; 2] {
        let (chunk, block) = self.cut;
        [(&self.masks[0], &[][..]), (&self.masks[1], &self.open[..])].map(|(mask, open)| {
            let rows = rows_of(mask);
            Arc::new(RowCondition::new(&rows, open, mask.len() as u64, chunk, block).unwrap())
                as Arc<dyn BoxSource>
        })
    }

    fn conditions(&self, hide: impl Fn(Arc<dyn BoxSource>) -> Arc<dyn BoxSource>) -> Vec<Arc<dyn BoxSource>> {
        let [a, b] = self.sets().map(hide);
        let bytes: Vec<u8> = self.masks[2].iter().map(|&is| u8::from(is)).collect();
        let count = bytes.len() as u64;
        let other: Arc<dyn BoxSource> = Memory::of(&bytes, self.cut.1, Some(Type::Bool));
        let of = |inputs: &[&Arc<dyn BoxSource>], names: &[&str]| {
            program(&inputs.iter().map(|one| Arc::clone(one)).collect::<Vec<_>>(), names, count)
        };
        vec![
            of(&[&a, &other], &["logical_and"]),
            of(&[&a, &b], &["logical_or"]),
            of(&[&a, &b, &other], &["logical_or", "logical_and"]),
            of(&[&other, &b, &a], &["bitwise_and", "bitwise_or"]),
            of(&[&other, &a], &["logical_xor"]),
            a,
            b,
        ]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn leaps_change_nothing(case in cases(), limit in proptest::option::of(0_u64..40)) {
        let count = case.masks[0].len() as u64;
        let numbers: Vec<f64> = (0..count).map(|row| (row as f64).sqrt()).collect();
        let column = Memory::of(&numbers, 500, None);
        let columns = [Column::Items(&*column)];
        let blind = case.conditions(|set| Arc::new(Blind(set)));
        for (leaping, blind) in case.conditions(|set| set).iter().zip(&blind) {
            let run = |condition: &dyn BoxSource, limit, threads| {
                let query =
                    Query { condition: Some(condition), columns: &columns, rows: case.rows, numbers: true, limit };
                scan(&query, &job(threads)).unwrap()
            };
            let blind = Blind(Arc::clone(blind));
            let (found, wanted) = (run(&**leaping, None, 1), run(&blind, None, 1));
            prop_assert_eq!(found.matched, wanted.matched);
            prop_assert_eq!(&found.numbers, &wanted.numbers);
            prop_assert_eq!(&found.parts, &wanted.parts);
            let (report, full) = (found.report, wanted.report);
            prop_assert_eq!((report.boxes, report.decoded), (full.boxes, full.decoded));
            prop_assert!(report.skipped >= full.skipped && report.rows_scanned <= full.rows_scanned);
            prop_assert!(report.skipped + report.whole <= report.boxes);
            prop_assert_eq!(run(&**leaping, None, 7).report, report);
            let (few, wanted) = (run(&**leaping, limit, 2), run(&blind, limit, 1));
            prop_assert_eq!((few.matched, few.numbers, few.parts), (wanted.matched, wanted.numbers, wanted.parts));
            let fold = |condition: &dyn BoxSource| {
                let sum = Fold::by_name("mean").unwrap();
                scan_fold(Some(condition), &*column, Type::F64, sum, case.rows, &job(2)).unwrap().bytes
            };
            prop_assert_eq!(fold(&**leaping), fold(&blind));
        }
    }

    #[test]
    fn possible_rows_enclose_the_true_ones(case in cases(), a in 0_u64..60_000, b in 0_u64..60_000) {
        for condition in case.conditions(|set| set) {
            let count = condition.shape()[0];
            let mut out = vec![0; case.masks[0].len()];
            condition.fill(&[0], &[count], &mut out).unwrap();
            let range: Range<u64> = a.min(b).min(count)..a.max(b).min(count);
            let possible = condition.possible(range.clone());
            let is_within = possible.as_ref().is_none_or(|rows| {
                range.start <= rows.start && rows.start < rows.end && rows.end <= range.end
            });
            prop_assert!(is_within, "{:?} of {:?}", possible, range);
            let is_possible = |row: u64| possible.as_ref().is_some_and(|rows| rows.contains(&row));
            for (row, &byte) in (0_u64..).zip(&out).filter(|(row, _)| range.contains(row)) {
                prop_assert!(byte == 0 || is_possible(row), "row {} of {:?}", row, possible);
            }
        }
    }
}

/// A source that must not be looked at where something else decides.
struct Costly(u64, Range<u64>);

impl BoxSource for Costly {
    fn shape(&self) -> Vec<u64> {
        vec![self.0]
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        Walk { chunks: vec![100_000], blocks: vec![10_000] }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.uniform(start, shape);
        out.fill(1);
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let end = start[0] + shape[0];
        assert!(start[0] < self.1.end && self.1.start < end, "rows {}..{end} were looked at", start[0]);
        None
    }
}

#[test]
fn what_decides_alone_is_looked_at_alone() {
    let rows = 100_000_000_000_u64;
    let row = 55_555_555_555_u64;
    let set = |rows_of: &[i64]| -> Arc<dyn BoxSource> {
        Arc::new(RowCondition::new(rows_of, &[], rows, 100_000, 10_000).unwrap())
    };
    let chunk = row / 100_000 * 100_000;
    let costly: Arc<dyn BoxSource> = Arc::new(Costly(rows, chunk..chunk + 100_000));
    let one = program(&[Arc::clone(&costly), set(&[row.cast_signed()])], &["logical_and"], rows);
    let none = program(&[costly, set(&[])], &["logical_and"], rows);
    for threads in [1, 2] {
        let all = Rows { start: 7, stop: rows, step: 1 };
        let run = |condition: &dyn BoxSource| {
            let query =
                Query { condition: Some(condition), columns: &[], rows: all, numbers: true, limit: None };
            scan(&query, &job(threads)).unwrap()
        };
        let found = run(&*one);
        assert_eq!(found.numbers, Some(vec![row.cast_signed()]));
        assert_eq!((found.report.boxes, found.report.skipped), (10_000_000, 9_999_999));
        assert_eq!(found.report.rows_scanned, 1);
        let found = run(&*none);
        assert_eq!((found.matched, found.report.skipped), (0, 10_000_000));
    }
}

#[test]
fn of_few_rows_only_their_blocks_are_decoded() {
    let count = 1_000_000_u64;
    let spec = ArraySpec {
        shape: vec![count],
        chunks: Some(vec![100_000]),
        blocks: Some(vec![10_000]),
        access: Access::Any,
        dtype: "<u8".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: 8, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    };
    let array = Array::create(&spec, &Target::Memory).unwrap();
    let items: Vec<u64> = (0..count).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).collect();
    let all = crate::array::Selection::all(&[count]);
    let window = crate::array::Window { offset: 0, bytes: 8 };
    array.write(&all, window, crate::array::Values::Bytes(bytes_of(&items)), &job(1)).unwrap();
    let wanted: Vec<u64> = [3_u64, 5, 250_000, 259_999, 270_123, 999_999].into();
    let rows: Vec<i64> = wanted.iter().map(|row| row.cast_signed()).collect();
    let set = RowCondition::new(&rows, &[], count, 100_000, 10_000).unwrap();
    let columns = [Column::Items(&array)];
    let rows = Rows { start: 0, stop: count, step: 1 };
    let query = Query { condition: Some(&set), columns: &columns, rows, numbers: false, limit: None };
    let found = scan(&query, &job(1)).unwrap();
    let gathered: Vec<u64> = wanted.iter().map(|&row| items[usize::try_from(row).unwrap()]).collect();
    assert_eq!(found.parts, [Part::Items(bytes_of(&gathered).to_vec())]);
    assert_eq!((found.report.boxes, found.report.skipped, found.report.decoded), (100, 96, 4));
    let first = array.stats();
    assert_eq!(first.blocks_decoded, 4);
    // Few blocks are kept for the next one.
    assert_eq!(scan(&query, &job(1)).unwrap().parts, found.parts);
    let second = array.stats();
    assert!(second.blocks_decoded < 8 && second.blocks_cached > first.blocks_cached, "{second:?}");
    let memory = Memory::of(&items, 10_000, None);
    let columns = [Column::Items(&*memory)];
    assert_eq!(scan(&Query { columns: &columns, ..query }, &job(1)).unwrap().parts, found.parts);
    assert!(memory.read.load(Ordering::Relaxed) < 30_000);
}

/// Counts the questions.
struct Asked(Array, AtomicU64);

impl BoxSource for Asked {
    fn shape(&self) -> Vec<u64> {
        BoxSource::shape(&self.0)
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        self.0.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.0.fill(start, shape, out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.uniform(start, shape)
    }
}

#[test]
fn runs_of_chunks_without_a_match_are_passed_at_once() {
    let count = 1_u64 << 34;
    let spec = ArraySpec {
        shape: vec![count],
        chunks: Some(vec![1 << 16]),
        blocks: Some(vec![1 << 12]),
        access: Access::Any,
        dtype: "|b1".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: 1, ..Params::default() },
        checksums: true,
        statistics: false,
        tuning: None,
    };
    let array = Array::create(&spec, &Target::Memory).unwrap();
    let rows = [5_u64, 70_000, 1 << 30, (1 << 33) + 17, count - 1];
    for row in rows {
        let window = crate::array::Window { offset: 0, bytes: 1 };
        let one = crate::array::Selection::region(std::slice::from_ref(&(row..row + 1)));
        array.write(&one, window, crate::array::Values::Bytes(&[1]), &job(1)).unwrap();
    }
    let asked = Asked(array, AtomicU64::new(0));
    for threads in [1, 2] {
        let all = Rows { start: 3, stop: count, step: 1 };
        let query = Query { condition: Some(&asked), columns: &[], rows: all, numbers: true, limit: None };
        let found = scan(&query, &job(threads)).unwrap();
        assert_eq!(found.numbers, Some(rows.map(u64::cast_signed).to_vec()));
        assert_eq!(found.report.boxes, count >> 12);
        // All but those of the five chunks that are stored.
        assert_eq!(found.report.skipped, (count >> 12) - 5 * 16);
    }
    // There are 262,144 chunks.
    let questions = asked.1.load(Ordering::Relaxed);
    assert!(questions < 5000, "{questions}");
}
