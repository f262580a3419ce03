//! Codecs and filters that are C functions of a library.
//!
//! In: the functions, and the number that the library has for a part. Out: a `Codec` or `Filter` of the plugin
//! interface, like those that are written in Rust.

use coquina::Result;
use coquina_plugin::{Block, Codec, Filter};

use crate::functions::{Functions, Part};

/// A codec or a filter of a library.
pub(crate) struct Foreign {
    functions: Functions,
    part: Part,
    id: u8,
    name: &'static str,
}

impl Foreign {
    /// All codecs or filters of a library. They live as long as the process, since chunks in memory may hold them.
    ///
    /// # Errors
    /// `Invalid` for numbers and names that make no sense.
    pub(crate) fn all(functions: Functions, what: u32) -> Result<Vec<&'static Self>> {
        let foreign = |(part, id)| {
            let name = Box::leak(functions.name(part)?.into_boxed_str());
            Ok(&*Box::leak(Box::new(Self { functions, part, id, name })))
        };
        functions.parts(what)?.into_iter().map(foreign).collect()
    }
}

impl Codec for Foreign {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_lossy(&self, meta: u8, options: &str) -> bool {
        self.functions.is_lossy(self.part, meta, options)
    }

    fn needs_items(&self) -> bool {
        self.functions.needs_items(self.part)
    }

    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String> {
        self.functions.encode(self.part, block, input, out)
    }

    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        self.functions.decode(self.part, block, input, out)
    }
}

impl Filter for Foreign {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_lossy(&self) -> bool {
        self.functions.is_lossy(self.part, 0, "")
    }

    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let room = out.len();
        match self.functions.encode(self.part, block, input, out)? {
            Some(bytes) if bytes == room => Ok(()),
            Some(bytes) => Err(format!("says that it wrote {bytes} bytes of a block of {room}")),
            None => Err("a filter must fill its output".into()),
        }
    }

    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        self.functions.decode(self.part, block, input, out)
    }
}
