//! Tables in directories of frames: made, and opened.

use std::path::Path;
use std::sync::Arc;

use super::directory::{DirectoryOptions, DirectoryStorage, TableDirectory};
use super::handle::Table;
use super::options::TableOptions;
use super::schema::Schema;
use crate::base::error::{Error, Result};
use crate::frame::Mode;

impl Table {
    /// A new table in a directory that is made for it.
    ///
    /// ```
    /// use coquina::frame::Mode;
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table, TableOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("coquina-trees-{}", std::process::id()));
    /// let schema = Schema::new([ColumnSpec::number::<f64>("height"), ColumnSpec::text("tree")]);
    /// let mut table = Table::create(&path, &schema, &TableOptions::default())?;
    /// table.append(&Batch::new().with("height", [31.5, 12.0]).with("tree", ["oak", "beech"]))?;
    /// table.close()?;
    ///
    /// let table = Table::open(&path, Mode::Read)?;
    /// assert_eq!(table.column("height")?.read::<f64>(..)?, [31.5, 12.0]);
    /// # drop(table);
    /// # std::fs::remove_dir_all(&path).map_err(coquina::Error::from)?;
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io`, of kind `AlreadyExists` if something has this name; `Invalid` and `Unsupported` for a schema that cannot be
    /// stored: there is no directory then.
    pub fn create(path: impl AsRef<Path>, schema: &Schema, options: &TableOptions) -> Result<Self> {
        let path = path.as_ref();
        let directory = TableDirectory::make(path, options.durable)?;
        let made = Self::create_in(Box::new(DirectoryStorage(directory)), schema, options);
        made.map_err(|error| {
            // The error tells what went wrong; what cannot be removed holds no table.
            let _ = std::fs::remove_dir_all(path);
            error.at(path.display().to_string())
        })
    }

    /// The table in a directory. One process writes to it at a time; others read the last commit, and go to the newest by
    /// [`Table::refresh`].
    ///
    /// # Errors
    /// `Io`, of kind `WouldBlock` if it is open for writing already, here or in another process, and `mode` asks for that; `Corrupt`; `Unsupported` for a
    /// directory that holds no table.
    pub fn open(path: impl AsRef<Path>, mode: Mode) -> Result<Self> {
        let options = DirectoryOptions { writable: mode == Mode::Write, ..DirectoryOptions::default() };
        let path = path.as_ref();
        let directory = TableDirectory::open(path, options)?;
        // Two tables that write one directory would not know of each other's rows.
        if options.writable && Arc::strong_count(&directory) > 1 {
            directory.close()?;
            let why = "the table is open for writing in this process already";
            let error = std::io::Error::new(std::io::ErrorKind::WouldBlock, why);
            return Err(Error::from(error).at(path.display().to_string()));
        }
        Self::open_in(Box::new(DirectoryStorage(directory)))
    }
}
