//! How the arrays of a table are stored: rows of chunks and blocks, and how chunks are compressed.
//!
//! In: what a user asks for, or the attribute `coquina` of a table. Out: what each array is to be.
//! Source: `docs/formats/columns.md`, "The group".
//! Invariant: all columns have the same rows in a chunk and in a block, so that one walk reads them together.

use super::item_type::ItemType;
use crate::array::{Access, ArraySpec, Fill};
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject, JsonText};
use crate::chunk::{Params, Special};
use crate::policy::tuned::Goal;
use crate::{codec, filter};

/// Rows of a block: the unit that is decoded, skipped and walked.
const BLOCK_ROWS: u64 = 1 << 14;
/// Rows of a chunk where nobody says how many rows are to come; between these two where somebody does.
const CHUNK_ROWS: u64 = 1 << 16;
const CHUNK_ROWS_MIN: u64 = 1 << 12;
const CHUNK_ROWS_MAX: u64 = 1 << 19;
/// Bytes of text in a chunk, at most.
const TEXT_CHUNK_MAX: u64 = 1 << 22;
/// Items of a chunk of a short list, which is read at once.
const FEW: u64 = 1 << 10;

/// How a new table is stored.
///
/// ```
/// use coquina::table::TableOptions;
///
/// let options = TableOptions { chunk_rows: Some(4096), ..TableOptions::default() };
/// assert!(options.title.is_empty());
/// ```
#[derive(Clone)]
pub struct TableOptions {
    /// What the table is about.
    pub title: String,
    /// Rows of a chunk; by default 65536, or what suits `expected_rows`.
    pub chunk_rows: Option<u64>,
    /// Rows of a block; by default 16384.
    pub block_rows: Option<u64>,
    /// About how many rows are to come.
    pub expected_rows: Option<u64>,
    /// Codec, level and filters of chunks.
    pub params: Params,
    /// Whether chunks in files get checksums.
    pub checksums: bool,
    /// What codec, level and filters of each chunk are chosen for; `None` for those of `params`.
    pub tuning: Option<Goal>,
    /// Whether commits wait until the disk has them, so that not even a power cut can take them back.
    pub durable: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            chunk_rows: None,
            block_rows: None,
            expected_rows: None,
            params: Params::default(),
            checksums: true,
            tuning: None,
            durable: false,
        }
    }
}

/// How the arrays of a table are made.
#[derive(Clone)]
pub(crate) struct ArrayOptions {
    pub(crate) chunk_rows: u64,
    pub(crate) block_rows: u64,
    params: Params,
    checksums: bool,
    tuning: Option<Goal>,
}

impl ArrayOptions {
    /// Those that a new table is to have.
    pub(crate) fn of(options: &TableOptions) -> Result<Self> {
        let made = Self {
            chunk_rows: options.chunk_rows.unwrap_or_else(|| usual_chunk(options.expected_rows)),
            block_rows: options.block_rows.unwrap_or(BLOCK_ROWS),
            params: options.params,
            checksums: options.checksums,
            tuning: options.tuning.clone(),
        };
        if made.chunk_rows == 0 || made.block_rows == 0 {
            let Self { chunk_rows, block_rows, .. } = made;
            return Err(Error::invalid(format!(
                "chunks of {chunk_rows} rows, blocks of {block_rows}: at least 1"
            )));
        }
        Ok(made)
    }

    /// Those of a table, by its attributes; what suits its number of rows where these say nothing that is understood.
    pub(crate) fn read(attributes: &JsonObject, rows: u64) -> Self {
        let stored = attributes.get(b"coquina").and_then(Json::as_str);
        let stored = stored.and_then(|text| Json::read(text.as_bytes()).ok());
        stored.and_then(|stored| Self::parsed(&stored)).unwrap_or_else(|| Self {
            chunk_rows: usual_chunk(Some(rows)),
            block_rows: BLOCK_ROWS,
            params: Params::default(),
            checksums: true,
            tuning: None,
        })
    }

    fn parsed(stored: &Json) -> Option<Self> {
        let rows = |name: &str| stored.get(name)?.as_u64().filter(|rows| *rows > 0);
        let mut params = Params::default();
        if let Some(name) = stored.get("codec").and_then(Json::as_str) {
            params.codec = codec::by_name(name).ok()?;
        }
        params.level = u8::try_from(stored.get("level")?.as_u64()?).ok()?;
        params.pipeline = pipeline_of(stored.get("filters")?)?;
        if stored.get("filter").and_then(Json::as_str) == Some("none") {
            params.level = 0;
        }
        params.check().ok()?;
        let tuning = stored.get("tuning").and_then(Json::as_str).and_then(|text| Goal::of_text(text).ok());
        let checksums = stored.get("checksums") != Some(&Json::Bool(false));
        Some(Self {
            chunk_rows: rows("chunk_rows")?,
            block_rows: rows("block_rows")?,
            params,
            checksums,
            tuning,
        })
    }

    /// The attribute that says it.
    pub(crate) fn write(&self) -> Json {
        let mut kept = JsonObject::default();
        let mut set = |name: &str, value: Json| kept.set(JsonText::from(name), value);
        set("chunk_rows", self.chunk_rows.into());
        set("block_rows", self.block_rows.into());
        set("filter", "blosc2".into());
        set("codec", self.params.codec.name().into());
        set("level", u64::from(self.params.level).into());
        set("filters", filters_of(&self.params));
        set("fletcher32", false.into());
        if !self.checksums {
            set("checksums", false.into());
        }
        if let Some(goal) = &self.tuning {
            set("tuning", goal.text().as_str().into());
        }
        let mut text = Vec::new();
        Json::from(kept).write(&mut text);
        String::from_utf8_lossy(&text).as_ref().into()
    }

    /// An array with an item for each row.
    pub(crate) fn items(&self, ty: ItemType) -> ArraySpec {
        self.array(ty, self.chunk_rows, self.block_rows)
    }

    /// The array of the bytes of texts, of which rows have several.
    pub(crate) fn text_bytes(&self, ty: ItemType) -> ArraySpec {
        let chunk = self.chunk_rows.saturating_mul(8).min(TEXT_CHUNK_MAX);
        self.array(ty, chunk, self.block_rows.saturating_mul(4))
    }

    /// The array of a short list that is read at once. It is not compressed.
    pub(crate) fn few(&self, ty: ItemType) -> ArraySpec {
        let spec = self.array(ty, FEW, FEW);
        let params = Params { level: 0, pipeline: filter::Pipeline::default(), ..spec.params };
        ArraySpec { params, tuning: None, ..spec }
    }

    fn array(&self, ty: ItemType, chunk: u64, block: u64) -> ArraySpec {
        ArraySpec {
            shape: vec![0],
            chunks: Some(vec![chunk]),
            blocks: Some(vec![block.min(chunk)]),
            access: Access::Any,
            dtype: ty.dtype(),
            fill: Fill::Special(Special::Zeros),
            params: Params { typesize: ty.bytes(), ..self.params },
            checksums: self.checksums,
            statistics: true,
            tuning: self.tuning.clone(),
        }
    }
}

/// Rows of a chunk that suit a table of about so many rows: a power of two.
fn usual_chunk(rows: Option<u64>) -> u64 {
    let Some(rows) = rows else { return CHUNK_ROWS };
    let eighth = (rows / 8).max(1);
    // The next power of two above, as for Python's `1 << n.bit_length()`.
    let wanted = 1_u64.checked_shl(u64::BITS - eighth.leading_zeros()).unwrap_or(CHUNK_ROWS_MAX);
    wanted.clamp(CHUNK_ROWS_MIN, CHUNK_ROWS_MAX)
}

/// The filters that an attribute names: one, none, or a list of them.
fn pipeline_of(filters: &Json) -> Option<filter::Pipeline> {
    let names: Vec<&str> = match filters {
        Json::Text(_) => vec![filters.as_str()?],
        Json::List(list) => list.iter().map(Json::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let slot = |name: &&str| {
        let id = if *name == "nofilter" { 0 } else { filter::by_name(name).ok()?.id() };
        Some(filter::Slot { id, meta: 0 })
    };
    let slots: Vec<filter::Slot> = names.iter().map(slot).collect::<Option<_>>()?;
    match &slots[..] {
        [] => Some(filter::Pipeline::default()),
        // One filter stands in the last slot, where C-Blosc2 puts its default.
        [slot] => Some(filter::Pipeline::last(slot.id)),
        slots => filter::Pipeline::new(slots).ok(),
    }
}

/// The filters of parameters, as an attribute names them.
fn filters_of(params: &Params) -> Json {
    let slots = params.pipeline.slots.iter().filter(|slot| slot.id != 0);
    let names: Vec<&str> = slots.filter_map(|slot| Some(filter::by_id(slot.id).ok()?.name())).collect();
    match &names[..] {
        [] => "nofilter".into(),
        [name] => (*name).into(),
        names => Json::List(names.iter().map(|name| Json::from(*name)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_table_are_read_as_they_were_written() {
        for chunk_rows in [None, Some(100)] {
            let wanted = TableOptions { chunk_rows, checksums: false, ..TableOptions::default() };
            let options = ArrayOptions::of(&wanted).unwrap();
            let mut attributes = JsonObject::default();
            attributes.set("coquina".into(), options.write());
            let read = ArrayOptions::read(&attributes, 5);
            assert_eq!(read.write(), options.write());
            assert_eq!(read.params.pipeline, options.params.pipeline);
        }
        assert!(ArrayOptions::of(&TableOptions { block_rows: Some(0), ..TableOptions::default() }).is_err());
    }

    #[test]
    fn options_that_are_not_understood_are_the_usual_ones() {
        let usual = ArrayOptions::read(&JsonObject::default(), 1 << 20);
        assert_eq!((usual.chunk_rows, usual.block_rows), (1 << 18, BLOCK_ROWS));
        for text in ["", "null", "[]", "{\"chunk_rows\": 0}", "{\"chunk_rows\": 8, \"level\": -1}"] {
            let mut attributes = JsonObject::default();
            attributes.set("coquina".into(), text.into());
            assert_eq!(ArrayOptions::read(&attributes, 1 << 20).write(), usual.write(), "{text}");
        }
        for (rows, chunk) in [(0, 1 << 12), (1 << 15, 1 << 13), (u64::MAX, 1 << 19)] {
            assert_eq!(usual_chunk(Some(rows)), chunk, "{rows}");
        }
    }
}
