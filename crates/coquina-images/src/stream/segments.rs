//! The marker segments of a code-stream, read with every field checked.
//!
//! In: bytes. Out: [`Size`], [`Coding`] and [`Steps`], and a cursor over segments and tile-parts.
//! Source: ISO/IEC 15444-1, A.4 to A.6.

use super::{SOD, SOT};

/// The largest exponents of code-block sides, less 2, together.
const BLOCK_EXPONENTS_MAX: u8 = 8;
/// The most levels of a wavelet transform.
const LEVELS_MAX: u8 = 32;
/// The most components of an image.
const COMPONENTS_MAX: usize = 16_384;

/// A component of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) bits: u32,
    pub(crate) is_signed: bool,
    pub(crate) is_subsampled: bool,
}

/// The segment SIZ.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) columns: u32,
    pub(super) rows: u32,
    pub(super) is_at_origin: bool,
    pub(super) tiles: u64,
    pub(super) components: Vec<Component>,
}

impl Size {
    pub(super) fn read(segment: &[u8]) -> Result<Self, String> {
        let mut cursor = Cursor::new(segment);
        cursor.u16()?;
        let [mut x, mut y, mut tile_x, mut tile_y] = [[0; 2]; 4];
        for number in 0..2 {
            (x[number], y[number]) = (cursor.u32()?, cursor.u32()?);
        }
        for number in 0..2 {
            (tile_x[number], tile_y[number]) = (cursor.u32()?, cursor.u32()?);
        }
        let count = usize::from(cursor.u16()?);
        let (Some(columns), Some(rows)) = (x[0].checked_sub(x[1]), y[0].checked_sub(y[1])) else {
            return Err("SIZ: an image that ends before it begins".to_owned());
        };
        let is_empty = columns == 0 || rows == 0 || tile_x[0] == 0 || tile_y[0] == 0;
        if is_empty || count == 0 || count > COMPONENTS_MAX || tile_x[1] > x[1] || tile_y[1] > y[1] {
            return Err(format!(
                "SIZ: {rows} x {columns} pixels, {count} components, tiles {tile_y:?} {tile_x:?}"
            ));
        }
        let tiles = |end: u32, [len, from]: [u32; 2]| u64::from(end - from).div_ceil(u64::from(len));
        let components = (0..count).map(|_| Component::read(&mut cursor)).collect::<Result<_, _>>()?;
        Ok(Self {
            columns,
            rows,
            is_at_origin: x[1] == 0 && y[1] == 0,
            tiles: tiles(x[0], tile_x).saturating_mul(tiles(y[0], tile_y)),
            components,
        })
    }
}

impl Component {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, String> {
        let (depth, across, down) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        let bits = u32::from(depth & 0x7f) + 1;
        if bits > 38 || across == 0 || down == 0 {
            return Err(format!("SIZ: a component of {bits} bits, every {down} x {across} pixels"));
        }
        Ok(Self { bits, is_signed: depth & 0x80 != 0, is_subsampled: across != 1 || down != 1 })
    }
}

/// The sides of a code-block or of a precinct, as exponents of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exponents {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Exponents {
    /// A precinct that is the whole resolution.
    pub(crate) const WHOLE: Self = Self { width: 15, height: 15 };
}

/// The segment COD: how code-blocks are cut and coded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coding {
    /// Whether packets have no marks of their own.
    pub(crate) is_unmarked: bool,
    /// Whether packets come resolution by resolution, whatever else they are ordered by.
    pub(crate) is_by_resolution: bool,
    pub(crate) layers: u16,
    pub(crate) has_colour_transform: bool,
    pub(crate) levels: u32,
    /// The sides of a code-block.
    pub(crate) block: Exponents,
    pub(crate) block_style: u8,
    pub(crate) is_reversible: bool,
    /// The sides of the precincts, the smallest resolution first, where they are not the whole.
    pub(crate) precincts: Vec<Exponents>,
}

impl Coding {
    pub(super) fn read(segment: &[u8]) -> Result<Self, String> {
        let mut cursor = Cursor::new(segment);
        let style = cursor.u8()?;
        let order = cursor.u8()?;
        let (layers, transform) = (cursor.u16()?, cursor.u8()?);
        if layers == 0 || transform > 1 {
            return Err(format!("COD: {layers} layers, component transform {transform}"));
        }
        let coding = Self::read_blocks(&mut cursor, style)?;
        Ok(Self {
            is_unmarked: style & 6 == 0,
            is_by_resolution: order <= 2,
            layers,
            has_colour_transform: transform == 1,
            ..coding
        })
    }

    /// A segment COC, which names its component by `wide` bytes and has no layers.
    pub(super) fn read_for_component(segment: &[u8], wide: usize) -> Result<Self, String> {
        let mut cursor = Cursor::new(segment.get(wide..).unwrap_or_default());
        let style = cursor.u8()?;
        Self::read_blocks(&mut cursor, style)
    }

    fn read_blocks(cursor: &mut Cursor<'_>, style: u8) -> Result<Self, String> {
        let (levels, wide, high) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        let (block_style, transform) = (cursor.u8()?, cursor.u8()?);
        if levels > LEVELS_MAX || wide.saturating_add(high) > BLOCK_EXPONENTS_MAX || transform > 1 {
            return Err(format!(
                "COD: {levels} levels, code-blocks of exponents {wide} and {high}, wavelet {transform}"
            ));
        }
        let mut precincts = Vec::new();
        if style & 1 != 0 {
            for _ in 0..=levels {
                let sides = cursor.u8()?;
                precincts.push(Exponents { width: u32::from(sides & 15), height: u32::from(sides >> 4) });
            }
        }
        Ok(Self {
            levels: u32::from(levels),
            block: Exponents { width: u32::from(wide) + 2, height: u32::from(high) + 2 },
            block_style,
            is_reversible: transform == 1,
            precincts,
            ..Self::default()
        })
    }
}

/// The segment QCD: the steps of quantisation, band by band.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) guard_bits: u32,
    /// Exponent and mantissa of each band, the lowest first; one pair where the others follow from it.
    pub(crate) bands: Vec<(u32, u32)>,
    /// Whether the first band's step says those of the others.
    pub(crate) is_derived: bool,
}

impl Steps {
    pub(super) fn read(segment: &[u8]) -> Result<Self, String> {
        let (&style, rest) = segment.split_first().ok_or("QCD: empty")?;
        let bands: Vec<_> = match style & 31 {
            0 => rest.iter().map(|&byte| (u32::from(byte >> 3), 0)).collect(),
            1 | 2 => {
                let words = rest.chunks_exact(2).filter_map(|pair| pair.first_chunk());
                words.map(|&pair| u32::from(u16::from_be_bytes(pair))).map(|w| (w >> 11, w & 0x7ff)).collect()
            }
            other => return Err(format!("QCD: quantisation style {other}")),
        };
        if bands.is_empty() {
            return Err("QCD: no steps".to_owned());
        }
        Ok(Self { guard_bits: u32::from(style >> 5), bands, is_derived: style & 31 == 1 })
    }
}

/// A cursor over marker segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    left: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(left: &'a [u8]) -> Self {
        Self { left }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.left.split_first_chunk().ok_or("code-stream: ends within its head")?;
        self.left = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, String> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, String> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next marker, which stays ahead.
    pub(super) fn marker_ahead(&self) -> Result<u16, String> {
        Self { left: self.left }.u16()
    }

    /// The next marker and what its segment holds.
    pub(super) fn segment(&mut self) -> Result<(u16, &'a [u8]), String> {
        let marker = self.u16()?;
        let len = usize::from(self.u16()?);
        let inside = len.checked_sub(2).and_then(|len| self.left.split_at_checked(len));
        let (inside, rest) = inside.ok_or_else(|| {
            format!("code-stream: a segment {marker:04x} of {len} bytes, {} left", self.left.len())
        })?;
        if marker < 0xff00 || marker == SOD {
            return Err(format!("code-stream: {marker:04x} is no marker of a head"));
        }
        self.left = rest;
        Ok((marker, inside))
    }

    /// The tile-part ahead, behind its first segment; the cursor goes behind it.
    pub(super) fn part(&mut self) -> Result<Self, String> {
        let from = self.left;
        let (marker, segment) = self.segment()?;
        let mut fields = Self::new(segment);
        fields.u16()?;
        let len = fields.u32()? as usize;
        // Only the last tile-part may say nothing of its length; the mark of the end is not of it.
        let len = if len == 0 { from.len().saturating_sub(2) } else { len };
        let begun = from.len() - self.left.len();
        let inside = from.get(begun..len).filter(|_| marker == SOT);
        let inside = inside
            .ok_or_else(|| format!("code-stream: a tile-part of {len} bytes, {} are left", from.len()))?;
        self.left = from.get(len..).unwrap_or_default();
        Ok(Self::new(inside))
    }

    /// All that is left behind the marker ahead.
    pub(super) fn behind_marker(&self) -> &'a [u8] {
        self.left.get(2..).unwrap_or_default()
    }
}
