//! JPEG 2000 and HTJ2K as codecs of coquina: a plugin, which uses the public interface of plugins only.
//!
//! In: blocks of 8-bit and 16-bit integers, grey or with components. Out: one code-stream a block. The codecs `j2k`
//! (39) and `htj2k` (40) read and write, `openhtj2k` (36) and `grok` (37) read.
//! Source: `docs/formats/image-codecs.md`.
#![deny(unsafe_code)]

mod codecs;
mod ht;
mod image;
mod level;
mod openjpeg;
mod options;
mod planes;
mod quality;
mod stream;

pub use coquina_plugin::Codec;

use codecs::{GROK, HTJ2K, J2K, OPENHTJ2K};

/// The codecs, for programs that are linked with them.
pub static CODECS: &[&dyn Codec] = &[&OPENHTJ2K, &GROK, &J2K, &HTJ2K];

coquina_plugin::export! { codecs: [&OPENHTJ2K, &GROK, &J2K, &HTJ2K] }
