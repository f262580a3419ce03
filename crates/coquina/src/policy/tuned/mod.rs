//! Tuning: which codec, level and filters suit the items of a chunk, for a goal.
//!
//! In: blocks of a chunk and a [`Goal`]. Out: parameters for it. Features of the blocks make a short list of ways, some
//! blocks are encoded by each of these, and a model of costs (time of a core, bytes over bandwidth) takes the best. A
//! chunk like one before takes over what was chosen for that.
//! Source: `docs/tuning.md`.
//! Invariant: what is chosen depends on the items, the goal and the chunks before only, never on threads; nor on the
//! machine, unless the goal is to be calibrated; a profile is as much an input as the goal.

mod calibrate;
mod counts;
mod encode;
mod features;
mod goal;
mod math;
mod memory;
mod policy;
mod profile;
mod report;
mod sample;
mod table;
mod times;
mod timing;
mod train;
mod trial;
mod tuner;
mod ways;
mod work;
mod zstd_work;

pub use calibrate::measured_text;
pub use encode::{check, encode_into, one_item, repeated};
pub use features::Features;
pub use goal::{Goal, LAYER, Wants};
pub(crate) use policy::Tuned;
pub use profile::Profile;
pub use report::{Report, Way, explain};
pub use sample::Sampled;
pub use train::{Judged, Trainer};
pub use tuner::{Choice, Counters, Looks, Tuner};
pub use work::Work;
