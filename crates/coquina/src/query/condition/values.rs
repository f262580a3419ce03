//! What stands for values while a condition is read, and the parameters that it is given.

use std::sync::Arc;

use coquina_kernels::Type;

use super::super::columns::{QueryColumn, TimeType};
use super::constants::Constant;
use super::nodes::Item;
use super::times::Moment;
use super::types::ItemType;
use crate::array::BoxSource;

/// A value that a condition has by a name.
#[derive(Clone)]
pub enum Parameter {
    /// A truth value.
    Bool(bool),
    /// An integer without a width: it takes on the type that it meets.
    Int(i128),
    /// A float without a width.
    Float(f64),
    /// A complex number without a width: its real part, and the other.
    Complex(f64, f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A number of a type: the bytes of one item, in the machine's order.
    Number(Type, Vec<u8>),
    /// A date, a time or a span, as a count of what the type says; the least count is none.
    Time(TimeType, i64),
    /// Values that stand behind `in`; `None` for what is missing.
    List(Vec<Option<Parameter>>),
    /// Values in an array of one axis: one for each row, or any number behind `in`.
    Rows(ItemType, Arc<dyn BoxSource>),
}

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
