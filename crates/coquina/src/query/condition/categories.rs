//! Conditions on categories: decided for each of them once, and then looked up by code.

use std::cmp::Ordering;

use coquina_kernels::Type;
use coquina_kernels::items::Aligned;

use super::super::columns::{Categories, ColumnValues, QueryColumn};
use super::Result;
use super::columns::{described, item, looked_up, refused, type_error};
use super::constants::{Constant, holds};
use super::nodes::{BOOL, Item, Nodes};
use super::operands::{argument, moment_of, scalar, shown, sign, weak};
use super::times::{self, Moment};
use super::types::ItemType;
use super::values::Value;
use crate::expr::text::{CompareOp, TextError, TextErrorKind};
use crate::expr::{Operand, Workspace};

/// The comparison of NumPy's name.
pub(super) fn compare_op(op: &str) -> CompareOp {
    match op {
        "equal" => CompareOp::Equal,
        "not_equal" => CompareOp::NotEqual,
        "less" => CompareOp::Less,
        "less_equal" => CompareOp::LessEqual,
        "greater" => CompareOp::Greater,
        _ => CompareOp::GreaterEqual,
    }
}

/// The truth of each category, as that of the rows.
fn table(nodes: &mut Nodes, column: &QueryColumn, decided: &[u8]) -> Result<Item> {
    looked_up(nodes, column, decided, &[0], BOOL)
}

/// A constant as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Constant(Constant::Text(text)) => Some(text.clone()),
        Value::Constant(Constant::Bytes(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

/// Where the category compares so. Rows without one are false, but for what is computed.
///
/// # Errors
/// `Type` and `Value` for what is not compared.
pub(super) fn compared(
    nodes: &mut Nodes,
    op: &'static str,
    column: &QueryColumn,
    value: &Value,
) -> Result<Item> {
    let ColumnValues::Categories { categories, is_ordered, .. } = &column.values else {
        return Err(type_error(format!("{} has no categories", described(column))));
    };
    if let Value::Item(other) = value {
        let own = item(nodes, column)?;
        return nodes.named(op, &[own.into(), (*other).into()]);
    }
    let truths = |orders: Vec<Option<Ordering>>| -> Vec<u8> {
        orders.into_iter().map(|order| u8::from(holds(compare_op(op), order))).collect()
    };
    if *is_ordered && !matches!(op, "equal" | "not_equal") {
        let place = place_of(categories, value).ok_or_else(|| {
            let sentence =
                format!("{}: {} is not one of its ordered categories", described(column), shown(value));
            TextError::new(TextErrorKind::Value, sentence)
        })?;
        let orders = (0..categories.len()).map(|at| Some(at.cmp(&place))).collect();
        return table(nodes, column, &truths(orders));
    }
    let decided = match &**categories {
        Categories::Texts(texts) => {
            let text = text_of(value).ok_or_else(|| refused(column, sign(op), &shown(value)))?;
            truths(texts.iter().map(|known| Some(known.as_str().cmp(&text))).collect())
        }
        Categories::Numbers { ty, items } => {
            if text_of(value).is_some() {
                return Err(refused(column, sign(op), &format!("text, {}", shown(value))));
            }
            decided_numbers(op, *ty, items, value)?
        }
        Categories::Times { ty, items } => {
            let moment = moment_of(column, *ty, value)?;
            let order = |&count: &i64| times::order(Moment { ty: *ty, count }, moment);
            truths(items.iter().map(order).collect::<Result<Vec<_>>>()?)
        }
    };
    table(nodes, column, &decided)
}

/// How numbers compare with a constant, by the same rules as those of columns.
fn decided_numbers(op: &'static str, ty: Type, items: &[u8], value: &Value) -> Result<Vec<u8>> {
    let mut nodes = Nodes::new(0);
    let own = nodes.open(ItemType::Number(ty));
    let value = argument(&mut nodes, &weak(value), false)?;
    let found = nodes.named(op, &[own.into(), value])?;
    let program = nodes.program(found)?;
    let mut room = Aligned::new();
    let bytes = room.room(items.len());
    bytes.copy_from_slice(items);
    let mut out = vec![0; items.len() / ty.bytes()];
    if !out.is_empty() {
        program.run(&[Operand::Items(bytes)], &mut out, &mut Workspace::default());
    }
    Ok(out)
}

/// The place of a category that equals a constant.
fn place_of(categories: &Categories, value: &Value) -> Option<usize> {
    match categories {
        Categories::Texts(texts) => {
            let text = text_of(value)?;
            texts.iter().position(|known| *known == text)
        }
        Categories::Numbers { ty, items } => {
            let value = match value {
                Value::Constant(constant) => constant.clone(),
                Value::Scalar(ty, bytes) => scalar(*ty, bytes),
                _ => return None,
            };
            items.chunks(ty.bytes()).position(|item| scalar(*ty, item).equals(&value))
        }
        Categories::Times { ty, items } => {
            let Value::Moment(moment) = value else { return None };
            let is_same = |&count: &i64| {
                times::order(Moment { ty: *ty, count }, *moment)
                    .is_ok_and(|order| order == Some(Ordering::Equal))
            };
            items.iter().position(is_same)
        }
    }
}

/// Where the category is one of some.
///
/// # Errors
/// What goes wrong with codes.
pub(super) fn among(nodes: &mut Nodes, column: &QueryColumn, values: &[Value]) -> Result<Item> {
    let ColumnValues::Categories { categories, .. } = &column.values else {
        return Err(type_error(format!("{} has no categories", described(column))));
    };
    let mut decided = vec![0; categories.len()];
    for value in values {
        if let Categories::Times { ty, items } = &**categories {
            let moment = moment_of(column, *ty, value)?;
            for (decided, &count) in decided.iter_mut().zip(items) {
                *decided |=
                    u8::from(times::order(Moment { ty: *ty, count }, moment)? == Some(Ordering::Equal));
            }
            continue;
        }
        if let Some(place) = place_of(categories, value) {
            decided[place] = 1;
        }
    }
    table(nodes, column, &decided)
}

/// Where the category, a text, matches another.
///
/// # Errors
/// `Type` for what is no text.
pub(super) fn matched(nodes: &mut Nodes, op: &str, column: &QueryColumn, value: &Value) -> Result<Item> {
    let ColumnValues::Categories { categories, .. } = &column.values else {
        return Err(type_error(format!("{} has no categories", described(column))));
    };
    let (Categories::Texts(texts), Some(wanted)) = (&**categories, text_of(value)) else {
        return Err(type_error(format!("{}: {op} takes text", described(column))));
    };
    let holds = |text: &String| match op {
        "startswith" => text.starts_with(&wanted),
        "endswith" => text.ends_with(&wanted),
        _ => text.contains(&wanted),
    };
    let decided: Vec<u8> = texts.iter().map(|text| u8::from(holds(text))).collect();
    table(nodes, column, &decided)
}
