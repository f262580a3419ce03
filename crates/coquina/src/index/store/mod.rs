//! Stored indexes: their metadata, runs, spans and zones, as arrays of a place.
//!
//! In: a place for arrays, and the values that are indexed. Out: an [`IndexState`]: read, extended, and written.
//! Source: `docs/formats/indexes.md`.
//! Invariant: metadata are written once all that they name is there, and what they do not name is removed after that. A
//! kill at any point leaves what they named before, or after.

mod metadata;
mod params;
mod place;
mod runs;
mod state;
#[cfg(test)]
mod tests;

pub use metadata::{IndexKind, Metadata, RunEntry};
pub use params::IndexParams;
pub use place::{AppendItems, ArrayItems, IndexPlace, ItemKind, NewIndexArray, PlacedArray};
pub use runs::{BuildWatch, Building, OpenRun, Unwatched};
pub use state::{IndexState, IndexedValues, sweep};
