//! Arrays of any number of dimensions, in chunks of blocks.
//!
//! Reading: a [`Selection`] and the [`Grid`] give the touched blocks; they are decoded as one job. Writing: the
//! touched chunks are made anew and committed in one step.
//!
//! Source: `docs/formats/b2nd.md`, `docs/partition.md`.

mod adopt;
mod before;
mod blocks;
mod boxes;
mod cache;
mod check;
mod choices;
mod computed;
mod create;
mod far;
mod gather;
mod grid;
mod handle;
mod lossy;
mod memo;
mod partition;
mod plan;
mod read;
mod resize;
mod runs;
mod selection;
mod slabs;
mod small;
mod source;
mod statistics;
mod together;
mod transaction;
mod tuning;
mod write;

pub use crate::frame::b2nd::Meta;
pub use boxes::{Bounds, BoxSource, Known, Walk, check_box, copy_region, default_walk};
pub use check::Damage;
pub use create::{ArraySpec, Fill, OpenOptions, Target};
pub use gather::gather;
pub use grid::Grid;
pub use handle::{Array, Stats};
pub use memo::{with_memo, with_memo_of};
pub use partition::{Access, partition};
pub use selection::{AxisSelection, Points, Selection, Window};
pub use source::Part;
pub use together::{Outcome, Text, commit_together};
pub use write::Values;

pub use crate::store::at_once;
