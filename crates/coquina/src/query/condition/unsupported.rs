//! Calls that the engine has no kernels for: they are handed to whoever computes them elsewhere.

use super::Result;
use super::elsewhere::{ElsewhereOperand, Rows};
use super::nodes::{Argument, Item, Nodes};
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
                Argument::Weak(constant) => ElsewhereOperand::One(constant.clone()),
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
