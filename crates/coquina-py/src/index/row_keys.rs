//! Keys of the values of some rows.

use coquina::array::BoxSource;
use coquina::index::KeyKind;
use coquina::query::{Column, Part, scan_rows};
use coquina::{Job, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

/// Keys, and which rows have one; that of a row without one is 0.
type RowKeys<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<bool>>);

/// The keys of the values of rows, in any order.
#[pyfunction]
#[pyo3(signature = (source, missing, kind, rows, /))]
pub(super) fn row_keys<'py>(
    py: Python<'py>,
    source: Wanted<'py>,
    missing: Option<PyRef<'py, Lazy>>,
    kind: &str,
    rows: PyReadonlyArray1<'py, i64>,
) -> Result<RowKeys<'py>, Raised> {
    let kind = KeyKind::by_name(kind)?;
    let numbers = rows.as_array().to_vec();
    let missing = missing.as_ref().map(|lazy| &*lazy.source);
    let column = source.column();
    let keys = watch::run(py, usize::MAX, None, None, |job| keys_of(column, missing, kind, &numbers, job))?;
    let there = keys.iter().map(Option::is_some).collect();
    let keys = keys.into_iter().map(Option::unwrap_or_default).collect();
    Ok((PyArray1::from_vec(py, keys), PyArray1::from_vec(py, there)))
}

fn keys_of(
    column: Column<'_>,
    missing: Option<&dyn BoxSource>,
    kind: KeyKind,
    numbers: &[i64],
    job: &Job<'_>,
) -> Result<Vec<Option<u64>>> {
    let (first, more) = match column {
        Column::Items(source) => (source, 0),
        Column::Strings { offsets, .. } => (offsets, 1),
    };
    let mut ascending = numbers.to_vec();
    ascending.sort_unstable();
    ascending.dedup();
    let count = first.shape().first().map_or(0, |len| len.saturating_sub(more));
    let columns: Vec<Column<'_>> = std::iter::once(column).chain(missing.map(Column::Items)).collect();
    let mut parts = scan_rows(&ascending, count, &columns, job)?.into_iter();
    let found: Vec<Option<u64>> = match parts.next() {
        // Texts of no bytes.
        Some(Part::Items(_)) if first.item_bytes() == 0 => vec![Some(0); ascending.len()],
        Some(Part::Items(items)) => {
            items.chunks_exact(first.item_bytes()).map(|item| kind.key_of(item)).collect()
        }
        Some(Part::Strings { offsets, bytes }) => {
            let place = |at: i64| usize::try_from(at).unwrap_or(0);
            let texts = offsets.windows(2).map(|ends| &bytes[place(ends[0])..place(ends[1])]);
            texts.map(|text| if text.is_empty() { Some(0) } else { kind.key_of(text) }).collect()
        }
        None => Vec::new(),
    };
    let mask = match parts.next() {
        Some(Part::Items(mask)) => mask,
        _ => vec![0; found.len()],
    };
    let at = |number: &i64| {
        let place = ascending.partition_point(|row| row < number);
        found.get(place).copied().flatten().filter(|_| mask.get(place) == Some(&0))
    };
    Ok(numbers.iter().map(at).collect())
}
