//! Columns that are added, dropped and renamed.
//!
//! Invariant: a name is among the table's columns only while all of the column is there.

use coquina_kernels::Type;

use super::encodings::{
    NOT_A_TIME, StoredColumn, extend_categories, make_column, new_categories, open_column,
};
use super::handle::Table;
use super::item_type::taken;
use super::names::{Names, check_name};
use super::part::{count_of, pieces};
use super::schema::{ColumnSpec, ColumnType};
use super::values::Values;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

impl Table {
    /// Puts a column behind the last. The rows that there are get its default; without one they are missing where values
    /// can be, NaN where numbers have it, and else 0, false or empty text.
    ///
    /// # Errors
    /// `Invalid` for a name that is taken or cannot be one, `Unsupported` for a type that cannot be stored, `Io`; the
    /// table is then as it was.
    pub fn add_column(&mut self, spec: &ColumnSpec) -> Result<()> {
        self.add(spec, |table, made| {
            let rows = table.rows;
            let Some(value) = usual_value(spec)? else {
                return made.all(|part| part.grow(rows, &Job::default())).map(|()| None);
            };
            let made = table.with_categories(made, &value)?;
            for piece in pieces(0, rows) {
                let values = taken(&value, &vec![0; count_of(piece.end - piece.start)?])?;
                made.each(&made.encode(&values)?, |part, rows| part.append(rows, &Job::default()))?;
            }
            Ok(Some(made))
        })
    }

    /// Puts a column behind the last, with a value for each row.
    ///
    /// # Errors
    /// As [`Table::add_column`]; `Invalid` for values that are too few, too many, or do not fit.
    pub fn add_column_with<'v>(&mut self, spec: &ColumnSpec, values: impl Into<Values<'v>>) -> Result<()> {
        let values = values.into();
        self.flush()?;
        if values.len() as u64 != self.rows {
            let (name, given, rows) = (spec.name(), values.len(), self.rows);
            let error = Error::invalid(format!("column {name:?}: {given} values for {rows} rows"));
            return Err(self.placed(error));
        }
        self.add(spec, |table, made| {
            let made = table.with_categories(made, &values)?;
            made.each(&made.encode(&values)?, |part, rows| part.append(rows, &Job::default()))?;
            Ok(Some(made))
        })
    }

    /// Removes a column.
    ///
    /// # Errors
    /// `Invalid` if there is none, and for the only one; `Io`.
    pub fn drop_column(&mut self, name: &str) -> Result<()> {
        self.prepare(name)?;
        let mut names = Names::read(&*self.storage).map_err(|e| self.placed(e))?;
        names.order.retain(|known| known != name);
        if names.order.is_empty() {
            let error = Error::invalid(format!("column {name:?} cannot be dropped: it is the only one"));
            return Err(self.placed(error));
        }
        if names.index.as_deref() == Some(name) {
            names.index = names.order.first().cloned();
        }
        self.change(|table| {
            table.settle()?;
            names.write(&mut *table.storage)?;
            table.clear(name)?;
            table.columns.stored.retain(|one| one.spec.name() != name);
            table.columns.skipped.retain(|one| one.name != name);
            Ok(())
        })
    }

    /// Gives a column another name.
    ///
    /// # Errors
    /// `Invalid` if there is none, and for a name that is taken or cannot be one; `Io`.
    pub fn rename_column(&mut self, old: &str, new: &str) -> Result<()> {
        self.prepare(old)?;
        check_name(new, self.columns.names()).map_err(|e| self.placed(e))?;
        let mut names = Names::read(&*self.storage).map_err(|e| self.placed(e))?;
        names.order.iter_mut().chain(&mut names.index).filter(|name| *name == old).for_each(|name| {
            new.clone_into(name);
        });
        self.change(|table| {
            table.settle()?;
            table.clear(new)?;
            table.storage.rename(old, new)?;
            names.write(&mut *table.storage)?;
            match table.columns.stored.iter().position(|one| one.spec.name() == old) {
                Some(place) => table.columns.stored[place] = open_column(&*table.storage, new)?,
                None => {
                    let skipped = table.columns.skipped.iter_mut();
                    skipped.filter(|one| one.name == old).for_each(|one| new.clone_into(&mut one.name));
                }
            }
            Ok(())
        })
    }

    /// Adds a column that `fill` gives its rows; it returns the column if it is another one then.
    fn add(
        &mut self,
        spec: &ColumnSpec,
        fill: impl FnOnce(&mut Self, &StoredColumn) -> Result<Option<StoredColumn>>,
    ) -> Result<()> {
        self.check_writable()?;
        check_name(spec.name(), self.columns.names()).map_err(|e| self.placed(e))?;
        self.flush()?;
        self.change(|table| {
            table.settle()?;
            table.clear(spec.name())?;
            let made = make_column(&mut *table.storage, spec, &table.options)?;
            let made = fill(table, &made)?.unwrap_or(made);
            let mut names = Names::read(&*table.storage)?;
            names.order.push(spec.name().into());
            names.write(&mut *table.storage)?;
            table.columns.stored.push(made);
            Ok(())
        })
    }

    /// The column with categories for these values.
    fn with_categories(&mut self, column: &StoredColumn, values: &Values<'_>) -> Result<StoredColumn> {
        match new_categories(column, values)? {
            Some(new) => extend_categories(&mut *self.storage, column, &new, &self.options),
            None => open_column(&*self.storage, column.spec.name()),
        }
    }

    fn prepare(&mut self, name: &str) -> Result<()> {
        self.check_writable()?;
        if !self.columns.names().any(|known| known == name) {
            return self.columns.place(name).map(drop).map_err(|e| self.placed(e));
        }
        self.flush()
    }

    /// Removes what stands where a column is to be, or was.
    fn clear(&mut self, name: &str) -> Result<()> {
        match self.storage.kind(name) {
            Some(_) => self.storage.remove(name),
            None => Ok(()),
        }
    }
}

/// The value of rows for which none is given, where it is not what growing a column gives them.
fn usual_value(spec: &ColumnSpec) -> Result<Option<Values<'static>>> {
    if let Some(value) = spec.default_value() {
        return Ok(Some(value.clone()));
    }
    let nan = match spec.ty() {
        _ if spec.is_nullable() => return Ok(None),
        ColumnType::Times { .. } => vec![NOT_A_TIME].into(),
        ColumnType::Number(Type::F32) => vec![f32::NAN].into(),
        ColumnType::Number(Type::F64) => vec![f64::NAN].into(),
        ColumnType::Number(Type::C64) => vec![[f32::NAN, 0.0]].into(),
        ColumnType::Number(Type::C128) => vec![[f64::NAN, 0.0]].into(),
        ColumnType::Half => Values::half(vec![0x7e00]),
        _ => return Ok(None),
    };
    Ok(Some(nan))
}
