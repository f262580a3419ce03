//! AccessPath paths of a condition: what indexes say of its rows, beside the scan of its columns.
//!
//! In: a condition. Out: a condition that holds at the same rows, and is known to be false in most boxes; and why.
//! Invariant: answers are those of a scan.

use std::fmt;
use std::sync::Arc;

use crate::array::BoxSource;
use crate::base::error::Result;
use crate::base::pool::Job;

/// How the rows of a condition are found.
#[derive(Clone)]
pub struct AccessPath {
    /// What is computed in place of the condition; nothing for a scan.
    pub condition: Option<Arc<dyn BoxSource>>,
    /// The indexes that are used, by their names; none for a scan.
    pub indexes: Vec<String>,
    /// Why it is so.
    pub reason: String,
}

impl AccessPath {
    /// That of a scan.
    pub fn scan(reason: impl Into<String>) -> Self {
        Self { condition: None, indexes: Vec::new(), reason: reason.into() }
    }
}

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.indexes.is_empty() {
            return write!(f, "scan ({})", self.reason);
        }
        write!(f, "index {} ({})", self.indexes.join(", "), self.reason)
    }
}

/// Those who choose an access path.
pub trait AccessPaths: Send + Sync {
    /// How the rows of a condition are found best.
    ///
    /// # Errors
    /// What goes wrong with reading.
    fn access(&self, condition: &Arc<dyn BoxSource>, job: &Job<'_>) -> Result<AccessPath>;
}
