//! The items of loops as Rust types.
//!
//! Invariant: a [`Truth`] may be any byte where it is read and is 0 or 1 where it is written.

use crate::items::Number;
use crate::types::Type;

/// An item that loops are compiled for.
pub(super) trait Item: Number {
    /// Its type.
    const TYPE: Type;
}

macro_rules! items {
    ($($item:ty: $ty:ident),* $(,)?) => { $(
        impl Item for $item {
            const TYPE: Type = Type::$ty;
        }
    )* };
}
items! {
    Truth: Bool, i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64,
    f32: F32, f64: F64, C64: C64, C128: C128,
}

/// Real part, imaginary part.
pub(super) type C64 = [f32; 2];
/// Real part, imaginary part.
pub(super) type C128 = [f64; 2];

/// A byte of a Bool array: all but 0 are true.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(super) struct Truth(u8);

// SAFETY: a byte.
unsafe impl Number for Truth {}

impl Truth {
    #[inline(always)]
    pub(super) fn new(value: bool) -> Self {
        Self(u8::from(value))
    }

    #[inline(always)]
    pub(super) fn get(self) -> bool {
        self.0 != 0
    }

    /// 0 or 1.
    #[inline(always)]
    pub(super) fn number(self) -> u8 {
        u8::from(self.get())
    }
}
