//! Comparisons in the text of a condition, and what is written like them: `a < b < c`, `a in (1, 2)`, `a is null`.

use super::super::columns::ColumnValues;
use super::Result;
use super::compared::compared;
use super::constants::Constant;
use super::nodes::{BOOL, Item};
use super::reader::Reader;
use super::types::ItemType;
use super::values::Value;
use crate::expr::text::{BinaryOp, CompareOp, LogicalOp, Span, Syntax, SyntaxKind};

/// What a comparison is to NumPy.
fn name_of(op: CompareOp) -> Option<&'static str> {
    Some(match op {
        CompareOp::Equal => "equal",
        CompareOp::NotEqual => "not_equal",
        CompareOp::Less => "less",
        CompareOp::LessEqual => "less_equal",
        CompareOp::Greater => "greater",
        CompareOp::GreaterEqual => "greater_equal",
        CompareOp::In | CompareOp::NotIn | CompareOp::Is | CompareOp::IsNot => return None,
    })
}

impl Reader<'_> {
    /// `a < b < c`, `a in (1, 2)`, `a is null`.
    pub(super) fn comparison(
        &mut self,
        first: &Syntax,
        rest: &[(CompareOp, Syntax)],
        span: Span,
    ) -> Result<Value> {
        let mut result: Option<Value> = None;
        let mut left = self.side(first, false)?;
        for (at, (op, right_part)) in rest.iter().enumerate() {
            let is_middle = at + 1 < rest.len();
            let (found, right) = if matches!(op, CompareOp::In | CompareOp::NotIn) {
                (self.membership(*op, &left, right_part)?, None)
            } else if self.is_nothing(right_part) && !is_ordering(*op) {
                let is_not = matches!(op, CompareOp::IsNot | CompareOp::NotEqual);
                let made = self.nothing(&left, is_not);
                (self.placed(span, made)?, None)
            } else {
                let Some(name) = name_of(*op) else {
                    return Err(self.error(right_part.span, "'is' asks for null: x is null, x is not null"));
                };
                let right = self.side(right_part, is_middle)?;
                let made = self.compared(*op, name, &left, &right);
                (self.placed(span, made)?, Some(right))
            };
            result = Some(match result {
                None => found,
                Some(before) => self.both(LogicalOp::And, before, found, span)?,
            });
            if is_middle {
                left = match right {
                    Some(right) => right,
                    None => self.side(right_part, true)?,
                };
            }
        }
        result.ok_or_else(|| self.error(span, "nothing is compared"))
    }

    pub(super) fn compared(
        &mut self,
        op: CompareOp,
        name: &'static str,
        left: &Value,
        right: &Value,
    ) -> Result<Value> {
        if let (Value::Constant(a), Value::Constant(b)) = (left, right) {
            return a.compared(op, b).map(|truth| Value::Constant(Constant::Bool(truth)));
        }
        compared(&mut self.nodes, name, left, right).map(Value::Item)
    }

    /// A side of a comparison. `a > 1 & b < 2` is refused: `&` goes first there, as in Python.
    pub(super) fn side(&mut self, part: &Syntax, is_middle: bool) -> Result<Value> {
        let bits = |op: &BinaryOp| matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let SyntaxKind::Binary(first, rest) = &part.kind else { return self.value(part) };
        let Some(((op, last), before)) =
            rest.split_last().filter(|((op, _), _)| bits(op) && !part.is_bracketed)
        else {
            return self.value(part);
        };
        let left = self.row(first, before, part.span)?;
        let right = self.value(last)?;
        let mut is_refused = is_middle;
        for value in [&left, &right] {
            is_refused |= is_truth(value);
        }
        if is_refused {
            let sign = op.sign();
            return Err(self.error(
                part.span,
                format!(
                    "{sign} goes before comparisons: put these in brackets, as in (x > 1) {sign} (y < 2)"
                ),
            ));
        }
        self.binary(*op, left, right, part.span)
    }
}

fn is_ordering(op: CompareOp) -> bool {
    !matches!(op, CompareOp::Is | CompareOp::IsNot | CompareOp::Equal | CompareOp::NotEqual)
}

/// Whether a value is a truth value.
fn is_truth(value: &Value) -> bool {
    match value {
        Value::Item(Item { ty, .. }) | Value::Masked(Item { ty, .. }, _) => ty.is_bool(),
        Value::Constant(constant) => matches!(constant, Constant::Bool(_)),
        Value::Scalar(ty, _) => ItemType::Number(*ty) == BOOL,
        Value::Column(column) => {
            matches!(column.values, ColumnValues::Numbers { ty, .. } if ItemType::Number(ty) == BOOL)
        }
        Value::Moment(_) => false,
    }
}
