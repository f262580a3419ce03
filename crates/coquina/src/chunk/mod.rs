//! Chunks: self-describing compressed buffers, as C-Blosc and C-Blosc2 write them.
//!
//! A chunk is cut into blocks, each filtered and encoded alone, so that a part of it can be decoded alone.
//! Source: `docs/formats/chunk.md`.

mod block;
mod content;
mod decode;
mod encode;
mod header;
mod params;
mod scratch;
mod sink;
mod special;
mod stream;

pub use decode::{Chunk, Part, decode_parts};
pub use encode::{encode, encode_into};
pub use header::{BLOCK_BYTES_MAX, HEADER_BYTES, HEADER_BYTES_BLOSC1, Header, Kind, Special};
pub use params::{CHUNK_BYTES_MAX, Generation, Params, Split};
pub use special::encode_special;
