//! Which chunks of a cache of another array are there: python-blosc2's proxies fetch them one by one.
//!
//! In: the metadata of a frame that has the metalayer `proxy-source`. Out: for each chunk whether it was fetched, and
//! the name of what it is to be fetched from. Nothing is fetched.
//! Source: `docs/formats/blosc2-stores.md`, "Caches of other arrays".
//! Invariant: a chunk is read only if the metadata say that all of it was fetched; a special chunk tells nothing, since
//! a chunk that was never fetched looks like one of zeros.

use crate::base::error::{Error, Result};
use crate::frame::Snapshot;

/// The metalayer that makes a frame a cache.
const SOURCE: &str = "proxy-source";
/// A bit for each chunk, the lowest of a byte first.
const CHUNKS: &str = "proxy-fetched";
/// A bit for each block, where single blocks are fetched; and how many blocks a chunk has then.
const BLOCKS: &str = "proxy-fetched-blocks";
const BLOCKS_OF_CHUNK: &str = "proxy-fetched-bpc";
/// Bytes of a name that are shown.
const NAME_MAX: usize = 200;

/// Which chunks of a cache are there.
pub(super) struct Presence {
    /// A bit for each block; `None` in old caches: then those that are stored are there.
    bits: Option<Vec<u8>>,
    blocks_of_chunk: u64,
    source: String,
}

impl Presence {
    /// What the metadata of a frame say; `None` for a frame that is no cache.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        let source = name_of(snapshot.metalayer(SOURCE)?);
        // What cannot be read says of no chunk that it is there.
        let layer = |name: &str| snapshot.vlmetalayer(name).unwrap_or(Some(Vec::new()));
        let nchunks = snapshot.nchunks();
        let of_blocks = layer(BLOCKS).zip(layer(BLOCKS_OF_CHUNK));
        if let Some((bits, count)) = of_blocks {
            let blocks_of_chunk = integer(&count).unwrap_or(0);
            let bits = bytes_of(&bits).filter(|bits| holds(bits, nchunks, blocks_of_chunk));
            return Some(Self { bits: Some(bits.unwrap_or_default().to_vec()), blocks_of_chunk, source });
        }
        let bits = layer(CHUNKS)
            .map(|bits| bytes_of(&bits).filter(|bits| holds(bits, nchunks, 1)).unwrap_or_default().to_vec());
        Some(Self { bits, blocks_of_chunk: 1, source })
    }

    /// Checks that chunk `number` is there. `is_stored`: whether it is more than a special value.
    pub(super) fn check(&self, number: u64, is_stored: bool) -> Result<()> {
        let is_there = self.bits.as_ref().map_or(is_stored, |bits| {
            let start = number.checked_mul(self.blocks_of_chunk);
            let blocks = start.and_then(|start| Some(start..start.checked_add(self.blocks_of_chunk)?));
            blocks.is_some_and(|mut blocks| !blocks.is_empty() && blocks.all(|block| is_set(bits, block)))
        });
        if is_there {
            return Ok(());
        }
        let source = &self.source;
        Err(Error::unsupported(format!(
            "chunk {number} was not fetched into this cache; its source, {source}, is not followed"
        )))
    }
}

fn is_set(bits: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|at| bits.get(at));
    byte.is_some_and(|byte| byte >> (number % 8) & 1 == 1)
}

/// Whether a map has a bit for each block.
fn holds(bits: &[u8], nchunks: u64, blocks_of_chunk: u64) -> bool {
    let blocks = nchunks.checked_mul(blocks_of_chunk);
    blocks.is_some_and(|blocks| bits.len() as u64 == blocks.div_ceil(8))
}

/// The bytes that a value of msgpack is, if it is bytes.
fn bytes_of(value: &[u8]) -> Option<&[u8]> {
    let (length, content) = match value {
        [0xc4, length, content @ ..] => (usize::from(*length), content),
        [0xc5, a, b, content @ ..] => (usize::from(u16::from_be_bytes([*a, *b])), content),
        [0xc6, a, b, c, d, content @ ..] => {
            (usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok()?, content)
        }
        _ => return None,
    };
    content.get(..length)
}

/// The count that a value of msgpack is, if it is one.
fn integer(value: &[u8]) -> Option<u64> {
    match *value {
        [small @ 0..=0x7f] => Some(small.into()),
        [0xcc, a] => Some(a.into()),
        [0xcd, a, b] => Some(u16::from_be_bytes([a, b]).into()),
        [0xce, a, b, c, d] => Some(u32::from_be_bytes([a, b, c, d]).into()),
        _ => None,
    }
}

/// The name of the source that a value of msgpack gives: the first text behind one of these names.
fn name_of(value: &[u8]) -> String {
    let found = ["local_abspath", "urlpath"].iter().find_map(|key| {
        let at = value.windows(key.len()).position(|part| part == key.as_bytes())? + key.len();
        // An address on a server is a tuple, whose first part says so.
        const TUPLE: &[u8] = b"\xa9__tuple__";
        let rest = &value[at..];
        let of_tuple = rest.split_first().and_then(|(_, parts)| parts.strip_prefix(TUPLE));
        text_of(of_tuple.unwrap_or(rest))
    });
    found.map_or_else(|| "an object of the program that made it".into(), |name| format!("{name:?}"))
}

/// The text that a value of msgpack begins with, if it is one; the front of a long one.
fn text_of(value: &[u8]) -> Option<String> {
    let (length, content) = match value {
        [mark @ 0xa0..=0xbf, content @ ..] => (usize::from(mark & 0x1f), content),
        [0xd9, length, content @ ..] => (usize::from(*length), content),
        [0xda, a, b, content @ ..] => (usize::from(u16::from_be_bytes([*a, *b])), content),
        _ => return None,
    };
    Some(String::from_utf8_lossy(content.get(..length)?.get(..length.min(NAME_MAX))?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_chunks(bits: Option<&[u8]>) -> Presence {
        Presence { bits: bits.map(<[u8]>::to_vec), blocks_of_chunk: 1, source: "\"a\"".into() }
    }

    #[test]
    fn a_chunk_is_there_if_its_bit_is_set() {
        let presence = of_chunks(Some(&[0b101, 1]));
        let there: Vec<u64> = (0..17).filter(|&number| presence.check(number, true).is_ok()).collect();
        assert_eq!(there, [0, 2, 8]);
        let error = presence.check(1, true).unwrap_err().to_string();
        assert!(error.contains("chunk 1 was not fetched") && error.contains("\"a\""), "{error}");
    }

    #[test]
    fn a_chunk_is_there_if_all_of_its_blocks_are() {
        let presence = Presence { blocks_of_chunk: 3, ..of_chunks(Some(&[0b0011_1011])) };
        assert!(presence.check(0, true).is_err() && presence.check(1, true).is_ok());
        let none = Presence { blocks_of_chunk: 0, ..presence };
        assert!(none.check(0, true).is_err());
    }

    #[test]
    fn without_a_map_chunks_that_are_stored_are_there() {
        let presence = of_chunks(None);
        assert!(presence.check(5, true).is_ok() && presence.check(5, false).is_err());
    }

    #[test]
    fn values_of_any_bytes_are_read_or_are_nothing() {
        assert_eq!(bytes_of(b"\xc4\x02ab"), Some(&b"ab"[..]));
        assert_eq!(bytes_of(b"\xc5\x00\x01a"), Some(&b"a"[..]));
        assert_eq!(name_of(b"\x81\xadlocal_abspath\xa4a.b2"), "\"a.b2\"");
        assert_eq!(name_of(b"\x81\xa7urlpath\x94\xa9__tuple__\xa3a/b\xc0\xc0"), "\"a/b\"");
        assert_eq!(
            name_of(b"\x82\xadlocal_abspath\xc0\xa7urlpath\xc0"),
            "an object of the program that made it"
        );
        for cut in 0..6 {
            for value in [&b"\xc6\x00\x00\x00\x02ab"[..], b"\xda\x00\x03abc", b"\xce\x00\x00\x01\x02"] {
                let part = &value[..cut.min(value.len() - 1)];
                assert_eq!((bytes_of(part), integer(part), text_of(part)), (None, integer(part), None));
            }
        }
        assert_eq!(
            (integer(b"\x07"), integer(b"\xcd\x01\x00"), integer(b"\xc0")),
            (Some(7), Some(256), None)
        );
    }
}
