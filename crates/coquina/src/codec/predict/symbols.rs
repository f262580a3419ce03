//! Residuals as symbols of a byte, and bits beside them.
//!
//! In: residuals. Out: a symbol for each, and for large ones their low bits in a stream of bits.
//! Source: `docs/formats/predict.md`, "Residuals".

use super::walk::HOLE;

/// Residuals of less than so many, folded, are symbols themselves.
const DIRECT: u32 = 128;
const DIRECT_BITS: u32 = 7;
/// A number that is stored exactly, and one that is the same as the last such.
pub(super) const NEW_HOLE: u8 = 255;
pub(super) const SAME_HOLE: u8 = 254;
/// The symbols behind those of residuals.
const RESIDUALS: usize = DIRECT as usize + 4 * 25;

/// What a symbol stands for: a folded residual, of which some low bits are in the stream of bits.
#[derive(Clone, Copy)]
struct Meaning {
    base: u32,
    bits: u32,
}

impl Meaning {
    /// The residual whose low bits are the first ones of `low`.
    #[inline(always)]
    fn residual(self, low: u64) -> i32 {
        if self.base == u32::MAX {
            return HOLE;
        }
        unfold(self.base.wrapping_add(low as u32 & ((1_u32 << self.bits) - 1)))
    }
}

const MEANINGS: [Meaning; 256] = meanings();

const fn meanings() -> [Meaning; 256] {
    let mut all = [Meaning { base: u32::MAX, bits: 0 }; 256];
    let mut symbol = 0;
    while symbol < RESIDUALS {
        all[symbol] = if symbol < DIRECT as usize {
            Meaning { base: symbol as u32, bits: 0 }
        } else {
            let exponent = (symbol as u32 - DIRECT) / 4 + DIRECT_BITS;
            let quarter = symbol as u32 % 4;
            Meaning { base: (4 + quarter) << (exponent - 2), bits: exponent - 2 }
        };
        symbol += 1;
    }
    all
}

/// About how many bits the residual of a symbol has.
pub(super) fn bits_of(symbol: u8) -> usize {
    if u32::from(symbol) < DIRECT {
        (8 - symbol.leading_zeros()) as usize
    } else {
        MEANINGS[usize::from(symbol)].bits as usize + 3
    }
}

/// Fills `symbols`, and returns the bits. `is_new` says of each hole in turn whether it differs from the last one.
pub(super) fn encode(
    residuals: &[i32],
    mut is_new: impl Iterator<Item = bool>,
    symbols: &mut [u8],
) -> Vec<u8> {
    let mut bits = Bits::default();
    for (symbol, &residual) in symbols.iter_mut().zip(residuals) {
        if residual == HOLE {
            *symbol = if is_new.next().unwrap_or(true) { NEW_HOLE } else { SAME_HOLE };
            continue;
        }
        let folded = (residual << 1 ^ residual >> 31).cast_unsigned();
        if folded < DIRECT {
            *symbol = folded as u8;
        } else {
            let exponent = folded.ilog2();
            *symbol = (DIRECT + 4 * (exponent - DIRECT_BITS) + (folded >> (exponent - 2) & 3)) as u8;
            bits.put(folded & ((1 << (exponent - 2)) - 1), exponent - 2);
        }
    }
    bits.finish()
}

/// Fills `residuals`. `None` if there are too few bits, or too many, or symbols that are none.
pub(super) fn decode(symbols: &[u8], bits: &[u8], residuals: &mut [i32], has_holes: bool) -> Option<()> {
    let mut reader = BitReader { bits, at: 0 };
    // Where few residuals are large, all are taken for small ones, and the others put right.
    let is_sparse = bits.len() < symbols.len() / 8;
    let groups = symbols.chunks(GROUP).zip(residuals.chunks_mut(GROUP));
    for (symbols, residuals) in groups {
        if is_sparse {
            residuals
                .iter_mut()
                .zip(symbols)
                .for_each(|(residual, &symbol)| *residual = unfold(symbol.into()));
            if symbols.iter().fold(0, |all, symbol| all | symbol) >= DIRECT as u8 {
                let large = residuals.iter_mut().zip(symbols).filter(|(_, symbol)| **symbol >= DIRECT as u8);
                large.for_each(|(residual, &symbol)| *residual = reader.residual(symbol));
            }
        } else {
            reader.fill(symbols, residuals);
        }
    }
    let none = RESIDUALS as u8..if has_holes { SAME_HOLE } else { u8::MAX };
    let is_sound = !symbols.iter().any(|symbol| none.contains(symbol) || !has_holes && *symbol == NEW_HOLE);
    (is_sound && reader.at.div_ceil(8) == bits.len()).then_some(())
}

/// Symbols that are looked at together.
const GROUP: usize = 64;
/// Eight residuals have less than so many bytes of bits, and eight bytes are read at once.
const NEAR: usize = 40;

#[inline(always)]
fn unfold(folded: u32) -> i32 {
    (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
}

/// Reads bits, the lowest first; behind the last there are zeros.
struct BitReader<'b> {
    bits: &'b [u8],
    at: usize,
}

impl BitReader<'_> {
    fn residual(&mut self, symbol: u8) -> i32 {
        let low = match self.bits.get(self.at / 8..).and_then(|left| left.first_chunk::<8>()) {
            Some(word) => u64::from_le_bytes(*word) >> (self.at % 8),
            None => tail(self.bits, self.at),
        };
        let meaning = MEANINGS[usize::from(symbol)];
        self.at += meaning.bits as usize;
        meaning.residual(low)
    }

    fn fill(&mut self, symbols: &[u8], residuals: &mut [i32]) {
        for (symbols, residuals) in symbols.chunks(8).zip(residuals.chunks_mut(8)) {
            let Some(near) = self.bits.get(self.at / 8..).and_then(|left| left.first_chunk::<NEAR>()) else {
                residuals
                    .iter_mut()
                    .zip(symbols)
                    .for_each(|(residual, &symbol)| *residual = self.residual(symbol));
                continue;
            };
            let mut at = self.at % 8;
            for (residual, &symbol) in residuals.iter_mut().zip(symbols) {
                let word = near[at / 8 % (NEAR - 8)..].first_chunk().copied().unwrap_or_default();
                let meaning = MEANINGS[usize::from(symbol)];
                *residual = meaning.residual(u64::from_le_bytes(word) >> (at % 8));
                at += meaning.bits as usize;
            }
            self.at += at - self.at % 8;
        }
    }
}

/// The bits from this one on, at the end of all; zeros behind.
#[cold]
fn tail(bits: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    let left = bits.get(at / 8..).unwrap_or_default();
    word.iter_mut().zip(left).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word) >> (at % 8)
}

/// Bits that are written, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    word: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, width: u32) {
        self.word |= u64::from(value) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.word as u8);
            self.word >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.word as u8);
        }
        self.bytes
    }
}
