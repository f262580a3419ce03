//! A filter that adds 1 to every byte, and takes it off again: all that a plugin for coquina needs, and nothing more.

#![forbid(unsafe_code)]

use coquina_plugin::{Block, Filter};

struct PlusOne;

impl Filter for PlusOne {
    fn id(&self) -> u8 {
        160
    }

    fn name(&self) -> &'static str {
        "plus_one"
    }

    fn encode(&self, _block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        out.iter_mut().zip(input).for_each(|(out, byte)| *out = byte.wrapping_add(1));
        Ok(())
    }

    fn decode(&self, _block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        out.iter_mut().zip(input).for_each(|(out, byte)| *out = byte.wrapping_sub(1));
        Ok(())
    }
}

coquina_plugin::export! { filters: [&PlusOne] }
