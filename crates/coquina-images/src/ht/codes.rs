//! The codewords of quads, arranged for looking up: by what is to be written, and by what is read.
//!
//! In: context, significance and pattern, or seven bits. Out: [`Written`] or [`Read`]. Also the codewords of the
//! offsets that quads may have.
//! Source: ISO/IEC 15444-15, 7.3.5 and 7.3.6, Annex C.

use std::sync::LazyLock;

use super::tables::{FIRST, OTHERS};

/// A codeword to be written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) word: u8,
    pub(super) len: u8,
    /// The samples whose highest bit the pattern tells.
    pub(super) known: u8,
}

/// A codeword that was read, in one number: tables of it are looked into for every quad.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read(u32);

impl Read {
    fn new(source: &Source) -> Self {
        let Source { significance, has_offset, known, bits, len, .. } = *source;
        let [significance, bits, known] = [significance, bits, known].map(u32::from);
        Self(u32::from(len) | u32::from(has_offset) << 3 | significance << 4 | bits << 8 | known << 12)
    }

    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.0 & 7
    }

    /// Whether an offset follows.
    #[inline(always)]
    pub(super) fn has_offset(self) -> bool {
        self.0 & 8 != 0
    }

    /// Which of the four samples are not 0.
    #[inline(always)]
    pub(super) fn significance(self) -> u32 {
        self.0 >> 4 & 15
    }

    /// The highest bits of the samples of which they are told.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 >> 8 & 15
    }

    /// The samples of which the highest bit is told.
    #[inline(always)]
    pub(super) fn known(self) -> u32 {
        self.0 >> 12 & 15
    }
}

/// The codewords of one kind of row.
#[derive(Debug)]
pub(super) struct Codes {
    /// By context, significance and pattern: three, four and four bits.
    written: Vec<Written>,
    /// By context and what is ahead: three and seven bits.
    read: Box<[Read; READS]>,
}

/// Those of the first row of quads.
pub(super) static FIRST_ROW: LazyLock<Codes> = LazyLock::new(|| Codes::new(&FIRST));
/// Those of all others.
pub(super) static OTHER_ROWS: LazyLock<Codes> = LazyLock::new(|| Codes::new(&OTHERS));

/// Contexts times what may be ahead.
const READS: usize = 8 << 7;

/// A row of the tables.
#[derive(Clone, Copy)]
struct Source {
    context: usize,
    has_offset: bool,
    significance: u8,
    known: u8,
    bits: u8,
    word: u8,
    len: u8,
}

impl Source {
    fn new(packed: u32) -> Self {
        let digits = |shift: u32, mask: u32| (packed >> shift & mask).to_le_bytes()[0];
        Self {
            context: usize::from(digits(24, 7)),
            has_offset: digits(27, 1) == 1,
            significance: digits(20, 15),
            known: digits(16, 15),
            bits: digits(12, 15),
            word: digits(4, 0x7f),
            len: digits(0, 7),
        }
    }

    /// Whether it says that exactly the samples of `pattern` have the largest exponent, as far as it says so at all.
    fn fits(&self, context: usize, significance: u8, pattern: u8) -> bool {
        self.context == context
            && self.significance == significance
            && self.has_offset == (pattern != 0)
            && pattern & self.known == self.bits
    }
}

impl Codes {
    fn new(packed: &[u32]) -> Self {
        let sources: Vec<_> = packed.iter().map(|&packed| Source::new(packed)).collect();
        let mut read = Box::new([Read::default(); READS]);
        for source in &sources {
            for cell in (usize::from(source.word)..1 << 7).step_by(1 << source.len) {
                read[source.context << 7 | cell] = Read::new(source);
            }
        }
        let written = (0..8 << 8).map(|index: usize| {
            let [low, high, ..] = index.to_le_bytes();
            let (context, significance, pattern) = (usize::from(high), low >> 4, low & 15);
            let fitting = sources.iter().filter(|source| source.fits(context, significance, pattern));
            // The one that tells most leaves the fewest bits to be written elsewhere.
            let best = fitting.max_by_key(|source| source.known.count_ones());
            best.map_or(Written::default(), |s| Written { word: s.word, len: s.len, known: s.known })
        });
        Self { written: written.collect(), read }
    }

    /// The codeword of a quad; one of no bits for a quad of zeros in context 0.
    #[inline(always)]
    pub(super) fn word(&self, context: usize, significance: usize, pattern: usize) -> Written {
        self.written.get(context << 8 | significance << 4 | pattern).copied().unwrap_or_default()
    }

    /// The codeword that is ahead.
    #[inline(always)]
    pub(super) fn ahead(&self, context: usize, bits: u64) -> Read {
        let [low, ..] = bits.to_le_bytes();
        self.read[(context << 7 | usize::from(low & 0x7f)) % READS]
    }
}

/// An offset as prefix, suffix and extension: the bits of each, the lowest first, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    pub(super) prefix: (u32, u32),
    pub(super) suffix: (u32, u32),
    pub(super) extension: (u32, u32),
}

impl Offset {
    /// How an offset is written; 0 has no bits.
    #[inline(always)]
    pub(super) fn new(offset: u32) -> Self {
        let (prefix, suffix, extension) = match offset {
            0 => ((0, 0), (0, 0), (0, 0)),
            1 => ((1, 1), (0, 0), (0, 0)),
            2 => ((2, 2), (0, 0), (0, 0)),
            3 | 4 => ((4, 3), (offset - 3, 1), (0, 0)),
            5..=32 => ((0, 3), (offset - 5, 5), (0, 0)),
            _ => ((0, 3), (28 + (offset - 33) % 4, 5), ((offset - 33) / 4, 4)),
        };
        Self { prefix, suffix, extension }
    }
}

/// What a prefix of an offset says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) len: u32,
    pub(super) suffix_len: u32,
    /// The offset if the suffix is 0.
    pub(super) least: u32,
}

/// Prefixes by the three bits that are ahead; those of no bits, and then those that there are.
const PREFIXES: [Prefix; 16] = {
    let no = Prefix { len: 0, suffix_len: 0, least: 0 };
    let one = Prefix { len: 1, suffix_len: 0, least: 1 };
    let two = Prefix { len: 2, suffix_len: 0, least: 2 };
    let short = Prefix { len: 3, suffix_len: 1, least: 3 };
    let long = Prefix { len: 3, suffix_len: 5, least: 5 };
    [no, no, no, no, no, no, no, no, long, one, two, one, short, one, two, one]
};

/// The prefix that is ahead, if there is one. Nothing of it is a branch: no branch could be foreseen.
#[inline(always)]
pub(super) fn prefix(bits: u64, is_there: bool) -> Prefix {
    let [low, ..] = bits.to_le_bytes();
    PREFIXES[usize::from(low & 7 | u8::from(is_there) << 3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codeword_that_can_be_written_reads_as_what_it_was() {
        for codes in [&*FIRST_ROW, &*OTHER_ROWS] {
            for context in 0..8 {
                for significance in 0..16_usize {
                    for pattern in (0..16).filter(|pattern| pattern & !significance == 0) {
                        let written = codes.word(context, significance, pattern);
                        assert_eq!(
                            written.len == 0,
                            context == 0 && significance == 0,
                            "{context} {significance}"
                        );
                        if written.len == 0 {
                            continue;
                        }
                        for behind in [0, u64::MAX] {
                            let read = codes.ahead(context, u64::from(written.word) | behind << written.len);
                            let wanted = [u32::from(written.len), u32::from(written.known)];
                            assert_eq!([read.len(), read.known()], wanted);
                            assert_eq!(read.has_offset(), pattern != 0);
                            let found = [read.significance(), read.bits()].map(|bits| bits as usize);
                            assert_eq!(found, [significance, pattern & usize::from(written.known)]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_come_back() {
        for offset in 1..=40 {
            let written = Offset::new(offset);
            let Prefix { len, suffix_len, least } = prefix(u64::from(written.prefix.0) | 1 << 60, true);
            assert_eq!((len, suffix_len), (written.prefix.1, written.suffix.1), "{offset}");
            let extended = if written.extension.1 > 0 { 4 * written.extension.0 } else { 0 };
            assert_eq!(least + written.suffix.0 + extended, offset);
        }
    }
}
