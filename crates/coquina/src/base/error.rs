//! The one error type: a kind the caller can act on, a sentence with the values, and the places it passed.
//!
//! `Display` prints the places from the outside in, then the sentence:
//! `fire.blp: chunk 3: block 7: zlib: the stream is damaged`.

use std::fmt;

/// What went wrong, as far as a caller would act differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes contradict the format: they were damaged, or never were what they claim.
    Corrupt,
    /// The bytes end before what they announce.
    Truncated,
    /// Well formed, but needs something that this build does not have.
    Unsupported,
    /// The caller asked for something that makes no sense.
    Invalid,
    /// A position outside of what exists.
    OutOfBounds,
    /// More memory or size than the caller's limits or the format allow.
    Limit,
    /// The job was cancelled by its caller.
    Cancelled,
    /// The operating system said no.
    Io,
}

/// An error of any part of coquina.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    sentence: String,
    places: Vec<String>,
    source: Option<std::io::Error>,
}

/// A result with coquina's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn new(kind: ErrorKind, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into(), places: Vec::new(), source: None }
    }

    /// An error of kind [`ErrorKind::Corrupt`].
    pub fn corrupt(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, sentence)
    }

    /// An error of kind [`ErrorKind::Truncated`].
    pub fn truncated(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::Truncated, sentence)
    }

    /// An error of kind [`ErrorKind::Unsupported`].
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, sentence)
    }

    /// An error of kind [`ErrorKind::Invalid`].
    pub fn invalid(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, sentence)
    }

    /// An error of kind [`ErrorKind::OutOfBounds`].
    pub fn out_of_bounds(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutOfBounds, sentence)
    }

    /// An error of kind [`ErrorKind::Limit`].
    pub fn limit(sentence: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, sentence)
    }

    /// An error of kind [`ErrorKind::Cancelled`].
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the job was cancelled")
    }

    /// Adds the place that the error just left, the outermost last. A place that it has left just before is not
    /// named twice.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        let place = place.into();
        if self.places.last() != Some(&place) {
            self.places.push(place);
        }
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The places that it has passed, the outermost first.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.places.iter().rev().map(String::as_str)
    }

    /// The operating system's error below an [`ErrorKind::Io`], if there is one.
    pub fn io(&self) -> Option<&std::io::Error> {
        self.source.as_ref()
    }
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self { source: Some(source), ..Self::new(ErrorKind::Io, "") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in self.places() {
            write!(f, "{place}: ")?;
        }
        match &self.source {
            Some(source) => write!(f, "{source}"),
            None => f.write_str(&self.sentence),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_printed_from_the_outside_in() {
        let error = Error::corrupt("typesize: 0 is not a size").at("header").at("fire.blp");
        assert_eq!(error.to_string(), "fire.blp: header: typesize: 0 is not a size");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}
