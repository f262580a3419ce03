//! Conditions that are no arithmetic: membership, texts, and what codes stand for.
//!
//! In: sources of one axis. Out: sources of as many items, of one truth byte each; or of the looked-up items. They
//! are walked over as what they wrap, and where what they wrap is known without decoding, so are they.

mod among;
mod fixed;
mod lookup;
mod search;
mod strings;
#[cfg(test)]
mod tests;
mod text;
mod text_planes;
mod texts;

pub use among::Among;
pub use fixed::FixedText;
pub use lookup::Lookup;
pub use strings::Strings;
pub use text::{Comparison, TextTest};
pub use texts::Texts;

use crate::array::BoxSource;
use crate::base::error::{Error, Result};

/// How many items a source of one axis has.
///
/// # Errors
/// `Invalid` for one of another number of axes.
fn len_of(source: &dyn BoxSource) -> Result<u64> {
    match source.shape()[..] {
        [len] => Ok(len),
        ref shape => Err(Error::invalid(format!("shape {shape:?}: a condition takes one axis"))),
    }
}
