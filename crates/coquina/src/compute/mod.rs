//! Computing on arrays: binds arrays to a program, walks over blocks, reduces.
//!
//! What is computed is a [`crate::array::BoxSource`] itself, so that it is read, written to a new array and reduced
//! by the same walks as an array is.

mod bind;
mod operands;
pub mod reduce;

pub use bind::Bound;
pub use operands::{Counters, Input};
