//! Comparisons of two items of a type, which give truth values.
//!
//! Source: NumPy's loops. No number is equal to, less or greater than a NaN. Complex numbers are ordered by their
//! real parts, equal ones by their imaginary parts; a NaN in any part makes `less` and its like false. An `int64`
//! and a `uint64` compare as whole numbers.

use super::real::Real;

functions! {
    "equal" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() == b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a == b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new((a[0] == b[0]) & (a[1] == b[1])) }
        wide once(a: i64, b: u64) -> Truth { Truth::new((a >= 0) & (a.cast_unsigned() == b)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new((b >= 0) & (b.cast_unsigned() == a)) }
    }
    "not_equal" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() != b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a != b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new((a[0] != b[0]) | (a[1] != b[1])) }
        wide once(a: i64, b: u64) -> Truth { Truth::new((a < 0) | (a.cast_unsigned() != b)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new((b < 0) | (b.cast_unsigned() != a)) }
    }
    "less" {
        wide truth(a: T, b: T) -> T { Truth::new(!a.get() & b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a < b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new(is_less(a, b)) }
        wide once(a: i64, b: u64) -> Truth { Truth::new(signed_less(a, b)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new(unsigned_less(a, b)) }
    }
    "less_equal" {
        wide truth(a: T, b: T) -> T { Truth::new(!a.get() | b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a <= b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new(is_less_or_equal(a, b)) }
        wide once(a: i64, b: u64) -> Truth { Truth::new(!unsigned_less(b, a)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new(!signed_less(b, a)) }
    }
    "greater" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & !b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a > b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new(is_less(b, a)) }
        wide once(a: i64, b: u64) -> Truth { Truth::new(unsigned_less(b, a)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new(signed_less(b, a)) }
    }
    "greater_equal" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | !b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new(a >= b) }
        wide complexes(a: T, b: T) -> Truth { Truth::new(is_less_or_equal(b, a)) }
        wide once(a: i64, b: u64) -> Truth { Truth::new(!signed_less(a, b)) }
        wide once(a: u64, b: i64) -> Truth { Truth::new(!unsigned_less(a, b)) }
    }
}

#[inline(always)]
fn is_less<R: Real>(a: [R; 2], b: [R; 2]) -> bool {
    let ordered = !a[1].is_nan() & !b[1].is_nan();
    ((a[0] < b[0]) & ordered) | ((a[0] == b[0]) & (a[1] < b[1]))
}

/// Also the order by which the larger and the smaller complex number are chosen.
#[inline(always)]
pub(super) fn is_less_or_equal<R: Real>(a: [R; 2], b: [R; 2]) -> bool {
    let ordered = !a[1].is_nan() & !b[1].is_nan();
    ((a[0] < b[0]) & ordered) | ((a[0] == b[0]) & (a[1] <= b[1]))
}

#[inline(always)]
fn signed_less(a: i64, b: u64) -> bool {
    (a < 0) | (a.cast_unsigned() < b)
}

#[inline(always)]
fn unsigned_less(a: u64, b: i64) -> bool {
    (b >= 0) & (a < b.cast_unsigned())
}
