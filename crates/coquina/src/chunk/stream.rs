//! Streams: the pieces of a block that are encoded one by one.
//!
//! A stream is a length and data: encoded, or raw where encoding did not pay, or a run of one byte value.
//! Source: `docs/formats/chunk.md`, "A stream".

use coquina_kernels::run_value;

use super::header::{Header, VERSION_BLOSC2};
use crate::base::error::{Error, Result};
use crate::codec::{Decode, Encode};

/// Bytes in front of a stream's data.
pub(super) const LENGTH_BYTES: usize = 4;

/// Whether streams of such a chunk may be runs.
pub(super) fn has_runs(header: &Header) -> bool {
    header.is_extended() && header.version <= VERSION_BLOSC2
}

/// Decodes the stream at the front of `bytes` to exactly fill `out`; returns what follows it.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    out: &mut [u8],
    decoder: &dyn Decode,
    has_runs: bool,
) -> Result<&'a [u8]> {
    let bytes_all = out.len();
    match split(bytes, out, has_runs)? {
        (None, rest) => Ok(rest),
        (Some(stream), rest) => {
            if stream.len() == bytes_all {
                out.copy_from_slice(stream);
            } else {
                decoder.decode(stream, out)?;
            }
            Ok(rest)
        }
    }
}

/// Decodes the first bytes of a stream that decodes to `bytes_all`, to exactly fill `out`; returns what follows the
/// stream, or nothing if the codec can only decode all of it.
pub(super) fn decode_front<'a>(
    bytes: &'a [u8],
    out: &mut [u8],
    bytes_all: usize,
    decoder: &dyn Decode,
    has_runs: bool,
) -> Result<Option<&'a [u8]>> {
    match split(bytes, out, has_runs)? {
        (None, rest) => Ok(Some(rest)),
        (Some(stream), rest) => {
            if stream.len() == bytes_all {
                out.copy_from_slice(&stream[..out.len()]);
            } else if !decoder.decode_front(stream, out)? {
                return Ok(None);
            }
            Ok(Some(rest))
        }
    }
}

/// The data of the stream at the front of `bytes`, and what follows it. A run has none.
pub(super) fn stored(bytes: &[u8], has_runs: bool) -> Result<(Option<&[u8]>, &[u8])> {
    split(bytes, &mut [], has_runs)
}

/// The data of the stream at the front of `bytes`, and what follows it. A run has none, and fills `out`.
fn split<'a>(bytes: &'a [u8], out: &mut [u8], has_runs: bool) -> Result<(Option<&'a [u8]>, &'a [u8])> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(Error::truncated(format!("stream length: {} bytes left", bytes.len())));
    };
    let length = i32::from_le_bytes(*length);
    let Ok(length) = usize::try_from(length) else {
        return decode_run(length, rest, out, has_runs).map(|rest| (None, rest));
    };
    if length == 0 && has_runs {
        out.fill(0);
        return Ok((None, rest));
    }
    let Some((stream, rest)) = rest.split_at_checked(length) else {
        return Err(Error::truncated(format!("stream: {length} bytes announced, {} left", rest.len())));
    };
    if length == 0 {
        return Err(Error::corrupt("stream length: 0"));
    }
    Ok((Some(stream), rest))
}

fn decode_run<'a>(length: i32, rest: &'a [u8], out: &mut [u8], has_runs: bool) -> Result<&'a [u8]> {
    let value = u8::try_from(-i64::from(length)).ok().filter(|_| has_runs);
    let Some(value) = value else {
        return Err(Error::corrupt(format!("stream length: {length}")));
    };
    match rest.split_first() {
        Some((token, rest)) if token & 1 == 1 => {
            out.fill(value);
            Ok(rest)
        }
        Some((token, _)) => Err(Error::corrupt(format!("stream token: {token:#04x} is not a run"))),
        None => Err(Error::truncated("stream token: no byte left")),
    }
}

/// Encodes `stream` to the front of `out`, which has room for it and its length; returns the bytes written.
pub(super) fn encode(stream: &[u8], out: &mut [u8], encoder: &dyn Encode, has_runs: bool) -> Result<usize> {
    let (length, data) = out.split_at_mut(LENGTH_BYTES);
    if has_runs && let Some(value) = run_value(stream) {
        length.copy_from_slice(&(-i32::from(value)).to_le_bytes());
        if value == 0 {
            return Ok(LENGTH_BYTES);
        }
        data[0] = 1;
        return Ok(LENGTH_BYTES + 1);
    }
    // A coded stream must be shorter than the raw one, also so that its length tells them apart.
    let room = stream.len().saturating_sub(1);
    let coded = encoder.encode(stream, &mut data[..room])?.filter(|&bytes| bytes > 0 && bytes < stream.len());
    let bytes = coded.unwrap_or_else(|| {
        data[..stream.len()].copy_from_slice(stream);
        stream.len()
    });
    length.copy_from_slice(&u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes());
    Ok(LENGTH_BYTES + bytes)
}
