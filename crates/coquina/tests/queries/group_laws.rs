//! Groups against a loop over rows, for kinds of columns, orders and limits that the files do not have.

use coquina::Job;
use coquina::expr::text::TextErrorKind;
use coquina::query::condition::ItemType;
use coquina::query::group::Aggregate;
use coquina::query::{Direction, GroupRows, Part, Select};
use coquina::table::{Batch, ColumnSpec, ColumnType, Schema, Table, Values};

const ROWS: usize = 500;
const WORDS: [&str; 5] = ["oak", "", "Ash", "oaks", "é"];

/// Some numbers that look like none in particular.
fn number(row: usize, of: usize) -> usize {
    (row * 7919 + row / 13 * 104_729 + of) % 97
}

struct Rows {
    keys: Vec<Option<f64>>,
    words: Vec<Option<&'static str>>,
    numbers: Vec<i64>,
}

fn rows() -> Rows {
    let key =
        |row| (!number(row, 1).is_multiple_of(9)).then(|| [0.0, -0.0, 1.5, f64::NAN][number(row, 2) % 4]);
    let word = |row| (!number(row, 3).is_multiple_of(7)).then(|| WORDS[number(row, 4) % 5]);
    let numbers = (0..ROWS).map(|row| number(row, 5) as i64).collect();
    Rows { keys: (0..ROWS).map(key).collect(), words: (0..ROWS).map(word).collect(), numbers }
}

fn table(rows: &Rows) -> Table {
    let schema = Schema::new([
        ColumnSpec::number::<f64>("k").nullable(),
        ColumnSpec::text("s").nullable(),
        ColumnSpec::new("c", ColumnType::categories()),
        ColumnSpec::number::<i64>("n"),
    ]);
    let mut table = Table::in_memory(&schema).unwrap();
    let batch = Batch::new().with("k", rows.keys.clone()).with("s", rows.words.clone());
    table.append(&batch.with("c", rows.words.clone()).with("n", &rows.numbers)).unwrap();
    table.flush().unwrap();
    table
}

const OF_TEXT: [Aggregate; 6] = [
    Aggregate::Count,
    Aggregate::Distinct,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::First,
    Aggregate::Last,
];

fn read(select: &Select, keys: &[&str], text: &str) -> GroupRows {
    let mut groups = select.group_by(keys).unwrap().count().aggregate(Aggregate::Sum, "n");
    for aggregate in OF_TEXT {
        groups = groups.aggregate(aggregate, text);
    }
    groups.read(&Job::default()).unwrap()
}

fn integers(part: &Part) -> Vec<i64> {
    let Part::Items(items) = part else { panic!("{part:?}") };
    items.chunks(8).map(|item| i64::from_le_bytes(item.try_into().unwrap())).collect()
}

fn texts(part: &Part, mask: Option<&Vec<u8>>) -> Vec<Option<String>> {
    let Part::Strings { offsets, bytes } = part else { panic!("{part:?}") };
    let text = |at: usize| bytes[offsets[at] as usize..offsets[at + 1] as usize].to_vec();
    let is_missing = |at: usize| mask.is_some_and(|mask| mask[at] != 0);
    let some = |at| (!is_missing(at)).then(|| String::from_utf8(text(at)).unwrap());
    (0..offsets.len() - 1).map(some).collect()
}

/// Whether these are the groups of these rows, in this order, by key; NaN and zeros are one key each.
fn check(found: &GroupRows, rows: &Rows, order: &[usize]) {
    // NaN and what is missing are one group, as a key that is missing is NaN.
    let label = |row: usize| rows.keys[row].filter(|key| !key.is_nan()).map(|key| (key + 0.0).to_bits());
    let mut labels = Vec::new();
    for &row in order {
        if !labels.contains(&label(row)) {
            labels.push(label(row));
        }
    }
    assert_eq!(found.len, labels.len());
    let (counts, sums) = (integers(&found.aggregates[0].values), integers(&found.aggregates[1].values));
    for (group, wanted) in labels.iter().enumerate() {
        let own: Vec<usize> = order.iter().copied().filter(|&row| label(row) == *wanted).collect();
        assert_eq!(counts[group], own.len() as i64);
        assert_eq!(sums[group], own.iter().map(|&row| rows.numbers[row]).sum::<i64>());
        let words: Vec<&str> = own.iter().filter_map(|&row| rows.words[row]).collect();
        let mut different = words.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(integers(&found.aggregates[2].values)[group], words.len() as i64);
        assert_eq!(integers(&found.aggregates[3].values)[group], different.len() as i64);
        let ends = [different.first(), different.last(), words.first(), words.last()];
        for (wanted, found) in ends.into_iter().zip(&found.aggregates[4..]) {
            let found = texts(&found.values, found.mask.as_ref());
            assert_eq!(found[group].as_deref(), wanted.copied());
        }
    }
}

#[test]
fn groups_are_those_of_a_loop_in_any_order_and_of_any_first_rows() {
    let rows = rows();
    let table = table(&rows);
    let all: Vec<usize> = (0..ROWS).collect();
    let mut sorted = all.clone();
    sorted.sort_by_key(|&row| std::cmp::Reverse(rows.numbers[row]));
    for text in ["s", "c"] {
        check(&read(&table.select().unwrap(), &["k"], text), &rows, &all);
        check(&read(&table.select().unwrap().limit(77), &["k"], text), &rows, &all[..77]);
        let few: Vec<usize> = all.iter().copied().filter(|&row| rows.numbers[row] > 60).collect();
        check(&read(&table.query("n > 60").unwrap(), &["k"], text), &rows, &few);
        let every: Vec<usize> = (30..400).step_by(3).collect();
        check(&read(&table.select().unwrap().within(30..400, 3), &["k"], text), &rows, &every);
        let ordered = table.select().unwrap().order_by("n", Direction::Descending).unwrap();
        check(&read(&ordered, &["k"], text), &rows, &sorted);
        check(&read(&ordered.limit(120), &["k"], text), &rows, &sorted[..120]);
    }
}

#[test]
fn keys_of_all_kinds_are_given_back_as_their_columns_are_read() {
    let time = ColumnType::times("datetime64[s]").unwrap();
    let schema = Schema::new([
        ColumnSpec::new("h", ColumnType::Half),
        ColumnSpec::new("b", ColumnType::Bytes(3)),
        ColumnSpec::number::<bool>("t").nullable(),
        ColumnSpec::new("w", time),
    ]);
    let mut table = Table::in_memory(&schema).unwrap();
    // 1.5, the two zeros, and two NaN of half precision.
    let halves = Values::half(vec![0x3e00, 0, 0x8000, 0x7e00, 0x7e01]);
    let bytes = Values::byte_strings(3, b"a\0\0a\0\0bcda\0\0bcd".to_vec()).unwrap();
    let truths = vec![Some(true), None, Some(false), None, Some(true)];
    let batch = Batch::new().with("h", halves).with("b", bytes).with("t", truths);
    table.append(&batch.with("w", [5_i64, i64::MIN, 5, 7, 9])).unwrap();
    table.flush().unwrap();
    let keys = |path: &str| {
        let groups = table.select().unwrap().group_by(&[path]).unwrap();
        groups.read(&Job::default()).unwrap().keys.remove(0)
    };
    let items = |halves: &[u16]| Part::Items(halves.iter().flat_map(|half| half.to_le_bytes()).collect());
    assert_eq!(keys("h").values, items(&[0x3e00, 0, 0x7e00]));
    assert_eq!(keys("b").values, Part::Items(b"a\0\0bcd".to_vec()));
    assert_eq!(keys("t").mask, Some(vec![0, 1, 0]));
    assert_eq!(integers(&keys("w").values), [5, i64::MIN, 7, 9]);

    // Where one is no time, NumPy knows neither the least nor the greatest.
    let times = table.select().unwrap();
    let groups = times.group_by(&["b"]).unwrap().aggregate(Aggregate::Max, "w");
    let found = groups.aggregate(Aggregate::Min, "w").read(&Job::default()).unwrap().aggregates;
    assert_eq!([0, 1].map(|at| integers(&found[at].values)), [[i64::MIN, 9], [i64::MIN, 5]]);
    let found = times.aggregate(Aggregate::Max, "w", &Job::default()).unwrap();
    assert_eq!(found.item, Some(i64::MIN.to_le_bytes().to_vec()));
    let found = table.query("w is not null").unwrap().aggregate(Aggregate::Max, "w", &Job::default());
    let found = found.unwrap();
    assert_eq!((found.item, found.ty.name()), (Some(9_i64.to_le_bytes().to_vec()), "datetime64[s]".into()));
}

#[test]
fn what_a_group_has_not_is_refused() {
    let table = table(&rows());
    let select = table.select().unwrap();
    assert!(select.group_by(&[]).is_err() && select.group_by(&["nothing"]).is_err());
    let error = |aggregate, text: &str| {
        let groups = select.group_by(&["c"]).unwrap().aggregate(aggregate, text);
        groups.read(&Job::default()).unwrap_err().kind()
    };
    assert_eq!(error(Aggregate::Sum, "s"), TextErrorKind::Type);
    assert_eq!(error(Aggregate::Mean, "c"), TextErrorKind::Type);
    assert_eq!(error(Aggregate::Sum, "nothing + 1"), TextErrorKind::Name);
    let none = table.query("n < 0").unwrap().group_by(&["c", "s"]).unwrap().aggregate(Aggregate::Min, "s");
    let none = none.aggregate(Aggregate::Mean, "n").read(&Job::default()).unwrap();
    assert_eq!(
        (none.len, none.aggregates[0].values.clone()),
        (0, Part::Strings { offsets: vec![0], bytes: vec![] })
    );
    assert_eq!(none.aggregates[1].ty, ItemType::by_name("float64").map(ItemType::Number));
}
