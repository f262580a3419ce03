//! Calls that the engine has no kernels for: they are handed to whoever computes them elsewhere.

use super::Result;
use super::constants::Constant;
use super::elsewhere::{ElsewhereOperand, Rows};
use super::nodes::{Argument, Item, Nodes};
use super::parameters::Parameter;
use super::types::ItemType;
use crate::expr::text::{TextError, TextErrorKind};

impl Nodes {
    /// What the engine computes; if it has no kernels for that, what is computed elsewhere.
    ///
    /// # Errors
    /// Those of both.
    pub(super) fn or_elsewhere(
        &mut self,
        found: Result<Item>,
        name: &str,
        args: &[Argument],
    ) -> Result<Item> {
        let is_time = |arg: &Argument| matches!(arg, Argument::Item(Item { ty: ItemType::Time(_), .. }));
        let is_unsupported = found.as_ref().is_err_and(|error| match error.kind() {
            TextErrorKind::Unsupported => true,
            // Which functions take times is known there.
            TextErrorKind::Type => args.iter().any(is_time),
            _ => false,
        });
        let Some(elsewhere) = self.elsewhere.clone().filter(|_| is_unsupported) else { return found };
        let operand = |arg: &Argument| {
            Ok(match arg {
                Argument::Item(item) => ElsewhereOperand::Rows(Rows::Items(item.ty, self.source(*item)?)),
                Argument::Weak(constant) => ElsewhereOperand::One(one(constant)),
            })
        };
        let operands = args.iter().map(operand).collect::<Result<_>>()?;
        match elsewhere.call(name, operands)? {
            Rows::Items(ty, source) => Ok(self.load(&source, ty)),
            Rows::Points(_) => {
                Err(TextError::new(TextErrorKind::Type, format!("{name} gives text, and no numbers")))
            }
        }
    }
}

/// A constant of the text as a parameter.
fn one(constant: &Constant) -> Parameter {
    match constant {
        Constant::Bool(value) => Parameter::Bool(*value),
        Constant::Int(value) => Parameter::Int(*value),
        Constant::Float(value) => Parameter::Float(*value),
        Constant::Complex(real, imag) => Parameter::Complex(*real, *imag),
        Constant::Text(text) => Parameter::Text(text.clone()),
        Constant::Bytes(bytes) => Parameter::Bytes(bytes.clone()),
    }
}
