//! Whether some units stand anywhere in others.
//!
//! Plain version: comparing at every place. Here no unit of the text is looked at twice, so that no text takes long.
//! Source: D. E. Knuth, J. H. Morris, V. R. Pratt, "Fast pattern matching in strings", 1977.

/// What is looked for.
#[derive(Debug)]
pub(super) struct Needle<T> {
    units: Vec<T>,
    /// For each number of units that fit: how many of the last of them begin the needle again.
    again: Vec<usize>,
}

impl<T: Copy + PartialEq> Needle<T> {
    pub(super) fn new(units: Vec<T>) -> Self {
        let mut again = vec![0; units.len() + 1];
        let mut fits = 0;
        for at in 1..units.len() {
            while fits > 0 && units[fits] != units[at] {
                fits = again[fits];
            }
            fits += usize::from(units[fits] == units[at]);
            again[at + 1] = fits;
        }
        Self { units, again }
    }

    /// How many units it has.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn is_in(&self, text: &[T]) -> bool {
        let Some(&first) = self.units.first() else { return true };
        if text.len() < self.units.len() {
            return false;
        }
        let (mut at, mut fits) = (0, 0);
        while at < text.len() {
            if fits == 0 {
                let Some(skipped) = text[at..].iter().position(|&unit| unit == first) else { return false };
                (at, fits) = (at + skipped + 1, 1);
            } else if text[at] == self.units[fits] {
                (at, fits) = (at + 1, fits + 1);
            } else {
                fits = self.again[fits];
            }
            if fits == self.units.len() {
                return true;
            }
        }
        false
    }
}
