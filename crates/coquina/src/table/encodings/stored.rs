//! A column as it is stored: its parts, and the encoding that turns values into rows of these and back.

use std::sync::Arc;

use crate::array::{Array, BoxSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::json::{Json, JsonObject};
use crate::base::pool::Job;
use crate::query::{ColumnValues, QueryColumn};
use crate::table::data::Data;
use crate::table::item::Item;
use crate::table::item_type::ItemType;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::ColumnSpec;
use crate::table::storage::{NodeKind, TableStorage};
use crate::table::values::Values;

/// How values of one kind are stored in parts.
pub(crate) trait Encoding: Send + Sync {
    /// The rows of each part that these values are.
    ///
    /// # Errors
    /// `Invalid` for values that the column does not take.
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>>;

    /// The values of some rows, all of which are there.
    ///
    /// # Errors
    /// `Corrupt`, and what goes wrong with reading.
    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>>;

    /// What a condition reads; the mask is that of the last part, where there is one.
    ///
    /// # Errors
    /// `Unsupported` for what conditions do not know.
    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues>;
}

/// A column of a table.
pub(crate) struct StoredColumn {
    pub(crate) spec: ColumnSpec,
    pub(crate) parts: Vec<Box<dyn Part>>,
    pub(crate) encoding: Box<dyn Encoding>,
    /// Whether the last part says which values are missing.
    pub(crate) has_mask: bool,
}

impl StoredColumn {
    /// An error with the name of the column.
    pub(crate) fn placed(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Cancelled => error,
            _ => error.at(format!("column {:?}", self.spec.name())),
        }
    }

    /// How many rows all parts have.
    pub(crate) fn rows(&self) -> Result<u64> {
        let rows: Vec<u64> = self
            .parts
            .iter()
            .map(|part| part.rows(&Job::default()))
            .collect::<Result<_>>()
            .map_err(|e| self.placed(e))?;
        Ok(rows.into_iter().min().unwrap_or(0))
    }

    /// The rows of each part that values are.
    pub(crate) fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        self.encoding.encode(values).map_err(|e| self.placed(e))
    }

    /// The values of some rows.
    pub(crate) fn read(&self, rows: RowChoice<'_>) -> Result<Values<'static>> {
        self.encoding.read(&self.parts, rows).map_err(|e| self.placed(e))
    }

    /// Does something with each part and the rows that are for it.
    pub(crate) fn each(
        &self,
        rows: &[PartRows],
        mut change: impl FnMut(&dyn Part, &PartRows) -> Result<()>,
    ) -> Result<()> {
        let mut pairs = self.parts.iter().zip(rows);
        pairs.try_for_each(|(part, rows)| change(&**part, rows)).map_err(|e| self.placed(e))
    }

    /// Does something with each part.
    pub(crate) fn all(&self, change: impl FnMut(&Box<dyn Part>) -> Result<()>) -> Result<()> {
        self.parts.iter().try_for_each(change).map_err(|e| self.placed(e))
    }

    /// All arrays.
    pub(crate) fn arrays(&self) -> Vec<Arc<Array>> {
        self.parts.iter().flat_map(|part| part.arrays()).map(Arc::clone).collect()
    }

    /// What a condition knows the column by.
    pub(crate) fn query_column(&self) -> Result<QueryColumn> {
        let arrays = self.arrays();
        let values = self.encoding.query(&arrays).map_err(|e| self.placed(e))?;
        let column = QueryColumn::new(self.spec.name(), values);
        let mask = arrays.last().filter(|_| self.has_mask);
        Ok(mask.map_or(column.clone(), |mask| column.with_mask(source(mask))))
    }
}

/// An array as a source for conditions.
pub(crate) fn source(array: &Arc<Array>) -> Arc<dyn BoxSource> {
    Arc::clone(array) as Arc<dyn BoxSource>
}

/// An array of a column, and what its items are.
pub(crate) struct OpenedArray {
    pub(crate) array: Arc<Array>,
    pub(crate) item: ItemType,
}

/// The array at a path, if it can be a part of a column.
pub(crate) fn open_array(
    storage: &dyn TableStorage,
    path: &str,
    is_wanted: impl Fn(ItemType) -> bool,
) -> Result<OpenedArray> {
    if storage.kind(path) != Some(NodeKind::Array) {
        return Err(Error::unsupported(format!("{path:?}: there is no array of a column")));
    }
    let array = storage.array(path)?;
    let grid = array.grid();
    let dtype = array.dtype().unwrap_or_default();
    let item = ItemType::of_dtype(dtype, array.typesize());
    match item.filter(|item| grid.ndim() == 1 && is_wanted(*item)) {
        Some(item) => Ok(OpenedArray { array, item }),
        None => {
            let shape = grid.shape();
            Err(Error::unsupported(format!(
                "{path:?}: items {dtype:?} of shape {shape:?} are no part of a column"
            )))
        }
    }
}

/// An attribute that is text.
pub(crate) fn text_of(attributes: &JsonObject, name: &str) -> Option<String> {
    attributes.get(name.as_bytes()).and_then(Json::as_str).map(str::to_owned)
}

/// The attributes that say how something is encoded.
pub(super) fn marks(kind: &str, version: &str) -> JsonObject {
    let mut marks = JsonObject::default();
    marks.set("encoding-type".into(), kind.into());
    marks.set("encoding-version".into(), version.into());
    marks
}

/// The attributes of an array.
pub(super) fn array_marks() -> JsonObject {
    marks("array", "0.2.0")
}

/// Complains of values of another type.
pub(crate) fn check_type(item: ItemType, values: &Values<'_>) -> Result<()> {
    if item.takes(values.data()) {
        return Ok(());
    }
    let (wanted, given) = (item.name(), values.data().type_name());
    Err(Error::invalid(format!("takes {wanted}, not {given}")))
}

/// Complains of missing values.
pub(crate) fn check_present(values: &Values<'_>) -> Result<()> {
    values.first_missing().map_or(Ok(()), |row| {
        Err(Error::invalid(format!("value {row} is missing, and the column is not nullable")))
    })
}

/// Items as rows of a part; zeros where values are missing.
pub(crate) fn item_rows(item: ItemType, values: &Values<'_>) -> PartRows {
    let size = item.bytes();
    let mut bytes = match values.data() {
        Data::Bytes { width, bytes } if *width < size => {
            let padded = |one: &[u8]| [one, &vec![0; size - width]].concat();
            bytes.chunks_exact(*width).flat_map(padded).collect()
        }
        data => data.bytes().into_owned(),
    };
    if let Some(missing) = values.missing() {
        let items = bytes.chunks_exact_mut(size).zip(missing);
        items.filter(|(_, missing)| **missing).for_each(|(item, _)| item.fill(0));
    }
    PartRows::items(size, bytes)
}

/// Which values are missing, as rows of a part.
pub(crate) fn mask_rows(values: &Values<'_>) -> PartRows {
    let mask = values.missing().map_or_else(
        || vec![0; values.len()],
        |missing| missing.iter().map(|&missing| u8::from(missing)).collect(),
    );
    PartRows::items(1, mask)
}

/// Reads the items of some rows of a part.
pub(crate) fn read_items(part: &dyn Part, item: ItemType, rows: RowChoice<'_>) -> Result<Data<'static>> {
    item.read(rows.count()?, &mut |out| part.fill(rows, out))
}

/// Reads which values of some rows are missing.
pub(crate) fn read_mask(part: &dyn Part, rows: RowChoice<'_>) -> Result<Vec<bool>> {
    bool::filled(rows.count()?, &mut |out| part.fill(rows, out))
}
