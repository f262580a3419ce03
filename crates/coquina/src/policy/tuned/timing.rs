//! How long a chunk takes to be encoded and decoded here.

use std::time::Instant;

use super::ways::Times;
use crate::base::error::Result;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{self, Chunk, Params};

/// One run is enough where that takes longer than so many nanoseconds a byte.
const SLOW_NS: f64 = 60.0;

/// The chunk of some bytes, and the shortest times of some runs on this thread, divided by `bytes`.
pub(super) fn timed(items: &[u8], params: &Params, runs: usize, bytes: f64) -> Result<(Vec<u8>, Times)> {
    let job = Job::inline();
    let nanoseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / bytes;
    let mut best = Times { write: f64::INFINITY, read: f64::INFINITY };
    let mut room = vec![0; items.len()];
    let mut encoded = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        encoded = chunk::encode(items, params, &job)?;
        best.write = best.write.min(nanoseconds(start));
        let start = Instant::now();
        Chunk::parse(&encoded, &Limits::default())?.decode_into(&mut room, &job)?;
        best.read = best.read.min(nanoseconds(start));
        if best.write > SLOW_NS {
            break;
        }
    }
    Ok((encoded, best))
}
