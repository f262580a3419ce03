//! Membership: where a value is one of several, which are constants, columns, or what is missing.
//!
//! Numbers of the text are rounded to floats as in comparisons with them; those of a type are not.

use std::sync::Arc;

use coquina_kernels::Type;

use super::super::columns::{ColumnValues, QueryColumn};
use super::super::predicates::Among;
use super::Result;
use super::columns::{check_scalar, is_missing, item, nulls, refused};
use super::compared;
use super::constants::{Constant, as_float};
use super::nodes::{BOOL, I64, Item, Nodes, item_bytes};
use super::operands::{as_seconds, moment_of, numbered, scalar, shown};
use super::times::NAT;
use super::types::{ItemType, limits};
use super::values::{Member, Value};
use super::{categories, constants};
use crate::array::BoxSource;

/// Values that are equal to an expression are asked for one by one if there are no more than this.
const EQUALS_MAX: usize = 16;

/// Where a column or an item is one of some.
///
/// # Errors
/// `Type` and `Value` for members that are not compared with it.
pub(super) fn among(nodes: &mut Nodes, value: &Value, members: &[Member]) -> Result<Item> {
    let mut plain = Vec::new();
    let mut others = Vec::new();
    for member in members {
        match member {
            Member::Value(one @ (Value::Constant(_) | Value::Scalar(..) | Value::Moment(_))) => {
                plain.push(one.clone());
            }
            other => others.push(other.clone()),
        }
    }
    let mut found = match value {
        Value::Column(column) => of_column(nodes, column, &plain)?,
        Value::Item(item) | Value::Masked(item, _) if plain.len() > EQUALS_MAX && is_real(item.ty) => {
            let source = nodes.source(*item)?;
            let found = of_numbers(nodes, &source, item.ty, &plain)?;
            let missing = if let Value::Masked(_, nulls) = value { Some(*nulls) } else { None };
            nodes.where_valid(found, missing)
        }
        _ => one_by_one(nodes, value, &plain)?,
    };
    for other in others {
        let more = match other {
            Member::Nothing => is_missing(nodes, value)?,
            Member::Value(other) => compared::compared(nodes, "equal", value, &other)?,
        };
        found = nodes.or(found, more);
    }
    Ok(found)
}

fn is_real(ty: ItemType) -> bool {
    !matches!(ty, ItemType::Time(_) | ItemType::Number(Type::C64 | Type::C128))
}

fn one_by_one(nodes: &mut Nodes, value: &Value, members: &[Value]) -> Result<Item> {
    let mut found = nodes.truth(false);
    for member in members {
        let more = compared::compared(nodes, "equal", value, member)?;
        found = nodes.or(found, more);
    }
    Ok(found)
}

fn of_column(nodes: &mut Nodes, column: &QueryColumn, members: &[Value]) -> Result<Item> {
    check_scalar(column)?;
    let found = match &column.values {
        ColumnValues::Numbers { ty: Type::C64 | Type::C128, .. } | ColumnValues::Seconds(_) => {
            for member in members {
                number_of(column, &as_seconds(column, member)?)?;
            }
            return one_by_one(nodes, &Value::Column(column.clone()), members);
        }
        ColumnValues::Numbers { ty, source } | ColumnValues::Enumeration { ty, source, .. } => {
            let numbers =
                members.iter().map(|member| numbered(column, member)).collect::<Result<Vec<_>>>()?;
            for number in &numbers {
                number_of(column, number)?;
            }
            of_numbers(nodes, source, ItemType::Number(*ty), &numbers)?
        }
        ColumnValues::Halves(_) => {
            for member in members {
                number_of(column, member)?;
            }
            let own = item(nodes, column)?;
            let source = nodes.source(own)?;
            of_numbers(nodes, &source, own.ty, members)?
        }
        ColumnValues::Times { ty, source, .. } => {
            let mut counts = Vec::new();
            for member in members {
                let moment = moment_of(column, *ty, member)?;
                if moment.is_nat() {
                    continue;
                }
                let (count, is_exact) = moment.counted(*ty)?;
                if let (true, Ok(count)) = (is_exact, i64::try_from(count))
                    && count != NAT
                {
                    counts.push(Value::Constant(Constant::Int(count.into())));
                }
            }
            of_numbers(nodes, source, I64, &counts)?
        }
        ColumnValues::Categories { .. } => categories::among(nodes, column, members)?,
        ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_) | ColumnValues::Texts { .. } => {
            compared::among(nodes, column, members)?
        }
    };
    let missing = if column.mask.is_some() { nulls(nodes, column)? } else { None };
    Ok(nodes.where_valid(found, missing))
}

/// A member as a number.
///
/// # Errors
/// `Type` for what is none.
fn number_of(column: &QueryColumn, value: &Value) -> Result<()> {
    match value {
        Value::Constant(constant) if constant.is_number() => Ok(()),
        Value::Scalar(..) => Ok(()),
        other => Err(refused(column, "in", &shown(other))),
    }
}

/// Where numbers of a source are among those of some that its type can have.
fn of_numbers(
    nodes: &mut Nodes,
    source: &Arc<dyn BoxSource>,
    ty: ItemType,
    members: &[Value],
) -> Result<Item> {
    let mut bytes = Vec::new();
    for member in members {
        let number = match member {
            Value::Constant(constant) => representable(constant, ty, true),
            Value::Scalar(own, bytes) => representable(&scalar(*own, bytes), ty, false),
            _ => None,
        };
        if let Some(number) = number {
            bytes.extend_from_slice(&item_bytes(&number, ty)?);
        }
    }
    let among: Arc<dyn BoxSource> = Arc::new(Among::new(Arc::clone(source), ty.stored(), &bytes)?);
    Ok(nodes.load(&among, BOOL))
}

/// A number that equals one of a type, or is rounded to one; nothing if it does neither.
fn representable(number: &Constant, ty: ItemType, is_rounded: bool) -> Option<Constant> {
    if let Constant::Complex(real, imag) = number {
        return if *imag == 0.0 { representable(&Constant::Float(*real), ty, is_rounded) } else { None };
    }
    if ty.is_bool() {
        let is = |value: i128| number.equals(&Constant::Int(value));
        return [0, 1].into_iter().find(|&value| is(value)).map(|value| Constant::Bool(value == 1));
    }
    if let Some((min, max)) = limits(ty.stored()).filter(|_| ty.is_integer()) {
        let value = match number {
            Constant::Bool(value) => i128::from(*value),
            Constant::Int(value) => *value,
            Constant::Float(value) if value.fract() == 0.0 && value.abs() < 1e20 => {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
                let whole = *value as i128;
                whole
            }
            _ => return None,
        };
        return (min..=max).contains(&value).then_some(Constant::Int(value));
    }
    let value = match number {
        Constant::Float(value) => *value,
        Constant::Int(value) => as_float(*value),
        Constant::Bool(value) => f64::from(u8::from(*value)),
        _ => return None,
    };
    let rounded = match ty {
        ItemType::Half => super::nodes::half(value).into(),
        ItemType::Number(Type::F32) => scalar(Type::F32, &item_bytes(&Constant::Float(value), ty).ok()?),
        _ => Constant::Float(value),
    };
    let is_same = constants::Constant::equals(&rounded, number);
    (is_rounded || is_same).then_some(rounded)
}

impl From<f32> for Constant {
    fn from(value: f32) -> Self {
        Self::Float(value.into())
    }
}
