//! Functions that are more than a few instructions: exponentials, logarithms, angles, powers and roots.
//!
//! In: items of single or double precision. Out: as many, for doubles within one unit in the last place of the true
//! value, for singles nearly always the nearest one; at the borders as C99 and NumPy say. Naively: the functions of
//! the C library, item by item; here bodies without branches, which become vector code.
//! Invariant: every machine and level has the same bits.

mod apply;
mod degrees;
mod exponential;
mod hyperbolic;
mod inverse;
mod inverse_hyperbolic;
mod logarithm;
mod pair;
mod power;
mod reduction;
mod roots;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod trigonometric;

use super::Kernel;
use crate::types::Type;
use apply::{binary, unary};

/// A function's name, and what finds its loop for given types.
type Row = (&'static str, fn(&[Type]) -> Option<Kernel>);

const TABLE: [Row; 29] = [
    ("arccos", unary::<inverse::Arccos>),
    ("arccosh", unary::<inverse_hyperbolic::Arccosh>),
    ("arcsin", unary::<inverse::Arcsin>),
    ("arcsinh", unary::<inverse_hyperbolic::Arcsinh>),
    ("arctan", unary::<inverse::Arctan>),
    ("arctan2", binary::<inverse::Arctan2>),
    ("arctanh", unary::<inverse_hyperbolic::Arctanh>),
    ("cbrt", unary::<roots::Cbrt>),
    ("cos", unary::<trigonometric::Cos>),
    ("cosh", unary::<hyperbolic::Cosh>),
    ("deg2rad", degrees::to_radians),
    ("degrees", degrees::to_degrees),
    ("exp", unary::<exponential::Exp>),
    ("exp2", unary::<exponential::Exp2>),
    ("expm1", unary::<exponential::Expm1>),
    ("hypot", binary::<roots::Hypot>),
    ("log", unary::<logarithm::Log>),
    ("log10", unary::<logarithm::Log10>),
    ("log1p", unary::<logarithm::Log1p>),
    ("log2", unary::<logarithm::Log2>),
    ("logaddexp", binary::<sums::Logaddexp>),
    ("logaddexp2", binary::<sums::Logaddexp2>),
    ("power", binary::<power::Power>),
    ("rad2deg", degrees::to_degrees),
    ("radians", degrees::to_radians),
    ("sin", unary::<trigonometric::Sin>),
    ("sinh", unary::<hyperbolic::Sinh>),
    ("tan", unary::<trigonometric::Tan>),
    ("tanh", unary::<hyperbolic::Tanh>),
];

/// The functions here.
pub(super) const NAMES: &[&str] = &{
    let mut names = [""; TABLE.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = TABLE[at].0;
        at += 1;
    }
    names
};

/// The loop of `name` for these types, if there is one.
pub(super) fn kernel(name: &str, inputs: &[Type]) -> Option<Kernel> {
    TABLE.iter().find(|row| row.0 == name).and_then(|row| row.1(inputs))
}
