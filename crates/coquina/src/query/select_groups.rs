//! Groups of the rows of a selection, and what the values of each come to.
//!
//! In: a selection, columns whose equal values make a group, aggregates of columns and expressions. Out: a row for each
//! group: its keys, then the aggregates.
//! Invariant: groups come in the order of their first rows. NaN is one group, and what is missing is one.

use std::sync::Arc;

use coquina_kernels::items::bytes_of;

use super::columns::{ColumnValues, QueryColumn};
use super::condition::{self, ItemType, NumberType};
use super::group::{Aggregate, Aggregation, Grouped, Grouping, Key, KeyKind, Values, group_by};
use super::group_rows::{GroupColumn, GroupRows};
use super::in_memory::{InMemory, RowNumbers};
use super::rows::Rows;
use super::scan::{Column, Part};
use super::select::{GROUP_BYTES_MAX, Select, SelectedColumn};
use super::select_group_texts::TextGroups;
use crate::array::BoxSource;
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

/// What an aggregate is computed of.
pub(super) struct Operand {
    pub(super) aggregate: Aggregate,
    /// None: rows are counted.
    pub(super) column: Option<QueryColumn>,
    /// What the items are; none for texts.
    pub(super) ty: Option<ItemType>,
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
        let operands = self.wanted.iter().map(|one| self.operand(one)).collect::<Result<Vec<_>, _>>()?;
        if self.select.is_ordered() {
            return self.in_order(operands, job);
        }
        let condition = self.select.limited(job)?;
        let matches = Matches { condition: condition.as_deref(), rows: self.select.rows() };
        matches.grouped(&self.keys, &operands, job)
    }

    /// Rows in an order are gathered first; then they are those of a table in memory.
    fn in_order(&self, mut operands: Vec<Operand>, job: &Job<'_>) -> Result<GroupRows, TextError> {
        let columns = operands.iter().filter_map(|one| one.column.as_ref());
        let wanted: Vec<&QueryColumn> = self.keys.iter().chain(columns).collect();
        let (numbers, gathered) = self.select.gather(&wanted, job)?;
        let mut held: Vec<QueryColumn> =
            wanted.into_iter().zip(gathered).map(|(column, found)| found.into_column(column)).collect();
        let columns = held.split_off(self.keys.len());
        let own = operands.iter_mut().filter_map(|one| one.column.as_mut());
        own.zip(columns).for_each(|(own, column)| *own = column);
        let rows = Rows { start: 0, stop: numbers.len() as u64, step: 1 };
        Matches { condition: None, rows }.grouped(&held, &operands, job)
    }

    fn operand(&self, wanted: &Wanted) -> Result<Operand, TextError> {
        let Wanted { aggregate, text } = wanted;
        let aggregate = *aggregate;
        let Some(text) = text else { return Ok(Operand { aggregate, column: None, ty: None }) };
        if let Ok(column) = self.select.column(text)
            && column.is_text()
        {
            check_text(aggregate, text)?;
            let nulls = condition::missing(column)?;
            let column = QueryColumn { mask: nulls, ..column.clone() };
            return Ok(Operand { aggregate, column: Some(column), ty: None });
        }
        let computed = condition::expression(text, self.select.columns(), &[])?;
        let (ty, source) = (computed.ty, computed.source);
        if let ItemType::Time(time) = ty {
            condition::check_time(aggregate, text, time)?;
        }
        let mut column = QueryColumn::new(text, ColumnValues::Numbers { ty: ty.stored(), source });
        column.mask = computed.nulls;
        Ok(Operand { aggregate, column: Some(column), ty: Some(ty) })
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

/// The rows that are put in groups.
struct Matches<'m> {
    condition: Option<&'m dyn BoxSource>,
    rows: Rows,
}

impl Matches<'_> {
    fn grouped(
        &self,
        keys: &[QueryColumn],
        operands: &[Operand],
        job: &Job<'_>,
    ) -> Result<GroupRows, TextError> {
        let keys: Vec<GroupKey> = keys.iter().map(GroupKey::new).collect::<Result<_, _>>()?;
        let numbers: Arc<dyn BoxSource> = Arc::new(RowNumbers(self.rows.stop));
        let mut values: Vec<Values<'_>> = keys.iter().filter_map(GroupKey::asked).collect();
        for operand in operands {
            operand.ask(&*numbers, &mut values);
        }
        let found = self.group_by(&keys, &[], &values, job)?;
        let len = found.groups;
        let found_keys = found.keys.clone();
        let (mut parts, mut results) = (found.keys.into_iter(), found.results.into_iter());
        let keys_found = keys.iter().map(|key| key.finish(&mut parts, &mut results)).collect();
        let mut aggregates = Vec::with_capacity(operands.len());
        for operand in operands {
            aggregates.push(match &operand.column {
                Some(column) if operand.is_of_texts() => {
                    let texts = GroupKey::new(column)?;
                    let rows = [Values {
                        source: &*numbers,
                        ty: Some(NumberType::I64),
                        aggregation: Aggregation { aggregate: Aggregate::Max, skips_nan: false },
                        mask: None,
                    }];
                    let pairs = self.group_by(&keys, std::slice::from_ref(&texts), &rows, job)?;
                    TextGroups { keys: &found_keys, groups: len, pairs: &pairs }
                        .aggregated(operand.aggregate, column)
                }
                _ => operand.finish(&mut results),
            });
        }
        Ok(GroupRows { len, keys: keys_found, aggregates })
    }

    fn group_by(
        &self,
        keys: &[GroupKey],
        more: &[GroupKey],
        values: &[Values<'_>],
        job: &Job<'_>,
    ) -> Result<Grouped> {
        let keys: Vec<Key<'_>> = keys.iter().chain(more).flat_map(GroupKey::parts).collect();
        let Self { condition, rows } = *self;
        group_by(&Grouping { condition, keys: &keys, values, rows, bytes_max: GROUP_BYTES_MAX }, job)
    }
}

/// A column of a key, as it is compared.
struct GroupKey {
    column: QueryColumn,
    kind: KeyKind,
    is_half: bool,
}

impl GroupKey {
    fn new(column: &QueryColumn) -> Result<Self, TextError> {
        let kind = match &column.values {
            ColumnValues::Numbers { ty: NumberType::Bool, .. } => KeyKind::Bool,
            ColumnValues::Numbers { ty: NumberType::F32 | NumberType::C64, .. } => KeyKind::F32,
            ColumnValues::Numbers { ty: NumberType::F64 | NumberType::C128, .. } => KeyKind::F64,
            ColumnValues::Halves(_) => {
                // Zeros are one number there, and NaN too, which they are in single precision.
                let source = condition::singles(column)?;
                let values = ColumnValues::Numbers { ty: NumberType::F32, source };
                let column = QueryColumn { values, ..column.clone() };
                return Ok(Self { column, kind: KeyKind::F32, is_half: true });
            }
            _ => KeyKind::Bytes,
        };
        Ok(Self { column: column.clone(), kind, is_half: false })
    }

    /// Whether what is missing is NaN for the key.
    fn is_float(&self) -> bool {
        matches!(self.kind, KeyKind::F32 | KeyKind::F64)
    }

    /// The parts of the key: the values, and whether they are missing.
    fn parts(&self) -> impl Iterator<Item = Key<'_>> {
        let mask = self.column.mask.as_deref();
        let column = match &self.column.values {
            ColumnValues::Texts { offsets, bytes } => {
                Column::Strings { offsets: &**offsets, bytes: &**bytes }
            }
            _ => Column::Items(&**self.column.source()),
        };
        let values = Key { column, kind: self.kind, mask };
        let is_missing = |mask| Key { column: Column::Items(mask), kind: KeyKind::Bool, mask: None };
        std::iter::once(values).chain(mask.filter(|_| !self.is_float()).map(is_missing))
    }

    /// What is asked of each group: of NaN, whether it is a missing value.
    fn asked(&self) -> Option<Values<'_>> {
        let source = self.column.mask.as_deref().filter(|_| self.is_float())?;
        let aggregation = Aggregation { aggregate: Aggregate::First, skips_nan: false };
        Some(Values { source, ty: None, aggregation, mask: None })
    }

    /// The values of the groups.
    fn finish(
        &self,
        parts: &mut impl Iterator<Item = Part>,
        results: &mut impl Iterator<Item = Vec<u8>>,
    ) -> SelectedColumn {
        let mut values = parts.next().unwrap_or(Part::Items(Vec::new()));
        if let (Part::Items(items), true) = (&mut values, self.is_half) {
            *items = condition::halves(items);
        }
        let mask = match (&self.column.mask, self.is_float()) {
            (None, _) => None,
            (Some(_), true) => results.next(),
            (Some(_), false) => parts.next().and_then(|part| match part {
                Part::Items(mask) => Some(mask),
                Part::Strings { .. } => None,
            }),
        };
        SelectedColumn { values, mask }
    }
}

impl Operand {
    /// Whether texts are aggregated, and not only counted.
    fn is_of_texts(&self) -> bool {
        self.ty.is_none() && self.column.is_some() && self.aggregate != Aggregate::Count
    }

    fn is_latest(&self) -> bool {
        matches!((self.aggregate, self.ty), (Aggregate::Max, Some(ItemType::Time(_))))
    }

    /// Adds what is asked of each group.
    fn ask<'o>(&'o self, numbers: &'o dyn BoxSource, values: &mut Vec<Values<'o>>) {
        let column = self.column.as_ref().filter(|_| !self.is_of_texts());
        let of = |aggregate| Values {
            source: column.map_or(numbers, |column| &**column.source()),
            ty: column.and(self.ty).map(ItemType::stored),
            aggregation: Aggregation { aggregate, skips_nan: false },
            mask: column.and_then(|column| column.mask.as_deref()),
        };
        if self.is_of_texts() {
            return;
        }
        values.push(of(self.aggregate));
        if self.aggregate != Aggregate::Count {
            values.push(of(Aggregate::Count));
        }
        if self.is_latest() {
            values.push(of(Aggregate::Min));
        }
    }

    /// The aggregates of the groups.
    fn finish(&self, results: &mut impl Iterator<Item = Vec<u8>>) -> GroupColumn {
        let mut items = results.next().unwrap_or_default();
        if self.aggregate == Aggregate::Count {
            let ty = Some(ItemType::Number(NumberType::I64));
            return GroupColumn { ty, values: Part::Items(items), mask: None };
        }
        let counts = results.next().unwrap_or_default();
        if self.is_latest() {
            condition::keep_no_time(&mut items, &results.next().unwrap_or_default());
        }
        let mask: Vec<u8> =
            counts.chunks_exact(8).map(|count| u8::from(count.iter().all(|&byte| byte == 0))).collect();
        let is_total =
            matches!(self.aggregate, Aggregate::Sum | Aggregate::Any | Aggregate::All | Aggregate::Distinct);
        let ty = self.ty.unwrap_or(ItemType::Number(NumberType::I64));
        let (ty, items) = condition::aggregated_items(self.aggregate, ty, items);
        let mask = Some(mask).filter(|mask| !is_total && mask.contains(&1));
        GroupColumn { ty: Some(ty), values: Part::Items(items), mask }
    }
}

impl SelectedColumn {
    /// The values as a column in memory, of the kind of the one that they were read from.
    fn into_column(self, column: &QueryColumn) -> QueryColumn {
        let held = |items, item_bytes| -> Arc<dyn BoxSource> { Arc::new(InMemory { items, item_bytes }) };
        let mut made = column.clone();
        let width = column.source().item_bytes();
        match self.values {
            Part::Items(items) => *made.source_mut() = held(items, width),
            Part::Strings { offsets, bytes } => {
                let offsets = held(bytes_of(&offsets).to_vec(), 8);
                made.values = ColumnValues::Texts { offsets, bytes: held(bytes, 1) };
            }
        }
        made.mask = self.mask.map(|mask| held(mask, 1));
        made
    }
}
