//! Comparisons and matches of columns, items and constants.
//!
//! Invariant: a comparison is false where an operand is missing, `!=` too.

use std::sync::Arc;

use coquina_kernels::items::bytes_of;

use super::super::columns::{ColumnValues, QueryColumn, TimeType};
use super::super::predicates::{FixedText, Strings, TextTest};
use super::Result;
use super::categories;
use super::columns::{check_scalar, described, item, nulls, refused, type_error};
use super::constants::Constant;
use super::functions::mirrored;
use super::nodes::{Argument, BOOL, Item, Nodes};
use super::operands::{argument, as_seconds, moment_of, numbered, shown, sign, weak};
use super::sources::TextPairs;
use super::times;
use super::types::ItemType;
use super::values::Value;
use crate::array::BoxSource;
use crate::expr::text::{TextError, TextErrorKind};

/// Where two values compare so, of which one at least is a column or an item.
///
/// # Errors
/// `Type` and `Value` for what is not compared.
pub(super) fn compared(nodes: &mut Nodes, op: &'static str, left: &Value, right: &Value) -> Result<Item> {
    match (left, right) {
        (Value::Column(column), Value::Masked(item, missing)) => {
            let found = of_column(nodes, op, column, &Value::Item(*item))?;
            Ok(nodes.where_valid(found, Some(*missing)))
        }
        (Value::Column(column), _) => of_column(nodes, op, column, right),
        (_, Value::Column(_)) => compared(nodes, mirrored(op), right, left),
        _ => {
            let time = |value: &Value| match value {
                Value::Item(item) | Value::Masked(item, _) => matches!(item.ty, ItemType::Time(_)),
                _ => false,
            };
            let is_time = time(left) || time(right);
            let mut args = Vec::new();
            let mut missing = Vec::new();
            for value in [left, right] {
                if let Value::Masked(_, nulls) = value {
                    missing.push(*nulls);
                }
                args.push(argument(nodes, value, is_time)?);
            }
            let mut found = nodes.named(op, &args)?;
            for one in missing {
                found = nodes.where_valid(found, Some(one));
            }
            Ok(found)
        }
    }
}

/// Where the values of a column compare so.
fn of_column(nodes: &mut Nodes, op: &'static str, column: &QueryColumn, value: &Value) -> Result<Item> {
    check_scalar(column)?;
    if let Value::Column(other) = value {
        check_scalar(other)?;
        let found = if column.is_text() || other.is_text() {
            pair(nodes, op, column, other)?
        } else {
            let (a, b) = (item(nodes, column)?, item(nodes, other)?);
            nodes.named(op, &[a.into(), b.into()])?
        };
        let (own, others) = (nulls(nodes, column)?, nulls(nodes, other)?);
        let found = nodes.where_valid(found, own);
        return Ok(nodes.where_valid(found, others));
    }
    let found = of_values(nodes, op, column, value)?;
    let missing = nulls(nodes, column)?;
    // Of categories, those without one are decided already; what is computed of them is not.
    let is_decided = matches!(column.values, ColumnValues::Categories { .. })
        && column.mask.is_none()
        && !matches!(value, Value::Item(_));
    Ok(if is_decided { found } else { nodes.where_valid(found, missing) })
}

/// The same, where a missing value means nothing.
fn of_values(nodes: &mut Nodes, op: &'static str, column: &QueryColumn, value: &Value) -> Result<Item> {
    match &column.values {
        ColumnValues::Numbers { .. } | ColumnValues::Halves(_) => numbers(nodes, op, column, value),
        ColumnValues::Enumeration { .. } => {
            let is_name = matches!(value, Value::Constant(Constant::Text(_) | Constant::Bytes(_)));
            if is_name && !matches!(op, "equal" | "not_equal") {
                let shown = shown(value);
                return Err(refused(column, sign(op), &format!("the name {shown}: names have no order")));
            }
            let value = numbered(column, value)?;
            numbers(nodes, op, column, &value)
        }
        ColumnValues::Seconds(_) => {
            let value = as_seconds(column, value)?;
            numbers(nodes, op, column, &value)
        }
        ColumnValues::Times { ty, .. } => times_compared(nodes, op, column, *ty, value),
        ColumnValues::Categories { .. } => categories::compared(nodes, op, column, value),
        ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_) | ColumnValues::Texts { .. } => {
            matched(nodes, op, column, value)
        }
    }
}

/// Where numbers of a column compare so with a number or an item.
pub(super) fn numbers(
    nodes: &mut Nodes,
    op: &'static str,
    column: &QueryColumn,
    value: &Value,
) -> Result<Item> {
    if matches!(value, Value::Constant(Constant::Text(_) | Constant::Bytes(_))) {
        return Err(refused(column, sign(op), &format!("text, {}", shown(value))));
    }
    let own = item(nodes, column)?;
    let value = argument(nodes, &weak(value), false)?;
    nodes.named(op, &[own.into(), value])
}

fn times_compared(
    nodes: &mut Nodes,
    op: &'static str,
    column: &QueryColumn,
    ty: TimeType,
    value: &Value,
) -> Result<Item> {
    let own = item(nodes, column)?;
    if let Value::Item(other) = value {
        return nodes.named(op, &[own.into(), (*other).into()]);
    }
    let moment = moment_of(column, ty, value)?;
    let Some((name, count)) = times::compared(op, moment, ty)? else {
        return Ok(nodes.truth(op == "not_equal"));
    };
    let own = Item { ty: super::nodes::I64, ..own };
    let found = nodes.named(name, &[own.into(), Argument::Weak(Constant::Int(count))])?;
    if !matches!(name, "less" | "less_equal") {
        return Ok(found);
    }
    let nat = nodes.integer(times::NAT);
    let is_time = nodes.raw("not_equal", &[own, nat], BOOL);
    Ok(nodes.and(found, is_time))
}

/// A constant as text for a column of texts: its bytes, or those of its code points.
fn text_bytes(column: &QueryColumn, value: &Value) -> Option<Vec<u8>> {
    let points = |text: &str| {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        bytes_of(&points).to_vec()
    };
    match (&column.values, value) {
        (ColumnValues::FixedPoints(_), Value::Constant(Constant::Text(text))) => Some(points(text)),
        (ColumnValues::FixedPoints(_), Value::Constant(Constant::Bytes(text))) => {
            std::str::from_utf8(text).ok().map(points)
        }
        (_, Value::Constant(Constant::Text(text))) => Some(text.as_bytes().to_vec()),
        (_, Value::Constant(Constant::Bytes(text))) => Some(text.clone()),
        _ => None,
    }
}

/// Where the texts of a column compare so with a constant, or match it: `op` is a comparison, or `startswith`,
/// `endswith` or `contains`. A missing text means nothing.
///
/// # Errors
/// `Type` for what is no text.
pub(super) fn matched(
    nodes: &mut Nodes,
    op: &'static str,
    column: &QueryColumn,
    value: &Value,
) -> Result<Item> {
    let Some(constant) = text_bytes(column, value) else {
        if matches!(value, Value::Item(_)) {
            let sentence = format!("{}: text is not compared with what is computed", described(column));
            return Err(TextError::new(TextErrorKind::Type, sentence));
        }
        return Err(refused(column, sign(op), &shown(value)));
    };
    tested(nodes, column, TextTest::by_name(op, constant)?)
}

/// Where the texts of a column are one of some.
///
/// # Errors
/// `Type` for what is no text, where the column has texts of any length.
pub(super) fn among(nodes: &mut Nodes, column: &QueryColumn, values: &[Value]) -> Result<Item> {
    let mut texts = Vec::with_capacity(values.len());
    for value in values {
        match text_bytes(column, value) {
            Some(text) => texts.push(text),
            None if matches!(column.values, ColumnValues::Texts { .. }) => {
                return Err(refused(column, "in", &shown(value)));
            }
            None => {}
        }
    }
    tested(nodes, column, TextTest::Among(texts.into_iter().collect()))
}

fn tested(nodes: &mut Nodes, column: &QueryColumn, test: TextTest) -> Result<Item> {
    let source: Arc<dyn BoxSource> = match &column.values {
        ColumnValues::FixedBytes(source) => Arc::new(FixedText::bytes(Arc::clone(source), test)?),
        ColumnValues::FixedPoints(source) => Arc::new(FixedText::points(Arc::clone(source), test)?),
        ColumnValues::Texts { offsets, bytes } => {
            Arc::new(Strings::new(Arc::clone(offsets), Arc::clone(bytes), test)?)
        }
        _ => return Err(type_error(format!("{} has no texts", described(column)))),
    };
    Ok(nodes.load(&source, BOOL))
}

/// Where the texts of two columns compare so.
fn pair(nodes: &mut Nodes, op: &'static str, left: &QueryColumn, right: &QueryColumn) -> Result<Item> {
    if !left.is_text() || !right.is_text() {
        return Err(refused(left, sign(op), &format!("those of {}", described(right))));
    }
    let TextTest::Compare(comparison, _) = TextTest::by_name(op, Vec::new())? else {
        return Err(type_error(format!("{op} is no comparison")));
    };
    let pairs = TextPairs { left: left.clone(), right: right.clone(), comparison, rows: nodes.rows };
    let source: Arc<dyn BoxSource> = Arc::new(pairs);
    Ok(nodes.load(&source, BOOL))
}
