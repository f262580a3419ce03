//! What a text may be asked for: comparisons, its beginning and end, parts of it, and whether it is one of some.
//!
//! A text is a slice of units: bytes, or code points. Texts are in order as their units are.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

use coquina_kernels::items::{Number, bytes_of};

use super::search::Needle;
use super::texts::{TextSet, Texts};
use crate::base::error::{Error, Result};
use crate::base::text_bounds::TextBounds;

/// Up to so many texts of a set are held against bounds.
const AMONG_MAX: usize = 64;

/// How a text is compared with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same.
    Equal,
    /// They differ.
    NotEqual,
    /// It comes before the other.
    Less,
    /// It comes before it, or is the same.
    LessEqual,
    /// It comes after the other.
    Greater,
    /// It comes after it, or is the same.
    GreaterEqual,
}

impl Comparison {
    /// NumPy's name of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::NotEqual => "not_equal",
            Self::Less => "less",
            Self::LessEqual => "less_equal",
            Self::Greater => "greater",
            Self::GreaterEqual => "greater_equal",
        }
    }

    /// Whether it holds for texts in this order.
    #[inline(always)]
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterEqual => order.is_ge(),
        }
    }
}

/// What a text is asked for, in units of its kind: bytes, or bytes of code points in the machine's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// How it compares.
    Compare(Comparison, Vec<u8>),
    /// Whether it begins so.
    Starts(Vec<u8>),
    /// Whether it ends so.
    Ends(Vec<u8>),
    /// Whether this is a part of it.
    Contains(Vec<u8>),
    /// Whether it is one of these.
    Among(Texts),
}

impl TextTest {
    /// The test of this name: one of NumPy's names of comparisons, `startswith`, `endswith` or `contains`.
    ///
    /// # Errors
    /// `Invalid` for another name.
    pub fn by_name(name: &str, constant: Vec<u8>) -> Result<Self> {
        Ok(match name {
            "equal" => Self::Compare(Comparison::Equal, constant),
            "not_equal" => Self::Compare(Comparison::NotEqual, constant),
            "less" => Self::Compare(Comparison::Less, constant),
            "less_equal" => Self::Compare(Comparison::LessEqual, constant),
            "greater" => Self::Compare(Comparison::Greater, constant),
            "greater_equal" => Self::Compare(Comparison::GreaterEqual, constant),
            "startswith" => Self::Starts(constant),
            "endswith" => Self::Ends(constant),
            "contains" => Self::Contains(constant),
            _ => return Err(Error::invalid(format!("test {name:?}: none of ours"))),
        })
    }
}

impl TextTest {
    /// The same of other bytes; nothing where one of them is nothing.
    pub(super) fn mapped(&self, bytes: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Self> {
        Some(match self {
            Self::Compare(comparison, constant) => Self::Compare(*comparison, bytes(constant)?),
            Self::Starts(constant) => Self::Starts(bytes(constant)?),
            Self::Ends(constant) => Self::Ends(bytes(constant)?),
            Self::Contains(constant) => Self::Contains(bytes(constant)?),
            Self::Among(texts) => Self::Among(texts.iter().map(bytes).collect::<Option<_>>()?),
        })
    }
}

/// A unit of a text.
pub(super) trait Unit: Number + Ord + Default {}

impl Unit for u8 {}
impl Unit for u32 {}

/// A test of texts of units of one type.
#[derive(Debug)]
pub(super) enum Test<T> {
    Compare(Comparison, Vec<T>),
    Starts(Vec<T>),
    Ends(Vec<T>),
    Contains(Needle<T>),
    Among(TextSet),
}

impl<T: Unit> Test<T> {
    /// Makes one of a test in bytes; `units` tells the units that bytes are.
    pub(super) fn new(test: &TextTest, units: impl Fn(&[u8]) -> Result<Cow<'_, [T]>>) -> Result<Self> {
        let owned = |constant: &[u8]| Ok::<_, Error>(units(constant)?.into_owned());
        Ok(match test {
            TextTest::Compare(comparison, constant) => Self::Compare(*comparison, owned(constant)?),
            TextTest::Starts(constant) => Self::Starts(owned(constant)?),
            TextTest::Ends(constant) => Self::Ends(owned(constant)?),
            TextTest::Contains(constant) => Self::Contains(Needle::new(owned(constant)?)),
            TextTest::Among(constants) => {
                let mut texts = Texts::default();
                for constant in constants.iter() {
                    texts.push(bytes_of(&units(constant)?));
                }
                Self::Among(TextSet::new(texts)?)
            }
        })
    }

    /// Whether a text passes.
    #[inline(always)]
    pub(super) fn is_passed_by(&self, text: &[T]) -> bool {
        match self {
            Self::Compare(Comparison::Equal, constant) => text == constant,
            Self::Compare(Comparison::NotEqual, constant) => text != constant,
            Self::Compare(comparison, constant) => comparison.holds(text.cmp(constant)),
            Self::Starts(constant) => text.starts_with(constant),
            Self::Ends(constant) => text.ends_with(constant),
            Self::Contains(needle) => needle.is_in(text),
            Self::Among(set) => set.has(bytes_of(text)),
        }
    }

    /// The numbers of units that a text must be looked at for, and what is true of texts of other numbers.
    pub(super) fn lens(&self) -> (RangeInclusive<usize>, bool) {
        match self {
            Self::Compare(Comparison::Equal, constant) => (constant.len()..=constant.len(), false),
            Self::Compare(Comparison::NotEqual, constant) => (constant.len()..=constant.len(), true),
            Self::Compare(..) => (0..=usize::MAX, false),
            Self::Starts(constant) | Self::Ends(constant) => (constant.len()..=usize::MAX, false),
            Self::Contains(needle) => (needle.len()..=usize::MAX, false),
            Self::Among(set) => {
                let (lens, unit) = (set.lens(), size_of::<T>());
                (lens.start() / unit..=lens.end() / unit, false)
            }
        }
    }
}

impl Test<u8> {
    /// Whether texts within these bounds pass, if they all do or none does.
    pub(super) fn known_by(&self, bounds: &TextBounds) -> Option<bool> {
        match self {
            Self::Compare(comparison, constant) => {
                bounds.order(constant).map(|order| comparison.holds(order))
            }
            Self::Starts(constant) => bounds.begin_with(constant),
            Self::Among(set) => {
                let mut texts = set.texts();
                let is_apart = |text: &[u8]| bounds.order(text).is_some();
                let are_apart = texts.by_ref().take(AMONG_MAX).all(is_apart);
                (are_apart && texts.next().is_none()).then_some(false)
            }
            Self::Ends(_) | Self::Contains(_) => None,
        }
    }
}
