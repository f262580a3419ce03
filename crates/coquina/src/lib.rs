//! Coquina's engine: compressed chunks, arrays and tables that you compute on directly.
//!
//! Data flow, from the bottom up: `base` (errors, checked bytes, the pool) - `codec`, `filter` (one stream, one
//! block) - [`chunk`] (one compressed buffer) - [`bloscpack`], [`frame`] (files of chunks) - [`store`] (where the
//! chunks of an array live) - [`policy`] (how they are encoded) - [`mod@array`] (n-dimensional) - [`query`] (which rows hold a condition) - [`table`] (columns of equal length).

#![forbid(unsafe_code)]

pub mod array;
mod base;
pub mod bloscpack;
pub mod chunk;
pub mod codec;
pub mod compute;
pub mod expr;
pub mod filter;
pub mod frame;
pub mod hdf5;
pub mod index;
pub mod policy;
pub mod query;
pub mod store;
pub mod table;

pub use base::error::{Error, ErrorKind, Result};
pub use base::far::{Far, Ranges};
pub use base::file_names::{check_in_place, is_at};
pub use base::held::{Held, Piece};
pub use base::io::{Existing, NewFile, ReadAt, WriteAt};
pub use base::json::{Json, JsonNumber, JsonObject, JsonText};
pub use base::layout::BlockLayout;
pub use base::limits::Limits;
pub use base::plugins::{Finder, Wanted};
pub use base::pool::{Job, Observer, num_threads, set_num_threads};
pub use base::settings::is_strict;
pub use policy::{bounded as lossy, tuned as tune};
