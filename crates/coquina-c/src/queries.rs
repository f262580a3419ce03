//! Queries of tables: the rows that meet a condition, given as text.

use std::ffi::c_char;

use coquina::table::Values as EngineValues;
use coquina::{Job, Result};

use crate::pointers::{place, reference, text, variable};
use crate::status::{Status, guard};
use crate::tables::Table;
use crate::values::Values;

impl Table {
    fn rows_of(&self, condition: &str, limit: u64) -> Result<Values> {
        let rows = self.table.query(condition)?.limit(limit).numbers(&Job::default())?;
        Ok(Values::new(EngineValues::from(rows)))
    }
}

/// Finds the rows that meet a condition such as `price > 20 and name.startswith('A')`: the first `limit` of them,
/// `UINT64_MAX` for all. `*rows` is a handle for `coquina_values_close`, and null after an error; its items are the
/// numbers of the rows, "int64", ascending, as `coquina_table_read_rows` takes them.
///
/// # Safety
/// `table` is an open handle; `condition` is text that ends with a zero byte; `rows` points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_query(
    table: *const Table,
    condition: *const c_char,
    limit: u64,
    rows: *mut *mut Values,
) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(rows, "rows") }?;
        // SAFETY: as the caller promises.
        let table = unsafe { reference(table, "table") }?;
        // SAFETY: as the caller promises.
        let condition = unsafe { text(condition, "condition") }?;
        *place = Box::into_raw(Box::new(table.rows_of(condition, limit)?));
        Ok(())
    })
}

/// Counts the rows that meet a condition, as `coquina_table_query` takes it.
///
/// # Safety
/// `table` is an open handle; `condition` is text that ends with a zero byte; `count` points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_count(
    table: *const Table,
    condition: *const c_char,
    count: *mut u64,
) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let count = unsafe { variable(count, "count") }?;
        // SAFETY: as the caller promises.
        let table = unsafe { reference(table, "table") }?;
        // SAFETY: as the caller promises.
        let condition = unsafe { text(condition, "condition") }?;
        *count = table.table.query(condition)?.count(&Job::default())?;
        Ok(())
    })
}
