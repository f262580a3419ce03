//! Compares what the engine gives with the cells of a file.

use coquina::query::condition::ItemType;
use coquina::query::{GroupColumn, Part, SelectedColumn};

use crate::files::Column;
use crate::tables::{bytes_of, item, time_type, type_of};
use crate::words::{Cell, Kind};

/// Aggregates of floats are equal to so many digits.
pub(crate) const CLOSE: f64 = 1e-12;

/// Whether an item is the one of a cell: NaN is NaN, and floats may differ by a part of themselves.
pub(crate) fn is_item(found: &[u8], wanted: &Cell, kind: &Kind, tolerance: f64) -> bool {
    let expected = item(wanted, kind);
    let float = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    match (wanted, kind.base.as_str()) {
        (Cell::Float(_), "f4" | "f8") if found.len() == expected.len() => {
            let (found, wanted) = (float(found), float(&expected));
            // No more digits than the type has.
            let tolerance = if kind.base == "f4" && tolerance > 0.0 { 1e-6 } else { tolerance };
            let is_close = wanted.is_finite() && (found - wanted).abs() <= tolerance * wanted.abs();
            found == wanted || is_close || (found.is_nan() && wanted.is_nan())
        }
        _ => found == expected,
    }
}

/// Whether a type is that of a kind.
pub(crate) fn is_type(found: ItemType, kind: &Kind) -> bool {
    match kind.base.as_str() {
        "time" | "span" => found == ItemType::Time(time_type(kind)),
        "f2" => found == ItemType::Half,
        base => found == ItemType::Number(type_of(base).unwrap()),
    }
}

/// Whether a column that was read has these cells; if not, where it has others.
pub(crate) fn check_column(found: &SelectedColumn, column: &Column, cells: &[Cell]) -> Result<(), String> {
    let kind = &column.kind;
    let len = match &found.values {
        Part::Items(items) if column.categories.is_some() => items.len(),
        Part::Items(items) => items.len() / width(column),
        Part::Strings { offsets, .. } => offsets.len() - 1,
    };
    if len != cells.len() {
        return Err(format!("{len} values, not {}", cells.len()));
    }
    for (row, cell) in cells.iter().enumerate() {
        let is_missing = found.mask.as_ref().is_some_and(|mask| mask[row] != 0);
        let is_same = match (&found.values, &column.categories) {
            (Part::Items(codes), Some(categories)) => match categories.get(usize::from(codes[row])) {
                Some(category) => category == cell,
                None => *cell == Cell::Null,
            },
            _ if is_missing || *cell == Cell::Null => {
                // Times have a value for none.
                let is_nat = *cell == Cell::Null && matches!(kind.base.as_str(), "time" | "span");
                is_missing == (*cell == Cell::Null) || is_nat
            }
            (Part::Items(items), None) => {
                let width = width(column);
                is_item(&items[row * width..][..width], cell, kind, 0.0)
            }
            (Part::Strings { offsets, bytes }, _) => {
                bytes[offsets[row] as usize..offsets[row + 1] as usize] == bytes_of(cell)
            }
        };
        if !is_same {
            return Err(format!("row {row} is not {cell:?} in {found:?}"));
        }
    }
    Ok(())
}

/// Whether aggregates of groups are these cells.
pub(crate) fn check_aggregate(found: &GroupColumn, kind: &Kind, cells: &[Cell]) -> Result<(), String> {
    let is_text = matches!(kind.base.as_str(), "text" | "chars" | "bytes");
    if !found.ty.map_or(is_text, |ty| !is_text && is_type(ty, kind)) {
        return Err(format!("{:?} is not {kind:?}", found.ty));
    }
    for (group, cell) in cells.iter().enumerate() {
        let is_missing = found.mask.as_ref().is_some_and(|mask| mask[group] != 0);
        let is_same = match &found.values {
            _ if is_missing || *cell == Cell::Null => is_missing && *cell == Cell::Null,
            Part::Items(items) => {
                let width = items.len() / cells.len();
                is_item(&items[group * width..][..width], cell, kind, CLOSE)
            }
            Part::Strings { offsets, bytes } => {
                bytes[offsets[group] as usize..offsets[group + 1] as usize] == bytes_of(cell)
            }
        };
        if !is_same {
            return Err(format!("group {group} is not {cell:?} in {found:?}"));
        }
    }
    Ok(())
}

fn width(column: &Column) -> usize {
    item(&Cell::Null, &column.kind).len()
}
