//! The columns of a table as they are stored, and those that are not understood.

use super::encodings::{StoredColumn, open_column};
use super::names::Names;
use super::storage::TableStorage;
use crate::base::error::{Error, ErrorKind, Result};

/// A column that is there and is not understood here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The columns of a table.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) stored: Vec<StoredColumn>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Columns {
    /// Those that a storage has.
    pub(crate) fn open(storage: &dyn TableStorage) -> Result<Self> {
        let mut columns = Self::default();
        for name in Names::read(storage)?.all(storage) {
            match open_column(storage, &name) {
                Ok(column) => columns.stored.push(column),
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    columns.skipped.push(Skipped { name, reason: error.to_string() });
                }
                Err(error) => return Err(error.at(format!("column {name:?}"))),
            }
        }
        Ok(columns)
    }

    /// How many rows all of them have.
    pub(crate) fn rows(&self) -> Result<u64> {
        let rows: Vec<u64> = self.stored.iter().map(StoredColumn::rows).collect::<Result<_>>()?;
        Ok(rows.into_iter().min().unwrap_or(0))
    }

    /// The names of all, with those that are not understood.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let skipped = self.skipped.iter().map(|one| one.name.as_str());
        self.stored.iter().map(|one| one.spec.name()).chain(skipped)
    }

    /// Where a column stands.
    pub(crate) fn place(&self, name: &str) -> Result<usize> {
        if let Some(place) = self.stored.iter().position(|one| one.spec.name() == name) {
            return Ok(place);
        }
        if let Some(Skipped { name, reason }) = self.skipped.iter().find(|one| one.name == name) {
            return Err(Error::unsupported(format!("column {name:?} cannot be read: {reason}")));
        }
        let known: Vec<String> = self.stored.iter().map(|one| format!("{:?}", one.spec.name())).collect();
        Err(Error::invalid(format!("there is no column {name:?}; the columns are {}", known.join(", "))))
    }

    /// Complains of columns that cannot be given another number of rows.
    pub(crate) fn check_sizable(&self) -> Result<()> {
        self.skipped.first().map_or(Ok(()), |Skipped { name, reason }| {
            Err(Error::unsupported(format!(
                "column {name:?} is not understood ({reason}), so rows are neither added nor removed; drop it, or \
                 copy the other columns"
            )))
        })
    }
}
