//! Items compared byte plane by byte plane, as shuffled bytes are stored.
//!
//! In: byte `k` of all items, one behind another; a value; what is known of each item from the planes before. Out: what
//! is known now, and whether a further plane can change it. Plain version: a loop over the items; so it is written, and the
//! compiler makes vectors of it, once for each level.
//! Invariant: `tie` and `less` hold 0 or 1 for each item, and not both are 1.

use crate::level::{Isa, Level};

/// Items that are looked at together to tell whether one is left.
const GROUP: usize = 256;

/// Clears `tie` where the byte is another than `value`; whether it is left anywhere.
///
/// # Panics
/// If the slices have different lengths.
pub fn plane_equal(level: Level, plane: &[u8], value: u8, tie: &mut [u8]) -> bool {
    assert_eq!(plane.len(), tie.len(), "lengths differ");
    match level.0 {
        Isa::Portable => equal(plane, value, tie),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { equal_avx2(plane, value, tie) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { equal_avx512(plane, value, tie) },
    }
}

/// Decides items that the planes before left in a tie: `less` becomes 1 where the byte, with the bits of `flip` turned,
/// is below `value`, and `tie` stays 1 where it is the same. Whether a tie is left anywhere.
///
/// # Panics
/// If the slices have different lengths.
pub fn plane_order(level: Level, plane: &[u8], flip: u8, value: u8, tie: &mut [u8], less: &mut [u8]) -> bool {
    assert!(plane.len() == tie.len() && tie.len() == less.len(), "lengths differ");
    match level.0 {
        Isa::Portable => order(plane, flip, value, tie, less),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { order_avx2(plane, flip, value, tie, less) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { order_avx512(plane, flip, value, tie, less) },
    }
}

#[inline(always)]
fn equal(plane: &[u8], value: u8, tie: &mut [u8]) -> bool {
    let mut is_left = 0;
    for (plane, tie) in plane.chunks(GROUP).zip(tie.chunks_mut(GROUP)) {
        let mut group = 0;
        for (&byte, tie) in plane.iter().zip(tie) {
            *tie &= u8::from(byte == value);
            group |= *tie;
        }
        is_left |= group;
    }
    is_left != 0
}

#[inline(always)]
fn order(plane: &[u8], flip: u8, value: u8, tie: &mut [u8], less: &mut [u8]) -> bool {
    let mut is_left = 0;
    let groups = plane.chunks(GROUP).zip(tie.chunks_mut(GROUP)).zip(less.chunks_mut(GROUP));
    for ((plane, tie), less) in groups {
        let mut group = 0;
        for ((&byte, tie), less) in plane.iter().zip(tie).zip(less) {
            let byte = byte ^ flip;
            *less |= *tie & u8::from(byte < value);
            *tie &= u8::from(byte == value);
            group |= *tie;
        }
        is_left |= group;
    }
    is_left != 0
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn equal_avx2(plane: &[u8], value: u8, tie: &mut [u8]) -> bool {
    equal(plane, value, tie)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn equal_avx512(plane: &[u8], value: u8, tie: &mut [u8]) -> bool {
    equal(plane, value, tie)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn order_avx2(plane: &[u8], flip: u8, value: u8, tie: &mut [u8], less: &mut [u8]) -> bool {
    order(plane, flip, value, tie, less)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn order_avx512(plane: &[u8], flip: u8, value: u8, tie: &mut [u8], less: &mut [u8]) -> bool {
    order(plane, flip, value, tie, less)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels;
    use crate::testing::Random;

    #[test]
    fn all_levels_decide_what_a_loop_decides() {
        let mut random = Random::new(5);
        for len in (0..=140).chain([255, 256, 257, 1000, 4099]) {
            for (flip, values) in [(0, 256), (0xff, 3), (0x80, 2)] {
                // Few different bytes, so that many tie.
                let plane: Vec<u8> =
                    (0..len).map(|_| u8::try_from(random.below(values)).unwrap() ^ flip).collect();
                let known: Vec<usize> = (0..len).map(|_| random.below(3)).collect();
                let tie: Vec<u8> = known.iter().map(|&known| u8::from(known == 0)).collect();
                let less: Vec<u8> = known.iter().map(|&known| u8::from(known == 1)).collect();
                let value = u8::try_from(random.below(values)).unwrap();
                let each = || plane.iter().map(|byte| byte ^ flip).zip(&tie);
                let ties: Vec<u8> = each().map(|(byte, tie)| tie & u8::from(byte == value)).collect();
                let mut lesses: Vec<u8> = each().map(|(byte, tie)| tie & u8::from(byte < value)).collect();
                lesses.iter_mut().zip(&less).for_each(|(now, before)| *now |= before);
                let is_left = ties.contains(&1);
                for &level in levels() {
                    let (mut tie, mut less) = (tie.clone(), less.clone());
                    assert_eq!(plane_order(level, &plane, flip, value, &mut tie, &mut less), is_left);
                    assert!(tie == ties && less == lesses, "{} of {len}", level.name());
                    let mut tie: Vec<u8> = known.iter().map(|&known| u8::from(known == 0)).collect();
                    assert_eq!(plane_equal(level, &plane, value ^ flip, &mut tie), is_left);
                    assert_eq!(tie, ties, "{} of {len}", level.name());
                }
            }
        }
    }
}
