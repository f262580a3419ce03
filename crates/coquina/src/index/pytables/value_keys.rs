//! Keys of stored values, in the order in which PyTables sorts these.
//!
//! In: values in the machine's byte order. Out: a key for each: NaN behind all numbers; of strings what C compares,
//! which ends at the first NUL.

use crate::array::{BoxSource, gather};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::index::keys::KeyKind;
use crate::index::piece::Piece;

/// The key of values that have none: no number's key is as great.
pub(super) const LAST: u64 = u64::MAX;
/// So many bytes of values are read at once,
const READ_BYTES: usize = 4 << 20;
/// and no more than these by the caller's thread alone.
const INLINE_BYTES: usize = 1 << 18;

/// The keys of values of so many bytes each, in aligned memory; of strings their first bytes, NUL or not.
pub(super) fn keys(kind: KeyKind, values: &[u8], item_bytes: usize) -> Result<Vec<u64>> {
    let count = values.len() / item_bytes.max(1);
    let mut piece = Piece::new(&(0..count as u64))?;
    kind.push(values, item_bytes, None, &mut piece);
    if piece.len() == count {
        return Ok(piece.into_keys());
    }
    let mut keys = vec![LAST; count];
    piece.each(|key, row| {
        if let Some(place) = usize::try_from(row).ok().and_then(|row| keys.get_mut(row)) {
            *place = key;
        }
    });
    Ok(keys)
}

/// The key of a string without what follows a NUL.
pub(super) fn until_nul(key: u64) -> u64 {
    let bytes = key.to_be_bytes();
    match bytes.iter().position(|&byte| byte == 0) {
        Some(end @ 1..) => key & (u64::MAX << (u64::BITS - 8 * u32::try_from(end).unwrap_or(8))),
        Some(_) => 0,
        None => key,
    }
}

/// Calls `see` with the items of a box of a source, some at a time, in order. The box is of the last axis, at a place
/// of the others.
pub(super) fn each_part(
    source: &dyn BoxSource,
    start: &[u64],
    len: u64,
    job: &Job<'_>,
    mut see: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let item_bytes = source.item_bytes().max(1);
    let most = (READ_BYTES / item_bytes).max(1) as u64;
    let Some((&first, outer)) = start.split_last() else { return Ok(()) };
    let mut at = 0;
    while at < len {
        let count = most.min(len - at);
        let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(item_bytes));
        let bytes = bytes.ok_or_else(|| Error::limit(format!("{count} items of {item_bytes} bytes")))?;
        let mut place = outer.to_vec();
        place.push(first + at);
        let mut shape = vec![1; outer.len()];
        shape.push(count);
        with_scratch(bytes, |room| {
            if bytes <= INLINE_BYTES {
                source.fill(&place, &shape, room)?;
            } else {
                gather(source, &place, &shape, room, job)?;
            }
            see(room)
        })?;
        at += count;
    }
    Ok(())
}

/// The keys of a box of stored values, in PyTables' order: strings end at a NUL.
pub(super) fn read_keys(
    source: &dyn BoxSource,
    kind: KeyKind,
    start: &[u64],
    len: u64,
    job: &Job<'_>,
) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    each_part(source, start, len, job, |values| {
        let mut part = keys(kind, values, source.item_bytes())?;
        if kind == KeyKind::Bytes {
            part.iter_mut().for_each(|key| *key = until_nul(*key));
        }
        if found.is_empty() {
            found = part;
        } else {
            found.append(&mut part);
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_its_first_nul() {
        let key = |text: &[u8; 8]| u64::from_be_bytes(*text);
        assert_eq!(until_nul(key(b"abcdefgh")), key(b"abcdefgh"));
        assert_eq!(until_nul(key(b"a\0cdefgh")), key(b"a\0\0\0\0\0\0\0"));
        assert_eq!(until_nul(key(b"abcdefg\0")), key(b"abcdefg\0"));
        assert_eq!(until_nul(key(b"\0bcdefgh")), 0);
        assert_eq!(until_nul(0), 0);
    }
}
