//! How a table is stored, and whether what is stored is sound.

use super::columns::Skipped;
use super::encodings::text_of;
use super::handle::Table;
use crate::base::error::Result;

/// How a table is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// How many rows can be read.
    pub rows: u64,
    /// Rows of a chunk of new columns.
    pub chunk_rows: u64,
    /// Rows of a block of new columns.
    pub block_rows: u64,
    /// The columns that are understood.
    pub columns: Vec<ColumnInfo>,
    /// Those that are not.
    pub skipped: Vec<Skipped>,
}

impl TableInfo {
    /// Bytes of the values of all columns, uncompressed.
    pub fn nbytes(&self) -> u64 {
        self.columns.iter().map(|one| one.nbytes).sum()
    }

    /// Bytes that the chunks of all columns take.
    pub fn cbytes(&self) -> u64 {
        self.columns.iter().map(|one| one.cbytes).sum()
    }
}

/// How a column is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub ty: String,
    /// What its attributes call the encoding, if they do.
    pub encoding: Option<String>,
    /// Bytes of its arrays, uncompressed.
    pub nbytes: u64,
    /// Bytes that their chunks take.
    pub cbytes: u64,
}

/// What is damaged of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDamage {
    /// The column.
    pub column: String,
    /// What is wrong with it.
    pub complaint: String,
}

impl Table {
    /// How it is stored.
    pub fn info(&self) -> TableInfo {
        let column = |one: &super::encodings::StoredColumn| {
            let stats: Vec<_> = one.arrays().iter().map(|array| array.stats()).collect();
            ColumnInfo {
                name: one.spec.name().into(),
                ty: one.spec.ty().to_string(),
                encoding: text_of(&self.storage.attributes(one.spec.name()), "encoding-type"),
                nbytes: stats.iter().map(|one| one.nbytes).sum(),
                cbytes: stats.iter().map(|one| one.sizes.cbytes).sum(),
            }
        };
        TableInfo {
            rows: self.rows,
            chunk_rows: self.options.chunk_rows,
            block_rows: self.options.block_rows,
            columns: self.columns.stored.iter().map(column).collect(),
            skipped: self.columns.skipped.clone(),
        }
    }

    /// Reads and decodes everything, and returns what is damaged: chunks, offsets that are no places of texts, and text
    /// that is not UTF-8.
    ///
    /// # Errors
    /// `Unsupported` if a codec or filter is needed that is not here.
    pub fn verify(&self) -> Result<Vec<TableDamage>> {
        self.check()?;
        let mut found = Vec::new();
        for one in &self.columns.stored {
            for part in &one.parts {
                let complaints = part.verify(self.rows).map_err(|e| self.placed(one.placed(e)))?;
                let column = one.spec.name();
                found.extend(
                    complaints.into_iter().map(|complaint| TableDamage { column: column.into(), complaint }),
                );
            }
        }
        Ok(found)
    }
}
