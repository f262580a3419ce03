//! Records of what arrays have lost: what is read is written as the same bytes, else it is an error.

use coquina::lossy::{Bound, Contract, LossyMethod, Reached, Record};
use xxhash_rust::xxh3::xxh3_64;

use crate::mutate::{Random, flip_bit, set_byte, splice};

/// The last entry of a record: its key, a mark, and the sum.
const SUM_BYTES: usize = 13;

/// Records of all bounds.
pub(crate) fn lossy_records() -> Vec<Vec<u8>> {
    let reached = Reached {
        max_error: 0.25,
        relative_error: f64::INFINITY,
        mean_square: 1e-7,
        chunks: [3, 0, 70, 9, 1 << 40],
    };
    let bounds =
        [("max_error", 0.5), ("relative_error", 1e-3), ("psnr", 60.0), ("keep_bits", 12.0), ("ratio", 9.5)];
    let record = |(name, value): (&str, f64)| {
        let contract = Contract::new(Bound::of(name, value)?, Some(LossyMethod::Round), "<f4")?;
        Ok::<_, coquina::Error>(Record { contract, reached }.write())
    };
    bounds.into_iter().filter_map(|bound| record(bound).ok()).collect()
}

/// Mutates a record, and mostly makes the sum right again: else nothing behind it is ever reached.
pub(crate) fn mutate_record(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(3) {
        match random.below(8) {
            0 => splice(&mut bytes, other, random),
            1..=3 => flip_bit(&mut bytes, random),
            _ => set_byte(&mut bytes, random),
        }
    }
    if let Some(end) = bytes.len().checked_sub(SUM_BYTES).filter(|_| random.below(8) > 0) {
        let sum = xxh3_64(&bytes[..end]).to_be_bytes();
        bytes[end + SUM_BYTES - 8..].copy_from_slice(&sum);
    }
    bytes
}

/// Whatever the bytes are, they promise only what they say.
pub(crate) fn lossy_record(bytes: &[u8]) -> bool {
    let Ok(record) = Record::read(bytes, "<f4") else { return false };
    assert!(record.write() == bytes, "another record than the bytes say");
    true
}
