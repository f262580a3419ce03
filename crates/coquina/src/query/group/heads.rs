//! Heads of texts: a number for each, by which nearly all are told apart without looking at their bytes.
//!
//! In: a text. Out: its first bytes and, in the highest byte, how many they are: texts of up to 15 bytes with the same head
//! are the same. Longer ones have the number 255 there.
//! Plain version: the bytes, compared.

use super::super::hashing::Hashing;

/// Texts of so many bytes are told by their heads alone.
const SHORT_BYTES: usize = size_of::<u128>() - 1;
/// Where the number of bytes stands.
const LEN_SHIFT: u32 = 8 * 15;
/// What stands there of longer texts.
const LONG: u128 = 0xff << LEN_SHIFT;

/// The head of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head(u128);

impl Head {
    /// That of the text from `start` to `end` of some bytes, which must have it.
    #[inline(always)]
    pub(super) fn new(bytes: &[u8], start: usize, end: usize) -> Self {
        let len = end - start;
        let first = match bytes[start..].first_chunk::<{ size_of::<u128>() }>() {
            Some(chunk) => u128::from_le_bytes(*chunk),
            // Few texts stand so near to the end.
            None => {
                let mut chunk = [0; size_of::<u128>()];
                let there = len.min(chunk.len());
                chunk[..there].copy_from_slice(&bytes[start..start + there]);
                u128::from_le_bytes(chunk)
            }
        };
        let kept = len.min(SHORT_BYTES);
        let first = first & ((1 << (8 * kept)) - 1);
        Self(first | if len == kept { (len as u128) << LEN_SHIFT } else { LONG })
    }

    /// Whether texts of this head may differ.
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.0 >= LONG
    }

    /// The hash of a text that has this head.
    #[inline(always)]
    pub(super) fn hash(self, hashing: Hashing, text: &[u8]) -> u64 {
        if self.is_long() { hashing.bytes(text) } else { hashing.wide(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_have_the_same_head_only_if_they_are_the_same() {
        // Zeros and what stands behind a text must not count.
        let mut texts = Vec::new();
        for len in 0..40 {
            for letter in [0, b'a', 0xff] {
                texts.push(vec![letter; len]);
                texts.push([vec![letter; len], vec![b'b']].concat());
            }
        }
        let head = |text: &[u8], behind: &[u8]| Head::new(&[b"xy", text, behind].concat(), 2, 2 + text.len());
        for one in &texts {
            for other in &texts {
                let (a, b) = (head(one, b""), head(other, b"qqqqqqqqqqqqqqqqqqqq"));
                assert!(one != other || a == b, "{one:?}");
                assert_eq!(a.is_long(), one.len() > 15);
                if !a.is_long() || !b.is_long() {
                    assert_eq!(a == b, one == other, "{one:?} {other:?}");
                }
            }
        }
    }
}
