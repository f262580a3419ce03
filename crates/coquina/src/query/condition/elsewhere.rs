//! Functions that the engine has no kernels for, computed by whoever binds the condition.
//!
//! In: the name of a function and its operands. Out: a value for each row.

use std::sync::Arc;

use super::Result;
use super::constants::Constant;
use super::types::ItemType;
use crate::array::BoxSource;

/// What is computed for each row.
pub enum Rows {
    /// Numbers and times; of half precision in single precision.
    Items(ItemType, Arc<dyn BoxSource>),
    /// Code points of a fixed width.
    Points(Arc<dyn BoxSource>),
}

/// An operand of a function.
pub enum ElsewhereOperand {
    /// A value for each row.
    Rows(Rows),
    /// One value.
    One(Constant),
}

/// Computes what the engine has no kernels for.
pub trait Elsewhere: Send + Sync {
    /// A function, by NumPy's name, of operands of which one at least has a value for each row.
    ///
    /// # Errors
    /// `Type` and `Value` for operands that it does not take, `Unsupported` for what is not computed there either.
    fn call(&self, name: &str, operands: Vec<ElsewhereOperand>) -> Result<Rows>;
}
