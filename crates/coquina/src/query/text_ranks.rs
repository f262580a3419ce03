//! The ranks of texts: equal texts have the same one, and a text has a lower one than those that come after it.
//!
//! In: texts, as bytes. Out: their ranks, from 0 on without a gap. How: texts are sorted by their first eight bytes, as
//! numbers that lie beside each other; those that have these in common by the next eight, and so on.
//! Plain version: a sort that compares texts.

use crate::base::error::{Error, Result};

/// So many bytes at a time are a number.
const STEP: usize = 8;
/// Texts that have so many bytes in common are compared from there on: a step for each eight takes a pass over all.
const STEPS_MAX: usize = 16;

/// The ranks of texts, one behind another in `bytes`: text `i` ends where text `i + 1` begins, at `offsets[i + 1]`.
///
/// # Errors
/// `Invalid` for offsets that descend or lie outside of the bytes, `Limit` for 2^32 texts.
pub fn text_ranks(offsets: &[i64], bytes: &[u8]) -> Result<Vec<u32>> {
    let text = |pair: &[i64]| {
        let range = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        bytes.get(range)
    };
    let texts: Option<Vec<&[u8]>> = offsets.windows(2).map(text).collect();
    let texts = texts.ok_or_else(|| Error::invalid(format!("offsets of texts in {} bytes", bytes.len())))?;
    ranks(&texts)
}

/// The ranks of texts.
///
/// # Errors
/// `Limit` for 2^32 texts.
pub(super) fn ranks(texts: &[&[u8]]) -> Result<Vec<u32>> {
    let count =
        u32::try_from(texts.len()).map_err(|_| Error::limit(format!("an order of {} texts", texts.len())))?;
    let mut heads: Vec<Head> = (0..count).map(|number| Head { next: 0, number }).collect();
    sort(&mut heads, texts, 0);
    let mut ranks = vec![0; texts.len()];
    let (mut rank, mut last): (u32, Option<&[u8]>) = (0, None);
    for head in &heads {
        let text = head.text(texts);
        rank += u32::from(last.is_some_and(|last| last != text));
        last = Some(text);
        ranks[head.number as usize] = rank;
    }
    Ok(ranks)
}

/// A text by its number, with bytes of it that have not been looked at.
#[derive(Clone, Copy)]
struct Head {
    next: u64,
    number: u32,
}

impl Head {
    fn text<'t>(&self, texts: &[&'t [u8]]) -> &'t [u8] {
        texts[self.number as usize]
    }
}

/// Sorts texts that have the first `step` times eight bytes in common. A text that ends earlier has zeros behind it.
fn sort(heads: &mut [Head], texts: &[&[u8]], step: usize) {
    let at = step * STEP;
    if step == STEPS_MAX {
        heads.sort_unstable_by(|a, b| a.text(texts).cmp(b.text(texts)));
        return;
    }
    let mut is_over = true;
    for head in heads.iter_mut() {
        let rest = head.text(texts).get(at..).unwrap_or_default();
        is_over &= rest.is_empty();
        head.next = number_of(rest);
    }
    if is_over {
        // What is equal but for zeros is in the order of lengths.
        heads.sort_unstable_by_key(|head| head.text(texts).len());
        return;
    }
    heads.sort_unstable_by_key(|head| head.next);
    for same in heads.chunk_by_mut(|a, b| a.next == b.next) {
        if same.len() > 1 {
            sort(same, texts, step + 1);
        }
    }
}

/// The first bytes as a number that is in their order.
fn number_of(bytes: &[u8]) -> u64 {
    let mut padded = [0; STEP];
    let len = bytes.len().min(STEP);
    padded[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(padded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::error::ErrorKind;

    proptest! {
        #[test]
        fn ranks_are_those_of_texts_that_are_compared(
            texts in proptest::collection::vec(proptest::collection::vec(prop_oneof![0..=1_u8, 254..=255_u8], 0..40), 0..80),
            common in 0_usize..200,
        ) {
            let texts: Vec<Vec<u8>> = texts.into_iter().map(|text| [vec![7; common], text].concat()).collect();
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let mut sorted = texts.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let wanted: Vec<u32> =
                texts.iter().map(|text| sorted.binary_search(text).unwrap().try_into().unwrap()).collect();
            prop_assert_eq!(&ranks(&texts).unwrap(), &wanted);
            let mut offsets = vec![0];
            offsets.extend(texts.iter().scan(0, |end, text| { *end += i64::try_from(text.len()).unwrap(); Some(*end) }));
            prop_assert_eq!(text_ranks(&offsets, &texts.concat()).unwrap(), wanted);
        }
    }

    #[test]
    fn offsets_of_no_texts_are_an_error() {
        for offsets in [[0, 4], [2, 1], [-1, 2]] {
            assert_eq!(text_ranks(&offsets, b"abc").unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert!(text_ranks(&[], b"abc").unwrap().is_empty());
    }
}
