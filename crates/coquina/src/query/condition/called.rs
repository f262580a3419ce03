//! Calls and parts in the text of a condition: `f(x, y)`, `s.startswith("a")`, `col("name")`, `pos[0]`.

use super::Result;
use super::calls::{call, call_elsewhere};
use super::columns::element;
use super::constants::Constant;
use super::functions::{ELSEWHERE, Function, function};
use super::names::question;
use super::options::OPTIONS;
use super::reader::Reader;
use super::reductions;
use super::string_functions::{self, string_function};
use super::values::Value;
use crate::expr::text::{Argument, BinaryOp, Literal, Span, Syntax, SyntaxKind, UnaryOp};

/// What makes times elsewhere.
const TIMES: &[&str] = &["date", "datetime", "datetime64", "Timestamp", "to_datetime"];

impl Reader<'_> {
    /// `f(x, y)`, `s.startswith("a")`.
    pub(super) fn function(&mut self, callee: &Syntax, arguments: &[Argument], span: Span) -> Result<Value> {
        let mut positional: Vec<&Syntax> =
            arguments.iter().filter(|one| one.name.is_none()).map(|one| &one.value).collect();
        let named: Vec<_> = arguments.iter().filter(|one| one.name.is_some()).collect();
        let name = match &callee.kind {
            SyntaxKind::Name(name) => name.as_str(),
            SyntaxKind::Attribute(of, name) if question(name).is_some() => {
                positional.insert(0, of);
                name.as_str()
            }
            _ => return Err(self.error(callee.span, "only functions are called, by their names")),
        };
        if name == "col" && !matches!(callee.kind, SyntaxKind::Attribute(..)) {
            return self.named_column(&positional, named.is_empty(), span);
        }
        if let Some(asked) = question(name)
            && !positional.is_empty()
            && named.is_empty()
        {
            return self.question(asked, &positional, span);
        }
        if name == "complex" && positional.len() == 2 && named.is_empty() {
            let real = self.value(positional[0])?;
            let imag = self.value(positional[1])?;
            return self.complex(real, imag);
        }
        if OPTIONS.iter().any(|(known, _)| *known == name) || reductions::is_reduction(name) {
            return self.with_options(name, &positional, &named, span);
        }
        let arity = |wanted: usize| {
            if let Some(first) = named.first() {
                return Err(self.error(first.span, format!("{name} takes no options")));
            }
            if positional.len() != wanted {
                let found = positional.len();
                return Err(self.error(span, format!("{name} takes {wanted} operands, not {found}")));
            }
            Ok(())
        };
        if let Some(function) = string_function(name) {
            arity(function.arity)?;
            let values = positional.into_iter().map(|part| self.value(part)).collect::<Result<Vec<_>>>()?;
            return string_functions::call(&mut self.nodes, function, &values);
        }
        let Some(function) = function(name) else {
            if ELSEWHERE.contains(&name) {
                arity(1)?;
                let value = self.value(positional[0])?;
                return call_elsewhere(&mut self.nodes, name, value);
            }
            let meant =
                if TIMES.contains(&name) { "; write times as text, such as '2024-05-31T12:00'" } else { "" };
            let sentence = format!("'{name}' is not a function of expressions{meant}");
            return Err(self.error(callee.span, sentence));
        };
        arity(function.arity)?;
        let values = positional.into_iter().map(|part| self.value(part)).collect::<Result<Vec<_>>>()?;
        call(&mut self.nodes, function, values)
    }

    /// A complex number of two real ones.
    pub(super) fn complex(&mut self, real: Value, imag: Value) -> Result<Value> {
        if let (Value::Constant(real), Value::Constant(imag)) = (&real, &imag) {
            let turned = imag.binary(BinaryOp::Multiply, &Constant::Complex(0.0, 1.0))?;
            return real.binary(BinaryOp::Add, &turned).map(Value::Constant);
        }
        let unit = Value::Constant(Constant::Complex(0.0, 1.0));
        let turned = call(&mut self.nodes, Function::known("multiply", 2), vec![imag, unit])?;
        call(&mut self.nodes, Function::known("add", 2), vec![real, turned])
    }

    /// `col("name")`: nested columns have "/" or "." between the names.
    pub(super) fn named_column(&self, arguments: &[&Syntax], is_plain: bool, span: Span) -> Result<Value> {
        let name = match arguments {
            [one] if is_plain => match &one.kind {
                SyntaxKind::Literal(Literal::Text(name)) => Some((name, one.span)),
                _ => None,
            },
            _ => None,
        };
        let Some((name, place)) = name else {
            return Err(self.error(span, "col takes the name of a column: col(\"name\")"));
        };
        let found = self.column(name).or_else(|| self.column(&name.replace('.', "/")));
        found.ok_or_else(|| self.unknown(name, place))
    }

    /// `pos[0]`: one of the values that each row has.
    pub(super) fn part(&mut self, of: &Syntax, index: &[Syntax], span: Span) -> Result<Value> {
        let value = self.value(of)?;
        let Value::Column(column) = &value else {
            return Err(self.error(span, "only columns with several values in each row have parts"));
        };
        let mut places = Vec::with_capacity(index.len());
        for part in index {
            let Ok(Some(Constant::Int(place))) = self.constant(part) else {
                return Err(self.error(part.span, "parts are named by integers"));
            };
            places.push(place);
        }
        element(column, &places).map(Value::Column)
    }

    /// A constant that stands alone: a number, perhaps with a minus, text, or nothing.
    pub(super) fn constant(&self, part: &Syntax) -> Result<Option<Constant>> {
        match &part.kind {
            SyntaxKind::Literal(Literal::Nothing) => Ok(None),
            SyntaxKind::Literal(literal) => self.literal(literal, part.span).map(Some),
            SyntaxKind::Unary(UnaryOp::Minus, one) => match &one.kind {
                SyntaxKind::Literal(literal) => {
                    self.literal(literal, one.span)?.unary(UnaryOp::Minus).map(Some)
                }
                _ => Err(self.error(part.span, "only a constant can stand here")),
            },
            SyntaxKind::Name(name) if matches!(name.as_str(), "pi" | "e" | "inf" | "nan") => {
                Ok(Some(Constant::Float(match name.as_str() {
                    "pi" => std::f64::consts::PI,
                    "e" => std::f64::consts::E,
                    "inf" => f64::INFINITY,
                    _ => f64::NAN,
                })))
            }
            _ => Err(self.error(part.span, "only a constant can stand here")),
        }
    }
}
