//! Rounding to whole numbers. Integers and Bool are whole already.
//!
//! Source: NumPy's loops.

functions! {
    "floor" {
        wide truth(a: T) -> T { Truth::new(a.get()) }
        plain ints(a: T) -> T { a }
        wide floats(a: T) -> T { a.floor() }
    }
    "ceil" {
        wide truth(a: T) -> T { Truth::new(a.get()) }
        plain ints(a: T) -> T { a }
        wide floats(a: T) -> T { a.ceil() }
    }
    "trunc" {
        wide truth(a: T) -> T { Truth::new(a.get()) }
        plain ints(a: T) -> T { a }
        wide floats(a: T) -> T { a.trunc() }
    }
    // Halves to even.
    "rint" {
        wide floats(a: T) -> T { a.round_ties_even() }
        wide complexes(a: T) -> T { [a[0].round_ties_even(), a[1].round_ties_even()] }
    }
}
