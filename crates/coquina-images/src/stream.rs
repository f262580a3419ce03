//! The head of a code-stream: what the image is and how it is coded, without decoding any of it.
//!
//! In: a JPEG 2000 code-stream, bare or in the boxes of a JP2 file. Out: a [`Head`].
//! Source: ISO/IEC 15444-1, Annex A and I; ISO/IEC 15444-15, A.3.
//! Invariant: what passes [`Head::check`] asks a decoder for memory in proportion to the samples that are wanted.

mod segments;

use segments::Cursor;
pub(crate) use segments::{Coding, Component, Exponents, Steps};

/// The start of a code-stream: SOC and SIZ.
const START: [u8; 4] = [0xff, 0x4f, 0xff, 0x51];
/// The first box of a JP2 file.
const SIGNATURE: &[u8] = b"\0\0\0\x0cjP  ";
/// Samples that each tile and each precinct must have on average: a decoder keeps some hundred bytes for each.
const SAMPLES_A_PART: u64 = 64;
/// Packets that any code-stream may have, beyond one for each sample: a decoder looks at each, even where there is none.
const PACKETS_FREE: u64 = 1 << 16;

/// Markers: those that are read, those that say nothing which decoding needs, and those that are left to OpenJPEG.
pub(crate) const SIZ: u16 = 0xff51;
pub(crate) const CAP: u16 = 0xff50;
pub(crate) const COD: u16 = 0xff52;
const COC: u16 = 0xff53;
pub(crate) const QCD: u16 = 0xff5c;
pub(crate) const SOT: u16 = 0xff90;
pub(crate) const SOD: u16 = 0xff93;
pub(crate) const EOC: u16 = 0xffd9;
const TLM: u16 = 0xff55;
const PLT: u16 = 0xff58;
const CPF: u16 = 0xff59;
const COM: u16 = 0xff64;
const RGN: u16 = 0xff5e;
const QCC: u16 = 0xff5d;
const POC: u16 = 0xff5f;
const PLM: u16 = 0xff57;
const PPM: u16 = 0xff60;
const PPT: u16 = 0xff61;
const CRG: u16 = 0xff63;
/// The bit of a code-block style that says high throughput.
pub(crate) const HIGH_THROUGHPUT: u8 = 0x40;

/// What a code-stream says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Head<'a> {
    /// The code-stream, without what was around it.
    pub(crate) stream: &'a [u8],
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    /// Whether image and tile begin at the origin and there is one tile.
    pub(crate) is_one_tile: bool,
    tiles: u64,
    pub(crate) components: Vec<Component>,
    pub(crate) coding: Coding,
    pub(crate) steps: Steps,
    /// Whether nothing but what this struct holds says how to decode.
    pub(crate) is_plain: bool,
    /// The bytes of the tile-parts, one behind the other.
    pub(crate) bodies: Vec<&'a [u8]>,
    /// Precincts of all components and resolutions, at most, where these are cut in precincts.
    precincts: u64,
    /// The most layers that any part has, and places of packets in a layer, at most.
    layers_max: u16,
    places: u64,
}

impl<'a> Head<'a> {
    /// Reads the head of a code-stream or JP2 file.
    ///
    /// # Errors
    /// It is none, is cut, or says what cannot be.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let stream = unboxed(bytes)?;
        let mut cursor = Cursor::new(stream.get(2..).unwrap_or_default());
        let (_, segment) = cursor.segment()?;
        let size = segments::Size::read(segment)?;
        let mut head = Self {
            stream,
            columns: size.columns,
            rows: size.rows,
            is_one_tile: size.is_at_origin && size.tiles == 1,
            tiles: size.tiles,
            components: size.components,
            coding: Coding::default(),
            steps: Steps::default(),
            is_plain: true,
            bodies: Vec::new(),
            precincts: 0,
            layers_max: 0,
            places: 0,
        };
        let (mut has_coding, mut has_steps) = (false, false);
        while cursor.marker_ahead()? != SOT {
            let (marker, segment) = cursor.segment()?;
            match marker {
                COD => {
                    head.coding = Coding::read(segment)?;
                    head.count_precincts(&head.coding.clone(), head.components.len());
                    has_coding = true;
                }
                QCD => {
                    head.steps = Steps::read(segment)?;
                    has_steps = true;
                }
                _ => head.other(marker, segment)?,
            }
        }
        if !(has_coding && has_steps) {
            return Err("code-stream: a head without COD or QCD".to_owned());
        }
        head.walk_parts(cursor)?;
        Ok(head)
    }

    /// Whether the image has exactly `samples` samples of `sample_bytes` bytes, and needs no more room than such ones.
    ///
    /// # Errors
    /// It has others, or is cut in so many parts that a decoder would need far more memory than the image.
    pub(crate) fn check(&self, samples: usize, sample_bytes: usize) -> Result<(), String> {
        let (columns, rows, components) = (self.columns, self.rows, self.components.len());
        let found = u64::from(columns) * u64::from(rows);
        if found.checked_mul(components as u64) != Some(samples as u64) {
            return Err(format!(
                "code-stream of {rows} x {columns} pixels with {components} components: not {samples} samples"
            ));
        }
        let first = self.components.first();
        for component in &self.components {
            if component.bits as usize > 8 * sample_bytes {
                return Err(format!("samples of {} bits do not fit {sample_bytes} bytes", component.bits));
            }
            if component.is_subsampled || Some(component) != first {
                return Err("code-stream: components that differ, which no block has".to_owned());
            }
        }
        let samples = samples as u64;
        let parts_max = 1024 + samples / SAMPLES_A_PART;
        let tiles = self.tiles.saturating_mul(components as u64);
        let packets = self.places.saturating_mul(self.layers_max.into());
        for (parts, what, most) in [
            (tiles, "tiles of components", parts_max),
            (self.precincts, "precincts", parts_max),
            (packets, "packets", PACKETS_FREE + samples),
        ] {
            if parts > most {
                return Err(format!(
                    "code-stream: {parts} {what} for {samples} samples, the limit is {most}"
                ));
            }
        }
        Ok(())
    }

    /// Whether all code-blocks are coded with high throughput and in no other way.
    pub(crate) fn is_high_throughput(&self) -> bool {
        self.coding.block_style & HIGH_THROUGHPUT != 0
    }

    /// Takes note of a segment that is not read.
    fn other(&mut self, marker: u16, segment: &[u8]) -> Result<(), String> {
        match marker {
            CAP | COM | TLM | PLT | CPF => return Ok(()),
            COD => self.count_precincts(&Coding::read(segment)?, self.components.len()),
            COC => {
                let wide = if self.components.len() < 257 { 1 } else { 2 };
                self.count_precincts(&Coding::read_for_component(segment, wide)?, 1);
            }
            QCD | QCC | RGN | POC | PLM | PPM | PPT | CRG => {}
            // OpenJPEG looks for the next marker within such a segment, and would find others than stand here.
            _ => return Err(format!("code-stream: the marker {marker:04x} is of no head")),
        }
        self.is_plain = false;
        Ok(())
    }

    /// Adds the precincts that so many components of an image of this size have at most, and the places of packets.
    fn count_precincts(&mut self, coding: &Coding, components: usize) {
        self.layers_max = self.layers_max.max(coding.layers);
        let whole = vec![Exponents::WHOLE; coding.levels as usize + 1];
        let sizes = if coding.precincts.is_empty() { &whole } else { &coding.precincts };
        let columns = u64::from(self.columns);
        let rows = u64::from(self.rows);
        let levels = u32::try_from(sizes.len()).unwrap_or(0);
        for (number, &Exponents { width, height }) in (1..).zip(sizes) {
            let halvings = (levels - number).min(63);
            let parts = |len: u64, bits: u32| (len >> halvings >> bits) + 2;
            let all = parts(columns, width).saturating_mul(parts(rows, height));
            // Tiles cut precincts; each has at least one of every size.
            let all = all.saturating_add(self.tiles.saturating_mul(4));
            let all = all.saturating_mul(components as u64);
            self.places = self.places.saturating_add(all);
            if !coding.precincts.is_empty() {
                self.precincts = self.precincts.saturating_add(all);
            }
        }
    }

    /// Finds the bytes of all tile-parts.
    fn walk_parts(&mut self, mut cursor: Cursor<'a>) -> Result<(), String> {
        while let Ok(SOT) = cursor.marker_ahead() {
            let mut part = cursor.part()?;
            while part.marker_ahead()? != SOD {
                let (marker, segment) = part.segment()?;
                self.other(marker, segment)?;
            }
            self.bodies.push(part.behind_marker());
        }
        Ok(())
    }
}

/// The code-stream in the boxes of a JP2 file; bytes that are no such file as they are.
fn unboxed(bytes: &[u8]) -> Result<&[u8], String> {
    let mut left = bytes;
    while bytes.starts_with(SIGNATURE) {
        let Some((size, kind)) = left.first_chunk::<8>().map(|front| front.split_at(4)) else {
            return Err("JP2 file without a code-stream".to_owned());
        };
        let long = left.get(8..).and_then(|rest| rest.first_chunk()).map(|&size| u64::from_be_bytes(size));
        let (front, size) = match size {
            [0, 0, 0, 0] => (8, left.len() as u64),
            [0, 0, 0, 1] => (16, long.unwrap_or(0)),
            _ => (8, size.iter().fold(0, |size, &byte| size << 8 | u64::from(byte))),
        };
        let inside = usize::try_from(size).ok().and_then(|size| left.get(front..size));
        let inside = inside.ok_or_else(|| format!("JP2 file: a box of {size} bytes, {} left", left.len()))?;
        if kind == b"jp2c" {
            return started(inside);
        }
        left = left.get(front + inside.len()..).unwrap_or_default();
    }
    started(bytes)
}

fn started(stream: &[u8]) -> Result<&[u8], String> {
    if stream.starts_with(&START) {
        return Ok(stream);
    }
    Err("not a JPEG 2000 code-stream: it does not start with SOC and SIZ".to_owned())
}
