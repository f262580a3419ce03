//! Texts of any length, one behind another: where each begins, and the bytes of all, as Arrow has them.
//!
//! Invariant: there is one offset more than texts, the first is 0, they rise, and the last is the number of bytes. What
//! is made of bytes from outside is checked to be UTF-8, text by text.

use crate::base::error::{Error, Result};

/// Some texts.
///
/// ```
/// use coquina::table::Texts;
///
/// let texts: Texts = ["oak", "", "Buche"].into_iter().collect();
/// assert_eq!(texts.len(), 3);
/// assert_eq!(texts.get(2), Some("Buche"));
/// assert_eq!(texts.iter().map(str::len).sum::<usize>(), 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Texts {
    /// The texts between offsets, which begin at 0 and end where the bytes do.
    ///
    /// # Errors
    /// `Corrupt` for offsets that do not rise or are no places in the bytes, and for bytes that are not UTF-8.
    pub fn new(offsets: Vec<i64>, bytes: Vec<u8>) -> Result<Self> {
        let made = Self::placed(offsets, bytes)?;
        made.check_utf8()?;
        Ok(made)
    }

    /// As [`Texts::new`], of bytes that may be no UTF-8: [`Texts::get`] has nothing for such a text.
    ///
    /// # Errors
    /// `Corrupt` for offsets that do not rise or are no places in the bytes.
    pub fn placed(offsets: Vec<i64>, bytes: Vec<u8>) -> Result<Self> {
        let end = i64::try_from(bytes.len())
            .map_err(|_| Error::limit("texts of more bytes than can be counted"))?;
        let rises = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if offsets.first() != Some(&0) || offsets.last() != Some(&end) || !rises {
            return Err(Error::corrupt(format!("the offsets of texts are no places in their {end} bytes")));
        }
        Ok(Self { offsets, bytes })
    }

    /// Whether each text is UTF-8.
    pub(crate) fn check_utf8(&self) -> Result<()> {
        let wrong = match std::str::from_utf8(&self.bytes) {
            Ok(text) => self.offsets.iter().position(|&at| !text.is_char_boundary(place(at))),
            Err(error) => Some(self.offsets.partition_point(|&end| place(end) <= error.valid_up_to())),
        };
        wrong
            .map_or(Ok(()), |end| Err(Error::corrupt(format!("text {} is not UTF-8", end.saturating_sub(1)))))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Text `number`; `None` behind the last.
    pub fn get(&self, number: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes_at(number)?).ok()
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number).unwrap_or_default())
    }

    /// Where each begins in the bytes, and where the last one ends.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The bytes of all.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of text `number`.
    pub(crate) fn bytes_at(&self, number: usize) -> Option<&[u8]> {
        let (start, end) = (self.offsets.get(number)?, self.offsets.get(number + 1)?);
        self.bytes.get(place(*start)..place(*end))
    }

    /// Puts one behind the last.
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    pub(crate) fn push_bytes(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets.push(self.bytes.len().cast_signed() as i64);
    }

    /// Puts those of `other` behind the last.
    pub(crate) fn extend(&mut self, other: &Self) {
        let end = self.bytes.len().cast_signed() as i64;
        self.offsets.extend(other.offsets[1..].iter().map(|at| at + end));
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// The texts of a range, cut to those that there are.
    pub(crate) fn cut(&self, rows: std::ops::Range<usize>) -> Self {
        let end = rows.end.min(self.len());
        let start = rows.start.min(end);
        let (first, last) = (self.offsets[start], self.offsets[end]);
        Self {
            offsets: self.offsets[start..=end].iter().map(|at| at - first).collect(),
            bytes: self.bytes[place(first)..place(last)].to_vec(),
        }
    }
}

/// An offset, which is known to be one.
fn place(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl<'a> FromIterator<&'a [u8]> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(texts: I) -> Self {
        let mut made = Self::default();
        texts.into_iter().for_each(|text| made.push_bytes(text));
        made
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        texts.into_iter().map(str::as_bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_bytes_that_are_none_are_refused() {
        assert!(Texts::new(vec![0, 2, 1], vec![b'a']).is_err());
        assert!(Texts::new(vec![1], vec![b'a']).is_err());
        assert!(Texts::new(vec![], vec![]).is_err());
        assert!(Texts::new(vec![0, -1, 1], vec![b'a']).is_err());
        // A character that begins in one text and ends in the next.
        let split = Texts::new(vec![0, 1, 3, 4], "éab".as_bytes().to_vec());
        assert!(split.is_err_and(|error| error.to_string().contains("text 0")));
        let wrong = Texts::new(vec![0, 1, 2], vec![b'a', 0xff]);
        assert!(wrong.is_err_and(|error| error.to_string().contains("text 1")));
    }

    #[test]
    fn texts_are_cut_and_joined() {
        let mut texts: Texts = ["a", "", "bé", "c"].into_iter().collect();
        let part = texts.cut(1..3);
        assert_eq!(part.iter().collect::<Vec<_>>(), ["", "bé"]);
        texts.extend(&part);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "bé", "c", "", "bé"]);
        assert_eq!(texts.cut(4..9).len(), 2);
    }
}
