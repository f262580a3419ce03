//! How a condition on a table is answered by its indexes.
//!
//! In: what indexes know at the moment, and the columns that they are of. Out: [`AccessPath`].
//! Invariant: an index is asked only for rows that it knows; of all others the condition itself is computed.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::array::BoxSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::Job;
use crate::index::store::IndexKind;
use crate::index::terms::{
    Best, Chosen, Costs, Few, Indexes, Operands, Terms, Tree, chosen, looked_up, row_bytes,
};
use crate::index::{Asked, Current, Looked, RowSet, Wanted, ZONE_ROWS};
use crate::query::{AccessPath, AccessPaths, FoundRows, RowCondition, survey};

/// What asking zone maps costs, for each box of the table, and in any case.
const SURVEYED_BYTES: f64 = 1024.0;
const SURVEY_BYTES: f64 = 131_072.0;
/// Rows of so few are looked up to learn how many they are: estimates are in blocks of an index.
const LOOKED_UP_ROWS: u64 = 1 << 15;

/// What damage of an index raises.
const DAMAGE: [ErrorKind; 4] = [ErrorKind::Corrupt, ErrorKind::Truncated, ErrorKind::Limit, ErrorKind::Io];

/// An index that can be asked.
pub(super) struct KnownIndex {
    pub(super) name: String,
    pub(super) kind: IndexKind,
    pub(super) bucket_rows: u64,
    pub(super) current: Current,
}

/// The indexes of a table.
pub(super) struct IndexAccess {
    pub(super) operands: Operands,
    /// The indexes of the operands.
    pub(super) indexes: Vec<KnownIndex>,
    pub(super) rows: u64,
    /// Rows of a chunk and of a block.
    pub(super) boxes: [u64; 2],
    /// Whether zone maps can change, and are not asked.
    pub(super) is_writable: bool,
}

impl KnownIndex {
    fn looked_up(&self, wanted: &Wanted, missing: Option<bool>, job: &Job<'_>) -> Result<RowSet> {
        let asked = Asked { keys: &wanted.maybe, missing: missing != Some(false), by_key: true };
        let Looked { sure, unsure } = self.current.lookup(&asked, job)?;
        if unsure.is_empty() {
            return Ok(sure);
        }
        Ok(sure.or(&RowSet::new(unsure, &[], false)?))
    }
}

/// Asks the indexes for a condition.
struct Asking<'a> {
    known: &'a IndexAccess,
    condition: &'a Arc<dyn BoxSource>,
    job: &'a Job<'a>,
}

impl Indexes for Asking<'_> {
    type Error = Error;

    fn few(&mut self, operand: usize, wanted: &Wanted) -> Result<Option<Few>> {
        let Some(index) = self.known.indexes.get(operand) else { return Ok(None) };
        let missing = self.known.operands.all()[operand].missing(wanted);
        let rows = index.current.estimate(&wanted.maybe, missing != Some(false));
        let is_sure = matches!(index.kind, IndexKind::Full | IndexKind::Partial);
        let is_looked_up = rows <= LOOKED_UP_ROWS && is_sure;
        let found = is_looked_up.then(|| index.looked_up(wanted, missing, self.job)).transpose()?;
        let unit_rows = if index.kind == IndexKind::Zones { ZONE_ROWS } else { index.bucket_rows };
        Ok(Some(Few { rows, open_rows: index.current.open_rows(), found, unit_rows, is_sure }))
    }

    fn scanned(&mut self) -> Result<f64> {
        if self.known.is_writable {
            return Ok(1.0);
        }
        let (boxes, unknown) = survey(&**self.condition, 0, self.known.rows, self.job)?;
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        Ok(unknown as f64 / boxes.max(1) as f64)
    }
}

impl AccessPaths for IndexAccess {
    fn access(&self, condition: &Arc<dyn BoxSource>, job: &Job<'_>) -> Result<AccessPath> {
        match self.best(condition, job) {
            // What an index has is not what it should be: the values themselves tell.
            Err(error) if DAMAGE.contains(&error.kind()) => Ok(AccessPath::scan(format!("damaged: {error}"))),
            found => found,
        }
    }
}

impl IndexAccess {
    /// The cheapest way to find the rows of a condition.
    fn best(&self, condition: &Arc<dyn BoxSource>, job: &Job<'_>) -> Result<AccessPath> {
        let terms = self.operands.terms(condition)?;
        let Some(tree) = &terms.tree else { return Ok(AccessPath::scan("no index knows what is asked")) };
        if matches!(**tree, Tree::Known(_)) {
            return Ok(AccessPath::scan("the condition is the same for all rows"));
        }
        let costs = Costs {
            rows: self.rows,
            box_rows: self.boxes[1],
            surveyed_bytes: SURVEYED_BYTES,
            survey_bytes: SURVEY_BYTES,
            is_forced: false,
        };
        let mut asking = Asking { known: self, condition, job };
        let operands = self.operands.all();
        let Chosen { best, found, .. } = chosen(&terms, operands, row_bytes(condition), costs, &mut asking)?;
        let Some(best) = best else {
            let names = self.names(tree).join(", ");
            return Ok(AccessPath::scan(format!("{names}: knows nothing of these rows")));
        };
        let indexes = self.names(&best.tree);
        let reason = format!("some {} of {} rows", best.rows.round_ties_even(), self.rows);
        if !best.is_gain {
            let by = indexes.join(", ");
            return Ok(AccessPath::scan(format!("a scan costs less: {reason} by {by}")));
        }
        let rows = self.found(&best, &found, job)?;
        let condition = self.condition(condition, &terms, &best, &rows)?;
        Ok(AccessPath { condition: Some(condition), indexes, reason })
    }

    /// The names of the indexes that a tree asks.
    fn names(&self, tree: &Tree) -> Vec<String> {
        fn collect(known: &IndexAccess, tree: &Tree, names: &mut BTreeSet<String>) {
            match tree {
                Tree::Known(_) => {}
                Tree::Term(operand, _) => {
                    names.extend(known.indexes.get(*operand).map(|index| index.name.clone()));
                }
                Tree::Both { parts, .. } | Tree::Either(parts) => {
                    parts.iter().for_each(|part| collect(known, part, names));
                }
            }
        }
        let mut names = BTreeSet::new();
        collect(self, tree, &mut names);
        names.into_iter().collect()
    }

    /// The rows of what is looked up.
    fn found(&self, best: &Best, known: &HashMap<usize, RowSet>, job: &Job<'_>) -> Result<RowSet> {
        let operands = self.operands.all();
        let mut ask = |tree: &Arc<Tree>, operand: usize, wanted: &Wanted| {
            if let Some(rows) = known.get(&Arc::as_ptr(tree).addr()) {
                return Ok(rows.clone());
            }
            let missing = operands[operand].missing(wanted);
            match self.indexes.get(operand) {
                Some(index) => index.looked_up(wanted, missing, job),
                None => Ok(RowSet::all(self.rows)),
            }
        };
        let rows = looked_up(&best.tree, operands, self.rows, &mut ask)?;
        let all = 0..i64::try_from(self.rows).unwrap_or(i64::MAX);
        Ok(if rows.is_within(&all) { rows } else { rows.clip(&all) })
    }

    /// The condition with the rows in it that indexes gave: of an exact set only the rest is left to be computed.
    fn condition(
        &self,
        condition: &Arc<dyn BoxSource>,
        terms: &Terms,
        best: &Best,
        rows: &RowSet,
    ) -> Result<Arc<dyn BoxSource>> {
        let all = Arc::clone(condition);
        let found = if rows.is_exact() {
            let open = if rows.open().is_empty() { None } else { Some((self.at(&[], rows.open())?, all)) };
            let rest = terms.rest(&best.tree, self.operands.all()).map(Arc::clone);
            let rest = if best.is_whole { Vec::new() } else { rest.collect() };
            FoundRows { known: self.at(&rows.known(), &[])?, rest, open }
        } else {
            FoundRows { known: self.at(rows.rows(), rows.open())?, rest: vec![all], open: None }
        };
        Ok(Arc::new(found.condition()?))
    }

    fn at(&self, rows: &[i64], open: &[Range<i64>]) -> Result<RowCondition> {
        let open: Vec<[i64; 2]> = open.iter().map(|range| [range.start, range.end]).collect();
        RowCondition::new(rows, &open, self.rows, self.boxes[0], self.boxes[1])
    }
}
