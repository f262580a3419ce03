//! Conditions as text, bound to columns: `price > 20 and name.startswith("A")`.
//!
//! In: text, hostile for all we know, columns by their paths, and parameters. Out: a truth byte for each row, or the
//! values of an expression, as sources of boxes.
//! Source: Python's grammar as `expr::text` reads it, NumPy's types, and what conditions of tables add: names of
//! columns, `x in (1, 2)`, `x is null`, `s.startswith("a")`.
//! Invariant: a comparison with what is missing is false, and truth is of two values, so `not` makes it true.
//!
//! ```
//! use std::sync::Arc;
//! use coquina::query::condition::{condition, Constant, Parameter};
//! # use coquina::query::{ColumnValues, QueryColumn};
//! # use coquina::array::{BoxSource, Walk, check_box};
//! # struct Prices;
//! # impl BoxSource for Prices {
//! #     fn shape(&self) -> Vec<u64> { vec![4] }
//! #     fn item_bytes(&self) -> usize { 1 }
//! #     fn walk(&self) -> Walk { Walk { chunks: vec![4], blocks: vec![4] } }
//! #     fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> coquina::Result<()> {
//! #         check_box(&[4], start, shape, 1, out.len())?;
//! #         out.copy_from_slice(&[5, 10, 20, 40][start[0] as usize..][..shape[0] as usize]);
//! #         Ok(())
//! #     }
//! # }
//! # let source: Arc<dyn BoxSource> = Arc::new(Prices);
//! # let ty = coquina::query::condition::ItemType::by_name("uint8").unwrap();
//! # let columns = [QueryColumn::new("price", ColumnValues::Numbers { ty, source })];
//! let low = ("low".to_owned(), Parameter::Constant(Constant::Int(10)));
//! let found = condition("low < price <= 40", &columns, &[low])?;
//! let mut truths = [0; 4];
//! found.fill(&[0], &[4], &mut truths)?;
//! assert_eq!(truths, [0, 0, 1, 1]);
//! # Ok::<(), coquina::Error>(())
//! ```

mod aggregates;
mod among;
mod bound;
mod called;
mod calls;
mod categories;
mod chains;
mod columns;
mod compared;
mod constants;
mod conversions;
mod elsewhere;
mod functions;
mod names;
mod near;
mod nodes;
mod operands;
mod options;
mod parameters;
mod questions;
mod reader;
mod reductions;
mod sources;
mod string_functions;
mod time_arithmetic;
mod times;
mod typed;
mod types;
mod unsupported;
mod values;
mod with_options;

use std::sync::Arc;

use super::columns::QueryColumn;
use crate::array::BoxSource;
use crate::expr::text::TextError;
pub(super) use aggregates::{aggregated, aggregated_items, check_time, keep_no_time};
pub use bound::BoundText;
pub(super) use columns::missing;
pub(crate) use columns::singles;
pub use constants::Constant;
pub(crate) use conversions::{Converted, converted};
/// The type of a number.
pub use coquina_kernels::Type as NumberType;
pub use elsewhere::{Elsewhere, ElsewhereOperand, Rows};
pub(super) use operands::code;
pub use parameters::Parameter;
pub(super) use sources::halves;
pub(crate) use sources::{Element, Halves};
pub use types::ItemType;
/// For those who read what conditions ask of indexes.
pub(crate) use {functions::mirrored, types::is_safe};

/// A result with the error of a text.
pub type Result<T, E = TextError> = std::result::Result<T, E>;

/// The values of an expression, one for each row.
#[derive(Clone)]
pub struct Computed {
    /// What a value is.
    pub ty: ItemType,
    /// The values, in the machine's byte order; of half precision in single precision.
    pub source: Arc<dyn BoxSource>,
    /// Truth bytes: where a value is missing. What stands there means nothing.
    pub nulls: Option<Arc<dyn BoxSource>>,
}

/// The condition that `text` says: a truth byte for each row of the columns.
///
/// Names are those of `parameters`, then those of columns, then `pi`, `e`, `inf` and `nan`.
///
/// # Errors
/// [`TextError`], with its place, for what is no condition of these columns.
pub fn condition(
    text: &str,
    columns: &[QueryColumn],
    parameters: &[(String, Parameter)],
) -> Result<Arc<dyn BoxSource>> {
    bound_condition(text, columns, parameters, None)?.source()
}

/// The values that `text` says, one for each row.
///
/// # Errors
/// As [`condition`].
pub fn expression(
    text: &str,
    columns: &[QueryColumn],
    parameters: &[(String, Parameter)],
) -> Result<Computed> {
    let found = bound_expression(text, columns, parameters, None)?;
    Ok(Computed { ty: found.ty(), source: found.source()?, nulls: found.nulls()? })
}

/// As [`condition`], with what it is computed of; `elsewhere` computes what there are no kernels for.
///
/// # Errors
/// As [`condition`].
pub fn bound_condition(
    text: &str,
    columns: &[QueryColumn],
    parameters: &[(String, Parameter)],
    elsewhere: Option<Arc<dyn Elsewhere>>,
) -> Result<BoundText> {
    reader::Reader::new(text, columns, parameters).with_elsewhere(elsewhere).condition()
}

/// As [`expression`], with what it is computed of; `elsewhere` computes what there are no kernels for.
///
/// # Errors
/// As [`condition`].
pub fn bound_expression(
    text: &str,
    columns: &[QueryColumn],
    parameters: &[(String, Parameter)],
    elsewhere: Option<Arc<dyn Elsewhere>>,
) -> Result<BoundText> {
    reader::Reader::new(text, columns, parameters).with_elsewhere(elsewhere).expression()
}

/// Where all of some conditions hold, of so many rows; nothing for none.
///
/// # Errors
/// What goes wrong with binding them.
pub fn all_of(conditions: &[Arc<dyn BoxSource>], rows: u64) -> Result<Option<Arc<dyn BoxSource>>> {
    if let [one] = conditions {
        return Ok(Some(Arc::clone(one)));
    }
    let mut nodes = nodes::Nodes::new(rows);
    let mut found: Option<nodes::Item> = None;
    for condition in conditions {
        let item = nodes.load(condition, nodes::BOOL);
        found = Some(match found {
            None => item,
            Some(before) => nodes.and(before, item),
        });
    }
    found.map(|item| nodes.source(item)).transpose()
}
