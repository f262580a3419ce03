//! How a condition on a table is answered by its indexes.
//!
//! In: what indexes know at the moment, and the columns that they are of. Out: [`AccessPath`].

use std::sync::Arc;

use crate::array::BoxSource;
use crate::base::error::{ErrorKind, Result};
use crate::base::pool::Job;
use crate::index::choice::{ChoiceParams, IndexChooser, IndexTerm, IndexedRows, LookupIndex};
use crate::index::store::IndexKind;
use crate::index::terms::Few;
use crate::index::{Asked, Current, Looked, RowSet, ZONE_ROWS};
use crate::query::{AccessPath, AccessPaths};

/// What damage of an index raises.
const DAMAGE: [ErrorKind; 4] = [ErrorKind::Corrupt, ErrorKind::Truncated, ErrorKind::Limit, ErrorKind::Io];

/// An index that can be asked.
pub(super) struct KnownIndex {
    pub(super) name: String,
    pub(super) kind: IndexKind,
    pub(super) bucket_rows: u64,
    pub(super) current: Current,
}

impl LookupIndex for KnownIndex {
    fn name(&self) -> Result<String> {
        Ok(self.name.clone())
    }

    fn is_usable(&self) -> Result<bool> {
        Ok(true)
    }

    fn few(&self, term: &IndexTerm<'_>, rows_max: u64, job: &Job<'_>) -> Result<Option<Few>> {
        let rows = self.current.estimate(&term.wanted.maybe, term.missing != Some(false));
        let is_sure = matches!(self.kind, IndexKind::Full | IndexKind::Partial);
        let found = (rows <= rows_max && is_sure).then(|| self.lookup(term, job)).transpose()?;
        let unit_rows = if self.kind == IndexKind::Zones { ZONE_ROWS } else { self.bucket_rows };
        Ok(Some(Few { rows, open_rows: self.current.open_rows(), found, unit_rows, is_sure }))
    }

    fn lookup(&self, term: &IndexTerm<'_>, job: &Job<'_>) -> Result<RowSet> {
        let asked = Asked { keys: &term.wanted.maybe, missing: term.missing != Some(false), by_key: true };
        let Looked { sure, unsure } = self.current.lookup(&asked, job)?;
        if unsure.is_empty() {
            return Ok(sure);
        }
        Ok(sure.or(&RowSet::new(unsure, &[], false)?))
    }

    fn count(&self, term: &IndexTerm<'_>, job: &Job<'_>) -> Result<Option<u64>> {
        let asked = Asked { keys: &term.wanted.sure, missing: term.missing == Some(true), by_key: true };
        self.current.count(&asked, job)
    }
}

/// The indexes of a table.
pub(super) struct IndexAccess {
    pub(super) chooser: IndexChooser,
    pub(super) table: IndexedRows,
}

impl AccessPaths for IndexAccess {
    fn access(&self, condition: &Arc<dyn BoxSource>, job: &Job<'_>) -> Result<AccessPath> {
        let found = || {
            let choice = self.chooser.choose(condition, self.table, ChoiceParams::default(), job)?;
            choice.path(condition, self.table, job)
        };
        match found() {
            // What an index has is not what it should be: the values themselves tell.
            Err(error) if DAMAGE.contains(&error.kind()) => Ok(AccessPath::scan(format!("damaged: {error}"))),
            found => found,
        }
    }
}
