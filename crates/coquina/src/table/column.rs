//! Reading a column.

use std::ops::{Bound, Range, RangeBounds};

use super::data::Data;
use super::encodings::StoredColumn;
use super::item::Item;
use super::item_type::ItemType;
use super::part::RowChoice;
use super::schema::{ColumnSpec, ColumnType};
use super::texts::Texts;
use super::values::Values;
use crate::base::error::{Error, Result};
use crate::query::QueryColumn;

/// A column of an open table, to be read.
///
/// Rows are named by a range of any kind (`0..10`, `5..`, `..`) or by a list of numbers, in any order and as often as
/// one likes. Only the blocks that hold them are decoded.
pub struct Column<'t> {
    pub(super) stored: &'t StoredColumn,
    pub(super) rows: u64,
    pub(super) place: Option<String>,
}

impl Column<'_> {
    /// What it is.
    pub fn spec(&self) -> &ColumnSpec {
        &self.stored.spec
    }

    /// The type of its values.
    pub fn ty(&self) -> &ColumnType {
        self.spec().ty()
    }

    /// How many rows it has.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The numbers of some rows: of a column of numbers or truth values of just this type, of times (`i64`, in units of
    /// the column; `i64::MIN` for none), or of an enumeration.
    ///
    /// # Errors
    /// `Invalid` for a column of another type, and where a value is missing (see [`Column::read_optional`]);
    /// `OutOfBounds` for rows that there are not; `Corrupt`, `Io`.
    pub fn read<T: Item>(&self, rows: impl RangeBounds<u64>) -> Result<Vec<T>> {
        let rows = self.range(rows)?;
        self.placed(self.numbers(RowChoice::range(rows)))
    }

    /// The numbers of these rows, as [`Column::read`] reads them.
    ///
    /// # Errors
    /// As [`Column::read`].
    pub fn read_rows<T: Item>(&self, rows: &[u64]) -> Result<Vec<T>> {
        self.check_rows(rows)?;
        self.placed(self.numbers(RowChoice::List(rows)))
    }

    /// The numbers of some rows, `None` where one is missing.
    ///
    /// # Errors
    /// As [`Column::read`], but for missing values.
    pub fn read_optional<T: Item>(&self, rows: impl RangeBounds<u64>) -> Result<Vec<Option<T>>> {
        let rows = RowChoice::range(self.range(rows)?);
        self.placed(self.items::<T>(rows).and_then(|items| {
            let missing = self.mask(rows)?;
            let item = |(item, missing)| if missing { None } else { Some(item) };
            Ok(items.into_iter().zip(missing).map(item).collect())
        }))
    }

    /// The texts of some rows: of a column of text, or of categories that are text. Those that are missing are empty; see
    /// [`Column::missing`].
    ///
    /// # Errors
    /// `Invalid` for a column of another type, `OutOfBounds`, `Corrupt`, `Io`.
    pub fn read_text(&self, rows: impl RangeBounds<u64>) -> Result<Texts> {
        let rows = self.range(rows)?;
        match self.placed(self.stored.read(RowChoice::range(rows)))?.into_data() {
            Data::Text(texts) => Ok(texts.into_owned()),
            _ => self.placed(Err(self.refused("text"))),
        }
    }

    /// The values of some rows, whatever the column stores, with what is missing.
    ///
    /// # Errors
    /// `OutOfBounds`, `Corrupt`, `Io`.
    pub fn read_values(&self, rows: impl RangeBounds<u64>) -> Result<Values<'static>> {
        let rows = self.range(rows)?;
        self.placed(self.stored.read(RowChoice::range(rows)))
    }

    /// The values of these rows.
    ///
    /// # Errors
    /// As [`Column::read_values`].
    pub fn read_values_at(&self, rows: &[u64]) -> Result<Values<'static>> {
        self.check_rows(rows)?;
        self.placed(self.stored.read(RowChoice::List(rows)))
    }

    /// For each of some rows, whether its value is missing.
    ///
    /// # Errors
    /// `OutOfBounds`, `Corrupt`, `Io`.
    pub fn missing(&self, rows: impl RangeBounds<u64>) -> Result<Vec<bool>> {
        let rows = self.range(rows)?;
        self.placed(self.mask(RowChoice::range(rows)))
    }

    /// The codes of some rows of a column of categories: places in the list that its type has; -1 for none.
    ///
    /// # Errors
    /// `Invalid` for a column without categories, `OutOfBounds`, `Corrupt`, `Io`.
    pub fn codes(&self, rows: impl RangeBounds<u64>) -> Result<Vec<i64>> {
        let rows = RowChoice::range(self.range(rows)?);
        if !matches!(self.ty(), ColumnType::Categories { .. }) {
            return self.placed(Err(self.refused("codes")));
        }
        let array = &self.stored.arrays()[0];
        let item = ItemType::of_dtype(array.dtype().unwrap_or_default(), array.typesize());
        let item = item.ok_or_else(|| Error::corrupt("codes that are no integers"));
        let part = &self.stored.parts[0];
        let data = item.and_then(|item| item.read(rows.count()?, &mut |out| part.fill(rows, out)));
        Ok(self.placed(data)?.as_codes())
    }

    /// What conditions know the column by: its sources, and what their items mean. Some of them may have more rows than
    /// the table, where a writer was killed.
    ///
    /// # Errors
    /// `Unsupported` for values that conditions do not know.
    pub fn query_column(&self) -> Result<QueryColumn> {
        self.placed(self.stored.query_column())
    }

    fn numbers<T: Item>(&self, rows: RowChoice<'_>) -> Result<Vec<T>> {
        let items = self.items(rows)?;
        if self.stored.has_mask
            && let Some(at) = self.mask(rows)?.iter().position(|&missing| missing)
        {
            let error = format!("value {at} of these rows is missing; read_optional reads missing values");
            return Err(self.stored.placed(Error::invalid(error)));
        }
        Ok(items)
    }

    /// The items of the first part, which say nothing where a value is missing.
    fn items<T: Item>(&self, rows: RowChoice<'_>) -> Result<Vec<T>> {
        let ty = match self.ty() {
            ColumnType::Number(ty) | ColumnType::Enum { number: ty, .. } => Some(*ty),
            ColumnType::Times { .. } => Some(coquina_kernels::Type::I64),
            _ => None,
        };
        if ty != Some(T::TYPE) {
            return Err(self.refused(T::TYPE.name()));
        }
        let part = &self.stored.parts[0];
        T::filled(rows.count()?, &mut |out| part.fill(rows, out)).map_err(|e| self.stored.placed(e))
    }

    fn mask(&self, rows: RowChoice<'_>) -> Result<Vec<bool>> {
        if let (true, Some(mask)) = (self.stored.has_mask, self.stored.parts.last()) {
            return bool::filled(rows.count()?, &mut |out| mask.fill(rows, out))
                .map_err(|e| self.stored.placed(e));
        }
        match self.ty() {
            ColumnType::Times { .. } | ColumnType::Categories { .. } => {
                let values = self.stored.read(rows)?;
                Ok((0..values.len()).map(|row| values.is_missing(row)).collect())
            }
            _ => Ok(vec![false; rows.count()?]),
        }
    }

    fn refused(&self, wanted: &str) -> Error {
        let ty = self.ty();
        let hint = "read_values reads any column";
        self.stored.placed(Error::invalid(format!("holds {ty}, not {wanted}; {hint}")))
    }

    fn range(&self, rows: impl RangeBounds<u64>) -> Result<Range<u64>> {
        let start = match rows.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match rows.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.rows.max(start),
        };
        if start <= end && end <= self.rows {
            return Ok(start..end);
        }
        let error = Error::out_of_bounds(format!("rows {start} to {end} of {}", self.rows));
        self.placed(Err(self.stored.placed(error)))
    }

    fn check_rows(&self, rows: &[u64]) -> Result<()> {
        match rows.iter().find(|&&row| row >= self.rows) {
            None => Ok(()),
            Some(row) => {
                let error = Error::out_of_bounds(format!("row {row} of {}", self.rows));
                self.placed(Err(self.stored.placed(error)))
            }
        }
    }

    fn placed<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(|error| match &self.place {
            Some(place) => error.at(place.as_str()),
            None => error,
        })
    }
}
