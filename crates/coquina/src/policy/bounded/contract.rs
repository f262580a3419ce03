//! What is promised of lossy items: one bound, and by which means it is to be held.
//!
//! In: a bound and the dtype of an array. Out: a contract that fits it, or the reason why none can be.
//! Source: `docs/guide/lossy.md`.

use super::items::Items;
use super::lattice::{floor_log2, power_of_two};
use super::measure::Measured;
use super::round::Rule;
use crate::base::error::{Error, Result};

/// How much may be lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// No item is further than this from what was given.
    MaxError(f64),
    /// No item is further than this part of itself from what was given.
    RelativeError(f64),
    /// The peak signal-to-noise ratio is at least so many decibels, in each chunk: the peak is the distance of the least
    /// and the greatest number that are written to it.
    Psnr(f64),
    /// So many bits of the mantissa, or of an integer, are kept; the last of them is rounded.
    KeepBits(u32),
    /// Items take so many times the bytes of their chunk, if that can be; with as little loss as gives it.
    Ratio(f64),
}

/// How chunks are made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossyMethod {
    /// Numbers are rounded, then coded without loss.
    Round,
    /// The filters `trunc_prec` and `int_trunc` of Blosc2, then as they are.
    Trunc,
    /// The ZFP codecs.
    Zfp,
    /// The codec `predict`.
    Predict,
    /// The codec of images `j2k`, a plugin.
    J2k,
    /// The codec of images `htj2k`, a plugin.
    Htj2k,
}

/// The names of bounds, as users write them and records have them.
const BOUNDS: [&str; 5] = ["max_error", "relative_error", "psnr", "keep_bits", "ratio"];
/// More decibels than the mantissa of any number has.
const PSNR_MAX: f64 = 400.0;

impl Bound {
    /// The bound of that name with this value.
    ///
    /// # Errors
    /// `Invalid` for a name that is none, or a value that cannot be.
    pub fn of(name: &str, value: f64) -> Result<Self> {
        let within = |allowed: bool, what: &str| {
            if allowed { Ok(()) } else { Err(Error::invalid(format!("{name} {value}: takes {what}"))) }
        };
        match name {
            "max_error" => {
                within(value > 0.0 && value.is_finite(), "a finite distance above 0")?;
                Ok(Self::MaxError(value))
            }
            "relative_error" => {
                within(value > 0.0 && value < 1.0, "a part of the number, above 0 and below 1")?;
                Ok(Self::RelativeError(value))
            }
            "psnr" => {
                within(value > 0.0 && value <= PSNR_MAX, "decibels above 0, up to 400")?;
                Ok(Self::Psnr(value))
            }
            "keep_bits" => {
                let bits = (1..=64).find(|&bits| f64::from(bits) == value);
                within(bits.is_some(), "a whole number of bits, 1 to 64")?;
                Ok(Self::KeepBits(bits.unwrap_or(64)))
            }
            "ratio" => {
                within(value >= 1.0 && value.is_finite(), "a number from 1 on")?;
                Ok(Self::Ratio(value))
            }
            _ => {
                let names = BOUNDS.join(", ");
                Err(Error::invalid(format!("bound {name:?}: takes one of {names}")))
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        BOUNDS[match self {
            Self::MaxError(_) => 0,
            Self::RelativeError(_) => 1,
            Self::Psnr(_) => 2,
            Self::KeepBits(_) => 3,
            Self::Ratio(_) => 4,
        }]
    }

    /// Its value.
    pub fn value(&self) -> f64 {
        match *self {
            Self::MaxError(value) | Self::RelativeError(value) | Self::Psnr(value) | Self::Ratio(value) => {
                value
            }
            Self::KeepBits(bits) => f64::from(bits),
        }
    }
}

impl LossyMethod {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Round, Self::Trunc, Self::Zfp, Self::Predict, Self::J2k, Self::Htj2k];

    /// The name that users write; of codecs of images, theirs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Trunc => "trunc",
            Self::Zfp => "zfp",
            Self::Predict => "predict",
            Self::J2k => "j2k",
            Self::Htj2k => "htj2k",
        }
    }

    /// The means of that name.
    ///
    /// # Errors
    /// `Invalid` if there is none.
    pub fn of(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid(format!("method {name:?}: takes one of {names}, or none to choose"))
        })
    }

    /// Whether it can hold such a bound.
    fn holds(self, bound: &Bound) -> bool {
        match self {
            Self::Round => true,
            Self::Trunc => !matches!(bound, Bound::Psnr(_) | Bound::Ratio(_)),
            Self::Predict => matches!(bound, Bound::MaxError(_)),
            Self::Zfp | Self::J2k | Self::Htj2k => {
                !matches!(bound, Bound::RelativeError(_) | Bound::KeepBits(_))
            }
        }
    }
}

/// A bound on the items of one array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contract {
    bound: Bound,
    method: Option<LossyMethod>,
    pub(super) items: Items,
}

impl Contract {
    /// A contract on items of NumPy's dtype of this text; with these means, or by those that suit each chunk.
    ///
    /// # Errors
    /// `Invalid` for items that cannot be rounded, and for means that cannot hold the bound.
    pub fn new(bound: Bound, method: Option<LossyMethod>, dtype: &str) -> Result<Self> {
        let items = Items::of(dtype)?;
        if let Bound::KeepBits(bits) = bound
            && bits > items.bits()
        {
            let (most, what) = (items.bits(), if items.is_float() { "mantissas" } else { "integers" });
            return Err(Error::invalid(format!("keep_bits {bits}: {what} of dtype {dtype} have {most}")));
        }
        if let Some(method) = method {
            let name = method.name();
            if !method.holds(&bound) {
                let bound = bound.name();
                return Err(Error::invalid(format!("method {name:?}: cannot hold {bound}; \"round\" can")));
            }
            let knows = match method {
                LossyMethod::Round => true,
                LossyMethod::Trunc => items.are_truncated(),
                LossyMethod::Zfp | LossyMethod::Predict => items.are_transformed(),
                LossyMethod::J2k | LossyMethod::Htj2k => items.are_samples(),
            };
            if !knows {
                let what = match method {
                    LossyMethod::Zfp | LossyMethod::Predict => "little-endian float32 and float64",
                    LossyMethod::J2k | LossyMethod::Htj2k => "little-endian integers of 8 and 16 bits",
                    _ => "little-endian integers, float32 and float64",
                };
                return Err(Error::invalid(format!("method {name:?}: dtype {dtype}: takes {what}")));
            }
        }
        Ok(Self { bound, method, items })
    }

    /// The bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The means that are to be used, if the user chose.
    pub fn method(&self) -> Option<LossyMethod> {
        self.method
    }

    /// Whether even a value that costs nothing to store is rounded: the bound says what numbers look like, and not only
    /// how far they may be off.
    pub(crate) fn rounds_all(&self) -> bool {
        matches!(self.bound, Bound::KeepBits(_))
    }

    /// Whether the bound holds.
    pub(super) fn holds(&self, measured: &Measured) -> bool {
        match self.bound {
            Bound::MaxError(limit) => measured.max_error <= limit,
            // An infinite error of what has no size is no part of it, and must not pass for none.
            Bound::RelativeError(limit) => {
                measured.relative_error <= limit && measured.max_error < f64::INFINITY
            }
            Bound::Psnr(psnr) => measured.holds_psnr(psnr),
            Bound::KeepBits(_) | Bound::Ratio(_) => measured.max_error < f64::INFINITY,
        }
    }

    /// How far a number may be off, where the bound is one on distances: of a complex number, each of the two.
    pub(super) fn limit(&self) -> f64 {
        match self.bound {
            Bound::MaxError(limit) if self.items.is_complex => {
                (limit * std::f64::consts::FRAC_1_SQRT_2).next_down()
            }
            Bound::MaxError(limit) => limit,
            _ => f64::INFINITY,
        }
    }

    /// How numbers are rounded, where the bound alone says it: in these ways, of which the best is taken.
    pub(super) fn rules(&self) -> Vec<Rule> {
        match self.bound {
            Bound::MaxError(_) => {
                let (limit, items) = (self.limit(), self.items);
                [Some(Rule::within(limit, items)), Rule::steps(limit, items)].into_iter().flatten().collect()
            }
            Bound::RelativeError(limit) => vec![Rule::Relative { bits: relative_bits(limit), limit }],
            Bound::KeepBits(bits) => vec![Rule::Bits(bits)],
            Bound::Psnr(_) | Bound::Ratio(_) => Vec::new(),
        }
    }
}

/// The fewest bits behind the leading one with which rounding is off by at most this part: `1 / (2^(bits + 1) + 1)`
/// of a number that lies halfway between two.
fn relative_bits(limit: f64) -> u32 {
    let worst = |bits: i32| 1.0 / (power_of_two(bits + 1) + 1.0);
    let bits = (0..64).find(|&bits| worst(bits) <= limit);
    bits.and_then(|bits| u32::try_from(bits).ok()).unwrap_or(64)
}

/// The most low bits of an integer that can be anything, if no number may move further than this by losing them.
pub(super) fn free_bits(limit: f64) -> u32 {
    if limit < 1.0 { 0 } else { u32::try_from(floor_log2(limit + 1.0)).unwrap_or(0) }
}
