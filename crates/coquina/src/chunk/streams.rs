//! The streams of an encoded chunk in memory, as they are stored.

use super::header::{Header, Kind};
use super::stream;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;

/// A stored stream, and the bytes that it decodes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored<'c> {
    /// `None` for one byte value over and over. As long as what it decodes to where it is not encoded.
    pub(crate) data: Option<&'c [u8]>,
    pub(crate) plain_bytes: usize,
}

/// All streams of a chunk, in its order. A chunk that is stored as it is has one for each block, and one of a special value
/// has none.
///
/// # Errors
/// `Corrupt` or `Truncated` for bytes that are no chunk, `Unsupported` for one of blocks that vary.
pub(crate) fn streams(chunk: &[u8]) -> Result<Vec<Stored<'_>>> {
    let header = Header::read(chunk, &Limits::default())?;
    let place = |number: usize| header.block_range(number).len();
    let cut = |start: usize| {
        chunk.get(start..).ok_or_else(|| Error::truncated(format!("a stream at {start}, of {}", chunk.len())))
    };
    let mut found = Vec::new();
    match header.kind()? {
        Kind::Special(_) => {}
        Kind::VariableBlocks => return Err(Error::unsupported("blocks of various sizes")),
        Kind::Memcpyed => {
            for number in 0..header.nblocks() {
                let range = header.block_range(number);
                let data = cut(header.len() + range.start)?.get(..range.len());
                found.push(Stored { data, plain_bytes: range.len() });
            }
        }
        Kind::Blocks => {
            let starts = cut(header.len())?.get(..4 * header.nblocks());
            let starts = starts.ok_or_else(|| Error::truncated("the starts of blocks"))?;
            for (number, start) in starts.chunks_exact(4).enumerate() {
                let start = u32::from_le_bytes([start[0], start[1], start[2], start[3]]) as usize;
                let (bytes, mut rest) = (place(number), cut(start)?);
                let count = header.nstreams(bytes);
                for _ in 0..count {
                    let plain_bytes = bytes / count;
                    let (data, left) = stream::stored(rest, stream::has_runs(&header))?;
                    found.push(Stored { data, plain_bytes });
                    rest = left;
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Job;
    use crate::base::testing::random;
    use crate::chunk::{Params, encode};

    #[test]
    fn streams_add_up_to_the_chunk() {
        let mut next = random(3);
        let mut plain: Vec<u8> = Vec::new();
        for n in 0..50_000_u32 {
            plain.extend((n / 7 + u32::try_from(next(200)).unwrap()).to_le_bytes());
        }
        let params = Params { typesize: 4, blocksize: Some(1 << 14), ..Params::default() };
        let chunk = encode(&plain, &params, &Job::inline()).unwrap();
        let found = streams(&chunk).unwrap();
        assert_eq!(found.iter().map(|stream| stream.plain_bytes).sum::<usize>(), plain.len());
        assert!(found.iter().any(|stream| stream.data.is_none()), "the highest bytes are all 0");
        let stored: usize = found.iter().map(|stream| 4 + stream.data.map_or(0, <[u8]>::len)).sum();
        let starts = 4 * plain.len().div_ceil(1 << 14);
        assert_eq!(stored + starts + super::super::HEADER_BYTES, chunk.len());
        for end in 0..chunk.len().min(2000) {
            assert!(streams(&chunk[..end]).is_err(), "{end}");
        }
        let raw = encode(&plain, &Params { level: 0, ..params }, &Job::inline()).unwrap();
        let found = streams(&raw).unwrap();
        assert!(found.iter().all(|stream| stream.data.is_some_and(|data| data.len() == stream.plain_bytes)));
    }
}
