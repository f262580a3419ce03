//! The answer to a condition: the rows that indexes give, and what is left to be computed.
//!
//! In: what the chooser found best. Out: rows, their number, or a condition with the rows in it.
//! Invariant: rows that no index knows are left to the condition itself.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Askable, IndexedRows};
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::index::terms::{Tree, looked_up};
use crate::index::{RowSet, Wanted};
use crate::query::{AccessPath, FoundRows, RowCondition};

/// How a condition is answered.
pub struct IndexChoice {
    pub(super) answer: Option<Answer>,
    pub(super) names: Vec<String>,
    pub(super) reason: String,
    pub(super) is_surveyed: bool,
}

/// What is looked up, and what has to be computed of rows that surely meet that.
pub(super) struct Answer {
    pub(super) askable: Arc<Askable>,
    pub(super) tree: Arc<Tree>,
    /// The rows of terms that have been looked up.
    pub(super) found: HashMap<usize, RowSet>,
    pub(super) rest: Vec<Arc<dyn BoxSource>>,
    pub(super) is_whole: bool,
}

impl IndexChoice {
    /// That of a scan.
    pub fn scan(reason: impl Into<String>) -> Self {
        Self { answer: None, names: Vec::new(), reason: reason.into(), is_surveyed: false }
    }

    /// Whether no index is used.
    pub fn is_scan(&self) -> bool {
        self.answer.is_none()
    }

    /// Whether what is looked up is all of the condition.
    pub fn is_whole(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.is_whole)
    }

    /// The indexes that are used.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether zone maps were asked for it.
    pub fn is_surveyed(&self) -> bool {
        self.is_surveyed
    }

    /// Why it is so, for people.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The rows that are looked up; nothing for a scan.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn rows(&self, count: u64, job: &Job<'_>) -> Result<Option<RowSet>> {
        let Some(Answer { askable, tree, found, .. }) = &self.answer else { return Ok(None) };
        let mut ask = |tree: &Arc<Tree>, operand: usize, wanted: &Wanted| {
            if let Some(found) = found.get(&Arc::as_ptr(tree).addr()) {
                return Ok(found.clone());
            }
            askable.indexes[operand].lookup(&askable.term(operand, wanted), job)
        };
        let rows = looked_up(tree, askable.operands.all(), count, &mut ask)?;
        let all = 0..i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Some(if rows.is_within(&all) { rows } else { rows.clip(&all) }))
    }

    /// How many rows meet the condition; nothing if no index knows the number.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn count(&self, job: &Job<'_>) -> Result<Option<u64>> {
        let Some(Answer { askable, tree, found, is_whole: true, .. }) = &self.answer else { return Ok(None) };
        let Tree::Term(operand, wanted) = &**tree else { return Ok(None) };
        if let Some(found) = found.get(&Arc::as_ptr(tree).addr()) {
            let is_known = found.is_exact() && found.open().is_empty();
            return Ok(is_known.then_some(found.rows().len() as u64));
        }
        askable.indexes[*operand].count(&askable.term(*operand, wanted), job)
    }

    /// The condition with the rows in it that indexes gave: of an exact set only the rest is left to be computed.
    ///
    /// # Errors
    /// `Invalid` for rows that the table has not.
    pub fn condition(
        &self,
        condition: &Arc<dyn BoxSource>,
        rows: &RowSet,
        table: IndexedRows,
    ) -> Result<crate::compute::Bound> {
        let at = |rows: &[i64], open: &[Range<i64>]| table.condition(rows, open);
        let all = Arc::clone(condition);
        if !rows.is_exact() {
            return FoundRows { known: at(rows.rows(), rows.open())?, rest: vec![all], open: None }
                .condition();
        }
        let open = if rows.open().is_empty() { None } else { Some((at(&[], rows.open())?, all)) };
        let rest = self.answer.as_ref().map(|answer| answer.rest.clone()).unwrap_or_default();
        FoundRows { known: at(&rows.known(), &[])?, rest, open }.condition()
    }

    /// It as an access path, its rows looked up.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn path(
        &self,
        condition: &Arc<dyn BoxSource>,
        table: IndexedRows,
        job: &Job<'_>,
    ) -> Result<AccessPath> {
        let Some(rows) = self.rows(table.rows, job)? else { return Ok(AccessPath::scan(&*self.reason)) };
        let condition = Some(Arc::new(self.condition(condition, &rows, table)?) as Arc<dyn BoxSource>);
        Ok(AccessPath { condition, indexes: self.names.clone(), reason: self.reason.clone() })
    }
}

impl IndexedRows {
    /// A condition that holds at some rows, and may hold in ranges; it is walked over as the table is.
    ///
    /// # Errors
    /// `Invalid` for rows that the table has not.
    pub fn condition(&self, rows: &[i64], open: &[Range<i64>]) -> Result<RowCondition> {
        let open: Vec<[i64; 2]> = open.iter().map(|range| [range.start, range.end]).collect();
        RowCondition::new(rows, &open, self.rows, self.chunk_rows, self.block_rows)
    }
}
