//! Loads and stores of x86-64 registers from and to slices: the intrinsics that are not safe as they are.
//!
//! Most take the front of their slice and panic where that is too short. Those with a place, for the blocks of the
//! shuffle, leave the check to a caller who does it once for many.

use core::arch::x86_64::{__m128i, __m256i, __m512i};
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use core::arch::x86_64::{_mm_loadu_si128, _mm_storeu_si128};
use core::arch::x86_64::{_mm256_loadu_si256, _mm256_storeu_si256};
use core::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};
use core::arch::x86_64::{_mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8};

/// The first 16 bytes.
#[inline]
pub(crate) fn load16(bytes: &[u8]) -> __m128i {
    let from = &bytes[..16];
    // SAFETY: `from` has 16 bytes.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

/// Writes the first 16 bytes.
#[inline]
pub(crate) fn store16(bytes: &mut [u8], register: __m128i) {
    let to = &mut bytes[..16];
    // SAFETY: `to` has 16 bytes.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), register) }
}

/// The first 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load32(bytes: &[u8]) -> __m256i {
    let from = &bytes[..32];
    // SAFETY: `from` has 32 bytes.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

/// Writes the first 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store32(bytes: &mut [u8], register: __m256i) {
    let to = &mut bytes[..32];
    // SAFETY: `to` has 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), register) }
}

/// The first 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load64(bytes: &[u8]) -> __m512i {
    let from = &bytes[..64];
    // SAFETY: `from` has 64 bytes.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Writes the first 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store64(bytes: &mut [u8], register: __m512i) {
    let to = &mut bytes[..64];
    // SAFETY: `to` has 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), register) }
}

/// The first `count` bytes, 1 to 64, and zeros after them.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn load_front(bytes: &[u8], count: usize) -> __m512i {
    let from = &bytes[..count];
    // SAFETY: the mask lets no byte beyond the `count` ones of `from` be read.
    unsafe { _mm512_maskz_loadu_epi8(front(count), from.as_ptr().cast()) }
}

/// Writes the first `count` bytes, 1 to 64.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn store_front(bytes: &mut [u8], count: usize, register: __m512i) {
    let to = &mut bytes[..count];
    // SAFETY: the mask lets no byte beyond the `count` ones of `to` be written.
    unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), front(count), register) }
}

/// The mask of the first `count` bytes, 0 to 64: never more bits than `count`.
#[inline]
fn front(count: usize) -> u64 {
    match count {
        0 => 0,
        1..64 => u64::MAX >> (64 - count),
        _ => u64::MAX,
    }
}

/// The two bytes from `at` on, as a number.
///
/// # Safety
/// `at + 2` is at most `bytes.len()`.
#[inline]
pub(crate) unsafe fn load2_unchecked(bytes: &[u8], at: usize) -> u16 {
    debug_assert!(at + 2 <= bytes.len());
    // SAFETY: `at` lies in `bytes`, says the caller.
    let from = unsafe { bytes.as_ptr().add(at) };
    // SAFETY: so do the two bytes from there on.
    u16::from_le(unsafe { from.cast::<u16>().read_unaligned() })
}

/// The 16 bytes from `at` on.
///
/// # Safety
/// `at + 16` is at most `bytes.len()`.
#[inline]
pub(crate) unsafe fn load16_unchecked(bytes: &[u8], at: usize) -> __m128i {
    debug_assert!(at + 16 <= bytes.len());
    // SAFETY: `at` lies in `bytes`, says the caller.
    let from = unsafe { bytes.as_ptr().add(at) };
    // SAFETY: so do the 16 bytes from there on.
    unsafe { _mm_loadu_si128(from.cast()) }
}

/// Writes the 16 bytes from `at` on.
///
/// # Safety
/// `at + 16` is at most `bytes.len()`.
#[inline]
pub(crate) unsafe fn store16_unchecked(bytes: &mut [u8], at: usize, register: __m128i) {
    debug_assert!(at + 16 <= bytes.len());
    // SAFETY: `at` lies in `bytes`, says the caller.
    let to = unsafe { bytes.as_mut_ptr().add(at) };
    // SAFETY: so do the 16 bytes from there on.
    unsafe { _mm_storeu_si128(to.cast(), register) };
}

/// Asks for the cache line of place `at`, which may lie anywhere.
#[inline]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    prefetch_at(bytes.as_ptr().wrapping_add(at));
}

/// Asks for the cache line of a place, which may lie anywhere.
#[inline]
pub(crate) fn prefetch_at(place: *const u8) {
    // SAFETY: a prefetch reads nothing that the program sees and takes any address; every x86-64 CPU has SSE.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
}
