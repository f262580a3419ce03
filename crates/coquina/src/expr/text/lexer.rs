//! Cuts a text into tokens.
//!
//! Lines count, as in Python, only where a comment is in the text; elsewhere their ends are white space.

use super::error::TextError;
use super::escapes::quoted;
use super::literals::number;
use super::syntax::{Literal, Span};
use super::tokens::{SIGNS, Token, TokenKind};

/// The most brackets within each other.
const BRACKETS_MAX: usize = 128;

/// What is wrong, and where.
pub(super) type Wrong = (String, Span);

/// Cuts a text; the last token is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, TextError> {
    let mut lexer = Lexer { text, at: 0, found: Vec::new(), open: Vec::new(), has_lines: text.contains('#') };
    lexer.run().map_err(|(sentence, span)| TextError::expression(sentence, text, span))?;
    Ok(lexer.found)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Token>,
    /// Brackets that are not closed yet, and where they stand.
    open: Vec<(char, usize)>,
    has_lines: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) -> Result<(), Wrong> {
        while let Some(first) = self.rest().chars().next() {
            let start = self.at;
            if first.is_whitespace() {
                self.at += first.len_utf8();
                if matches!(first, '\n' | '\r') && self.has_lines && self.open.is_empty() {
                    self.push(TokenKind::Line, start);
                }
            } else if first == '#' {
                self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
            } else {
                self.token(first)?;
            }
        }
        if let Some(&(open, at)) = self.open.last() {
            return Err((format!("'{open}' was never closed"), Span { start: at, end: at + 1 }));
        }
        self.push(TokenKind::End, self.at);
        Ok(())
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.found.push(Token { kind, span: Span { start, end: self.at } });
    }

    fn token(&mut self, first: char) -> Result<(), Wrong> {
        let start = self.at;
        let is_fraction = first == '.' && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || is_fraction {
            let (value, len) = number(self.rest()).map_err(|(sentence, len)| self.wrong(sentence, len))?;
            self.at += len;
            self.push(TokenKind::Number(value), start);
        } else if let Some((prefix, _)) = prefix_of(self.rest()) {
            self.quoted(prefix)?;
        } else if first.is_alphabetic() || first == '_' {
            let is_inside = |c: char| c.is_alphanumeric() || c == '_';
            let len = self.rest().find(|c: char| !is_inside(c)).unwrap_or(self.rest().len());
            let word = self.rest()[..len].to_owned();
            self.at += len;
            self.push(TokenKind::Word(word), start);
        } else if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.bracket(first)?;
            self.at += sign.len();
            self.push(TokenKind::Sign(sign), start);
        } else {
            self.at += first.len_utf8();
            self.push(TokenKind::Unknown(first), start);
        }
        Ok(())
    }

    fn wrong(&self, sentence: impl Into<String>, len: usize) -> Wrong {
        (sentence.into(), Span { start: self.at, end: self.at + len.max(1) })
    }

    /// Opens and closes brackets.
    fn bracket(&mut self, sign: char) -> Result<(), Wrong> {
        let closes = match sign {
            '(' | '[' | '{' => {
                self.open.push((sign, self.at));
                let is_deep = self.open.len() > BRACKETS_MAX;
                return if is_deep { Err(self.wrong("too deeply nested", 1)) } else { Ok(()) };
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => return Ok(()),
        };
        match self.open.pop() {
            Some((open, _)) if open == closes => Ok(()),
            Some((open, _)) => Err(self.wrong(
                format!("closing parenthesis '{sign}' does not match opening parenthesis '{open}'"),
                1,
            )),
            None => Err(self.wrong(format!("unmatched '{sign}'"), 1)),
        }
    }

    fn quoted(&mut self, prefix: usize) -> Result<(), Wrong> {
        let start = self.at;
        let kinds = self.rest()[..prefix].to_ascii_lowercase();
        let (value, len) = quoted(&self.rest()[prefix..], &kinds).map_err(|(sentence, at, len)| {
            let start = start + prefix + at;
            (sentence, Span { start, end: start + len })
        })?;
        self.at += prefix + len;
        if kinds.contains(['f', 't']) {
            self.push(TokenKind::Formatted, start);
            return Ok(());
        }
        match (self.found.last_mut(), value) {
            (Some(Token { kind: TokenKind::Quoted(before), span }), value) => {
                match (before, value) {
                    (Literal::Text(before), Literal::Text(more)) => before.push_str(&more),
                    (Literal::Bytes(before), Literal::Bytes(more)) => before.extend_from_slice(&more),
                    _ => {
                        let sentence = "cannot mix bytes and nonbytes literals".to_owned();
                        return Err((sentence, Span { start, end: self.at }));
                    }
                }
                span.end = self.at;
            }
            (_, value) => self.push(TokenKind::Quoted(value), start),
        }
        Ok(())
    }
}

/// The letters before a quote, and the quote, if a quote stands here.
fn prefix_of(rest: &str) -> Option<(usize, char)> {
    let at = rest.find(['"', '\''])?;
    let prefix = rest[..at].to_ascii_lowercase();
    let known = ["", "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"];
    let quote = rest[at..].chars().next()?;
    known.contains(&prefix.as_str()).then_some((at, quote))
}
