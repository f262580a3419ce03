//! The numbers by which HDF5 knows the filters that the plugin serves.
//!
//! Source: the HDF Group's list of registered filters.

pub(crate) const BLOSC: u16 = 32001;
pub(crate) const LZ4: u16 = 32004;
pub(crate) const BITSHUFFLE: u16 = 32008;
pub(crate) const ZSTD: u16 = 32015;
pub(crate) const BLOSC2: u16 = 32026;
