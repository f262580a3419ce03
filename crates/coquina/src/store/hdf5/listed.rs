//! Which chunks of a dataset are stored, told without a call of libhdf5 for each.

use std::sync::Arc;

use super::table::Table;
use super::view::View;
use crate::base::error::Result;
use crate::store::{Chunks, Sizes, Stored};

/// Which chunks are stored, and which are not.
pub(super) struct Listed {
    pub(super) view: Arc<View>,
    pub(super) table: Arc<Table>,
}

impl Chunks for Listed {
    fn nchunks(&self) -> u64 {
        self.view.places.nchunks()
    }

    fn chunk(&self, number: u64) -> Result<Stored> {
        Ok(match self.table.row(number) {
            Some(row) => Stored::Other { id: row.address },
            None => Stored::Item(Arc::clone(&self.view.shared.fill)),
        })
    }

    fn alike_until(&self, number: u64, end: u64) -> u64 {
        self.table.alike_until(number, end)
    }

    fn fill(&self) -> Option<&[u8]> {
        Some(&self.view.shared.fill)
    }

    fn sizes(&self) -> Sizes {
        Sizes::NOTHING
    }
}
