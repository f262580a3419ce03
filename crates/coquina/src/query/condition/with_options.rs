//! Calls of functions with options, and of those of all rows.

use super::Result;
use super::columns::lowered;
use super::constants::{Constant, as_float};
use super::nodes::Argument;
use super::operands::argument;
use super::options::{self, OPTIONS, Options};
use super::reader::Reader;
use super::reductions;
use super::values::Value;
use crate::expr::text::{Argument as Given, Literal, Span, Syntax, SyntaxKind};

impl Reader<'_> {
    /// `clip(x, 0, max=1)`, `mean(x)`.
    pub(super) fn with_options(
        &mut self,
        name: &str,
        arguments: &[&Syntax],
        named: &[&Given],
        span: Span,
    ) -> Result<Value> {
        let own = OPTIONS.iter().find(|(known, _)| *known == name).map(|(_, options)| *options);
        let known = own.unwrap_or_else(|| reductions::options(name));
        let mut options = Options { operands: Vec::new(), named: Vec::new() };
        for one in named {
            let option = one.name.clone().unwrap_or_default();
            if !known.contains(&option.as_str()) {
                let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(
                    self.error(one.span, format!("{name} has no option '{option}' here; it has {listed}"))
                );
            }
            options.named.push((option, self.constant(&one.value)?));
        }
        let Some((first, rest)) = arguments.split_first() else {
            return Err(self.error(span, format!("{name} needs an operand")));
        };
        let Some(Argument::Item(item)) = self.option_operand(first, name)? else {
            return Err(self.error(span, format!("{name} takes a column or an expression of columns")));
        };
        if own.is_none() {
            if rest.len() > 1 {
                let sentence = format!("{name} takes an operand, an axis, and options by their names");
                return Err(self.error(span, sentence));
            }
            let correction = options.named.iter().find(|(option, _)| option == "correction");
            let correction = match correction.and_then(|(_, value)| value.as_ref()) {
                Some(Constant::Int(value)) => as_float(*value),
                Some(Constant::Float(value)) => *value,
                _ => 0.0,
            };
            return reductions::call(&mut self.nodes, name, item, correction).map(Value::Item);
        }
        for one in rest {
            let operand = self.option_operand(one, name)?;
            options.operands.push(operand);
        }
        options::call(&mut self.nodes, name, item, &options).map(Value::Item)
    }

    /// A value as functions with options take it; nothing for `None`.
    fn option_operand(&mut self, part: &Syntax, name: &str) -> Result<Option<Argument>> {
        if matches!(part.kind, SyntaxKind::Literal(Literal::Nothing)) {
            return Ok(None);
        }
        let value = self.value(part)?;
        let value = lowered(&mut self.nodes, value)?;
        if let Value::Masked(..) = value {
            let sentence = "values can be missing here, which this function does not take";
            return Err(self.error(part.span, sentence));
        }
        let is_type = name == "astype" && matches!(value, Value::Constant(Constant::Text(_)));
        if let (true, Value::Constant(text)) = (is_type, &value) {
            return Ok(Some(Argument::Weak(text.clone())));
        }
        argument(&mut self.nodes, &value, false).map(Some)
    }
}
