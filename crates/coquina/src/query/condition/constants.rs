//! Values that the text of a condition spells, and what Python computes of numbers among them.
//!
//! Numbers alone stay numbers of no width: they take on the type of the column that they meet.

use std::cmp::Ordering;
use std::fmt;

use super::Result;
use crate::expr::text::{BinaryOp, CompareOp, TextError, TextErrorKind, UnaryOp};

/// Bits of the integers that powers and shifts may give.
const BITS_MAX: u128 = 1 << 12;

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number: its real part, and the other.
    Complex(f64, f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl fmt::Display for Constant {
    /// As Python shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Complex(real, imag) => write!(f, "({real:?}{imag:+?}j)"),
            Self::Text(value) => write!(f, "'{}'", value.escape_default()),
            Self::Bytes(value) => write!(f, "b'{}'", value.escape_ascii()),
        }
    }
}

/// A number by its kind; truth values are integers.
#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Int(value) => as_float(value),
            Self::Float(value) | Self::Complex(value, _) => value,
        }
    }

    fn parts(self) -> [f64; 2] {
        match self {
            Self::Complex(real, imag) => [real, imag],
            other => [other.float(), 0.0],
        }
    }
}

/// The float next to an integer.
pub(super) fn as_float(value: i128) -> f64 {
    value as f64
}

fn type_error(sentence: impl Into<String>) -> TextError {
    TextError::new(TextErrorKind::Type, sentence)
}

fn arithmetic(sentence: &str) -> TextError {
    TextError::new(TextErrorKind::Expression, sentence)
}

fn too_long() -> TextError {
    TextError::new(TextErrorKind::Expression, "an integer of more than 127 bits: constants have no more")
}

impl Constant {
    pub(super) fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_) | Self::Bytes(_))
    }

    fn number(&self) -> Option<Number> {
        match self {
            Self::Bool(value) => Some(Number::Int((*value).into())),
            Self::Int(value) => Some(Number::Int(*value)),
            Self::Float(value) => Some(Number::Float(*value)),
            Self::Complex(real, imag) => Some(Number::Complex(*real, *imag)),
            Self::Text(_) | Self::Bytes(_) => None,
        }
    }

    /// Python's name of its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Text(_) => "str",
            Self::Bytes(_) => "bytes",
        }
    }

    /// Whether Python takes it for true.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Complex(real, imag) => *real != 0.0 || *imag != 0.0,
            Self::Text(value) => !value.is_empty(),
            Self::Bytes(value) => !value.is_empty(),
        }
    }

    /// `-x` and the like.
    pub(super) fn unary(&self, op: UnaryOp) -> Result<Self> {
        let Some(number) = self.number() else {
            return Err(type_error(format!("{self} is text, which is not computed with")));
        };
        Ok(match (op, number) {
            (UnaryOp::Not, _) => Self::Bool(!self.truth()),
            (UnaryOp::Invert, Number::Int(value)) => match self {
                Self::Bool(value) => Self::Bool(!value),
                _ => Self::Int(!value),
            },
            (UnaryOp::Invert, _) => {
                return Err(type_error(format!("bad operand type for unary ~: '{}'", self.type_name())));
            }
            (UnaryOp::Minus, Number::Int(value)) => Self::Int(value.checked_neg().ok_or_else(too_long)?),
            (UnaryOp::Minus, Number::Float(value)) => Self::Float(-value),
            (UnaryOp::Minus, Number::Complex(real, imag)) => Self::Complex(-real, -imag),
            (UnaryOp::Plus, Number::Int(value)) => Self::Int(value),
            (UnaryOp::Plus, _) => self.clone(),
        })
    }

    /// `x + y` and the like.
    pub(super) fn binary(&self, op: BinaryOp, other: &Self) -> Result<Self> {
        let (Some(left), Some(right)) = (self.number(), other.number()) else {
            let shown = if self.is_number() { other } else { self };
            return Err(type_error(format!("{shown} is text, which is not computed with")));
        };
        let refused = || {
            let (left, right) = (self.type_name(), other.type_name());
            type_error(format!("unsupported operand type(s) for {}: '{left}' and '{right}'", op.sign()))
        };
        match (left, right) {
            (Number::Int(a), Number::Int(b)) => {
                let is_bool = matches!((self, other), (Self::Bool(_), Self::Bool(_)));
                match integers(op, a, b)? {
                    Self::Int(value)
                        if is_bool && matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) =>
                    {
                        Ok(Self::Bool(value != 0))
                    }
                    found => Ok(found),
                }
            }
            (Number::Complex(..), _) | (_, Number::Complex(..)) => {
                complexes(op, left.parts(), right.parts()).unwrap_or_else(|| Err(refused()))
            }
            _ => floats(op, left.float(), right.float()).unwrap_or_else(|| Err(refused())),
        }
    }

    /// `x < y` and the like.
    pub(super) fn compared(&self, op: CompareOp, other: &Self) -> Result<bool> {
        let order = match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            (Self::Bytes(_), _) | (_, Self::Bytes(_)) => {
                return Err(type_error(format!("{self} is not compared with {other}")));
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => return self.compared_numbers(op, other, a, b),
                _ if matches!(op, CompareOp::Equal | CompareOp::NotEqual) => None,
                _ => return Err(self.not_ordered(op, other)),
            },
        };
        Ok(holds(op, order))
    }

    fn not_ordered(&self, op: CompareOp, other: &Self) -> TextError {
        let (left, right) = (self.type_name(), other.type_name());
        type_error(format!("'{}' not supported between instances of '{left}' and '{right}'", sign_of(op)))
    }

    fn compared_numbers(&self, op: CompareOp, other: &Self, a: Number, b: Number) -> Result<bool> {
        if let (Number::Complex(..), _) | (_, Number::Complex(..)) = (a, b) {
            return match op {
                CompareOp::Equal => Ok(a.parts() == b.parts()),
                CompareOp::NotEqual => Ok(a.parts() != b.parts()),
                _ => Err(self.not_ordered(op, other)),
            };
        }
        let order = match (a, b) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Int(a), b) => compared_exactly(a, b.float()),
            (a, Number::Int(b)) => compared_exactly(b, a.float()).map(Ordering::reverse),
            (a, b) => a.float().partial_cmp(&b.float()),
        };
        Ok(holds(op, order))
    }

    /// Whether both are the same number or text, as Python has it.
    pub(super) fn equals(&self, other: &Self) -> bool {
        let is_bytes = |one: &Self| matches!(one, Self::Bytes(_));
        is_bytes(self) == is_bytes(other) && self.compared(CompareOp::Equal, other).unwrap_or(false)
    }
}

/// How an integer compares with a float, without rounding it.
pub(super) fn compared_exactly(a: i128, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 1.7e38;
    if b.is_nan() {
        return None;
    }
    if b >= LIMIT {
        return Some(Ordering::Less);
    }
    if b <= -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = b.floor();
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
    let order = a.cmp(&(whole as i128));
    Some(if order.is_eq() && whole < b { Ordering::Less } else { order })
}

/// Whether a comparison holds for values in this order; without one they are unequal.
pub(super) fn holds(op: CompareOp, order: Option<Ordering>) -> bool {
    match op {
        CompareOp::Equal => order == Some(Ordering::Equal),
        CompareOp::NotEqual => order != Some(Ordering::Equal),
        CompareOp::Less => order == Some(Ordering::Less),
        CompareOp::LessEqual => order.is_some_and(Ordering::is_le),
        CompareOp::Greater => order == Some(Ordering::Greater),
        CompareOp::GreaterEqual => order.is_some_and(Ordering::is_ge),
        CompareOp::In | CompareOp::NotIn | CompareOp::Is | CompareOp::IsNot => false,
    }
}

/// A comparison as it is written.
pub(super) fn sign_of(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "==",
        CompareOp::NotEqual => "!=",
        CompareOp::Less => "<",
        CompareOp::LessEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterEqual => ">=",
        CompareOp::In => "in",
        CompareOp::NotIn => "not in",
        CompareOp::Is => "is",
        CompareOp::IsNot => "is not",
    }
}

fn bit_length(value: i128) -> u128 {
    (128 - value.unsigned_abs().leading_zeros()).into()
}

fn check_bits(bits: u128) -> Result<()> {
    if bits > BITS_MAX {
        return Err(arithmetic(&format!("an integer of {bits} bits: at most {BITS_MAX} are taken")));
    }
    Ok(())
}

/// The quotient rounded down, and what is left.
fn divided_down(a: i128, b: i128) -> Result<(i128, i128)> {
    if b == 0 {
        return Err(arithmetic("division by zero"));
    }
    let quotient = a.checked_div(b).ok_or_else(too_long)?;
    let rest = a.checked_rem(b).ok_or_else(too_long)?;
    Ok(if rest != 0 && (rest < 0) != (b < 0) { (quotient - 1, rest + b) } else { (quotient, rest) })
}

fn integers(op: BinaryOp, a: i128, b: i128) -> Result<Constant> {
    let made = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide if b == 0 => return Err(arithmetic("division by zero")),
        BinaryOp::Divide => return Ok(Constant::Float(as_float(a) / as_float(b))),
        BinaryOp::FloorDivide => Some(divided_down(a, b)?.0),
        BinaryOp::Remainder => Some(divided_down(a, b)?.1),
        BinaryOp::Power if b < 0 => {
            return floats(op, as_float(a), as_float(b)).unwrap_or_else(|| Err(too_long()));
        }
        BinaryOp::Power => {
            check_bits(bit_length(a).saturating_mul(b.unsigned_abs()))?;
            u32::try_from(b).ok().and_then(|b| a.checked_pow(b))
        }
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::LeftShift | BinaryOp::RightShift if b < 0 => {
            return Err(TextError::new(TextErrorKind::Value, "negative shift count"));
        }
        BinaryOp::LeftShift => {
            check_bits(bit_length(a).saturating_add(b.unsigned_abs()))?;
            u32::try_from(b).ok().and_then(|b| 1_i128.checked_shl(b)).and_then(|factor| a.checked_mul(factor))
        }
        BinaryOp::RightShift => Some(a >> u32::try_from(b).unwrap_or(u32::MAX).min(127)),
        BinaryOp::MatrixMultiply => return Err(arithmetic("'@' is not an operator of items")),
    };
    made.map(Constant::Int).ok_or_else(too_long)
}

/// Nothing where floats have no such operator.
fn floats(op: BinaryOp, a: f64, b: f64) -> Option<Result<Constant>> {
    let by_zero = || Err(arithmetic("division by zero"));
    let made = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder if b == 0.0 => return Some(by_zero()),
        BinaryOp::Divide => a / b,
        BinaryOp::FloorDivide => {
            let rest = remainder(a, b);
            ((a - rest) / b).round_ties_even()
        }
        BinaryOp::Remainder => remainder(a, b),
        BinaryOp::Power if a == 0.0 && b < 0.0 => {
            return Some(Err(arithmetic("zero to a negative power")));
        }
        BinaryOp::Power if a < 0.0 && b.fract() != 0.0 => return complexes(op, [a, 0.0], [b, 0.0]),
        BinaryOp::Power => {
            let made = a.powf(b);
            if made.is_infinite() && a.is_finite() && b.is_finite() {
                return Some(Err(arithmetic("Result too large")));
            }
            made
        }
        _ => return None,
    };
    Some(Ok(Constant::Float(made)))
}

/// With the sign of the divisor.
fn remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else if rest == 0.0 {
        0.0_f64.copysign(b)
    } else {
        rest
    }
}

fn complexes(op: BinaryOp, a: [f64; 2], b: [f64; 2]) -> Option<Result<Constant>> {
    let (real, imag) = match op {
        BinaryOp::Add => (a[0] + b[0], a[1] + b[1]),
        BinaryOp::Subtract => (a[0] - b[0], a[1] - b[1]),
        BinaryOp::Multiply => (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]),
        BinaryOp::Divide => {
            let size = b[0] * b[0] + b[1] * b[1];
            if size == 0.0 {
                return Some(Err(arithmetic("division by zero")));
            }
            ((a[0] * b[0] + a[1] * b[1]) / size, (a[1] * b[0] - a[0] * b[1]) / size)
        }
        BinaryOp::Power if b == [0.0, 0.0] => (1.0, 0.0),
        BinaryOp::Power if a == [0.0, 0.0] && (b[0] < 0.0 || b[1] != 0.0) => {
            return Some(Err(arithmetic("zero to a negative or complex power")));
        }
        BinaryOp::Power if a == [0.0, 0.0] => (0.0, 0.0),
        BinaryOp::Power => {
            let (size, angle) = (a[0].hypot(a[1]), a[1].atan2(a[0]));
            let made = size.powf(b[0]) / (angle * b[1]).exp();
            let turned = angle * b[0] + b[1] * size.ln();
            (made * turned.cos(), made * turned.sin())
        }
        _ => return None,
    };
    Some(Ok(Constant::Complex(real, imag)))
}
