//! What is wrong with a text, and where: the sentence, the text, and a line with carets below it.

use std::fmt;

use super::syntax::Span;
use crate::base::error::Error;

/// What kind of thing is wrong, as far as a caller would act differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextErrorKind {
    /// The text is no expression.
    Expression,
    /// A name stands for nothing.
    Name,
    /// Values of such types do not go together.
    Type,
    /// A value makes no sense where it stands.
    Value,
    /// An integer is too large for the type that it has to be of.
    Overflow,
    /// What is asked for is right, but this build does not compute it.
    Unsupported,
    /// Reading or computing failed: what the engine says of it.
    Engine,
}

/// An error of a text, with its place.
#[derive(Debug)]
pub struct TextError {
    kind: TextErrorKind,
    sentence: String,
    text: String,
    column: usize,
    width: usize,
    source: Option<Box<Error>>,
}

/// Characters that are shown before the place, and of the text in all.
const SHOWN_BEFORE: usize = 60;
const SHOWN: usize = 100;

impl TextError {
    /// An error that is not shown in a text yet.
    pub fn new(kind: TextErrorKind, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into(), text: String::new(), column: 0, width: 1, source: None }
    }

    /// An error of kind [`TextErrorKind::Expression`] at a place of a text.
    pub fn expression(sentence: impl Into<String>, text: &str, span: Span) -> Self {
        Self::new(TextErrorKind::Expression, sentence).at(text, span)
    }

    /// Adds the place, if there is none yet: the innermost one stays.
    #[must_use]
    pub fn at(mut self, text: &str, span: Span) -> Self {
        if self.text.is_empty() {
            let chars = |end: usize| text.get(..end).map_or(0, |part| part.chars().count());
            self.column = chars(span.start);
            self.width = chars(span.end).saturating_sub(self.column).max(1);
            self.text = text.to_owned();
        }
        self
    }

    /// The kind.
    pub fn kind(&self) -> TextErrorKind {
        self.kind
    }

    /// What is wrong, without the place.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// The text that it is about; nothing where no place is known.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The character that it begins at, from 0 on.
    pub fn column(&self) -> usize {
        self.column
    }

    /// How many characters it is about.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The engine's error, where reading or computing failed.
    pub fn into_engine(self) -> Option<Error> {
        self.source.map(|error| *error)
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        if self.text.is_empty() {
            return Ok(());
        }
        let start = self.column.saturating_sub(SHOWN_BEFORE);
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = self.text.chars().skip(start).take(SHOWN).map(plain).collect();
        let before = self.column - start;
        let width = self.width.min(shown.chars().count().saturating_sub(before)).max(1);
        write!(f, "\n  {shown}\n  {}{}", " ".repeat(before), "^".repeat(width))
    }
}

impl std::error::Error for TextError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| &**error as _)
    }
}

impl From<Error> for TextError {
    /// Keeps the engine's error, which it becomes again.
    fn from(error: Error) -> Self {
        Self { source: Some(Box::new(error)), ..Self::new(TextErrorKind::Engine, "") }.named()
    }
}

impl TextError {
    fn named(mut self) -> Self {
        if let Some(source) = &self.source {
            self.sentence = source.to_string();
        }
        self
    }
}

impl From<TextError> for Error {
    fn from(error: TextError) -> Self {
        let shown = error.to_string();
        match (error.kind, error.source) {
            (_, Some(source)) => *source,
            (TextErrorKind::Unsupported, None) => Self::unsupported(shown),
            _ => Self::invalid(shown),
        }
    }
}
