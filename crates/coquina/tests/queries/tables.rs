//! Makes the columns of a table: arrays in memory, of as many rows in a chunk as the file says.

use std::sync::Arc;

use coquina::Job;
use coquina::array::{Access, Array, ArraySpec, BoxSource, Fill, Part, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::query::{Categories, ColumnValues, QueryColumn, TimeType, TimeUnit};

use crate::files::{Column, Table};
use crate::words::{Cell, Kind};

/// The bytes of an item, in the machine's order; of what is missing, zeros.
pub(crate) fn item(cell: &Cell, kind: &Kind) -> Vec<u8> {
    let width: usize = match kind.base.as_str() {
        "bool" => 1,
        "bytes" => kind.detail.parse().unwrap(),
        "chars" => 4 * kind.detail.parse::<usize>().unwrap(),
        "time" | "span" | "time64" => 8,
        "time32" => 4,
        base => base[1..].parse().unwrap(),
    };
    match (cell, kind.base.as_str()) {
        (Cell::Null, _) => vec![0; width],
        (Cell::List(all), _) => all.iter().flat_map(|one| item(one, kind)).collect(),
        (Cell::Bool(value), _) => vec![u8::from(*value)],
        (Cell::Int(value), _) => value.to_le_bytes()[..width].to_vec(),
        (Cell::Time(count), _) => count.to_le_bytes().to_vec(),
        (Cell::Float(value), "time64") => {
            // The seconds above, the microseconds below; both have the sign of the time.
            let micros = (value * 1e6).round() as i64;
            ((micros / 1_000_000) << 32 | (micros % 1_000_000) & 0xffff_ffff).to_le_bytes().to_vec()
        }
        (Cell::Float(value), "f8") => value.to_le_bytes().to_vec(),
        (Cell::Float(value), "f4") => (*value as f32).to_le_bytes().to_vec(),
        (Cell::Float(value), _) => half(*value).to_le_bytes().to_vec(),
        (Cell::Complex(real, imag), "c8") => {
            [(*real as f32).to_le_bytes(), (*imag as f32).to_le_bytes()].concat()
        }
        (Cell::Complex(real, imag), _) => [real.to_le_bytes(), imag.to_le_bytes()].concat(),
        (Cell::Bytes(bytes), "chars") => {
            let text = std::str::from_utf8(bytes).unwrap();
            let mut points: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            points.resize(width, 0);
            points
        }
        (Cell::Bytes(bytes), _) => {
            let mut bytes = bytes.clone();
            bytes.resize(width, 0);
            bytes
        }
    }
}

/// The bits of the nearest number of half precision.
fn half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return 0x7e00;
    }
    // One after the other: the first of two neighbours that is not nearer than the next one.
    let value_of = |bits: u16| match bits >> 10 {
        0 => f64::from(bits) * 2_f64.powi(-24),
        exponent => f64::from(1024 + (bits & 0x3ff)) * 2_f64.powi(i32::from(exponent) - 25),
    };
    let nearest = (0..=0x7c00_u16).min_by(|&a, &b| {
        let distance = |bits: u16| {
            if size.is_infinite() { f64::from(0x7c00 - bits) } else { (value_of(bits) - size).abs() }
        };
        distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))
    });
    sign | nearest.unwrap()
}

/// An array in memory of these items.
pub(crate) fn array(items: &[u8], item_bytes: usize, shape: &[u64], chunk: u64) -> Arc<Array> {
    let chunks: Vec<u64> = std::iter::once(chunk).chain(shape[1..].iter().copied()).collect();
    let spec = ArraySpec {
        shape: shape.to_vec(),
        chunks: Some(chunks.clone()),
        blocks: Some(chunks),
        access: Access::Any,
        dtype: format!("|V{item_bytes}"),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: item_bytes, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    };
    let array = Array::create(&spec, &Target::Memory).unwrap();
    if !items.is_empty() {
        let window = Window { offset: 0, bytes: item_bytes };
        array.write(&Selection::all(shape), window, Values::Bytes(items), &Job::default()).unwrap();
    }
    Arc::new(array)
}

/// The columns of a table as queries see them.
pub(crate) fn columns(table: &Table) -> Vec<QueryColumn> {
    table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[at]).collect();
            self::column(column, &cells, table)
        })
        .collect()
}

/// One column, of these cells.
pub(crate) fn column(column: &Column, cells: &[&Cell], table: &Table) -> QueryColumn {
    let kind = &column.kind;
    let rows = cells.len() as u64;
    if let Some(categories) = &column.categories {
        let code =
            |cell: &&Cell| categories.iter().position(|known| known == *cell).map_or(-1_i8, |at| at as i8);
        let codes: Vec<u8> = cells.iter().map(code).flat_map(i8::to_le_bytes).collect();
        let categories = match kind.base.as_str() {
            "text" => Categories::Texts(categories.iter().map(text_of).collect()),
            base => Categories::Numbers {
                ty: type_of(base).unwrap(),
                items: categories.iter().flat_map(|one| item(one, kind)).collect(),
            },
        };
        let values = ColumnValues::Categories {
            ty: coquina::query::condition::ItemType::by_name("int8").unwrap(),
            codes: array(&codes, 1, &[rows], table.chunk),
            categories: Arc::new(categories),
            is_ordered: column.is_ordered,
        };
        return QueryColumn::new(&column.path, values);
    }
    // Characters of a fixed width are there in memory alone; elsewhere they are text.
    let is_text = kind.base == "text" || (kind.base == "chars" && table.homes != ["memory"]);
    let values = if is_text {
        let texts: Vec<Vec<u8>> = cells.iter().map(|cell| bytes_of(cell)).collect();
        let mut places = vec![0_i64];
        texts.iter().for_each(|text| places.push(places.last().unwrap() + text.len() as i64));
        let bytes = texts.concat();
        let places: Vec<u8> = places.into_iter().flat_map(i64::to_le_bytes).collect();
        ColumnValues::Texts {
            offsets: array(&places, 8, &[rows + 1], table.chunk),
            bytes: array(&bytes, 1, &[bytes.len() as u64], 64),
        }
    } else {
        fixed(column, cells, table)
    };
    let made = QueryColumn::new(&column.path, values);
    if !column.is_nullable {
        return made;
    }
    let mask: Vec<u8> = cells.iter().map(|cell| u8::from(**cell == Cell::Null)).collect();
    made.with_mask(array(&mask, 1, &[rows], table.chunk))
}

fn fixed(column: &Column, cells: &[&Cell], table: &Table) -> ColumnValues {
    let kind = &column.kind;
    let items: Vec<u8> = cells.iter().flat_map(|cell| item(cell, kind)).collect();
    let shape: Vec<u64> = std::iter::once(cells.len() as u64).chain(column.shape.iter().copied()).collect();
    let count = shape.iter().product::<u64>() as usize;
    let width = match kind.base.as_str() {
        "bytes" => kind.detail.parse().unwrap(),
        "chars" => 4 * kind.detail.parse::<usize>().unwrap(),
        _ => item(&Cell::Null, kind).len(),
    };
    assert_eq!(items.len(), count * width);
    let source: Arc<dyn BoxSource> = if kind.is_swapped {
        let turned: Vec<u8> = items.chunks(width).flat_map(|item| item.iter().rev().copied()).collect();
        let array = array(&turned, width, &shape, table.chunk);
        Arc::new(Part { array, window: Window { offset: 0, bytes: width }, swapped_bytes: width })
    } else {
        array(&items, width, &shape, table.chunk)
    };
    match kind.base.as_str() {
        "bytes" => ColumnValues::FixedBytes(source),
        "chars" => ColumnValues::FixedPoints(source),
        "f2" => ColumnValues::Halves(source),
        "time64" => ColumnValues::Seconds(source),
        "time" | "span" => ColumnValues::Times { ty: time_type(kind), source, zone: column.zone.clone() },
        base => {
            let ty = type_of(base).unwrap();
            match &column.members {
                Some(members) => ColumnValues::Enumeration { ty, source, members: members.clone().into() },
                None => ColumnValues::Numbers { ty, source },
            }
        }
    }
}

pub(crate) fn type_of(base: &str) -> Option<coquina::query::condition::NumberType> {
    let base = if base == "time32" { "i4" } else { base };
    coquina::query::condition::ItemType::by_name(base)
}

pub(crate) fn time_type(kind: &Kind) -> TimeType {
    let unit = TimeUnit::by_name(&kind.detail).unwrap();
    if kind.base == "span" { TimeType::span(unit) } else { TimeType::instant(unit) }
}

pub(crate) fn bytes_of(cell: &Cell) -> Vec<u8> {
    match cell {
        Cell::Bytes(bytes) => bytes.clone(),
        Cell::Null => Vec::new(),
        other => panic!("{other:?} is no text"),
    }
}

pub(crate) fn text_of(cell: &Cell) -> String {
    String::from_utf8(bytes_of(cell)).unwrap()
}
