//! The values of an expression as items of the type of a column.
//!
//! Source: NumPy's casts of the same kind. Integers become any number, floats no integers, numbers no truth values.
//! Invariant: no integer wraps: what a type does not have, is told.

use std::sync::Arc;

use super::super::columns::QueryColumn;
use super::constants::Constant;
use super::nodes::{BOOL, F64, Item, Nodes};
use super::operands::scalar;
use super::sources::ToHalves;
use super::types::{ItemType, limits};
use super::{Computed, Result, expression};
use crate::array::BoxSource;
use crate::expr::text::{TextError, TextErrorKind};

/// The values of an expression, converted.
pub(crate) struct Converted {
    /// The items of the wanted type.
    pub(crate) source: Arc<dyn BoxSource>,
    /// Truth bytes: where a value is missing.
    pub(crate) nulls: Option<Arc<dyn BoxSource>>,
    /// Truth bytes: where the type has the value. None: it has all of them.
    pub(crate) fits: Option<Arc<dyn BoxSource>>,
    computed: Computed,
    wanted: ItemType,
}

/// The values that `text` says, as items of the type `wanted`.
///
/// # Errors
/// As [`expression`], and `Type` for values that are not converted to this type.
pub(crate) fn converted(text: &str, columns: &[QueryColumn], wanted: ItemType) -> Result<Converted> {
    let computed = expression(text, columns, &[])?;
    if !is_converted(computed.ty, wanted) {
        let (found, wanted) = (computed.ty.name(), wanted.name());
        let sentence = format!("'{text}': values of {found} are not converted to {wanted}");
        return Err(TextError::new(TextErrorKind::Type, sentence));
    }
    let rows = computed.source.shape().first().copied().unwrap_or(0);
    let mut nodes = Nodes::new(rows);
    let item = nodes.load(&computed.source, computed.ty);
    let fits = fitting(&mut nodes, item, wanted)?.map(|fits| nodes.source(fits)).transpose()?;
    let is_half = wanted == ItemType::Half;
    let item = nodes.cast(item, if is_half { F64 } else { wanted });
    let mut source = nodes.source(item)?;
    if is_half {
        source = Arc::new(ToHalves(source));
    }
    Ok(Converted { source, nulls: computed.nulls.clone(), fits, computed, wanted })
}

/// Whether values of one type become items of another.
fn is_converted(from: ItemType, to: ItemType) -> bool {
    if from == to {
        return true;
    }
    // Truth values, integers, floats and complex numbers, each of which becomes what stands behind it.
    let kind = |ty: ItemType| match ty {
        ItemType::Time(_) => None,
        ty if ty.is_bool() => Some(0),
        ty if ty.is_integer() => Some(1),
        ItemType::Number(ty) if ty.name().starts_with("complex") => Some(3),
        _ => Some(2),
    };
    matches!((kind(from), kind(to)), (Some(from), Some(to)) if from <= to)
}

/// Where the type `wanted` has an integer.
fn fitting(nodes: &mut Nodes, item: Item, wanted: ItemType) -> Result<Option<Item>> {
    let of = |ty: ItemType| limits(ty.stored()).filter(|_| ty.is_integer());
    let (Some((own_min, own_max)), Some((min, max))) = (of(item.ty), of(wanted)) else { return Ok(None) };
    let mut found = None;
    for (is_open, name, limit) in [(min > own_min, "greater_equal", min), (max < own_max, "less_equal", max)]
    {
        if is_open {
            let limit = nodes.weak(&Constant::Int(limit), item.ty)?;
            let fits = nodes.raw(name, &[item, limit], BOOL);
            found = Some(found.map_or(fits, |before| nodes.and(before, fits)));
        }
    }
    Ok(found)
}

impl Converted {
    /// The error of a row whose value the type does not have.
    pub(crate) fn misfit(&self, row: u64) -> TextError {
        let ty = self.computed.ty.stored();
        let mut item = vec![0; ty.bytes()];
        if let Err(error) = self.computed.source.fill(&[row], &[1], &mut item) {
            return error.into();
        }
        let (value, name) = (scalar(ty, &item), self.wanted.name());
        let (min, max) = limits(self.wanted.stored()).unwrap_or_default();
        let sentence = format!("{value} is out of the range of {name} ({min} to {max})");
        TextError::new(TextErrorKind::Value, sentence)
    }
}
