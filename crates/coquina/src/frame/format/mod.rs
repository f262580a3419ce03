//! The bytes of a frame: header, trailer, index, metadata, and what is kept beside them. Nothing here opens a file.

pub(crate) mod b2nd;
pub(super) mod fields;
pub(super) mod fingerprint;
pub(crate) mod guard;
pub(super) mod header;
pub(super) mod layer;
pub(super) mod metalayers;
pub(super) mod new_header;
pub(super) mod offsets;
pub(super) mod slots;
pub(super) mod spec;
pub(super) mod statistics;
pub(super) mod trailer;
