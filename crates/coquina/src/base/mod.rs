//! The words that everything else uses: errors, checked byte reading, limits, settings, the thread pool.

pub(crate) mod bytes;
pub(crate) mod checksum;
pub(crate) mod error;
pub(crate) mod far;
pub(crate) mod file_names;
pub(crate) mod held;
pub(crate) mod io;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod ordered;
pub(crate) mod plugins;
pub(crate) mod pool;
pub(crate) mod scratch;
pub(crate) mod sequencer;
pub(crate) mod settings;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod text_bounds;
