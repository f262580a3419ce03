//! What decides how chunks are encoded.

use super::new_chunk::NewChunk;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::store::EncodedChunk;

/// Decides how the chunks of a write are encoded, and encodes them.
pub(crate) trait EncodePolicy: Sync {
    /// Encodes a chunk. What depends on the chunks before is decided in its ticket, so that bytes do not depend on threads.
    ///
    /// # Errors
    /// What codecs, filters and the store say; `Cancelled`.
    fn encode(&self, chunk: &NewChunk<'_>, ticket: &Ticket<'_>, job: &Job<'_>) -> Result<EncodedChunk>;

    /// Whether an item is stored as it is given where it is the only one of its chunk and costs nothing.
    fn keeps_repeated_items(&self) -> bool {
        true
    }
}
