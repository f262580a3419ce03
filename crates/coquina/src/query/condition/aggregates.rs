//! What aggregates of a type come to, as NumPy types it.

use coquina_kernels::items::bytes_of;

use super::super::columns::TimeType;
use super::super::group::Aggregate;
use super::super::numbers::{numbers, single};
use super::constants::Constant;
use super::times::NAT;
use super::types::{ItemType, limits};
use super::{NumberType, Result, nodes};
use crate::expr::text::{TextError, TextErrorKind};

/// What an aggregate of items is computed as.
fn computed_type(aggregate: Aggregate, ty: ItemType) -> Option<NumberType> {
    let own = ty.stored();
    let is_complex = matches!(own, NumberType::C64 | NumberType::C128);
    let is_float = matches!(own, NumberType::F32 | NumberType::F64);
    let is_unsigned = limits(own).is_some_and(|(min, _)| min == 0);
    Some(match aggregate {
        Aggregate::Count | Aggregate::Distinct => NumberType::I64,
        Aggregate::Any | Aggregate::All => NumberType::Bool,
        Aggregate::Sum | Aggregate::Mean if is_complex => NumberType::C128,
        Aggregate::Sum if is_unsigned => NumberType::U64,
        Aggregate::Sum if !is_float => NumberType::I64,
        Aggregate::Sum | Aggregate::Mean | Aggregate::Std(_) | Aggregate::Var(_) => NumberType::F64,
        Aggregate::Min | Aggregate::Max | Aggregate::First | Aggregate::Last => return None,
    })
}

/// Whether items have parts of double precision.
fn is_wide(ty: NumberType) -> bool {
    matches!(ty, NumberType::F64 | NumberType::C128)
}

/// The items that an aggregate gives as NumPy types them: sums of single precision are of single precision.
pub(in super::super) fn aggregated_items(
    aggregate: Aggregate,
    ty: ItemType,
    items: Vec<u8>,
) -> (ItemType, Vec<u8>) {
    match computed_type(aggregate, ty) {
        None => (ty, items),
        Some(given) if matches!(ty.stored(), NumberType::F32 | NumberType::C64) && is_wide(given) => {
            let singles: Vec<f32> = numbers::<f64>(&items).into_iter().map(single).collect();
            let ty = if given == NumberType::F64 { NumberType::F32 } else { NumberType::C64 };
            (ItemType::Number(ty), bytes_of(&singles).to_vec())
        }
        Some(given) => (ItemType::Number(given), items),
    }
}

/// The item that an aggregate gives as NumPy types it, and what none is of no values.
pub(in super::super) fn aggregated(
    aggregate: Aggregate,
    ty: ItemType,
    item: Option<Vec<u8>>,
    has_values: bool,
) -> (ItemType, Option<Vec<u8>>) {
    let item = item.filter(|_| has_values);
    let Some(given) = computed_type(aggregate, ty) else { return (ty, item) };
    let is_mean = matches!(aggregate, Aggregate::Mean | Aggregate::Std(_) | Aggregate::Var(_));
    let nothing = Constant::Float(if is_mean { f64::NAN } else { 0.0 });
    let item = item.unwrap_or_else(|| match given {
        NumberType::F64 => nodes::item_bytes(&nothing, ItemType::Number(given)).unwrap_or_default(),
        given => vec![u8::from(aggregate == Aggregate::All); given.bytes()],
    });
    let (ty, item) = aggregated_items(aggregate, ty, item);
    (ty, Some(item))
}

/// Complains of aggregates that times have not.
///
/// # Errors
/// `Type` for sums and what is made of them, and for truth.
pub(in super::super) fn check_time(aggregate: Aggregate, text: &str, ty: TimeType) -> Result<()> {
    match computed_type(aggregate, ItemType::Time(ty)) {
        Some(_) if !matches!(aggregate, Aggregate::Count | Aggregate::Distinct) => {
            let sentence = format!("{}: '{text}' is {ty}, of which there is none", aggregate.name());
            Err(TextError::new(TextErrorKind::Type, sentence))
        }
        _ => Ok(()),
    }
}

/// Makes the greatest times none where the least one is none, as NumPy has it.
pub(in super::super) fn keep_no_time(greatest: &mut [u8], least: &[u8]) {
    for (greatest, least) in greatest.chunks_exact_mut(8).zip(least.chunks_exact(8)) {
        if least == bytes_of(&[NAT]) {
            greatest.copy_from_slice(least);
        }
    }
}
