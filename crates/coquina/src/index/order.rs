//! The order of numbers in memory.
//!
//! In: numbers, none of them NaN. Out: their places, those of the least first; of equal ones in their order.
//! Plain version: a stable sort of the places by their numbers.

use std::sync::{Mutex, PoisonError};

use super::keys::KeyKind;
use super::piece::Piece;
use super::radix::Bounds;
use super::sorted::Part;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// So many numbers become keys at once.
const PIECE_ITEMS: usize = 1 << 16;

/// The places of `bytes`, which are aligned numbers of a kind, in the order of the numbers.
///
/// # Errors
/// `Invalid` for a number that has no place, as NaN, and for memory that is not aligned; `Limit` for more than there is memory for; `Cancelled`.
pub fn order_of(bytes: &[u8], item_bytes: usize, kind: KeyKind, job: &Job<'_>) -> Result<Vec<i64>> {
    let count = bytes.len() / item_bytes.max(1);
    if !bytes.as_ptr().cast::<u64>().is_aligned() && bytes.as_ptr().align_offset(item_bytes.max(1)) != 0 {
        return Err(Error::invalid("numbers: they are not aligned in memory"));
    }
    let pieces = Mutex::new(Vec::with_capacity(count / PIECE_ITEMS + 1));
    job.run(bytes.len(), bytes.chunks(PIECE_ITEMS * item_bytes.max(1)).enumerate(), |(number, part)| {
        let start = (number * PIECE_ITEMS) as u64;
        let mut piece = Piece::new(&(start..start + (part.len() / item_bytes.max(1)) as u64))?;
        kind.push(part, item_bytes, None, &mut piece);
        pieces.lock().unwrap_or_else(PoisonError::into_inner).push((number, piece));
        Ok(0)
    })?;
    let mut pieces = pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
    pieces.sort_unstable_by_key(|(number, _)| *number);
    let pieces: Vec<Piece> = pieces.into_iter().map(|(_, piece)| piece).collect();
    if pieces.iter().map(Piece::len).sum::<usize>() != count {
        return Err(Error::invalid("numbers: one of them is NaN, which has no place in an order"));
    }
    let Some(bounds) = Bounds::of(&pieces) else { return Ok(Vec::new()) };
    let part = Part::sorted(pieces, &bounds, job)?;
    let mut order = vec![0; count];
    let pieces = order.chunks_mut(PIECE_ITEMS).enumerate();
    job.run(8 * count, pieces, |(number, places)| {
        part.fill_rows(number * PIECE_ITEMS, places);
        Ok(0)
    })?;
    Ok(order)
}

#[cfg(test)]
mod tests {
    use coquina_kernels::Type;
    use coquina_kernels::items::bytes_of;

    use super::*;
    use crate::base::testing::random;

    fn plain<T: PartialOrd>(items: &[T]) -> Vec<i64> {
        let mut places: Vec<i64> = (0..items.len() as i64).collect();
        places.sort_by(|&a, &b| {
            let item = |place: i64| &items[usize::try_from(place).unwrap()];
            item(a).partial_cmp(item(b)).unwrap()
        });
        places
    }

    #[test]
    fn places_are_those_of_a_stable_sort() {
        let mut next = random(5);
        for count in [0, 1, 2, 300, PIECE_ITEMS, PIECE_ITEMS + 1, 3 * PIECE_ITEMS + 5] {
            for range in [1, 9, 1 << 20, u64::from(u32::MAX)] {
                let wide: Vec<i64> = (0..count).map(|_| next(range).cast_signed() - 70).collect();
                let order = |bytes: &[u8], size, ty| {
                    order_of(bytes, size, KeyKind::Number(ty), &Job::default()).unwrap()
                };
                assert_eq!(order(bytes_of(&wide), 8, Type::I64), plain(&wide), "{count} {range}");
                let floats: Vec<f64> =
                    wide.iter().map(|&x| f64::from(i32::try_from(x / 2).unwrap()) * -0.25).collect();
                assert_eq!(order(bytes_of(&floats), 8, Type::F64), plain(&floats), "{count} {range}");
                let bytes: Vec<i8> = wide.iter().map(|&x| i8::try_from(x % 100).unwrap()).collect();
                assert_eq!(order(bytes_of(&bytes), 1, Type::I8), plain(&bytes), "{count} {range}");
            }
        }
        let nan = [1.0, f64::NAN, 2.0];
        assert!(order_of(bytes_of(&nan), 8, KeyKind::Number(Type::F64), &Job::default()).is_err());
    }
}
