//! Chunks of one value: a header, and for a repeated value that value, whatever they decode to.
//!
//! Source: `docs/formats/chunk.md`, "Special values".

use super::header::{FLAGS_EXTENDED, HEADER_BYTES, Header, Special};
use super::params::{CHUNK_BYTES_MAX, Params};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::filter::Pipeline;

impl Special {
    /// The item of `typesize` bytes that is repeated; what is nothing in particular is zeros.
    ///
    /// # Errors
    /// `Corrupt` for NaNs of other sizes than 4 and 8, and for a repeated value, which stands in its chunk.
    pub fn item(self, typesize: usize) -> Result<Vec<u8>> {
        match (self, typesize) {
            (Self::Zeros | Self::Uninit, _) => Ok(vec![0; typesize]),
            (Self::Nans, 4) => Ok(0x7fc0_0000_u32.to_le_bytes().to_vec()),
            (Self::Nans, 8) => Ok(0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec()),
            (Self::Nans | Self::Value, _) => {
                Err(Error::corrupt(format!("special value {self:?} of items of {typesize} bytes")))
            }
        }
    }
}

/// A chunk of `nbytes` bytes that are all `special`. `value` is the repeated value, else empty.
///
/// # Errors
/// `Invalid` if the sizes do not fit each other: NaNs are of 4 or 8 bytes, and all but zeros fill whole items.
pub fn encode_special(special: Special, value: &[u8], nbytes: usize, typesize: usize) -> Result<Vec<u8>> {
    with_params(special, value, nbytes, &Params { typesize, ..Params::default() })
}

/// A chunk of `nbytes` bytes that are `item` over and over, which says that it has blocks of the size in `params`: in
/// an array C-Blosc2 wants that of all others.
///
/// # Errors
/// `Invalid` if the sizes do not fit each other.
pub fn encode_repeated(item: &[u8], nbytes: usize, params: &Params) -> Result<Vec<u8>> {
    let Params { typesize, blocksize, .. } = *params;
    with_params(Special::Value, item, nbytes, &Params { typesize, blocksize, ..Params::default() })
}

fn with_params(special: Special, value: &[u8], nbytes: usize, params: &Params) -> Result<Vec<u8>> {
    if nbytes > CHUNK_BYTES_MAX {
        return Err(Error::limit(format!("{nbytes} bytes: a chunk holds {CHUNK_BYTES_MAX}")));
    }
    params.check()?;
    let code = match special {
        Special::Zeros => 1,
        Special::Nans => 2,
        Special::Value => 3,
        Special::Uninit => 4,
    };
    let header = Header {
        flags: FLAGS_EXTENDED,
        cbytes: HEADER_BYTES + value.len(),
        pipeline: Pipeline::default(),
        codec_id: 0,
        blosc2_flags: code << 4,
        ..params.header(nbytes)
    };
    let mut bytes = [0; HEADER_BYTES];
    header.write(&mut bytes);
    let chunk = [&bytes, value].concat();
    Header::read(&chunk, &Limits::default()).map_err(|e| Error::invalid(e.to_string()))?;
    Ok(chunk)
}
