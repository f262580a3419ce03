//! What is computed of times: comparisons, sums, differences and signs, as functions of integers.
//!
//! Source: NumPy's `datetime64` and `timedelta64`. Comparisons are exact where one unit is a multiple of the other.
//! Invariant: NaT, the least integer, stays NaT, and compares as NaN does.

use super::super::columns::{TimeType, TimeUnit};
use super::Result;
use super::constants::Constant;
use super::functions::{Function, mirrored};
use super::nodes::{Argument, BOOL, I64, Item, Nodes};
use super::times::NAT;
use super::types::ItemType;
use crate::expr::text::{TextError, TextErrorKind};

fn type_error(sentence: String) -> TextError {
    TextError::new(TextErrorKind::Type, sentence)
}

fn unsupported(sentence: String) -> TextError {
    TextError::new(TextErrorKind::Unsupported, sentence)
}

/// A function of times: comparisons, sums, differences, signs and choices.
///
/// # Errors
/// `Type` for what times have not, `Unsupported` for what is not computed here.
pub(super) fn call(nodes: &mut Nodes, function: Function, args: &[Argument]) -> Result<Item> {
    if let (true, [Argument::Item(a)]) = (matches!(function.name, "isnat" | "isfinite"), args) {
        let is_nat = is_nat(nodes, *a);
        return Ok(if function.name == "isnat" { is_nat } else { nodes.not(is_nat) });
    }
    if let ("negative" | "absolute", [Argument::Item(item)]) = (function.name, args)
        && matches!(item.ty, ItemType::Time(ty) if ty.is_span)
    {
        // Both leave NaT, the least integer, as it is.
        return Ok(nodes.raw(function.name, &[*item], item.ty));
    }
    if let ("where", [Argument::Item(condition), Argument::Item(a), Argument::Item(b)]) =
        (function.name, args)
        && a.ty == b.ty
        && condition.ty == BOOL
    {
        return Ok(nodes.raw("where", &[*condition, *a, *b], a.ty));
    }
    let [a, b] = args else { return Err(refused(function, args)) };
    if function.is_comparison() {
        let (Some(a), Some(b)) = (time_item(a), time_item(b)) else { return Err(refused(function, args)) };
        return compare(nodes, function.name, a, b).ok_or_else(|| refused(function, args))?;
    }
    match function.name {
        "add" | "subtract" => sum(nodes, function, a, b).unwrap_or_else(|| Err(refused(function, args))),
        "maximum" | "minimum" | "fmax" | "fmin" | "multiply" | "divide" | "floor_divide" | "remainder" => {
            Err(unsupported(format!("{} of times is not computed", function.name)))
        }
        _ => Err(refused(function, args)),
    }
}

fn refused(function: Function, args: &[Argument]) -> TextError {
    let name = |arg: &Argument| match arg {
        Argument::Item(item) => item.ty.name(),
        Argument::Weak(value) => value.type_name().to_owned(),
    };
    let names: Vec<String> = args.iter().map(name).collect();
    type_error(format!("{} takes no {}", function.name, names.join(" and ")))
}

/// An item of times.
#[derive(Clone, Copy)]
struct TimeItem {
    item: Item,
    ty: TimeType,
}

fn time_item(arg: &Argument) -> Option<TimeItem> {
    match arg {
        Argument::Item(item) => match item.ty {
            ItemType::Time(ty) => Some(TimeItem { item: *item, ty }),
            _ => None,
        },
        Argument::Weak(_) => None,
    }
}

fn is_nat(nodes: &mut Nodes, item: Item) -> Item {
    let nat = nodes.integer(NAT);
    nodes.raw("equal", &[item, nat], BOOL)
}

/// How many of the finer steps make a coarser one, and whether the first type is the coarser one.
fn factor(a: TimeType, b: TimeType) -> Option<(i64, bool)> {
    let length = |ty: TimeType| match ty.unit.attoseconds() {
        Some(length) => (length * i128::from(ty.step), true),
        None => (i128::from(ty.step) * if ty.unit == TimeUnit::Year { 12 } else { 1 }, false),
    };
    let ((a, a_has), (b, b_has)) = (length(a), length(b));
    let (fine, coarse) = if a < b { (a, b) } else { (b, a) };
    let fits = a_has == b_has && coarse % fine == 0;
    fits.then(|| i64::try_from(coarse / fine).ok()).flatten().map(|factor| (factor, a >= b))
}

/// A comparison of two items of times, exact for units of which one is a multiple of the other.
fn compare(nodes: &mut Nodes, name: &'static str, a: TimeItem, b: TimeItem) -> Option<Result<Item>> {
    let (TimeItem { item: a, ty: a_ty }, TimeItem { item: b, ty: b_ty }) = (a, b);
    if a_ty.is_span != b_ty.is_span {
        return None;
    }
    let Some((factor, a_is_coarse)) = factor(a_ty, b_ty) else {
        return Some(Err(unsupported(format!("{a_ty} is not compared with {b_ty}"))));
    };
    let (nat_a, nat_b) = (is_nat(nodes, a), is_nat(nodes, b));
    let any_nat = nodes.or(nat_a, nat_b);
    let found = if factor == 1 {
        nodes.raw(name, &[a, b], BOOL)
    } else if a_is_coarse {
        compare_steps(nodes, name, a, b, factor)
    } else {
        compare_steps(nodes, mirrored(name), b, a, factor)
    };
    Some(Ok(if name == "not_equal" {
        nodes.or(found, any_nat)
    } else {
        nodes.where_valid(found, Some(any_nat))
    }))
}

/// How coarse times compare with fine ones: with these rounded down, and by what is left.
fn compare_steps(nodes: &mut Nodes, name: &'static str, coarse: Item, fine: Item, factor: i64) -> Item {
    let factor = nodes.integer(factor);
    let whole = nodes.raw("floor_divide", &[fine, factor], I64);
    let rest = nodes.raw("remainder", &[fine, factor], I64);
    let zero = nodes.integer(0);
    let is_whole = nodes.raw("equal", &[rest, zero], BOOL);
    // A fine time behind its coarse neighbour is greater than that.
    match name {
        "equal" => {
            let same = nodes.raw("equal", &[coarse, whole], BOOL);
            nodes.and(same, is_whole)
        }
        "not_equal" => {
            let same = nodes.raw("equal", &[coarse, whole], BOOL);
            let same = nodes.and(same, is_whole);
            nodes.not(same)
        }
        "less_equal" | "greater" => nodes.raw(name, &[coarse, whole], BOOL),
        _ => {
            let less = nodes.raw("less", &[coarse, whole], BOOL);
            let same = nodes.raw("equal", &[coarse, whole], BOOL);
            let is_behind = nodes.not(is_whole);
            let less_by_rest = nodes.and(same, is_behind);
            let less = nodes.or(less, less_by_rest);
            if name == "less" { less } else { nodes.not(less) }
        }
    }
}

/// A sum or difference: of a time and a span, of two times, of two spans; integers are spans.
fn sum(nodes: &mut Nodes, function: Function, a: &Argument, b: &Argument) -> Option<Result<Item>> {
    let (a_ty, b_ty) = (time_item(a).map(|found| found.ty), time_item(b).map(|found| found.ty));
    let one = a_ty.or(b_ty)?;
    let as_span = TimeType { is_span: true, ..one };
    let a_ty = a_ty.or_else(|| is_integer(a).then_some(as_span))?;
    let b_ty = b_ty.or_else(|| is_integer(b).then_some(as_span))?;
    let is_span = match (function.name, a_ty.is_span, b_ty.is_span) {
        ("add", false, false) | ("subtract", true, false) => return None,
        ("add", ..) => a_ty.is_span && b_ty.is_span,
        _ => a_ty.is_span == b_ty.is_span,
    };
    let Some((factor, a_is_coarse)) = factor(a_ty, b_ty) else {
        return Some(Err(unsupported(format!("{} of {a_ty} and {b_ty} is not computed", function.name))));
    };
    let fine = if a_is_coarse { b_ty } else { a_ty };
    let a = match span_item(nodes, a, if a_is_coarse { factor } else { 1 }) {
        Ok(item) => item,
        Err(error) => return Some(Err(error)),
    };
    let b = match span_item(nodes, b, if a_is_coarse { 1 } else { factor }) {
        Ok(item) => item,
        Err(error) => return Some(Err(error)),
    };
    let ty = ItemType::Time(TimeType { is_span, ..fine });
    let (nat_a, nat_b) = (is_nat(nodes, a), is_nat(nodes, b));
    let any_nat = nodes.or(nat_a, nat_b);
    let total = nodes.raw(function.name, &[a, b], I64);
    let nat = nodes.integer(NAT);
    Some(Ok(nodes.raw("where", &[any_nat, nat, total], ty)))
}

fn is_integer(arg: &Argument) -> bool {
    match arg {
        Argument::Item(item) => item.ty.is_integer(),
        Argument::Weak(value) => matches!(value, Constant::Int(_) | Constant::Bool(_)),
    }
}

/// An argument as integers of finer steps; NaT stays.
fn span_item(nodes: &mut Nodes, arg: &Argument, factor: i64) -> Result<Item> {
    let item = match arg {
        Argument::Item(item) => nodes.cast(*item, I64),
        Argument::Weak(value) => nodes.weak(value, I64)?,
    };
    if factor == 1 {
        return Ok(item);
    }
    let is_nat = is_nat(nodes, item);
    let factor = nodes.integer(factor);
    let wide = nodes.raw("multiply", &[item, factor], I64);
    let nat = nodes.integer(NAT);
    Ok(nodes.raw("where", &[is_nat, nat, wide], I64))
}
