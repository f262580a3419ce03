//! Calls of functions of items: of columns the items are taken, and where one is missing, so is the result.

use super::Result;
use super::columns::{lowered, type_error};
use super::constants::Constant;
use super::functions::Function;
use super::nodes::{Argument, Item, Nodes};
use super::operands::argument;
use super::types::ItemType;
use super::values::Value;
use crate::expr::text::{TextError, TextErrorKind};

/// Truth values that can be missing as plain ones: false where they are.
pub(super) fn as_truth(nodes: &mut Nodes, value: Value) -> Value {
    match value {
        Value::Masked(item, nulls) if item.ty.is_bool() => Value::Item(nodes.where_valid(item, Some(nulls))),
        other => other,
    }
}

/// Calls a function.
///
/// # Errors
/// As [`Nodes::call`].
pub(super) fn call(nodes: &mut Nodes, function: Function, values: Vec<Value>) -> Result<Value> {
    let mut operands = Vec::with_capacity(values.len());
    for value in values {
        let value = lowered(nodes, value)?;
        let is_truth = function.is_logical() || function.is_bitwise();
        operands.push(if is_truth { as_truth(nodes, value) } else { value });
    }
    check_truths(function, &operands)?;
    let time = |value: &Value| match value {
        Value::Item(item) | Value::Masked(item, _) => matches!(item.ty, ItemType::Time(_)),
        Value::Moment(_) => true,
        _ => false,
    };
    let is_time = operands.iter().any(time);
    let mut missing: Option<Item> = None;
    let mut args: Vec<Argument> = Vec::with_capacity(operands.len());
    for operand in &operands {
        if let Value::Masked(_, nulls) = operand {
            missing = Some(match missing {
                None => *nulls,
                Some(before) => nodes.or(before, *nulls),
            });
        }
        args.push(argument(nodes, operand, is_time)?);
    }
    let item = nodes.call(function, &args)?;
    Ok(match missing {
        None => Value::Item(item),
        Some(nulls) => Value::Masked(item, nulls),
    })
}

/// Calls a function of one operand that has no kernels.
///
/// # Errors
/// `Unsupported` where nobody else computes it.
pub(super) fn call_elsewhere(nodes: &mut Nodes, name: &str, value: Value) -> Result<Value> {
    let value = lowered(nodes, value)?;
    let arg = argument(nodes, &value, false)?;
    let sentence = format!("{name} is not computed here");
    let refused = Err(TextError::new(TextErrorKind::Unsupported, sentence));
    let item = nodes.or_elsewhere(refused, name, &[arg])?;
    Ok(match value {
        Value::Masked(_, nulls) => Value::Masked(item, nulls),
        _ => Value::Item(item),
    })
}

/// The name of the type of an operand.
pub(super) fn type_name(value: &Value) -> String {
    match value {
        Value::Item(item) | Value::Masked(item, _) => item.ty.name(),
        Value::Scalar(ty, _) => ty.name().to_owned(),
        Value::Moment(moment) => moment.ty.to_string(),
        Value::Constant(constant) => match constant {
            Constant::Bool(_) => "bool".to_owned(),
            Constant::Int(_) => "int64".to_owned(),
            Constant::Float(_) => "float64".to_owned(),
            Constant::Complex(..) => "complex128".to_owned(),
            Constant::Text(_) | Constant::Bytes(_) => "text".to_owned(),
        },
        Value::Column(column) => super::columns::described(column),
    }
}

/// Whether a value is a truth value, and whether it is an integer.
fn kinds(value: &Value) -> [bool; 2] {
    match value {
        Value::Item(item) | Value::Masked(item, _) => [item.ty.is_bool(), item.ty.is_integer()],
        Value::Scalar(ty, _) => [ItemType::Number(*ty).is_bool(), ItemType::Number(*ty).is_integer()],
        Value::Constant(Constant::Bool(_)) => [true, false],
        Value::Constant(Constant::Int(_)) => [false, true],
        _ => [false, false],
    }
}

/// Operands of `&` and `and` are conditions, or integers.
fn check_truths(function: Function, operands: &[Value]) -> Result<()> {
    if !function.is_logical() && !function.is_bitwise() {
        return Ok(());
    }
    let sign = function.sign();
    for operand in operands {
        let [is_bool, is_integer] = kinds(operand);
        if is_bool || (function.is_bitwise() && is_integer) {
            continue;
        }
        let what = if function.is_logical() { "conditions" } else { "conditions or integers" };
        let found = type_name(operand);
        return Err(type_error(if matches!(sign, "~" | "not") {
            format!("{sign} takes {what}, not {found}")
        } else {
            format!("{sign} takes {what}, not {found}; comparisons stand in brackets: (x > 1) {sign} (y < 2)")
        }));
    }
    Ok(())
}
