//! The functions of items that conditions know, by all their names.
//!
//! Source: NumPy's names, and those of the array API standard beside them.

/// A function of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// NumPy's name.
    pub(super) name: &'static str,
    pub(super) arity: usize,
}

const UNARY: &[&str] = &[
    "absolute",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "bitwise_count",
    "invert",
    "cbrt",
    "ceil",
    "conjugate",
    "cos",
    "cosh",
    "deg2rad",
    "radians",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "isnat",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "rad2deg",
    "degrees",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "real",
    "imag",
    "modf_fraction",
    "modf_whole",
];
const BINARY: &[&str] = &[
    "add",
    "arctan2",
    "bitwise_and",
    "left_shift",
    "bitwise_or",
    "right_shift",
    "bitwise_xor",
    "copysign",
    "divide",
    "equal",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "lcm",
    "ldexp",
    "less",
    "less_equal",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "power",
    "remainder",
    "subtract",
];
/// Other names.
const ALIASES: &[(&str, &str)] = &[
    ("abs", "absolute"),
    ("acos", "arccos"),
    ("acosh", "arccosh"),
    ("asin", "arcsin"),
    ("asinh", "arcsinh"),
    ("atan", "arctan"),
    ("atanh", "arctanh"),
    ("atan2", "arctan2"),
    ("bitwise_invert", "invert"),
    ("bitwise_not", "invert"),
    ("bitwise_left_shift", "left_shift"),
    ("bitwise_right_shift", "right_shift"),
    ("conj", "conjugate"),
    ("true_divide", "divide"),
    ("mod", "remainder"),
    ("pow", "power"),
];
/// Functions that the package has and the engine has not, so that they are not taken for typing errors.
pub(super) const ELSEWHERE: &[&str] = &["frexp_mantissa", "frexp_exponent"];

/// The function of a name.
pub(super) fn function(name: &str) -> Option<Function> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| *name);
    let of = |names: &[&'static str], arity| {
        names.iter().find(|known| **known == name).map(|name| Function { name, arity })
    };
    of(UNARY, 1).or_else(|| of(BINARY, 2)).or_else(|| of(&["where"], 3))
}

impl Function {
    /// One of our own, by a name that there is.
    pub(super) fn known(name: &'static str, arity: usize) -> Self {
        Self { name, arity }
    }

    pub(super) fn is_comparison(self) -> bool {
        matches!(self.name, "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal")
    }

    pub(super) fn is_logical(self) -> bool {
        matches!(self.name, "logical_and" | "logical_or" | "logical_not")
    }

    pub(super) fn is_bitwise(self) -> bool {
        matches!(self.name, "bitwise_and" | "bitwise_or" | "bitwise_xor" | "invert")
    }

    /// As it is written between or before its operands.
    pub(super) fn sign(self) -> &'static str {
        match self.name {
            "bitwise_and" => "&",
            "bitwise_or" => "|",
            "bitwise_xor" => "^",
            "invert" => "~",
            "logical_and" => "and",
            "logical_or" => "or",
            "logical_not" => "not",
            other => other,
        }
    }

    /// The name of its loops.
    pub(super) fn kernel(self) -> &'static str {
        match self.name {
            "float_power" => "power",
            other => other,
        }
    }

    /// Whether NumPy has loops of complex numbers that the engine has not.
    pub(super) fn takes_complex(self) -> bool {
        let names = [
            "arccos",
            "arccosh",
            "arcsin",
            "arcsinh",
            "arctan",
            "arctanh",
            "cos",
            "cosh",
            "exp",
            "exp2",
            "expm1",
            "float_power",
            "log",
            "log10",
            "log1p",
            "log2",
            "power",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ];
        names.contains(&self.name)
    }

    /// Whether the result of half precision is the one of single precision.
    pub(super) fn is_exact_in_halves(self) -> bool {
        matches!(
            self.name,
            "absolute"
                | "fabs"
                | "negative"
                | "positive"
                | "sign"
                | "floor"
                | "ceil"
                | "trunc"
                | "rint"
                | "maximum"
                | "minimum"
                | "fmax"
                | "fmin"
                | "copysign"
                | "real"
                | "conjugate"
        )
    }
}

/// A comparison with its operands exchanged.
pub(crate) fn mirrored(name: &'static str) -> &'static str {
    match name {
        "less" => "greater",
        "less_equal" => "greater_equal",
        "greater" => "less",
        "greater_equal" => "less_equal",
        other => other,
    }
}
