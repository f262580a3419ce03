//! Rows in memory: values of some columns, by name, all of them for the same rows.

use super::values::Values;
use crate::base::error::{Error, Result};

/// Rows to be written: values by the name of their column.
///
/// ```
/// use coquina::table::Batch;
///
/// let rows = Batch::new().with("price", [1.5, 2.5]).with("name", ["oak", "beech"]);
/// assert_eq!(rows.rows()?, 2);
/// # Ok::<(), coquina::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch<'a> {
    columns: Vec<(String, Values<'a>)>,
}

impl<'a> Batch<'a> {
    /// Rows without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// These rows with one more column, in place of one of that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, values: impl Into<Values<'a>>) -> Self {
        self.set(name, values);
        self
    }

    /// Adds a column, in place of one of that name.
    pub fn set(&mut self, name: impl Into<String>, values: impl Into<Values<'a>>) {
        let (name, values) = (name.into(), values.into());
        match self.columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = values,
            None => self.columns.push((name, values)),
        }
    }

    /// The values of a column.
    pub fn get(&self, name: &str) -> Option<&Values<'a>> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, values)| values)
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Values<'a>)> {
        self.columns.iter().map(|(name, values)| (name.as_str(), values))
    }

    /// How many rows.
    ///
    /// # Errors
    /// `Invalid` for columns of unequal lengths.
    pub fn rows(&self) -> Result<usize> {
        let rows = self.columns.first().map_or(0, |(_, values)| values.len());
        match self.columns.iter().find(|(_, values)| values.len() != rows) {
            None => Ok(rows),
            Some((name, values)) => Err(Error::invalid(format!(
                "columns of unequal lengths: {:?} has {rows} values, {name:?} has {}",
                self.columns[0].0,
                values.len()
            ))),
        }
    }
}
