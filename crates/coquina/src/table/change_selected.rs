//! Rows that meet a condition, changed and removed.
//!
//! In: a condition as text, or a selection. Out: how many rows there were. Memory: the numbers and the new values of these rows.
//! Invariant: all that is computed is computed of the rows as they were before the change.

use std::sync::Arc;

use super::batch::Batch;
use super::changes::{Change, Changes};
use super::handle::Table;
use super::item_type::{ItemType as StoredType, taken};
use super::schema::ColumnType;
use super::values::Values;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::query::condition::{Converted, ItemType, NumberType, converted};
use crate::query::{ColumnValues, Part, QueryColumn, Select, SelectedColumn};

impl Table {
    /// Removes the rows that meet a condition, and tells how many they were. The text is one that [`Table::query`] takes.
    ///
    /// ```
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table};
    ///
    /// let schema = Schema::new([ColumnSpec::number::<f64>("price"), ColumnSpec::text("name").nullable()]);
    /// let mut table = Table::in_memory(&schema)?;
    /// let names = vec![Some("ash"), None, Some("oak")];
    /// table.append(&Batch::new().with("price", [9.5, 30.0, 70.25]).with("name", names))?;
    /// assert_eq!(table.delete_where("name is null or price > 50")?, 2);
    /// assert_eq!(table.column("price")?.read::<f64>(..)?, [9.5]);
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// Rows that wait for a flush are flushed before.
    ///
    /// # Errors
    /// `Invalid` for what is no condition of these columns, and those of [`Table::delete`].
    pub fn delete_where(&mut self, condition: &str) -> Result<u64> {
        self.prepare_resize()?;
        let rows = self.query(condition)?;
        self.delete_selected(&rows)
    }

    /// Removes the rows of a selection of this table, and tells how many they were.
    ///
    /// # Errors
    /// Those of [`Table::delete`], and what goes wrong with reading.
    pub fn delete_selected(&mut self, rows: &Select) -> Result<u64> {
        let rows = numbered(rows.numbers(&Job::default())?);
        self.delete(&rows)?;
        Ok(rows.len() as u64)
    }

    /// Changes columns of the rows that meet a condition, and tells how many rows they are. The text is one that
    /// [`Table::query`] takes; `True` is met by all.
    ///
    /// ```
    /// use coquina::table::{Batch, Changes, ColumnSpec, Schema, Table};
    ///
    /// let price = ColumnSpec::number::<f64>("price");
    /// let schema = Schema::new([price, ColumnSpec::number::<i16>("stock").nullable()]);
    /// let mut table = Table::in_memory(&schema)?;
    /// let stock = vec![Some(4_i16), None, Some(2)];
    /// table.append(&Batch::new().with("price", [9.5, 30.0, 70.0]).with("stock", stock))?;
    ///
    /// let sale = Changes::new().computed("price", "price / 2").with("stock", vec![None::<i16>]);
    /// assert_eq!(table.modify_where("price > 20", &sale)?, 2);
    /// assert_eq!(table.column("price")?.read::<f64>(..)?, [9.5, 15.0, 35.0]);
    /// assert_eq!(table.column("stock")?.read_optional::<i16>(..)?, [Some(4), None, None]);
    ///
    /// let error = table.modify_where("True", &Changes::new().computed("stock", "price * 2")).err().unwrap();
    /// assert!(error.to_string().ends_with("values of float64 are not converted to int16"));
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// Rows that wait for a flush are flushed before.
    ///
    /// # Errors
    /// `Invalid` for what is no condition, no expression, or does not fit; the table is then as it was.
    pub fn modify_where(&mut self, condition: &str, changes: &Changes<'_>) -> Result<u64> {
        self.check_writable()?;
        self.flush()?;
        let rows = self.query(condition)?;
        self.modify_selected(&rows, changes)
    }

    /// Changes columns of the rows of a selection of this table, and tells how many rows they are. Values of which there is
    /// one for each row go by the order of the selection.
    ///
    /// ```
    /// use coquina::query::Direction;
    /// use coquina::table::{Batch, Changes, ColumnSpec, Schema, Table};
    ///
    /// let mut table = Table::in_memory(&Schema::new([ColumnSpec::number::<i64>("n")]))?;
    /// table.append(&Batch::new().with("n", [3_i64, 9, 7]))?;
    /// table.flush()?;
    /// let greatest = table.select()?.order_by("n", Direction::Descending)?.limit(2);
    /// table.modify_selected(&greatest, &Changes::new().with("n", [1_i64, 2]))?;
    /// assert_eq!(table.column("n")?.read::<i64>(..)?, [3, 1, 2]);
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::modify_where`].
    pub fn modify_selected(&mut self, rows: &Select, changes: &Changes<'_>) -> Result<u64> {
        self.check_writable()?;
        let computed = changes.iter().filter_map(|(name, change)| match change {
            Change::Expression(text) => Some((name, text)),
            Change::Values(_) => None,
        });
        let computed: Vec<Computed> = computed
            .map(|(name, text)| self.computed(name, text, rows))
            .collect::<Result<_>>()
            .map_err(|e| self.placed(e))?;
        let wanted: Vec<&QueryColumn> = computed.iter().flat_map(Computed::columns).collect();
        let (numbers, gathered) = rows.gather(&wanted, &Job::default())?;
        let numbers = numbered(numbers);
        let mut gathered = gathered.into_iter();
        let mut batch = Batch::new();
        for (name, change) in changes.iter() {
            if let Change::Values(values) = change {
                batch.set(name, self.for_rows(name, values, numbers.len())?);
            }
        }
        for one in &computed {
            let values = one.values(&mut gathered, &numbers);
            batch.set(&one.name, values.map_err(|e| self.placed(e.at(format!("column {:?}", one.name))))?);
        }
        self.write_at(&numbers, &batch)?;
        Ok(numbers.len() as u64)
    }

    /// One value for each of so many rows.
    fn for_rows<'v>(&self, name: &str, values: &Values<'v>, rows: usize) -> Result<Values<'v>> {
        match values.len() {
            given if given == rows => Ok(values.clone()),
            1 => taken(values, &vec![0; rows]),
            given => {
                let error = Error::invalid(format!("column {name:?}: {given} values for {rows} rows"));
                Err(self.placed(error))
            }
        }
    }

    /// The values of an expression for a column.
    fn computed(&self, name: &str, text: &str, rows: &Select) -> Result<Computed> {
        let placed = |error: Error| error.at(format!("column {name:?}"));
        let ty = self.spec(self.columns.place(name)?).ty();
        let (wanted, item) = match ty {
            ColumnType::Number(ty) | ColumnType::Enum { number: ty, .. } => {
                (ItemType::Number(*ty), StoredType::Number(*ty))
            }
            ColumnType::Half => (ItemType::Half, StoredType::Half),
            ColumnType::Times { ty, .. } => (ItemType::Time(*ty), StoredType::Number(NumberType::I64)),
            ColumnType::Bytes(_) | ColumnType::Text | ColumnType::Categories { .. } => {
                return Err(placed(Error::unsupported(format!(
                    "an expression cannot set {ty}; pass the values"
                ))));
            }
        };
        let converted = converted(text, rows.columns(), wanted).map_err(|e| placed(e.into()))?;
        let values = match wanted {
            ItemType::Half => ColumnValues::Halves(Arc::clone(&converted.source)),
            _ => ColumnValues::Numbers { ty: wanted.stored(), source: Arc::clone(&converted.source) },
        };
        let mut column = QueryColumn::new(name, values);
        column.mask.clone_from(&converted.nulls);
        let truths = |source| ColumnValues::Numbers { ty: NumberType::Bool, source };
        let fits = converted.fits.clone().map(|source| QueryColumn::new(name, truths(source)));
        Ok(Computed { name: name.to_owned(), item, column, fits, converted })
    }
}

/// An expression for a column, and what is gathered for it.
struct Computed {
    name: String,
    item: StoredType,
    column: QueryColumn,
    fits: Option<QueryColumn>,
    converted: Converted,
}

impl Computed {
    fn columns(&self) -> impl Iterator<Item = &QueryColumn> {
        std::iter::once(&self.column).chain(&self.fits)
    }

    /// The values, of what was gathered of the columns.
    fn values(
        &self,
        gathered: &mut impl Iterator<Item = SelectedColumn>,
        rows: &[u64],
    ) -> Result<Values<'static>> {
        let mut items = |column: &QueryColumn| match gathered.next() {
            Some(SelectedColumn { values: Part::Items(items), mask }) => Ok((items, mask)),
            _ => Err(Error::invalid(format!("{:?} cannot be read in this way", column.path))),
        };
        let (bytes, mask) = items(&self.column)?;
        let is_missing = |row: usize| mask.as_ref().is_some_and(|mask| mask[row] != 0);
        if let Some(column) = &self.fits {
            let (fits, _) = items(column)?;
            let wrong = fits.iter().enumerate().find(|&(row, fits)| *fits == 0 && !is_missing(row));
            if let Some((row, _)) = wrong {
                return Err(self.converted.misfit(rows[row]).into());
            }
        }
        let data = self.item.of_bytes(&bytes)?;
        match mask {
            Some(mask) => Values::with_missing(data, mask.iter().map(|&byte| byte != 0).collect::<Vec<_>>()),
            None => Ok(Values::new(data)),
        }
    }
}

/// Numbers of rows as the table has them.
fn numbered(rows: Vec<i64>) -> Vec<u64> {
    rows.into_iter().map(i64::cast_unsigned).collect()
}
