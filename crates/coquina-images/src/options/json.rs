//! Flat JSON objects: names with texts, numbers, lists of numbers, truth values and null.
//!
//! In: a text. Out: its pairs, in order. Objects within it, other lists, and escapes in texts are errors: no option has them.
//! Source: RFC 8259.

use std::fmt;

/// What stands behind a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Numbers(Vec<f64>),
    Text(String),
}

impl fmt::Display for Value {
    /// As it stood in the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(is) => write!(f, "{is}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Numbers(numbers) => write!(f, "{numbers:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// The pairs of an object; none for an empty text.
pub(super) fn object(text: &str) -> Result<Vec<(String, Value)>, String> {
    let mut left = text.trim();
    let mut pairs = Vec::new();
    if left.is_empty() {
        return Ok(pairs);
    }
    left = after(left, '{')?;
    while !left.starts_with('}') {
        let (name, rest) = quoted(left)?;
        let (value, rest) = value(after(rest, ':')?)?;
        pairs.push((name.to_owned(), value));
        left = match rest.strip_prefix(',') {
            Some(rest) if !rest.trim_start().starts_with('}') => rest.trim_start(),
            Some(_) => return Err(odd(rest)),
            None => rest,
        };
        if !left.starts_with(['"', '}']) {
            return Err(odd(left));
        }
    }
    if after(left, '}')?.is_empty() { Ok(pairs) } else { Err(odd(left)) }
}

/// What follows a sign and the blanks behind it.
fn after(text: &str, sign: char) -> Result<&str, String> {
    text.strip_prefix(sign).map(str::trim_start).ok_or_else(|| odd(text))
}

/// A text in quotes, and what follows it.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    let (inner, rest) =
        text.strip_prefix('"').and_then(|rest| rest.split_once('"')).ok_or_else(|| odd(text))?;
    if inner.contains(['\\', '\n']) {
        return Err(odd(text));
    }
    Ok((inner, rest.trim_start()))
}

/// A value, and what follows it.
fn value(text: &str) -> Result<(Value, &str), String> {
    if text.starts_with('"') {
        let (inner, rest) = quoted(text)?;
        return Ok((Value::Text(inner.to_owned()), rest));
    }
    if let Some(list) = text.strip_prefix('[') {
        let (inner, rest) = list.split_once(']').ok_or_else(|| odd(text))?;
        let numbers = inner.split(',').map(|word| number(word.trim()).ok_or_else(|| odd(text)));
        return Ok((Value::Numbers(numbers.collect::<Result<_, _>>()?), rest.trim_start()));
    }
    let end = text.find([',', '}']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word.trim_end() {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        word => Value::Number(number(word).ok_or_else(|| odd(text))?),
    };
    Ok((value, rest))
}

/// A number; Rust's own words for some, such as `inf`, are none.
fn number(word: &str) -> Option<f64> {
    let is_number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}

fn odd(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    format!("options: {shown:?} is not what a flat JSON object has there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_in_order() {
        let text = " { \"a\" : 1.5 , \"b\":\"x y\",\"c\": null, \"d\":true, \"e\": [3, 0.5] , \"f\":[2]}";
        let pairs = object(text).unwrap();
        let wanted = [
            ("a", Value::Number(1.5)),
            ("b", Value::Text("x y".into())),
            ("c", Value::Null),
            ("d", Value::Bool(true)),
            ("e", Value::Numbers(vec![3.0, 0.5])),
            ("f", Value::Numbers(vec![2.0])),
        ];
        assert_eq!(pairs, wanted.map(|(name, value)| (name.to_owned(), value)));
        assert!(object("").unwrap().is_empty() && object("{}").unwrap().is_empty());
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in
            ["{", "}", "{}{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{\"a\":[[1]]}"]
        {
            assert!(object(text).is_err(), "{text}");
        }
        for text in [
            "{a:1}",
            "{\"a\":nul}",
            "{\"a\":--1}",
            "{\"a\":\"\\n\"}",
            "{\"a\":inf}",
            "{\"a\":[]}",
            "{\"a\":[1",
            "{\"a\":[inf]}",
            "{\"a\":1}x",
        ] {
            assert!(object(text).is_err(), "{text}");
        }
    }
}
