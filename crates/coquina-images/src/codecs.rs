//! The codecs: JPEG 2000 and HTJ2K under the ids that Blosc2 has given out.
//!
//! In: blocks of 8-bit or 16-bit integers. Out: one code-stream a block, and back. What was written by the plugins of
//! others is read, whatever of the standard it uses.
//! Source: `docs/formats/image-codecs.md`.

use coquina_plugin::{Block, Codec};

use crate::image::{Geometry, Order, join, sample_bytes};
use crate::options::{self, Options, Progression, Target};
use crate::stream::Head;
use crate::{ht, openjpeg, planes, quality};

/// The least and the largest ratio that is tried for a PSNR.
const RATIO_MIN: f64 = 1.02;
const RATIO_MAX: f64 = 5000.0;

/// Which coder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coder {
    /// JPEG 2000, Part 1: small.
    Classic,
    /// Part 15: fast.
    HighThroughput,
    /// None: for streams that others write.
    Nobody,
}

/// A codec of images.
#[derive(Debug)]
pub(crate) struct Images {
    id: u8,
    name: &'static str,
    coder: Coder,
}

/// Written by blosc2-openhtj2k.
pub(crate) static OPENHTJ2K: Images = Images { id: 36, name: "openhtj2k", coder: Coder::Nobody };
/// Written by blosc2-grok.
pub(crate) static GROK: Images = Images { id: 37, name: "grok", coder: Coder::Nobody };
/// JPEG 2000.
pub(crate) static J2K: Images = Images { id: 39, name: "j2k", coder: Coder::Classic };
/// High-throughput JPEG 2000.
pub(crate) static HTJ2K: Images = Images { id: 40, name: "htj2k", coder: Coder::HighThroughput };

impl Codec for Images {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_lossy(&self, meta: u8, options: &str) -> bool {
        options::is_lossy(meta, options)
    }

    fn needs_items(&self) -> bool {
        true
    }

    fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String> {
        let options = Options::new(block.meta, block.options)?;
        let mut geometry = Geometry::of(block, input.len())?;
        let planes = geometry.split(input);
        if options.target == Target::Lossless {
            // Some decoders know no signs, and without negative samples none is needed.
            geometry.is_signed &= planes.iter().flatten().any(|&sample| sample < 0);
        }
        let stream = match self.coder {
            Coder::Classic => classic(&geometry, &planes, &options)?,
            Coder::HighThroughput => high_throughput(&geometry, &planes, &options)?,
            Coder::Nobody => return Err(format!("{} can be read; write \"j2k\" or \"htj2k\"", self.name)),
        };
        let Some(room) = out.get_mut(..stream.len()) else { return Ok(None) };
        room.copy_from_slice(&stream);
        Ok(Some(stream.len()))
    }

    fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        // blosc2-openhtj2k has samples of 32 bits, and the components one behind the other.
        let (sample_bytes, order) = match block.typesize {
            4 if self.id == OPENHTJ2K.id => (4, Order::Planes),
            typesize => (sample_bytes(typesize)?, Order::Pixels),
        };
        decode(input, sample_bytes, order, out)
    }
}

/// Decodes a code-stream of exactly the samples that `out` has room for.
fn decode(input: &[u8], sample_bytes: usize, order: Order, out: &mut [u8]) -> Result<(), String> {
    let head = Head::read(input)?;
    head.check(out.len() / sample_bytes, sample_bytes)?;
    let is_signed = head.components.first().is_some_and(|component| component.is_signed);
    let found = planes_of(&head)?;
    join(&found, sample_bytes, is_signed, order, out);
    found.into_iter().for_each(planes::keep);
    Ok(())
}

/// The planes of a code-stream whose head has been checked.
fn planes_of(head: &Head<'_>) -> Result<Vec<Vec<i32>>, String> {
    if head.is_high_throughput()
        && let Some(planes) = ht::decode(head)?
    {
        return Ok(planes);
    }
    let area = head.columns as usize * head.rows as usize;
    openjpeg::decode(head.stream, head.components.len(), area)
}

/// How good a code-stream of these planes is.
fn measured(geometry: &Geometry, wanted: &[Vec<i32>], stream: &[u8]) -> Result<f64, String> {
    Ok(quality::psnr(geometry, wanted, &planes_of(&Head::read(stream)?)?))
}

/// JPEG 2000 by OpenJPEG, which finds a PSNR by itself unless that is low.
fn classic(geometry: &Geometry, planes: &[Vec<i32>], options: &Options) -> Result<Vec<u8>, String> {
    let encode = |target| openjpeg::encode(geometry, planes, &Options { target, ..*options });
    let stream = encode(options.target)?;
    let Target::Psnr(decibels) = options.target else { return Ok(stream) };
    let judge = |stream: &[u8]| Ok(quality::reaches(measured(geometry, planes, stream)?, decibels));
    if judge(&stream)? == Some(true) {
        return Ok(stream);
    }
    if !options.layers.values().is_empty() {
        return finer(decibels, encode, judge);
    }
    let found = quality::nearest(RATIO_MIN, RATIO_MAX, |ratio| encode(Target::Ratio(ratio)), judge)?;
    found.map_or_else(|| encode(Target::Lossless), Ok)
}

/// Layers of which the last one is asked for more than it must reach, until it does; at last it loses nothing.
fn finer(
    decibels: f64,
    encode: impl Fn(Target) -> Result<Vec<u8>, String>,
    judge: impl Fn(&[u8]) -> Result<Option<bool>, String>,
) -> Result<Vec<u8>, String> {
    for more in [0.0, 0.25, 1.0, 4.0] {
        let stream = encode(Target::Psnr(decibels + more))?;
        if judge(&stream)?.is_some() {
            return Ok(stream);
        }
    }
    encode(Target::Lossless)
}

/// HTJ2K, which has no control of its own: a step is looked for.
fn high_throughput(geometry: &Geometry, planes: &[Vec<i32>], options: &Options) -> Result<Vec<u8>, String> {
    let Options { levels, has_colour_transform, .. } = *options;
    if !options.layers.values().is_empty()
        || options.tile.is_some()
        || options.progression != Progression::Lrcp
    {
        return Err(
            "quality of layers, tile, progression: are for j2k; htj2k has one layer and one tile".to_owned()
        );
    }
    if options.target != Target::Lossless && options.is_reversible {
        return Err("reversible true: htj2k loses nothing with it; leave quality_mode out".to_owned());
    }
    let encode = |step| ht::encode(geometry, planes, ht::How { levels, step, has_colour_transform });
    match options.target {
        Target::Lossless => Ok(encode(None)),
        Target::Psnr(decibels) => {
            // Errors of a step are a twelfth of its square on average.
            let step = geometry.peak() / 10_f64.powf(decibels / 20.0) * 12_f64.sqrt();
            let measure = |stream: &[u8]| measured(geometry, planes, stream);
            let found = quality::reach(decibels, step, |step| encode(Some(step)), measure)?;
            Ok(found.unwrap_or_else(|| encode(None)))
        }
        Target::Ratio(ratio) => {
            let raw = geometry.area() * geometry.components * geometry.sample_bytes;
            let bytes_max = f64::from(u32::try_from(raw).unwrap_or(u32::MAX)) / ratio;
            let lossless = encode(None);
            if quality::fits(&lossless, bytes_max).is_some() {
                return Ok(lossless);
            }
            let (fine, coarse) = quality::STEPS;
            let judge = |stream: &[u8]| Ok(quality::fits(stream, bytes_max));
            let found = quality::nearest(coarse, fine, |step| Ok(encode(Some(step))), judge)?;
            found.ok_or_else(|| format!("ratio {ratio}: an image of {raw} bytes cannot be made so small"))
        }
    }
}

#[cfg(test)]
mod tests;
