//! The numbers that can be rounded: what their stored bytes are, and what rounding one of them means.
//!
//! In: stored items of any byte order. Out: items of the same type. Complex numbers are two numbers each.
//! Invariant: NaN with its payload, infinities and zeros with their sign come out as they went in, and so does a number
//! that rounding would move beyond its limit or beyond the ends of its type.

use super::lattice::Lattice;

/// The part of a limit on relative errors that computing with it may be off, and the least product that is exact to
/// that part.
const RELATIVE_SLACK: f64 = 1.0 - 1.0 / 1_125_899_906_842_624.0;
const PRODUCT_MIN: f64 = 1e-290;

/// Whether an error is at most this part of `size`, for sure.
pub(super) fn is_within(error: f64, limit: f64, size: f64) -> bool {
    let product = limit * size;
    product >= PRODUCT_MIN && error <= product * RELATIVE_SLACK
}

/// A number that can be rounded.
pub(super) trait Number: Copy + PartialEq {
    /// Bits of the mantissa, or of the integer.
    const WIDTH: u32;

    /// As a number of 64 bits, rounded if it has more.
    fn value(self) -> f64;

    /// How far the two finite numbers are from each other, at least: rounded up.
    fn distance(self, other: Self) -> f64;

    /// Rounded to the nearest point of a lattice.
    fn on_lattice(self, lattice: &Lattice) -> Self;

    /// Rounded to the nearest multiple of an odd number, or the end of its type. Only integers are.
    fn on_steps(self, _step: i64) -> Self {
        self
    }

    /// Rounded to so many bits of its mantissa; of an integer, to so many of its high bits.
    fn with_bits(self, bits: u32) -> Self;

    /// Rounded to so many bits behind its leading one, if it moves by no more than this part of itself.
    fn with_significant(self, bits: u32, limit: f64) -> Self;

    /// Fills `to` with what `change` makes of each number; one that equals that in `before` stays.
    fn map(items: &mut Rounded<'_>, change: impl Fn(Self) -> Self);

    /// Shows `see` each number of `given` that is not that of `before`, and what it was decoded to.
    fn each(items: &Compared<'_>, see: impl FnMut(Self, Self));
}

/// Stored numbers that are rounded.
pub(super) struct Rounded<'a> {
    pub(super) from: &'a [u8],
    pub(super) before: Option<&'a [u8]>,
    /// The number that stands for what is not there: it stays.
    pub(super) fill: Option<&'a [u8]>,
    pub(super) to: &'a mut [u8],
    pub(super) is_big: bool,
}

/// Stored numbers beside what they were decoded to.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) given: &'a [u8],
    pub(super) before: Option<&'a [u8]>,
    pub(super) decoded: &'a [u8],
    pub(super) is_big: bool,
}

/// The two walks over stored numbers of `$size` bytes.
macro_rules! walks {
    ($size:literal) => {
        fn map(items: &mut $crate::policy::bounded::number::Rounded<'_>, change: impl Fn(Self) -> Self) {
            let (from, to) = (items.from.as_chunks::<$size>().0, items.to.as_chunks_mut::<$size>().0);
            let fill = items.fill.and_then(|fill| fill.first_chunk::<$size>());
            let changed = |item: &[u8; $size]| {
                if fill == Some(item) {
                    *item
                } else if items.is_big {
                    change(Self::from_be_bytes(*item)).to_be_bytes()
                } else {
                    change(Self::from_le_bytes(*item)).to_le_bytes()
                }
            };
            match items.before {
                None => from.iter().zip(to).for_each(|(from, to)| *to = changed(from)),
                Some(before) => {
                    let before = before.as_chunks::<$size>().0;
                    for ((from, before), to) in from.iter().zip(before).zip(to) {
                        *to = if from == before { *from } else { changed(from) };
                    }
                }
            }
        }

        fn each(items: &$crate::policy::bounded::number::Compared<'_>, mut see: impl FnMut(Self, Self)) {
            let (given, decoded) = (items.given.as_chunks::<$size>().0, items.decoded.as_chunks::<$size>().0);
            let number = |item: &[u8; $size]| {
                if items.is_big { Self::from_be_bytes(*item) } else { Self::from_le_bytes(*item) }
            };
            match items.before {
                None => given.iter().zip(decoded).for_each(|(x, y)| see(number(x), number(y))),
                Some(before) => {
                    let before = before.as_chunks::<$size>().0;
                    let all = given.iter().zip(before).zip(decoded);
                    let written = all.filter(|((x, before), _)| x != before);
                    written.for_each(|((x, _), y)| see(number(x), number(y)));
                }
            }
        }
    };
}
pub(super) use walks;
