"""The functions of `function_table`, for type checkers; `tools/function_stub.py` writes it."""

from typing import Any, Protocol

from coquina.arrays.array import Array
from coquina.expressions.expression import Expr

class Unary(Protocol):
    """A function of one operand, with what NumPy's ufuncs take by name."""

    def __call__(
        self, x: Any, /, *, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> Array | Expr: ...

class Binary(Protocol):
    """A function of two operands, with what NumPy's ufuncs take by name."""

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Array | Expr: ...

abs: Unary
absolute: Unary
acos: Unary
acosh: Unary
add: Binary
arccos: Unary
arccosh: Unary
arcsin: Unary
arcsinh: Unary
arctan: Unary
arctan2: Binary
arctanh: Unary
asin: Unary
asinh: Unary
atan: Unary
atan2: Binary
atanh: Unary
bitwise_and: Binary
bitwise_count: Unary
bitwise_invert: Unary
bitwise_left_shift: Binary
bitwise_not: Unary
bitwise_or: Binary
bitwise_right_shift: Binary
bitwise_xor: Binary
cbrt: Unary
ceil: Unary
conj: Unary
conjugate: Unary
copysign: Binary
cos: Unary
cosh: Unary
deg2rad: Unary
degrees: Unary
divide: Binary
equal: Binary
exp: Unary
exp2: Unary
expm1: Unary
fabs: Unary
float_power: Binary
floor: Unary
floor_divide: Binary
fmax: Binary
fmin: Binary
fmod: Binary
gcd: Binary
greater: Binary
greater_equal: Binary
heaviside: Binary
hypot: Binary
imag: Unary
invert: Unary
isfinite: Unary
isinf: Unary
isnan: Unary
isnat: Unary
lcm: Binary
ldexp: Binary
left_shift: Binary
less: Binary
less_equal: Binary
log: Unary
log10: Unary
log1p: Unary
log2: Unary
logaddexp: Binary
logaddexp2: Binary
logical_and: Binary
logical_not: Unary
logical_or: Binary
logical_xor: Binary
maximum: Binary
minimum: Binary
mod: Binary
multiply: Binary
negative: Unary
nextafter: Binary
not_equal: Binary
positive: Unary
pow: Binary
power: Binary
rad2deg: Unary
radians: Unary
real: Unary
reciprocal: Unary
remainder: Binary
right_shift: Binary
rint: Unary
sign: Unary
signbit: Unary
sin: Unary
sinh: Unary
spacing: Unary
sqrt: Unary
square: Unary
subtract: Binary
tan: Unary
tanh: Unary
true_divide: Binary
trunc: Unary

__all__: list[str] = [  # noqa: RUF022
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "imag",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isnat",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]
