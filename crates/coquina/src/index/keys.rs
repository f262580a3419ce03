//! Keys of items: numbers of 64 bits in the order of the items.
//!
//! In: items of a box in the machine's byte order, and where they are missing. Out: keys, and the rows without one.
//! Unsigned integers are their keys; of signed ones the sign is turned; of floating-point numbers the sign is turned,
//! or all bits of those below zero, and a negative zero is zero; each within its own width. NaN, times that are none
//! and what is masked have no key. The key of a text is the first 8 bytes of its UTF-8, the first byte the highest.
//! Invariant: of two items with keys the lesser one has no greater key, and for numbers and times equal keys mean
//! equal items.

use coquina_kernels::Type;
use coquina_kernels::items::{Number, bytes_of, items};

use super::piece::Piece;
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// Bytes of a text that its key holds.
pub(super) const PREFIX_BYTES: usize = size_of::<u64>();

/// What the items are, and so what their keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Numbers of this type, which is not a complex one.
    Number(Type),
    /// Times: 64-bit integers of which the least one is none.
    Time,
    /// Texts of a fixed number of bytes.
    Bytes,
    /// Texts of a fixed number of code points of 4 bytes.
    CodePoints,
    /// Texts of any length, as offsets and bytes.
    Text,
}

impl KeyKind {
    /// The kind of this name: that of a type, `time`, `S`, `U` or `text`.
    ///
    /// # Errors
    /// `Invalid` for any other name.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "time" => Self::Time,
            "S" => Self::Bytes,
            "U" => Self::CodePoints,
            "text" => Self::Text,
            _ => match Type::by_name(name) {
                Some(ty) if !matches!(ty, Type::C64 | Type::C128) => Self::Number(ty),
                _ => return Err(Error::invalid(format!("kind {name:?}: has no keys"))),
            },
        })
    }

    /// The key of one item, given as its bytes; nothing for one that has none.
    pub fn key_of(self, item: &[u8]) -> Option<u64> {
        with_scratch(item.len(), |room| {
            room.copy_from_slice(item);
            let mut one = Piece::one();
            self.push(room, item.len(), None, &mut one);
            one.keys().first().copied()
        })
    }

    /// The bytes of the number or time that has this key; nothing for texts, of which a key is a part.
    pub fn item_of(self, key: u64) -> Option<Vec<u8>> {
        fn item<T: Ordered>(key: u64) -> Vec<u8> {
            bytes_of(&[T::of_key(key)]).to_vec()
        }
        Some(match self {
            Self::Number(Type::Bool) => vec![u8::from(key != 0)],
            Self::Number(Type::I8) => item::<i8>(key),
            Self::Number(Type::I16) => item::<i16>(key),
            Self::Number(Type::I32) => item::<i32>(key),
            Self::Number(Type::I64) | Self::Time => item::<i64>(key),
            Self::Number(Type::U8) => item::<u8>(key),
            Self::Number(Type::U16) => item::<u16>(key),
            Self::Number(Type::U32) => item::<u32>(key),
            Self::Number(Type::U64) => item::<u64>(key),
            Self::Number(Type::F32) => item::<f32>(key),
            Self::Number(Type::F64) => item::<f64>(key),
            Self::Number(Type::C64 | Type::C128) | Self::Bytes | Self::CodePoints | Self::Text => {
                return None;
            }
        })
    }

    /// The greatest key that an item may have.
    pub fn key_max(self) -> u64 {
        match self {
            Self::Number(Type::Bool) => 1,
            Self::Number(ty) => u64::MAX >> (u64::BITS - 8 * u32::try_from(ty.bytes().min(8)).unwrap_or(8)),
            Self::Time | Self::Bytes | Self::CodePoints | Self::Text => u64::MAX,
        }
    }

    /// Whether items can be NaN.
    pub(super) fn has_nan(self) -> bool {
        matches!(self, Self::Number(Type::F32 | Type::F64))
    }

    /// Whether items can have so many bytes.
    pub(super) fn takes(self, item_bytes: usize) -> bool {
        match self {
            Self::Number(ty) => ty.bytes() == item_bytes,
            Self::Time => item_bytes == size_of::<i64>(),
            Self::Bytes => true,
            Self::CodePoints => item_bytes.is_multiple_of(size_of::<u32>()),
            Self::Text => false,
        }
    }

    /// Appends the keys of `bytes`, aligned memory that is items of so many bytes each. Where `mask` is not 0, there
    /// is none.
    pub(super) fn push(self, bytes: &[u8], item_bytes: usize, mask: Option<&[u8]>, piece: &mut Piece) {
        match self {
            Self::Number(ty) => push_numbers(ty, bytes, mask, piece),
            Self::Time => {
                let key = |time: i64| time.key();
                push_all(items(bytes), mask, key, |time| time == i64::MIN, piece);
            }
            // Items of no bytes are never read: their column says that all are the same.
            Self::Bytes | Self::Text => {
                let texts = bytes.chunks_exact(item_bytes.max(1));
                push_texts(texts.map(prefix), mask, piece);
            }
            Self::CodePoints => {
                let texts = bytes.chunks_exact(item_bytes.max(1));
                push_texts(texts.map(|text| prefix_of_points(items(text))), mask, piece);
            }
        }
    }
}

/// A number whose order is that of its key.
pub(super) trait Ordered: Number {
    fn key(self) -> u64;
    fn of_key(key: u64) -> Self;
    fn is_nan(self) -> bool;
}

/// The lowest bytes of a key, the lowest first: all that items of so many bytes have.
fn low_bytes<const N: usize>(key: u64) -> [u8; N] {
    let bytes = key.to_le_bytes();
    std::array::from_fn(|at| bytes[at])
}

macro_rules! unsigned {
    ($($number:ty),*) => { $(
        impl Ordered for $number {
            #[inline(always)]
            fn key(self) -> u64 {
                self.into()
            }
            fn of_key(key: u64) -> Self {
                Self::from_le_bytes(low_bytes(key))
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )* };
}
unsigned!(u8, u16, u32, u64);

macro_rules! signed {
    ($($number:ty),*) => { $(
        impl Ordered for $number {
            #[inline(always)]
            fn key(self) -> u64 {
                (self ^ Self::MIN).cast_unsigned().into()
            }
            fn of_key(key: u64) -> Self {
                Self::from_le_bytes(low_bytes(key)) ^ Self::MIN
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )* };
}
signed!(i8, i16, i32, i64);

macro_rules! floats {
    ($($number:ty, $signed:ty;)*) => { $(
        impl Ordered for $number {
            #[inline(always)]
            fn key(self) -> u64 {
                // A negative zero and zero make zero. All bits of what is below zero are turned, else the sign alone.
                let bits = (self + 0.0).to_bits().cast_signed();
                let turned = (bits >> (<$signed>::BITS - 1)) | <$signed>::MIN;
                (bits ^ turned).cast_unsigned().into()
            }
            fn of_key(key: u64) -> Self {
                let bits = <$signed>::from_le_bytes(low_bytes(key));
                // The sign is set again where it was turned alone, else all bits are turned back.
                let turned = (!bits >> (<$signed>::BITS - 1)) | <$signed>::MIN;
                Self::from_bits((bits ^ turned).cast_unsigned())
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }
    )* };
}
floats! { f32, i32; f64, i64; }

fn push_numbers(ty: Type, bytes: &[u8], mask: Option<&[u8]>, piece: &mut Piece) {
    fn push<T: Ordered>(bytes: &[u8], mask: Option<&[u8]>, piece: &mut Piece) {
        push_all(items::<T>(bytes), mask, T::key, T::is_nan, piece);
    }
    match ty {
        Type::Bool => push_all(bytes, mask, |byte| u64::from(byte != 0), |_| false, piece),
        Type::I8 => push::<i8>(bytes, mask, piece),
        Type::I16 => push::<i16>(bytes, mask, piece),
        Type::I32 => push::<i32>(bytes, mask, piece),
        Type::I64 => push::<i64>(bytes, mask, piece),
        Type::U8 => push::<u8>(bytes, mask, piece),
        Type::U16 => push::<u16>(bytes, mask, piece),
        Type::U32 => push::<u32>(bytes, mask, piece),
        Type::U64 => push::<u64>(bytes, mask, piece),
        Type::F32 => push::<f32>(bytes, mask, piece),
        Type::F64 => push::<f64>(bytes, mask, piece),
        Type::C64 | Type::C128 => {}
    }
}

/// Appends the keys of items, of which some may be missing.
fn push_all<T: Copy>(
    items: &[T],
    mask: Option<&[u8]>,
    key: impl Fn(T) -> u64,
    is_missing: impl Fn(T) -> bool,
    piece: &mut Piece,
) {
    // Without a way out the loop is one over whole registers.
    let has_missing = items.iter().fold(false, |any, &item| any | is_missing(item));
    if !has_missing && !has_any(mask) {
        return piece.push_all(items.len(), items.iter().map(|&item| key(item)));
    }
    for (row, &item) in items.iter().enumerate() {
        if is_missing(item) || mask.is_some_and(|mask| mask[row] != 0) {
            piece.push_missing(1);
        } else {
            piece.push_all(1, [key(item)].into_iter());
        }
    }
}

/// Appends the keys of texts.
pub(super) fn push_texts(keys: impl Iterator<Item = u64>, mask: Option<&[u8]>, piece: &mut Piece) {
    let mask = mask.filter(|&mask| has_any(Some(mask)));
    for (row, key) in keys.enumerate() {
        if mask.is_some_and(|mask| mask[row] != 0) {
            piece.push_missing(1);
        } else {
            piece.push_all(1, [key].into_iter());
        }
    }
}

fn has_any(mask: Option<&[u8]>) -> bool {
    mask.is_some_and(|mask| mask.iter().fold(0, |any, &byte| any | byte) != 0)
}

/// The first bytes of a text as a number; behind its end they are 0.
pub(super) fn prefix(text: &[u8]) -> u64 {
    if let Some(first) = text.first_chunk::<PREFIX_BYTES>() {
        return u64::from_be_bytes(*first);
    }
    let mut first = [0; PREFIX_BYTES];
    first[..text.len()].copy_from_slice(text);
    u64::from_be_bytes(first)
}

/// The first bytes of the UTF-8 of code points. What is none keeps its order, as far as four bytes can say it.
fn prefix_of_points(points: &[u32]) -> u64 {
    let mut key = 0_u64;
    let mut left = u64::BITS;
    for &point in points {
        let (bytes, len) = utf8(point);
        for &byte in &bytes[..len] {
            left -= 8;
            key |= u64::from(byte) << left;
            if left == 0 {
                return key;
            }
        }
    }
    key
}

/// A code point in UTF-8, and in how many bytes.
pub(super) fn utf8(point: u32) -> ([u8; 4], usize) {
    const LAST: u32 = (1 << 21) - 1;
    let point = point.min(LAST);
    let [_, high, middle, low] = [point >> 18 & 0x3f, point >> 12 & 0x3f, point >> 6 & 0x3f, point & 0x3f]
        .map(|bits| u8::try_from(bits).unwrap_or(0));
    let first = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
    match point {
        0..0x80 => ([first(point), 0, 0, 0], 1),
        0x80..0x800 => ([0xc0 | first(point >> 6), 0x80 | low, 0, 0], 2),
        0x800..0x1_0000 => ([0xe0 | first(point >> 12), 0x80 | middle, 0x80 | low, 0], 3),
        _ => ([0xf0 | first(point >> 18), 0x80 | high, 0x80 | middle, 0x80 | low], 4),
    }
}

#[cfg(test)]
mod tests;
