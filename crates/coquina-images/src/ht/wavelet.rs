//! The wavelet transforms of JPEG 2000: of whole numbers, which loses nothing, and of real ones.
//!
//! In: a plane. Out: the same plane as bands, see `bands.rs`, and back.
//! Source: ISO/IEC 15444-1, Annex F.
//! Invariant: `inverse(forward(plane)) == plane` for whole numbers.

use super::bands::{Band, resolutions};
use crate::image::Geometry;
use crate::level::widest;
use crate::planes::{self, Sample};

/// A transform as steps of lifting: in each, every second item changes by its two neighbours.
pub(super) trait Lifting: Copy {
    type Item: Sample;

    /// How many steps; the first one changes the items with odd numbers, the next one those with even numbers.
    const STEPS: usize;

    /// An item after a step.
    fn forward(self, step: usize, item: Self::Item, left: Self::Item, right: Self::Item) -> Self::Item;

    /// The item before it.
    fn inverse(self, step: usize, item: Self::Item, left: Self::Item, right: Self::Item) -> Self::Item;

    /// The factor of the items with even numbers and of those with odd ones, at the end; `None` for 1.
    fn scale(self) -> Option<[Self::Item; 2]>;

    /// An item times a factor.
    fn scaled(self, item: Self::Item, factor: Self::Item) -> Self::Item;
}

/// The transform of whole numbers, 5/3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole;

impl Whole {
    #[inline(always)]
    fn change(step: usize, left: i32, right: i32) -> i32 {
        let sum = left.wrapping_add(right);
        if step == 0 { (sum >> 1).wrapping_neg() } else { sum.wrapping_add(2) >> 2 }
    }
}

impl Lifting for Whole {
    type Item = i32;
    const STEPS: usize = 2;

    #[inline(always)]
    fn forward(self, step: usize, item: i32, left: i32, right: i32) -> i32 {
        item.wrapping_add(Self::change(step, left, right))
    }

    #[inline(always)]
    fn inverse(self, step: usize, item: i32, left: i32, right: i32) -> i32 {
        item.wrapping_sub(Self::change(step, left, right))
    }

    #[inline(always)]
    fn scale(self) -> Option<[i32; 2]> {
        None
    }

    #[inline(always)]
    fn scaled(self, item: i32, factor: i32) -> i32 {
        item.wrapping_mul(factor)
    }
}

/// The transform of real numbers, 9/7.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real;

/// The factors of its steps, and that of its items: Table F.4.
const FACTORS: [f32; 4] = [-1.586_134_3, -0.052_980_12, 0.882_911_1, 0.443_506_85];
const SCALE: f32 = 1.230_174_1;

impl Lifting for Real {
    type Item = f32;
    const STEPS: usize = 4;

    #[inline(always)]
    fn forward(self, step: usize, item: f32, left: f32, right: f32) -> f32 {
        item + FACTORS[step] * (left + right)
    }

    #[inline(always)]
    fn inverse(self, step: usize, item: f32, left: f32, right: f32) -> f32 {
        item - FACTORS[step] * (left + right)
    }

    #[inline(always)]
    fn scale(self) -> Option<[f32; 2]> {
        Some([1.0 / SCALE, SCALE])
    }

    #[inline(always)]
    fn scaled(self, item: f32, factor: f32) -> f32 {
        item * factor
    }
}

/// Turns a plane into bands.
pub(super) fn forward<L: Lifting>(plane: &mut [L::Item], geometry: &Geometry, levels: u32, lifting: L) {
    let mut room = planes::empty(plane.len());
    for extent in extents(geometry.columns, geometry.rows, levels).rev() {
        room.resize(extent.columns * extent.rows, L::Item::default());
        widest(
            #[inline(always)]
            || forward_level(plane, &mut room, geometry.columns, extent, lifting),
        );
    }
    planes::keep(room);
}

/// Turns bands into a plane.
pub(super) fn inverse<L: Lifting>(
    plane: &mut Vec<L::Item>,
    stride: usize,
    rows: usize,
    levels: u32,
    lifting: L,
) {
    let mut room = planes::empty(plane.len());
    for extent in extents(stride, rows, levels) {
        room.resize(extent.columns * extent.rows, L::Item::default());
        widest(
            #[inline(always)]
            || inverse_level(plane, &mut room, stride, extent, lifting),
        );
        if room.len() == plane.len() {
            std::mem::swap(plane, &mut room);
        } else {
            put_back(plane, &room, stride, extent);
        }
    }
    planes::keep(room);
}

/// A level of the transform. Columns and rows are done in one sweep, while the rows are in the cache: step `s` changes
/// row `row - 1 - s` as soon as `row` is reached, by its neighbours, which all steps before have changed.
#[inline(always)]
fn forward_level<L: Lifting>(
    plane: &mut [L::Item],
    room: &mut [L::Item],
    stride: usize,
    extent: Extent,
    lifting: L,
) {
    let Extent { columns, rows } = extent;
    for row in 0..rows + L::STEPS {
        for step in (0..L::STEPS).filter(|_| rows > 1 && row % 2 == 0) {
            lift_row(plane, stride, extent, row.wrapping_sub(1 + step), |i, l, r| {
                lifting.forward(step, i, l, r)
            });
        }
        let Some(done) = row.checked_sub(L::STEPS) else { continue };
        let place = place_in_bands(done, rows);
        let out = room.get_mut(place * columns..(place + 1) * columns).unwrap_or_default();
        let factor = lifting.scale().filter(|_| rows > 1).map(|scale| scale[done % 2]);
        let from = plane.get(done * stride..done * stride + columns).unwrap_or_default();
        row_forward(from, out, factor, lifting);
    }
    put_back(plane, room, stride, extent);
}

/// The reverse of [`forward_level`], into `room`; it leaves something else in `plane`. The last step is undone first.
#[inline(always)]
fn inverse_level<L: Lifting>(
    plane: &mut [L::Item],
    room: &mut [L::Item],
    stride: usize,
    extent: Extent,
    lifting: L,
) {
    let Extent { columns, rows } = extent;
    for row in 0..rows + L::STEPS {
        if row < rows {
            let place = place_in_bands(row, rows);
            let halves = plane.get_mut(place * stride..place * stride + columns).unwrap_or_default();
            let out = room.get_mut(row * columns..(row + 1) * columns).unwrap_or_default();
            let factor = lifting.scale().filter(|_| rows > 1).map(|scale| scale[1 - row % 2]);
            row_inverse(halves, out, factor, lifting);
        }
        for lag in (0..L::STEPS).filter(|_| rows > 1 && row % 2 == 1) {
            let step = L::STEPS - 1 - lag;
            lift_row(room, columns, extent, row.wrapping_sub(1 + lag), |i, l, r| {
                lifting.inverse(step, i, l, r)
            });
        }
    }
}

/// Where a row of a level stands among its bands: those with even numbers, which are low-pass, come first.
#[inline(always)]
fn place_in_bands(row: usize, rows: usize) -> usize {
    row / 2 + if row % 2 == 1 { rows.div_ceil(2) } else { 0 }
}

/// Copies a level to the corner of its plane.
fn put_back<T: Copy>(plane: &mut [T], room: &[T], stride: usize, extent: Extent) {
    for (row, done) in plane.chunks_mut(stride).zip(room.chunks(extent.columns)) {
        row.get_mut(..extent.columns).unwrap_or_default().copy_from_slice(done);
    }
}

/// The part of a plane that a level transforms, from its corner on.
#[derive(Clone, Copy)]
struct Extent {
    columns: usize,
    rows: usize,
}

/// What each level transforms, the smallest first.
fn extents(columns: usize, rows: usize, levels: u32) -> impl DoubleEndedIterator<Item = Extent> {
    let extent = |bands: Vec<Band>| {
        bands.last().map(|last| Extent { columns: last.left + last.columns, rows: last.top + last.rows })
    };
    let extents = resolutions(columns, rows, levels).into_iter().skip(1).filter_map(extent);
    extents.filter(|extent| extent.columns * extent.rows > 0)
}

/// A step of lifting of one row, by the rows above and below; nothing if there is no such row.
#[inline(always)]
fn lift_row<T: Copy>(
    plane: &mut [T],
    stride: usize,
    extent: Extent,
    row: usize,
    change: impl Fn(T, T, T) -> T,
) {
    let Extent { columns, rows } = extent;
    if row >= rows {
        return;
    }
    // At the edges a row has the same neighbour on both sides.
    let (before, from) = plane.split_at_mut(row * stride);
    let (this, behind) = from.split_at_mut(stride.min(from.len()));
    let above = before.len().checked_sub(stride).and_then(|start| before.get(start..start + columns));
    let below = behind.get(..columns).filter(|_| row + 1 < rows);
    let Some((above, below)) = above.or(below).zip(below.or(above)) else { return };
    for ((item, &above), &below) in this.iter_mut().zip(above).zip(below) {
        *item = change(*item, above, below);
    }
}

/// A step of lifting within a row whose items with even and with odd numbers stand apart.
#[inline(always)]
fn lift_halves<T: Copy>(low: &mut [T], high: &mut [T], step: usize, change: impl Fn(T, T, T) -> T) {
    let (Some(&first), Some(&last)) = (high.first(), low.last()) else { return };
    if step.is_multiple_of(2) {
        // An odd item stands between the even one of its number and the next one.
        for (item, pair) in high.iter_mut().zip(low.windows(2)) {
            *item = change(*item, pair[0], pair[1]);
        }
        if let Some(item) = high.get_mut(low.len() - 1) {
            *item = change(*item, last, last);
        }
        return;
    }
    let last = high.last().copied().unwrap_or(first);
    let count = high.len();
    if let Some(item) = low.first_mut() {
        *item = change(*item, first, first);
    }
    for (item, pair) in low.iter_mut().skip(1).zip(high.windows(2)) {
        *item = change(*item, pair[0], pair[1]);
    }
    if let Some(item) = low.get_mut(count).filter(|_| count > 0) {
        *item = change(*item, last, last);
    }
}

/// Transforms a row: its low items come first. `factor` is that of the whole row.
#[inline(always)]
fn row_forward<L: Lifting>(row: &[L::Item], out: &mut [L::Item], factor: Option<L::Item>, lifting: L) {
    let (low, high) = out.split_at_mut(row.len().div_ceil(2));
    let (pairs, odd) = row.as_chunks();
    for ((&[even, odd], low), high) in pairs.iter().zip(low.iter_mut()).zip(high.iter_mut()) {
        (*low, *high) = (even, odd);
    }
    if let (Some(&last), Some(low)) = (odd.first(), low.last_mut()) {
        *low = last;
    }
    if row.len() > 1 {
        (0..L::STEPS).for_each(|step| lift_halves(low, high, step, |i, l, r| lifting.forward(step, i, l, r)));
    }
    scale_halves(low, high, lifting.scale().filter(|_| row.len() > 1), factor, lifting);
}

/// The reverse of [`row_forward`], which leaves something else in `row`.
#[inline(always)]
fn row_inverse<L: Lifting>(row: &mut [L::Item], out: &mut [L::Item], factor: Option<L::Item>, lifting: L) {
    let is_long = row.len() > 1;
    let (low, high) = row.split_at_mut(row.len().div_ceil(2));
    let scale = lifting.scale().filter(|_| is_long).map(|[even, odd]| [odd, even]);
    scale_halves(low, high, scale, factor, lifting);
    if is_long {
        (0..L::STEPS)
            .rev()
            .for_each(|step| lift_halves(low, high, step, |i, l, r| lifting.inverse(step, i, l, r)));
    }
    let (pairs, odd) = out.as_chunks_mut();
    for ((pair, &low), &high) in pairs.iter_mut().zip(&*low).zip(&*high) {
        *pair = [low, high];
    }
    if let (Some(out), Some(&last)) = (odd.first_mut(), low.last()) {
        *out = last;
    }
}

/// Multiplies the halves of a row by their factors and by that of the row.
#[inline(always)]
fn scale_halves<L: Lifting>(
    low: &mut [L::Item],
    high: &mut [L::Item],
    scale: Option<[L::Item; 2]>,
    factor: Option<L::Item>,
    lifting: L,
) {
    for (number, half) in [low, high].into_iter().enumerate() {
        for factor in [scale.map(|scale| scale[number]), factor].into_iter().flatten() {
            half.iter_mut().for_each(|item| *item = lifting.scaled(*item, factor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(columns: usize, rows: usize) -> Geometry {
        Geometry { columns, rows, components: 1, sample_bytes: 2, is_signed: true }
    }

    const SIDES: [(usize, usize); 8] = [(1, 1), (1, 7), (6, 1), (2, 2), (5, 3), (8, 8), (33, 17), (64, 31)];

    #[test]
    fn whole_numbers_come_back() {
        for (columns, rows) in SIDES {
            let plain: Vec<i32> = (0..)
                .map(|i: i32| i.wrapping_mul(i).wrapping_mul(7919) % 32768)
                .take(columns * rows)
                .collect();
            for levels in 0..6 {
                let mut plane = plain.clone();
                forward(&mut plane, &geometry(columns, rows), levels, Whole);
                assert!(levels == 0 || columns * rows == 1 || plane != plain);
                inverse(&mut plane, columns, rows, levels, Whole);
                assert_eq!(plane, plain, "{columns} {rows} {levels}");
            }
        }
    }

    #[test]
    fn real_numbers_come_back_nearly() {
        for (columns, rows) in SIDES {
            let plain: Vec<f32> = (0..columns * rows).map(|i| (i * i * 7919 % 4096) as f32).collect();
            let mut plane = plain.clone();
            forward(&mut plane, &geometry(columns, rows), 3, Real);
            inverse(&mut plane, columns, rows, 3, Real);
            for (found, wanted) in plane.iter().zip(&plain) {
                assert!((found - wanted).abs() < 0.02, "{columns} {rows}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn all_instruction_sets_give_the_same_bits() {
        for (columns, rows) in SIDES {
            let plain: Vec<f32> = (0..columns * rows).map(|i| (i * i * 7919 % 4096) as f32).collect();
            let mut found = plain.clone();
            forward(&mut found, &geometry(columns, rows), 1, Real);
            let (mut wanted, mut room) = (plain.clone(), plain.clone());
            forward_level(&mut wanted, &mut room, columns, Extent { columns, rows }, Real);
            let bits = |plane: &[f32]| plane.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&wanted), "forward, {columns} {rows}");
            inverse(&mut found, columns, rows, 1, Real);
            inverse_level(&mut wanted, &mut room, columns, Extent { columns, rows }, Real);
            assert_eq!(bits(&found), bits(&room), "inverse, {columns} {rows}");
        }
    }

    #[test]
    fn a_constant_has_only_low_bands() {
        let mut plane = vec![1000.0; 16 * 16];
        forward(&mut plane, &geometry(16, 16), 2, Real);
        for (number, value) in plane.iter().enumerate() {
            let wanted = if number % 16 < 4 && number / 16 < 4 { 1000.0 } else { 0.0 };
            assert!((value - wanted).abs() < 0.01, "{number}: {value}");
        }
    }
}
