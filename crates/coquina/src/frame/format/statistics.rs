//! What is known of the items of a stored chunk, kept beside its sum: an entry of the layer `coquina`.
//!
//! A frame does not know what items are, and keeps the bytes as they are given. They belong to a chunk as it stands
//! in its array: whoever changes shape or places must say what becomes of them, else they are dropped.
//! Source: `docs/formats/frame.md`, "Statistics".

use crate::base::error::{Error, Result};

/// The most bytes of an item that there are statistics of.
const ITEM_BYTES_MAX: usize = 8;
const KNOWN: u8 = 1;
const EXACT: u8 = 2;
const HAS_NAN: u8 = 4;

/// What is known of the items of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// The least number, as stored, with zeros behind it.
    pub min: [u8; ITEM_BYTES_MAX],
    /// The greatest number.
    pub max: [u8; ITEM_BYTES_MAX],
    /// Whether these are items, and not only limits.
    pub is_exact: bool,
    /// Whether there is a NaN; if the rest is not exact, whether there may be one.
    pub has_nan: bool,
}

/// Bytes of an entry for items of `typesize` bytes; `None` if there are no statistics of such.
pub(crate) fn entry_bytes(typesize: usize) -> Option<usize> {
    matches!(typesize, 1 | 2 | 4 | 8).then_some(1 + 2 * typesize)
}

/// Appends an entry.
pub(crate) fn write(statistics: Option<&Statistics>, typesize: usize, out: &mut Vec<u8>) {
    let Some(bytes) = entry_bytes(typesize) else { return };
    let Some(Statistics { min, max, is_exact, has_nan }) = statistics else {
        out.resize(out.len() + bytes, 0);
        return;
    };
    let flag = |is_set: &bool, flag| if *is_set { flag } else { 0 };
    out.push(KNOWN | flag(is_exact, EXACT) | flag(has_nan, HAS_NAN));
    for item in [min, max] {
        out.extend_from_slice(item.get(..typesize).unwrap_or(item));
    }
}

/// Reads an entry, which has the right length.
pub(crate) fn read(entry: &[u8], typesize: usize) -> Result<Option<Statistics>> {
    let Some((&flags, items)) = entry.split_first() else { return Ok(None) };
    let is_known = flags & KNOWN != 0;
    if flags & !(KNOWN | EXACT | HAS_NAN) != 0 || !is_known && entry.iter().any(|&byte| byte != 0) {
        return Err(Error::corrupt(format!("statistics: flags {flags:#04x}")));
    }
    let item = |at: usize| {
        let mut bytes = [0; ITEM_BYTES_MAX];
        if let (Some(out), Some(item)) = (bytes.get_mut(..typesize), items.get(at..at + typesize)) {
            out.copy_from_slice(item);
        }
        bytes
    };
    let (is_exact, has_nan) = (flags & EXACT != 0, flags & HAS_NAN != 0);
    Ok(is_known.then(|| Statistics { min: item(0), max: item(typesize), is_exact, has_nan }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_written_and_unknown_flags_are_refused() {
        for typesize in [1, 2, 4, 8] {
            let item = |byte: u8| {
                let mut item = [0; 8];
                item[..typesize].fill(byte);
                item
            };
            let known = |is_exact, has_nan| Statistics { min: item(7), max: item(9), is_exact, has_nan };
            let all = [None, Some(known(true, false)), Some(known(false, true)), Some(known(true, true))];
            let mut bytes = Vec::new();
            all.iter().for_each(|statistics| write(statistics.as_ref(), typesize, &mut bytes));
            let entries = bytes.chunks_exact(entry_bytes(typesize).unwrap());
            let again: Vec<_> = entries.map(|entry| read(entry, typesize).unwrap()).collect();
            assert_eq!(again, all);
            let mut entry = vec![0; 1 + 2 * typesize];
            for flags in 0..=u8::MAX {
                entry[0] = flags;
                assert_eq!(read(&entry, typesize).is_ok(), flags == 0 || flags < 8 && flags % 2 == 1);
            }
            (entry[0], entry[1]) = (0, 1);
            assert!(read(&entry, typesize).is_err());
        }
        assert_eq!((entry_bytes(3), entry_bytes(16)), (None, None));
    }
}
