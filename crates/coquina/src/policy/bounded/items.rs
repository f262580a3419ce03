//! What the items of an array are, as numbers: which type, in which byte order, one or two of them.

use coquina_kernels::Type;

use super::number::Number;
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

    /// The type of the numbers for loops that are compiled for instruction sets, if there are such.
    pub(super) fn kernel_type(self) -> Option<Type> {
        match self.kind {
            Kind::F32 if !self.is_big => Some(Type::F32),
            Kind::F64 if !self.is_big => Some(Type::F64),
            _ => None,
        }
    }

    /// The first of such numbers.
    pub(super) fn number(self, bytes: &[u8; 8]) -> Option<f64> {
        match self.kernel_type()? {
            Type::F32 => bytes.first_chunk().map(|&item| f64::from(f32::from_le_bytes(item))),
            _ => Some(f64::from_le_bytes(*bytes)),
        }
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
            $crate::policy::bounded::items::Kind::F16 => {
                type $T = $crate::policy::bounded::floats::Half;
                $body
            }
            $crate::policy::bounded::items::Kind::F32 => {
                type $T = f32;
                $body
            }
            $crate::policy::bounded::items::Kind::F64 => {
                type $T = f64;
                $body
            }
            $crate::policy::bounded::items::Kind::I8 => {
                type $T = i8;
                $body
            }
            $crate::policy::bounded::items::Kind::I16 => {
                type $T = i16;
                $body
            }
            $crate::policy::bounded::items::Kind::I32 => {
                type $T = i32;
                $body
            }
            $crate::policy::bounded::items::Kind::I64 => {
                type $T = i64;
                $body
            }
            $crate::policy::bounded::items::Kind::U8 => {
                type $T = u8;
                $body
            }
            $crate::policy::bounded::items::Kind::U16 => {
                type $T = u16;
                $body
            }
            $crate::policy::bounded::items::Kind::U32 => {
                type $T = u32;
                $body
            }
            $crate::policy::bounded::items::Kind::U64 => {
                type $T = u64;
                $body
            }
        }
    };
}
pub(super) use with_number;
