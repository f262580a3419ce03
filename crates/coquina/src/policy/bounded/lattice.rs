//! Powers of two, and the lattice of their multiples that numbers are rounded to.

/// Multiples of a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    pub(super) exponent: i32,
    /// No number moves further.
    pub(super) limit: f64,
    /// Added and taken away again, it leaves multiples of the power only: 1.5 times 2^(52 + exponent).
    pub(super) magic: f64,
}

impl Lattice {
    /// Multiples of two to this power, that numbers move to if they are no further than `limit`.
    pub(super) fn new(exponent: i32, limit: f64) -> Self {
        let exponent = exponent.clamp(-1074, 970);
        Self { exponent, limit, magic: 1.5 * power_of_two(exponent + 52) }
    }

    /// The multiple that is nearest, of two the even one; exact, but for numbers so large that their last bit is the
    /// power itself or half of it.
    pub(super) fn nearest(&self, x: f64) -> f64 {
        (x + self.magic) - self.magic
    }
}

/// Two to an integral power; 0 and infinity beyond what there is.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    if exponent > 1023 {
        return f64::INFINITY;
    }
    match u64::try_from(exponent + 1023) {
        Ok(biased) if biased > 0 => f64::from_bits(biased << 52),
        _ => u32::try_from(exponent + 1074).map_or(0.0, |at| f64::from_bits(1 << at)),
    }
}

/// The greatest power of two that is at most `x`, which is finite and greater than 0: its exponent.
pub(super) fn floor_log2(x: f64) -> i32 {
    let bits = x.to_bits() & (u64::MAX >> 1);
    let exponent = i32::try_from(bits >> 52).unwrap_or(0);
    if exponent > 0 {
        return exponent - 1023;
    }
    63 - i32::try_from(bits.leading_zeros()).unwrap_or(63) - 1074
}
