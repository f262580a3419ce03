//! Codecs and filters of Blosc2's plugin libraries, as python-blosc2 loads them.
//!
//! In: the path of a library, and the id and name that it serves. Out: a row more for the engine.
//! Source: `docs/formats/plugins.md`, "Plugins of Blosc2"; the headers that python-blosc2 4.14 installs.
//! Invariant: a library is opened only here, and stays loaded as long as the process runs. Lengths that it returns are
//! checked; what it does to memory that is not its own nobody can check.

mod abi;
mod functions;

use std::path::Path;

use coquina::{Error, Result};
use coquina_plugin::{Block, Codec, Filter};

use self::abi::Context;
use self::functions::Functions;
use crate::check_name;
use crate::codec::engine_codec;
use crate::filter::engine_filter;

/// Plugins have ids from here on.
const PLUGIN_ID_MIN: u8 = 32;
/// The codecs of images that Blosc2 has given ids to: they look at the items of whole blocks.
const IMAGE_CODECS: [u8; 4] = [36, 37, 39, 40];

/// A codec or a filter of such a library.
struct Plugin {
    id: u8,
    name: &'static str,
    functions: Functions,
}

/// Opens the library of a Blosc2 codec at this path, and adds the codec. Whoever asks trusts it: its code runs in this
/// process.
///
/// # Errors
/// `Invalid` for a file that is no such library, and for an id or a name that a plugin cannot have.
pub fn add_blosc2_codec(path: &Path, id: u8, name: &str) -> Result<()> {
    let plugin = Plugin::open(path, "codec", id, name)?;
    coquina::codec::register(engine_codec(plugin))
}

/// Opens the library of a Blosc2 filter at this path, and adds the filter. Whoever asks trusts it: its code runs in
/// this process.
///
/// # Errors
/// `Invalid` for a file that is no such library, and for an id or a name that a plugin cannot have.
pub fn add_blosc2_filter(path: &Path, id: u8, name: &str) -> Result<()> {
    let plugin = Plugin::open(path, "filter", id, name)?;
    coquina::filter::register(engine_filter(plugin))
}

impl Plugin {
    /// It lives as long as the process, since chunks in memory may hold it.
    fn open(path: &Path, what: &str, id: u8, name: &str) -> Result<&'static Self> {
        check_name(name).map_err(|error| error.at(what))?;
        if id < PLUGIN_ID_MIN {
            return Err(Error::invalid(format!("{what} {id} ({name}): takes ids {PLUGIN_ID_MIN}..=255")));
        }
        let functions = Functions::open(path);
        let functions = functions.map_err(|error| error.at(format!("plugin {}", path.display())))?;
        let name = Box::leak(name.to_owned().into_boxed_str());
        Ok(Box::leak(Box::new(Self { id, name, functions })))
    }
}

impl Codec for Plugin {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_lossy(&self, _meta: u8, _options: &str) -> bool {
        // The interface does not tell, and the codecs of images are by their parameter.
        true
    }

    fn needs_items(&self) -> bool {
        IMAGE_CODECS.contains(&self.id)
    }

    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String> {
        if !block.options.is_empty() {
            return Err("takes no options: Blosc2's plugins have a parameter alone".into());
        }
        let mut context = Context::new(self.id, block, input.len())?;
        let encoded = self.functions.encode(&mut context, block.meta, input, out)?;
        // Plugins return 0 for what they cannot make smaller.
        Ok((encoded > 0).then_some(encoded))
    }

    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let mut context = Context::new(self.id, block, out.len())?;
        match self.functions.decode(&mut context, block.meta, input, out)? {
            bytes if bytes == out.len() => Ok(()),
            bytes => Err(format!("says that it wrote {bytes} bytes of a block of {}", out.len())),
        }
    }
}

impl Filter for Plugin {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let mut context = Context::new(self.id, block, input.len())?;
        self.functions.forward(&mut context, block.meta, input, out)
    }

    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let mut context = Context::new(self.id, block, input.len())?;
        self.functions.backward(&mut context, block.meta, input, out)
    }
}
