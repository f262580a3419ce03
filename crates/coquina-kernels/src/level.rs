//! Which compiled variants of a loop this CPU can run.
//!
//! A [`Level`] can only be had from [`levels`] or [`best_level`], so holding one proves that the CPU has the
//! instruction set that it names.

use std::sync::OnceLock;

/// A compiled variant that this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(pub(crate) Isa);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// The target's base instruction set: SSE2 on x86-64, NEON on AArch64.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, VL, VBMI and GFNI, on top of AVX2: Ice Lake, Zen 4 and later.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The name of the instruction set, for reports: `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Isa::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
        }
    }
}

/// All levels that this CPU can run, from the plainest to the fastest.
pub fn levels() -> &'static [Level] {
    static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
    LEVELS.get_or_init(detect)
}

/// The fastest level of this CPU.
#[inline]
pub fn best_level() -> Level {
    levels().last().copied().unwrap_or(Level(Isa::Portable))
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Vec<Level> {
    let mut found = vec![Level(Isa::Portable)];
    if is_x86_feature_detected!("avx2") {
        found.push(Level(Isa::Avx2));
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni");
        if has_avx512 {
            found.push(Level(Isa::Avx512));
        }
    }
    found
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Vec<Level> {
    vec![Level(Isa::Portable)]
}
