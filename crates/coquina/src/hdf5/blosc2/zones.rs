//! Zone maps: the least and the greatest number or text of each field, for each run of items ("zone") of a chunk.
//!
//! In: the items of a chunk on its way into a frame, and which fields of them are wanted. Out: a metalayer of that
//! frame; and when it is read, bounds for any run of items. It stands in front of the frame, where one read gets it.
//! Source: `docs/formats/hdf5-filters.md`, "Zone maps"; `docs/decisions/0009-zone-maps-inside-chunks.md`.
//! Invariant: no item that counts lies outside of the bounds of its zone; a map that contradicts itself is none.

use std::ops::Range;

use coquina_kernels::{Type, best_level, bounds};

use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::base::text_bounds::{KEY_BYTES, TextBounds, are_ended};
use crate::frame::Statistics;

/// The metalayer of the frame, sealed.
pub(super) const METALAYER: &str = "coquina_zones";
const VERSION: u8 = 1;
const HAS_NAN: u8 = 1;
// Of texts the same bit says that zeros may be elsewhere than at the ends of items.
/// Before the fields: version, a byte that is 0, count of fields, items, items of a zone.
const HEAD_BYTES: usize = 12;
const FIELD_BYTES: usize = 5;
/// What a map may take of a chunk; and always this much.
const SHARE: usize = 16;
const BYTES_FREE: usize = 512;
/// Fields are copied out of so many bytes of items at a time, which stay in the nearest cache.
const PIECE_BYTES: usize = 16 << 10;

/// The code of a type is its place here; only to be added to.
const TYPES: [Type; 11] = [
    Type::Bool,
    Type::I8,
    Type::U8,
    Type::I16,
    Type::U16,
    Type::I32,
    Type::U32,
    Type::I64,
    Type::U64,
    Type::F32,
    Type::F64,
];

/// The code of a text whose first `n` bytes are kept is `n` more.
const TEXT_CODE: u8 = 16;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneKind {
    /// A number of this type, little-endian.
    Number(Type),
    /// Text of a fixed width, of which so many bytes are kept: 1 to 8.
    Text(u8),
}

impl ZoneKind {
    /// Text of `width` bytes.
    pub fn text(width: usize) -> Self {
        Self::Text(u8::try_from(width.min(KEY_BYTES)).unwrap_or(0))
    }

    /// Bytes of an item that bounds are of.
    fn item_bytes(self) -> usize {
        match self {
            Self::Number(ty) => ty.bytes(),
            Self::Text(bytes) => bytes.into(),
        }
    }

    /// The type of what is stored: a text as its key.
    fn stored(self) -> Type {
        match self {
            Self::Number(ty) => ty,
            Self::Text(_) => Type::U64,
        }
    }

    fn check(self) -> Result<()> {
        match self {
            Self::Number(ty) if !TYPES.contains(&ty) => {
                Err(Error::invalid(format!("zones: {} has no order", ty.name())))
            }
            Self::Text(bytes) if !(1..=KEY_BYTES).contains(&bytes.into()) => {
                Err(Error::invalid(format!("zones: {bytes} bytes of texts, takes 1 to {KEY_BYTES}")))
            }
            _ => Ok(()),
        }
    }

    fn code(self) -> Option<u8> {
        match self {
            Self::Number(ty) => u8::try_from(TYPES.iter().position(|known| *known == ty)?).ok(),
            Self::Text(bytes) => Some(TEXT_CODE + bytes),
        }
    }

    fn of_code(code: u8) -> Option<Self> {
        let number = TYPES.get(usize::from(code)).map(|&ty| Self::Number(ty));
        number.or_else(|| code.checked_sub(TEXT_CODE).map(Self::Text))
    }

    fn name(self) -> String {
        match self {
            Self::Number(ty) => ty.name().into(),
            Self::Text(bytes) => format!("text of {bytes} bytes"),
        }
    }
}

/// A number or a text in every item of which bounds are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneField {
    /// Where it starts in the item.
    pub offset: usize,
    /// What it is.
    pub kind: ZoneKind,
}

impl ZoneField {
    /// Whether items of so many bytes have it, and its type an order.
    pub(crate) fn check(&self, item_bytes: usize) -> Result<()> {
        let Self { offset, kind } = *self;
        kind.check()?;
        if offset.checked_add(kind.item_bytes()).is_none_or(|end| end > item_bytes) {
            let name = kind.name();
            return Err(Error::invalid(format!("zones: {name} at {offset} of items of {item_bytes} bytes")));
        }
        Ok(())
    }
}

/// What is known of the items of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Zones {
    /// Items that count, from the first on.
    rows: usize,
    zone_rows: usize,
    fields: Vec<ZoneField>,
    /// For each field: the flags of all zones, the least numbers or keys of texts, the greatest.
    bytes: Vec<u8>,
}

/// The part of one field.
struct Column {
    flags: Range<usize>,
    mins: Range<usize>,
    maxs: Range<usize>,
}

impl Zones {
    fn empty(fields: &[ZoneField], rows: usize, zone_rows: usize) -> Self {
        let mut zones =
            Self { rows, zone_rows: zone_rows.max(1), fields: fields.to_vec(), bytes: Vec::new() };
        zones.bytes = vec![0; zones.column(zones.fields.len()).flags.start];
        zones
    }

    fn count(&self) -> usize {
        self.rows.div_ceil(self.zone_rows)
    }

    /// Where field `number` stands; one too many gives the end.
    fn column(&self, number: usize) -> Column {
        let count = self.count();
        let of = |field: &ZoneField| count * (1 + 2 * field.kind.stored().bytes());
        let start = self.fields.iter().take(number).map(of).sum();
        let width = self.fields.get(number).map_or(0, |field| field.kind.stored().bytes());
        let (mins, maxs) = (start + count, start + count + count * width);
        Column { flags: start..mins, mins: mins..maxs, maxs: maxs..maxs + count * width }
    }

    /// Those of the first `rows` items of `item_bytes` bytes; the fields are within them.
    pub(super) fn gather(fields: &[ZoneField], item_bytes: usize, items: &[u8], zone_rows: usize) -> Self {
        let mut zones = Self::empty(fields, items.len() / item_bytes.max(1), zone_rows);
        let widths = fields.iter().map(|field| field.kind.item_bytes()).sum::<usize>();
        let is_copied = !matches!(fields, [only] if only.kind.item_bytes() == item_bytes);
        let mut scratch = vec![0; if is_copied { widths * zones.zone_rows.min(zones.rows) } else { 0 }];
        for (zone, items) in items.chunks(zones.zone_rows * item_bytes.max(1)).enumerate() {
            if is_copied {
                copy_fields(fields, item_bytes, items, &mut scratch);
            }
            let (rows, mut at) = (items.len() / item_bytes.max(1), 0);
            for (number, field) in fields.iter().enumerate() {
                let bytes = rows * field.kind.item_bytes();
                let values = if is_copied { scratch.get(at..at + bytes).unwrap_or_default() } else { items };
                let known = match field.kind {
                    ZoneKind::Number(ty) => statistics(ty, values),
                    ZoneKind::Text(bytes) => {
                        // Of the beginning of an item more is said than needed: that it is ended if all of it is.
                        let is_alone = fields.len() == 1 && field.offset == 0;
                        let are_ended = is_alone && are_ended(items, item_bytes);
                        of_texts(usize::from(bytes), values, are_ended)
                    }
                };
                zones.put(number, zone, known);
                at += bytes;
            }
        }
        zones
    }

    fn put(&mut self, number: usize, zone: usize, known: Option<Statistics>) {
        let Some(Statistics { min, max, has_nan, .. }) = known else { return };
        let (Column { flags, mins, maxs }, width) =
            (self.column(number), self.fields[number].kind.stored().bytes());
        self.bytes[flags.start + zone] = if has_nan { HAS_NAN } else { 0 };
        self.bytes[mins.start + zone * width..][..width].copy_from_slice(&min[..width]);
        self.bytes[maxs.start + zone * width..][..width].copy_from_slice(&max[..width]);
    }

    /// What is known of one field in some zones.
    fn known(&self, number: usize, zones: Range<usize>) -> Option<Statistics> {
        let (Column { flags, mins, maxs }, ty) =
            (self.column(number), self.fields.get(number)?.kind.stored());
        let of = |part: Range<usize>, width: usize| {
            self.bytes.get(part)?.get(zones.start * width..zones.end * width)
        };
        let min = bounds(best_level(), ty, of(mins, ty.bytes())?)?.min;
        let max = bounds(best_level(), ty, of(maxs, ty.bytes())?)?.max;
        let has_nan = of(flags, 1)?.contains(&HAS_NAN);
        Some(Statistics { min, max, is_exact: true, has_nan })
    }

    /// With zones of twice as many items.
    fn joined(&self) -> Self {
        let mut joined = Self::empty(&self.fields, self.rows, 2 * self.zone_rows);
        for number in 0..self.fields.len() {
            for zone in 0..joined.count() {
                let known = self.known(number, 2 * zone..(2 * zone + 2).min(self.count()));
                joined.put(number, zone, known);
            }
        }
        joined
    }

    /// With as many zones as are worth it in a frame with a chunk of so many bytes; `None` where no map is.
    pub(super) fn fitted(mut self, cbytes: usize) -> Option<Self> {
        while self.count() > 1 && self.stored_bytes() > BYTES_FREE.max(cbytes / SHARE) {
            self = self.joined();
        }
        (self.count() > 0 && self.stored_bytes() <= BYTES_FREE.max(cbytes)).then_some(self)
    }

    fn stored_bytes(&self) -> usize {
        HEAD_BYTES + self.fields.len() * FIELD_BYTES + self.bytes.len()
    }

    /// The least and the greatest number that `width` bytes at `offset` of the items of `rows` are, and their type.
    pub(super) fn bounds(
        &self,
        rows: Range<usize>,
        offset: usize,
        width: usize,
    ) -> Option<(Type, Statistics)> {
        let type_of = |field: &ZoneField| match field.kind {
            ZoneKind::Number(ty) if field.offset == offset && ty.bytes() == width => Some(ty),
            _ => None,
        };
        let (number, ty) = self.field_of(type_of)?;
        let is_border = |row: usize| row.is_multiple_of(self.zone_rows) || row == self.rows;
        let is_exact = is_border(rows.start) && is_border(rows.end);
        let known = self.known(number, self.zones_of(&rows)?)?;
        Some((ty, Statistics { is_exact, ..known }))
    }

    /// What is known of the texts of `width` bytes at `offset` of the items of `rows`.
    pub(super) fn text_bounds(&self, rows: &Range<usize>, offset: usize, width: usize) -> Option<TextBounds> {
        let bytes_of = |field: &ZoneField| match field.kind {
            ZoneKind::Text(bytes) if field.offset == offset => Some(usize::from(bytes)),
            _ => None,
        };
        let (number, bytes) = self.field_of(bytes_of).filter(|&(_, bytes)| bytes <= width)?;
        let Statistics { min, max, has_nan, .. } = self.known(number, self.zones_of(rows)?)?;
        let bounds = TextBounds::of_keys(u64::from_le_bytes(min), u64::from_le_bytes(max), bytes)?;
        Some(bounds.ended(!has_nan))
    }

    /// The first field that is wanted, and what it is.
    fn field_of<T>(&self, wanted: impl Fn(&ZoneField) -> Option<T>) -> Option<(usize, T)> {
        self.fields.iter().enumerate().find_map(|(number, field)| Some((number, wanted(field)?)))
    }

    /// The zones with these rows, if all of them count.
    fn zones_of(&self, rows: &Range<usize>) -> Option<Range<usize>> {
        let is_known = !rows.is_empty() && rows.end <= self.rows;
        is_known.then(|| rows.start / self.zone_rows..rows.end.div_ceil(self.zone_rows))
    }

    /// Bytes of memory that keeping them takes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + self.fields.len() * size_of::<ZoneField>()
    }

    /// The content of the metalayer; `None` for numbers that it has no room for.
    pub(super) fn write(&self) -> Option<Vec<u8>> {
        let mut out = vec![VERSION, 0];
        out.extend(u16::try_from(self.fields.len()).ok()?.to_le_bytes());
        out.extend(u32::try_from(self.rows).ok()?.to_le_bytes());
        out.extend(u32::try_from(self.zone_rows).ok()?.to_le_bytes());
        for ZoneField { offset, kind } in &self.fields {
            out.extend(u32::try_from(*offset).ok()?.to_le_bytes());
            out.push(kind.code()?);
        }
        out.extend(&self.bytes);
        Some(out)
    }

    /// Those of a chunk of `rows_max` items of `item_bytes`; `None` for what no writer of ours writes.
    pub(super) fn read(content: &[u8], rows_max: usize, item_bytes: usize) -> Option<Self> {
        let mut r = ByteReader::new(content);
        let [version, zero] = r.array("version").ok()?;
        let nfields = usize::from(u16::from_le_bytes(r.array("count of fields").ok()?));
        let rows = usize::try_from(r.u32_le("items").ok()?).ok()?;
        let zone_rows = usize::try_from(r.u32_le("items of a zone").ok()?).ok()?;
        if version != VERSION || zero != 0 || rows == 0 || rows > rows_max || zone_rows == 0 {
            return None;
        }
        let bytes = content.get(HEAD_BYTES..)?.get(nfields * FIELD_BYTES..)?;
        let mut fields = Vec::with_capacity(nfields);
        for _ in 0..nfields {
            let offset = usize::try_from(r.u32_le("offset").ok()?).ok()?;
            let field = ZoneField { offset, kind: ZoneKind::of_code(r.u8("type").ok()?)? };
            field.check(item_bytes).ok()?;
            fields.push(field);
        }
        // Sums of few items each: there are no more zones than items.
        let each = fields.iter().map(|field| 1 + 2 * field.kind.stored().bytes()).sum::<usize>();
        if rows.div_ceil(zone_rows).checked_mul(each) != Some(bytes.len()) {
            return None;
        }
        let zones = Self { rows, zone_rows, fields, bytes: bytes.to_vec() };
        let are_flags =
            |number| zones.bytes[zones.column(number).flags].iter().all(|&flags| flags <= HAS_NAN);
        (0..nfields).all(are_flags).then_some(zones)
    }
}

fn statistics(ty: Type, values: &[u8]) -> Option<Statistics> {
    let coquina_kernels::Bounds { min, max, has_nan } = bounds(best_level(), ty, values)?;
    Some(Statistics { min, max, is_exact: true, has_nan })
}

/// The bounds of texts of which `bytes` bytes each are given, as keys.
fn of_texts(bytes: usize, texts: &[u8], are_ended: bool) -> Option<Statistics> {
    let (min, max) = TextBounds::of_texts(bytes, texts)?.keys();
    Some(Statistics { min: min.to_le_bytes(), max: max.to_le_bytes(), is_exact: true, has_nan: !are_ended })
}

/// Copies the fields out of some items, each to a place of its own, one behind the other.
fn copy_fields(fields: &[ZoneField], item_bytes: usize, items: &[u8], out: &mut [u8]) {
    let (rows, piece) = (items.len() / item_bytes, (PIECE_BYTES / item_bytes).max(1));
    for (number, items) in items.chunks(piece * item_bytes).enumerate() {
        let (first, mut at) = (number * piece, 0);
        for field in fields {
            let width = field.kind.item_bytes();
            let out = &mut out[at + first * width..][..items.len() / item_bytes * width];
            match width {
                1 => copy_field::<1>(items, item_bytes, field.offset, out),
                2 => copy_field::<2>(items, item_bytes, field.offset, out),
                3 => copy_field::<3>(items, item_bytes, field.offset, out),
                4 => copy_field::<4>(items, item_bytes, field.offset, out),
                5 => copy_field::<5>(items, item_bytes, field.offset, out),
                6 => copy_field::<6>(items, item_bytes, field.offset, out),
                7 => copy_field::<7>(items, item_bytes, field.offset, out),
                _ => copy_field::<8>(items, item_bytes, field.offset, out),
            }
            at += rows * width;
        }
    }
}

/// Copies `N` bytes at `offset` of every item.
fn copy_field<const N: usize>(items: &[u8], item_bytes: usize, offset: usize, out: &mut [u8]) {
    for (item, out) in items.chunks_exact(item_bytes).zip(out.as_chunks_mut::<N>().0) {
        if let Some(field) = item.get(offset..).and_then(<[u8]>::first_chunk) {
            *out = *field;
        }
    }
}

#[cfg(test)]
mod tests;
