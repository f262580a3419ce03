//! What operators stand between: names, values, brackets, calls, parts and attributes.

use super::lexer::Wrong;
use super::parser::{Parser, is_name};
use super::syntax::{Argument, Literal, Span, Syntax, SyntaxKind};
use super::tokens::TokenKind;

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let mut made = self.atom()?;
        loop {
            let kind = if self.took("(") {
                let arguments = self.arguments()?;
                SyntaxKind::Call(Box::new(made), arguments)
            } else if self.took("[") {
                let parts = self.parts()?;
                SyntaxKind::Part(Box::new(made), parts)
            } else if self.took(".") {
                match self.advance().kind {
                    TokenKind::Word(name) if is_name(&name) => SyntaxKind::Attribute(Box::new(made), name),
                    _ => return Err(("invalid syntax".to_owned(), self.before())),
                }
            } else {
                return Ok(made);
            };
            made = Self::made(kind, start.to(self.before()))?;
        }
    }

    fn atom(&mut self) -> Result<Syntax, Wrong> {
        let span = self.next().span;
        let kind = match self.next().kind.clone() {
            TokenKind::Word(word) => match word.as_str() {
                "True" => SyntaxKind::Literal(Literal::Bool(true)),
                "False" => SyntaxKind::Literal(Literal::Bool(false)),
                "None" => SyntaxKind::Literal(Literal::Nothing),
                "await" | "yield" => return Err((format!("{word}: not a part of expressions"), span)),
                _ if is_name(&word) => SyntaxKind::Name(word),
                _ => return Err(self.unexpected()),
            },
            TokenKind::Number(value) | TokenKind::Quoted(value) => SyntaxKind::Literal(value),
            TokenKind::Formatted => return Err(("an f-string: not a part of expressions".to_owned(), span)),
            TokenKind::Sign("...") => SyntaxKind::Literal(Literal::Ellipsis),
            TokenKind::Sign("*") => return Err(("'*': not a part of expressions".to_owned(), span)),
            TokenKind::Sign(open @ ("(" | "[" | "{")) => {
                self.advance();
                return self.bracketed(open, span);
            }
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Self::made(kind, span)
    }

    /// What stands in brackets: a part, or a list.
    fn bracketed(&mut self, open: &str, start: Span) -> Result<Syntax, Wrong> {
        let close = match open {
            "(" => ")",
            "[" => "]",
            _ => "}",
        };
        let mut all = Vec::new();
        let mut has_comma = false;
        while !self.took(close) {
            all.push(self.expression()?);
            if self.is_sign(":") && open == "{" {
                return Err(("a dict: not a part of expressions".to_owned(), start.to(self.next().span)));
            }
            if !self.is_sign(close) {
                self.expect(",")?;
                has_comma = true;
            }
        }
        if open == "{" && all.is_empty() {
            return Err(("a dict: not a part of expressions".to_owned(), start.to(self.before())));
        }
        match <[Syntax; 1]>::try_from(all) {
            Ok([one]) if open == "(" && !has_comma => Ok(Syntax { is_bracketed: true, ..one }),
            Ok([one]) => Self::made(SyntaxKind::List(vec![one]), start.to(self.before())),
            Err(all) => Self::made(SyntaxKind::List(all), start.to(self.before())),
        }
    }

    /// The arguments of a call, up to its bracket.
    fn arguments(&mut self) -> Result<Vec<Argument>, Wrong> {
        let mut found: Vec<Argument> = Vec::new();
        while !self.took(")") {
            let start = self.next().span;
            if self.is_sign("*") || self.is_sign("**") {
                return Err(("'*': not a part of expressions".to_owned(), start));
            }
            let is_named = matches!(self.peek(1).kind, TokenKind::Sign("="));
            let name = match &self.next().kind {
                TokenKind::Word(name) if is_named && is_name(name) => Some(name.clone()),
                _ => None,
            };
            if name.is_some() {
                self.advance();
                self.advance();
            } else if found.last().is_some_and(|last| last.name.is_some()) {
                return Err(("positional argument follows keyword argument".to_owned(), start));
            }
            if let Some(name) = &name
                && found.iter().any(|one| one.name.as_ref() == Some(name))
            {
                return Err((format!("keyword argument repeated: {name}"), start));
            }
            let value = self.expression()?;
            found.push(Argument { name, value, span: start.to(self.before()) });
            if !self.is_sign(")") {
                self.expect(",")?;
            }
        }
        Ok(found)
    }

    /// The parts between `[` and `]`.
    fn parts(&mut self) -> Result<Vec<Syntax>, Wrong> {
        let mut found = Vec::new();
        while !self.is_sign("]") || found.is_empty() {
            found.push(self.part()?);
            if !self.is_sign("]") {
                self.expect(",")?;
            }
        }
        self.expect("]")?;
        Ok(found)
    }

    fn part(&mut self) -> Result<Syntax, Wrong> {
        let start = self.next().span;
        let mut ends = vec![self.end()?];
        while ends.len() < 3 && self.took(":") {
            ends.push(self.end()?);
        }
        match <[Option<Syntax>; 1]>::try_from(ends) {
            Ok([Some(one)]) => Ok(one),
            Ok([None]) => Err(self.unexpected()),
            Err(ends) => Self::made(SyntaxKind::Slice(ends), start.to(self.before())),
        }
    }

    fn end(&mut self) -> Result<Option<Syntax>, Wrong> {
        let is_nothing = [":", "]", ","].iter().any(|sign| self.is_sign(sign));
        if is_nothing { Ok(None) } else { self.expression().map(Some) }
    }
}
