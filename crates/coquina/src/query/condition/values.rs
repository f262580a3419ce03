//! What stands for values while a condition is read.

use coquina_kernels::Type;

use super::super::columns::QueryColumn;
use super::constants::Constant;
use super::nodes::Item;
use super::times::Moment;

/// A value while a condition is read.
#[derive(Clone)]
pub(super) enum Value {
    Column(QueryColumn),
    Item(Item),
    /// Items, and where there is none.
    Masked(Item, Item),
    Constant(Constant),
    /// A number of a type.
    Scalar(Type, Vec<u8>),
    Moment(Moment),
}

/// A value behind `in`.
#[derive(Clone)]
pub(super) enum Member {
    Nothing,
    Value(Value),
}
