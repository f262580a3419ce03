//! Keys of the values of one column, whose order is that of the rows: no value of another row needs to be known.
//!
//! In: gathered values, where they are missing, and the direction. Out: for each row a number of few bytes, or bytes
//! none of which begin another row's. What is missing, NaN and no times have the greatest key, whichever way.
//! Plain version: a comparison of the values themselves, as `query/ordering.rs` does.

use std::borrow::Cow;

use coquina_kernels::Type;
use coquina_kernels::items::{Aligned, Number, items};

use crate::base::error::{Error, Result};
use crate::index::keys::{KeyKind, Ordered, utf8};
use crate::query::{Categories, ColumnValues, Direction, Part, QueryColumn};

/// The byte of a text that is missing: above those of all others.
const MISSING: u8 = u8::MAX;
/// What the bytes of texts may be, one more than their UTF-8 is: 0 ends a text that ascends.
const BYTE_MAX: u8 = MISSING - 2;

/// Keys of rows.
pub(super) enum ColumnKeys {
    /// Numbers of so many bytes, 8 at most.
    Numbers { width: usize, keys: Vec<u64> },
    /// Bytes, and where those of each row end.
    Bytes { ends: Vec<usize>, bytes: Vec<u8> },
}

/// The keys of `rows` values of a column, one behind another where a value takes several.
///
/// # Errors
/// `Unsupported` for values without an order.
pub(super) fn column_keys(
    column: &QueryColumn,
    values: &Part,
    mask: Option<&[u8]>,
    direction: Direction,
    rows: usize,
) -> Result<Vec<ColumnKeys>> {
    let given = Given { mask, direction, rows };
    Ok(match (&column.values, values) {
        (ColumnValues::Numbers { ty, .. } | ColumnValues::Enumeration { ty, .. }, Part::Items(items)) => {
            given.numbers(*ty, items)
        }
        (ColumnValues::Halves(_), Part::Items(items)) => {
            given.ranked(&aligned::<u16>(items), u64::from(u16::MAX) - 1, half_key)
        }
        (ColumnValues::Times { .. }, Part::Items(items)) => {
            given.ranked(&aligned::<i64>(items), u64::MAX - 1, time_key)
        }
        (ColumnValues::Seconds(_), Part::Items(items)) => {
            given.ranked(&aligned::<i64>(items), u64::MAX - 1, |raw| Some(seconds(raw).key()))
        }
        (ColumnValues::Categories { ty, categories, is_ordered, .. }, Part::Items(items)) => {
            let places = 0..categories.len() as u64;
            let ranks = if *is_ordered { places.map(Some).collect() } else { ranks_of(categories) };
            given.codes(*ty, items, &ranks)
        }
        (ColumnValues::Texts { .. }, Part::Strings { offsets, bytes }) => {
            let at = |row: usize| usize::try_from(offsets[row]).unwrap_or(0);
            vec![given.texts(|row, out| out.extend_from_slice(&bytes[at(row)..at(row + 1)]))]
        }
        (ColumnValues::FixedPoints(source), Part::Items(items)) => {
            let (width, points) = (source.item_bytes() / size_of::<u32>(), aligned::<u32>(items));
            vec![given.texts(|row, out| push_utf8(&points[row * width..][..width], out))]
        }
        (ColumnValues::FixedBytes(source), Part::Items(items)) => {
            given.fixed_bytes(items, source.item_bytes())
        }
        _ => return Err(Error::unsupported(format!("column {:?} has values without an order", column.path))),
    })
}

/// Half precision: the sign is turned, or all bits of what is below zero; both zeros are the same.
fn half_key(bits: u16) -> Option<u64> {
    const SIGN: u16 = 1 << 15;
    const INFINITY: u16 = 0x7c00;
    let turned = match bits {
        _ if bits & !SIGN > INFINITY => return None,
        SIGN => SIGN,
        _ if bits & SIGN != 0 => !bits,
        _ => bits | SIGN,
    };
    Some(turned.into())
}

fn time_key(time: i64) -> Option<u64> {
    time.key().checked_sub(1)
}

/// Seconds above microseconds, as the floating-point number that they are shown as.
fn seconds(raw: i64) -> f64 {
    const MICRO: f64 = 1e-6;
    let whole = i32::try_from(raw >> i32::BITS).unwrap_or(0);
    let bytes = raw.to_le_bytes();
    f64::from(whole) + f64::from(i32::from_le_bytes(std::array::from_fn(|at| bytes[at]))) * MICRO
}

/// Code points as UTF-8, without zeros at the end.
fn push_utf8(text: &[u32], out: &mut Vec<u8>) {
    let len = text.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
    for &point in &text[..len] {
        let (bytes, len) = utf8(point);
        out.extend_from_slice(&bytes[..len]);
    }
}

/// The places of categories in the order of their values; equal ones have the same.
fn ranks_of(categories: &Categories) -> Vec<Option<u64>> {
    fn of<T: Ord>(values: &[Option<T>]) -> Vec<Option<u64>> {
        let mut known: Vec<&T> = values.iter().flatten().collect();
        known.sort_unstable();
        known.dedup();
        let rank = |value: &T| known.binary_search(&value).ok().map(|rank| rank as u64);
        values.iter().map(|value| value.as_ref().and_then(rank)).collect()
    }
    match categories {
        Categories::Texts(texts) => of(&texts.iter().map(Some).collect::<Vec<_>>()),
        Categories::Times { items, .. } => of(&items.iter().map(|&time| time_key(time)).collect::<Vec<_>>()),
        Categories::Numbers { ty: Type::C64, items } => of(&complex_keys::<f32>(items)),
        Categories::Numbers { ty: Type::C128, items } => of(&complex_keys::<f64>(items)),
        Categories::Numbers { ty, items } => {
            let key = |item: &[u8]| KeyKind::Number(*ty).key_of(item);
            of(&items.chunks_exact(ty.bytes()).map(key).collect::<Vec<_>>())
        }
    }
}

/// The keys of both parts of complex numbers; none if one of them is NaN.
fn complex_keys<T: Ordered>(bytes: &[u8]) -> Vec<Option<[u64; 2]>>
where
    [T; 2]: Number,
{
    let key = |number: &[T; 2]| (!number.iter().any(|one| one.is_nan())).then(|| number.map(T::key));
    aligned::<[T; 2]>(bytes).iter().map(key).collect()
}

/// What is known of the rows, whatever their values are.
struct Given<'g> {
    mask: Option<&'g [u8]>,
    direction: Direction,
    rows: usize,
}

impl Given<'_> {
    fn is_missing(&self, row: usize) -> bool {
        self.mask.is_some_and(|mask| mask.get(row) != Some(&0))
    }

    /// Numbers in the order of items, none above `max`, and a greater one for what comes last.
    fn ranked<T: Copy>(&self, items: &[T], max: u64, key: impl Fn(T) -> Option<u64>) -> Vec<ColumnKeys> {
        let is_full = max == u64::MAX;
        let last = if is_full { max } else { max + 1 };
        // Without a mask the loop is a short one.
        let keys = match (self.mask, self.direction) {
            (None, Direction::Ascending) => items.iter().map(|&item| key(item).unwrap_or(last)).collect(),
            (None, Direction::Descending) => {
                items.iter().map(|&item| key(item).map_or(last, |key| max - key)).collect()
            }
            (Some(_), direction) => {
                let turned = |key| if direction == Direction::Ascending { key } else { max - key };
                let there = |row, item| if self.is_missing(row) { None } else { key(item) };
                let rows = items.iter().enumerate();
                rows.map(|(row, &item)| there(row, item).map_or(last, turned)).collect()
            }
        };
        let width = (u64::BITS - last.leading_zeros()).div_ceil(8) as usize;
        let keys = ColumnKeys::Numbers { width, keys };
        // Of what has the greatest number, that which is there comes first.
        if is_full && self.mask.is_some() { vec![keys, self.flags()] } else { vec![keys] }
    }

    /// Whether values are missing.
    fn flags(&self) -> ColumnKeys {
        let keys = (0..self.rows).map(|row| u64::from(self.is_missing(row))).collect();
        ColumnKeys::Numbers { width: 1, keys }
    }

    fn numbers(&self, ty: Type, bytes: &[u8]) -> Vec<ColumnKeys> {
        match ty {
            Type::Bool => self.ranked(bytes, 1, |byte| Some(u64::from(byte != 0))),
            Type::I8 => self.integers::<i8>(bytes),
            Type::I16 => self.integers::<i16>(bytes),
            Type::I32 => self.integers::<i32>(bytes),
            Type::I64 => self.integers::<i64>(bytes),
            Type::U8 => self.integers::<u8>(bytes),
            Type::U16 => self.integers::<u16>(bytes),
            Type::U32 => self.integers::<u32>(bytes),
            Type::U64 => self.integers::<u64>(bytes),
            Type::F32 => self.floats::<f32>(bytes),
            Type::F64 => self.floats::<f64>(bytes),
            Type::C64 => self.complex::<f32>(bytes),
            Type::C128 => self.complex::<f64>(bytes),
        }
    }

    fn integers<T: Ordered>(&self, bytes: &[u8]) -> Vec<ColumnKeys> {
        self.ranked(&aligned::<T>(bytes), max_of::<T>(), |item| Some(item.key()))
    }

    fn floats<T: Ordered>(&self, bytes: &[u8]) -> Vec<ColumnKeys> {
        // The greatest key would be that of a NaN.
        let key = |item: T| (!item.is_nan()).then(|| item.key());
        self.ranked(&aligned::<T>(bytes), max_of::<T>() - 1, key)
    }

    /// Complex numbers: by their real part, then by the other one. Where one is NaN, both come last.
    fn complex<T: Ordered>(&self, bytes: &[u8]) -> Vec<ColumnKeys>
    where
        [T; 2]: Number,
    {
        let keys = complex_keys::<T>(bytes);
        let part = |at: usize| {
            self.ranked(&keys, max_of::<T>() - 1, |keys: Option<[u64; 2]>| keys.map(|keys| keys[at]))
        };
        [part(0), part(1)].into_iter().flatten().collect()
    }

    /// Codes of categories, by their ranks; those of none come last.
    fn codes(&self, ty: Type, bytes: &[u8], ranks: &[Option<u64>]) -> Vec<ColumnKeys> {
        match ty {
            Type::I8 => self.ranks::<i8>(bytes, ranks),
            Type::I16 => self.ranks::<i16>(bytes, ranks),
            Type::I32 => self.ranks::<i32>(bytes, ranks),
            Type::I64 => self.ranks::<i64>(bytes, ranks),
            Type::U16 => self.ranks::<u16>(bytes, ranks),
            Type::U32 => self.ranks::<u32>(bytes, ranks),
            Type::U64 => self.ranks::<u64>(bytes, ranks),
            _ => self.ranks::<u8>(bytes, ranks),
        }
    }

    fn ranks<T: Number + TryInto<usize>>(&self, bytes: &[u8], ranks: &[Option<u64>]) -> Vec<ColumnKeys> {
        let rank = |code: T| code.try_into().ok().and_then(|place| ranks.get(place).copied().flatten());
        self.ranked(&aligned::<T>(bytes), ranks.len() as u64, rank)
    }

    /// Texts with an end, so that none begins another: each byte is one more than it was, and the end is below all of
    /// them, or where texts descend above.
    fn texts(&self, text: impl Fn(usize, &mut Vec<u8>)) -> ColumnKeys {
        let (mut ends, mut bytes) = (Vec::with_capacity(self.rows), Vec::new());
        for row in 0..self.rows {
            if !self.is_missing(row) {
                text(row, &mut bytes);
            }
            bytes.push(0);
            ends.push(bytes.len());
        }
        let is_descending = self.direction == Direction::Descending;
        for byte in &mut bytes {
            *byte = byte.saturating_add(1).min(BYTE_MAX);
        }
        if is_descending {
            bytes.iter_mut().for_each(|byte| *byte = BYTE_MAX + 1 - *byte);
        }
        let end = if is_descending { BYTE_MAX + 1 } else { 0 };
        for (row, &at) in ends.iter().enumerate() {
            bytes[at - 1] = if self.is_missing(row) { MISSING } else { end };
        }
        ColumnKeys::Bytes { ends, bytes }
    }

    /// Bytes of a fixed width, as they are, or each of them turned.
    fn fixed_bytes(&self, items: &[u8], width: usize) -> Vec<ColumnKeys> {
        let mut bytes = items.to_vec();
        if self.direction == Direction::Descending {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        for (row, item) in bytes.chunks_exact_mut(width.max(1)).enumerate() {
            if self.is_missing(row) {
                item.fill(u8::MAX);
            }
        }
        let keys = if width <= size_of::<u64>() {
            let key = |item: &[u8]| item.iter().fold(0, |key, &byte| key << 8 | u64::from(byte));
            let keys = bytes.chunks_exact(width.max(1)).map(key);
            ColumnKeys::Numbers { width, keys: keys.chain(std::iter::repeat(0)).take(self.rows).collect() }
        } else {
            ColumnKeys::Bytes { ends: (1..=self.rows).map(|row| row * width).collect(), bytes }
        };
        if self.mask.is_some() { vec![keys, self.flags()] } else { vec![keys] }
    }
}

/// The numbers that these bytes are, wherever they lie: mostly where numbers may.
fn aligned<T: Number>(bytes: &[u8]) -> Cow<'_, [T]> {
    if bytes.as_ptr().addr().is_multiple_of(align_of::<T>()) {
        return Cow::Borrowed(items(bytes));
    }
    let mut memory = Aligned::new();
    let room = memory.room(bytes.len());
    room.copy_from_slice(bytes);
    Cow::Owned(items(room).to_vec())
}

/// The greatest key of numbers of a type.
fn max_of<T: Ordered>() -> u64 {
    u64::MAX >> (u64::BITS - 8 * u32::try_from(size_of::<T>()).unwrap_or(8))
}
