//! The values of some rows, whose numbers are known.
//!
//! In: numbers of rows, ascending, and columns. Out: of each column the items of these rows, one behind another.

use super::row_condition::RowCondition;
use super::rows::Rows;
use super::scan::{Column, Part, Query, scan};
use crate::array::Walk;
use crate::base::error::Result;
use crate::base::pool::Job;

impl RowCondition {
    /// The condition of `count` rows that holds at `rows`, walked over as a column is.
    ///
    /// # Errors
    /// As [`RowCondition::new`].
    pub(super) fn beside(rows: &[i64], count: u64, walk: Option<&Walk>) -> Result<Self> {
        let one = |lens: Option<&Vec<u64>>| lens.and_then(|lens| lens.first().copied()).unwrap_or(1).max(1);
        let chunk = one(walk.map(|walk| &walk.chunks));
        Self::new(rows, &[], count, chunk, one(walk.map(|walk| &walk.blocks)))
    }
}

/// Gathers columns of `count` rows at these rows, which ascend; no part without columns.
///
/// # Errors
/// `Invalid` for rows that do not ascend or that there are not, and what goes wrong with reading.
pub fn scan_rows(rows: &[i64], count: u64, columns: &[Column<'_>], job: &Job<'_>) -> Result<Vec<Part>> {
    let walk = columns.first().map(|column| match column {
        Column::Items(source) | Column::Strings { offsets: source, .. } => source.walk(),
    });
    let condition = RowCondition::beside(rows, count, walk.as_ref())?;
    let all = Rows { start: 0, stop: count, step: 1 };
    let query = Query { condition: Some(&condition), columns, rows: all, numbers: false, limit: None };
    Ok(scan(&query, job)?.parts)
}
