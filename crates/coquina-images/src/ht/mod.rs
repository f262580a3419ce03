//! High-throughput JPEG 2000: images to code-streams, and those that are cut in the usual way back.
//!
//! In: planes of samples. Out: a code-stream of one tile, one layer and one cleanup pass a code-block, without loss or
//! with a step of quantisation. [`decode`] reads such ones, which is what encoders for speed write; all others are left
//! to OpenJPEG.
//! Source: ISO/IEC 15444-1 (the code-stream, the wavelets); ISO/IEC 15444-15 (the code-blocks).
//! Invariant: without loss, `decode(encode(planes)) == planes`.

use std::borrow::Cow;

mod bands;
mod bits;
mod block_decode;
mod block_encode;
mod codes;
mod colour;
mod markers;
mod packet;
mod quantise;
mod tables;
mod tag_tree;
mod wavelet;

use bands::{Band, resolutions};
use block_decode::BlockDecoder;
use block_encode::BlockEncoder;
use packet::{CodedBand, PacketReader};
use quantise::Quantiser;

use crate::image::Geometry;
use crate::level::widest;
use crate::planes;
use crate::stream::{Exponents, HIGH_THROUGHPUT, Head};

/// The exponent of the sides of code-blocks that are written: 64 samples.
const BLOCK_BITS: u32 = 6;
/// The most samples of a code-block.
const BLOCK_AREA: usize = 4096;

/// How an image is coded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct How {
    /// Levels of the wavelet transform.
    pub(crate) levels: u32,
    /// The step of quantisation, in samples; `None` to lose nothing.
    pub(crate) step: Option<f64>,
    /// Whether the first three components are turned into brightness and differences.
    pub(crate) has_colour_transform: bool,
}

/// The code-stream of an image.
pub(crate) fn encode(geometry: &Geometry, planes: &[Vec<i32>], how: How) -> Vec<u8> {
    let levels = bands::levels(geometry, how.levels);
    let how = How { levels, has_colour_transform: how.has_colour_transform && planes.len() >= 3, ..how };
    let quantiser = Quantiser::new(geometry.bits(), how);
    let shift = if geometry.is_signed { 0 } else { 1 << (geometry.bits() - 1) };
    let mut shifted: Vec<Vec<i32>> =
        planes.iter().map(|plane| plane.iter().map(|&sample| sample - shift).collect()).collect();
    let coefficients = match how.step {
        None => {
            colour::forward(&mut shifted, how.has_colour_transform);
            shifted.iter_mut().for_each(|plane| wavelet::forward(plane, geometry, levels, wavelet::Whole));
            shifted
        }
        Some(_) => {
            let mut real: Vec<Vec<f32>> = shifted.iter().map(|plane| quantise::real(plane)).collect();
            colour::forward_real(&mut real, how.has_colour_transform);
            real.iter_mut().for_each(|plane| wavelet::forward(plane, geometry, levels, wavelet::Real));
            real.iter().map(|plane| quantiser.quantise(plane, geometry)).collect()
        }
    };
    let mut packets = Vec::with_capacity(geometry.area() * geometry.sample_bytes);
    let mut encoder = BlockEncoder::default();
    let mut number = 0;
    for bands in resolutions(geometry.columns, geometry.rows, levels) {
        for plane in &coefficients {
            let coded: Vec<_> = (number..)
                .zip(&bands)
                .map(|(number, band)| {
                    coded_band(&mut encoder, plane, geometry, band, quantiser.planes(number))
                })
                .collect();
            packet::write(&coded, &mut packets);
        }
        number += bands.len();
    }
    markers::write(geometry, &how, &quantiser, &packets)
}

/// Encodes the code-blocks of a band.
fn coded_band(
    encoder: &mut BlockEncoder,
    plane: &[i32],
    geometry: &Geometry,
    band: &Band,
    planes: u32,
) -> CodedBand {
    let blocks = band.blocks(Exponents { width: BLOCK_BITS, height: BLOCK_BITS });
    let coded = blocks.cells().map(|cell| {
        let rows = cell.rows(plane, geometry.columns);
        encoder.encode(rows, cell.columns)
    });
    CodedBand { across: blocks.across, blocks: coded.collect(), missing_planes: planes.saturating_sub(1) }
}

/// The planes of a code-stream, or `None` if it is not of the kind that is decoded here.
///
/// # Errors
/// The stream is damaged.
pub(crate) fn decode(head: &Head<'_>) -> Result<Option<Vec<Vec<i32>>>, String> {
    let coding = &head.coding;
    let is_ordered = coding.is_by_resolution || head.components.len() == 1;
    let is_simple =
        head.is_plain && head.is_one_tile && coding.is_unmarked && coding.layers == 1 && is_ordered;
    let is_whole = coding.precincts.iter().all(|&precinct| precinct == Exponents::WHOLE);
    let fits = head.columns.max(head.rows) <= 1 << 15;
    let is_usual = is_simple && is_whole && fits && coding.block_style == HIGH_THROUGHPUT;
    let bits = head.components.first().map_or(0, |component| component.bits);
    let has_colour_transform = coding.has_colour_transform && head.components.len() >= 3;
    if !is_usual || bits > 16 || head.steps.is_derived || coding.has_colour_transform != has_colour_transform
    {
        return Ok(None);
    }
    let (columns, rows) = (head.columns as usize, head.rows as usize);
    let Some(quantiser) = Quantiser::of(head, bits) else { return Ok(None) };
    let mut planes: Vec<_> = head.components.iter().map(|_| planes::zeros(columns * rows)).collect();
    let body = match *head.bodies {
        [one] => Cow::Borrowed(one),
        _ => Cow::Owned(head.bodies.concat()),
    };
    let mut reader = PacketReader::new(&body);
    let mut decoder = BlockDecoder::default();
    let mut number = 0;
    for bands in resolutions(columns, rows, coding.levels) {
        for plane in &mut planes {
            let most = |offset: usize| quantiser.planes(number + offset);
            let Some(pieces) = reader.packet(&bands, coding.block, most)? else { return Ok(None) };
            for piece in pieces {
                let values = decoder.decode(piece.bytes, piece.cell.columns, piece.cell.height)?;
                piece.cell.put(plane, columns, values);
            }
        }
        number += bands.len();
    }
    Ok(Some(finish(head, &quantiser, planes, has_colour_transform)))
}

/// Samples of coefficients.
fn finish(
    head: &Head<'_>,
    quantiser: &Quantiser,
    mut planes: Vec<Vec<i32>>,
    has_colours: bool,
) -> Vec<Vec<i32>> {
    let (columns, rows) = (head.columns as usize, head.rows as usize);
    let component = head.components.first();
    let shift = component.filter(|first| !first.is_signed).map_or(0, |first| 1 << (first.bits - 1));
    if head.coding.is_reversible {
        for plane in &mut planes {
            wavelet::inverse(plane, columns, rows, head.coding.levels, wavelet::Whole);
        }
        colour::inverse(&mut planes, has_colours);
    } else {
        let mut real: Vec<Vec<f32>> =
            planes.iter().map(|plane| quantiser.restore(plane, columns, rows, head.coding.levels)).collect();
        for plane in &mut real {
            wavelet::inverse(plane, columns, rows, head.coding.levels, wavelet::Real);
        }
        colour::inverse_real(&mut real, has_colours);
        for (plane, real) in planes.iter_mut().zip(real) {
            quantise::whole(&real, plane);
            planes::keep(real);
        }
    }
    if shift != 0 {
        widest(
            #[inline(always)]
            || planes.iter_mut().flatten().for_each(|sample| *sample = sample.saturating_add(shift)),
        );
    }
    planes
}

#[cfg(test)]
mod tests;
