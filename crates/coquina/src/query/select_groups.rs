//! Groups of the rows of a selection, and what the values of each come to.
//!
//! In: a selection, columns whose equal values make a group, aggregates of columns and expressions. Out: a row for each
//! group: its keys, then the aggregates.
//! Invariant: groups come in the order of their first rows. NaN is one group, and what is missing is one.

use super::columns::{ColumnValues, QueryColumn};
use super::condition::{self, ItemType};
use super::group::Aggregate;
use super::group_query::{GroupAggregate, GroupQuery, GroupValues, group_in_order};
use super::group_rows::GroupRows;
use super::select::Select;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::expr::text::{TextError, TextErrorKind};

/// Rows of a selection in groups, and what is asked of each; nothing is read before [`Groups::read`].
#[derive(Clone)]
pub struct Groups {
    select: Select,
    keys: Vec<QueryColumn>,
    wanted: Vec<Wanted>,
}

/// What is asked of each group: of its rows, or of the values of an expression.
#[derive(Clone)]
struct Wanted {
    aggregate: Aggregate,
    text: Option<String>,
}

impl Select {
    /// Puts the rows in groups: those with the same values of some columns are one.
    ///
    /// ```
    /// use coquina::Job;
    /// use coquina::query::{Part, group::Aggregate};
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table};
    ///
    /// let schema = Schema::new([ColumnSpec::text("kind"), ColumnSpec::number::<f64>("price")]);
    /// let mut table = Table::in_memory(&schema)?;
    /// let kinds = ["oak", "ash", "oak"];
    /// table.append(&Batch::new().with("kind", kinds).with("price", [9.5, 3.0, 1.5]))?;
    /// table.flush()?;
    ///
    /// let groups = table.select()?.group_by(&["kind"])?.count().aggregate(Aggregate::Sum, "price * 2");
    /// let found = groups.read(&Job::default())?;
    /// assert_eq!(found.len, 2);
    /// assert_eq!(found.keys[0].values, Part::Strings { offsets: vec![0, 3, 6], bytes: b"oakash".to_vec() });
    /// let items = |numbers: [f64; 2]| Part::Items(numbers.map(f64::to_ne_bytes).concat());
    /// assert_eq!(found.aggregates[1].values, items([22.0, 6.0]));
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for no columns, and for one that there is not; `Unsupported` for one whose rows have several values.
    pub fn group_by(&self, paths: &[&str]) -> Result<Groups> {
        if paths.is_empty() {
            return Err(Error::invalid("group_by: no columns"));
        }
        let keys = paths.iter().map(|path| {
            let column = self.column(path)?;
            if column.axes().is_empty() {
                return Ok(column.clone());
            }
            Err(Error::unsupported(format!(
                "group_by: column {path:?} has several values in a row; group by a column with one"
            )))
        });
        Ok(Groups { keys: keys.collect::<Result<_>>()?, select: self.clone(), wanted: Vec::new() })
    }
}

impl Groups {
    /// Asks how many rows each group has.
    #[must_use]
    pub fn count(mut self) -> Self {
        self.wanted.push(Wanted { aggregate: Aggregate::Count, text: None });
        self
    }

    /// Asks what a column, or an expression of columns, comes to in each group. What is missing is left out; NaN is a number.
    /// Of text there are counts, the least and the greatest, the first and the last, and how many are different.
    #[must_use]
    pub fn aggregate(mut self, aggregate: Aggregate, text: impl Into<String>) -> Self {
        self.wanted.push(Wanted { aggregate, text: Some(text.into()) });
        self
    }

    /// Reads the groups.
    ///
    /// # Errors
    /// [`TextError`] for what is no expression, and for aggregates that its values have not; what goes wrong with reading.
    pub fn read(&self, job: &Job<'_>) -> Result<GroupRows, TextError> {
        let wanted = self.wanted.iter().map(|one| self.asked(one)).collect::<Result<Vec<_>, _>>()?;
        if self.select.is_ordered() {
            return group_in_order(&self.select.numbers(job)?, &self.keys, &wanted, job);
        }
        let condition = self.select.limited(job)?;
        let query = GroupQuery { condition: condition.as_deref(), rows: self.select.rows() };
        query.read(&self.keys, &wanted, job)
    }

    fn asked(&self, wanted: &Wanted) -> Result<GroupAggregate, TextError> {
        let Wanted { aggregate, text } = wanted;
        let aggregate = *aggregate;
        let Some(text) = text else {
            return Ok(GroupAggregate { aggregate, values: GroupValues::Rows, column: None });
        };
        if let Ok(column) = self.select.column(text)
            && column.is_text()
        {
            check_text(aggregate, text)?;
            let column = QueryColumn { mask: condition::missing(column)?, ..column.clone() };
            let is_counted = aggregate == Aggregate::Count;
            let values = if is_counted { GroupValues::Rows } else { GroupValues::Texts };
            return Ok(GroupAggregate { aggregate, values, column: Some(column) });
        }
        let computed = condition::expression(text, self.select.columns(), &[])?;
        let (ty, source) = (computed.ty, computed.source);
        if let ItemType::Time(time) = ty {
            condition::check_time(aggregate, text, time)?;
        }
        let mut column = QueryColumn::new(text, ColumnValues::Numbers { ty: ty.stored(), source });
        column.mask = computed.nulls;
        Ok(GroupAggregate { aggregate, values: GroupValues::Numbers(ty), column: Some(column) })
    }
}

/// Text has no sums.
fn check_text(aggregate: Aggregate, text: &str) -> Result<(), TextError> {
    match aggregate {
        Aggregate::Count
        | Aggregate::Min
        | Aggregate::Max
        | Aggregate::First
        | Aggregate::Last
        | Aggregate::Distinct => Ok(()),
        _ => {
            let sentence = format!("{}: '{text}' is text", aggregate.name());
            Err(TextError::new(TextErrorKind::Type, sentence))
        }
    }
}
