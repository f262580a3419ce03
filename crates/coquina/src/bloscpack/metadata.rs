//! The metadata of a Bloscpack file: a JSON text, perhaps zlib-compressed, with room to grow.
//!
//! This module knows text and bytes, not what the JSON says.
//! Source: `docs/formats/bloscpack.md`, "Metadata".

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::checksum::{self, Checksum};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// Bytes of the header before the metadata.
pub(super) const HEADER_BYTES: usize = 32;
const SERIALIZER: [u8; 8] = *b"JSON\0\0\0\0";
/// What the format's own document pads the name with.
const SERIALIZER_SPACES: [u8; 8] = *b"JSON    ";
const LEVEL: u8 = 6;
/// Metadata get ten times the room that they need, to grow in place.
const ROOM_FACTOR: usize = 10;
/// Deflate makes a byte out of no fewer than one 1032nd; a text that claims more is none.
const INFLATION_MAX: usize = 1032;

/// The header before the metadata.
pub(super) struct Header {
    pub(super) checksum: &'static Checksum,
    is_compressed: bool,
    pub(super) text_bytes: usize,
    pub(super) room_bytes: usize,
    stored_bytes: usize,
}

impl Header {
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self> {
        Self::parse(bytes).map_err(|e| e.at("metadata header"))
    }

    fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self> {
        let mut r = ByteReader::new(bytes);
        let serializer: [u8; 8] = r.array("serializer")?;
        if ![SERIALIZER, SERIALIZER_SPACES].contains(&serializer) {
            let name = String::from_utf8_lossy(&serializer).into_owned();
            return Err(Error::unsupported(format!("serializer {name:?}: takes JSON")));
        }
        let _options = r.u8("options")?;
        let checksum = checksum::by_id(r.u8("checksum")?)?;
        let is_compressed = match r.u8("codec")? {
            0 => false,
            1 => true,
            codec => return Err(Error::corrupt(format!("codec: {codec} is neither none nor zlib"))),
        };
        let _level = r.u8("level")?;
        let mut size = |field| r.u32_le(field).map(|bytes| bytes as usize);
        let (text_bytes, room_bytes, stored_bytes) =
            (size("meta_size")?, size("max_meta_size")?, size("meta_comp_size")?);
        if stored_bytes > room_bytes || (!is_compressed && stored_bytes != text_bytes) {
            return Err(Error::corrupt(format!(
                "{stored_bytes} bytes stored in {room_bytes} for a text of {text_bytes}"
            )));
        }
        if text_bytes > stored_bytes.saturating_mul(INFLATION_MAX) {
            return Err(Error::corrupt(format!("meta_size: {text_bytes} bytes out of {stored_bytes}")));
        }
        Ok(Self { checksum, is_compressed, text_bytes, room_bytes, stored_bytes })
    }

    /// The text, out of the bytes of the room and the digest behind it.
    pub(super) fn text(&self, room: &[u8], digest: &[u8]) -> Result<Vec<u8>> {
        let stored = room.get(..self.stored_bytes).unwrap_or_default();
        self.checksum.verify(stored, digest).map_err(|e| e.at("metadata"))?;
        if !self.is_compressed {
            return Ok(stored.to_vec());
        }
        let mut text = vec![0; self.text_bytes];
        match Decompressor::new().zlib_decompress(stored, &mut text) {
            Ok(bytes) if bytes == text.len() => Ok(text),
            _ => Err(Error::corrupt("metadata: not a zlib stream of the announced length")),
        }
    }
}

/// Where the metadata of a file stand, and the room that they have.
pub(super) struct Place {
    /// Where the metadata's header begins.
    pub(super) at: u64,
    pub(super) room_bytes: usize,
    pub(super) checksum: &'static Checksum,
}

/// A text with its header, room and digest, ready to be written. `room_bytes`: what is set aside for it; `None` for
/// ten times what it needs.
pub(super) fn write(text: &[u8], checksum: &'static Checksum, room_bytes: Option<usize>) -> Result<Vec<u8>> {
    let field = |bytes: usize| u32::try_from(bytes).map(u32::to_le_bytes);
    let mut compressor = Compressor::new(CompressionLvl::new(LEVEL.into()).unwrap_or_default());
    let mut compressed = vec![0; compressor.zlib_compress_bound(text.len())];
    let compressed_bytes = compressor.zlib_compress(text, &mut compressed).unwrap_or(usize::MAX);
    let is_compressed = compressed_bytes < text.len();
    let stored = if is_compressed { &compressed[..compressed_bytes] } else { text };
    let room_bytes = room_bytes.unwrap_or(text.len().saturating_mul(ROOM_FACTOR));
    if stored.len() > room_bytes {
        return Err(Error::limit(format!("metadata: {} bytes for a room of {room_bytes}", stored.len())));
    }
    let (Ok(text_bytes), Ok(room), Ok(stored_bytes)) =
        (field(text.len()), field(room_bytes), field(stored.len()))
    else {
        return Err(Error::limit(format!("metadata: {} bytes are too many", text.len())));
    };
    let mut out = SERIALIZER.to_vec();
    out.extend([0, checksum.id, u8::from(is_compressed), LEVEL]);
    out.extend([text_bytes, room, stored_bytes].as_flattened());
    out.resize(HEADER_BYTES, 0);
    out.extend(stored);
    out.resize(HEADER_BYTES + room_bytes, 0);
    out.extend(checksum.digest(stored));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_whether_or_not_compressing_pays() {
        let long = br#"{"a": 1}"#.repeat(50);
        for text in [b"{}".as_slice(), &long, b""] {
            for checksum in checksum::CHECKSUMS {
                let bytes = write(text, checksum, None).unwrap();
                let (front, rest) = bytes.split_first_chunk().unwrap();
                let header = Header::read(front).unwrap();
                assert_eq!(header.is_compressed, text.len() > 100);
                let (room, digest) = rest.split_at(header.room_bytes);
                assert_eq!(header.text(room, digest).unwrap(), text);
            }
        }
    }
}
