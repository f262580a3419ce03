//! Arrays of any number of dimensions, in chunks of blocks.
//!
//! Reading: a [`Selection`] and the [`Grid`] give the touched blocks; they are decoded as one job. Writing: the
//! touched chunks are made anew and committed in one step.
//!
//! Source: `docs/formats/b2nd.md`, `docs/partition.md`.

mod adopt;
mod changes;
mod elements;
mod geometry;
mod handle;
mod known_items;
mod open;
mod planes;
mod policies;
mod read;
mod runs;
mod slabs;
mod small;
mod source;
mod together;
mod transaction;
mod verify;
mod write;

pub use crate::frame::b2nd::Meta;
pub use elements::Elements;
pub use geometry::{
    Access, AxisSelection, Bounds, BoxSource, Grid, Known, NextRowPlane, Points, RowPlanes, Selection, Walk,
    Window, check_box, copy_region, default_walk, partition,
};
pub use handle::{Array, Stats};
pub use open::{ArraySpec, Fill, OpenOptions, Target};
pub use read::{gather, with_decoded_boxes, with_decoded_boxes_after};
pub use source::Part;
pub use together::{Outcome, Text, commit_together};
pub use verify::Damage;
pub use write::Values;

pub use crate::base::text_bounds::TextBounds;
pub use crate::store::at_once;
