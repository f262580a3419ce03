//! Bytes as items: aligned memory, and slices of numbers over it.
//!
//! In: bytes. Out: the same memory as a slice of a number type. Plain version: `from_ne_bytes` for each item; here
//! the memory is looked at in place, which alignment and length must allow.
//! Invariant: every bit pattern is a value of every [`Number`]; `bool` is no [`Number`], its bytes are `u8`.

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Buffers begin at a multiple of so many bytes: a cache line, and the widest register.
const ALIGN: usize = 64;

/// A number that any bytes of its size are one of.
///
/// # Safety
/// The type has no padding, and every bit pattern is a value of it.
pub unsafe trait Number: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        // SAFETY: a plain number.
        unsafe impl Number for $number {}
        // SAFETY: two plain numbers of the same type, without a gap.
        unsafe impl Number for [$number; 2] {}
    )* };
}
numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

/// The items that these bytes are.
///
/// # Panics
/// If the bytes are not whole items, or do not begin where an item may.
#[inline]
pub fn items<T: Number>(bytes: &[u8]) -> &[T] {
    let len = check::<T>(bytes);
    // SAFETY: aligned, of whole items, and any bytes are items; the borrow goes on.
    unsafe { from_raw_parts(bytes.as_ptr().cast(), len) }
}

/// As [`items`], to be changed.
///
/// # Panics
/// As [`items`].
#[inline]
pub fn items_mut<T: Number>(bytes: &mut [u8]) -> &mut [T] {
    let len = check::<T>(bytes);
    // SAFETY: aligned, of whole items, and any items are bytes; the borrow goes on.
    unsafe { from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) }
}

/// The bytes of items.
#[inline]
pub fn bytes_of<T: Number>(items: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding; the borrow goes on.
    unsafe { from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// The bytes of items, to be changed.
#[inline]
pub fn bytes_of_mut<T: Number>(items: &mut [T]) -> &mut [u8] {
    // SAFETY: numbers have no padding, and any bytes are numbers; the borrow goes on.
    unsafe { from_raw_parts_mut(items.as_mut_ptr().cast(), size_of_val(items)) }
}

#[inline]
fn check<T: Number>(bytes: &[u8]) -> usize {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    assert!(bytes.len().is_multiple_of(size), "{} bytes are no whole items of {size}", bytes.len());
    assert!(bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(align), "items must be aligned");
    bytes.len() / size
}

#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "it is looked at as bytes only")]
struct Line([u8; ALIGN]);

/// Memory whose beginning is aligned for every type and register.
#[derive(Default)]
pub struct Aligned(Vec<Line>);

impl Aligned {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// At least `bytes` bytes, of any content.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        let lines = bytes.div_ceil(ALIGN);
        if self.0.len() < lines {
            self.0.resize(lines, Line([0; ALIGN]));
        }
        &mut self.all_mut()[..bytes]
    }

    /// All of it.
    pub fn all(&self) -> &[u8] {
        // SAFETY: a vector of lines is as many bytes; the borrow goes on.
        unsafe { from_raw_parts(self.0.as_ptr().cast(), self.0.len() * ALIGN) }
    }

    /// All of it, to be changed.
    pub fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: a vector of lines is as many bytes, and any bytes are lines; the borrow goes on.
        unsafe { from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * ALIGN) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_their_bytes() {
        let mut memory = Aligned::default();
        let bytes = memory.room(24);
        items_mut::<f64>(bytes).copy_from_slice(&[1.5, -2.0, f64::NAN]);
        assert_eq!(&bytes[..8], bytes_of(&[1.5]));
        assert_eq!(items::<u64>(bytes)[1], (-2.0_f64).to_bits());
        assert_eq!(items::<[f32; 2]>(bytes).len(), 3);
        assert_eq!(bytes_of(items::<u16>(bytes)), bytes);
        assert_eq!(memory.all().as_ptr().addr() % ALIGN, 0);
        let mut numbers = [1_u32, 2];
        bytes_of_mut(&mut numbers)[4..].copy_from_slice(&7_u32.to_le_bytes());
        assert_eq!(numbers, [1, 7]);
    }

    #[test]
    #[should_panic(expected = "aligned")]
    fn a_crooked_place_is_refused() {
        let mut memory = Aligned::default();
        let _ = items::<u32>(&memory.room(16)[1..9]);
    }

    #[test]
    #[should_panic(expected = "whole items")]
    fn a_part_of_an_item_is_refused() {
        let mut memory = Aligned::default();
        let _ = items::<u32>(&memory.room(7)[..]);
    }
}
