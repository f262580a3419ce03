//! What a number is made of: its kind, sign and exponent, the parts of a complex one, and its neighbours.
//!
//! Source: NumPy's loops, and its `real` and `imag`. Integers and Bool are finite.

functions! {
    "isnan" {
        wide truth(_a: T) -> T { Truth::new(false) }
        wide ints(_a: T) -> Truth { Truth::new(false) }
        wide floats(a: T) -> Truth { Truth::new(a.is_nan()) }
        wide complexes(a: T) -> Truth { Truth::new(a[0].is_nan() | a[1].is_nan()) }
    }
    "isinf" {
        wide truth(_a: T) -> T { Truth::new(false) }
        wide ints(_a: T) -> Truth { Truth::new(false) }
        wide floats(a: T) -> Truth { Truth::new(a.is_infinite()) }
        wide complexes(a: T) -> Truth { Truth::new(a[0].is_infinite() | a[1].is_infinite()) }
    }
    "isfinite" {
        wide truth(_a: T) -> T { Truth::new(true) }
        wide ints(_a: T) -> Truth { Truth::new(true) }
        wide floats(a: T) -> Truth { Truth::new(a.is_finite()) }
        wide complexes(a: T) -> Truth { Truth::new(a[0].is_finite() & a[1].is_finite()) }
    }
    "signbit" {
        wide floats(a: T) -> Truth { Truth::new(a.is_sign_negative()) }
    }
    "copysign" {
        wide floats(a: T, b: T) -> T { a.copysign(b) }
    }
    "nextafter" {
        wide floats(a: T, b: T) -> T {
            let next = if a < b { a.next_up() } else { a.next_down() };
            let next = if a == b { b } else { next };
            if a.is_nan() | b.is_nan() { T::NAN } else { next }
        }
    }
    // To the neighbour further from 0, with the sign of the number.
    "spacing" {
        wide floats(a: T) -> T {
            let (next, sign) = (a.abs().next_up(), if a == 0.0 { 1.0 } else { a });
            if a.is_finite() { (next - a.abs()).copysign(sign) } else { T::NAN }
        }
    }
    "ldexp" {
        wide floats(a: T, b: i32) -> T { a.scale(b) }
        wide floats(a: T, b: i64) -> T { a.scale(b.clamp(-9999, 9999).to()) }
    }
    "conjugate" {
        plain reals(a: T) -> T { a }
        wide complexes(a: T) -> T { [a[0], -a[1]] }
    }
    "real" {
        wide truth(a: T) -> T { Truth::new(a.get()) }
        plain reals(a: T) -> T { a }
        wide complexes(a: T) -> P { a[0] }
    }
    "imag" {
        wide truth(_a: T) -> T { Truth::new(false) }
        plain reals(_a: T) -> T { T::default() }
        wide complexes(a: T) -> P { a[1] }
    }
}
