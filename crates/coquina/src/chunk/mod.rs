//! Chunks: self-describing compressed buffers, as C-Blosc and C-Blosc2 write them.
//!
//! A chunk is cut into blocks, each filtered and encoded alone, so that a part of it can be decoded alone.
//! Source: `docs/formats/chunk.md`.

mod block;
mod blocks;
mod content;
mod decode;
mod encode;
mod fetch;
mod header;
mod input;
mod lazy;
mod names;
mod params;
mod planes;
mod scratch;
mod shape;
mod sink;
mod spans;
mod special;
mod stream;
mod streams;
mod sums;

pub use decode::{Chunk, Part, decode_parts};
pub(crate) use encode::stored_header;
pub use encode::{encode, encode_blocks_of, encode_into};
pub use header::{BLOCK_BYTES_MAX, HEADER_BYTES, HEADER_BYTES_BLOSC1, Header, Kind, Special};
pub use input::{BlockSource, Plain};
pub(crate) use lazy::FIRST_READ_BYTES;
pub use lazy::{LazyChunk, read_header};
pub use params::{CHUNK_BYTES_MAX, Generation, Params, Split};
pub use planes::{BytePlanes, NextPlane};
pub(crate) use shape::{ChunkShape, Unpadded};
pub use special::{encode_repeated, encode_special};
pub(crate) use streams::streams;
pub use sums::{Place, Sums, sums};
pub(crate) use sums::{SumsApart, block_sums, table_bytes};
