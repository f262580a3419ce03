//! Makes codecs and filters from outside known to coquina: those of a dynamic library, and those of a Rust program.
//!
//! In: the path of a library, or something that implements a trait of `coquina-plugin`. Out: a row more for
//! `coquina::codec::by_id` and its like.
//! Source: `docs/formats/plugins.md`.
//! Invariant: whatever a plugin returns is checked here, so that the engine sees an error or as many bytes as it
//! expects. What a plugin does to memory that is not its own nobody can check: it is code of this process.
//!
//! A Rust program that has a codec of its own needs one line:
//!
//! ```
//! # use coquina_plugin::{Block, Codec};
//! struct Halves;
//!
//! impl Codec for Halves {
//!     fn id(&self) -> u8 {
//!         200
//!     }
//!
//!     fn name(&self) -> &'static str {
//!         "halves"
//!     }
//!
//!     fn encode(&self, _: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String> {
//!         let (front, back) = input.split_at(input.len() / 2);
//!         if front != back {
//!             return Ok(None);
//!         }
//!         out[..front.len()].copy_from_slice(front);
//!         Ok(Some(front.len()))
//!     }
//!
//!     fn decode(&self, _: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
//!         if input.len() * 2 != out.len() {
//!             return Err(format!("{} bytes are not half of {}", input.len(), out.len()));
//!         }
//!         out.chunks_mut(input.len()).for_each(|half| half.copy_from_slice(input));
//!         Ok(())
//!     }
//! }
//!
//! coquina_plugin_host::register_codec(&Halves)?;
//!
//! let params = coquina::chunk::Params { codec: coquina::codec::by_name("halves")?, ..Default::default() };
//! let chunk = coquina::chunk::encode(&b"shell".repeat(200), &params, &coquina::Job::default())?;
//! assert!(chunk.len() < 600);
//! # Ok::<(), coquina::Error>(())
//! ```

#![deny(unsafe_code)]

mod blosc2;
mod codec;
mod filter;
mod foreign;
mod functions;
mod library;

use coquina::{Error, Result};

pub use blosc2::{add_blosc2_codec, add_blosc2_filter};
pub use library::Library;

/// The lowest id of those that everybody may use; the lower ones are given out by Blosc2.
pub const USER_ID_MIN: u8 = 160;

/// The most bytes of a name.
pub const NAME_BYTES_MAX: usize = 64;

/// Adds a codec of this program, for as long as it runs. One that had the same id serves no longer.
///
/// # Errors
/// `Invalid` for an id below [`USER_ID_MIN`], or the name of a codec of the engine.
pub fn register_codec(codec: &'static dyn coquina_plugin::Codec) -> Result<()> {
    check_user_part("codec", codec.id(), codec.name())?;
    coquina::codec::register(codec::engine_codec(codec))
}

/// Adds a filter of this program, for as long as it runs. One that had the same id serves no longer.
///
/// # Errors
/// `Invalid` for an id below [`USER_ID_MIN`], or the name of a filter of the engine.
pub fn register_filter(filter: &'static dyn coquina_plugin::Filter) -> Result<()> {
    check_user_part("filter", filter.id(), filter.name())?;
    coquina::filter::register(filter::engine_filter(filter))
}

/// Checks id and name of a codec or filter that comes from no library.
///
/// # Errors
/// `Invalid` for an id below [`USER_ID_MIN`], or a name that [`check_name`] refuses.
pub fn check_user_part(what: &str, id: u8, name: &str) -> Result<()> {
    check_name(name).map_err(|error| error.at(what))?;
    if id >= USER_ID_MIN {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{what} {id} ({name}): takes ids {USER_ID_MIN}..=255; those below are given out by Blosc2"
    )))
}

/// Checks a name: users write it, and errors and tables show it.
///
/// # Errors
/// `Invalid` for one that is empty, too long, or not of letters, digits, `_`, `-` and `.`.
pub fn check_name(name: &str) -> Result<()> {
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_word && (1..=NAME_BYTES_MAX).contains(&name.len()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "name {name:?}: takes 1..={NAME_BYTES_MAX} of A-Z, a-z, 0-9, `_`, `-` and `.`"
    )))
}

/// What `work` returns; what it fails or panics with as a sentence.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic leaves behind is the output, which is then thrown away.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said =
            said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Err(format!("it panicked: {said}"))
    })
}
