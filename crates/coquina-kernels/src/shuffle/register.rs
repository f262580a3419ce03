//! A register of 16 bytes, as every CPU of the two large families has it, and how to zip two of them.

pub(super) use imp::{Register, load, store, zipped};

#[cfg(target_arch = "x86_64")]
mod imp {
    use core::arch::x86_64::{__m128i, _mm_unpackhi_epi8, _mm_unpacklo_epi8};

    pub(in super::super) type Register = __m128i;
    pub(in super::super) use crate::x86::{load16 as load, store16 as store};

    /// The bytes of `a` and `b` in turn: those of the lower halves, and those of the upper ones.
    #[inline]
    pub(in super::super) fn zipped(a: Register, b: Register) -> (Register, Register) {
        // SAFETY: every x86-64 CPU has SSE2.
        let low = unsafe { _mm_unpacklo_epi8(a, b) };
        // SAFETY: every x86-64 CPU has SSE2.
        let high = unsafe { _mm_unpackhi_epi8(a, b) };
        (low, high)
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod imp {
    use core::arch::aarch64::{uint8x16_t, vld1q_u8, vst1q_u8, vzip1q_u8, vzip2q_u8};

    pub(in super::super) type Register = uint8x16_t;

    /// The first 16 bytes.
    #[inline]
    pub(in super::super) fn load(bytes: &[u8]) -> Register {
        let from = &bytes[..16];
        // SAFETY: `from` has 16 bytes.
        unsafe { vld1q_u8(from.as_ptr()) }
    }

    /// Writes the first 16 bytes.
    #[inline]
    pub(in super::super) fn store(bytes: &mut [u8], register: Register) {
        let to = &mut bytes[..16];
        // SAFETY: `to` has 16 bytes.
        unsafe { vst1q_u8(to.as_mut_ptr(), register) }
    }

    /// The bytes of `a` and `b` in turn: those of the lower halves, and those of the upper ones.
    #[inline]
    pub(in super::super) fn zipped(a: Register, b: Register) -> (Register, Register) {
        // SAFETY: this module is compiled for targets with NEON only.
        let low = unsafe { vzip1q_u8(a, b) };
        // SAFETY: this module is compiled for targets with NEON only.
        let high = unsafe { vzip2q_u8(a, b) };
        (low, high)
    }
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
mod imp {
    pub(in super::super) type Register = [u8; 16];

    /// The first 16 bytes.
    #[inline]
    pub(in super::super) fn load(bytes: &[u8]) -> Register {
        let mut register = [0; 16];
        register.copy_from_slice(&bytes[..16]);
        register
    }

    /// Writes the first 16 bytes.
    #[inline]
    pub(in super::super) fn store(bytes: &mut [u8], register: Register) {
        bytes[..16].copy_from_slice(&register);
    }

    /// The bytes of `a` and `b` in turn: those of the lower halves, and those of the upper ones.
    #[inline]
    pub(in super::super) fn zipped(a: Register, b: Register) -> (Register, Register) {
        let (mut low, mut high) = ([0; 16], [0; 16]);
        for i in 0..8 {
            (low[2 * i], low[2 * i + 1]) = (a[i], b[i]);
            (high[2 * i], high[2 * i + 1]) = (a[i + 8], b[i + 8]);
        }
        (low, high)
    }
}
