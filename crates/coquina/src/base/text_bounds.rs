//! Bounds of texts: the least and the greatest of what their first bytes are.
//!
//! In: texts of a fixed width. Out: keys, which are as many as eight of their first bytes as a big-endian number, with
//! zeros behind, so that a comparison of keys is one of these bytes; and whether zeros are at the ends of texts only.
//! Source: `docs/formats/hdf5-filters.md`, "Zone maps".
//! Invariant: no text begins with bytes below the least ones or above the greatest, be a zero byte a part of a text or
//! its end: the least text is taken to end there, and the greatest not to.

use std::cmp::Ordering;

/// The most bytes of a text that are kept.
pub(crate) const KEY_BYTES: usize = 8;

/// What is known of the beginnings of some texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextBounds {
    min: [u8; KEY_BYTES],
    max: [u8; KEY_BYTES],
    bytes: usize,
    /// Whether all bytes behind the first zero byte of a text are known to be zeros.
    are_ended: bool,
}

impl TextBounds {
    /// Those of keys of `bytes` bytes; nothing where the least is above the greatest.
    pub(crate) fn of_keys(min: u64, max: u64, bytes: usize) -> Option<Self> {
        let is_sound = min <= max && (1..=KEY_BYTES).contains(&bytes);
        let (min, max) = (min.to_be_bytes(), max.to_be_bytes());
        is_sound.then_some(Self { min, max, bytes, are_ended: false })
    }

    /// The same, of texts that have all of their zeros at their ends, or of which that is not known.
    #[must_use]
    pub(crate) fn ended(self, are_ended: bool) -> Self {
        Self { are_ended, ..self }
    }

    /// Whether all bytes behind the first zero byte of a text are zeros; `false` where that is not known.
    pub(crate) fn are_ended(&self) -> bool {
        self.are_ended
    }

    /// Those of texts of `bytes` bytes each, one behind another; nothing if there is none.
    pub(crate) fn of_texts(bytes: usize, texts: &[u8]) -> Option<Self> {
        let (mut min, mut max) = (u64::MAX, 0);
        let mut see = |key: u64| {
            min = min.min(cut_at_zero(key));
            max = max.max(key);
        };
        if bytes == KEY_BYTES {
            texts.as_chunks::<KEY_BYTES>().0.iter().for_each(|text| see(u64::from_be_bytes(*text)));
        } else {
            for text in texts.chunks_exact(bytes.max(1)) {
                let mut key = [0; KEY_BYTES];
                key.iter_mut().zip(text).for_each(|(key, byte)| *key = *byte);
                see(u64::from_be_bytes(key));
            }
        }
        Self::of_keys(min, max, bytes)
    }

    /// The keys of the least and of the greatest.
    pub(crate) fn keys(&self) -> (u64, u64) {
        (u64::from_be_bytes(self.min), u64::from_be_bytes(self.max))
    }

    /// How all texts compare with one, of which the first bytes decide; nothing where they do not, or not alike. Zeros at
    /// the end of texts are no part of them.
    pub(crate) fn order(&self, text: &[u8]) -> Option<Ordering> {
        let mut key = [0; KEY_BYTES];
        key.iter_mut().zip(text).take(self.bytes).for_each(|(key, byte)| *key = *byte);
        if self.max < key {
            return Some(Ordering::Less);
        }
        (self.min > key).then_some(Ordering::Greater)
    }

    /// Whether all texts begin with these bytes, the last of which is no zero, or none; nothing where that is not known.
    pub(crate) fn begin_with(&self, start: &[u8]) -> Option<bool> {
        let len = start.len().min(self.bytes);
        let (min, max, known) = (&self.min[..len], &self.max[..len], &start[..len]);
        if max < known || min > known {
            return Some(false);
        }
        (min == max && len == start.len()).then_some(true)
    }
}

/// Whether texts of `width` bytes each, one behind another, have zeros at their ends only.
pub(crate) fn are_ended(texts: &[u8], width: usize) -> bool {
    // A byte other than 0 behind a zero is the first one of the next text, or it is inside of one.
    const PIECE: usize = 255;
    let next = texts.get(1..).unwrap_or_default();
    let pieces = texts.chunks(PIECE).zip(next.chunks(PIECE));
    let all = pieces.map(|(texts, next)| {
        let rises = texts.iter().zip(next).map(|(&byte, &next)| u8::from(byte == 0) & u8::from(next != 0));
        usize::from(rises.sum::<u8>())
    });
    let ends = texts.chunks_exact(width.max(1)).zip(texts.chunks(width.max(1)).skip(1));
    let between = ends.filter(|(text, next)| text.last() == Some(&0) && next.first() != Some(&0));
    all.sum::<usize>() == between.count()
}

/// The key of the text that ends where this one has its first zero byte.
#[inline(always)]
fn cut_at_zero(key: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The highest bit of each byte that is 0, and of no other.
    let zeros = !(((key & LOW) + LOW) | key | LOW);
    match zeros.leading_zeros() {
        64.. => key,
        bits => key & !(u64::MAX >> bits),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As those see it for whom a zero ends a text, or zeros at the end do.
    fn shown(text: &[u8], is_terminated: bool) -> &[u8] {
        let first = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        let last = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        &text[..if is_terminated { first } else { last }]
    }

    proptest! {
        #[test]
        fn what_bounds_say_holds_of_all_texts_however_they_end(
            (width, texts, asked) in (1..12_usize).prop_flat_map(|width| {
                let byte = prop::sample::select(vec![0_u8, 0, b'a', b'b', 0x80, 0xff]);
                let text = prop::collection::vec(byte.clone(), width);
                let asked = prop::collection::vec(byte, 0..12);
                (Just(width), prop::collection::vec(text, 1..6), asked)
            }),
        ) {
            let kept = width.min(KEY_BYTES);
            let fronts: Vec<u8> = texts.iter().flat_map(|text| &text[..kept]).copied().collect();
            let bounds = TextBounds::of_texts(kept, &fronts).unwrap();
            let (min, max) = bounds.keys();
            prop_assert_eq!(TextBounds::of_keys(min, max, kept), Some(bounds));
            let asked = shown(&asked, false);
            let (order, begin) = (bounds.order(asked), bounds.begin_with(asked));
            for text in &texts {
                for text in [shown(text, true), shown(text, false)] {
                    prop_assert!(order.is_none_or(|order| text.cmp(asked) == order), "{text:?}, {asked:?}");
                    prop_assert!(begin.is_none_or(|begin| text.starts_with(asked) == begin), "{text:?}, {asked:?}");
                }
            }
            let is_ended = |text: &Vec<u8>| shown(text, true) == shown(text, false);
            prop_assert_eq!(are_ended(&texts.concat(), width), texts.iter().all(is_ended));
            // And it says something: all texts are below what is above the greatest.
            let above = texts.iter().all(|text| text[..kept] < asked[..kept.min(asked.len())]);
            prop_assert!(!above || order == Some(Ordering::Less));
        }
    }

    #[test]
    fn many_texts_are_ended_unless_one_is_not() {
        for (width, text) in
            [(1, &b"a"[..]), (3, b"ab\0"), (3, b"abc"), (16, b"Zoe\0\0\0\0\0\0\0\0\0\0\0\0\0")]
        {
            let mut texts = text.repeat(1000);
            assert!(are_ended(&texts, width), "{text:?}");
            texts[500 * width] = 0;
            assert_eq!(are_ended(&texts, width), width == 1, "{text:?}");
        }
        assert!(are_ended(&[], 4) && are_ended(&[0; 999], 3));
    }

    #[test]
    fn no_texts_have_no_bounds() {
        assert_eq!(TextBounds::of_texts(8, &[]), None);
        assert_eq!(TextBounds::of_texts(0, b"ab"), None);
        assert_eq!((TextBounds::of_keys(2, 1, 8), TextBounds::of_keys(1, 2, 9)), (None, None));
    }
}
