//! Items picked by a mask: how many, which, and their bytes one behind another.
//!
//! In: a mask of one byte for each item, 0 for those that are left out, and items of any size. Out: the picked items
//! in order. The plain version is a loop with an `if`; the real one looks at 64 bytes of the mask at once: none and
//! all of them are one step, few are picked one by one, and many are written without a branch.
//! Invariant: any mask byte but 0 picks.

use std::ops::RangeInclusive;

use crate::level::{Isa, Level};

/// Items that are looked at together: as many as a mask of bits has.
const GROUP: usize = 64;
/// Up to so many of a group are picked one by one.
const FEW: u32 = 10;

/// How many bytes of a mask are not 0.
pub fn count_picked(level: Level, mask: &[u8]) -> usize {
    match level.0 {
        Isa::Portable => count(mask),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: levels above the plainest exist only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 => unsafe { count_avx2(mask) },
    }
}

/// Writes the picked items, of `item_bytes` bytes each, to the beginning of `out`; how many they are.
///
/// # Panics
/// If there are not as many items as mask bytes, or `out` has no room for those that are picked.
pub fn compress(level: Level, mask: &[u8], items: &[u8], item_bytes: usize, out: &mut [u8]) -> usize {
    assert_eq!(Some(items.len()), mask.len().checked_mul(item_bytes), "items of a mask of {}", mask.len());
    match level.0 {
        Isa::Portable => compress_any(mask, items, item_bytes, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: levels above the plainest exist only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 => unsafe { compress_avx2(mask, items, item_bytes, out) },
    }
}

/// Picks the texts of a length in `lens`, of texts between each place and the next: a mask byte of 0 or 1 for each.
///
/// # Panics
/// If there is not one more place than mask bytes.
pub fn pick_lengths(level: Level, places: &[i64], lens: &RangeInclusive<i64>, mask: &mut [u8]) {
    assert_eq!(places.len(), mask.len() + 1, "places of {} texts", mask.len());
    match level.0 {
        Isa::Portable => lengths(places, lens, mask),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { lengths_avx2(places, lens, mask) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { lengths_avx512(places, lens, mask) },
    }
}

#[inline(always)]
fn lengths(places: &[i64], lens: &RangeInclusive<i64>, mask: &mut [u8]) {
    let (low, high) = (*lens.start(), *lens.end());
    for ((mask, start), end) in mask.iter_mut().zip(places).zip(&places[1..]) {
        let len = end.wrapping_sub(*start);
        *mask = u8::from(low <= len) & u8::from(len <= high);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lengths_avx2(places: &[i64], lens: &RangeInclusive<i64>, mask: &mut [u8]) {
    lengths(places, lens, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn lengths_avx512(places: &[i64], lens: &RangeInclusive<i64>, mask: &mut [u8]) {
    lengths(places, lens, mask)
}

/// Leaves out the picked items that `keep` does not want, which it is asked in order.
pub fn keep_picked(mask: &mut [u8], mut keep: impl FnMut(usize) -> bool) {
    for (number, group) in mask.chunks_mut(GROUP).enumerate() {
        let mut bits = bits_of(group);
        while bits != 0 {
            let at = bits.trailing_zeros() as usize;
            if !keep(number * GROUP + at) {
                group[at] = 0;
            }
            bits &= bits - 1;
        }
    }
}

/// Calls `see` with the place of every picked item, in order.
pub fn each_picked(mask: &[u8], mut see: impl FnMut(usize)) {
    for (number, group) in mask.chunks(GROUP).enumerate() {
        let mut bits = bits_of(group);
        while bits != 0 {
            see(number * GROUP + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn count_avx2(mask: &[u8]) -> usize {
    count(mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn compress_avx2(mask: &[u8], items: &[u8], item_bytes: usize, out: &mut [u8]) -> usize {
    compress_any(mask, items, item_bytes, out)
}

#[inline(always)]
fn count(mask: &[u8]) -> usize {
    // Lanes of 16 bits hold what few bytes add up to.
    let part = |part: &[u8]| usize::from(part.iter().map(|&byte| u16::from(byte != 0)).sum::<u16>());
    mask.chunks(GROUP * 16).map(part).sum()
}

#[inline(always)]
fn compress_any(mask: &[u8], items: &[u8], item_bytes: usize, out: &mut [u8]) -> usize {
    match item_bytes {
        0 => count(mask),
        1 => compress_fixed::<1>(mask, items, out),
        2 => compress_fixed::<2>(mask, items, out),
        4 => compress_fixed::<4>(mask, items, out),
        8 => compress_fixed::<8>(mask, items, out),
        16 => compress_fixed::<16>(mask, items, out),
        _ => compress_wide(mask, items, item_bytes, out),
    }
}

#[inline(always)]
fn compress_fixed<const W: usize>(mask: &[u8], items: &[u8], out: &mut [u8]) -> usize {
    let (items, out) = (items.as_chunks::<W>().0, out.as_chunks_mut::<W>().0);
    let mut written = 0;
    let mut room = [[0; W]; GROUP];
    for (mask, items) in mask.chunks(GROUP).zip(items.chunks(GROUP)) {
        let mut bits = bits_of(mask);
        let picked = bits.count_ones();
        if picked == 0 {
            continue;
        }
        let to = &mut out[written..written + picked as usize];
        written += picked as usize;
        if picked as usize == items.len() {
            to.copy_from_slice(items);
        } else if picked <= FEW {
            for to in to {
                *to = items[bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
        } else {
            // Every item is written, and the place moves on only behind one that is picked.
            let mut place = 0;
            for (&byte, item) in mask.iter().zip(items) {
                room[place % GROUP] = *item;
                place += usize::from(byte != 0);
            }
            to.copy_from_slice(&room[..to.len()]);
        }
    }
    written
}

/// Items of any size: runs of picked neighbours are copied at once.
#[inline(always)]
fn compress_wide(mask: &[u8], items: &[u8], item_bytes: usize, out: &mut [u8]) -> usize {
    let mut written = 0;
    for (mask, items) in mask.chunks(GROUP).zip(items.chunks(GROUP * item_bytes)) {
        let mut bits = bits_of(mask);
        let mut at = 0;
        while bits != 0 {
            let skipped = bits.trailing_zeros();
            let run = (!(bits >> skipped)).trailing_zeros();
            at += skipped as usize;
            let bytes = run as usize * item_bytes;
            out[written..written + bytes].copy_from_slice(&items[at * item_bytes..][..bytes]);
            written += bytes;
            at += run as usize;
            let shift = skipped + run;
            bits = bits.checked_shr(shift).unwrap_or(0);
        }
    }
    written / item_bytes
}

/// A bit for each byte of at most 64 that is not 0, the first one lowest.
#[inline(always)]
fn bits_of(mask: &[u8]) -> u64 {
    let (words, rest) = mask.as_chunks::<8>();
    let mut bits = 0;
    for (number, word) in words.iter().enumerate() {
        bits |= word_bits(*word) << (8 * number);
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        bits |= word_bits(word) << (8 * words.len());
    }
    bits
}

#[inline(always)]
fn word_bits(word: [u8; 8]) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let word = u64::from_le_bytes(word);
    // The low seven bits carry into the eighth where one of them is set; no byte carries into the next.
    let ones = (((word & LOW) + LOW) | word) >> 7 & 0x0101_0101_0101_0101;
    // Byte k of ones goes to bit 56 + k; no two products meet in a bit.
    ones.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels;
    use crate::testing::Random;

    /// Masks of so many bytes: of every density, and with bytes that are not 0 or 1.
    fn masks(random: &mut Random, len: usize) -> Vec<Vec<u8>> {
        let mut masks = vec![vec![0; len], vec![1; len], vec![0x80; len]];
        for percent in [2, 10, 50, 90, 98] {
            let mut one = || if random.below(100) < percent { 1 << random.below(8) } else { 0 };
            masks.push((0..len).map(|_| one()).collect());
        }
        masks
    }

    #[test]
    fn all_levels_pick_what_a_loop_picks() {
        let mut random = Random::new(11);
        for len in (0..=140).chain([1000, 4099]) {
            for mask in masks(&mut random, len) {
                let places: Vec<usize> = (0..len).filter(|&n| mask[n] != 0).collect();
                let mut seen = Vec::new();
                each_picked(&mask, |place| seen.push(place));
                assert_eq!(seen, places);
                let (mut kept, mut asked) = (mask.clone(), Vec::new());
                keep_picked(&mut kept, |place| {
                    asked.push(place);
                    place % 3 == 0
                });
                let wanted: Vec<u8> = (0..len).map(|n| if n % 3 == 0 { mask[n] } else { 0 }).collect();
                assert!(asked == places && kept == wanted);
                for width in [1, 2, 3, 4, 8, 12, 16, 40] {
                    let items = random.bytes(len * width);
                    let wanted: Vec<u8> =
                        places.iter().flat_map(|n| &items[n * width..][..width]).copied().collect();
                    for &level in levels() {
                        assert_eq!(count_picked(level, &mask), places.len());
                        let mut out = vec![0xA5; wanted.len() + 3];
                        assert_eq!(compress(level, &mask, &items, width, &mut out), places.len());
                        assert!(out[..wanted.len()] == wanted && out[wanted.len()..] == [0xA5; 3]);
                    }
                }
            }
        }
    }

    #[test]
    fn all_levels_pick_texts_by_their_lengths() {
        let mut random = Random::new(12);
        for len in (0..=140).chain([1000]) {
            let lens: Vec<i64> = (0..len).map(|_| random.below(5).cast_signed() as i64).collect();
            let mut places = vec![7];
            lens.iter().for_each(|len| places.push(places[places.len() - 1] + len));
            for wanted in [0..=0, 2..=2, 1..=i64::MAX, 3..=4, 9..=9] {
                let expected: Vec<u8> = lens.iter().map(|len| u8::from(wanted.contains(len))).collect();
                for &level in levels() {
                    let mut mask = vec![0xA5; len];
                    pick_lengths(level, &places, &wanted, &mut mask);
                    assert_eq!(mask, expected, "{} of {len}", level.name());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "range end index")]
    fn no_room_is_refused() {
        let _ = compress(levels()[0], &[1, 1], &[1, 2], 1, &mut [0]);
    }
}
