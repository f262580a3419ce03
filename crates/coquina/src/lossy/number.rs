//! The numbers that can be rounded: what their stored bytes are, and what rounding one of them means.
//!
//! In: stored items of any byte order. Out: items of the same type. Complex numbers are two numbers each.
//! Invariant: NaN with its payload, infinities and zeros with their sign come out as they went in, and so does a number
//! that rounding would move beyond its limit or beyond the ends of its type.

use super::floats::Lattice;
use crate::base::error::{Error, Result};

/// A number of a stored array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// What the items of an array are, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Items {
    pub(super) kind: Kind,
    /// Whether they are stored with the high byte first.
    pub(super) is_big: bool,
    /// Whether two numbers make an item.
    pub(super) is_complex: bool,
}

impl Items {
    /// The items of NumPy's dtype of this text.
    pub(super) fn of(dtype: &str) -> Result<Self> {
        let (order, name) = dtype.split_at_checked(1).unwrap_or(("", dtype));
        let kind = match name {
            "f2" => Kind::F16,
            "f4" | "c8" => Kind::F32,
            "f8" | "c16" => Kind::F64,
            "i1" => Kind::I8,
            "i2" => Kind::I16,
            "i4" => Kind::I32,
            "i8" => Kind::I64,
            "u1" => Kind::U8,
            "u2" => Kind::U16,
            "u4" => Kind::U32,
            "u8" => Kind::U64,
            _ => return Err(refused(dtype)),
        };
        if !matches!(order, "<" | ">" | "|" | "=") {
            return Err(refused(dtype));
        }
        Ok(Self { kind, is_big: order == ">", is_complex: name.starts_with('c') })
    }

    /// Bytes of a number.
    pub(super) fn number_bytes(self) -> usize {
        match self.kind {
            Kind::I8 | Kind::U8 => 1,
            Kind::F16 | Kind::I16 | Kind::U16 => 2,
            Kind::F32 | Kind::I32 | Kind::U32 => 4,
            Kind::F64 | Kind::I64 | Kind::U64 => 8,
        }
    }

    /// How many numbers an item is.
    pub(super) fn numbers(self) -> usize {
        if self.is_complex { 2 } else { 1 }
    }

    /// Whether they are floating-point numbers, or two of them.
    pub(super) fn is_float(self) -> bool {
        matches!(self.kind, Kind::F16 | Kind::F32 | Kind::F64)
    }

    /// Bits of the mantissa, or of the integer.
    pub(super) fn bits(self) -> u32 {
        with_number!(self.kind, T => T::WIDTH)
    }

    /// Whether the filters that truncate know these items: little-endian and no pairs, floats of 4 or 8 bytes.
    pub(super) fn are_truncated(self) -> bool {
        let is_turned = self.is_big && self.number_bytes() > 1;
        !is_turned && !self.is_complex && self.kind != Kind::F16
    }

    /// Whether codecs of images know these items.
    pub(super) fn are_samples(self) -> bool {
        self.are_truncated() && matches!(self.kind, Kind::I8 | Kind::U8 | Kind::I16 | Kind::U16)
    }

    /// Whether ZFP knows these items.
    pub(super) fn are_transformed(self) -> bool {
        matches!(self.kind, Kind::F32 | Kind::F64) && !self.is_big && !self.is_complex
    }
}

fn refused(dtype: &str) -> Error {
    let why = match dtype.get(1..2) {
        Some("b") => "true and false have nothing to round",
        Some("M" | "m") => "dates and durations are kept exactly",
        Some("S" | "U") => "texts are kept exactly",
        Some("f" | "c") => "of floating-point numbers, those of 2, 4 and 8 bytes can be rounded",
        _ => "items of several fields are kept exactly; store each field as an array of its own",
    };
    Error::invalid(format!("lossy: dtype {dtype}: {why}"))
}

/// Runs `$body` with `$T` as the number type of a kind.
macro_rules! with_number {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            $crate::lossy::number::Kind::F16 => {
                type $T = $crate::lossy::floats::Half;
                $body
            }
            $crate::lossy::number::Kind::F32 => {
                type $T = f32;
                $body
            }
            $crate::lossy::number::Kind::F64 => {
                type $T = f64;
                $body
            }
            $crate::lossy::number::Kind::I8 => {
                type $T = i8;
                $body
            }
            $crate::lossy::number::Kind::I16 => {
                type $T = i16;
                $body
            }
            $crate::lossy::number::Kind::I32 => {
                type $T = i32;
                $body
            }
            $crate::lossy::number::Kind::I64 => {
                type $T = i64;
                $body
            }
            $crate::lossy::number::Kind::U8 => {
                type $T = u8;
                $body
            }
            $crate::lossy::number::Kind::U16 => {
                type $T = u16;
                $body
            }
            $crate::lossy::number::Kind::U32 => {
                type $T = u32;
                $body
            }
            $crate::lossy::number::Kind::U64 => {
                type $T = u64;
                $body
            }
        }
    };
}
pub(super) use with_number;

/// The part of a limit on relative errors that computing with it may be off, and the least product that is exact to
/// that part.
const RELATIVE_SLACK: f64 = 1.0 - 1.0 / 1_125_899_906_842_624.0;
const PRODUCT_MIN: f64 = 1e-290;

/// Whether an error is at most this part of `size`, for sure.
pub(super) fn is_within(error: f64, limit: f64, size: f64) -> bool {
    let product = limit * size;
    product >= PRODUCT_MIN && error <= product * RELATIVE_SLACK
}

/// A number that can be rounded.
pub(super) trait Number: Copy + PartialEq {
    /// Bits of the mantissa, or of the integer.
    const WIDTH: u32;

    /// As a number of 64 bits, rounded if it has more.
    fn value(self) -> f64;

    /// How far the two finite numbers are from each other, at least: rounded up.
    fn distance(self, other: Self) -> f64;

    /// Rounded to the nearest point of a lattice.
    fn on_lattice(self, lattice: &Lattice) -> Self;

    /// Rounded to the nearest multiple of an odd number, or the end of its type. Only integers are.
    fn on_steps(self, _step: i64) -> Self {
        self
    }

    /// Rounded to so many bits of its mantissa; of an integer, to so many of its high bits.
    fn with_bits(self, bits: u32) -> Self;

    /// Rounded to so many bits behind its leading one, if it moves by no more than this part of itself.
    fn with_significant(self, bits: u32, limit: f64) -> Self;

    /// Fills `to` with what `change` makes of each number; one that equals that in `before` stays.
    fn map(items: &mut Rounded<'_>, change: impl Fn(Self) -> Self);

    /// Shows `see` each number of `given` that is not that of `before`, and what it was decoded to.
    fn each(items: &Compared<'_>, see: impl FnMut(Self, Self));
}

/// Stored numbers that are rounded.
pub(super) struct Rounded<'a> {
    pub(super) from: &'a [u8],
    pub(super) before: Option<&'a [u8]>,
    /// The number that stands for what is not there: it stays.
    pub(super) fill: Option<&'a [u8]>,
    pub(super) to: &'a mut [u8],
    pub(super) is_big: bool,
}

/// Stored numbers beside what they were decoded to.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) given: &'a [u8],
    pub(super) before: Option<&'a [u8]>,
    pub(super) decoded: &'a [u8],
    pub(super) is_big: bool,
}

/// The two walks over stored numbers of `$size` bytes.
macro_rules! walks {
    ($size:literal) => {
        fn map(items: &mut $crate::lossy::number::Rounded<'_>, change: impl Fn(Self) -> Self) {
            let (from, to) = (items.from.as_chunks::<$size>().0, items.to.as_chunks_mut::<$size>().0);
            let fill = items.fill.and_then(|fill| fill.first_chunk::<$size>());
            let changed = |item: &[u8; $size]| {
                if fill == Some(item) {
                    *item
                } else if items.is_big {
                    change(Self::from_be_bytes(*item)).to_be_bytes()
                } else {
                    change(Self::from_le_bytes(*item)).to_le_bytes()
                }
            };
            match items.before {
                None => from.iter().zip(to).for_each(|(from, to)| *to = changed(from)),
                Some(before) => {
                    let before = before.as_chunks::<$size>().0;
                    for ((from, before), to) in from.iter().zip(before).zip(to) {
                        *to = if from == before { *from } else { changed(from) };
                    }
                }
            }
        }

        fn each(items: &$crate::lossy::number::Compared<'_>, mut see: impl FnMut(Self, Self)) {
            let (given, decoded) = (items.given.as_chunks::<$size>().0, items.decoded.as_chunks::<$size>().0);
            let number = |item: &[u8; $size]| {
                if items.is_big { Self::from_be_bytes(*item) } else { Self::from_le_bytes(*item) }
            };
            match items.before {
                None => given.iter().zip(decoded).for_each(|(x, y)| see(number(x), number(y))),
                Some(before) => {
                    let before = before.as_chunks::<$size>().0;
                    let all = given.iter().zip(before).zip(decoded);
                    let written = all.filter(|((x, before), _)| x != before);
                    written.for_each(|((x, _), y)| see(number(x), number(y)));
                }
            }
        }
    };
}
pub(super) use walks;
