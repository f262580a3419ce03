//! Floating-point items as whole numbers of steps, within a bound; those that cannot be are kept as they are.
//!
//! In: items and the greatest error. Out: the step, how many of them lie between 0 and the block, and for each item the
//! number of steps behind that, or [`HOLE`]. And back.
//! Source: `docs/formats/predict.md`, "Lattice".
//! Invariant: what an item comes back as has been computed while encoding, as decoding does it; NaN, infinities, the sign of
//! zeros and fill values come back bit for bit.

use super::walk::HOLE;

/// The greatest number of steps from the middle of a block.
const REACH: f64 = (1 << 26) as f64;
/// Adding it to a number below `2^51` leaves the nearest whole number in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The greatest number of steps from 0 to the middle.
const ORIGIN_MAX: f64 = (1_u64 << 50) as f64;
/// Keeps the bound where an error was computed with rounding.
const SLACK: f64 = 1.0 - 1e-12;
/// Items that are looked at to find the middle.
const SAMPLES: usize = 512;

/// Items of a block.
pub(super) trait Item: Copy + 'static {
    /// Its bytes, little-endian.
    type Bytes: Copy;
    /// Bits of the mantissa.
    const MANTISSA: i32;

    fn items(bytes: &[u8]) -> &[Self::Bytes];
    fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn value(bytes: Self::Bytes) -> f64;
    fn bits(bytes: Self::Bytes) -> u64;
    fn of_value(value: f64) -> Self::Bytes;
}

macro_rules! item {
    ($float:ty, $bits:ty, $bytes:literal, $mantissa:literal) => {
        impl Item for $float {
            type Bytes = [u8; $bytes];
            const MANTISSA: i32 = $mantissa;

            fn items(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }

            #[inline(always)]
            fn value(bytes: Self::Bytes) -> f64 {
                Self::from_le_bytes(bytes).into()
            }

            #[inline(always)]
            fn bits(bytes: Self::Bytes) -> u64 {
                <$bits>::from_le_bytes(bytes).into()
            }

            #[inline(always)]
            fn of_value(value: f64) -> Self::Bytes {
                (value as $float).to_le_bytes()
            }
        }
    };
}

item!(f32, u32, 4, 23);
item!(f64, u64, 8, 52);

/// Steps, and where the numbers of a block are counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    pub(super) step: f64,
    /// In steps.
    pub(super) origin: f64,
}

impl Lattice {
    /// The lattice for these items, if they can be within `bound` by whole steps; and the items that are to be kept.
    fn of<T: Item>(items: &[T::Bytes], bound: f64, fill: Option<u64>) -> Option<(Self, Vec<u64>)> {
        let mut kept: Vec<u64> = fill.into_iter().collect();
        let stride = (items.len() / SAMPLES).max(1) | 1;
        let sample = items.iter().step_by(stride).filter(|&&item| Some(T::bits(item)) != fill);
        let mut sample: Vec<f64> =
            sample.map(|&item| T::value(item)).filter(|value| value.is_finite()).collect();
        sample.sort_by(f64::total_cmp);
        if let Some(apart) = apart(&mut sample) {
            kept.push(T::bits(T::of_value(apart)));
        }
        sample.dedup();
        let middle = sample.get(sample.len() / 2).copied().unwrap_or(0.0);
        let near = |value: f64| if (value - middle).abs() <= REACH * bound { value.abs() } else { 0.0 };
        let greatest = items.iter().fold(0.0_f64, |most, &item| most.max(near(T::value(item))));
        // A step's value is rounded to an item, by half a unit of its last place at most.
        let rounding = if greatest > 0.0 { greatest * 2.0_f64.powi(-T::MANTISSA - 1) } else { 0.0 };
        let step = 2.0 * (bound - rounding) * SLACK;
        let origin = (middle / step).round_ties_even();
        let is_sound = step > bound * 0.5 && step.is_normal() && origin.abs() < ORIGIN_MAX;
        is_sound.then_some((Self { step, origin }, kept))
    }

    /// Whether the fields of a stream can be these.
    pub(super) fn is_sound(&self) -> bool {
        self.step > 0.0
            && self.step.is_finite()
            && self.origin.abs() <= ORIGIN_MAX
            && self.origin.fract() == 0.0
    }

    #[inline(always)]
    fn value<T: Item>(&self, number: i32) -> T::Bytes {
        T::of_value((self.origin + f64::from(number)) * self.step)
    }
}

/// A value at one end of sorted ones that occurs often and lies far from all others: it stands for what is not there.
/// It is taken out.
fn apart(sorted: &mut Vec<f64>) -> Option<f64> {
    let (&first, &last) = (sorted.first()?, sorted.last()?);
    let low = sorted.iter().take_while(|&&value| value == first).count();
    let high = sorted.iter().rev().take_while(|&&value| value == last).count();
    let enough = sorted.len() / 50 + 2;
    let second = *sorted.get(low)?;
    if low >= enough && second - first > 2.0 * (last - second) {
        sorted.drain(..low);
        return Some(first);
    }
    let second = *sorted.get(sorted.len().checked_sub(high + 1)?)?;
    if high >= enough && last - second > 2.0 * (second - first) {
        sorted.truncate(sorted.len() - high);
        return Some(last);
    }
    None
}

/// A block on its lattice.
pub(super) struct Quantised {
    pub(super) lattice: Lattice,
    pub(super) has_holes: bool,
}

/// Fills `numbers`; `None` if no lattice suits the items.
pub(super) fn quantise<T: Item>(
    items: &[T::Bytes],
    bound: f64,
    fill: Option<u64>,
    numbers: &mut [i32],
) -> Option<Quantised> {
    let (lattice, kept) = Lattice::of::<T>(items, bound, fill)?;
    let inverse = 1.0 / lattice.step;
    if !inverse.is_finite() {
        return None;
    }
    let limit = bound * SLACK;
    let minus_zero = T::bits(T::of_value(-0.0));
    let mut holes = 0_u32;
    for (number, &item) in numbers.iter_mut().zip(items) {
        let value = T::value(item);
        let steps = value * inverse - lattice.origin;
        // The low half of what is rounded; of numbers out of reach nothing is used.
        let rounded = (steps + ROUNDER).to_bits() as i32;
        let error = (T::value(lattice.value::<T>(rounded)) - value).abs();
        let is_near = error <= limit && steps.abs() <= REACH && T::bits(item) != minus_zero;
        holes += u32::from(!is_near);
        *number = if is_near { rounded } else { HOLE };
    }
    for bits in kept {
        for (number, &item) in numbers.iter_mut().zip(items) {
            if T::bits(item) == bits && *number != HOLE {
                *number = HOLE;
                holes += 1;
            }
        }
    }
    Some(Quantised { lattice, has_holes: holes > 0 })
}

/// Fills `items` with the values of numbers.
pub(super) fn restore<T: Item>(lattice: &Lattice, numbers: &[i32], items: &mut [T::Bytes]) {
    for (item, &number) in items.iter_mut().zip(numbers) {
        *item = lattice.value::<T>(number);
    }
}
