//! Rows of columns that meet conditions: their numbers, their values, and what these come to.
//!
//! In: the columns of a table, conditions as text, which rows are looked at, an order, a limit. Out: numbers of rows,
//! gathered columns, aggregates. Nothing is read before one of these is asked for.
//! Invariant: without an order rows come as they stand; rows that are equal in an order stay in theirs.

use std::ops::Range;
use std::sync::Arc;

use super::access::{AccessPath, AccessPaths};
use super::columns::QueryColumn;
use super::condition::{self, Computed, ItemType, Parameter, all_of};
use super::group::{Aggregate, Aggregation, Grouping, Values, group_by};
use super::ordering::{Direction, SortKey, sorted};
use super::row_condition::RowCondition;
use super::rows::Rows;
use super::scan::{Column, Part, Query, scan};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::expr::text::TextError;

/// How much of groups may be known; aggregates without keys have one.
pub(super) const GROUP_BYTES_MAX: u64 = 1 << 30;

/// Rows of some columns.
#[derive(Clone)]
pub struct Select {
    columns: Arc<[QueryColumn]>,
    condition: Option<Arc<dyn BoxSource>>,
    rows: Rows,
    count: u64,
    order: Vec<(QueryColumn, Direction)>,
    limit: Option<u64>,
    /// What finds rows otherwise than by a scan.
    paths: Option<Arc<dyn AccessPaths>>,
}

/// The values of a column in some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedColumn {
    /// As they are stored, in the machine's byte order: items, codes, or texts.
    pub values: Part,
    /// Of columns that can be missing a byte for each row, other than 0 where the value is.
    pub mask: Option<Vec<u8>>,
}

/// What the values of some rows come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregated {
    /// What the item is.
    pub ty: ItemType,
    /// The item, in the machine's byte order; none where there are no values to be the least, the first and the like.
    pub item: Option<Vec<u8>>,
    /// How many values there are.
    pub count: u64,
}

impl Select {
    /// All rows of these columns: those that all of them have.
    pub fn new(columns: Vec<QueryColumn>) -> Self {
        let count = columns.iter().map(QueryColumn::rows).min().unwrap_or(0);
        let rows = Rows { start: 0, stop: count, step: 1 };
        let columns: Vec<QueryColumn> = columns.into_iter().map(|column| column.cut_to(count)).collect();
        let (order, columns) = (Vec::new(), columns.into());
        Self { columns, condition: None, rows, count, order, limit: None, paths: None }
    }

    /// As [`Self::new`], of no more rows than so many: those of a table whose columns have some that were never committed.
    pub fn of_rows(columns: Vec<QueryColumn>, rows: u64) -> Self {
        Self::new(columns.into_iter().map(|column| column.cut_to(rows)).collect())
    }

    /// Has the rows of conditions found by what these choose.
    #[must_use]
    pub fn with_access(mut self, paths: Option<Arc<dyn AccessPaths>>) -> Self {
        self.paths = paths;
        self
    }

    /// How the rows of the condition are found: by which indexes, or by a scan, and why.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn access(&self, job: &Job<'_>) -> Result<AccessPath> {
        match (&self.condition, &self.paths) {
            (None, _) => Ok(AccessPath::scan("there is no condition")),
            (Some(_), None) => Ok(AccessPath::scan("there is no index")),
            (Some(condition), Some(paths)) => paths.access(condition, job),
        }
    }

    /// As [`Self::access`], in words.
    ///
    /// # Errors
    /// As [`Self::access`].
    pub fn explain(&self, job: &Job<'_>) -> Result<String> {
        Ok(self.access(job)?.to_string())
    }

    /// The condition as it is best computed.
    fn found(&self, job: &Job<'_>) -> Result<Option<Arc<dyn BoxSource>>> {
        if self.paths.is_none() {
            return Ok(self.condition.clone());
        }
        Ok(self.access(job)?.condition.or_else(|| self.condition.clone()))
    }

    /// Those of the rows that meet a condition.
    ///
    /// # Errors
    /// [`TextError`] for what is no condition of these columns.
    pub fn filter(self, text: &str) -> Result<Self, TextError> {
        self.filter_with(text, &[])
    }

    /// As [`Self::filter`], with values by name.
    ///
    /// # Errors
    /// As [`Self::filter`].
    pub fn filter_with(mut self, text: &str, parameters: &[(String, Parameter)]) -> Result<Self, TextError> {
        let more = condition::condition(text, &self.columns, parameters)?;
        let all: Vec<_> = self.condition.iter().cloned().chain([more]).collect();
        self.condition = all_of(&all, self.count)?;
        Ok(self)
    }

    /// Looks at every so many rows of a range only.
    #[must_use]
    pub fn within(mut self, range: Range<u64>, step: u64) -> Self {
        let stop = range.end.min(self.count);
        self.rows = Rows { start: range.start.min(stop), stop, step };
        self
    }

    /// Puts the rows in the order of a column; of several the first weighs most. What is missing comes last.
    ///
    /// # Errors
    /// `Invalid` for a column that there is not, or that has no order.
    pub fn order_by(mut self, path: &str, direction: Direction) -> Result<Self> {
        let column = self.column(path)?.clone();
        self.order.push((column, direction));
        Ok(self)
    }

    /// The first rows only.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(self.limit.map_or(rows, |before| before.min(rows)));
        self
    }

    /// Whether the rows have an order of their own.
    pub(super) fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    /// Which rows are looked at.
    pub(super) fn rows(&self) -> Rows {
        self.rows
    }

    pub(super) fn column(&self, path: &str) -> Result<&QueryColumn> {
        let found = self.columns.iter().find(|column| column.path == path);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|column| column.path.as_str()).collect();
            Error::invalid(format!("there is no column {path:?}; the columns are {}", known.join(", ")))
        })
    }

    /// The numbers of the rows.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn numbers(&self, job: &Job<'_>) -> Result<Vec<i64>> {
        Ok(self.gather(&[], job)?.0)
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn count(&self, job: &Job<'_>) -> Result<u64> {
        let condition = self.found(job)?;
        let query = Query {
            condition: condition.as_deref(),
            columns: &[],
            rows: self.rows,
            numbers: false,
            limit: self.limit,
        };
        Ok(scan(&query, job)?.matched)
    }

    /// The values of some columns in these rows, in their order.
    ///
    /// # Errors
    /// `Invalid` for a column that there is not, `Unsupported` for one whose rows have several values, and what goes
    /// wrong with reading.
    pub fn read(&self, paths: &[&str], job: &Job<'_>) -> Result<Vec<SelectedColumn>> {
        let columns = paths.iter().map(|path| self.column(path)).collect::<Result<Vec<_>>>()?;
        Ok(self.gather(&columns, job)?.1)
    }

    /// The columns that conditions know.
    pub(crate) fn columns(&self) -> &[QueryColumn] {
        &self.columns
    }

    /// The numbers of the rows, and the values of columns, which may be none of the table.
    pub(crate) fn gather(
        &self,
        wanted: &[&QueryColumn],
        job: &Job<'_>,
    ) -> Result<(Vec<i64>, Vec<SelectedColumn>)> {
        let all: Vec<&QueryColumn> =
            wanted.iter().copied().chain(self.order.iter().map(|(column, _)| column)).collect();
        let mut columns = Vec::new();
        for column in &all {
            columns.push(scanned(column)?);
            columns.extend(column.mask.as_deref().map(Column::Items));
        }
        let limit = if self.order.is_empty() { self.limit } else { None };
        let condition = self.found(job)?;
        let query = Query {
            condition: condition.as_deref(),
            columns: &columns,
            rows: self.rows,
            numbers: true,
            limit,
        };
        let found = scan(&query, job)?;
        let mut parts = found.parts.into_iter();
        let mut gathered: Vec<SelectedColumn> = Vec::with_capacity(all.len());
        for column in &all {
            let values = parts.next().unwrap_or(Part::Items(Vec::new()));
            let mask = column.mask.as_ref().and_then(|_| parts.next()).and_then(Part::into_items);
            gathered.push(SelectedColumn { values, mask });
        }
        let mut numbers = found.numbers.unwrap_or_default();
        if !self.order.is_empty() {
            let keys = gathered.split_off(wanted.len());
            let keys = self.order.iter().zip(&keys).map(|((column, direction), found)| {
                SortKey::new(column, &found.values, found.mask.as_deref(), *direction, numbers.len())
            });
            let mut places = sorted(&keys.collect::<Result<Vec<_>>>()?, numbers.len());
            places.truncate(
                self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            );
            gathered = gathered.iter().zip(wanted).map(|(one, column)| one.taken(&places, column)).collect();
            numbers = places.iter().map(|&place| numbers[place]).collect();
        }
        Ok((numbers, gathered))
    }

    /// What an expression comes to in these rows: a column, or anything computed of columns. What is missing is left
    /// out; NaN is a number.
    ///
    /// # Errors
    /// [`TextError`] for what is no expression, and for aggregates that its values have not.
    pub fn aggregate(
        &self,
        aggregate: Aggregate,
        text: &str,
        job: &Job<'_>,
    ) -> Result<Aggregated, TextError> {
        if self.columns.iter().any(|column| column.path == text && column.is_text()) {
            let sentence = format!("{}: '{text}' is text", aggregate.name());
            return Err(TextError::new(crate::expr::text::TextErrorKind::Type, sentence));
        }
        let computed = condition::expression(text, &self.columns, &[])?;
        if let ItemType::Time(ty) = computed.ty {
            condition::check_time(aggregate, text, ty)?;
        }
        let condition = self.limited(job)?;
        let values = |aggregate| Values {
            source: &*computed.source,
            ty: Some(computed.ty.stored()),
            aggregation: Aggregation { aggregate, skips_nan: false },
            mask: computed.nulls.as_deref(),
        };
        let is_latest = matches!((aggregate, computed.ty), (Aggregate::Max, ItemType::Time(_)));
        let mut values = vec![values(aggregate), values(Aggregate::Count), values(Aggregate::Min)];
        values.truncate(if is_latest { 3 } else { 2 });
        let grouping = Grouping {
            condition: condition.as_deref(),
            keys: &[],
            values: &values,
            rows: self.rows,
            bytes_max: GROUP_BYTES_MAX,
        };
        let found = group_by(&grouping, job)?;
        let count =
            found.results.get(1).and_then(|bytes| super::numbers::numbers::<i64>(bytes).first().copied());
        let count = count.unwrap_or(0).unsigned_abs();
        let mut results = found.results.into_iter();
        let mut item = results.next().filter(|item| !item.is_empty());
        if let (Some(item), true, Some(least)) = (&mut item, is_latest, results.nth(1)) {
            condition::keep_no_time(item, &least);
        }
        finished(aggregate, &computed, item, count)
    }

    /// The condition of the rows, with a limit as a part of it.
    pub(super) fn limited(&self, job: &Job<'_>) -> Result<Option<Arc<dyn BoxSource>>> {
        match self.limit {
            None => self.found(job),
            Some(_) => Ok(Some(self.as_row_set(job)?)),
        }
    }

    /// The rows of a limit as a condition.
    fn as_row_set(&self, job: &Job<'_>) -> Result<Arc<dyn BoxSource>> {
        let mut numbers = self.numbers(job)?;
        numbers.sort_unstable();
        let walk = self.columns.first().map(|column| column.source().walk());
        Ok(Arc::new(RowCondition::beside(&numbers, self.count, walk.as_ref())?))
    }
}

/// The result in the type that NumPy gives.
fn finished(
    aggregate: Aggregate,
    computed: &Computed,
    item: Option<Vec<u8>>,
    count: u64,
) -> Result<Aggregated, TextError> {
    let has_values = count > 0;
    if !has_values && matches!(aggregate, Aggregate::Min | Aggregate::Max) {
        let name = aggregate.name();
        let which = if aggregate == Aggregate::Min { "least" } else { "greatest" };
        let sentence = format!("{name}: there are no values, and so no {which} one");
        return Err(TextError::new(crate::expr::text::TextErrorKind::Value, sentence));
    }
    let (ty, item) = condition::aggregated(aggregate, computed.ty, item, has_values);
    Ok(Aggregated { ty, item, count })
}

/// A column as a scan gathers it.
fn scanned(column: &QueryColumn) -> Result<Column<'_>> {
    if !column.axes().is_empty() {
        let path = &column.path;
        return Err(Error::unsupported(format!(
            "column {path:?} has several values in a row; read it by itself"
        )));
    }
    Ok(column.gathered())
}

impl SelectedColumn {
    /// The values at some places.
    fn taken(&self, places: &[usize], column: &QueryColumn) -> Self {
        let mask = self.mask.as_ref().map(|mask| places.iter().map(|&place| mask[place]).collect());
        Self { values: self.values.taken(places, column.source().item_bytes()), mask }
    }
}
