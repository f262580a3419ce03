//! Which prediction suits a block: tried on a few hundred of its numbers.
//!
//! Source: none; decoders read the choice from the stream.
//! Invariant: exact arithmetic and sums in order only, so that the choice is the same on every machine.

use super::kernels::{Cubic, Kernel, Linear};
use super::walk::{AXES, HOLE, Method, Plan};

/// About how many numbers are looked at.
const SAMPLES: usize = 1000;
/// The shortest axis along which four neighbours are tried.
const LEN_MIN: usize = 8;
/// What is taken for bits of a number along an axis that could not be tried.
const UNTRIED: f64 = 16.0;

/// What residuals of some numbers come to: sums of logarithms, in bits.
#[derive(Clone, Copy, Default)]
struct Cost {
    bits: f64,
    count: f64,
}

impl Cost {
    fn add(&mut self, residual: i32) {
        let size = (u64::from(residual.unsigned_abs()) << 1) + 1;
        let exponent = size.ilog2();
        // The logarithm, straight between powers of two.
        let fraction = (size as f64) / ((1_u64 << exponent) as f64) - 1.0;
        self.bits += f64::from(exponent) + fraction;
        self.count += 1.0;
    }

    /// Bits for each number; `otherwise` if none could be tried.
    fn mean(&self, otherwise: f64) -> f64 {
        if self.count < 8.0 { otherwise } else { self.bits / self.count }
    }
}

/// What was found along each axis at distances 1 and 2.
#[derive(Default)]
struct Tried {
    cubic: [[Cost; 2]; AXES],
    linear: [[Cost; 2]; AXES],
    lorenzo: Cost,
}

/// The plan for these numbers of that shape.
pub(super) fn of(shape: [usize; AXES], numbers: &[i32]) -> Plan {
    let [_, b, c, d] = shape;
    let strides = [b * c * d, c * d, d, 1];
    let mut tried = Tried::default();
    let jump = (numbers.len() / SAMPLES).max(1) | 1;
    for place in (0..numbers.len()).step_by(jump) {
        try_at(shape, strides, numbers, place, &mut tried);
    }
    let (cubic, linear) = (Halving::of(shape, &tried.cubic), Halving::of(shape, &tried.linear));
    let (best, method) =
        if cubic.bits <= linear.bits { (cubic, Method::Cubic) } else { (linear, Method::Linear) };
    let is_worse = tried.lorenzo.mean(f64::INFINITY) < best.bits;
    Plan { shape, method: if is_worse { Method::Lorenzo } else { method }, order: best.order }
}

/// Axes in the order in which they are halved, and what that comes to for each number.
struct Halving {
    order: [usize; AXES],
    bits: f64,
}

impl Halving {
    fn of(shape: [usize; AXES], costs: &[[Cost; 2]; AXES]) -> Self {
        // Most numbers are predicted along the axis that comes last: the best one.
        let near = |axis: usize| costs[axis][0].mean(UNTRIED);
        let mut order = [0, 1, 2, 3];
        order.sort_by(|&a, &b| near(b).total_cmp(&near(a)));
        let halved = || order.into_iter().filter(|&axis| shape[axis] > 1);
        let parts = f64::from((1_u32 << halved().count()) - 1);
        let mean = |cost: &dyn Fn(usize) -> f64| -> f64 {
            let shares = (0..).map(|rank| f64::from(1_u32 << rank) / parts);
            halved().zip(shares).map(|(axis, share): (usize, f64)| share * cost(axis)).sum()
        };
        let far = |axis: usize| costs[axis][1].mean(near(axis) + 1.0);
        let fine = parts / (parts + 1.0);
        Self { order, bits: fine * mean(&near) + (1.0 - fine) * mean(&far) }
    }
}

fn try_at(shape: [usize; AXES], strides: [usize; AXES], numbers: &[i32], place: usize, tried: &mut Tried) {
    let index: [usize; AXES] = std::array::from_fn(|axis| place / strides[axis] % shape[axis]);
    let number = numbers[place];
    if number == HOLE {
        return;
    }
    for axis in (0..AXES).filter(|&axis| shape[axis] >= LEN_MIN) {
        for distance in [1, 2] {
            let (i, far) = (index[axis], 3 * distance);
            if i < far || i + far >= shape[axis] {
                continue;
            }
            let by = distance * strides[axis];
            let [a, b, c, d] = [place - 3 * by, place - by, place + by, place + 3 * by].map(|at| numbers[at]);
            if [a, b, c, d].contains(&HOLE) {
                continue;
            }
            tried.cubic[axis][distance - 1].add(number.wrapping_sub(Cubic::of(a, b, c, d)));
            tried.linear[axis][distance - 1].add(number.wrapping_sub(Linear::of(a, b, c, d)));
        }
    }
    let axes = || (0..AXES).filter(|&axis| shape[axis] > 1);
    if axes().any(|axis| index[axis] == 0) {
        return;
    }
    let mut residual = 0_i32;
    for corner in 0..1_usize << AXES {
        if (0..AXES).any(|axis| corner >> axis & 1 == 1 && shape[axis] == 1) {
            continue;
        }
        let back: usize = (0..AXES).filter(|axis| corner >> axis & 1 == 1).map(|axis| strides[axis]).sum();
        let value = numbers[place - back];
        if value == HOLE {
            return;
        }
        residual = if corner.count_ones() % 2 == 0 {
            residual.wrapping_add(value)
        } else {
            residual.wrapping_sub(value)
        };
    }
    tried.lorenzo.add(residual);
}
