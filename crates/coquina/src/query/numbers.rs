//! What membership and groups need to know of the numbers of each type; and how bytes anywhere become numbers.
//!
//! Truth values are bytes here: whoever reads them makes them 0 or 1 first.

use coquina_kernels::items::{Aligned, Number, items};

/// A real number.
pub(super) trait Real: Number + PartialOrd {
    /// The same 64 bits for equal numbers only; a NaN is like no number.
    fn key(self) -> u64;
    fn is_nan(self) -> bool;
    fn to_f64(self) -> f64;
}

macro_rules! integers {
    ($($number:ty, |$wide:ident: $as:ty| $key:expr;)*) => { $(
        impl Real for $number {
            #[inline(always)]
            fn key(self) -> u64 {
                let $wide = <$as>::from(self);
                $key
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )* };
}
integers! {
    i8, |wide: i64| wide.cast_unsigned();
    i16, |wide: i64| wide.cast_unsigned();
    i32, |wide: i64| wide.cast_unsigned();
    i64, |wide: i64| wide.cast_unsigned();
    u8, |wide: u64| wide;
    u16, |wide: u64| wide;
    u32, |wide: u64| wide;
    u64, |wide: u64| wide;
}

macro_rules! floats {
    ($($number:ty;)*) => { $(
        impl Real for $number {
            #[inline(always)]
            fn key(self) -> u64 {
                // A negative zero and zero make zero.
                (self + 0.0).to_bits().into()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
        }
    )* };
}
floats! { f32; f64; }

/// Calls something for the number type that stands for a type of items; complex ones have none.
macro_rules! with_real {
    ($ty:expr, $real:ident => $body:expr) => {
        match $ty {
            coquina_kernels::Type::Bool | coquina_kernels::Type::U8 => {
                type $real = u8;
                Some($body)
            }
            coquina_kernels::Type::I8 => {
                type $real = i8;
                Some($body)
            }
            coquina_kernels::Type::I16 => {
                type $real = i16;
                Some($body)
            }
            coquina_kernels::Type::I32 => {
                type $real = i32;
                Some($body)
            }
            coquina_kernels::Type::I64 => {
                type $real = i64;
                Some($body)
            }
            coquina_kernels::Type::U16 => {
                type $real = u16;
                Some($body)
            }
            coquina_kernels::Type::U32 => {
                type $real = u32;
                Some($body)
            }
            coquina_kernels::Type::U64 => {
                type $real = u64;
                Some($body)
            }
            coquina_kernels::Type::F32 => {
                type $real = f32;
                Some($body)
            }
            coquina_kernels::Type::F64 => {
                type $real = f64;
                Some($body)
            }
            coquina_kernels::Type::C64 | coquina_kernels::Type::C128 => None,
        }
    };
}
pub(super) use with_real;

/// The numbers that these bytes are, wherever they lie.
pub(super) fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
    let mut memory = Aligned::new();
    let room = memory.room(bytes.len());
    room.copy_from_slice(bytes);
    items::<T>(room).to_vec()
}

/// The nearest number of single precision.
#[expect(clippy::cast_possible_truncation, reason = "it is rounded, as NumPy does")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}
