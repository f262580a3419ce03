//! Writing: every touched chunk is made anew, over what it held, and goes to the store.

mod computed;
mod encode;
mod first_error;
mod old_chunk;
mod patched_blocks;
mod request;
mod resize;
mod write_selection;

pub(crate) use encode::ChunkEncoder;
pub(crate) use request::Request;
pub use request::Values;
pub(crate) use resize::{clear_uncovered, statistics_after_resize};
pub(crate) use write_selection::Write;
