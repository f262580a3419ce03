//! Questions about values: whether they are missing, among others, or match.

use super::super::columns::{ColumnValues, QueryColumn};
use super::super::numbers::numbers;
use super::Result;
use super::calls::call;
use super::columns::{check_scalar, described, is_missing, nulls, type_error};
use super::compared::matched;
use super::constants::Constant;
use super::functions::Function;
use super::operands::shown;
use super::parameters::Parameter;
use super::reader::Reader;
use super::sources::texts;
use super::times::{Moment, NAT};
use super::types::ItemType;
use super::values::{Member, Value};
use super::{among, categories};
use crate::array::BoxSource;
use crate::expr::text::{CompareOp, Span, Syntax, SyntaxKind, UnaryOp};

impl Reader<'_> {
    pub(super) fn nothing(&mut self, value: &Value, is_not: bool) -> Result<Value> {
        let found = is_missing(&mut self.nodes, value)?;
        Ok(Value::Item(if is_not { self.nodes.not(found) } else { found }))
    }

    /// `x in (1, 2)`, and `"a" in s`, which is where the text `s` contains it.
    pub(super) fn membership(&mut self, op: CompareOp, left: &Value, right: &Syntax) -> Result<Value> {
        let is_text = matches!(left, Value::Constant(Constant::Text(_) | Constant::Bytes(_)));
        let is_list = matches!(right.kind, SyntaxKind::List(_)) || self.listed(right)?.is_some();
        let found = if is_text && !is_list {
            let value = self.value(right)?;
            let made = self.asked("contains", value, left);
            self.placed(right.span, made)?
        } else {
            let members = self.members(right)?;
            let made = self.among(left, &members);
            self.placed(right.span, made)?
        };
        if op == CompareOp::In {
            return Ok(found);
        }
        match found {
            Value::Constant(truth) => truth.unary(UnaryOp::Not).map(Value::Constant),
            other => call(&mut self.nodes, Function::known("logical_not", 1), vec![other]),
        }
    }

    pub(super) fn among(&mut self, value: &Value, members: &[Member]) -> Result<Value> {
        if let Value::Constant(constant) = value {
            let is_same = |member: &Member| match member {
                Member::Value(Value::Constant(other)) => constant.equals(other),
                _ => false,
            };
            return Ok(Value::Constant(Constant::Bool(members.iter().any(is_same))));
        }
        among::among(&mut self.nodes, value, members).map(Value::Item)
    }

    /// The values of a parameter that is a list, or an array.
    pub(super) fn listed(&mut self, part: &Syntax) -> Result<Option<Vec<Member>>> {
        let SyntaxKind::Name(name) = &part.kind else { return Ok(None) };
        let values = match self.parameter(name) {
            Some(Parameter::List(values)) => values,
            Some(Parameter::Rows(ty, source)) => return values_of(*ty, &**source).map(Some),
            Some(Parameter::Column(column)) => return Ok(Some(texts_of(column)?)),
            _ => return Ok(None),
        };
        let mut members = Vec::with_capacity(values.len());
        for value in values {
            members.push(match value {
                None => Member::Nothing,
                Some(value) => Member::Value(self.given(name, value)?),
            });
        }
        Ok(Some(members))
    }

    /// What stands behind `in`.
    pub(super) fn members(&mut self, part: &Syntax) -> Result<Vec<Member>> {
        if let Some(members) = self.listed(part)? {
            return Ok(members);
        }
        let SyntaxKind::List(all) = &part.kind else {
            let sentence = "behind 'in' stand values in brackets, (1, 2), or a parameter that is a list";
            return Err(self.error(part.span, sentence));
        };
        let mut members = Vec::with_capacity(all.len());
        for one in all {
            members.push(if self.is_nothing(one) {
                Member::Nothing
            } else {
                Member::Value(self.value(one)?)
            });
        }
        Ok(members)
    }

    /// Where text matches another.
    pub(super) fn asked(&mut self, name: &'static str, value: Value, wanted: &Value) -> Result<Value> {
        let Value::Column(column) = &value else {
            let sentence = format!("{name} takes a column of text, not {}", shown(&value));
            return Err(type_error(sentence));
        };
        check_scalar(column)?;
        if !column.is_text() {
            return Err(type_error(format!("{}: {name} takes text", described(column))));
        }
        let is_category = matches!(column.values, ColumnValues::Categories { .. });
        let found = if is_category {
            categories::matched(&mut self.nodes, name, column, wanted)?
        } else {
            if !matches!(wanted, Value::Constant(Constant::Text(_) | Constant::Bytes(_))) {
                let shown = shown(wanted);
                return Err(type_error(format!("{}: {name} takes text, not {shown}", described(column))));
            }
            matched(&mut self.nodes, name, column, wanted)?
        };
        let missing = nulls(&mut self.nodes, column)?;
        Ok(Value::Item(self.nodes.where_valid(found, missing)))
    }

    pub(super) fn question(
        &mut self,
        name: &'static str,
        arguments: &[&Syntax],
        span: Span,
    ) -> Result<Value> {
        let wanted = if matches!(name, "is_null" | "not_null") { 1 } else { 2 };
        if arguments.len() != wanted {
            let (found, plural) = (arguments.len(), if wanted == 1 { "" } else { "s" });
            return Err(self.error(span, format!("{name} takes {wanted} operand{plural}, not {found}")));
        }
        let value = self.value(arguments[0])?;
        match name {
            "is_null" | "not_null" => self.nothing(&value, name == "not_null"),
            "isin" => {
                let members = self.members(arguments[1])?;
                self.among(&value, &members)
            }
            _ => {
                let wanted = self.value(arguments[1])?;
                self.asked(name, value, &wanted)
            }
        }
    }
}

/// All texts of a column of fixed width, as constants.
fn texts_of(column: &QueryColumn) -> Result<Vec<Member>> {
    if !matches!(column.values, ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_)) {
        return Err(type_error(format!("{}: a list stands behind 'in', and no column", described(column))));
    }
    let texts = texts(column, 0, column.rows())?;
    Ok(texts.into_iter().map(|text| Member::Value(Value::Constant(Constant::Text(text)))).collect())
}

/// All values of an array, each as one of its type.
fn values_of(ty: ItemType, source: &dyn BoxSource) -> Result<Vec<Member>> {
    let [len] = source.shape()[..] else {
        return Err(type_error("an array of one axis stands behind 'in'"));
    };
    let width = ty.stored().bytes();
    let bytes = usize::try_from(len).ok().and_then(|len| len.checked_mul(width));
    let bytes = bytes.ok_or_else(|| type_error(format!("{len} values behind 'in'")))?;
    let mut items = vec![0; bytes];
    source.fill(&[0], &[len], &mut items)?;
    let member = |item: &[u8]| {
        Member::Value(match ty {
            ItemType::Time(ty) => {
                let count = numbers::<i64>(item).first().copied().unwrap_or(NAT);
                Value::Moment(Moment { ty, count })
            }
            _ => Value::Scalar(ty.stored(), item.to_vec()),
        })
    };
    Ok(items.chunks(width).map(member).collect())
}
