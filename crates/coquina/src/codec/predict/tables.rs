//! Tables of frequencies, and which segments of symbols share one.
//!
//! In: symbols. Out: up to 16 tables, and for each segment the number of its table: segments with small residuals are not
//! coded by the frequencies of those with large ones.
//! Source: `docs/formats/predict.md`, "Tables".
//! Invariant: integer arithmetic only, so that tables are the same on every machine.

use super::symbols::{NEW_HOLE, SAME_HOLE, bits_of};

/// Symbols that are coded by one table.
pub(super) const SEGMENT: usize = 128;
pub(super) const TOTAL_BITS: u32 = 11;
pub(super) const TOTAL: usize = 1 << TOTAL_BITS;
pub(super) const TABLES_MAX: usize = 16;
/// What a table costs beside its symbols, in 1/4096 of a bit: building it takes time too.
const TABLE_COST: u64 = 400 << 12;

/// How often of [`TOTAL`] times each symbol occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frequencies(pub(super) [u16; 256]);

impl Frequencies {
    /// Frequencies of symbols that occur so often; none that occurs gets 0.
    fn of(counts: &[u32; 256]) -> Self {
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let mut frequencies = [0_u16; 256];
        let mut left = TOTAL as i64;
        for (frequency, &count) in frequencies.iter_mut().zip(counts) {
            if count > 0 {
                let share = (u64::from(count) * TOTAL as u64 + total / 2) / total.max(1);
                *frequency = share.clamp(1, TOTAL as u64) as u16;
                left -= i64::from(*frequency);
            }
        }
        // What rounding has left over or taken too much goes to the most frequent ones.
        while left != 0 {
            let Some(greatest) = (0..256).max_by_key(|&i| (frequencies[i], 256 - i)) else { break };
            let change = if left > 0 { left } else { left.max(-i64::from(frequencies[greatest] / 4).max(1)) };
            frequencies[greatest] = (i64::from(frequencies[greatest]) + change) as u16;
            left -= change;
        }
        Self(frequencies)
    }

    /// The first slot of each symbol.
    pub(super) fn firsts(&self) -> [u16; 256] {
        let mut first = 0;
        self.0.map(|frequency| {
            first += frequency;
            first - frequency
        })
    }

    /// Appends them: numbers below 128 in a byte, others in two; a 0 has the number of zeros behind it, in a byte.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut symbol = 0;
        while symbol < 256 {
            let frequency = self.0[symbol];
            symbol += 1;
            if frequency == 0 {
                let more = self.0[symbol..].iter().take_while(|&&frequency| frequency == 0).count();
                out.extend([0, more as u8]);
                symbol += more;
            } else if frequency < 128 {
                out.push(frequency as u8);
            } else {
                out.extend([128 | (frequency >> 8) as u8, frequency as u8]);
            }
        }
    }

    /// Reads them from the front of `bytes`.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut next = || {
            let (first, rest) = bytes.split_first()?;
            *bytes = rest;
            Some(u16::from(*first))
        };
        let mut frequencies = [0; 256];
        let (mut symbol, mut total) = (0, 0);
        while symbol < 256 {
            let first = next()?;
            let frequency = if first < 128 { first } else { (first & 127) << 8 | next()? };
            symbol += if first == 0 { usize::from(next()?) } else { 0 };
            *frequencies.get_mut(symbol)? = frequency;
            total += usize::from(frequency);
            symbol += 1;
        }
        (total == TOTAL).then_some(Self(frequencies))
    }
}

/// How often each symbol occurs in the segments of a class.
#[derive(Clone)]
struct Class {
    counts: Box<[u32; 256]>,
    cost: u64,
}

impl Class {
    fn of(counts: Box<[u32; 256]>) -> Self {
        let cost = cost(&counts);
        Self { counts, cost }
    }

    fn with(&self, other: &Self) -> Self {
        let mut counts = self.counts.clone();
        counts.iter_mut().zip(other.counts.iter()).for_each(|(a, b)| *a += b);
        Self::of(counts)
    }
}

/// The tables of symbols, and the number of each segment's.
pub(super) fn of(symbols: &[u8]) -> (Vec<Frequencies>, Vec<u8>) {
    let kinds: Vec<usize> = symbols.chunks(SEGMENT).map(kind).collect();
    let mut classes: Vec<Option<Class>> = vec![None; KINDS];
    let mut counts: Vec<Option<Box<[u32; 256]>>> = vec![None; KINDS];
    for (segment, &kind) in symbols.chunks(SEGMENT).zip(&kinds) {
        let counts = counts[kind].get_or_insert_with(|| Box::new([0; 256]));
        segment.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
    }
    for (class, counts) in classes.iter_mut().zip(counts) {
        *class = counts.map(Class::of);
    }
    // Which class each kind has become; kinds next to each other are alike.
    let mut numbers: Vec<usize> = (0..KINDS).filter(|&kind| classes[kind].is_some()).collect();
    let mut groups: Vec<(Class, Vec<usize>)> =
        numbers.drain(..).filter_map(|kind| Some((classes[kind].take()?, vec![kind]))).collect();
    let mut joined: Vec<Class> = groups.windows(2).map(|pair| pair[0].0.with(&pair[1].0)).collect();
    while groups.len() > 1 {
        let loss = |i: usize| joined[i].cost.saturating_sub(groups[i].0.cost + groups[i + 1].0.cost);
        let Some(best) = (0..joined.len()).min_by_key(|&i| loss(i)) else { break };
        if loss(best) > TABLE_COST && groups.len() <= TABLES_MAX {
            break;
        }
        let (_, kinds) = groups.remove(best + 1);
        groups[best].0 = joined.remove(best);
        groups[best].1.extend(kinds);
        if best > 0 {
            joined[best - 1] = groups[best - 1].0.with(&groups[best].0);
        }
        if best < joined.len() {
            joined[best] = groups[best].0.with(&groups[best + 1].0);
        }
    }
    let mut table_of = [0_u8; KINDS];
    for (number, (_, kinds)) in (0_u8..).zip(&groups) {
        kinds.iter().for_each(|&kind| table_of[kind] = number);
    }
    let tables = groups.iter().map(|(class, _)| Frequencies::of(&class.counts)).collect();
    (tables, kinds.into_iter().map(|kind| table_of[kind]).collect())
}

/// Kinds of segments: by how many bits their residuals have, with holes and without.
const KINDS: usize = 2 * SIZES;
const SIZES: usize = 32;

fn kind(segment: &[u8]) -> usize {
    let bits: usize = segment.iter().map(|&symbol| bits_of(symbol)).sum();
    // Residuals of less than 3 bits are told apart more finely.
    let eighths = 8 * bits / segment.len().max(1);
    let size = if eighths < 24 { eighths } else { 24 + (eighths - 24) / 8 };
    let has_holes = segment.iter().any(|&symbol| symbol == NEW_HOLE || symbol == SAME_HOLE);
    size.min(SIZES - 1) + if has_holes { SIZES } else { 0 }
}

/// What symbols that occur so often take, in 1/4096 of a bit, with their table.
fn cost(counts: &[u32; 256]) -> u64 {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut sum = total * log2(total);
    for &count in counts.iter().filter(|&&count| count > 0) {
        sum = sum.saturating_sub(u64::from(count) * log2(count.into())) + (10 << 12);
    }
    sum
}

/// The binary logarithm of a number in 1/4096; 0 of 0.
fn log2(number: u64) -> u64 {
    let Some(exponent) = number.checked_ilog2() else { return 0 };
    let fraction = (number << (63 - exponent) << 1) >> 58;
    u64::from(exponent) << 12 | LOGARITHMS[fraction as usize]
}

/// The logarithms of `1 + i / 64`, in 1/4096.
const LOGARITHMS: [u64; 64] = logarithms();

const fn logarithms() -> [u64; 64] {
    let mut logarithms = [0; 64];
    let mut i = 0;
    while i < 64 {
        // Squaring a number of 1 to 2 doubles its logarithm: each time it passes 2 there is a bit.
        let mut x = (64 + i as u64) << 24;
        let mut bit = 0;
        while bit < 12 {
            x = ((x as u128 * x as u128) >> 30) as u64;
            logarithms[i] <<= 1;
            if x >= 1 << 31 {
                logarithms[i] |= 1;
                x >>= 1;
            }
            bit += 1;
        }
        i += 1;
    }
    logarithms
}
