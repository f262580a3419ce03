//! Bloscpack: files of Blosc1 chunks with optional metadata, offsets and checksums.
//!
//! [`pack`] and [`pack_file`] write one from bytes or a file, [`Reader`] reads all or any part of one, [`append`]
//! adds to one, [`set_metadata`] gives it other metadata. Memory is a few chunks, however large the file.
//! Source: `docs/formats/bloscpack.md`.

mod append;
mod checksum;
mod header;
mod metadata;
mod read;
mod rewrite;
mod write;

pub use append::append;
pub use checksum::{CHECKSUMS, Checksum, by_name as checksum_by_name};
pub use header::{CHUNK_BYTES_DEFAULT, CHUNK_BYTES_MAX, Header};
pub use read::Reader;
pub use rewrite::set_metadata;
pub use write::{Options, Source, pack, pack_file};
