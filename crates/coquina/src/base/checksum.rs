//! XXH3-64 of bytes that are at hand as a whole, as fast as this CPU can.

use coquina_kernels::best_level;
use coquina_kernels::checksum::{SHORT_BYTES_MAX, xxh3_of_long};
use xxhash_rust::xxh3::xxh3_64;

/// The sum of bytes.
pub(crate) fn xxh3(bytes: &[u8]) -> u64 {
    if bytes.len() > SHORT_BYTES_MAX { xxh3_of_long(best_level(), bytes) } else { xxh3_64(bytes) }
}
