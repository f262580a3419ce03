//! The text of expressions and conditions: `price * 2 > 20 and name.startswith("A")`, to a tree without types.
//!
//! In: text of a person or a program, hostile for all we know. Out: a [`Syntax`] tree with places in the text.
//! Source: Python's grammar of expressions, of which everything that computes nothing is refused by its name.
//! Invariant: reading takes time and stack that are bounded by the length of the text and by [`DEPTH_MAX`]; no part
//! of the text is run.

mod error;
mod escapes;
mod lexer;
mod literals;
mod operands;
mod parser;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;

pub use error::{TextError, TextErrorKind};
pub use parser::parse;
pub use syntax::{Argument, BinaryOp, CompareOp, Literal, LogicalOp, Span, Syntax, SyntaxKind, UnaryOp};

/// The most characters of a text.
pub const TEXT_MAX: usize = 1 << 14;
/// The most levels of brackets, calls and operators within each other.
pub const DEPTH_MAX: usize = 64;
