//! Groups of rows by columns of any kind, and what columns come to in each.
//!
//! In: which rows, key columns, and aggregates of columns. Out: a row for each group, its keys and the aggregates.
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
use super::scan_rows::scan_rows;
use super::select::{GROUP_BYTES_MAX, SelectedColumn};
use super::select_group_texts::TextGroups;
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::expr::text::TextError;

/// What is asked of each group.
#[derive(Clone)]
pub struct GroupAggregate {
    /// What the values come to.
    pub aggregate: Aggregate,
    /// What the values are.
    pub values: GroupValues,
    /// Where they come from; of rows only its mask counts. None: all rows.
    pub column: Option<QueryColumn>,
}

/// What the values of an aggregate are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupValues {
    /// The rows: how many there are, or the number of the first or the last one.
    Rows,
    /// Numbers, truth values or times.
    Numbers(ItemType),
    /// Items as they are stored: the first, the last, or how many are different.
    Items,
    /// Texts: the least and the greatest, the first and the last, or how many are different.
    Texts,
}

/// The rows that are put in groups.
pub struct GroupQuery<'m> {
    /// Which rows match. All, if there is none.
    pub condition: Option<&'m dyn BoxSource>,
    /// Which rows are looked at.
    pub rows: Rows,
}

impl GroupQuery<'_> {
    /// Puts the rows in groups: those with the same values of some columns are one; without any, all are.
    ///
    /// # Errors
    /// `Unsupported` for aggregates that values of a type have not, `Limit` for more groups than may be known, and what
    /// goes wrong with reading.
    pub fn read(
        &self,
        keys: &[QueryColumn],
        wanted: &[GroupAggregate],
        job: &Job<'_>,
    ) -> Result<GroupRows, TextError> {
        let keys: Vec<GroupKey> = keys.iter().map(GroupKey::new).collect::<Result<_, _>>()?;
        let numbers: Arc<dyn BoxSource> = Arc::new(RowNumbers(self.rows.stop));
        let mut values: Vec<Values<'_>> = keys.iter().filter_map(GroupKey::asked).collect();
        for one in wanted {
            one.ask(&*numbers, &mut values);
        }
        let found = self.group_by(&keys, &[], &values, job)?;
        let len = found.groups;
        let found_keys = found.keys.clone();
        let (mut parts, mut results) = (found.keys.into_iter(), found.results.into_iter());
        let keys_found = keys.iter().map(|key| key.finish(&mut parts, &mut results)).collect();
        let mut aggregates = Vec::with_capacity(wanted.len());
        for one in wanted {
            aggregates.push(match &one.column {
                Some(column) if one.values == GroupValues::Texts => {
                    let texts = GroupKey::new(column)?;
                    let rows = [Values {
                        source: &*numbers,
                        ty: Some(NumberType::I64),
                        aggregation: Aggregation { aggregate: Aggregate::Max, skips_nan: false },
                        mask: None,
                    }];
                    let pairs = self.group_by(&keys, std::slice::from_ref(&texts), &rows, job)?;
                    TextGroups { keys: &found_keys, groups: len, pairs: &pairs }
                        .aggregated(one.aggregate, column)
                }
                _ => one.finish(&mut results),
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
        let column = self.column.gathered();
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
            (Some(_), false) => parts.next().and_then(Part::into_items),
        };
        SelectedColumn { values, mask }
    }
}

impl GroupAggregate {
    fn is_latest(&self) -> bool {
        matches!((self.aggregate, self.values), (Aggregate::Max, GroupValues::Numbers(ItemType::Time(_))))
    }

    /// Whether groups without values have one too: 0 of sums and counts.
    fn is_total(&self) -> bool {
        matches!(
            self.aggregate,
            Aggregate::Count | Aggregate::Sum | Aggregate::Any | Aggregate::All | Aggregate::Distinct
        )
    }

    fn mask(&self) -> Option<&dyn BoxSource> {
        self.column.as_ref().and_then(|column| column.mask.as_deref())
    }

    /// Whether it must be known which groups have values.
    fn needs_counts(&self) -> bool {
        self.mask().is_some() && !self.is_total()
    }

    /// Adds what is asked of each group.
    fn ask<'o>(&'o self, numbers: &'o dyn BoxSource, values: &mut Vec<Values<'o>>) {
        let column = self.column.as_ref().filter(|_| self.values != GroupValues::Rows);
        let ty = match self.values {
            GroupValues::Rows => Some(NumberType::I64),
            GroupValues::Numbers(ty) => Some(ty.stored()),
            GroupValues::Items => None,
            GroupValues::Texts => return,
        };
        let of = |aggregate| Values {
            source: column.map_or(numbers, |column| &**column.source()),
            ty,
            aggregation: Aggregation { aggregate, skips_nan: false },
            mask: self.mask(),
        };
        values.push(of(self.aggregate));
        if self.needs_counts() {
            values.push(of(Aggregate::Count));
        }
        if self.is_latest() {
            values.push(of(Aggregate::Min));
        }
    }

    /// The aggregates of the groups.
    fn finish(&self, results: &mut impl Iterator<Item = Vec<u8>>) -> GroupColumn {
        let mut items = results.next().unwrap_or_default();
        let counts = if self.needs_counts() { results.next() } else { None };
        if self.is_latest() {
            condition::keep_no_time(&mut items, &results.next().unwrap_or_default());
        }
        let is_empty = |count: &[u8]| u8::from(count.iter().all(|&byte| byte == 0));
        let mask: Option<Vec<u8>> = counts.map(|counts| counts.chunks_exact(8).map(is_empty).collect());
        let mask = mask.filter(|mask| mask.contains(&1));
        let ty = match self.values {
            GroupValues::Numbers(ty) => ty,
            GroupValues::Items if !self.is_total() => {
                return GroupColumn { ty: None, values: Part::Items(items), mask };
            }
            _ => ItemType::Number(NumberType::I64),
        };
        let (ty, items) = condition::aggregated_items(self.aggregate, ty, items);
        GroupColumn { ty: Some(ty), values: Part::Items(items), mask }
    }
}

/// Puts rows in groups in an order: those of these numbers, which are gathered first.
///
/// # Errors
/// As [`GroupQuery::read`]; `Invalid` for a row that comes twice or that there is not.
pub fn group_in_order(
    numbers: &[i64],
    keys: &[QueryColumn],
    wanted: &[GroupAggregate],
    job: &Job<'_>,
) -> Result<GroupRows, TextError> {
    let mut wanted = wanted.to_vec();
    let own = wanted.iter_mut().filter_map(|one| one.column.as_mut());
    let mut keys = keys.to_vec();
    let mut columns: Vec<&mut QueryColumn> = keys.iter_mut().chain(own).collect();
    hold(&mut columns, numbers, job)?;
    let rows = Rows { start: 0, stop: numbers.len() as u64, step: 1 };
    let mut found = GroupQuery { condition: None, rows }.read(&keys, &wanted, job)?;
    let of_rows = found.aggregates.iter_mut().zip(&wanted);
    for (found, _) in of_rows.filter(|(_, one)| one.values == GroupValues::Rows && !one.is_total()) {
        if let Part::Items(places) = &mut found.values {
            let number =
                |&place: &i64| usize::try_from(place).ok().and_then(|place| numbers.get(place)).copied();
            let places = super::numbers::numbers::<i64>(places);
            let rows: Vec<i64> = places.iter().map(|place| number(place).unwrap_or(0)).collect();
            found.values = Part::Items(bytes_of(&rows).to_vec());
        }
    }
    Ok(found)
}

/// Puts the values of rows, in this order, in the place of columns.
fn hold(columns: &mut [&mut QueryColumn], numbers: &[i64], job: &Job<'_>) -> Result<()> {
    let Some(count) = columns.iter().map(|column| column.rows()).min() else { return Ok(()) };
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_unstable_by_key(|&place| numbers[place]);
    let mut places = vec![0; numbers.len()];
    order.iter().enumerate().for_each(|(at, &place)| places[place] = at);
    let ascending: Vec<i64> = order.iter().map(|&place| numbers[place]).collect();
    let mut sources = Vec::new();
    for column in columns.iter() {
        sources.push(column.gathered());
        sources.extend(column.mask.as_deref().map(Column::Items));
    }
    let mut parts = scan_rows(&ascending, count, &sources, job)?.into_iter();
    let mut next = |item_bytes| parts.next().map(|part| part.taken(&places, item_bytes));
    for column in columns {
        let values = next(column.source().item_bytes());
        let mask = column.mask.as_ref().and_then(|_| next(1)).and_then(Part::into_items);
        let values = values.unwrap_or(Part::Items(Vec::new()));
        **column = SelectedColumn { values, mask }.into_column(column);
    }
    Ok(())
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
