//! The transform of a cell, and the order of its coefficients.
//!
//! In: the integers of a cell, of four along each axis. Out: coefficients, the smooth ones first, in base -2.
//! Source: `docs/formats/codecs.md`, "ZFP", steps 6 and 7.
//! Invariant: backward undoes forward but for the low bits that halving drops.

use super::number::Int;
use super::order;

/// Transforms along all axes, and gives the coefficients in their order.
#[inline(always)]
pub(super) fn forward<I: Int, const D: usize, const N: usize>(cell: &mut [I; N]) -> [u64; N] {
    lift_all::<I, N, 1>(cell, forward_lift);
    if D > 1 {
        lift_all::<I, N, 4>(cell, forward_lift);
    }
    if D > 2 {
        lift_all::<I, N, 16>(cell, forward_lift);
    }
    if D > 3 {
        lift_all::<I, N, 64>(cell, forward_lift);
    }
    let mut coefficients = [0; N];
    for (out, &place) in coefficients.iter_mut().zip(order::places(N)) {
        *out = cell[usize::from(place) % N].to_negabinary();
    }
    coefficients
}

/// The cell of coefficients in their order.
#[inline(always)]
pub(super) fn backward<I: Int, const D: usize, const N: usize>(coefficients: &[u64; N]) -> [I; N] {
    let mut cell = [I::ZERO; N];
    for (bits, &place) in coefficients.iter().zip(order::places(N)) {
        cell[usize::from(place) % N] = I::of_negabinary(*bits);
    }
    if D > 3 {
        lift_all::<I, N, 64>(&mut cell, backward_lift);
    }
    if D > 2 {
        lift_all::<I, N, 16>(&mut cell, backward_lift);
    }
    if D > 1 {
        lift_all::<I, N, 4>(&mut cell, backward_lift);
    }
    lift_all::<I, N, 1>(&mut cell, backward_lift);
    cell
}

/// Lifts all lines of four whose items are `STRIDE` apart. All numbers of the loops are constants, so that these are
/// unrolled and need no checks.
#[inline(always)]
fn lift_all<I: Int, const N: usize, const STRIDE: usize>(cell: &mut [I; N], lift: impl Fn([I; 4]) -> [I; 4]) {
    for lines in 0..N / (4 * STRIDE) {
        for beside in 0..STRIDE {
            let at = 4 * STRIDE * lines + beside;
            let line = [cell[at], cell[at + STRIDE], cell[at + 2 * STRIDE], cell[at + 3 * STRIDE]];
            [cell[at], cell[at + STRIDE], cell[at + 2 * STRIDE], cell[at + 3 * STRIDE]] = lift(line);
        }
    }
}

#[inline(always)]
fn forward_lift<I: Int>([mut x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    x = x.plus(w).half();
    w = w.minus(x);
    z = z.plus(y).half();
    y = y.minus(z);
    x = x.plus(z).half();
    z = z.minus(x);
    w = w.plus(y).half();
    y = y.minus(w);
    w = w.plus(y.half());
    y = y.minus(w.half());
    [x, y, z, w]
}

#[inline(always)]
fn backward_lift<I: Int>([mut x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    y = y.plus(w.half());
    w = w.minus(y.half());
    y = y.plus(w);
    w = w.twice().minus(y);
    z = z.plus(x);
    x = x.twice().minus(z);
    y = y.plus(z);
    z = z.twice().minus(y);
    w = w.plus(x);
    x = x.twice().minus(w);
    [x, y, z, w]
}
