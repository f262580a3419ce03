//! Reading: the state of an array as of one commit, what is kept of it in memory, and the walks over its blocks.

mod ahead;
mod block_cache;
mod block_reader;
mod decoded_boxes;
mod gather;
mod read_selection;
mod remote;
mod snapshot;

pub(crate) use ahead::Ahead;
pub(crate) use block_cache::BlockCache;
pub(crate) use decoded_boxes::{
    BlockAt, copy_decoded, is_open, keep_decoded, keep_planes, room_for, take_planes,
};
pub use decoded_boxes::{with_decoded_boxes, with_decoded_boxes_after};
pub use gather::gather;
pub(crate) use snapshot::{Content, Counters, Source, State};
