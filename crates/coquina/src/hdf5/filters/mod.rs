//! The filters of HDF5 datasets: turn the bytes of a chunk into others, and back.
//!
//! A [`Filter`] is a row of [`FILTERS`]. In: bytes, and the parameters that the dataset stores for the filter
//! (`cd_values`). Out: bytes. What a filter needs to know stands in these or in the stored bytes, never elsewhere.
//! Source: `docs/formats/hdf5-filters.md`, `docs/formats/hdf5-legacy-filters.md`.

mod bits;
mod bitshuffle;
mod blosc;
mod blosc2;
mod bzip2;
mod deflate;
mod fletcher32;
mod htj2k;
mod lz4;
mod lzf;
mod nbit;
mod quantisers;
mod scaleoffset;
mod shuffle;
mod szip;
mod zstd;

use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::codec;

/// Every filter there is. Adding one is a file in this folder and a row here.
pub(crate) static FILTERS: &[&dyn Filter] = &[
    &deflate::Deflate,
    &shuffle::Shuffle,
    &fletcher32::Fletcher32,
    &szip::Szip,
    &nbit::Nbit,
    &scaleoffset::ScaleOffset,
    &bzip2::Bzip2,
    &lzf::Lzf,
    &blosc::Blosc,
    &lz4::Lz4,
    &bitshuffle::Bitshuffle,
    &zstd::Zstd,
    &blosc2::Blosc2,
    &quantisers::BITGROOM,
    &quantisers::GRANULAR,
    &quantisers::BITROUND,
    &htj2k::Htj2k,
];

/// The ids of filters whose chunks can be read in part.
pub(super) const BLOSC: u16 = 32001;
pub(super) const BLOSC2: u16 = 32026;

/// A filter of HDF5.
pub(crate) trait Filter: Sync {
    /// The registered id.
    fn id(&self) -> u16;

    /// The name that users write, such as `gzip`.
    fn name(&self) -> &'static str;

    /// The codec that is its coder, if that comes from outside of the engine.
    fn needs_codec(&self) -> Option<u8> {
        None
    }

    /// How many bytes come out, where the stored bytes or the parameters tell. The caller holds it against a bound.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` if what should tell is damaged.
    fn decoded_bytes(&self, stored: &[u8], values: &[u32]) -> Result<Option<usize>> {
        let _ = (stored, values);
        Ok(None)
    }

    /// Undoes the filter, to exactly fill `out`.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` for damaged bytes, or another number of them.
    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()>;

    /// Undoes the filter into the front of `room`, where nothing tells how many bytes come out; returns the number.
    ///
    /// # Errors
    /// As [`Filter::decode`], and `Unsupported` where the filter has to be told.
    fn decode_within(&self, stored: &[u8], values: &[u32], room: &mut [u8]) -> Result<usize> {
        let _ = (stored, values, room);
        Err(Error::unsupported("nothing says how many bytes come out of it at this place of a pipeline"))
    }

    /// What is left of the stored bytes, where undoing the filter only takes away their end.
    ///
    /// # Errors
    /// As [`Filter::decode`].
    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        let _ = stored;
        Ok(None)
    }

    /// How many bytes `plain` bytes become, where that does not depend on them.
    fn encoded_bytes(&self, plain: usize, values: &[u32]) -> Option<usize> {
        let _ = (plain, values);
        None
    }

    /// Whether undoing it is to do nothing.
    fn is_identity(&self) -> bool {
        false
    }

    /// Whether chunks can be written with it.
    fn can_encode(&self) -> bool {
        false
    }

    /// Whether chunks of `plain` bytes can be written with these parameters.
    fn takes(&self, plain: usize, values: &[u32]) -> bool {
        let _ = (plain, values);
        self.can_encode()
    }

    /// Appends the filtered bytes to `out`.
    ///
    /// # Errors
    /// `Unsupported` if it cannot be written, `Invalid` for parameters that it cannot have.
    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let _ = (plain, values, out);
        Err(Error::unsupported("it can be read, not written"))
    }

    /// The same with the threads of a job, where one chunk has work for several.
    ///
    /// # Errors
    /// As [`Filter::encode`], and `Cancelled`.
    fn encode_by(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>, job: &Job<'_>) -> Result<()> {
        let _ = job;
        self.encode(plain, values, out)
    }
}

/// A filter, as users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterInfo {
    /// The registered id.
    pub id: u16,
    /// The name.
    pub name: &'static str,
    /// Whether chunks can be written with it; all can be read.
    pub can_encode: bool,
    /// The codec from outside that both need.
    pub needs_codec: Option<u8>,
}

/// All filters.
pub fn known_filters() -> impl Iterator<Item = FilterInfo> {
    FILTERS.iter().map(|filter| FilterInfo {
        id: filter.id(),
        name: filter.name(),
        can_encode: filter.can_encode(),
        needs_codec: filter.needs_codec(),
    })
}

/// The name of a filter, if it is known.
pub fn filter_name(id: u16) -> Option<&'static str> {
    row(id).map(|filter| filter.name())
}

/// Whether a filter is known and what it needs is there; that is looked for where it has to be.
pub fn is_filter_there(id: u16) -> bool {
    by_id(id).is_some()
}

/// How many bytes come out of a filter, where the stored bytes or its parameters tell. Not to be trusted without a
/// bound.
///
/// # Errors
/// `Unsupported` for a filter that is not known, `Corrupt` or `Truncated` if what should tell is damaged.
pub fn decoded_bytes(id: u16, stored: &[u8], values: &[u32]) -> Result<Option<usize>> {
    let filter = by_id(id).ok_or_else(|| Error::unsupported(format!("filter {id} is unknown")))?;
    filter.decoded_bytes(stored, values).map_err(|e| e.at(format!("filter {}", filter.name())))
}

/// The filter of that id, if what it needs is there.
pub(super) fn by_id(id: u16) -> Option<&'static dyn Filter> {
    row(id).filter(|filter| filter.needs_codec().is_none_or(|codec| codec::by_id(codec).is_ok()))
}

fn row(id: u16) -> Option<&'static dyn Filter> {
    FILTERS.iter().copied().find(|filter| filter.id() == id)
}

/// The parameter `number`, 0 where there are fewer.
fn value(values: &[u32], number: usize) -> usize {
    values.get(number).map_or(0, |&value| value as usize)
}

/// Makes room for `bytes` bytes at the end of `out`, lets `fill` write to its front, and keeps what that wrote.
fn append(out: &mut Vec<u8>, bytes: usize, fill: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<()> {
    let before = out.len();
    if before == 0 && out.capacity() < bytes {
        // Fresh zeros: their memory is touched no further than something is written.
        *out = vec![0; bytes];
    } else {
        out.resize(before + bytes, 0);
    }
    let written = fill(out.get_mut(before..).unwrap_or_default());
    out.truncate(before + written.as_ref().copied().unwrap_or(0));
    written.map(drop)
}

/// Whether as many bytes came out as were wanted.
fn check(found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::corrupt(format!("{found} bytes in place of {wanted}")))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
