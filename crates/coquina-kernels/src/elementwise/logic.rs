//! Logic: a number is true where it is not 0, so NaN is true; a complex one where any part is not 0.
//!
//! Source: NumPy's loops, and its `where`.

functions! {
    "logical_and" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new((a != T::default()) & (b != T::default())) }
        wide complexes(a: T, b: T) -> Truth {
            Truth::new(((a[0] != 0.0) | (a[1] != 0.0)) & ((b[0] != 0.0) | (b[1] != 0.0)))
        }
    }
    "logical_or" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new((a != T::default()) | (b != T::default())) }
        wide complexes(a: T, b: T) -> Truth {
            Truth::new((a[0] != 0.0) | (a[1] != 0.0) | (b[0] != 0.0) | (b[1] != 0.0))
        }
    }
    "logical_xor" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() ^ b.get()) }
        wide reals(a: T, b: T) -> Truth { Truth::new((a != T::default()) ^ (b != T::default())) }
        wide complexes(a: T, b: T) -> Truth {
            Truth::new(((a[0] != 0.0) | (a[1] != 0.0)) ^ ((b[0] != 0.0) | (b[1] != 0.0)))
        }
    }
    "logical_not" {
        wide truth(a: T) -> T { Truth::new(!a.get()) }
        wide reals(a: T) -> Truth { Truth::new(a == T::default()) }
        wide complexes(a: T) -> Truth { Truth::new((a[0] == 0.0) & (a[1] == 0.0)) }
    }
    "where" {
        wide truth(c: Truth, a: T, b: T) -> T { Truth::new(if c.get() { a.get() } else { b.get() }) }
        wide reals(c: Truth, a: T, b: T) -> T { if c.get() { a } else { b } }
        wide complexes(c: Truth, a: T, b: T) -> T {
            let c = c.get();
            [if c { a[0] } else { b[0] }, if c { a[1] } else { b[1] }]
        }
    }
}
