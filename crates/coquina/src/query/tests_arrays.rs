//! Scans of arrays: what of them is decoded, and what is known without that.

use std::sync::Arc;

use coquina_kernels::Type;

use super::{Column, Part, Query, Rows, scan};
use crate::array::{
    Access, Array, ArraySpec, BoxSource, Fill, Part as Field, Selection, Target, Values, Window,
};
use crate::base::pool::Job;
use crate::chunk::{Params, Special};
use crate::compute::{Bound, Input};
use crate::expr::{Node, Program, Tree};

fn job(threads: usize) -> Job<'static> {
    Job::default().threads(Some(threads))
}

/// An array of zeroed records of four numbers.
fn records(rows: u64) -> ArraySpec {
    ArraySpec {
        shape: vec![rows],
        chunks: Some(vec![16_000]),
        blocks: Some(vec![4000]),
        access: Access::Any,
        dtype: "|V32".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: 32, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

#[test]
fn fields_of_records_are_decoded_once() {
    let rows = 64_000_u64;
    let array = Array::create(&records(rows), &Target::Memory).unwrap();
    let items: Vec<u8> =
        (0..rows).flat_map(|row| [row % 10, row % 7, row % 5, row]).flat_map(u64::to_le_bytes).collect();
    let whole = Window { offset: 0, bytes: 32 };
    array.write(&Selection::all(&[rows]), whole, Values::Bytes(&items), &job(1)).unwrap();
    let array = Arc::new(array);
    let field = |offset| -> Arc<dyn BoxSource> {
        Arc::new(Field { array: Arc::clone(&array), window: Window { offset, bytes: 8 }, swapped_bytes: 1 })
    };
    let zero = || Node::Constant(Type::U64, vec![0; 8]);
    let nodes = vec![
        Node::Load(0, Type::U64),
        Node::Load(1, Type::U64),
        Node::Load(2, Type::U64),
        zero(),
        Node::Call("equal".into(), vec![0, 3]),
        Node::Call("equal".into(), vec![1, 3]),
        Node::Call("equal".into(), vec![2, 3]),
        Node::Call("logical_and".into(), vec![4, 5]),
        Node::Call("logical_and".into(), vec![7, 6]),
    ];
    let program = Program::new(&Tree::new(nodes).unwrap()).unwrap();
    let inputs = [0, 8, 16].map(|offset| Input { source: field(offset), is_stored: true }).to_vec();
    let condition = Bound::new(program, inputs, vec![rows]).unwrap();
    let number = field(24);
    let columns = [Column::Items(&*number)];
    let all = Rows { start: 0, stop: rows, step: 1 };
    let query =
        Query { condition: Some(&condition), columns: &columns, rows: all, numbers: false, limit: None };
    for threads in [1, 2, 7] {
        let before = array.stats();
        let found = scan(&query, &job(threads)).unwrap();
        let wanted: Vec<u8> = (0..rows).step_by(70).flat_map(u64::to_le_bytes).collect();
        assert_eq!(found.parts, [Part::Items(wanted)]);
        let after = array.stats();
        assert_eq!(after.blocks_decoded - before.blocks_decoded, 16);
        assert_eq!(after.blocks_cached, before.blocks_cached);
    }
}

#[test]
fn a_trillion_rows_of_special_chunks_are_settled_without_reading() {
    let spec = ArraySpec {
        shape: vec![1_000_000_000_000],
        chunks: Some(vec![1_000_000]),
        blocks: Some(vec![10_000]),
        dtype: "<u8".into(),
        params: Params { typesize: 8, ..Params::default() },
        ..records(0)
    };
    let array = Arc::new(Array::create(&spec, &Target::Memory).unwrap());
    let nodes = |name: &str| {
        let constant = Node::Constant(Type::U64, vec![0; 8]);
        vec![Node::Load(0, Type::U64), constant, Node::Call(name.into(), vec![0, 1])]
    };
    let count = |name: &str, threads| {
        let program = Program::new(&Tree::new(nodes(name)).unwrap()).unwrap();
        let source: Arc<dyn BoxSource> = Arc::<Array>::clone(&array);
        let inputs = vec![Input { source, is_stored: true }];
        let condition = Bound::new(program, inputs, spec.shape.clone()).unwrap();
        let rows = Rows { start: 5, stop: 1_000_000_000_000, step: 1 };
        let query = Query { condition: Some(&condition), columns: &[], rows, numbers: false, limit: None };
        scan(&query, &job(threads)).unwrap()
    };
    for threads in [1, 2] {
        let none = count("greater", threads);
        assert_eq!((none.matched, none.report.skipped, none.report.rows_scanned), (0, 100_000_000, 0));
        let all = count("equal", threads);
        assert_eq!((all.matched, all.report.whole), (999_999_999_995, 100_000_000));
    }
    assert_eq!(array.stats().blocks_decoded, 0);
}

/// A zone map that decides a part of the condition spares what only that part needs.
#[test]
fn an_operand_that_bounds_settle_is_not_decoded() {
    let rows = 8000_u64;
    let spec = |statistics| ArraySpec {
        chunks: Some(vec![2000]),
        blocks: Some(vec![500]),
        dtype: "<u8".into(),
        params: Params { typesize: 8, ..Params::default() },
        statistics,
        tuning: None,
        ..records(rows)
    };
    let column = |statistics, item: &dyn Fn(u64) -> u64| {
        let array = Array::create(&spec(statistics), &Target::Memory).unwrap();
        let items: Vec<u8> = (0..rows).map(item).flat_map(u64::to_le_bytes).collect();
        let whole = Window { offset: 0, bytes: 8 };
        array.write(&Selection::all(&[rows]), whole, Values::Bytes(&items), &job(1)).unwrap();
        array.set_cache_bytes(0);
        Arc::new(array)
    };
    let (time, noise) = (column(true, &|row| row), column(false, &|row| row * 7919 % 100));
    let constant = |item: u64| Node::Constant(Type::U64, item.to_le_bytes().to_vec());
    let nodes = vec![
        Node::Load(0, Type::U64),
        Node::Load(1, Type::U64),
        constant(3000),
        constant(50),
        Node::Call("less".into(), vec![0, 2]),
        Node::Call("less".into(), vec![1, 3]),
        Node::Call("logical_and".into(), vec![4, 5]),
    ];
    let program = Program::new(&Tree::new(nodes).unwrap()).unwrap();
    let inputs = [&time, &noise]
        .map(|array| Input { source: Arc::<Array>::clone(array) as Arc<dyn BoxSource>, is_stored: true });
    let condition = Bound::new(program, inputs.to_vec(), vec![rows]).unwrap();
    let all = Rows { start: 0, stop: rows, step: 1 };
    let query = Query { condition: Some(&condition), columns: &[], rows: all, numbers: true, limit: None };
    let found = scan(&query, &job(1)).unwrap();
    let wanted: Vec<i64> = (0..3000).filter(|row| row * 7919 % 100 < 50).collect();
    assert_eq!(found.numbers, Some(wanted));
    // The first chunk is all before, the second one is not, the others are all after.
    assert_eq!((time.stats().blocks_decoded, noise.stats().blocks_decoded), (4, 8));
    assert_eq!(condition.counters().skipped.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!((found.report.boxes, found.report.skipped, found.report.rows_scanned), (4, 2, 4000));
}
