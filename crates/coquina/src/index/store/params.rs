//! How rows are grouped in an index.
//!
//! Source: `docs/formats/indexes.md`, "Spans", "Zones" and "Metadata".

use crate::index::spans::SPAN_ROWS;
use crate::index::zones::ZONE_ROWS;

/// How rows are grouped in an index. Only the defaults are the format; others are for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexParams {
    /// Rows of a span, which is owned as a whole.
    pub span_rows: u64,
    /// Rows of a zone, whose bounds are known.
    pub zone_rows: u64,
    /// Rows that share a number in an index of kind `light`.
    pub bucket_rows: u64,
    /// Entries of a block.
    pub block_entries: u64,
    /// Spans of a run of kind `partial`.
    pub partial_spans: u64,
    /// As many runs of one tier are sorted anew as one; the next tier's are so many times as long.
    pub tier_runs: u64,
}

impl Default for IndexParams {
    fn default() -> Self {
        Self {
            span_rows: SPAN_ROWS,
            zone_rows: ZONE_ROWS,
            bucket_rows: 1 << 10,
            block_entries: 1 << 12,
            partial_spans: 16,
            tier_runs: 8,
        }
    }
}
