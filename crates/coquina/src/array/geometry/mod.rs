//! Where items are: the cut of a shape into chunks and blocks, what is selected of it, and which blocks that touches.

mod block_order;
mod boxes;
mod grid;
mod partition;
mod plan;
mod selection;

pub(crate) use boxes::BoxAt;
pub use boxes::{
    Bounds, BoxSource, Known, NextRowPlane, RowPlanes, Walk, check_box, copy_region, default_walk,
};
pub use grid::Grid;
pub use partition::{Access, partition};
pub(crate) use plan::{Plan, TASK_BYTES_MAX, TASK_BYTES_MIN, Touched, batches, block_runs};
pub use selection::{AxisSelection, Points, Selection, Window};
