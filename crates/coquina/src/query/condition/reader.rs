//! Reads the tree of a condition: names are parameters and columns, and each part becomes a value.
//!
//! Invariant: every error has the place of the innermost part that it is about.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::columns::{ColumnPlace, ColumnValues, QueryColumn};
use super::Result;
use super::bound::BoundText;
use super::calls::{as_truth, call};
use super::columns::{check_scalar, described, example, lowered, type_error};
use super::constants::Constant;
use super::elsewhere::Elsewhere;
use super::functions::{Function, function};
use super::names::is_function;
use super::near::near;
use super::nodes::{BOOL, Nodes};
use super::operands::argument;
use super::parameters::Parameter;
use super::times::Moment;
use super::types::ItemType;
use super::values::Value;
use crate::expr::text::{
    BinaryOp, Literal, LogicalOp, Span, Syntax, SyntaxKind, TextError, TextErrorKind, UnaryOp, parse,
};

/// Names of what is missing, where neither a parameter nor a column has them.
const NULLS: [&str; 2] = ["null", "NULL"];
/// Columns that an error lists.
const LISTED_MAX: usize = 20;

fn binary_function(op: BinaryOp) -> Option<Function> {
    function(match op {
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "subtract",
        BinaryOp::Multiply => "multiply",
        BinaryOp::Divide => "divide",
        BinaryOp::FloorDivide => "floor_divide",
        BinaryOp::Remainder => "remainder",
        BinaryOp::Power => "power",
        BinaryOp::And => "bitwise_and",
        BinaryOp::Or => "bitwise_or",
        BinaryOp::Xor => "bitwise_xor",
        BinaryOp::LeftShift => "left_shift",
        BinaryOp::RightShift => "right_shift",
        BinaryOp::MatrixMultiply => return None,
    })
}

/// Reads one text.
pub(super) struct Reader<'r> {
    pub(super) text: &'r str,
    columns: &'r [QueryColumn],
    parameters: &'r [(String, Parameter)],
    places: HashMap<&'r str, usize>,
    pub(super) nodes: Nodes,
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        text: &'r str,
        columns: &'r [QueryColumn],
        parameters: &'r [(String, Parameter)],
    ) -> Self {
        let rows = columns.iter().map(QueryColumn::rows).min().unwrap_or(0);
        let places = columns.iter().enumerate().map(|(at, column)| (column.path.as_str(), at)).collect();
        Self { text, columns, parameters, places, nodes: Nodes::new(rows) }
    }

    /// The same, with who computes what there are no kernels for.
    pub(super) fn with_elsewhere(mut self, elsewhere: Option<Arc<dyn Elsewhere>>) -> Self {
        self.nodes.elsewhere = elsewhere;
        self
    }

    /// The text as a condition.
    pub(super) fn condition(mut self) -> Result<BoundText> {
        let tree = parse(self.text)?;
        let value = self.value(&tree)?;
        if let Value::Column(column) = &value {
            check_scalar(column)?;
            let is_bool =
                matches!(column.values, ColumnValues::Numbers { ty, .. } if ItemType::Number(ty) == BOOL);
            if !is_bool {
                let (name, example) = (described(column), example(column));
                return Err(type_error(format!("{name} is no condition; write one such as {example}")));
            }
        }
        let value = lowered(&mut self.nodes, value)?;
        let value = as_truth(&mut self.nodes, value);
        let item = match &value {
            Value::Constant(Constant::Bool(truth)) => self.nodes.truth(*truth),
            Value::Item(item) if item.ty == BOOL => *item,
            other => {
                let found = super::calls::type_name(other);
                return Err(type_error(format!("a condition gives bool for each row, not {found}")));
            }
        };
        Ok(BoundText::new(self.nodes, item, None))
    }

    /// The text as values.
    pub(super) fn expression(mut self) -> Result<BoundText> {
        let tree = parse(self.text)?;
        let value = self.value(&tree)?;
        let column = if let Value::Column(column) = &value { column.place.clone() } else { None };
        let value = lowered(&mut self.nodes, value)?;
        let (item, nulls) = match &value {
            Value::Item(item) => (*item, None),
            Value::Masked(item, nulls) => (*item, Some(*nulls)),
            other => {
                // A number of the text becomes one of the default type.
                let argument = argument(&mut self.nodes, other, false)?;
                (self.nodes.call(Function::known("real", 1), &[argument])?, None)
            }
        };
        Ok(BoundText::new(self.nodes, item, nulls).of_column(column))
    }

    pub(super) fn error(&self, span: Span, sentence: impl Into<String>) -> TextError {
        TextError::expression(sentence, self.text, span)
    }

    /// Adds the place to an error.
    pub(super) fn placed<T>(&self, span: Span, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.at(self.text, span))
    }

    /// The value of a part.
    pub(super) fn value(&mut self, part: &Syntax) -> Result<Value> {
        let made = self.part_value(part);
        self.placed(part.span, made)
    }

    fn part_value(&mut self, part: &Syntax) -> Result<Value> {
        match &part.kind {
            SyntaxKind::Literal(literal) => self.literal(literal, part.span).map(Value::Constant),
            SyntaxKind::Name(name) => self.name(name, part.span),
            SyntaxKind::Binary(first, rest) => self.row(first, rest, part.span),
            SyntaxKind::Unary(op, operand) => self.unary(*op, operand),
            SyntaxKind::Logical(op, all) => self.logical(*op, all, part.span),
            SyntaxKind::Compare(first, rest) => self.comparison(first, rest, part.span),
            SyntaxKind::Call(callee, arguments) => self.function(callee, arguments, part.span),
            SyntaxKind::Part(of, index) => self.part(of, index, part.span),
            SyntaxKind::Attribute(of, name) => self.attribute(part, of, name),
            SyntaxKind::List(_) => Err(self.error(part.span, "a list: not a part of expressions")),
            SyntaxKind::Slice(_) => Err(self.error(part.span, "a slice: not a part of expressions")),
        }
    }

    pub(super) fn literal(&self, literal: &Literal, span: Span) -> Result<Constant> {
        let refused = |shown: &str| Err(self.error(span, format!("{shown}: not a part of expressions")));
        Ok(match literal {
            Literal::Bool(value) => Constant::Bool(*value),
            Literal::Int(value) => Constant::Int(*value),
            Literal::Float(value) => Constant::Float(*value),
            Literal::Imaginary(value) => Constant::Complex(0.0, *value),
            Literal::Text(text) => Constant::Text(text.clone()),
            Literal::Bytes(bytes) => Constant::Bytes(bytes.clone()),
            Literal::Nothing => return refused("None"),
            Literal::Ellipsis => return refused("Ellipsis"),
            Literal::LongInt(bits) => {
                let sentence = format!("an integer of {bits} bits: constants have at most 127");
                return Err(TextError::new(TextErrorKind::Expression, sentence));
            }
        })
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&'r Parameter> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn column(&self, path: &str) -> Option<Value> {
        self.places.get(path).map(|&at| self.column_at(at))
    }

    fn column_at(&self, at: usize) -> Value {
        let mut column = self.columns[at].clone().cut_to(self.nodes.rows);
        column.place = Some(ColumnPlace { column: at, element: Vec::new() });
        Value::Column(column)
    }

    fn has_below(&self, path: &str) -> bool {
        let start = format!("{path}/");
        self.columns.iter().any(|column| column.path.starts_with(&start))
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Value> {
        if let Some(parameter) = self.parameter(name) {
            return self.given(name, parameter);
        }
        if let Some(column) = self.column(name) {
            return Ok(column);
        }
        let constant = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return Err(self.unknown(name, span)),
        };
        Ok(Value::Constant(Constant::Float(constant)))
    }

    /// What a parameter is as a value.
    pub(super) fn given(&mut self, name: &str, parameter: &Parameter) -> Result<Value> {
        match parameter {
            Parameter::Constant(constant) => Ok(Value::Constant(constant.clone())),
            Parameter::Number(ty, bytes) if bytes.len() == ty.bytes() => {
                Ok(Value::Scalar(*ty, bytes.clone()))
            }
            Parameter::Number(ty, bytes) => {
                let (name, len) = (ty.name(), bytes.len());
                Err(TextError::new(TextErrorKind::Value, format!("{len} bytes are no number of {name}")))
            }
            Parameter::Time(ty, count) => Ok(Value::Moment(Moment { ty: *ty, count: *count })),
            Parameter::List(_) => {
                Err(type_error(format!("'{name}' is a list, which stands behind 'in' only")))
            }
            Parameter::Column(column) => {
                let is_same = |known: &QueryColumn| Arc::ptr_eq(known.source(), column.source());
                let known = self.columns.iter().position(is_same);
                Ok(known.map_or_else(|| Value::Column(column.clone()), |at| self.column_at(at)))
            }
            Parameter::Rows(ty, source) => {
                let (shape, rows) = (source.shape(), self.nodes.rows);
                if shape != [rows] {
                    let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                    let sentence =
                        format!("'{name}' has shape ({shape},): one value, or one for each of {rows} rows");
                    return Err(TextError::new(TextErrorKind::Value, sentence));
                }
                Ok(Value::Item(self.nodes.load(source, *ty)))
            }
        }
    }

    /// The error for a name that stands for nothing.
    pub(super) fn unknown(&self, name: &str, span: Span) -> TextError {
        let shown = name.replace('/', ".");
        let listed = |paths: &mut dyn Iterator<Item = &str>| {
            let all: Vec<String> = paths.map(|path| path.replace('/', ".")).collect();
            let more = if all.len() > LISTED_MAX { ", ..." } else { "" };
            let listed = all[..all.len().min(LISTED_MAX)].join(", ") + more;
            if listed.is_empty() { "there is none".to_owned() } else { listed }
        };
        let paths = || self.columns.iter().map(|column| column.path.as_str());
        if self.has_below(name) {
            let start = format!("{name}/");
            let inner = listed(&mut paths().filter(|path| path.starts_with(&start)));
            return self.error(span, format!("'{shown}' has columns in it: {inner}"));
        }
        if is_function(name) {
            return self.error(span, format!("'{shown}' is a function, which needs brackets"));
        }
        let known = listed(&mut paths());
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let given = if names.is_empty() {
            String::new()
        } else {
            format!(" and no parameter ({})", names.join(", "))
        };
        let is_plain = shown.chars().all(|c| c.is_alphanumeric() || c == '_');
        let hint = match near(name, &mut paths()) {
            Some(path) => format!("; did you mean '{}'?", path.replace('/', ".")),
            None if is_plain => format!("; put text in quotes: '{shown}'"),
            None => String::new(),
        };
        let sentence = format!("'{shown}' is not a column ({known}){given}{hint}");
        TextError::new(TextErrorKind::Name, sentence).at(self.text, span)
    }

    /// `a + b - c`.
    pub(super) fn row(&mut self, first: &Syntax, rest: &[(BinaryOp, Syntax)], span: Span) -> Result<Value> {
        let mut value = self.value(first)?;
        for (op, right) in rest {
            let other = self.value(right)?;
            let own = Span { start: span.start, end: right.span.end };
            value = self.binary(*op, value, other, own)?;
        }
        Ok(value)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Result<Value> {
        let Some(function) = binary_function(op) else {
            return Err(self.error(span, "'@' is not an operator of items"));
        };
        let made = match (&left, &right) {
            (Value::Constant(a), Value::Constant(b)) => a.binary(op, b).map(Value::Constant),
            _ => call(&mut self.nodes, function, vec![left, right]),
        };
        self.placed(span, made)
    }

    fn unary(&mut self, op: UnaryOp, operand: &Syntax) -> Result<Value> {
        let value = self.value(operand)?;
        if let Value::Constant(constant) = &value {
            return constant.unary(op).map(Value::Constant);
        }
        let name = match op {
            UnaryOp::Minus => "negative",
            UnaryOp::Plus => "positive",
            UnaryOp::Invert => "invert",
            UnaryOp::Not => "logical_not",
        };
        call(&mut self.nodes, Function::known(name, 1), vec![value])
    }

    fn logical(&mut self, op: LogicalOp, all: &[Syntax], span: Span) -> Result<Value> {
        let mut found: Option<Value> = None;
        for one in all {
            let value = self.value(one)?;
            found = Some(match found {
                None => value,
                Some(before) => self.both(op, before, value, span)?,
            });
        }
        found.ok_or_else(|| self.error(span, "nothing is combined"))
    }

    pub(super) fn both(&mut self, op: LogicalOp, left: Value, right: Value, span: Span) -> Result<Value> {
        if let (Value::Constant(a), Value::Constant(b)) = (&left, &right)
            && a.is_number()
            && b.is_number()
        {
            return Ok(Value::Constant(Constant::Bool(match op {
                LogicalOp::And => a.truth() && b.truth(),
                LogicalOp::Or => a.truth() || b.truth(),
            })));
        }
        let name = if op == LogicalOp::And { "logical_and" } else { "logical_or" };
        let made = call(&mut self.nodes, Function::known(name, 2), vec![left, right]);
        self.placed(span, made)
    }

    /// Whether a part is `None`, or `null`.
    pub(super) fn is_nothing(&self, part: &Syntax) -> bool {
        match &part.kind {
            SyntaxKind::Literal(literal) => *literal == Literal::Nothing,
            SyntaxKind::Name(name) => {
                let is_known = self.parameter(name).is_some() || self.places.contains_key(name.as_str());
                NULLS.contains(&name.as_str()) && !is_known
            }
            _ => false,
        }
    }

    /// `info.x`, a column within another; `.real` and `.imag`.
    fn attribute(&mut self, part: &Syntax, of: &Syntax, name: &str) -> Result<Value> {
        if let Some(path) = path_of(part) {
            let root = path.split('/').next().unwrap_or_default();
            if self.parameter(root).is_none() {
                if let Some(column) = self.column(&path) {
                    return Ok(column);
                }
                let above = path.rsplit_once('/').map_or("", |(above, _)| above);
                if self.has_below(&path) || (!self.places.contains_key(above) && self.has_below(above)) {
                    return Err(self.unknown(&path, part.span));
                }
            }
        }
        let Some(function) = ["real", "imag"].iter().find(|known| **known == name) else {
            let below = if let SyntaxKind::Attribute(_, word) = &of.kind { word.as_str() } else { name };
            let meant = match below {
                "str" => "write s.contains('a') for s.str.contains('a')",
                "dt" => "compare times with text, as in t >= '2024-05-31T12:00'",
                _ => "columns have .real, .imag and methods such as s.startswith('a')",
            };
            return Err(self.error(part.span, format!("'.{name}': {meant}")));
        };
        let value = self.value(of)?;
        call(&mut self.nodes, Function::known(function, 1), vec![value])
    }
}

/// `a.b.c` as a path.
fn path_of(part: &Syntax) -> Option<String> {
    match &part.kind {
        SyntaxKind::Name(name) => Some(name.clone()),
        SyntaxKind::Attribute(of, name) => path_of(of).map(|above| format!("{above}/{name}")),
        _ => None,
    }
}
