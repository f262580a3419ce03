//! Symbols of skewed frequencies as bits: eight interleaved range coders (rANS) that share one stream of 16-bit words.
//!
//! In: bytes as symbols, and for each segment of them the table of frequencies it is coded by. Out: words. Symbol `i` belongs
//! to state `i % 8`; symbols are encoded from the last to the first, so that they are decoded in order.
//! Source: `docs/formats/predict.md`, "Symbols"; J. Duda, "Asymmetric numeral systems", 2013.
//! Invariant: decoding reads within the words and ends, whatever they are.

use super::tables::{Frequencies, SEGMENT, TOTAL, TOTAL_BITS};

pub(super) const STATES: usize = 8;
/// The least state; words are shifted in below it.
const LOW: u32 = 1 << 16;

/// What a slot of a table says, in one word: the symbol in 8 bits, its frequency in 12, and how far the slot is from the
/// first one of the symbol in 12.
#[derive(Clone, Copy, Default)]
struct Slot(u32);

impl Slot {
    fn new(symbol: u8, frequency: u16, offset: u16) -> Self {
        Self(u32::from(symbol) | u32::from(frequency) << 8 | u32::from(offset) << 20)
    }

    /// The symbol of a state, and the state behind it, before words are shifted in.
    #[inline(always)]
    fn step(self, state: u32) -> (u8, u32) {
        let next = (self.0 >> 8 & 0xfff).wrapping_mul(state >> TOTAL_BITS).wrapping_add(self.0 >> 20);
        (self.0 as u8, next)
    }
}

/// A table to decode by.
#[derive(Clone)]
pub(super) struct DecodeTable(Box<[Slot; TOTAL]>);

impl DecodeTable {
    /// The table of these frequencies, which add up to [`TOTAL`].
    pub(super) fn new(frequencies: &Frequencies) -> Option<Self> {
        let mut slots: Box<[Slot; TOTAL]> =
            vec![Slot::default(); TOTAL].into_boxed_slice().try_into().ok()?;
        let mut first = 0_usize;
        for (symbol, &frequency) in (0_u8..=255).zip(&frequencies.0) {
            let run = slots.get_mut(first..first + usize::from(frequency))?;
            for (offset, slot) in (0_u16..).zip(run) {
                *slot = Slot::new(symbol, frequency, offset);
            }
            first += usize::from(frequency);
        }
        (first == TOTAL).then_some(Self(slots))
    }
}

/// Which words have been read.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Fills `symbols`, segment `i` by table `classes[i]`. `None` if the stream is damaged.
pub(super) fn decode(
    tables: &[DecodeTable],
    classes: &[u8],
    stream: &[u8],
    symbols: &mut [u8],
) -> Option<()> {
    let (head, bytes) = stream.split_first_chunk::<{ 4 * STATES }>()?;
    let mut states = [0_u32; STATES];
    for (state, bytes) in states.iter_mut().zip(head.as_chunks::<4>().0) {
        *state = u32::from_le_bytes(*bytes);
    }
    let mut words = Words { bytes, at: 0 };
    for (segment, class) in symbols.chunks_mut(SEGMENT).zip(classes) {
        let table = tables.get(usize::from(*class))?;
        decode_segment(&table.0, &mut states, &mut words, segment);
    }
    let is_whole = words.at == words.bytes.len() && states == [LOW; STATES];
    is_whole.then_some(())
}

fn decode_segment(table: &[Slot; TOTAL], states: &mut [u32; STATES], words: &mut Words<'_>, out: &mut [u8]) {
    let mut own = *states;
    let (groups, rest) = out.as_chunks_mut::<STATES>();
    for group in groups {
        // The words of a group are looked up at once, so that the bounds are checked once.
        if let Some(near) = words.bytes.get(words.at..).and_then(|left| left.first_chunk::<{ 2 * STATES }>())
        {
            let near = near.as_chunks::<2>().0;
            let mut taken = 0;
            for (symbol, state) in group.iter_mut().zip(&mut own) {
                let (decoded, next) = table[*state as usize % TOTAL].step(*state);
                *symbol = decoded;
                let word = u32::from(u16::from_le_bytes(near[taken % STATES]));
                let is_low = next < LOW;
                *state = if is_low { next << 16 | word } else { next };
                taken += usize::from(is_low);
            }
            words.at += 2 * taken;
        } else {
            group.iter_mut().zip(&mut own).for_each(|(symbol, state)| one(table, state, words, symbol));
        }
    }
    rest.iter_mut().zip(&mut own).for_each(|(symbol, state)| one(table, state, words, symbol));
    *states = own;
}

fn one(table: &[Slot; TOTAL], state: &mut u32, words: &mut Words<'_>, symbol: &mut u8) {
    let (decoded, next) = table[*state as usize % TOTAL].step(*state);
    *symbol = decoded;
    *state = next;
    if next < LOW {
        let word = words.bytes.get(words.at..words.at + 2).map_or(0, |w| u16::from_le_bytes([w[0], w[1]]));
        *state = next << 16 | u32::from(word);
        // Past the end nothing is there: the count tells that the stream was cut.
        words.at += 2;
    }
}

/// Appends the states and words of these symbols, segment `i` by table `classes[i]`.
pub(super) fn encode(tables: &[Frequencies], classes: &[u8], symbols: &[u8], out: &mut Vec<u8>) {
    let ends: Vec<[u16; 256]> = tables.iter().map(Frequencies::firsts).collect();
    let mut states = [LOW; STATES];
    let mut words: Vec<u16> = Vec::with_capacity(symbols.len() / 2);
    for (segment, class) in symbols.chunks(SEGMENT).zip(classes).rev() {
        let (frequencies, firsts) = (&tables[usize::from(*class)].0, &ends[usize::from(*class)]);
        for (i, &symbol) in segment.iter().enumerate().rev() {
            let state = &mut states[i % STATES];
            let frequency = u32::from(frequencies[usize::from(symbol)]);
            // The state after the step must stay below 2^32.
            if u64::from(*state) >= u64::from(frequency) << (32 - TOTAL_BITS) {
                words.push((*state & 0xffff) as u16);
                *state >>= 16;
            }
            let first = u32::from(firsts[usize::from(symbol)]);
            *state = ((*state / frequency) << TOTAL_BITS) + *state % frequency + first;
        }
    }
    states.iter().for_each(|state| out.extend(state.to_le_bytes()));
    words.iter().rev().for_each(|word| out.extend(word.to_le_bytes()));
}
