//! Chunks without loss, all encoded alike.

use super::encode_policy::EncodePolicy;
use super::new_chunk::NewChunk;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::store::EncodedChunk;

/// Encodes every chunk by the parameters of its array.
pub(crate) struct Exact;

impl EncodePolicy for Exact {
    fn encode(&self, chunk: &NewChunk<'_>, _ticket: &Ticket<'_>, job: &Job<'_>) -> Result<EncodedChunk> {
        chunk.encode_by(None, job)
    }
}
