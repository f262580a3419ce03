//! Index metadata: one text of JSON for each index, which names all that belongs to it.
//!
//! In: text, hostile for all we know. Out: [`Metadata`], and the text again.
//! Source: `docs/formats/indexes.md`, "Metadata".
//! Invariant: what is read was checked: types, names of kinds, numbers that are not negative.

use super::params::IndexParams;
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject, JsonText};
use crate::index::keys::KeyKind;

const VERSION: u64 = 1;
/// Numbers are less than this.
const NUMBER_MAX: u64 = 1 << 62;
const BLOCK_ENTRIES_MAX: u64 = 1 << 16;

/// What an index has of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// All rows in order, in as few runs as can be had cheaply.
    Full,
    /// Runs of about a million rows, which are never merged.
    Partial,
    /// Runs of buckets of 1024 rows.
    Light,
    /// The least and the greatest key of 16384 rows each.
    Zones,
}

impl IndexKind {
    /// All kinds, the most useful first.
    pub const ALL: [Self; 4] = [Self::Full, Self::Partial, Self::Light, Self::Zones];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::Light => "light",
            Self::Zones => "zones",
        }
    }

    /// The kind of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How many rows share a number in it.
    pub(super) fn bucket_rows(self, params: &IndexParams) -> u64 {
        if self == Self::Light { params.bucket_rows } else { 1 }
    }
}

/// A run as metadata describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Its number.
    pub number: u64,
    /// Rows with a key.
    pub entries: u64,
    /// Rows, or buckets, without one.
    pub missing: u64,
    /// How many rows it was made of.
    pub rows: u64,
}

/// What describes an index beside its arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its name.
    pub name: JsonText,
    /// The column's path, or the text of the expression; empty for an array.
    pub column: JsonText,
    /// Whether it is an expression.
    pub is_expression: bool,
    /// Of which kind it is.
    pub kind: IndexKind,
    /// How keys are made.
    pub key_kind: String,
    /// Of the values, for people.
    pub dtype: JsonText,
    /// How many rows share a number.
    pub bucket_rows: u64,
    /// Entries of a block.
    pub block_entries: u64,
    /// How many rows there were when it was last written.
    pub rows: u64,
    /// The number of the array of spans; 0 for none.
    pub spans: u64,
    /// The number of the array of zones; 0 for none.
    pub zones: u64,
    /// A number that no array has.
    pub next: u64,
    /// Its runs.
    pub runs: Vec<RunEntry>,
    /// What tells whether values have been written since.
    pub stamp: JsonObject,
}

impl Metadata {
    /// Those of an index without anything.
    pub fn new(
        name: JsonText,
        column: JsonText,
        kind: IndexKind,
        key_kind: &str,
        params: &IndexParams,
    ) -> Self {
        Self {
            name,
            column,
            is_expression: false,
            kind,
            key_kind: key_kind.to_owned(),
            dtype: "".into(),
            bucket_rows: kind.bucket_rows(params),
            block_entries: params.block_entries,
            rows: 0,
            spans: 0,
            zones: 0,
            next: 1,
            runs: Vec::new(),
            stamp: JsonObject::default(),
        }
    }

    /// Those of the same index before anything was written.
    #[must_use]
    pub fn emptied(&self, key_kind: &str, dtype: JsonText) -> Self {
        Self {
            key_kind: key_kind.to_owned(),
            dtype,
            rows: 0,
            spans: 0,
            zones: 0,
            runs: Vec::new(),
            stamp: JsonObject::default(),
            ..self.clone()
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut all = JsonObject::default();
        let mut set = |name: &str, value: Json| all.set(name.into(), value);
        set("version", VERSION.into());
        set("name", Json::Text(self.name.clone()));
        set("column", Json::Text(self.column.clone()));
        set("is_expression", self.is_expression.into());
        set("kind", self.kind.name().into());
        set("key_kind", self.key_kind.as_str().into());
        set("dtype", Json::Text(self.dtype.clone()));
        set("bucket_rows", self.bucket_rows.into());
        set("block_entries", self.block_entries.into());
        set("rows", self.rows.into());
        set("spans", self.spans.into());
        set("zones", self.zones.into());
        set("next", self.next.into());
        let run = |run: &RunEntry| {
            Json::List([run.number, run.entries, run.missing, run.rows].map(Json::from).to_vec())
        };
        set("runs", Json::List(self.runs.iter().map(run).collect()));
        set("stamp", Json::Object(self.stamp.clone()));
        let checksum = u64::from(libdeflater::crc32(ascii(&all).as_bytes()));
        all.set("checksum".into(), checksum.into());
        ascii(&all)
    }

    /// What a text says.
    ///
    /// # Errors
    /// `Corrupt`; `Unsupported` for another version.
    pub fn read(text: &[u8], params: &IndexParams) -> Result<Self> {
        let corrupt = |what: String| Error::corrupt(format!("index metadata{what}"));
        let found = Json::read(text).map_err(|e| corrupt(format!(" is not JSON: {e}")))?;
        let Json::Object(mut found) = found else { return Err(corrupt(" is not an object".to_owned())) };
        // Those of earlier versions have none.
        if let Some(checksum) = found.remove(b"checksum")
            && checksum.as_u64() != Some(u64::from(libdeflater::crc32(ascii(&found).as_bytes())))
        {
            return Err(corrupt(": its checksum does not match".to_owned()));
        }
        if found.get(b"version").and_then(Json::as_u64) != Some(VERSION) {
            let sentence = format!("an index of another version than {VERSION}; create it again");
            return Err(Error::unsupported(sentence));
        }
        Fields(&found).metadata(params)
    }
}

/// The values of metadata by name.
struct Fields<'j>(&'j JsonObject);

impl<'j> Fields<'j> {
    fn wrong(name: &str, wanted: &str) -> Error {
        Error::corrupt(format!("index metadata: {name} is not {wanted}"))
    }

    fn text(&self, name: &str) -> Result<&'j JsonText> {
        match self.0.get(name.as_bytes()) {
            Some(Json::Text(text)) => Ok(text),
            _ => Err(Self::wrong(name, "text")),
        }
    }

    fn number(&self, name: &str) -> Result<u64> {
        number(self.0.get(name.as_bytes())).unwrap_or_else(|| Err(Self::wrong(name, "a number")))
    }

    fn runs(&self) -> Result<Vec<RunEntry>> {
        let runs =
            self.0.get(b"runs").and_then(Json::as_list).ok_or_else(|| Self::wrong("runs", "a list"))?;
        let run = |run: &Json| {
            let wrong = || Error::corrupt("index metadata: a run must have four numbers");
            let Some([first, second, third, last]) = run.as_list() else { return Err(wrong()) };
            let number = |one| number(Some(one)).unwrap_or_else(|| Err(wrong()));
            Ok(RunEntry {
                number: number(first)?,
                entries: number(second)?,
                missing: number(third)?,
                rows: number(last)?,
            })
        };
        runs.iter().map(run).collect()
    }

    fn metadata(&self, params: &IndexParams) -> Result<Metadata> {
        let Some(Json::Bool(is_expression)) = self.0.get(b"is_expression") else {
            return Err(Self::wrong("is_expression", "true or false"));
        };
        let Some(Json::Object(stamp)) = self.0.get(b"stamp") else {
            return Err(Self::wrong("stamp", "an object"));
        };
        let (kind, key_kind) = (self.text("kind")?, self.text("key_kind")?);
        let known_kind = kind.as_str().and_then(IndexKind::by_name);
        let known_key_kind = key_kind.as_str().filter(|name| KeyKind::by_name(name).is_ok());
        let (Some(kind), Some(key_kind)) = (known_kind, known_key_kind) else {
            let sentence = format!("index metadata: of kind {kind:?}, keys {key_kind:?}");
            return Err(Error::corrupt(sentence));
        };
        let made = Metadata {
            name: self.text("name")?.clone(),
            column: self.text("column")?.clone(),
            is_expression: *is_expression,
            kind,
            key_kind: key_kind.to_owned(),
            dtype: self.text("dtype")?.clone(),
            bucket_rows: self.number("bucket_rows")?,
            block_entries: self.number("block_entries")?,
            rows: self.number("rows")?,
            spans: self.number("spans")?,
            zones: self.number("zones")?,
            next: self.number("next")?,
            runs: self.runs()?,
            stamp: stamp.clone(),
        };
        let is_cut = [1, params.bucket_rows].contains(&made.bucket_rows);
        if !is_cut || !(1..=BLOCK_ENTRIES_MAX).contains(&made.block_entries) {
            return Err(out_of_range());
        }
        Ok(made)
    }
}

fn out_of_range() -> Error {
    Error::corrupt("index metadata: a number is out of range")
}

/// An integer, if that is what is there, and its error if it is none that metadata have.
fn number(value: Option<&Json>) -> Option<Result<u64>> {
    let number = value?.as_number().filter(|number| number.is_integer())?;
    Some(number.as_u64().filter(|&number| number < NUMBER_MAX).ok_or_else(out_of_range))
}

/// The text of an object, as Python's `json.dumps` writes it: in ASCII.
fn ascii(object: &JsonObject) -> String {
    let mut text = Vec::new();
    object.write(&mut text);
    let mut out = String::with_capacity(text.len());
    let mut bytes = &text[..];
    while let Some((&byte, rest)) = bytes.split_first() {
        bytes = rest;
        if byte < 0x7f {
            out.push(char::from(byte));
            continue;
        }
        // The bits of the first byte behind those that say how many bytes follow; lone surrogates have three.
        let more = match byte {
            0xf0.. => 3,
            0xe0.. => 2,
            0xc0.. => 1,
            _ => 0,
        };
        let (low, rest) = bytes.split_at(bytes.len().min(more));
        bytes = rest;
        let first = if more == 0 { u32::from(byte) } else { u32::from(byte) & (0x3f >> more) };
        let code = low.iter().fold(first, |code, &byte| code << 6 | (u32::from(byte) & 0x3f));
        let units = match code.checked_sub(0x1_0000) {
            None => vec![code],
            Some(above) => vec![0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff)],
        };
        units.iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_metadata_is_that_of_python() {
        let params = IndexParams::default();
        let mut meta =
            Metadata::new("a\u{e9}\u{7f}\u{1f332}".into(), "n".into(), IndexKind::Light, "int64", &params);
        meta.runs.push(RunEntry { number: 1, entries: 2, missing: 0, rows: 3 });
        let text = meta.text();
        assert!(
            text.is_ascii() && text.contains(r#""name": "a\u00e9\u007f\ud83c\udf32", "column": "n""#),
            "{text}"
        );
        assert!(text.contains(r#""runs": [[1, 2, 0, 3]], "stamp": {}, "checksum": "#), "{text}");
        assert_eq!(Metadata::read(text.as_bytes(), &params).unwrap(), meta);
    }

    #[test]
    fn hostile_metadata_are_errors() {
        let params = IndexParams::default();
        let text = Metadata::new("n".into(), "n".into(), IndexKind::Full, "int64", &params).text();
        for end in 0..text.len() {
            assert!(Metadata::read(&text.as_bytes()[..end], &params).is_err(), "{end}");
        }
        for at in 0..text.len() {
            let mut bad = text.clone().into_bytes();
            bad[at] ^= 1;
            // A checksum of another name is none, and what it was of is there.
            if let Ok(found) = Metadata::read(&bad, &params) {
                assert_eq!(found.text(), text, "{at}");
            }
        }
    }
}
