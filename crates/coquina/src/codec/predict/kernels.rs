//! How a number is predicted from up to four neighbours along an axis: two before it and two behind.
//!
//! Source: `docs/formats/predict.md`, "Prediction". All arithmetic is in integers and wraps.

/// `b` and `c` are the next neighbours before and behind, `a` and `d` those beyond.
pub(super) trait Kernel {
    fn of(a: i32, b: i32, c: i32, d: i32) -> i32;
}

/// All four.
pub(super) struct Cubic;
/// Without `a`.
pub(super) struct CubicLeft;
/// Without `d`.
pub(super) struct CubicRight;
/// `b` and `c`.
pub(super) struct Linear;
/// `a` and `b`, at the far end of an axis.
pub(super) struct Extrapolated;
/// `b` alone.
pub(super) struct Copied;

impl Kernel for Cubic {
    #[inline(always)]
    fn of(a: i32, b: i32, c: i32, d: i32) -> i32 {
        let near = b.wrapping_add(c);
        let near = near.wrapping_shl(3).wrapping_add(near);
        near.wrapping_sub(a.wrapping_add(d)).wrapping_add(8) >> 4
    }
}

impl Kernel for CubicLeft {
    #[inline(always)]
    fn of(_: i32, b: i32, c: i32, d: i32) -> i32 {
        let near = b.wrapping_add(c).wrapping_add(c);
        near.wrapping_add(near).wrapping_add(near).wrapping_sub(d).wrapping_add(4) >> 3
    }
}

impl Kernel for CubicRight {
    #[inline(always)]
    fn of(a: i32, b: i32, c: i32, _: i32) -> i32 {
        CubicLeft::of(0, c, b, a)
    }
}

impl Kernel for Linear {
    #[inline(always)]
    fn of(_: i32, b: i32, c: i32, _: i32) -> i32 {
        b.wrapping_add(c).wrapping_add(1) >> 1
    }
}

impl Kernel for Extrapolated {
    #[inline(always)]
    fn of(a: i32, b: i32, _: i32, _: i32) -> i32 {
        b.wrapping_add(b).wrapping_add(b).wrapping_sub(a).wrapping_add(1) >> 1
    }
}

impl Kernel for Copied {
    #[inline(always)]
    fn of(_: i32, b: i32, _: i32, _: i32) -> i32 {
        b
    }
}
