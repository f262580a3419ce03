//! Tables in directories: opened by their path, and read column by column.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr::null;

use coquina::frame::Mode;
use coquina::table::Table as EngineTable;
use coquina::{Error, Result};

use crate::pointers::{close, items, place, reference, text};
use crate::status::{Status, guard};
use crate::values::Values;

/// A table that was opened for reading, as of the commit that was the newest then.
pub struct Table {
    pub(crate) table: EngineTable,
    columns: Vec<ColumnText>,
}

/// What a column is called, and what it holds.
struct ColumnText {
    name: CString,
    ty: CString,
}

impl Table {
    fn open(path: &str) -> Result<Self> {
        let table = EngineTable::open(Path::new(path), Mode::Read)?;
        let schema = table.schema();
        let columns = schema.columns().iter().map(|column| ColumnText {
            name: CString::new(column.name()).unwrap_or_default(),
            ty: CString::new(column.ty().to_string()).unwrap_or_default(),
        });
        Ok(Self { columns: columns.collect(), table })
    }

    fn read(&self, column: &str, start: u64, stop: u64) -> Result<Values> {
        Ok(Values::new(self.table.column(column)?.read_values(start..stop)?))
    }

    fn read_rows(&self, column: &str, rows: &[i64]) -> Result<Values> {
        let row = |row: &i64| {
            u64::try_from(*row).map_err(|_| Error::out_of_bounds(format!("row {row} is before the first")))
        };
        let rows = rows.iter().map(row).collect::<Result<Vec<_>>>()?;
        Ok(Values::new(self.table.column(column)?.read_values_at(&rows)?))
    }
}

/// Opens the table in a directory for reading. `*table` is a handle for `coquina_table_close`, and null after an error.
///
/// # Safety
/// `path` is text that ends with a zero byte; `table` points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_open(path: *const c_char, table: *mut *mut Table) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(table, "table") }?;
        // SAFETY: as the caller promises.
        let path = unsafe { text(path, "path") }?;
        *place = Box::into_raw(Box::new(Table::open(path)?));
        Ok(())
    })
}

/// Gives the handle back. Nothing happens for null.
///
/// # Safety
/// `table` is null or an open handle, which is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_close(table: *mut Table) {
    // SAFETY: as the caller promises.
    unsafe { close(table) }
}

/// How many rows the table has; 0 for null.
///
/// # Safety
/// `table` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_nrows(table: *const Table) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { table.as_ref() }.map_or(0, |table| table.table.nrows())
}

/// How many columns the table has that can be read; 0 for null.
///
/// # Safety
/// `table` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_ncolumns(table: *const Table) -> usize {
    // SAFETY: as the caller promises.
    unsafe { table.as_ref() }.map_or(0, |table| table.columns.len())
}

/// What column `number` is called, from 0 on. Valid as long as the handle; null for a number of no column.
///
/// # Safety
/// `table` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_column_name(table: *const Table, number: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    let column = unsafe { table.as_ref() }.and_then(|table| table.columns.get(number));
    column.map_or(null(), |column| column.name.as_ptr())
}

/// What column `number` holds, for people and programs, such as "float64", "datetime64[ns]", "text", "categories of
/// text". Valid as long as the handle; null for a number of no column.
///
/// # Safety
/// `table` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_column_type(table: *const Table, number: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    let column = unsafe { table.as_ref() }.and_then(|table| table.columns.get(number));
    column.map_or(null(), |column| column.ty.as_ptr())
}

/// Reads rows `start` to before `stop` of a column. `*values` is a handle for `coquina_values_close`, and null after an
/// error. Categories are read as the values that they stand for.
///
/// # Safety
/// `table` is an open handle; `column` is text that ends with a zero byte; `values` points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_read(
    table: *const Table,
    column: *const c_char,
    start: u64,
    stop: u64,
    values: *mut *mut Values,
) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(values, "values") }?;
        // SAFETY: as the caller promises.
        let table = unsafe { reference(table, "table") }?;
        // SAFETY: as the caller promises.
        let column = unsafe { text(column, "column") }?;
        *place = Box::into_raw(Box::new(table.read(column, start, stop)?));
        Ok(())
    })
}

/// Reads the rows with these numbers of a column, in this order, as `coquina_table_read` does.
///
/// # Safety
/// As for `coquina_table_read`; `rows` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_table_read_rows(
    table: *const Table,
    column: *const c_char,
    rows: *const i64,
    count: usize,
    values: *mut *mut Values,
) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(values, "values") }?;
        // SAFETY: as the caller promises.
        let table = unsafe { reference(table, "table") }?;
        // SAFETY: as the caller promises.
        let column = unsafe { text(column, "column") }?;
        // SAFETY: as the caller promises.
        let rows = unsafe { items(rows, count, "rows") }?;
        *place = Box::into_raw(Box::new(table.read_rows(column, rows)?));
        Ok(())
    })
}
