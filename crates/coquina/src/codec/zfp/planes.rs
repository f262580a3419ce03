//! The bit planes of a cell's coefficients, and how they are coded.
//!
//! A plane is bit `k` of every coefficient, the first coefficient in the lowest bit. Planes are coded from the highest
//! on: the bits of the coefficients that are known to count, then, in groups, which of the others begin to count.
//! Source: `docs/formats/codecs.md`, "ZFP", step 8.
//! Invariant: what is written and what is read stop at the same bit, wherever the budget ends.

use std::ops::Range;

use super::bits::{BitReader, BitWriter, low_bits};

/// Coefficients that one word has a bit for.
const ROWS_MAX: usize = 64;

/// The planes of `N` coefficients. With fewer than 64 a word holds several planes.
pub(super) struct Planes<const N: usize>([u64; N]);

/// How far the coding of a cell has come.
pub(super) struct Progress {
    /// The first coefficients, which are known to count.
    pub(super) known: usize,
    /// Bits that may still be spent.
    pub(super) budget: u32,
}

impl<const N: usize> Planes<N> {
    const ROWS: usize = if N < ROWS_MAX { N } else { ROWS_MAX };

    #[inline(always)]
    pub(super) fn zeros() -> Self {
        Self([0; N])
    }

    /// The planes of coefficients of `width` bits.
    #[inline(always)]
    pub(super) fn of(mut coefficients: [u64; N], width: u32) -> Self {
        match N {
            4 => each(&mut coefficients, transpose::<4>),
            16 => each(&mut coefficients, transpose::<16>),
            _ if width == 32 => each(&mut coefficients, |rows: &mut [u64; 64]| {
                fold(rows);
                each(&mut rows[..32], transpose::<32>);
            }),
            _ => each(&mut coefficients, transpose::<64>),
        }
        Self(coefficients)
    }

    /// The coefficients of `width` bits that have these planes.
    #[inline(always)]
    pub(super) fn coefficients(mut self, width: u32) -> [u64; N] {
        match N {
            4 => each(&mut self.0, transpose::<4>),
            16 => each(&mut self.0, transpose::<16>),
            _ if width == 32 => each(&mut self.0, |rows: &mut [u64; 64]| {
                each(&mut rows[..32], transpose::<32>);
                unfold(rows);
            }),
            _ => each(&mut self.0, transpose::<64>),
        }
        self.0
    }

    /// The word of the first coefficients that holds plane `k`, and where in it.
    #[inline(always)]
    fn place(k: u32) -> (usize, u32) {
        let rows = narrow(Self::ROWS);
        ((k % rows) as usize, k / rows * rows)
    }

    #[inline(always)]
    fn get<const WORDS: usize>(&self, k: u32) -> [u64; WORDS] {
        let (at, shift) = Self::place(k);
        std::array::from_fn(|word| self.0[ROWS_MAX * word + at] >> shift & low_bits(narrow(Self::ROWS)))
    }

    #[inline(always)]
    fn set<const WORDS: usize>(&mut self, k: u32, plane: &[u64; WORDS]) {
        let (at, shift) = Self::place(k);
        for (word, bits) in plane.iter().enumerate() {
            self.0[ROWS_MAX * word + at] |= bits << shift;
        }
    }

    /// Writes the planes in front that have no ones, each a bit: of those below `planes.1`, down to `planes.0`. Returns
    /// below which number planes are left.
    #[inline(always)]
    pub(super) fn put_front(
        coefficients: &[u64; N],
        planes: Range<u32>,
        progress: &mut Progress,
        bits: &mut BitWriter<'_>,
    ) -> u32 {
        let Range { start: lowest, end: width } = planes;
        let all = coefficients.iter().fold(0, |all, bits| all | bits);
        let next = (u64::BITS - all.leading_zeros()).max(lowest);
        let zeros = (width - next).min(progress.budget);
        bits.put_zeros(zeros);
        progress.budget -= zeros;
        next
    }

    /// Writes plane `k`.
    #[inline(always)]
    pub(super) fn put<const WORDS: usize>(&self, k: u32, progress: &mut Progress, bits: &mut BitWriter<'_>) {
        let plane = self.get::<WORDS>(k);
        let mut at = 0;
        for word in plane {
            let count = narrow(progress.known - at).min(progress.budget).min(u64::BITS);
            bits.put(word & low_bits(count), count);
            progress.budget -= count;
            at += count as usize;
        }
        while progress.budget > 0 && progress.known < N {
            let next = next_one(&plane, progress.known);
            progress.budget -= 1;
            bits.put(u64::from(next.is_some()), 1);
            let Some(next) = next else { return };
            progress.put_run(next, N, bits);
        }
    }

    /// Reads plane `k`.
    #[inline(always)]
    pub(super) fn take<const WORDS: usize>(
        &mut self,
        k: u32,
        progress: &mut Progress,
        bits: &mut BitReader<'_>,
    ) {
        let mut plane = [0; WORDS];
        let mut at = 0;
        for word in &mut plane {
            let count = narrow(progress.known - at).min(progress.budget).min(u64::BITS);
            *word = bits.take(count);
            progress.budget -= count;
            at += count as usize;
        }
        while progress.budget > 0 && progress.known < N {
            progress.budget -= 1;
            if !bits.bit() {
                break;
            }
            let next = progress.take_run(N, bits);
            plane[next / ROWS_MAX] |= 1 << (next % ROWS_MAX);
        }
        self.set(k, &plane);
    }
}

impl Progress {
    /// Says that the next coefficient of `n` that counts is number `next`: zeros up to it and a one, which is left out
    /// for the last coefficient.
    #[inline(always)]
    fn put_run(&mut self, next: usize, n: usize, bits: &mut BitWriter<'_>) {
        let zeros = narrow(next - self.known);
        self.known = next + 1;
        let has_one = next < n - 1;
        if has_one && zeros < self.budget.min(u64::BITS) {
            bits.put(1 << zeros, zeros + 1);
            self.budget -= zeros + 1;
            return;
        }
        let zeros = zeros.min(self.budget);
        bits.put_zeros(zeros);
        self.budget -= zeros;
        if has_one && self.budget > 0 {
            bits.put(1, 1);
            self.budget -= 1;
        }
    }

    /// The next coefficient that counts: also where the budget ends before that is said.
    #[inline(always)]
    fn take_run(&mut self, n: usize, bits: &mut BitReader<'_>) -> usize {
        let most = narrow(n - 1 - self.known).min(self.budget);
        let zeros = bits.zeros(most);
        self.budget -= zeros;
        if zeros < most {
            bits.bit();
            self.budget -= 1;
        }
        let next = self.known + zeros as usize;
        self.known = next + 1;
        next
    }
}

/// A number of coefficients, of which there are at most 256.
#[inline(always)]
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The first coefficient from `known` on that has a one.
#[inline(always)]
fn next_one<const WORDS: usize>(plane: &[u64; WORDS], known: usize) -> Option<usize> {
    let first = known / ROWS_MAX;
    let mut mask = u64::MAX << (known % ROWS_MAX);
    for (number, word) in plane.iter().enumerate().skip(first) {
        let found = word & mask;
        if found != 0 {
            return Some(ROWS_MAX * number + found.trailing_zeros() as usize);
        }
        mask = u64::MAX;
    }
    None
}

/// Works on groups of so many rows.
#[inline(always)]
fn each<const ROWS: usize>(rows: &mut [u64], work: impl Fn(&mut [u64; ROWS])) {
    rows.as_chunks_mut().0.iter_mut().for_each(work);
}

/// Makes of 64 rows of 32 bits 32 rows of 64, of which half as much is to be transposed.
#[inline(always)]
fn fold(rows: &mut [u64; 64]) {
    for row in 0..32 {
        rows[row] |= rows[row + 32] << 32;
    }
}

/// Undoes [`fold`].
#[inline(always)]
fn unfold(rows: &mut [u64; 64]) {
    for row in 0..32 {
        (rows[row], rows[row + 32]) = (rows[row] & low_bits(32), rows[row] >> 32);
    }
}

/// Transposes the square matrices of bits that lie side by side in the rows: bit `c` of row `r` and bit `r` of row `c`
/// change places. The number of rows is a power of two.
#[inline(always)]
fn transpose<const ROWS: usize>(rows: &mut [u64; ROWS]) {
    swap::<ROWS, 32>(rows);
    swap::<ROWS, 16>(rows);
    swap::<ROWS, 8>(rows);
    swap::<ROWS, 4>(rows);
    swap::<ROWS, 2>(rows);
    swap::<ROWS, 1>(rows);
}

/// Swaps blocks of `HALF` by `HALF` bits across the diagonals of those of twice that.
#[inline(always)]
fn swap<const ROWS: usize, const HALF: usize>(rows: &mut [u64; ROWS]) {
    // Every second run of so many bits, from the lowest on.
    let mask = u64::MAX / ((1 << HALF) + 1);
    for both in 0..ROWS / (2 * HALF) {
        for row in 0..HALF {
            let top = 2 * HALF * both + row;
            let moved = (rows[top] >> HALF ^ rows[top + HALF]) & mask;
            rows[top + HALF] ^= moved;
            rows[top] ^= moved << HALF;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coefficients with leading zeros, fewer of them in front.
    fn coefficients<const N: usize>(width: u32, seed: u64) -> [u64; N] {
        let mut state = seed;
        std::array::from_fn(|number| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> (64 - width) >> (number / 3).min(width as usize - 1)
        })
    }

    fn planes_are_bits<const N: usize, const WORDS: usize>(width: u32) {
        let coefficients = coefficients::<N>(width, 5);
        let planes = Planes::of(coefficients, width);
        for k in 0..width {
            let plane = planes.get::<WORDS>(k);
            for (number, bits) in coefficients.iter().enumerate() {
                assert_eq!(plane[number / 64] >> (number % 64) & 1, bits >> k & 1, "plane {k} of {number}");
            }
        }
        let mut same = Planes::<N>::zeros();
        (0..width).for_each(|k| same.set::<WORDS>(k, &planes.get(k)));
        assert_eq!(same.coefficients(width), coefficients);
    }

    /// The coding, bit by bit as the format tells it.
    fn naive<const N: usize>(coefficients: &[u64; N], width: u32, lowest: u32, mut budget: u32) -> Vec<bool> {
        let (mut out, mut n) = (Vec::new(), 0);
        for k in (lowest..width).rev() {
            let bit = |number: usize| coefficients[number] >> k & 1 == 1;
            for number in 0..n.min(budget as usize) {
                out.push(bit(number));
                budget -= 1;
            }
            while budget > 0 && n < N {
                let is_more = (n..N).any(bit);
                out.push(is_more);
                budget -= 1;
                if !is_more {
                    break;
                }
                while budget > 0 && n < N - 1 {
                    out.push(bit(n));
                    budget -= 1;
                    if bit(n) {
                        break;
                    }
                    n += 1;
                }
                n += 1;
            }
        }
        out
    }

    fn coding_is_as_told<const N: usize, const WORDS: usize>(width: u32) {
        for (seed, lowest) in [(3, 0), (4, width / 2), (5, width - 1)] {
            let coefficients = coefficients::<N>(width, seed);
            for budget in (0..200).chain([1000, 20_000]) {
                let wanted = naive(&coefficients, width, lowest, budget);
                let mut room = vec![0; 3000];
                let mut bits = BitWriter::new(&mut room);
                let mut progress = Progress { known: 0, budget };
                let planes = Planes::of(coefficients, width);
                (lowest..width).rev().for_each(|k| planes.put::<WORDS>(k, &mut progress, &mut bits));
                assert_eq!((budget - progress.budget) as usize, wanted.len());
                bits.finish().unwrap();
                let mut reader = BitReader::new(&room);
                assert!(wanted.iter().all(|&bit| reader.bit() == bit), "{seed} {budget}");
                let (mut reader, mut progress) = (BitReader::new(&room), Progress { known: 0, budget });
                let mut read = Planes::<N>::zeros();
                (lowest..width).rev().for_each(|k| read.take::<WORDS>(k, &mut progress, &mut reader));
                assert_eq!(reader.position(), wanted.len());
                let kept = low_bits(width) & !low_bits(lowest);
                if budget == 20_000 {
                    assert_eq!(read.coefficients(width), coefficients.map(|bits| bits & kept));
                }
            }
        }
    }

    #[test]
    fn planes_are_the_bits_of_coefficients() {
        planes_are_bits::<4, 1>(32);
        planes_are_bits::<16, 1>(32);
        planes_are_bits::<64, 1>(32);
        planes_are_bits::<256, 4>(32);
        planes_are_bits::<4, 1>(64);
        planes_are_bits::<16, 1>(64);
        planes_are_bits::<64, 1>(64);
        planes_are_bits::<256, 4>(64);
    }

    #[test]
    fn coding_is_that_of_the_format_for_every_budget() {
        coding_is_as_told::<4, 1>(32);
        coding_is_as_told::<16, 1>(64);
        coding_is_as_told::<64, 1>(32);
        coding_is_as_told::<256, 4>(64);
    }
}
