//! Queries of a table: conditions as text, the rows that meet them, and what these come to.
//!
//! Invariant: a query sees the rows that the table had when it was made, as they are when it is read.

use super::handle::Table;
use crate::base::error::{ErrorKind, Result};
use crate::query::{QueryColumn, Select};

impl Table {
    /// The rows that meet a condition: names of columns, Python's operators, NumPy's functions, `x in (1, 2)`, `x is
    /// null`, `name.startswith("A")`. A comparison with what is missing is false.
    ///
    /// ```
    /// use coquina::Job;
    /// use coquina::query::{Direction, group::Aggregate};
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table};
    ///
    /// let schema = Schema::new([ColumnSpec::number::<f64>("price"), ColumnSpec::text("name").nullable()]);
    /// let mut table = Table::in_memory(&schema)?;
    /// let names = vec![Some("Ash"), None, Some("Alder"), Some("oak")];
    /// table.append(&Batch::new().with("price", [9.5, 30.0, 70.25, 25.0]).with("name", names))?;
    /// table.flush()?;
    ///
    /// let job = Job::default();
    /// assert_eq!(table.query("price > 20 and name.startswith('A')")?.numbers(&job)?, [2]);
    /// assert_eq!(table.query("name is null or price < 10")?.count(&job)?, 2);
    /// let dear = table.query("price > 20")?.order_by("price", Direction::Descending)?.limit(2);
    /// assert_eq!(dear.numbers(&job)?, [2, 1]);
    /// let total = table.query("price < 30")?.aggregate(Aggregate::Sum, "price * 2", &job)?;
    /// assert_eq!(total.item, Some(69.0_f64.to_le_bytes().to_vec()));
    ///
    /// let error = table.query("price > 20 and nam == 'A'").err().unwrap();
    /// assert!(error.to_string().ends_with("\n  price > 20 and nam == 'A'\n                 ^^^"));
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// Rows that wait for a flush are not looked at.
    ///
    /// # Errors
    /// `Invalid` for what is no condition of these columns; the message shows the place in the text.
    pub fn query(&self, text: &str) -> Result<Select> {
        Ok(self.select()?.filter(text)?)
    }

    /// All rows, to be filtered, put in order, limited, read and aggregated.
    ///
    /// # Errors
    /// What goes wrong with opening columns.
    pub fn select(&self) -> Result<Select> {
        let schema = self.schema();
        let mut columns: Vec<QueryColumn> = Vec::new();
        for name in schema.names() {
            match self.column(name)?.query_column() {
                Ok(column) => columns.push(column),
                // Conditions have no name for it, and say so where it is asked for.
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        let paths = self.index_access().map_err(|e| self.placed(e))?;
        Ok(Select::of_rows(columns, self.nrows()).with_access(paths))
    }
}
