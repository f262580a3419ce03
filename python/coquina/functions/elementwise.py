"""The functions of items, under the names of the Array API standard and those of NumPy.

In: arrays, expressions, views, datasets, NumPy arrays, Python scalars, lists; they broadcast. Out: an
    `Array`, computed at once, if all is small, else a lazy expression.
Source: the Array API standard 2024.12, "Element-wise functions"; NumPy decides dtypes and values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS, Function
from coquina.expressions.protocols import array_ufunc

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr


def unary(name: str, what: str) -> Callable[[Any], Array | Expr]:
    """Return the function of one operand of this name, which returns `what`."""
    function = FUNCTIONS[name]

    def call(
        x: Any, /, *, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> Array | Expr:
        if out is None and where is True and dtype is None:
            return evaluate(function, x)
        return _as_ufunc(function, (x,), {"out": out, "where": where, "dtype": dtype, "casting": casting})

    return _named(call, name, what)


def binary(name: str, what: str) -> Callable[[Any, Any], Array | Expr]:
    """Return the function of two operands of this name, which returns `what`."""
    function = FUNCTIONS[name]

    def call(
        x1: Any,
        x2: Any,
        /,
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Array | Expr:
        if out is None and where is True and dtype is None:
            return evaluate(function, x1, x2)
        return _as_ufunc(function, (x1, x2), {"out": out, "where": where, "dtype": dtype, "casting": casting})

    return _named(call, name, what)


def _as_ufunc(function: Function, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a function with what NumPy's ufuncs take by name."""
    if not isinstance(cast("Any", function.apply), np.ufunc):
        raise TypeError(f"{function.name}: no ufunc of NumPy, so it takes no 'out', 'where' and 'dtype'")
    out = options.pop("out")
    given: dict[str, Any] = {"out": out if isinstance(out, tuple) else (out,)} if out is not None else {}
    return array_ufunc(cast("Any", function.apply), "__call__", operands, {**options, **given})


def _named(call: Any, name: str, what: str) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {what}."
    return call


abs = unary("abs", "the absolute value of each item; of complex ones the magnitude")
absolute = abs
acos = unary("acos", "the angle whose cosine each item is, in radians")
arccos = acos
acosh = unary("acosh", "the number whose hyperbolic cosine each item is")
arccosh = acosh
asin = unary("asin", "the angle whose sine each item is, in radians")
arcsin = asin
asinh = unary("asinh", "the number whose hyperbolic sine each item is")
arcsinh = asinh
atan = unary("atan", "the angle whose tangent each item is, in radians")
arctan = atan
atanh = unary("atanh", "the number whose hyperbolic tangent each item is")
arctanh = atanh
bitwise_count = unary("bitwise_count", "how many bits of each integer's absolute value are set, as uint8")
bitwise_invert = unary("bitwise_invert", "each item with all bits inverted; of bool, the negation")
bitwise_not = invert = bitwise_invert
cbrt = unary("cbrt", "the cube root of each item")
ceil = unary("ceil", "the smallest whole number that is not less than each item, in its dtype")
conj = unary("conj", "the complex conjugate of each item")
conjugate = conj
cos = unary("cos", "the cosine of each item, an angle in radians")
cosh = unary("cosh", "the hyperbolic cosine of each item")
deg2rad = unary("deg2rad", "each angle in degrees, in radians")
radians = deg2rad
exp = unary("exp", "e to the power of each item")
exp2 = unary("exp2", "2 to the power of each item")
expm1 = unary("expm1", "`exp(x) - 1`, exact for small items too")
fabs = unary("fabs", "the absolute value of each real item, as a float")
floor = unary("floor", "the largest whole number that is not greater than each item, in its dtype")
imag = unary("imag", "the imaginary part of each item")
isfinite = unary("isfinite", "whether each item is neither infinite nor NaN")
isinf = unary("isinf", "whether each item is infinite")
isnan = unary("isnan", "whether each item is NaN")
isnat = unary("isnat", "whether each date or duration is NaT")
log = unary("log", "the natural logarithm of each item")
log10 = unary("log10", "the logarithm to base 10 of each item")
log1p = unary("log1p", "`log(1 + x)`, exact for small items too")
log2 = unary("log2", "the logarithm to base 2 of each item")
logical_not = unary("logical_not", "whether each item is zero")
negative = unary("negative", "each item with its sign changed")
positive = unary("positive", "each item as it is, copied")
rad2deg = unary("rad2deg", "each angle in radians, in degrees")
degrees = rad2deg
real = unary("real", "the real part of each item")
reciprocal = unary("reciprocal", "1 divided by each item")
rint = unary("rint", "the whole number nearest to each item, of two the even one, as a float")
sign = unary("sign", "-1, 0 or 1 by the sign of each item; of complex ones `x / abs(x)`")
signbit = unary("signbit", "whether each item has its sign bit set, as -0.0 has")
sin = unary("sin", "the sine of each item, an angle in radians")
sinh = unary("sinh", "the hyperbolic sine of each item")
spacing = unary("spacing", "the distance from each item to the next number")
sqrt = unary("sqrt", "the square root of each item; NaN for negative ones")
square = unary("square", "each item times itself")
tan = unary("tan", "the tangent of each item, an angle in radians")
tanh = unary("tanh", "the hyperbolic tangent of each item")
trunc = unary("trunc", "the whole number next to each item towards zero, in its dtype")

add = binary("add", "`x1 + x2`")
atan2 = binary("atan2", "the angle of the point (x2, x1), in radians from -pi to pi")
arctan2 = atan2
bitwise_and = binary("bitwise_and", "`x1 & x2`, bit by bit")
bitwise_left_shift = binary("bitwise_left_shift", "`x1 << x2`: bits moved up, zeros moved in")
left_shift = bitwise_left_shift
bitwise_or = binary("bitwise_or", "`x1 | x2`, bit by bit")
bitwise_right_shift = binary("bitwise_right_shift", "`x1 >> x2`: bits moved down, sign bits moved in")
right_shift = bitwise_right_shift
bitwise_xor = binary("bitwise_xor", "`x1 ^ x2`, bit by bit")
copysign = binary("copysign", "`x1` with the sign of `x2`")
divide = binary("divide", "`x1 / x2`, as floats where both are integers")
true_divide = divide
equal = binary("equal", "whether `x1 == x2`")
float_power = binary("float_power", "`x1 ** x2`, at least in double precision")
floor_divide = binary("floor_divide", "`x1 // x2`: the quotient rounded down; of integers by zero, 0")
fmax = binary("fmax", "the larger item of each pair; a number if one of them is NaN")
fmin = binary("fmin", "the smaller item of each pair; a number if one of them is NaN")
fmod = binary("fmod", "the remainder of `x1 / x2` with the sign of `x1`, as in C")
gcd = binary("gcd", "the greatest common divisor of each pair")
greater = binary("greater", "whether `x1 > x2`")
greater_equal = binary("greater_equal", "whether `x1 >= x2`")
heaviside = binary("heaviside", "0 where `x1` is negative, 1 where it is positive, `x2` where it is zero")
hypot = binary("hypot", "`sqrt(x1**2 + x2**2)` without overflow on the way")
lcm = binary("lcm", "the least common multiple of each pair")
ldexp = binary("ldexp", "`x1 * 2**x2`")
less = binary("less", "whether `x1 < x2`")
less_equal = binary("less_equal", "whether `x1 <= x2`")
logaddexp = binary("logaddexp", "`log(exp(x1) + exp(x2))` without overflow on the way")
logaddexp2 = binary("logaddexp2", "`log2(2**x1 + 2**x2)` without overflow on the way")
logical_and = binary("logical_and", "whether both items are other than zero")
logical_or = binary("logical_or", "whether an item is other than zero")
logical_xor = binary("logical_xor", "whether one item, and not the other, is other than zero")
maximum = binary("maximum", "the larger item of each pair; NaN if one of them is")
minimum = binary("minimum", "the smaller item of each pair; NaN if one of them is")
multiply = binary("multiply", "`x1 * x2`")
nextafter = binary("nextafter", "the number after `x1` on the way to `x2`")
not_equal = binary("not_equal", "whether `x1 != x2`")
pow = binary("pow", "`x1 ** x2`. Raises ValueError for integers to negative integer powers")
power = pow
remainder = binary("remainder", "`x1 % x2`: the remainder with the sign of `x2`; of integers by zero, 0")
mod = remainder
subtract = binary("subtract", "`x1 - x2`")

_POSITIVE, _RINT, _WHERE = FUNCTIONS["positive"], FUNCTIONS["rint"], FUNCTIONS["where"]


def where(condition: Any, x1: Any, x2: Any, /) -> Array | Expr:
    """Return the item of `x1` where `condition` is true, else that of `x2`."""
    return evaluate(_WHERE, condition, x1, x2)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array | Expr:
    """Return `x` with items below `min` raised to it, and then items above `max` lowered to that.

    min, max: numbers or arrays; None for no limit.
    """
    low, high = _within(x, min, -1), _within(x, max, 1)
    if low is None and high is None:
        return evaluate(_POSITIVE, x)
    if low is not None:
        x = maximum(x, low)
    return x if high is None else minimum(x, high)


def _within(x: Any, limit: Any, side: int) -> Any:
    """Return a limit, or None for a Python integer that no integer of the dtype of `x` is beyond."""
    if type(limit) is int and getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u"):
        limits = np.iinfo(x.dtype)
        if limit < limits.min if side < 0 else limit > limits.max:
            return None
    return limit


def round(x: Any, /, decimals: int = 0) -> Array | Expr:
    """Return each item rounded to so many decimals, of two as near to the even one, in its dtype."""
    if not hasattr(x, "dtype"):
        x = np.asarray(x)
    if decimals == 0 and x.dtype.kind in "fc":
        return evaluate(_RINT, x)
    if decimals >= 0 and x.dtype.kind in "iu":
        return evaluate(_POSITIVE, x)

    def rounded(items: Any) -> Any:
        return cast("Any", np).round(items, decimals)

    def resolve(types: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        return (types[0], rounded(np.empty(0, types[0])).dtype)

    return evaluate(Function("round", rounded, None, 1, resolve), x)


around = round


def fix(x: Any, /) -> Array | Expr:
    """Return the whole number next to each item towards zero, in its dtype; as `trunc`."""
    return trunc(x)


def modf(x: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return the fraction and the whole number that each item consists of, both with its sign."""
    return evaluate(FUNCTIONS["modf_fraction"], x), evaluate(FUNCTIONS["modf_whole"], x)


def frexp(x: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return numbers from 0.5 to 1, and integers, so that `x` is the first times 2 to the second."""
    return evaluate(FUNCTIONS["frexp_mantissa"], x), evaluate(FUNCTIONS["frexp_exponent"], x)


def divmod(x1: Any, x2: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return `x1 // x2` and `x1 % x2`."""
    return floor_divide(x1, x2), remainder(x1, x2)


__all__ = [
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
    "around",
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
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
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
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
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
    "round",
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
    "where",
]
