//! Values of JSON as Python reads and writes them: what the manifest of a directory holds, and attributes of tables.
//!
//! In: text. Out: values, and the same text again. Numbers keep the text that they were written with, so that those
//! that no machine number holds (big integers, `NaN`, `Infinity`) stay as they are. Text may have lone surrogates.
//! Source: RFC 8259, and Python's `json` where that takes more.
//! Invariant: values are no deeper than [`DEPTH_MAX`], and what is read and written again keeps numbers and texts.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::base::error::{Error, Result};

/// So many lists and objects may stand in each other.
pub(crate) const DEPTH_MAX: usize = 500;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(JsonNumber),
    /// A text.
    Text(JsonText),
    /// A list of values.
    List(Vec<Json>),
    /// Values by name.
    Object(JsonObject),
}

/// A number, as the text that it is written with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonNumber(Box<str>);

/// Text in UTF-8 in which lone surrogates may stand, as in Python's strings: each in three bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonText(Arc<[u8]>);

/// Values by name, in the order in which they were added; there are no two of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonObject(Vec<JsonEntry>);

/// A value and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonEntry {
    name: JsonText,
    value: Json,
}

impl Json {
    /// Reads a value.
    ///
    /// # Errors
    /// `Corrupt` for what is no JSON, `Limit` for more than 500 lists and objects in each other.
    pub fn read(text: &[u8]) -> Result<Self> {
        read::read(text)
    }

    /// Adds the text of the value, as Python's `json.dumps(value, ensure_ascii=False)` writes it.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::value(self, out);
    }

    /// The text, if it is one without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { text.as_str() } else { None }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&JsonNumber> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number, if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number, if it is an integer that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number that is nearest to it, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(JsonNumber::as_f64)
    }

    /// The values, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    /// The values by name, if it is an object.
    pub fn as_object(&self) -> Option<&JsonObject> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The value of a name, if it is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name.as_bytes())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(JsonNumber(number.to_string().into()))
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(JsonNumber(number.to_string().into()))
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Number(JsonNumber(write::float(number).into()))
    }
}

impl From<JsonObject> for Json {
    fn from(object: JsonObject) -> Self {
        Self::Object(object)
    }
}

impl From<i128> for JsonNumber {
    fn from(number: i128) -> Self {
        Self(number.to_string().into())
    }
}

impl JsonNumber {
    /// How it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is written as an integer.
    pub fn is_integer(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    }

    /// The integer, if it is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The integer, if it is one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The number that is nearest to it.
    pub fn as_f64(&self) -> f64 {
        // What the reader lets through is a number for Rust as well: digits, or one of three names.
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl JsonText {
    /// The text that these bytes are.
    ///
    /// # Errors
    /// `Invalid` if they are not UTF-8, with surrogates or without.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let is_text = read::is_text(bytes);
        is_text.then(|| Self(bytes.into())).ok_or_else(|| Error::invalid("text that is no UTF-8"))
    }

    /// The text, if it has no lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for JsonText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl Borrow<[u8]> for JsonText {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

impl JsonObject {
    /// The value of a name.
    pub fn get(&self, name: &[u8]) -> Option<&Json> {
        self.0.iter().find(|entry| entry.name.as_bytes() == name).map(|entry| &entry.value)
    }

    /// Sets the value of a name, in the place where it was before.
    pub fn set(&mut self, name: JsonText, value: Json) {
        match self.0.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => entry.value = value,
            None => self.0.push(JsonEntry { name, value }),
        }
    }

    /// Removes a name; returns what it had.
    pub fn remove(&mut self, name: &[u8]) -> Option<Json> {
        let at = self.0.iter().position(|entry| entry.name.as_bytes() == name)?;
        Some(self.0.remove(at).value)
    }

    /// All names with their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&JsonText, &Json)> {
        self.0.iter().map(|entry| (&entry.name, &entry.value))
    }

    /// Adds the text of the object.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::object(self, out);
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for JsonObject {
    type Item = (JsonText, Json);
    type IntoIter = std::iter::Map<std::vec::IntoIter<JsonEntry>, fn(JsonEntry) -> (JsonText, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|entry| (entry.name, entry.value))
    }
}

impl FromIterator<(JsonText, Json)> for JsonObject {
    /// Of several values of one name, the last one, in the place of the first.
    fn from_iter<I: IntoIterator<Item = (JsonText, Json)>>(entries: I) -> Self {
        let mut places = std::collections::HashMap::new();
        let mut made: Vec<JsonEntry> = Vec::new();
        for (name, value) in entries {
            match places.get(&name).and_then(|&at: &usize| made.get_mut(at)) {
                Some(entry) => entry.value = value,
                None => {
                    places.insert(name.clone(), made.len());
                    made.push(JsonEntry { name, value });
                }
            }
        }
        Self(made)
    }
}
