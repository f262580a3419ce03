//! A filter of the plugin interface as one of the engine.
//!
//! In: blocks. Out: as many bytes, through the plugin, or an error that names it.
//! Invariant: the output is zeroed before the plugin gets it, so that bytes which it leaves out are no bytes of
//! somebody else.

use coquina::filter::{Filter, Stage};
use coquina::{Error, Result};
use coquina_plugin::Block;

use crate::caught;

/// The engine's view of a plugin's filter.
pub(crate) fn engine_filter(filter: &'static dyn coquina_plugin::Filter) -> Box<dyn Filter> {
    Box::new(Adapter(filter))
}

struct Adapter(&'static dyn coquina_plugin::Filter);

impl Adapter {
    fn named(&self, sentence: &str) -> String {
        format!("filter {} ({}): {sentence}", self.0.id(), self.0.name())
    }
}

fn block<'a>(stage: &Stage<'a>, bytes: usize) -> Block<'a> {
    Block {
        typesize: stage.typesize,
        shape: stage.layout.shape_of(bytes).unwrap_or_default(),
        kind: stage.layout.kind(),
        meta: stage.meta,
        level: 0,
        options: "",
    }
}

impl Filter for Adapter {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn id(&self) -> u8 {
        self.0.id()
    }

    fn encode(&self, stage: &Stage<'_>, input: &[u8], out: &mut [u8]) -> Result<()> {
        out.fill(0);
        let encoded = caught(|| self.0.encode(&block(stage, input.len()), input, out));
        encoded.map_err(|sentence| Error::invalid(self.named(&sentence)))
    }

    fn decode(&self, stage: &Stage<'_>, input: &[u8], out: &mut [u8]) -> Result<()> {
        out.fill(0);
        let decoded = caught(|| self.0.decode(&block(stage, input.len()), input, out));
        decoded.map_err(|sentence| Error::corrupt(self.named(&sentence)))
    }

    fn is_lossy(&self) -> bool {
        // What cannot say that it is lossless may be lossy.
        caught(|| Ok(self.0.is_lossy())).unwrap_or(true)
    }
}
