//! The pieces of a text: names, numbers, texts and signs.

use super::syntax::{Literal, Span};

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name, or a word of the grammar.
    Word(String),
    Number(Literal),
    /// Text or bytes; of several that follow each other, one.
    Quoted(Literal),
    /// A text with parts to compute, `f"..."`.
    Formatted,
    Sign(&'static str),
    /// What begins nothing, such as `!` alone.
    Unknown(char),
    /// A line ends outside of all brackets, where lines count.
    Line,
    End,
}

/// All signs, longer ones before those that they begin with.
pub(super) const SIGNS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<>", "->", "+=",
    "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=", ":=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~",
    "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
];

/// Words of Python's grammar, which are no names.
pub(super) const WORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
