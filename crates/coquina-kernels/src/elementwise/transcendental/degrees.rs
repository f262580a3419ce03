//! `deg2rad`, `rad2deg`: one product, whose factor is rounded in the type of the items, as in NumPy.

use std::f32::consts::PI as SINGLE_PI;
use std::f64::consts::PI;

use super::apply::{Unary, unary};
use crate::elementwise::Kernel;
use crate::types::Type;

struct ToRadians;

impl Unary for ToRadians {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        x * (PI / 180.0)
    }
}

/// For singles: the product is exact, and then rounded once.
struct SingleToRadians;

impl Unary for SingleToRadians {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        x * f64::from(SINGLE_PI / 180.0)
    }
}

struct ToDegrees;

impl Unary for ToDegrees {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        x * (180.0 / PI)
    }
}

/// For singles, as [`SingleToRadians`].
struct SingleToDegrees;

impl Unary for SingleToDegrees {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        x * f64::from(180.0 / SINGLE_PI)
    }
}

/// The loop that makes radians of degrees.
pub(super) fn to_radians(inputs: &[Type]) -> Option<Kernel> {
    if inputs == [Type::F32] { unary::<SingleToRadians>(inputs) } else { unary::<ToRadians>(inputs) }
}

/// The loop that makes degrees of radians.
pub(super) fn to_degrees(inputs: &[Type]) -> Option<Kernel> {
    if inputs == [Type::F32] { unary::<SingleToDegrees>(inputs) } else { unary::<ToDegrees>(inputs) }
}
