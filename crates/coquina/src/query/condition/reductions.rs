//! Functions of all rows: `x > mean(x)`. They are computed at once, when the condition is read.
//!
//! Source: NumPy's functions of these names. Out: one number, of the type that NumPy gives.

use coquina_kernels::Type;
use coquina_kernels::reduce::{Fold, Operation};

use super::super::numbers::numbers;
use super::Result;
use super::columns::type_error;
use super::constants::{Constant, as_float};
use super::nodes::{Argument, F64, Item, Nodes, item_bytes};
use super::types::ItemType;
use crate::base::pool::Job;
use crate::compute::reduce::reduce;
use crate::expr::text::{TextError, TextErrorKind};

/// A function, what it folds, and whether it passes over NaN.
const REDUCTIONS: &[(&str, Operation, bool)] = &[
    ("sum", Operation::Sum, false),
    ("prod", Operation::Product, false),
    ("min", Operation::Min, false),
    ("max", Operation::Max, false),
    ("mean", Operation::Mean, false),
    ("argmin", Operation::ArgMin, false),
    ("argmax", Operation::ArgMax, false),
    ("any", Operation::Any, false),
    ("all", Operation::All, false),
    ("count_nonzero", Operation::Count, false),
    ("std", Operation::Moments, false),
    ("var", Operation::Moments, false),
    ("nansum", Operation::Sum, true),
    ("nanprod", Operation::Product, true),
    ("nanmin", Operation::Min, true),
    ("nanmax", Operation::Max, true),
    ("nanmean", Operation::Mean, true),
];

pub(super) fn is_reduction(name: &str) -> bool {
    REDUCTIONS.iter().any(|(known, ..)| *known == name)
}

/// The options of a function of all rows. Rows have one axis, so the others change nothing.
pub(super) fn options(name: &str) -> &'static [&'static str] {
    if matches!(name, "std" | "var") { &["axis", "keepdims", "correction"] } else { &["axis", "keepdims"] }
}

/// Computes a function of all rows.
///
/// # Errors
/// `Type` for items that it does not take, `Value` for the least of no rows, and what goes wrong with reading.
pub(super) fn call(nodes: &mut Nodes, name: &str, item: Item, correction: f64) -> Result<Item> {
    let found = reduced(nodes, name, item, correction);
    let correction = matches!(name, "std" | "var").then_some(Argument::Weak(Constant::Float(correction)));
    let args: Vec<Argument> = [item.into()].into_iter().chain(correction).collect();
    nodes.or_elsewhere(found, name, &args)
}

fn reduced(nodes: &mut Nodes, name: &str, item: Item, correction: f64) -> Result<Item> {
    let found = REDUCTIONS.iter().find(|(known, ..)| *known == name);
    let Some(&(_, operation, skips_nan)) = found else {
        return Err(type_error(format!("{name} is no function of all rows")));
    };
    let ItemType::Number(mut ty) = item.ty else {
        let sentence = format!("{name} of {} is not computed", item.ty.name());
        return Err(TextError::new(TextErrorKind::Unsupported, sentence));
    };
    let is_end = matches!(operation, Operation::Min | Operation::Max | Operation::ArgMin | Operation::ArgMax);
    if is_end && nodes.rows == 0 {
        let sentence = format!("{name}: there are no rows, and so no such value");
        return Err(TextError::new(TextErrorKind::Value, sentence));
    }
    let mut own = item;
    let is_spread = operation == Operation::Moments;
    if is_spread && !matches!(ty, Type::F32 | Type::F64) {
        own = nodes.cast(item, F64);
        ty = Type::F64;
    }
    let source = nodes.source(own)?;
    let is_float = matches!(ty, Type::F32 | Type::F64 | Type::C64 | Type::C128);
    let fold = Fold { operation, skips_nan: skips_nan && is_float };
    let reduced = reduce(&*source, ty, fold, &[true], &Job::inline())?;
    let cells = Cells::of(reduced.bytes(), reduced.columns);
    let rows = as_float(nodes.rows.into());
    Ok(match operation {
        Operation::Mean => {
            let count = cells.float(1);
            spread_item(nodes, item, cells.float(0) / count)?
        }
        Operation::Moments => {
            let variance = cells.float(2) / (rows - correction).max(0.0);
            spread_item(nodes, item, if name == "std" { variance.sqrt() } else { variance })?
        }
        _ => {
            let (column, output) = (cells.columns[0], sum_type(operation, ty, cells.columns[0]));
            let bytes = cells.bytes[..column.bytes()].to_vec();
            let found = nodes.constant(ItemType::Number(column), bytes);
            nodes.cast(found, ItemType::Number(output))
        }
    })
}

/// Sums of floats have the type of the items.
fn sum_type(operation: Operation, ty: Type, column: Type) -> Type {
    let is_float = matches!(ty, Type::F32 | Type::C64);
    if is_float && matches!(operation, Operation::Sum | Operation::Product) { ty } else { column }
}

/// A mean or a deviation: in the precision of floats, else in double precision.
fn spread_item(nodes: &mut Nodes, item: Item, value: f64) -> Result<Item> {
    let ty = if item.ty == ItemType::Number(Type::F32) { item.ty } else { F64 };
    let bytes = item_bytes(&Constant::Float(value), ty)?;
    Ok(nodes.constant(ty, bytes))
}

/// The columns of one cell.
struct Cells<'c> {
    bytes: &'c [u8],
    columns: &'static [Type],
}

impl<'c> Cells<'c> {
    fn of(bytes: &'c [u8], columns: &'static [Type]) -> Self {
        Self { bytes, columns }
    }

    fn float(&self, column: usize) -> f64 {
        let start: usize = self.columns[..column].iter().map(|ty| ty.bytes()).sum();
        let bytes = &self.bytes[start..start + self.columns[column].bytes()];
        match self.columns[column] {
            Type::I64 => numbers::<i64>(bytes).first().map_or(0.0, |&value| as_float(value.into())),
            _ => numbers::<f64>(bytes).first().copied().unwrap_or(0.0),
        }
    }
}
