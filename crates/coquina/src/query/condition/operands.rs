//! Values as operands: as arguments of functions, as numbers, as times, and as errors show them.

use coquina_kernels::Type;
use coquina_kernels::items::Number;

use super::super::columns::{ColumnValues, QueryColumn, TimeType, TimeUnit};
use super::super::numbers::numbers;
use super::Result;
use super::columns::{described, item, type_error};
use super::constants::{Constant, as_float};
use super::nodes::{Argument, Item, Nodes};
use super::times::{self, Moment};
use super::types::{ItemType, integer_bits};
use super::values::Value;
use crate::expr::text::{TextError, TextErrorKind};

/// NumPy's names of comparisons, as they are written.
pub(super) fn sign(op: &str) -> &str {
    match op {
        "equal" => "==",
        "not_equal" => "!=",
        "less" => "<",
        "less_equal" => "<=",
        "greater" => ">",
        "greater_equal" => ">=",
        other => other,
    }
}

/// A value as an argument of a function; text beside times is a time.
///
/// # Errors
/// `Value` for text that is no time.
pub(super) fn argument(nodes: &mut Nodes, value: &Value, is_time: bool) -> Result<Argument> {
    Ok(match value {
        Value::Item(item) | Value::Masked(item, _) => Argument::Item(*item),
        Value::Constant(Constant::Text(text)) if is_time => {
            let moment = times::parsed(text).ok_or_else(|| {
                TextError::new(TextErrorKind::Value, format!("'{text}' is no date, as 2024-05-31T12:00 is"))
            })?;
            moment_item(nodes, moment).into()
        }
        Value::Constant(constant) => Argument::Weak(constant.clone()),
        Value::Scalar(ty, bytes) => nodes.constant(ItemType::Number(*ty), bytes.clone()).into(),
        Value::Moment(moment) => moment_item(nodes, *moment).into(),
        Value::Column(column) => item(nodes, column)?.into(),
    })
}

fn moment_item(nodes: &mut Nodes, moment: Moment) -> Item {
    let item = nodes.integer(moment.count);
    Item { ty: ItemType::Time(moment.ty), ..item }
}

/// An integer of a type, which is exact, as one of the text, which takes on any type.
pub(super) fn weak(value: &Value) -> Value {
    match value {
        Value::Scalar(ty, bytes) if integer_bits(*ty).is_some() || *ty == Type::Bool => {
            Value::Constant(scalar(*ty, bytes))
        }
        other => other.clone(),
    }
}

/// A number of a type as a constant.
pub(super) fn scalar(ty: Type, bytes: &[u8]) -> Constant {
    fn first<T: Number + Default>(bytes: &[u8]) -> T {
        numbers::<T>(bytes).first().copied().unwrap_or_default()
    }
    match ty {
        Type::Bool => Constant::Bool(bytes.first().is_some_and(|&byte| byte != 0)),
        Type::I8 => Constant::Int(first::<i8>(bytes).into()),
        Type::I16 => Constant::Int(first::<i16>(bytes).into()),
        Type::I32 => Constant::Int(first::<i32>(bytes).into()),
        Type::I64 => Constant::Int(first::<i64>(bytes).into()),
        Type::U8 => Constant::Int(first::<u8>(bytes).into()),
        Type::U16 => Constant::Int(first::<u16>(bytes).into()),
        Type::U32 => Constant::Int(first::<u32>(bytes).into()),
        Type::U64 => Constant::Int(first::<u64>(bytes).into()),
        Type::F32 => Constant::Float(first::<f32>(bytes).into()),
        Type::F64 => Constant::Float(first::<f64>(bytes)),
        Type::C64 => match numbers::<f32>(bytes)[..] {
            [real, imag] => Constant::Complex(real.into(), imag.into()),
            _ => Constant::Complex(0.0, 0.0),
        },
        Type::C128 => match numbers::<f64>(bytes)[..] {
            [real, imag] => Constant::Complex(real, imag),
            _ => Constant::Complex(0.0, 0.0),
        },
    }
}

/// The place that a code names, if it names one.
pub(in super::super) fn code(ty: Type, code: &[u8]) -> Option<usize> {
    match scalar(ty, code) {
        Constant::Int(place) => usize::try_from(place).ok(),
        _ => None,
    }
}

/// A value as errors show it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Constant(constant) => constant.to_string(),
        Value::Scalar(ty, bytes) => format!("{} {}", ty.name(), scalar(*ty, bytes)),
        Value::Moment(moment) => format!("{} of {}", moment.count, moment.ty),
        Value::Column(column) => described(column),
        Value::Item(item) | Value::Masked(item, _) => format!("items of {}", item.ty.name()),
    }
}

/// The number of a name of an enumeration; anything else as it is.
///
/// # Errors
/// `Value` for a name that is none.
pub(super) fn numbered(column: &QueryColumn, value: &Value) -> Result<Value> {
    let ColumnValues::Enumeration { members, .. } = &column.values else { return Ok(value.clone()) };
    let name = match value {
        Value::Constant(Constant::Text(name)) => name.clone(),
        Value::Constant(Constant::Bytes(name)) => String::from_utf8_lossy(name).into_owned(),
        other => return Ok(other.clone()),
    };
    if let Some((_, number)) = members.iter().find(|(known, _)| *known == name) {
        return Ok(Value::Constant(Constant::Int((*number).into())));
    }
    let known: Vec<&str> = members.iter().map(|(known, _)| known.as_str()).collect();
    let sentence = format!("{}: '{name}' is not one of {}", described(column), known.join(", "));
    Err(TextError::new(TextErrorKind::Value, sentence))
}

/// A time as seconds since 1970; anything else as it is.
///
/// # Errors
/// As [`moment_of`].
pub(super) fn as_seconds(column: &QueryColumn, value: &Value) -> Result<Value> {
    let is_time = matches!(value, Value::Moment(_) | Value::Constant(Constant::Text(_) | Constant::Bytes(_)));
    if !is_time {
        return Ok(value.clone());
    }
    let micros = TimeType::instant(TimeUnit::Micro);
    let moment = moment_of(column, micros, value)?;
    let (count, _) = moment.counted(micros)?;
    Ok(Value::Constant(Constant::Float(as_float(count) / 1e6)))
}

/// A constant as a time for a column of times.
///
/// # Errors
/// `Type` for what is no time, `Value` for text that spells none.
pub(super) fn moment_of(column: &QueryColumn, ty: TimeType, value: &Value) -> Result<Moment> {
    let text = match value {
        Value::Constant(Constant::Text(text)) => Some(text.clone()),
        Value::Constant(Constant::Bytes(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    };
    match (value, text) {
        (Value::Moment(moment), _) if moment.ty.is_span == ty.is_span || moment.is_nat() => Ok(*moment),
        (_, Some(text)) if !ty.is_span => times::parsed(&text).ok_or_else(|| {
            let sentence = format!("{}: '{text}' is no date, as 2024-05-31T12:00 is", described(column));
            TextError::new(TextErrorKind::Value, sentence)
        }),
        _ => {
            let wanted = if ty.is_span { "a timedelta" } else { "a date (text as in 2024-05-31T12:00)" };
            Err(type_error(format!(
                "{} is compared with {wanted}, not with {}",
                described(column),
                shown(value)
            )))
        }
    }
}
