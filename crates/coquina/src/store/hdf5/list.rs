//! The list of stored chunks where libhdf5 fetches them, kept as long as the dataset does not change.
//!
//! In: the version of the dataset, as [`super::Library::version`] told it before and after the library listed chunks.
//! Out: the table of these chunks; those that are not in it need not be asked for.
//! Invariant: a list is used at the version it was made at only.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::table::Table;

/// To ask for one chunk that is not stored takes as long as to list so many that are, about.
const LISTED_PER_LOOK: u64 = 64;

/// The list of one version.
#[derive(Default)]
pub(super) struct List {
    kept: Mutex<Option<(u64, Arc<Table>)>>,
    /// At how many chunks somebody looked that no list was made for.
    looked: AtomicU64,
}

impl List {
    /// Notes that somebody looks at so many chunks that may not be stored, without a list.
    pub(super) fn look(&self, chunks: u64) {
        self.looked.fetch_add(chunks, Ordering::Relaxed);
    }

    /// The list of this version, for a look at so many chunks more; made if all looks so far are worth it.
    pub(super) fn get(
        &self,
        version: u64,
        chunks: u64,
        nchunks: u64,
        make: impl FnOnce() -> Option<Table>,
    ) -> Option<Arc<Table>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = kept().as_ref().filter(|(of, _)| *of == version) {
            return Some(Arc::clone(table));
        }
        self.look(chunks);
        if self.looked.load(Ordering::Relaxed).saturating_mul(LISTED_PER_LOOK) < nchunks {
            return None;
        }
        self.looked.store(0, Ordering::Relaxed);
        // Not under the lock: the library waits for its own.
        let table = Arc::new(make()?);
        *kept() = Some((version, Arc::clone(&table)));
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_made_once_it_is_worth_it_and_used_at_its_version_only() {
        let list = List::default();
        let mut made = 0;
        let mut get = |version, chunks| {
            let make = || {
                made += 1;
                Some(Table::new(Vec::new(), 1600, None))
            };
            list.get(version, chunks, 1600, make).is_some()
        };
        assert_eq!([get(1, 15), get(1, 15), get(1, 1), get(1, 0)], [false, true, true, true]);
        assert_eq!(
            [get(2, 0), get(2, 24), get(2, 1), get(1, 24), get(1, 1)],
            [false, false, true, false, true]
        );
        assert_eq!(made, 3);
        assert!(list.get(9, 100, 1600, || None).is_none());
    }
}
