//! The types of Rust that items of columns can be read as.

use std::borrow::Cow;

use coquina_kernels::Type;
use coquina_kernels::items::{Number, bytes_of_mut};

use super::data::Data;
use crate::base::error::{Error, Result};

/// A type of Rust that items of columns can be read as.
pub trait Item: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// The type of the items.
    const TYPE: Type;

    /// The items as the data of values.
    fn data(items: Cow<'_, [Self]>) -> Data<'_>;

    /// The items of data of this type.
    fn slice_of<'d>(data: &'d Data<'_>) -> Option<&'d [Self]>;

    /// So many items, whose bytes `fill` writes.
    #[doc(hidden)]
    fn filled(count: usize, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Vec<Self>>;
}

mod sealed {
    /// Only types of this crate can be items.
    pub trait Sealed {}
}

/// Makes room for items before any are read, without a panic where there is none.
fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| Error::limit(format!("{count} items in memory")))?;
    items.resize(count, T::default());
    Ok(items)
}

/// So many numbers, whose bytes `fill` writes.
pub(crate) fn filled<T: Number + Default>(
    count: usize,
    fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
) -> Result<Vec<T>> {
    let mut items = zeros(count)?;
    fill(bytes_of_mut(&mut items))?;
    Ok(items)
}

macro_rules! items {
    ($($item:ty: $ty:ident),* $(,)?) => { $(
        impl sealed::Sealed for $item {}
        impl Item for $item {
            const TYPE: Type = Type::$ty;

            fn data(items: Cow<'_, [Self]>) -> Data<'_> {
                Data::$ty(items)
            }

            fn slice_of<'d>(data: &'d Data<'_>) -> Option<&'d [Self]> {
                if let Data::$ty(items) = data { Some(items) } else { None }
            }

            fn filled(count: usize, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Vec<Self>> {
                filled(count, fill)
            }
        }
    )* };
}
items! {
    i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64, f32: F32, f64: F64,
    [f32; 2]: C64, [f64; 2]: C128,
}

impl sealed::Sealed for bool {}
impl Item for bool {
    const TYPE: Type = Type::Bool;

    fn data(items: Cow<'_, [Self]>) -> Data<'_> {
        Data::Bool(items)
    }

    fn slice_of<'d>(data: &'d Data<'_>) -> Option<&'d [Self]> {
        if let Data::Bool(items) = data { Some(items) } else { None }
    }

    fn filled(count: usize, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Vec<Self>> {
        Ok(filled::<u8>(count, fill)?.into_iter().map(|byte| byte != 0).collect())
    }
}
