//! Coquina's engine: compressed chunks, and soon arrays and tables, that you compute on directly.
//!
//! Data flow, from the bottom up: `base` (errors, checked bytes, the pool) - `codec`, `filter` (one stream, one
//! block) - [`chunk`] (one compressed buffer) - [`bloscpack`] (a file of chunks).

#![forbid(unsafe_code)]

mod base;
pub mod bloscpack;
pub mod chunk;
pub mod codec;
pub mod filter;

pub use base::error::{Error, ErrorKind, Result};
pub use base::io::{Existing, NewFile, ReadAt};
pub use base::limits::Limits;
pub use base::pool::{Job, Observer, num_threads, set_num_threads};
