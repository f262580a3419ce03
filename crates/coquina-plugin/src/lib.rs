//! Codecs and filters for coquina, from outside of coquina.
//!
//! A plugin is a dynamic library (`crate-type = ["cdylib"]`) that exports one C function. Whoever writes it in Rust
//! implements [`Codec`] or [`Filter`] and names them in [`export!`], which makes that function; nothing else of this
//! crate is needed. This is all of a plugin, a filter that adds 1 to each byte:
//!
//! ```
//! use coquina_plugin::{Block, Filter};
//!
//! struct PlusOne;
//!
//! impl Filter for PlusOne {
//!     fn id(&self) -> u8 {
//!         160
//!     }
//!
//!     fn name(&self) -> &'static str {
//!         "plus_one"
//!     }
//!
//!     fn encode(&self, _block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
//!         out.iter_mut().zip(input).for_each(|(out, byte)| *out = byte.wrapping_add(1));
//!         Ok(())
//!     }
//!
//!     fn decode(&self, _block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
//!         out.iter_mut().zip(input).for_each(|(out, byte)| *out = byte.wrapping_sub(1));
//!         Ok(())
//!     }
//! }
//!
//! coquina_plugin::export! { filters: [&PlusOne] }
//! ```
//!
//! Python finds the library by an entry point of the package that holds it, in the group `coquina.plugins`: named
//! `filter-160` or `codec-39`, and its value is a function without arguments that returns the path of the library. It
//! is called, and the library is loaded, when a chunk first needs that id. Ids from 160 to 255 are for users; those
//! from 32 to 159 are given out by Blosc2.
//!
//! Between coquina and a plugin there are C functions and nothing else, see `docs/formats/plugins.md`: a plugin that
//! was built once keeps working with later versions, may be built by any compiler, and may be written in C
//! (`include/coquina_plugin.h`).
//!
//! Calls come from several threads at once. A plugin whose code panics makes an error of that chunk, unless it was
//! built with `panic = "abort"`.

#![deny(unsafe_code)]

pub mod export;
pub mod table;

/// What is known of a block besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Bytes of an item, 1 to 255. Items of more bytes have 1 here.
    pub typesize: usize,
    /// Items along each axis, the last one dense; empty if the block is of no array, or not all of one.
    pub shape: &'a [u32],
    /// The letter that NumPy has for the kind of the items, such as `f`, `i` or `u`, if it is known.
    pub kind: Option<char>,
    /// The parameter byte of the codec or filter, which is stored with each chunk.
    pub meta: u8,
    /// 1 (fastest) to 9 (smallest) for a codec that encodes; else 0.
    pub level: u8,
    /// Further options of whoever writes, as JSON text; empty for none, and always where something is decoded, since
    /// they are not stored.
    pub options: &'a str,
}

/// Turns the bytes of a block into fewer bytes, and back.
///
/// A block may have been cut into streams, which come one by one; then its shape is not told.
pub trait Codec: Sync {
    /// The id in a chunk's header: 160 to 255, or one that Blosc2 has given out.
    fn id(&self) -> u8;

    /// The name that users write.
    fn name(&self) -> &'static str;

    /// Whether decoding may give other items than were encoded, with this parameter byte and these options.
    fn is_lossy(&self, meta: u8, options: &str) -> bool {
        let _ = (meta, options);
        false
    }

    /// Whether it must have blocks with the items as they are: not cut into streams, and with no filter that moves
    /// bytes before it. Then none is used where the user asks for none, and asking for one is an error.
    fn needs_items(&self) -> bool {
        false
    }

    /// Writes the encoded bytes to the front of `out`, which has room for fewer bytes than `input` has, and returns how
    /// many they are. `None` says that the bytes are to be stored as they are: they do not fit, or do not gain.
    ///
    /// # Errors
    /// A sentence that says what it cannot encode; the write fails with it.
    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String>;

    /// Fills `out`, which is as long as what was encoded.
    ///
    /// # Errors
    /// A sentence that says what is wrong with `input`, which may be anything: files get damaged.
    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String>;
}

/// Turns the bytes of a block into as many other bytes, and back.
pub trait Filter: Sync {
    /// The id in a chunk's header: 160 to 255, or one that Blosc2 has given out.
    fn id(&self) -> u8;

    /// The name that users write.
    fn name(&self) -> &'static str;

    /// Whether decoding may give other items than were encoded.
    fn is_lossy(&self) -> bool {
        false
    }

    /// Fills `out`, as long as `input`, with the filtered bytes.
    ///
    /// # Errors
    /// A sentence that says what it cannot filter; the write fails with it.
    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String>;

    /// Fills `out`, as long as `input`, with the original bytes.
    ///
    /// # Errors
    /// A sentence that says what is wrong with `input`, which may be anything: files get damaged.
    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String>;
}
