//! The values that a condition is given by their names.

use std::sync::Arc;

use coquina_kernels::Type;

use super::super::columns::{QueryColumn, TimeType};
use super::constants::Constant;
use super::types::ItemType;
use crate::array::BoxSource;

/// A value that a condition has by a name.
#[derive(Clone)]
pub enum Parameter {
    /// A value without a type of its own: it takes on the one that it meets.
    Constant(Constant),
    /// A number of a type: the bytes of one item, in the machine's order.
    Number(Type, Vec<u8>),
    /// A date, a time or a span, as a count of what the type says; the least count is none.
    Time(TimeType, i64),
    /// Values that stand behind `in`; `None` for what is missing.
    List(Vec<Option<Parameter>>),
    /// A column: one of those that the condition is bound to, or of another table.
    Column(QueryColumn),
    /// Values in an array of one axis: one for each row, or any number behind `in`.
    Rows(ItemType, Arc<dyn BoxSource>),
}

impl From<Constant> for Parameter {
    fn from(constant: Constant) -> Self {
        Self::Constant(constant)
    }
}
