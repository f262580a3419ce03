//! Functions of strings of a fixed width: `lower(s)`, `find(s, "a")`, `isdigit(s)`.
//!
//! Source: NumPy's functions of these names in `numpy.strings`. Of bytes those of ASCII are letters and digits. Of characters
//! there are the functions that need to know no more of Unicode than what white space is.
//! Out: strings of the same width, as a column; truth values; integers of 64 bits.

use std::sync::Arc;

use coquina_kernels::items::{Number, bytes_of, items};

use super::super::columns::{ColumnValues, QueryColumn};
use super::Result;
use super::columns::{check_scalar, described, item, type_error};
use super::constants::Constant;
use super::elsewhere::{ElsewhereOperand, Rows};
use super::nodes::{BOOL, I64, Nodes};
use super::operands::shown;
use super::values::Value;
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error;
use crate::base::scratch::with_aligned_scratch;
use crate::expr::text::{TextError, TextErrorKind};

/// What a function gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Strings,
    Truths,
    Numbers,
}

/// A function of strings.
pub(super) struct StringFunction {
    name: &'static str,
    pub(super) arity: usize,
    output: Output,
    /// Whether it takes characters too, and not only bytes.
    takes_points: bool,
}

const fn row(name: &'static str, arity: usize, output: Output, takes_points: bool) -> StringFunction {
    StringFunction { name, arity, output, takes_points }
}

const FUNCTIONS: [StringFunction; 21] = [
    row("capitalize", 1, Output::Strings, false),
    row("isalnum", 1, Output::Truths, false),
    row("isalpha", 1, Output::Truths, false),
    row("isdecimal", 1, Output::Truths, false),
    row("isdigit", 1, Output::Truths, false),
    row("islower", 1, Output::Truths, false),
    row("isnumeric", 1, Output::Truths, false),
    row("isspace", 1, Output::Truths, true),
    row("istitle", 1, Output::Truths, false),
    row("isupper", 1, Output::Truths, false),
    row("lower", 1, Output::Strings, false),
    row("lstrip", 1, Output::Strings, true),
    row("rstrip", 1, Output::Strings, true),
    row("str_len", 1, Output::Numbers, true),
    row("strip", 1, Output::Strings, true),
    row("swapcase", 1, Output::Strings, false),
    row("title", 1, Output::Strings, false),
    row("upper", 1, Output::Strings, false),
    row("count", 2, Output::Numbers, true),
    row("find", 2, Output::Numbers, true),
    row("rfind", 2, Output::Numbers, true),
];

/// The function of a name.
pub(super) fn string_function(name: &str) -> Option<&'static StringFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Calls a function of a column, and of text that is looked for in it.
///
/// # Errors
/// `Type` for operands that are no strings, `Unsupported` for functions that ask what characters are.
pub(super) fn call(nodes: &mut Nodes, function: &'static StringFunction, values: &[Value]) -> Result<Value> {
    let name = function.name;
    let Some(Value::Column(column)) = values.first() else {
        let found = values.first().map_or(String::new(), shown);
        return Err(type_error(format!("{name} takes a column of strings, not {found}")));
    };
    check_scalar(column)?;
    let (source, is_points) = match &column.values {
        ColumnValues::FixedBytes(source) => (source, false),
        ColumnValues::FixedPoints(source) => (source, true),
        _ if column.is_text() => return item(nodes, column).map(Value::Item),
        _ => return Err(type_error(format!("{}: {name} takes strings", described(column)))),
    };
    if is_points && !function.takes_points {
        return characters(nodes, name, column, source);
    }
    if matches!(name, "isdecimal" | "isnumeric") {
        return Err(type_error(format!("{}: {name} takes characters, and no bytes", described(column))));
    }
    let sub = match values.get(1) {
        None => Vec::new(),
        Some(Value::Constant(Constant::Text(text))) if is_points => {
            bytes_of(&text.chars().map(u32::from).collect::<Vec<_>>()).to_vec()
        }
        Some(Value::Constant(Constant::Text(text))) => text.clone().into_bytes(),
        Some(Value::Constant(Constant::Bytes(bytes))) if !is_points => bytes.clone(),
        Some(other) => {
            return Err(type_error(format!(
                "{}: {name} takes text, not {}",
                described(column),
                shown(other)
            )));
        }
    };
    let source = Arc::clone(source);
    let made: Arc<dyn BoxSource> = Arc::new(OfStrings { function, source, is_points, sub });
    Ok(match (function.output, &column.mask) {
        (Output::Strings, mask) => {
            let values =
                if is_points { ColumnValues::FixedPoints(made) } else { ColumnValues::FixedBytes(made) };
            let path = format!("{name}({})", column.path);
            Value::Column(QueryColumn { path, values, mask: mask.clone(), place: None })
        }
        (output, mask) => {
            let item = nodes.load(&made, if output == Output::Truths { BOOL } else { I64 });
            match mask {
                None => Value::Item(item),
                Some(mask) => Value::Masked(item, nodes.load(mask, BOOL)),
            }
        }
    })
}

/// A function that asks what characters are.
fn characters(
    nodes: &mut Nodes,
    name: &str,
    column: &QueryColumn,
    source: &Arc<dyn BoxSource>,
) -> Result<Value> {
    let Some(elsewhere) = nodes.elsewhere.clone() else {
        let sentence = format!("{name} of characters is not computed here");
        return Err(TextError::new(TextErrorKind::Unsupported, sentence));
    };
    let operand = ElsewhereOperand::Rows(Rows::Points(Arc::clone(source)));
    let mask = column.mask.clone();
    Ok(match (elsewhere.call(name, vec![operand])?, mask) {
        (Rows::Points(made), mask) => {
            let path = format!("{name}({})", column.path);
            Value::Column(QueryColumn { path, values: ColumnValues::FixedPoints(made), mask, place: None })
        }
        (Rows::Items(ty, made), None) => Value::Item(nodes.load(&made, ty)),
        (Rows::Items(ty, made), Some(mask)) => {
            let item = nodes.load(&made, ty);
            Value::Masked(item, nodes.load(&mask, BOOL))
        }
    })
}

/// The results of a function, row by row.
struct OfStrings {
    function: &'static StringFunction,
    source: Arc<dyn BoxSource>,
    is_points: bool,
    sub: Vec<u8>,
}

impl BoxSource for OfStrings {
    fn shape(&self) -> Vec<u64> {
        self.source.shape()
    }

    fn item_bytes(&self) -> usize {
        match self.function.output {
            Output::Strings => self.source.item_bytes(),
            Output::Truths => 1,
            Output::Numbers => 8,
        }
    }

    fn walk(&self) -> Walk {
        self.source.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> error::Result<()> {
        let own = self.item_bytes().max(1);
        check_box(&self.shape(), start, shape, self.item_bytes(), out.len())?;
        // Strings of no bytes are written by nobody.
        out.fill(0);
        let width = self.source.item_bytes();
        with_aligned_scratch(|room| {
            let strings = room.room(out.len() / own * width);
            self.source.fill(start, shape, strings)?;
            for (string, out) in strings.chunks_exact(width.max(1)).zip(out.chunks_exact_mut(own)) {
                if self.is_points { self.one::<u32>(string, out) } else { self.one::<u8>(string, out) }
            }
            Ok(())
        })
    }
}

impl OfStrings {
    /// The result of one string.
    fn one<U: Unit>(&self, string: &[u8], out: &mut [u8]) {
        let units = items::<U>(string);
        // Zeros at the end do not count.
        let text = &units[..units.iter().rposition(|unit| *unit != U::default()).map_or(0, |last| last + 1)];
        match self.function.output {
            Output::Strings => {
                out.fill(0);
                let made = match self.function.name {
                    "strip" => stripped(text, true, true),
                    "lstrip" => stripped(text, true, false),
                    "rstrip" => stripped(text, false, true),
                    name => {
                        out[..text.len()].copy_from_slice(&mapped(name, bytes_of(text)));
                        return;
                    }
                };
                out[..size_of_val(made)].copy_from_slice(bytes_of(made));
            }
            Output::Truths => {
                out[0] = u8::from(match self.function.name {
                    "isspace" => !text.is_empty() && text.iter().all(|unit| unit.is_space()),
                    name => holds(name, bytes_of(text)),
                });
            }
            Output::Numbers => {
                let sub = super::super::numbers::numbers::<U>(&self.sub);
                let found = number(self.function.name, text, &sub);
                out.copy_from_slice(bytes_of(&[found]));
            }
        }
    }
}

/// A byte, or a character.
trait Unit: Number + PartialEq + Default {
    fn is_space(self) -> bool;
}

impl Unit for u8 {
    fn is_space(self) -> bool {
        matches!(self, b'\t'..=b'\r' | b' ')
    }
}

impl Unit for u32 {
    /// As Python's `str.isspace` has it.
    fn is_space(self) -> bool {
        matches!(
            self,
            0x09..=0x0d | 0x1c..=0x20 | 0x85 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f
                | 0x3000
        )
    }
}

fn stripped<U: Unit>(text: &[U], left: bool, right: bool) -> &[U] {
    let is_kept = |unit: &U| !unit.is_space();
    let first = if left { text.iter().position(is_kept).unwrap_or(text.len()) } else { 0 };
    let last = if right { text.iter().rposition(is_kept).map_or(0, |last| last + 1) } else { text.len() };
    text.get(first..last).unwrap_or_default()
}

/// A length, a count or a place.
fn number<U: Unit>(name: &str, text: &[U], sub: &[U]) -> i64 {
    let is_at = |at: &usize| text[*at..].starts_with(sub);
    // Where `sub` can begin: nowhere, if it is longer.
    let ends = (text.len() + 1).saturating_sub(sub.len());
    let place = |found: Option<usize>| found.map_or(-1, |at| at.cast_signed() as i64);
    match name {
        "find" => place((0..ends).find(is_at)),
        "rfind" => place((0..ends).rfind(is_at)),
        "count" => {
            let (mut at, mut count) = (0, 0);
            while at < ends {
                let is_here = is_at(&at);
                count += i64::from(is_here);
                at += if is_here { sub.len().max(1) } else { 1 };
            }
            count
        }
        _ => text.len().cast_signed() as i64,
    }
}

/// Bytes with other letters.
fn mapped(name: &str, text: &[u8]) -> Vec<u8> {
    let mut made = text.to_vec();
    match name {
        "lower" => made.make_ascii_lowercase(),
        "upper" => made.make_ascii_uppercase(),
        "swapcase" => {
            for byte in &mut made {
                *byte ^= if byte.is_ascii_alphabetic() { 0x20 } else { 0 };
            }
        }
        "capitalize" => {
            made.make_ascii_lowercase();
            made[..text.len().min(1)].make_ascii_uppercase();
        }
        // A word begins behind what is no letter.
        _ => {
            made.make_ascii_lowercase();
            for at in 0..made.len() {
                if at == 0 || !made[at - 1].is_ascii_alphabetic() {
                    made[at].make_ascii_uppercase();
                }
            }
        }
    }
    made
}

/// Whether bytes are what a function asks.
fn holds(name: &str, text: &[u8]) -> bool {
    let all = |is: fn(&u8) -> bool| !text.is_empty() && text.iter().all(is);
    match name {
        "isalnum" => all(u8::is_ascii_alphanumeric),
        "isalpha" => all(u8::is_ascii_alphabetic),
        "isdigit" => all(u8::is_ascii_digit),
        "islower" => text.iter().any(u8::is_ascii_lowercase) && !text.iter().any(u8::is_ascii_uppercase),
        "isupper" => text.iter().any(u8::is_ascii_uppercase) && !text.iter().any(u8::is_ascii_lowercase),
        _ => text.iter().any(u8::is_ascii_alphabetic) && mapped("title", text) == text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_counts_are_those_of_python() {
        // Of text and sub: count, find, rfind.
        for (text, sub, wanted) in [
            ("a.a.a", "a", [3, 0, 4]),
            ("aaaa", "aa", [2, 0, 2]),
            ("abc", "", [4, 0, 3]),
            ("", "", [1, 0, 0]),
            ("", "a", [0, -1, -1]),
            ("ab", "abc", [0, -1, -1]),
            ("abab", "ab", [2, 0, 2]),
        ] {
            let found = ["count", "find", "rfind"].map(|name| number(name, text.as_bytes(), sub.as_bytes()));
            assert_eq!(found, wanted, "{text:?} {sub:?}");
        }
    }

    #[test]
    fn letters_and_words_are_those_of_python() {
        for (text, name, wanted) in [
            ("they're 2nd-hand", "title", "They'Re 2Nd-Hand"),
            ("hELLO wORLD", "capitalize", "Hello world"),
            ("aB1\u{e9}", "swapcase", "Ab1\u{e9}"),
            ("", "title", ""),
        ] {
            assert_eq!(mapped(name, text.as_bytes()), wanted.as_bytes(), "{text:?} {name}");
        }
        for (text, name, wanted) in [
            ("Ab Cd", "istitle", true),
            ("A1B", "istitle", true),
            ("AB", "istitle", false),
            ("12", "istitle", false),
            ("a1", "islower", true),
            ("1", "islower", false),
            ("", "isalpha", false),
        ] {
            assert_eq!(holds(name, text.as_bytes()), wanted, "{text:?} {name}");
        }
        let spaces = "\u{1c} x\u{3000}".chars().map(u32::from).collect::<Vec<_>>();
        assert_eq!(stripped(&spaces, true, true), [u32::from('x')]);
        assert_eq!(stripped(b" \x1c ", true, true), b"\x1c");
        assert!(stripped(b"  ", true, true).is_empty() && stripped::<u8>(b"", true, false).is_empty());
    }
}
