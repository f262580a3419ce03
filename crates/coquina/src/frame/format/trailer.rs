//! The trailer of a frame: the variable-length metalayers, its own length, the fingerprint.
//!
//! Source: `docs/formats/frame.md`, "Trailer".

use super::fields::Fields;
use super::fingerprint::{self, FINGERPRINT_BYTES, Fingerprint};
use super::metalayers::{self, Layer};
use crate::base::error::{Error, Result};

/// Bytes from the marker of the trailer's length to the end.
pub(crate) const END_BYTES: usize = 23;
/// Bytes of the shortest trailer.
const TRAILER_BYTES_MIN: usize = 35;
/// Where the metalayers begin.
const LAYERS_AT: usize = 2;
/// The newest version; files of the beta have 0.
const VERSION: u8 = 1;

/// A checked trailer.
#[derive(Clone, Debug)]
pub(crate) struct Trailer {
    bytes: Vec<u8>,
    layers: Vec<Layer>,
}

/// How long the trailer is that ends with these bytes.
pub(crate) fn length(end: &[u8; END_BYTES]) -> Result<u64> {
    let mut r = Fields::new(end, 0);
    r.marker(0xce, "trailer_len")?;
    let length = u32::from_be_bytes(r.array("trailer_len")?);
    r.marker(0xd8, "fingerprint")?;
    if (length as usize) < TRAILER_BYTES_MIN {
        return Err(Error::corrupt(format!("trailer_len: {length}, takes {TRAILER_BYTES_MIN} and more")));
    }
    Ok(length.into())
}

impl Trailer {
    /// Reads and checks a trailer, of which `bytes` are exactly the bytes.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self> {
        Self::parse(bytes).map_err(|e| e.at("frame trailer"))
    }

    fn parse(bytes: Vec<u8>) -> Result<Self> {
        let (front, end) = bytes
            .split_last_chunk::<END_BYTES>()
            .ok_or_else(|| Error::truncated(format!("{} bytes are no trailer", bytes.len())))?;
        let announced = length(end)?;
        if announced != bytes.len() as u64 {
            return Err(Error::corrupt(format!("trailer_len: {announced} of {} bytes", bytes.len())));
        }
        let mut r = Fields::new(front, 0);
        r.marker(0x94, "trailer")?;
        let version = r.u8("version")?;
        if version > VERSION {
            return Err(Error::unsupported(format!("version {version} of trailers: takes 0..={VERSION}")));
        }
        let layers = metalayers::read(front, LAYERS_AT, usize::from(u16::MAX))?;
        Ok(Self { bytes, layers })
    }

    /// The fingerprint, if there is one.
    pub(crate) fn fingerprint(&self) -> Result<Option<Fingerprint>> {
        let field = self.bytes.last_chunk().unwrap_or(&[0; FINGERPRINT_BYTES]);
        fingerprint::read(field).map_err(|e| e.at("frame trailer"))
    }

    /// What the fingerprint is about: all before it.
    pub(crate) fn body(&self) -> &[u8] {
        let end = self.bytes.len().saturating_sub(FINGERPRINT_BYTES);
        self.bytes.get(..end).unwrap_or_default()
    }

    /// Names and contents of the metalayers, in order.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.layers
            .iter()
            .map(|layer| (layer.name.as_str(), self.bytes.get(layer.content.clone()).unwrap_or_default()))
    }
}

/// A trailer of these metalayers, up to the fingerprint, which is still to be appended.
pub(crate) fn body<'l>(layers: impl Iterator<Item = (&'l str, &'l [u8])> + Clone) -> Result<Vec<u8>> {
    let mut bytes = vec![0x94, VERSION];
    metalayers::write(&mut bytes, layers, 1)?;
    let length = bytes.len() + END_BYTES;
    let length = i32::try_from(length).map_err(|_| Error::limit(format!("a trailer of {length} bytes")))?;
    bytes.push(0xce);
    bytes.extend(length.to_be_bytes());
    bytes.push(0xd8);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_as_written_and_cut_ones_are_refused() {
        for layers in [&[][..], &[("v", &b"some"[..]), ("w", b"")]] {
            let mut bytes = body(layers.iter().copied()).unwrap();
            bytes.extend(Fingerprint::Bytes(7).field());
            let trailer = Trailer::read(bytes.clone()).unwrap();
            assert_eq!(trailer.layers().collect::<Vec<_>>(), layers);
            assert_eq!(
                (trailer.fingerprint().unwrap(), trailer.body()),
                (Some(Fingerprint::Bytes(7)), &bytes[..bytes.len() - 17])
            );
            for end in 0..bytes.len() {
                assert!(Trailer::read(bytes[..end].to_vec()).is_err(), "{end}");
                assert!(Trailer::read(bytes[end + 1..].to_vec()).is_err(), "{end}");
            }
        }
        let empty = body(std::iter::empty()).unwrap();
        assert_eq!(empty.len() + 17, TRAILER_BYTES_MIN);
        assert_eq!(empty[..12], [0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0]);
    }
}
