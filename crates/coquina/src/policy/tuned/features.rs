//! What items look like, cheaply: how much each byte of them varies, alone and from item to item, and what repeats.
//!
//! In: runs of items out of a chunk. Out: [`Features`], of which two can be compared. All numbers are made of counts by sums
//! and products, so that they are the same on every machine.

use std::sync::OnceLock;

use super::math::log2;

/// Bytes of items beyond these are looked at together.
const PLANES_MAX: usize = 16;
/// Places of items that are remembered, to see which come again.
const SEEN_BITS: u32 = 11;

/// What some items of a chunk look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Bits of information in a byte, 0 to 8, for each byte of an item: at most 16 planes.
    pub entropies: Vec<f64>,
    /// The same of the differences from the same byte of the item before.
    pub delta_entropies: Vec<f64>,
    /// The part of items that are like one before.
    pub repeats: f64,
    /// The part of bytes that are 0.
    pub zeros: f64,
    /// Whether all items are the same.
    pub is_uniform: bool,
}

impl Features {
    /// Those of some runs of items of `typesize` bytes.
    pub(super) fn of(runs: &[Vec<u8>], typesize: usize) -> Self {
        let planes = typesize.clamp(1, PLANES_MAX);
        let mut counts = [const { Counts::new() }; PLANES_MAX];
        let mut deltas = [const { Counts::new() }; PLANES_MAX];
        let (mut items, mut repeats, mut zeros, mut bytes) = (0_u32, 0_u32, 0_u32, 0_u32);
        let mut seen = vec![0_u32; 1 << SEEN_BITS];
        let first = runs.first().and_then(|run| run.get(..typesize));
        let mut is_uniform = first.is_some();
        for run in runs {
            let mut before: &[u8] = &[];
            for item in run.chunks_exact(typesize.max(1)) {
                if before.is_empty() {
                    before = item;
                }
                for (at, (&byte, &was)) in item.iter().zip(before).enumerate() {
                    // The rest of the division by the number of planes, which is all of them where there are more bytes.
                    let plane = at & (PLANES_MAX - 1);
                    counts[plane].add(byte);
                    deltas[plane].add(byte.wrapping_sub(was));
                    zeros += u32::from(byte == 0);
                }
                let hash = hash(item);
                let place = &mut seen[(hash >> (32 - SEEN_BITS)) as usize];
                repeats += u32::from(*place == hash);
                *place = hash;
                is_uniform = is_uniform && Some(item) == first;
                items += 1;
                bytes = bytes.saturating_add(u32::try_from(item.len()).unwrap_or(u32::MAX));
                before = item;
            }
        }
        let part = |count: u32, of: u32| f64::from(count) / f64::from(of.max(1));
        Self {
            entropies: counts[..planes].iter().map(Counts::entropy).collect(),
            delta_entropies: deltas[..planes].iter().map(Counts::entropy).collect(),
            repeats: part(repeats, items),
            zeros: part(zeros, bytes),
            is_uniform,
        }
    }

    /// How different two are: about 1 where something else may be better for them.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        if self.entropies.len() != other.entropies.len() {
            return f64::MAX;
        }
        let apart = |a: &[f64], b: &[f64]| -> f64 {
            let bits = || a.iter().zip(b).map(|(a, b)| (a - b).abs());
            let count = f64::from(u16::try_from(a.len().max(1)).unwrap_or(u16::MAX));
            (bits().sum::<f64>() / count / BITS_APART).max(bits().fold(0.0, f64::max) / PLANE_BITS_APART)
        };
        let bits = apart(&self.entropies, &other.entropies)
            .max(apart(&self.delta_entropies, &other.delta_entropies));
        let parts = (self.repeats - other.repeats).abs().max((self.zeros - other.zeros).abs());
        bits.max(parts / PARTS_APART)
    }
}

/// Chunks whose entropies differ by so many bits as a mean or in one plane, or whose repeats and zeros by such a part, are
/// tried anew.
const BITS_APART: f64 = 0.4;
const PLANE_BITS_APART: f64 = 0.8;
const PARTS_APART: f64 = 0.12;

/// A hash that is not 0.
fn hash(item: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for part in item.chunks(4) {
        let mut word = [0; 4];
        word[..part.len()].copy_from_slice(part);
        hash = (hash ^ u32::from_le_bytes(word)).wrapping_mul(0x9e37_79b1);
        hash ^= hash >> 15;
    }
    hash | 1
}

/// How often each byte value occurs.
#[derive(Clone)]
struct Counts([u16; 256]);

impl Counts {
    const fn new() -> Self {
        Self([0; 256])
    }

    fn add(&mut self, byte: u8) {
        let count = &mut self.0[usize::from(byte)];
        *count = count.saturating_add(1);
    }

    /// Bits of information in a byte.
    fn entropy(&self) -> f64 {
        let total: u32 = self.0.iter().map(|&count| u32::from(count)).sum();
        let known = products();
        let bits = |count: u16| match known.get(usize::from(count)) {
            Some(&bits) => bits,
            None => f64::from(count) * log2(f64::from(count)),
        };
        let sum: f64 = self.0.iter().filter(|&&count| count > 1).map(|&count| bits(count)).sum();
        let total = f64::from(total.max(1));
        (log2(total) - sum / total).max(0.0)
    }
}

/// Counts by their logarithms, for as many as a look has.
fn products() -> &'static [f64] {
    static KNOWN: OnceLock<Vec<f64>> = OnceLock::new();
    KNOWN.get_or_init(|| (0..=8192_u16).map(|n| f64::from(n) * log2(f64::from(n))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::testing::random;

    fn random_bytes(seed: u64, len: usize) -> Vec<u8> {
        let mut next = random(seed);
        (0..len).map(|_| u8::try_from(next(256)).unwrap()).collect()
    }

    fn of(items: &[u8], typesize: usize) -> Features {
        Features::of(&[items.to_vec()], typesize)
    }

    #[test]
    fn noise_has_eight_bits_and_what_is_constant_none() {
        let noise = of(&random_bytes(1, 1 << 15), 1);
        assert!((noise.entropies[0] - 8.0).abs() < 0.02, "{noise:?}");
        let constant = of(&[7; 1000], 4);
        assert_eq!(constant.entropies, [0.0; 4]);
        assert!(constant.is_uniform);
        assert!(constant.repeats > 0.99);
        assert!(!noise.is_uniform);
        let rising: Vec<u8> = (0..4096_u32).flat_map(u32::to_le_bytes).collect();
        let rising = of(&rising, 4);
        assert!(rising.entropies[0] > 7.9);
        assert!(rising.delta_entropies[0] < 0.1);
    }

    #[test]
    fn samples_of_the_same_are_near_and_of_others_far() {
        let bytes = |seed, mask: u8| -> Vec<u8> {
            random_bytes(seed, 1 << 12).iter().map(|byte| byte & mask).collect()
        };
        let few = [of(&bytes(1, 3), 4), of(&bytes(2, 3), 4)];
        assert!(few[0].distance(&few[1]) < 0.6, "{}", few[0].distance(&few[1]));
        assert!(few[0].distance(&of(&bytes(3, 15), 4)) > 1.0);
        assert!(few[0].distance(&of(&bytes(1, 3), 8)) > 1.0);
    }
}
