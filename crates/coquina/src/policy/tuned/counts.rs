//! What streams hold, in numbers.

use std::ops::AddAssign;

/// What is in some streams: see `Work`, which is the same per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) sequences: usize,
    pub(super) literals: usize,
    pub(super) coded: usize,
    pub(super) tables: usize,
    pub(super) raw: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.sequences += other.sequences;
        self.literals += other.literals;
        self.coded += other.coded;
        self.tables += other.tables;
        self.raw += other.raw;
    }
}

/// So many bytes or things, to reckon with.
pub(super) fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
