//! Runs loops that are compiled for AVX2 and BMI2 too, where the CPU has them.
//!
//! In: a closure. Out: its result, the same bits on every CPU: Rust does not fuse multiplications with additions.
//! Only what is inlined into the closure is compiled for the wider registers, so loops in it are `#[inline(always)]`.
#![expect(unsafe_code, reason = "a call of a function with target features, after detection")]

/// Runs `work` with the widest instructions of this CPU.
#[inline]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the CPU has all the features that the function is compiled for.
        return unsafe { with_avx2(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
