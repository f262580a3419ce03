//! From a function of one or two doubles to the loops over items, for every level.
//!
//! In: items. Out: as many. A function is a body without branches, which the compiler makes vector code of, and may
//! leave some arguments ("hard" ones) to a slow body of its own. Single precision goes through double precision.
//! Invariant: only plain IEEE operations, none fused or reordered, so every level has the same bits.

use crate::elementwise::Kernel;
use crate::items::{Number, items, items_mut};
use crate::level::{Isa, Level};
use crate::types::Type;

/// Items that are looked at for hard arguments at a time.
const GROUP: usize = 1024;
/// Of a group that has some, items whose hard arguments are dealt with at a time.
const PART: usize = 64;

/// A function of one number. A NaN is dealt with before.
pub(super) trait Unary {
    /// The function, without branches.
    fn value(x: f64) -> f64;

    /// Whether `value` is wrong for this argument.
    #[inline(always)]
    fn is_hard(_x: f64) -> bool {
        false
    }

    /// The function for hard arguments, without branches.
    #[inline(always)]
    fn hard(x: f64) -> f64 {
        Self::value(x)
    }

    /// The function to some 30 bits, for numbers of single precision.
    #[inline(always)]
    fn single(x: f64) -> f64 {
        Self::value(x)
    }
}

/// A function of two numbers, which deals with NaNs itself.
pub(super) trait Binary {
    /// The function, without branches.
    fn value(x: f64, y: f64) -> f64;

    /// The function to some 30 bits, for numbers of single precision.
    #[inline(always)]
    fn single(x: f64, y: f64) -> f64 {
        Self::value(x, y)
    }
}

/// The loop of a function of one number over these items, if they are floats.
pub(super) fn unary<F: Unary>(inputs: &[Type]) -> Option<Kernel> {
    match inputs {
        [Type::F64] => Some(Kernel { output: Type::F64, run: map_unary::<f64, F> }),
        [Type::F32] => Some(Kernel { output: Type::F32, run: map_unary::<f32, F> }),
        _ => None,
    }
}

/// The loop of a function of two numbers over these items, if they are floats.
pub(super) fn binary<F: Binary>(inputs: &[Type]) -> Option<Kernel> {
    match inputs {
        [Type::F64, Type::F64] => Some(Kernel { output: Type::F64, run: map_binary::<f64, F> }),
        [Type::F32, Type::F32] => Some(Kernel { output: Type::F32, run: map_binary::<f32, F> }),
        _ => None,
    }
}

/// A float that doubles are made of and rounded to.
trait Float: Number {
    fn unary<F: Unary>(x: f64) -> f64;
    fn binary<F: Binary>(x: f64, y: f64) -> f64;
    fn wide(self) -> f64;
    fn rounded(x: f64) -> Self;
}

impl Float for f64 {
    #[inline(always)]
    fn unary<F: Unary>(x: f64) -> f64 {
        F::value(x)
    }

    #[inline(always)]
    fn binary<F: Binary>(x: f64, y: f64) -> f64 {
        F::value(x, y)
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn rounded(x: f64) -> Self {
        x
    }
}

impl Float for f32 {
    #[inline(always)]
    fn unary<F: Unary>(x: f64) -> f64 {
        F::single(x)
    }

    #[inline(always)]
    fn binary<F: Binary>(x: f64, y: f64) -> f64 {
        F::single(x, y)
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest single, or to an infinity")]
    fn rounded(x: f64) -> Self {
        x as Self
    }
}

fn map_unary<T: Float, F: Unary>(level: Level, inputs: &[&[u8]], out: &mut [u8]) {
    let [x] = inputs else { panic!("one input, not {}", inputs.len()) };
    let (x, out) = (items::<T>(x), items_mut::<T>(out));
    assert!(x.len() == out.len(), "lengths differ");
    match level.0 {
        Isa::Portable => unary_body::<T, F>(x, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { unary_avx2::<T, F>(x, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { unary_avx512::<T, F>(x, out) },
    }
}

#[inline(always)]
fn unary_body<T: Float, F: Unary>(x: &[T], out: &mut [T]) {
    for (out, x) in out.chunks_mut(GROUP).zip(x.chunks(GROUP)) {
        let mut has_hard = false;
        for (out, x) in out.iter_mut().zip(x) {
            let x = x.wide();
            let value = T::unary::<F>(x);
            // The sum is a quiet NaN with the bits of `x`.
            *out = T::rounded(if x.is_nan() { x + x } else { value });
            has_hard |= F::is_hard(x);
        }
        if has_hard {
            replace_hard::<T, F>(x, out);
        }
    }
}

/// Puts the function's values at the places of hard arguments.
///
/// Most are fill values: then those of a part are equal, mostly to those of the part before, and one value serves all.
#[inline(always)]
fn replace_hard<T: Float, F: Unary>(x: &[T], out: &mut [T]) {
    let (mut known, mut value) = (0, T::rounded(0.0));
    for (out, x) in out.chunks_mut(PART).zip(x.chunks(PART)) {
        let (mut least, mut most) = (u64::MAX, 0);
        for x in x {
            let (bits, is_hard) = (x.wide().to_bits(), F::is_hard(x.wide()));
            least = least.min(if is_hard { bits } else { u64::MAX });
            most = most.max(if is_hard { bits } else { 0 });
        }
        if least < most {
            replace_each::<T, F>(x, out);
        } else if least == most {
            if known != most {
                (known, value) = (most, T::rounded(F::hard(f64::from_bits(most))));
            }
            for (out, x) in out.iter_mut().zip(x) {
                *out = if F::is_hard(x.wide()) { value } else { *out };
            }
        }
    }
}

/// The same for arguments that differ: they stand together while their values are computed.
#[inline(always)]
fn replace_each<T: Float, F: Unary>(x: &[T], out: &mut [T]) {
    let mut hard = [0.0_f64; PART + 1];
    let mut count = 0;
    for x in x {
        hard[count] = x.wide();
        count += usize::from(F::is_hard(x.wide()));
    }
    for value in &mut hard[..count] {
        *value = F::hard(*value);
    }
    let mut values = hard.iter();
    for (out, x) in out.iter_mut().zip(x) {
        if F::is_hard(x.wide())
            && let Some(value) = values.next()
        {
            *out = T::rounded(*value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn unary_avx2<T: Float, F: Unary>(x: &[T], out: &mut [T]) {
    unary_body::<T, F>(x, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn unary_avx512<T: Float, F: Unary>(x: &[T], out: &mut [T]) {
    unary_body::<T, F>(x, out);
}

fn map_binary<T: Float, F: Binary>(level: Level, inputs: &[&[u8]], out: &mut [u8]) {
    let [x, y] = inputs else { panic!("two inputs, not {}", inputs.len()) };
    let (x, y, out) = (items::<T>(x), items::<T>(y), items_mut::<T>(out));
    assert!(x.len() == out.len() && y.len() == out.len(), "lengths differ");
    match level.0 {
        Isa::Portable => binary_body::<T, F>(x, y, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { binary_avx2::<T, F>(x, y, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { binary_avx512::<T, F>(x, y, out) },
    }
}

#[inline(always)]
fn binary_body<T: Float, F: Binary>(x: &[T], y: &[T], out: &mut [T]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = T::rounded(T::binary::<F>(x.wide(), y.wide()));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn binary_avx2<T: Float, F: Binary>(x: &[T], y: &[T], out: &mut [T]) {
    binary_body::<T, F>(x, y, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn binary_avx512<T: Float, F: Binary>(x: &[T], y: &[T], out: &mut [T]) {
    binary_body::<T, F>(x, y, out);
}
