//! The tree of an expression, before anything is known of its names.

use super::DEPTH_MAX;

/// Where a part stands in its text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The one behind the last.
    pub end: usize,
}

impl Span {
    /// From the beginning of this one to the end of another.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Syntax {
    /// What it is.
    pub kind: SyntaxKind,
    /// Where it stands, without brackets around it.
    pub span: Span,
    /// Whether it stands in brackets of its own.
    pub is_bracketed: bool,
    /// How many levels of parts are in it.
    pub(super) height: usize,
}

/// What a part of an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum SyntaxKind {
    /// A value that the text spells.
    Literal(Literal),
    /// A name.
    Name(String),
    /// `a + b - c`, from the left to the right: the first operand, then each operator with the next one. What is on
    /// the left of an operator is no level of its own, however long the row is.
    Binary(Box<Syntax>, Vec<(BinaryOp, Syntax)>),
    /// `-a`.
    Unary(UnaryOp, Box<Syntax>),
    /// `a and b and c`.
    Logical(LogicalOp, Vec<Syntax>),
    /// `a < b < c`.
    Compare(Box<Syntax>, Vec<(CompareOp, Syntax)>),
    /// `f(a, b, name=c)`.
    Call(Box<Syntax>, Vec<Argument>),
    /// `a[b, c]`, and whether a comma stands in the brackets.
    Part(Box<Syntax>, Vec<Syntax>),
    /// `a:b:c`, as a part is named.
    Slice(Vec<Option<Syntax>>),
    /// `a.name`.
    Attribute(Box<Syntax>, String),
    /// `(a, b)`, `[a, b]` or `{a, b}`.
    List(Vec<Syntax>),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its value.
    pub value: Syntax,
    /// Where the name and the value stand.
    pub span: Span,
}

/// A value that a text spells.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `True`, `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// An integer that takes more than 127 bits, of so many.
    LongInt(usize),
    /// A floating-point number.
    Float(f64),
    /// `2j`.
    Imaginary(f64),
    /// `"text"`.
    Text(String),
    /// `b"bytes"`.
    Bytes(Vec<u8>),
    /// `None`.
    Nothing,
    /// `...`.
    Ellipsis,
}

/// An operator of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the signs say it")]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    MatrixMultiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
    And,
    Or,
    Xor,
    LeftShift,
    RightShift,
}

impl BinaryOp {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::MatrixMultiply => "@",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "**",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::LeftShift => "<<",
            Self::RightShift => ">>",
        }
    }
}

/// An operator of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `~`.
    Invert,
    /// `not`.
    Not,
}

/// An operator of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicalOp {
    /// `and`.
    And,
    /// `or`.
    Or,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
    Is,
    IsNot,
}

impl Syntax {
    /// A part, if its levels are not too many.
    pub(super) fn new(kind: SyntaxKind, span: Span) -> Result<Self, Span> {
        let below = match &kind {
            SyntaxKind::Literal(_) | SyntaxKind::Name(_) => None,
            SyntaxKind::Unary(_, one) | SyntaxKind::Attribute(one, _) => Some(one.height),
            SyntaxKind::Binary(first, rest) => highest(first, rest.iter().map(|(_, one)| one)),
            SyntaxKind::Compare(first, rest) => highest(first, rest.iter().map(|(_, one)| one)),
            SyntaxKind::Part(first, rest) => highest(first, rest.iter()),
            SyntaxKind::Call(first, rest) => highest(first, rest.iter().map(|one| &one.value)),
            SyntaxKind::Logical(_, all) | SyntaxKind::List(all) => all.iter().map(|one| one.height).max(),
            SyntaxKind::Slice(ends) => ends.iter().flatten().map(|one| one.height).max(),
        };
        let height = below.map_or(0, |below| below + 1);
        if height > DEPTH_MAX {
            return Err(span);
        }
        Ok(Self { kind, span, is_bracketed: false, height })
    }
}

fn highest<'s>(first: &Syntax, rest: impl Iterator<Item = &'s Syntax>) -> Option<usize> {
    rest.map(|one| one.height).chain([first.height]).max()
}
