//! Conditions on texts of a fixed width, as NumPy stores them: bytes ("S") or code points of 4 bytes ("U").
//!
//! In: a source of such items. Out: a truth byte for each. Zeros at the end of items and constants are no part of
//! them. Plain version: the item without them, tested; where zeros at the end change nothing they are left there. Where
//! the source has byte planes (`text_planes.rs`) only those are decoded that decide.

use std::any::Any;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use coquina_kernels::items::items;

use super::super::numbers::numbers;
use super::len_of;
use super::text::{Comparison, Test, TextTest, Unit};
use super::text_planes::{AmongPlanes, PlaneTest, Rows};
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// Which texts of a fixed width pass a test.
pub struct FixedText {
    source: Arc<dyn BoxSource>,
    item_bytes: usize,
    asked: TextTest,
    test: Kind,
    /// The same on byte planes, where that is possible.
    by_planes: Option<ByPlanes>,
}

enum ByPlanes {
    One(PlaneTest),
    Among(AmongPlanes),
}

impl ByPlanes {
    fn fill(&self, source: &dyn BoxSource, rows: Rows, out: &mut [u8]) -> Result<bool> {
        match self {
            Self::One(test) => test.fill(source, rows, out),
            Self::Among(tests) => tests.fill(source, rows, out),
        }
    }
}

enum Kind {
    Bytes(Fixed<u8>),
    Points(Fixed<u32>),
}

impl FixedText {
    /// Tests items of bytes.
    ///
    /// # Errors
    /// `Invalid` for a source of more than one axis.
    pub fn bytes(source: Arc<dyn BoxSource>, asked: TextTest) -> Result<Self> {
        len_of(&*source)?;
        let item_bytes = source.item_bytes();
        let test = Test::new(&asked, |constant| Ok(Cow::Borrowed(trimmed(constant))))?;
        let test = Fixed::new(test, item_bytes);
        Ok(Self { source, item_bytes, asked, by_planes: test.by_planes(), test: Kind::Bytes(test) })
    }

    /// Tests items of code points, and so are the constants of the test: 4 bytes each, in the machine's order.
    ///
    /// # Errors
    /// `Invalid` for a source of more than one axis, and for items or constants that are no whole code points.
    pub fn points(source: Arc<dyn BoxSource>, asked: TextTest) -> Result<Self> {
        len_of(&*source)?;
        let item_bytes = source.item_bytes();
        let check = |bytes: usize| {
            let is_whole = bytes.is_multiple_of(4);
            is_whole.then_some(()).ok_or_else(|| Error::invalid(format!("{bytes} bytes of code points of 4")))
        };
        check(item_bytes)?;
        let test = Test::new(&asked, |constant| {
            check(constant.len())?;
            Ok(Cow::Owned(trimmed(&numbers::<u32>(constant)).to_vec()))
        })?;
        let test = Fixed::new(test, item_bytes / 4);
        Ok(Self { source, item_bytes, asked, by_planes: test.by_planes(), test: Kind::Points(test) })
    }

    /// What is tested.
    pub(crate) fn texts(&self) -> &Arc<dyn BoxSource> {
        &self.source
    }

    /// The test, with its constants in UTF-8 or the bytes of items; nothing for what is no UTF-8.
    pub(crate) fn asked(&self) -> Option<TextTest> {
        match self.test {
            Kind::Bytes(_) => Some(self.asked.clone()),
            Kind::Points(_) => self.asked.mapped(|points| {
                let points = numbers::<u32>(points);
                let text: Option<String> = points.into_iter().map(char::from_u32).collect();
                text.map(String::into_bytes)
            }),
        }
    }

    fn run(&self, items_: &[u8], out: &mut [u8]) {
        match &self.test {
            Kind::Bytes(test) => test.run(items_, out),
            Kind::Points(test) => test.run(items(items_), out),
        }
    }
}

impl BoxSource for FixedText {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.source.shape()
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        self.source.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, 1, out.len())?;
        let bytes = out.len().checked_mul(self.item_bytes);
        let bytes = bytes.ok_or_else(|| Error::limit(format!("a box of {} texts", out.len())))?;
        if let (Some(test), &[first]) = (&self.by_planes, start) {
            let are_ended = self.source.text_bounds(start, shape).is_some_and(|bounds| bounds.are_ended());
            let rows = Rows { rows: first..first + out.len() as u64, are_ended };
            if test.fill(&*self.source, rows, out)? {
                return Ok(());
            }
        }
        with_scratch(bytes, |room| {
            self.source.fill(start, shape, room)?;
            self.run(room, out);
            Ok(())
        })
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let Some(item) = self.source.uniform(start, shape) else {
            let Kind::Bytes(fixed) = &self.test else { return None };
            let bounds = self.source.text_bounds(start, shape)?;
            return fixed.test.known_by(&bounds).map(|passes| vec![passes.into()]);
        };
        if item.len() != self.item_bytes {
            return None;
        }
        with_scratch(item.len(), |room| {
            let mut out = vec![0];
            room.copy_from_slice(&item);
            self.run(room, &mut out);
            Some(out)
        })
    }
}

/// A text without the zeros at its end.
#[inline(always)]
fn trimmed<T: Unit>(text: &[T]) -> &[T] {
    let len = text.iter().rposition(|&unit| unit != T::default()).map_or(0, |last| last + 1);
    &text[..len]
}

/// A test of items of `width` units.
struct Fixed<T> {
    test: Test<T>,
    width: usize,
    /// The constant of a comparison as an item.
    padded: Vec<T>,
    /// How an item that is the padded constant compares with all of it: it has no room for more of it.
    at_end: Ordering,
}

impl<T: Unit> Fixed<T> {
    fn new(test: Test<T>, width: usize) -> Self {
        let (mut padded, mut at_end) = (Vec::new(), Ordering::Equal);
        if let Test::Compare(_, constant) = &test {
            padded.clone_from(constant);
            at_end = if constant.len() > width { Ordering::Less } else { Ordering::Equal };
        }
        padded.resize(width, T::default());
        Self { test, width, padded, at_end }
    }

    /// The same test on byte planes, if planes can decide it.
    fn by_planes(&self) -> Option<ByPlanes> {
        match &self.test {
            // It has room for all of the constant.
            Test::Compare(comparison, constant) if self.at_end.is_eq() => {
                Some(ByPlanes::One(PlaneTest::compare(*comparison, constant, self.width)))
            }
            Test::Starts(constant) if constant.len() <= self.width => {
                Some(ByPlanes::One(PlaneTest::starts(constant)))
            }
            Test::Among(set) => {
                let texts: Vec<Vec<T>> = set.texts().map(|text| numbers(text)).collect();
                AmongPlanes::new(&texts, self.width).map(ByPlanes::Among)
            }
            _ => None,
        }
    }

    fn run(&self, items: &[T], out: &mut [u8]) {
        if self.width == 0 {
            return out.fill(u8::from(self.test.is_passed_by(&[])));
        }
        let (padded, at_end) = (&self.padded[..], self.at_end);
        match &self.test {
            Test::Compare(Comparison::Equal, _) => {
                self.each(items, out, |item| item == padded && at_end.is_eq())
            }
            Test::Compare(Comparison::NotEqual, _) => {
                self.each(items, out, |item| item != padded || at_end.is_ne());
            }
            Test::Compare(comparison, _) => {
                self.each(items, out, |item| comparison.holds(item.cmp(padded).then(at_end)));
            }
            // The last unit of what they look for is no zero.
            Test::Starts(_) | Test::Contains(_) => self.each(items, out, |item| self.test.is_passed_by(item)),
            Test::Ends(_) | Test::Among(_) => {
                self.each(items, out, |item| self.test.is_passed_by(trimmed(item)));
            }
        }
    }

    #[inline(always)]
    fn each(&self, items: &[T], out: &mut [u8], passes: impl Fn(&[T]) -> bool) {
        for (out, item) in out.iter_mut().zip(items.chunks_exact(self.width)) {
            *out = u8::from(passes(item));
        }
    }
}
