//! Zone maps: the least and the greatest number of each field, for each run of items ("zone") of a chunk.
//!
//! In: the items of a chunk on its way into a frame, and which numbers in them are wanted. Out: a metalayer of that
//! frame; and when it is read, bounds for any run of items. It stands in front of the frame, where one read gets it.
//! Source: `docs/formats/hdf5-filters.md`, "Zone maps"; `docs/decisions/0009-zone-maps-inside-chunks.md`.
//! Invariant: no item that counts lies outside of the bounds of its zone; a map that contradicts itself is none.

use std::ops::Range;

use coquina_kernels::{Type, best_level, bounds};

use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::frame::Statistics;

/// The metalayer of the frame, sealed.
pub(super) const METALAYER: &str = "coquina_zones";
const VERSION: u8 = 1;
const HAS_NAN: u8 = 1;
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

/// A number in every item of which bounds are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneField {
    /// Where it starts in the item.
    pub offset: usize,
    /// Its type, little-endian.
    pub ty: Type,
}

impl ZoneField {
    /// Whether items of so many bytes have it, and its type an order.
    pub(crate) fn check(&self, item_bytes: usize) -> Result<()> {
        let Self { offset, ty } = *self;
        if !TYPES.contains(&ty) {
            return Err(Error::invalid(format!("zones: {} has no order", ty.name())));
        }
        if offset.checked_add(ty.bytes()).is_none_or(|end| end > item_bytes) {
            let name = ty.name();
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
    /// For each field: the flags of all zones, the least numbers, the greatest.
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
        let of = |field: &ZoneField| count * (1 + 2 * field.ty.bytes());
        let start = self.fields.iter().take(number).map(of).sum();
        let width = self.fields.get(number).map_or(0, |field| field.ty.bytes());
        let (mins, maxs) = (start + count, start + count + count * width);
        Column { flags: start..mins, mins: mins..maxs, maxs: maxs..maxs + count * width }
    }

    /// Those of the first `rows` items of `item_bytes` bytes; the fields are within them.
    pub(super) fn gather(fields: &[ZoneField], item_bytes: usize, items: &[u8], zone_rows: usize) -> Self {
        let mut zones = Self::empty(fields, items.len() / item_bytes.max(1), zone_rows);
        let widths = fields.iter().map(|field| field.ty.bytes()).sum::<usize>();
        let is_copied = !matches!(fields, [only] if only.ty.bytes() == item_bytes);
        let mut scratch = vec![0; if is_copied { widths * zones.zone_rows.min(zones.rows) } else { 0 }];
        for (zone, items) in items.chunks(zones.zone_rows * item_bytes.max(1)).enumerate() {
            if is_copied {
                copy_fields(fields, item_bytes, items, &mut scratch);
            }
            let (rows, mut at) = (items.len() / item_bytes.max(1), 0);
            for (number, field) in fields.iter().enumerate() {
                let bytes = rows * field.ty.bytes();
                let values = if is_copied { scratch.get(at..at + bytes).unwrap_or_default() } else { items };
                zones.put(number, zone, statistics(field.ty, values));
                at += bytes;
            }
        }
        zones
    }

    fn put(&mut self, number: usize, zone: usize, known: Option<Statistics>) {
        let Some(Statistics { min, max, has_nan, .. }) = known else { return };
        let (Column { flags, mins, maxs }, width) = (self.column(number), self.fields[number].ty.bytes());
        self.bytes[flags.start + zone] = if has_nan { HAS_NAN } else { 0 };
        self.bytes[mins.start + zone * width..][..width].copy_from_slice(&min[..width]);
        self.bytes[maxs.start + zone * width..][..width].copy_from_slice(&max[..width]);
    }

    /// What is known of one field in some zones.
    fn known(&self, number: usize, zones: Range<usize>) -> Option<Statistics> {
        let (Column { flags, mins, maxs }, ty) = (self.column(number), self.fields.get(number)?.ty);
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
        let is_it = |field: &ZoneField| field.offset == offset && field.ty.bytes() == width;
        let number = self.fields.iter().position(is_it)?;
        if rows.is_empty() || rows.end > self.rows {
            return None;
        }
        let is_border = |row: usize| row.is_multiple_of(self.zone_rows) || row == self.rows;
        let is_exact = is_border(rows.start) && is_border(rows.end);
        let zones = rows.start / self.zone_rows..rows.end.div_ceil(self.zone_rows);
        let known = self.known(number, zones)?;
        Some((self.fields.get(number)?.ty, Statistics { is_exact, ..known }))
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
        for ZoneField { offset, ty } in &self.fields {
            out.extend(u32::try_from(*offset).ok()?.to_le_bytes());
            out.push(u8::try_from(TYPES.iter().position(|known| known == ty)?).ok()?);
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
            let field = ZoneField { offset, ty: *TYPES.get(usize::from(r.u8("type").ok()?))? };
            field.check(item_bytes).ok()?;
            fields.push(field);
        }
        // Sums of few items each: there are no more zones than items.
        let each = fields.iter().map(|field| 1 + 2 * field.ty.bytes()).sum::<usize>();
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

/// Copies the fields out of some items, each to a place of its own, one behind the other.
fn copy_fields(fields: &[ZoneField], item_bytes: usize, items: &[u8], out: &mut [u8]) {
    let (rows, piece) = (items.len() / item_bytes, (PIECE_BYTES / item_bytes).max(1));
    for (number, items) in items.chunks(piece * item_bytes).enumerate() {
        let (first, mut at) = (number * piece, 0);
        for field in fields {
            let width = field.ty.bytes();
            let out = &mut out[at + first * width..][..items.len() / item_bytes * width];
            match width {
                1 => copy_field::<1>(items, item_bytes, field.offset, out),
                2 => copy_field::<2>(items, item_bytes, field.offset, out),
                4 => copy_field::<4>(items, item_bytes, field.offset, out),
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
