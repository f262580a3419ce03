//! Reads tokens as an expression: Python's operators, from those that bind least to those that bind most.

use super::error::TextError;
use super::lexer::{Wrong, tokens};
use super::syntax::{BinaryOp, CompareOp, LogicalOp, Span, Syntax, SyntaxKind, UnaryOp};
use super::tokens::{Token, TokenKind, WORDS};
use super::{DEPTH_MAX, TEXT_MAX};

/// The tree of a text.
///
/// # Errors
/// [`TextError`] for what is no expression, is too long or too deeply nested, or has what expressions do not have.
pub fn parse(text: &str) -> Result<Syntax, TextError> {
    let nowhere = |sentence: String| TextError::new(super::TextErrorKind::Expression, sentence);
    if text.trim().is_empty() {
        return Err(nowhere("the text is empty".to_owned()));
    }
    let count = text.chars().count();
    if count > TEXT_MAX {
        return Err(nowhere(format!("{count} characters: at most {TEXT_MAX} are read")));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0, levels: 0 };
    let made = parser.whole();
    made.map_err(|(sentence, span)| TextError::expression(sentence, text, span))
}

/// Operators of two numbers by how much they bind, those that bind least first. Powers stand apart.
const BINARY: [&[(&str, BinaryOp)]; 6] = [
    &[("|", BinaryOp::Or)],
    &[("^", BinaryOp::Xor)],
    &[("&", BinaryOp::And)],
    &[("<<", BinaryOp::LeftShift), (">>", BinaryOp::RightShift)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)],
    &[
        ("*", BinaryOp::Multiply),
        ("/", BinaryOp::Divide),
        ("//", BinaryOp::FloorDivide),
        ("%", BinaryOp::Remainder),
        ("@", BinaryOp::MatrixMultiply),
    ],
];

const COMPARISONS: [(&str, CompareOp); 6] = [
    ("==", CompareOp::Equal),
    ("!=", CompareOp::NotEqual),
    ("<", CompareOp::Less),
    ("<=", CompareOp::LessEqual),
    (">", CompareOp::Greater),
    (">=", CompareOp::GreaterEqual),
];

pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    /// Calls within each other, which have to end.
    levels: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<Syntax, Wrong> {
        let made = self.listed()?;
        while self.next().kind == TokenKind::Line {
            self.at += 1;
        }
        if self.next().kind == TokenKind::End { Ok(made) } else { Err(self.unexpected()) }
    }

    /// An expression, or several with commas between them.
    fn listed(&mut self) -> Result<Syntax, Wrong> {
        let first = self.expression()?;
        if !self.is_sign(",") {
            return Ok(first);
        }
        let start = first.span;
        let mut all = vec![first];
        while self.took(",") {
            if matches!(self.next().kind, TokenKind::End | TokenKind::Line) {
                break;
            }
            all.push(self.expression()?);
        }
        let end = self.before();
        Self::made(SyntaxKind::List(all), start.to(end))
    }

    /// The next token. The last one is the end, which is never taken.
    pub(super) fn next(&self) -> &Token {
        self.peek(0)
    }

    pub(super) fn peek(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.next().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Where the token before this one stands.
    pub(super) fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.next().kind, TokenKind::Sign(found) if found == sign)
    }

    pub(super) fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(&self.peek(ahead).kind, TokenKind::Word(found) if found == word)
    }

    /// Takes a sign if it is the next token.
    pub(super) fn took(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn took_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(0, word);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), Wrong> {
        if self.took(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn made(kind: SyntaxKind, span: Span) -> Result<Syntax, Wrong> {
        Syntax::new(kind, span)
            .map_err(|span| (format!("more than {DEPTH_MAX} levels within each other"), span))
    }

    /// The error for the next token, which can stand here in no expression.
    pub(super) fn unexpected(&self) -> Wrong {
        let span = self.next().span;
        let meant = self.meant(span.start);
        let plain = match &self.next().kind {
            TokenKind::End => "the text ends too early",
            _ => "invalid syntax",
        };
        (meant.unwrap_or(plain).to_owned(), span)
    }

    /// What is to be written for a word of SQL or C that stands here.
    fn meant(&self, at: usize) -> Option<&'static str> {
        let rest = self.text.get(at..).unwrap_or_default();
        let before = self.text.get(..at).unwrap_or_default();
        if rest.starts_with('=') {
            return Some("a comparison is written ==, <= or >=");
        }
        if rest.starts_with("<>") {
            return Some("write != for <>");
        }
        if rest.starts_with('!') {
            return Some("write not for !");
        }
        if rest.starts_with('`') {
            return Some("write col('my name') for `my name`");
        }
        let is_value =
            !before.trim_end().ends_with(|last: char| last.is_alphanumeric() || ")]_".contains(last));
        if rest.starts_with('@') && is_value {
            return Some("write the name without @, and pass its value under this name");
        }
        for (sign, sentence) in [('&', "write and for &&"), ('|', "write or for ||")] {
            if rest.starts_with(sign) && before.ends_with(sign) {
                return Some(sentence);
            }
        }
        let word = rest.split_whitespace().next().unwrap_or_default();
        Some(match word {
            "AND" => "write and for AND",
            "OR" => "write or for OR",
            "NOT" => "write not for NOT",
            "IN" => "write in for IN",
            "IS" => "write is for IS",
            _ if word.eq_ignore_ascii_case("between") => "write 1 <= x <= 2 for between",
            _ if word.eq_ignore_ascii_case("like") => "write contains, startswith or endswith for like",
            _ => return None,
        })
    }

    /// Reads a part that may hold others of its kind, if there are not too many around it.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Syntax, Wrong>) -> Result<Syntax, Wrong> {
        if self.levels > 2 * DEPTH_MAX {
            return Err(("too deeply nested".to_owned(), self.next().span));
        }
        self.levels += 1;
        let made = read(self);
        self.levels -= 1;
        made
    }

    pub(super) fn expression(&mut self) -> Result<Syntax, Wrong> {
        self.deeper(Self::disjunction)
    }

    fn disjunction(&mut self) -> Result<Syntax, Wrong> {
        if self.is_word(0, "lambda") {
            return Err(("lambda: not a part of expressions".to_owned(), self.next().span));
        }
        let made = self
            .logical("or", LogicalOp::Or, |parser| parser.logical("and", LogicalOp::And, Self::inversion))?;
        if self.is_word(0, "if") {
            let choice = "'if' and 'else' choose once; where(condition, x, y) chooses for each item";
            return Err((choice.to_owned(), made.span.to(self.next().span)));
        }
        if self.is_sign(":=") {
            return Err(("':=': not a part of expressions".to_owned(), made.span.to(self.next().span)));
        }
        if self.is_word(0, "for") || (self.is_word(0, "async") && self.is_word(1, "for")) {
            return Err((
                "a comprehension: not a part of expressions".to_owned(),
                made.span.to(self.next().span),
            ));
        }
        Ok(made)
    }

    fn logical(
        &mut self,
        word: &str,
        op: LogicalOp,
        inner: impl Fn(&mut Self) -> Result<Syntax, Wrong>,
    ) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let mut all = vec![inner(self)?];
        while self.took_word(word) {
            all.push(inner(self)?);
        }
        match <[Syntax; 1]>::try_from(all) {
            Ok([one]) => Ok(one),
            Err(all) => Self::made(SyntaxKind::Logical(op, all), start.to(self.before())),
        }
    }

    fn inversion(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        if !self.took_word("not") {
            return self.comparison();
        }
        let operand = self.deeper(Self::inversion)?;
        Self::made(SyntaxKind::Unary(UnaryOp::Not, Box::new(operand)), start.to(self.before()))
    }

    fn comparison(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(op) = self.compare_op() {
            rest.push((op, self.binary(0)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Self::made(SyntaxKind::Compare(Box::new(first), rest), start.to(self.before()))
    }

    fn compare_op(&mut self) -> Option<CompareOp> {
        if let Some(&(_, op)) = COMPARISONS.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.at += 1;
            return Some(op);
        }
        if self.is_word(0, "not") && self.is_word(1, "in") {
            self.at += 2;
            return Some(CompareOp::NotIn);
        }
        if self.took_word("in") {
            return Some(CompareOp::In);
        }
        if !self.took_word("is") {
            return None;
        }
        Some(if self.took_word("not") { CompareOp::IsNot } else { CompareOp::Is })
    }

    /// Operators that bind at least so much.
    fn binary(&mut self, level: usize) -> Result<Syntax, Wrong> {
        let Some(&own) = BINARY.get(level) else { return self.unary() };
        let start = self.next().span;
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, op)) = own.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Self::joined(left, op, right, start.to(self.before()))?;
        }
        Ok(left)
    }

    /// What is on the left of an operator goes on in one row.
    fn joined(left: Syntax, op: BinaryOp, right: Syntax, span: Span) -> Result<Syntax, Wrong> {
        let kind = match left {
            Syntax { kind: SyntaxKind::Binary(first, mut rest), is_bracketed: false, .. } => {
                rest.push((op, right));
                SyntaxKind::Binary(first, rest)
            }
            left => SyntaxKind::Binary(Box::new(left), vec![(op, right)]),
        };
        Self::made(kind, span)
    }

    fn unary(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let op = [("-", UnaryOp::Minus), ("+", UnaryOp::Plus), ("~", UnaryOp::Invert)];
        let Some(&(_, op)) = op.iter().find(|(sign, _)| self.is_sign(sign)) else { return self.power() };
        self.at += 1;
        let operand = self.deeper(Self::unary)?;
        Self::made(SyntaxKind::Unary(op, Box::new(operand)), start.to(self.before()))
    }

    /// Powers are of the right first, and their exponents may have a sign.
    fn power(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let base = self.operand()?;
        if !self.took("**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::unary)?;
        Self::joined(base, BinaryOp::Power, exponent, start.to(self.before()))
    }
}

/// Whether a word is a name.
pub(super) fn is_name(word: &str) -> bool {
    !WORDS.contains(&word)
}
