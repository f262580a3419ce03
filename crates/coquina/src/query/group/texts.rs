//! Codes for texts of any length, in the order in which they are first met: what stands for a text in a key.
//!
//! In: texts, box by box. Out: a code for each, the same for the same bytes; each different text is kept once, one
//! behind another.
//! Invariant: the codes depend on the order of the texts alone.

use std::ops::Range;

use super::super::hashing::Hashing;
use super::super::scan::Part;
use super::super::strings::{Source, Strings, misplaced};
use super::super::walk::Picked;
use super::heads::Head;
use super::slots::{Slots, index};
use crate::base::error::Result;

/// Bytes of a code.
pub(super) const CODE_BYTES: usize = size_of::<u32>();

/// Texts that are looked for together.
const BATCH: usize = 32;

/// Texts and their codes.
pub(super) struct Texts {
    hashing: Hashing,
    slots: Slots,
    heads: Vec<Head>,
    /// Where each begins, and the last one ends.
    offsets: Vec<usize>,
    bytes: Vec<u8>,
    /// Memory for the texts of a box; it knows where the last one stands in the column.
    read: Strings,
    /// Where in the column the texts that have been merged stand.
    span: Option<Range<u64>>,
}

impl Texts {
    /// About `expected` different ones.
    pub(super) fn new(hashing: Hashing, expected: usize) -> Self {
        let (slots, read) = (Slots::new(expected), Strings::default());
        Self { hashing, slots, heads: Vec::new(), offsets: vec![0], bytes: Vec::new(), read, span: None }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.offsets[..]) + size_of_val(&self.heads[..]) + self.slots.bytes()
    }

    /// For up to [`BATCH`] short texts their codes and 1, where these are found in the first slot; else 0.
    #[inline(always)]
    fn guess(&self, heads: &[Head], hashes: &[u64], guesses: &mut [u32; BATCH]) {
        for (guess, &hash) in guesses.iter_mut().zip(hashes) {
            *guess = self.slots.guess(hash);
        }
        for (guess, head) in guesses.iter_mut().zip(heads) {
            let known = guess.checked_sub(1).and_then(|code| self.heads.get(index(code)));
            let is_it = known == Some(head) && !head.is_long();
            *guess = if is_it { *guess } else { 0 };
        }
    }

    /// The code of a text.
    #[inline(always)]
    fn code(&mut self, hash: u64, head: Head, text: &[u8]) -> Result<u32> {
        let (offsets, bytes, heads) = (&self.offsets, &self.bytes, &self.heads);
        let (code, is_new) = self.slots.find(hash, |at| {
            heads[at] == head && (!head.is_long() || bytes[offsets[at]..offsets[at + 1]] == *text)
        })?;
        if is_new {
            self.heads.push(head);
            self.bytes.extend_from_slice(text);
            self.offsets.push(self.bytes.len());
        }
        Ok(code)
    }

    /// Fills `codes` with those of the texts of the matches; where `mask` is not 0 with that of no bytes.
    pub(super) fn read(
        &mut self,
        source: &Source<'_>,
        picked: &Picked<'_>,
        mask: Option<&[u8]>,
        codes: &mut [u32],
    ) -> Result<()> {
        let mut read = std::mem::take(&mut self.read);
        read.ends.clear();
        read.bytes.clear();
        source.gather(picked, &mut read)?;
        let (mut first, mut row) = (0, 0);
        let (mut heads, mut hashes, mut guesses) = ([Head::default(); BATCH], [0; BATCH], [0; BATCH]);
        let mut spans = [[0; 2]; BATCH];
        for (codes, ends) in codes.chunks_mut(BATCH).zip(read.ends.chunks(BATCH)) {
            let mut last: Option<(Head, u64)> = None;
            for (at, &end) in ends.iter().enumerate() {
                let end = usize::try_from(end).unwrap_or(usize::MAX);
                let is_missing = mask.is_some_and(|mask| mask[row + at] != 0);
                let text = first..if is_missing { first } else { end };
                let head = Head::new(&read.bytes, text.start, text.end);
                spans[at] = [text.start, text.end];
                // Rows that are next to each other often have the same text.
                let hash = match last.filter(|(same, _)| *same == head && !head.is_long()) {
                    Some((_, hash)) => hash,
                    None => head.hash(self.hashing, &read.bytes[text]),
                };
                last = Some((head, hash));
                (heads[at], hashes[at], first) = (head, hash, end);
            }
            self.guess(&heads[..ends.len()], &hashes[..ends.len()], &mut guesses);
            for (at, (code, _)) in codes.iter_mut().zip(ends).enumerate() {
                let found = match guesses[at].checked_sub(1) {
                    Some(code) => code,
                    None => {
                        let [start, end] = spans[at];
                        self.code(hashes[at], heads[at], &read.bytes[start..end])?
                    }
                };
                *code = found.to_le();
            }
            row += ends.len();
        }
        self.read = read;
        Ok(())
    }

    /// The codes here of the texts of the next piece of the column, which has `len` bytes.
    pub(super) fn merge(&mut self, other: &Self, len: u64) -> Result<Vec<u32>> {
        if let Some(span) = &other.read.span {
            let before = self.span.as_ref().map_or(0, |span| span.end);
            if span.start < before {
                return Err(misplaced(span.start.cast_signed(), span.end.cast_signed(), before..len));
            }
            self.span = Some(span.clone());
        }
        let mut codes = Vec::with_capacity(other.heads.len());
        let (mut guesses, hashes) = ([0; BATCH], other.slots.hashes());
        let mut offsets = &other.offsets[..];
        for (heads, hashes) in other.heads.chunks(BATCH).zip(hashes.chunks(BATCH)) {
            self.guess(heads, hashes, &mut guesses);
            for ((&head, &hash), &guess) in heads.iter().zip(hashes).zip(&guesses) {
                codes.push(match guess.checked_sub(1) {
                    Some(code) => code,
                    None => self.code(hash, head, &other.bytes[offsets[0]..offsets[1]])?,
                });
                offsets = &offsets[1..];
            }
        }
        Ok(codes)
    }

    /// The texts of codes, one behind another.
    pub(super) fn part(&self, codes: impl Iterator<Item = u32>) -> Part {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for code in codes {
            let at = index(code);
            bytes.extend_from_slice(&self.bytes[self.offsets[at]..self.offsets[at + 1]]);
            offsets.push(bytes.len().cast_signed() as i64);
        }
        Part::Strings { offsets, bytes }
    }
}
