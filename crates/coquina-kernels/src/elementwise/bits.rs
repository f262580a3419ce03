//! Bits of integers; on Bool the same words mean logic.
//!
//! Source: NumPy's loops. A shift by as many bits as there are, or by a negative number of them, leaves no bit of
//! the number but its sign.

functions! {
    "bitwise_and" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & b.get()) }
        wide ints(a: T, b: T) -> T { a & b }
    }
    "bitwise_or" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | b.get()) }
        wide ints(a: T, b: T) -> T { a | b }
    }
    "bitwise_xor" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() ^ b.get()) }
        wide ints(a: T, b: T) -> T { a ^ b }
    }
    "invert" {
        wide truth(a: T) -> T { Truth::new(!a.get()) }
        wide ints(a: T) -> T { !a }
    }
    "left_shift" {
        wide signed(a: T, b: T) -> T {
            let last = (T::BITS - 1).to();
            if (b >= 0) & (b <= last) { a << (b & last) } else { 0 }
        }
        wide unsigned(a: T, b: T) -> T {
            let last = (T::BITS - 1).to();
            if b <= last { a << (b & last) } else { 0 }
        }
    }
    "right_shift" {
        wide signed(a: T, b: T) -> T {
            let last = (T::BITS - 1).to();
            a >> (if (b >= 0) & (b <= last) { b & last } else { last })
        }
        wide unsigned(a: T, b: T) -> T {
            let last = (T::BITS - 1).to();
            if b <= last { a >> (b & last) } else { 0 }
        }
    }
    // Of the absolute value.
    "bitwise_count" {
        wide signed(a: T) -> u8 { a.unsigned_abs().count_ones().to() }
        wide unsigned(a: T) -> u8 { a.count_ones().to() }
    }
}
