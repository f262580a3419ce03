//! What is known of the items of chunks: the least and the greatest, and whether there is a NaN.
//!
//! Only items inside the shape count.
//! Source: `docs/formats/frame.md`, "Statistics"; `docs/decisions/0007-statistics-of-chunks.md`.
//! Invariant: no item of a chunk lies outside of its bounds, and exact ones are items of it.

use coquina_kernels::{Bounds as Found, Type, best_level, bounds};

use crate::chunk::ChunkShape;
pub use crate::frame::Statistics;

/// The type of the items, if a dtype of this text has numbers with an order, in the byte order of files and machine.
pub(crate) fn item_type(dtype: &str, item_bytes: usize) -> Option<Type> {
    let ty = match dtype {
        "|b1" => Type::Bool,
        "|i1" | "<i1" => Type::I8,
        "|u1" | "<u1" => Type::U8,
        "<i2" => Type::I16,
        "<u2" => Type::U16,
        "<i4" => Type::I32,
        "<u4" => Type::U32,
        "<i8" => Type::I64,
        "<u8" => Type::U64,
        "<f4" => Type::F32,
        "<f8" => Type::F64,
        _ => return None,
    };
    (cfg!(target_endian = "little") && ty.bytes() == item_bytes).then_some(ty)
}

fn exact(found: Found) -> Statistics {
    let Found { min, max, has_nan } = found;
    Statistics { min, max, is_exact: true, has_nan }
}

impl Statistics {
    /// What is known of items that are all this one.
    pub(crate) fn of_item(ty: Type, item: &[u8]) -> Option<Self> {
        if item.len() != ty.bytes() {
            return None;
        }
        bounds(best_level(), ty, item).map(exact)
    }

    /// What is known of the items of a block of a chunk that are inside.
    pub(crate) fn of_block(ty: Type, shape: &ChunkShape<'_>, number: usize, block: &[u8]) -> Option<Self> {
        shape.with_inside(number, block, |items| bounds(best_level(), ty, items).map(exact))?
    }

    /// What is known of these items and others.
    pub(crate) fn and(&self, ty: Type, other: &Self) -> Option<Self> {
        let size = ty.bytes();
        let ends: Vec<u8> = [self.min, self.max, other.min, other.max]
            .iter()
            .flat_map(|item| &item[..size])
            .copied()
            .collect();
        let Found { min, max, .. } = bounds(best_level(), ty, &ends)?;
        let (is_exact, has_nan) = (self.is_exact && other.is_exact, self.has_nan || other.has_nan);
        Some(Self { min, max, is_exact, has_nan })
    }

    /// Whether they are such as ours are; what they say is not to be relied on if not.
    pub(crate) fn are_sound(&self, ty: Type) -> bool {
        let size = ty.bytes();
        let &Self { min, max, has_nan, .. } = self;
        let ends = [&min[..size], &max[..size]].concat();
        bounds(best_level(), ty, &ends).is_some_and(|found| {
            found == Found { has_nan: found.has_nan, min, max } && (has_nan || !found.has_nan)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_this_byte_order_have_statistics() {
        let numbers = ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"];
        for dtype in numbers {
            let bytes = usize::from(dtype.as_bytes()[2] - b'0');
            assert_eq!(item_type(dtype, bytes).unwrap().bytes(), bytes);
            assert_eq!(item_type(dtype, 3), None);
        }
        for (dtype, bytes) in [(">i4", 4), ("<f2", 2), ("<c8", 8), ("<M8[ns]", 8), ("|S4", 4), ("<f16", 16)] {
            assert_eq!(item_type(dtype, bytes), None, "{dtype}");
        }
    }
}
