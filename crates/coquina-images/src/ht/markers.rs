//! The marker segments around packets.
//!
//! In: what an image is and how it is coded. Out: a code-stream.
//! Source: ISO/IEC 15444-1, Annex A; ISO/IEC 15444-15, A.3.

use super::quantise::Quantiser;
use super::{BLOCK_BITS, How};
use crate::image::Geometry;
use crate::stream::{CAP, COD, EOC, HIGH_THROUGHPUT, QCD, SIZ, SOD, SOT};

/// The start of a code-stream.
const SOC: u16 = 0xff4f;
/// The capabilities of Part 15: in SIZ, and as a bit of CAP.
const CAPABLE: u16 = 0x4000;
const PART_15: u32 = 1 << 17;
/// The bit of the capabilities of Part 15 for the transform of real numbers.
const IRREVERSIBLE: u16 = 0x20;

/// The code-stream of packets.
pub(super) fn write(geometry: &Geometry, how: &How, quantiser: &Quantiser, packets: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(packets.len() + 256);
    word(&mut out, SOC);
    segment(&mut out, SIZ, &size(geometry));
    segment(&mut out, CAP, &capabilities(how, quantiser));
    segment(&mut out, COD, &coding(how));
    segment(&mut out, QCD, &steps(how, quantiser));
    // The tile-part counts from its own marker to the end of its packets.
    let len = u32::try_from(packets.len() + 14).unwrap_or(0);
    let mut part = vec![0, 0];
    part.extend(len.to_be_bytes());
    part.extend([0, 1]);
    segment(&mut out, SOT, &part);
    word(&mut out, SOD);
    out.extend_from_slice(packets);
    word(&mut out, EOC);
    out
}

fn word(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_be_bytes());
}

/// Appends a marker, the length of its segment, and the segment.
fn segment(out: &mut Vec<u8>, marker: u16, inside: &[u8]) {
    word(out, marker);
    word(out, u16::try_from(inside.len() + 2).unwrap_or(u16::MAX));
    out.extend_from_slice(inside);
}

fn size(geometry: &Geometry) -> Vec<u8> {
    let mut out = CAPABLE.to_be_bytes().to_vec();
    let sides = [geometry.columns, geometry.rows].map(|side| u32::try_from(side).unwrap_or(0));
    // The image, its origin, the one tile and its origin.
    for pair in [sides, [0, 0], sides, [0, 0]] {
        pair.iter().for_each(|side| out.extend(side.to_be_bytes()));
    }
    word(&mut out, u16::try_from(geometry.components).unwrap_or(0));
    let depth = (geometry.bits() - 1).to_le_bytes()[0] | if geometry.is_signed { 0x80 } else { 0 };
    (0..geometry.components).for_each(|_| out.extend([depth, 1, 1]));
    out
}

fn capabilities(how: &How, quantiser: &Quantiser) -> Vec<u8> {
    let planes = (0..quantiser.steps.len()).map(|number| quantiser.planes(number)).max().unwrap_or(0);
    // The bound of magnitudes: 8 planes and fewer are 0, and up to 27 each has its number.
    let bound = planes.clamp(8, 27) - 8;
    let irreversible = if how.step.is_some() { IRREVERSIBLE } else { 0 };
    let mut out = PART_15.to_be_bytes().to_vec();
    word(&mut out, irreversible | u16::try_from(bound).unwrap_or(0));
    out
}

fn coding(how: &How) -> Vec<u8> {
    let block = (BLOCK_BITS - 2).to_le_bytes()[0];
    let levels = how.levels.to_le_bytes()[0];
    // Packets without marks, by layer, resolution and component; one layer.
    let front = [0, 0, 0, 1, u8::from(how.has_colour_transform)];
    let back = [levels, block, block, HIGH_THROUGHPUT, u8::from(how.step.is_none())];
    [front, back].concat()
}

fn steps(how: &How, quantiser: &Quantiser) -> Vec<u8> {
    let guard = quantiser.guard_bits << 5;
    let style = guard | if how.step.is_some() { 2 } else { 0 };
    let mut out = vec![style.to_le_bytes()[0]];
    for &(exponent, mantissa) in &quantiser.steps {
        if how.step.is_some() {
            word(&mut out, u16::try_from(exponent << 11 | mantissa).unwrap_or(0));
        } else {
            out.push((exponent << 3).to_le_bytes()[0]);
        }
    }
    out
}
