//! Rounding the items of a chunk by a rule, on all threads.
//!
//! In: items, and what stood in their places if only some are written. Out: rounded items; those that equal what stood
//! there stay, so that no item drifts when its neighbours are written.
//! Floating-point numbers become multiples of powers of two: their low bits are then zeros, which shuffles and coders
//! turn into nothing. Multiples of the widest step that a bound allows have no such zeros, and were larger in nearly
//! all trials. Integers have few bytes: of these the widest step is tried too.
//! Invariant: to round what is rounded changes nothing.

use coquina_kernels::{Multiples, best_level, round_to_multiples};

use super::items::{Items, with_number};
use super::lattice::{Lattice, floor_log2, power_of_two};
use super::number::{Number, Rounded};
use crate::base::error::Result;
use crate::base::pool::Job;

/// A task rounds about this much.
const TASK_BYTES: usize = 256 << 10;

/// How numbers are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Not at all.
    Exact,
    /// To multiples of two to this power, but for numbers that would move further than the limit.
    Multiples { exponent: i32, limit: f64 },
    /// Integers to multiples of this odd number.
    Steps(i64),
    /// To so many bits of the mantissa, or of the integer.
    Bits(u32),
    /// To so many bits behind the leading one, but for numbers that would move by more than this part of themselves.
    Relative { bits: u32, limit: f64 },
}

impl Rule {
    /// Multiples of the greatest power of two that moves no number further than `limit`.
    pub(super) fn within(limit: f64, items: Items) -> Self {
        // No integer is between 0 and 1.
        if limit <= 0.0 || !items.is_float() && limit < 1.0 {
            return Self::Exact;
        }
        Self::Multiples { exponent: floor_log2(limit) + 1, limit }
    }

    /// The widest steps that move no integer further than `limit`, if they are wider than powers of two.
    pub(super) fn steps(limit: f64, items: Items) -> Option<Self> {
        let most = power_of_two(i32::try_from(items.bits()).unwrap_or(0)).min(power_of_two(60));
        (!items.is_float() && (1.0..most).contains(&limit)).then(|| Self::Steps(2 * whole(limit) + 1))
    }

    /// Multiples of two to this power.
    pub(super) fn multiples(exponent: i32) -> Self {
        Self::Multiples { exponent, limit: power_of_two(exponent - 1) }
    }
}

/// The integral part of a limit.
#[expect(clippy::cast_possible_truncation, reason = "casts to integers saturate")]
fn whole(x: f64) -> i64 {
    x as i64
}

/// Items that are to be rounded.
pub(super) struct Unrounded<'a> {
    pub(super) from: &'a [u8],
    /// What stood in their places, if only some are written: those that equal it stay as they are.
    pub(super) before: Option<&'a [u8]>,
    /// The item that stands for what is not there, which stays too.
    pub(super) fill: Option<&'a [u8]>,
}

/// Fills `to` with the items, rounded.
pub(super) fn round(
    rule: Rule,
    items: Items,
    &Unrounded { from, before, fill }: &Unrounded<'_>,
    to: &mut [u8],
    job: &Job<'_>,
) -> Result<()> {
    let pieces = from.chunks(TASK_BYTES).zip(to.chunks_mut(TASK_BYTES)).enumerate();
    job.run(from.len(), pieces, |(number, (from, to))| {
        let start = number * TASK_BYTES;
        let before = before.and_then(|before| before.get(start..start + from.len()));
        round_run(rule, items, &Unrounded { from, before, fill }, to);
        Ok(from.len())
    })
}

/// Fills `to` with the items, rounded, on this thread.
pub(super) fn round_run(
    rule: Rule,
    items: Items,
    &Unrounded { from, before, fill }: &Unrounded<'_>,
    to: &mut [u8],
) {
    if let Rule::Multiples { exponent, limit } = rule
        && let (Some(ty), None, None) = (items.kernel_type(), before, fill)
    {
        let Lattice { magic, limit, .. } = Lattice::new(exponent, limit);
        return round_to_multiples(best_level(), ty, Multiples { magic, limit }, from, to);
    }
    let mut piece = Rounded { from, before, fill, to, is_big: items.is_big };
    with_number!(items.kind, T => round_piece::<T>(rule, &mut piece));
}

/// The plain version, for numbers of any type.
pub(super) fn round_piece<T: Number>(rule: Rule, piece: &mut Rounded<'_>) {
    match rule {
        Rule::Exact => piece.to.copy_from_slice(piece.from),
        Rule::Multiples { exponent, limit } => {
            let lattice = Lattice::new(exponent, limit);
            T::map(piece, |number| number.on_lattice(&lattice));
        }
        Rule::Steps(step) => T::map(piece, |number| number.on_steps(step)),
        Rule::Bits(bits) => T::map(piece, |number| number.with_bits(bits)),
        Rule::Relative { bits, limit } => T::map(piece, |number| number.with_significant(bits, limit)),
    }
}
