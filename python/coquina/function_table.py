"""The tables of functions: of items, of strings, and reductions; each function once, with all of its names.

In: nothing; no module is imported to read it. Out: rows, from which the ufuncs of expressions, the public
functions, the methods of arrays, their docstrings, stubs and the names of the package are made.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A function of items: the first of its names is that of the standard, and NumPy has it by all of them.

    returns: what the docstring says that it returns.
    """

    names: tuple[str, ...]
    arity: int
    returns: str


#: Functions of one operand.
_UNARY = (
    ("abs absolute", "the absolute value of each item; of complex ones the magnitude"),
    ("acos arccos", "the angle whose cosine each item is, in radians"),
    ("acosh arccosh", "the number whose hyperbolic cosine each item is"),
    ("asin arcsin", "the angle whose sine each item is, in radians"),
    ("asinh arcsinh", "the number whose hyperbolic sine each item is"),
    ("atan arctan", "the angle whose tangent each item is, in radians"),
    ("atanh arctanh", "the number whose hyperbolic tangent each item is"),
    ("bitwise_count", "how many bits of each integer's absolute value are set, as uint8"),
    ("bitwise_invert invert bitwise_not", "each item with all bits inverted; of bool, the negation"),
    ("cbrt", "the cube root of each item"),
    ("ceil", "the smallest whole number that is not less than each item, in its dtype"),
    ("conj conjugate", "the complex conjugate of each item"),
    ("cos", "the cosine of each item, an angle in radians"),
    ("cosh", "the hyperbolic cosine of each item"),
    ("deg2rad radians", "each angle in degrees, in radians"),
    ("exp", "e to the power of each item"),
    ("exp2", "2 to the power of each item"),
    ("expm1", "`exp(x) - 1`, exact for small items too"),
    ("fabs", "the absolute value of each real item, as a float"),
    ("floor", "the largest whole number that is not greater than each item, in its dtype"),
    ("imag", "the imaginary part of each item"),
    ("isfinite", "whether each item is neither infinite nor NaN"),
    ("isinf", "whether each item is infinite"),
    ("isnan", "whether each item is NaN"),
    ("isnat", "whether each date or duration is NaT"),
    ("log", "the natural logarithm of each item"),
    ("log10", "the logarithm to base 10 of each item"),
    ("log1p", "`log(1 + x)`, exact for small items too"),
    ("log2", "the logarithm to base 2 of each item"),
    ("logical_not", "whether each item is zero"),
    ("negative", "each item with its sign changed"),
    ("positive", "each item as it is, copied"),
    ("rad2deg degrees", "each angle in radians, in degrees"),
    ("real", "the real part of each item"),
    ("reciprocal", "1 divided by each item"),
    ("rint", "the whole number nearest to each item, of two the even one, as a float"),
    ("sign", "-1, 0 or 1 by the sign of each item; of complex ones `x / abs(x)`"),
    ("signbit", "whether each item has its sign bit set, as -0.0 has"),
    ("sin", "the sine of each item, an angle in radians"),
    ("sinh", "the hyperbolic sine of each item"),
    ("spacing", "the distance from each item to the next number"),
    ("sqrt", "the square root of each item; NaN for negative ones"),
    ("square", "each item times itself"),
    ("tan", "the tangent of each item, an angle in radians"),
    ("tanh", "the hyperbolic tangent of each item"),
    ("trunc", "the whole number next to each item towards zero, in its dtype"),
)

#: Functions of two operands.
_BINARY = (
    ("add", "`x1 + x2`"),
    ("atan2 arctan2", "the angle of the point (x2, x1), in radians from -pi to pi"),
    ("bitwise_and", "`x1 & x2`, bit by bit"),
    ("bitwise_left_shift left_shift", "`x1 << x2`: bits moved up, zeros moved in"),
    ("bitwise_or", "`x1 | x2`, bit by bit"),
    ("bitwise_right_shift right_shift", "`x1 >> x2`: bits moved down, sign bits moved in"),
    ("bitwise_xor", "`x1 ^ x2`, bit by bit"),
    ("copysign", "`x1` with the sign of `x2`"),
    ("divide true_divide", "`x1 / x2`, as floats where both are integers"),
    ("equal", "whether `x1 == x2`"),
    ("float_power", "`x1 ** x2`, at least in double precision"),
    ("floor_divide", "`x1 // x2`: the quotient rounded down; of integers by zero, 0"),
    ("fmax", "the larger item of each pair; a number if one of them is NaN"),
    ("fmin", "the smaller item of each pair; a number if one of them is NaN"),
    ("fmod", "the remainder of `x1 / x2` with the sign of `x1`, as in C"),
    ("gcd", "the greatest common divisor of each pair"),
    ("greater", "whether `x1 > x2`"),
    ("greater_equal", "whether `x1 >= x2`"),
    ("heaviside", "0 where `x1` is negative, 1 where it is positive, `x2` where it is zero"),
    ("hypot", "`sqrt(x1**2 + x2**2)` without overflow on the way"),
    ("lcm", "the least common multiple of each pair"),
    ("ldexp", "`x1 * 2**x2`"),
    ("less", "whether `x1 < x2`"),
    ("less_equal", "whether `x1 <= x2`"),
    ("logaddexp", "`log(exp(x1) + exp(x2))` without overflow on the way"),
    ("logaddexp2", "`log2(2**x1 + 2**x2)` without overflow on the way"),
    ("logical_and", "whether both items are other than zero"),
    ("logical_or", "whether an item is other than zero"),
    ("logical_xor", "whether one item, and not the other, is other than zero"),
    ("maximum", "the larger item of each pair; NaN if one of them is"),
    ("minimum", "the smaller item of each pair; NaN if one of them is"),
    ("multiply", "`x1 * x2`"),
    ("nextafter", "the number after `x1` on the way to `x2`"),
    ("not_equal", "whether `x1 != x2`"),
    ("pow power", "`x1 ** x2`. Raises ValueError for integers to negative integer powers"),
    ("remainder mod", "`x1 % x2`: the remainder with the sign of `x2`; of integers by zero, 0"),
    ("subtract", "`x1 - x2`"),
)

#: All of them.
ELEMENTWISE: tuple[Row, ...] = tuple(
    Row(tuple(names.split()), arity, returns)
    for arity, rows in ((1, _UNARY), (2, _BINARY))
    for names, returns in rows
)

#: The names of all of them.
ELEMENTWISE_NAMES: tuple[str, ...] = tuple(name for row in ELEMENTWISE for name in row.names)


class StringRow(NamedTuple):
    """A function of strings: of one operand, or of each string and of `sub`."""

    name: str
    arity: int
    returns: str


_OF_STRINGS = (
    ("capitalize", "each string with a capital first and small letters after it"),
    ("isalnum", "whether each string has letters and digits only, and at least one"),
    ("isalpha", "whether each string has letters only, and at least one"),
    ("isdecimal", "whether each string has decimal characters only, and at least one"),
    ("isdigit", "whether each string has digits only, and at least one"),
    ("islower", "whether all letters of each string are small, and there is one"),
    ("isnumeric", "whether each string has numeric characters only, and at least one"),
    ("isspace", "whether each string has white space only, and at least one"),
    ("istitle", "whether each word of each string starts with its only capital"),
    ("isupper", "whether all letters of each string are capitals, and there is one"),
    ("lower", "each string in small letters"),
    ("lstrip", "each string without white space in front"),
    ("rstrip", "each string without white space at the end"),
    ("str_len", "the number of characters of each string"),
    ("strip", "each string without white space around it"),
    ("swapcase", "each string with small letters for capitals and capitals for small letters"),
    ("title", "each string with a capital at the start of each word"),
    ("upper", "each string in capitals"),
)

_OF_TWO_STRINGS = (
    ("contains", "whether `sub` stands anywhere in each string"),
    ("count", "how often `sub` stands in each string, without overlap"),
    ("endswith", "whether each string ends with `sub`"),
    ("find", "where `sub` stands first in each string, -1 where it does not"),
    ("rfind", "where `sub` stands last in each string, -1 where it does not"),
    ("startswith", "whether each string starts with `sub`"),
)

#: Functions of strings, as `numpy.strings` has them; `contains` is ours.
STRINGS: tuple[StringRow, ...] = tuple(
    StringRow(name, arity, returns)
    for arity, rows in ((1, _OF_STRINGS), (2, _OF_TWO_STRINGS))
    for name, returns in rows
)


class ReductionRow(NamedTuple):
    """A reduction along axes, which arrays have as a method too.

    returns: what the docstring says that it returns. numbers: what its twin returns, which passes over NaN
    and has its name with "nan" in front; None for none.
    """

    name: str
    returns: str
    numbers: str | None


#: The reductions that are folds of the engine, with their twins.
REDUCTIONS: tuple[ReductionRow, ...] = (
    ReductionRow(
        "sum", "the sums along axes; integers wrap in 64 bits", "the sums along axes, with NaN as 0"
    ),
    ReductionRow(
        "prod", "the products along axes; integers wrap in 64 bits", "the products along axes, with NaN as 1"
    ),
    ReductionRow(
        "min",
        "the smallest items along axes, NaN where there is one",
        "the smallest numbers along axes; NaN, with a warning, where all are",
    ),
    ReductionRow(
        "max",
        "the largest items along axes, NaN where there is one",
        "the largest numbers along axes; NaN, with a warning, where all are",
    ),
    ReductionRow(
        "argmin",
        "the first place of the smallest item along an axis, or in the flat array",
        "the first place of the smallest number along an axis, or in the flat array, or raise ValueError",
    ),
    ReductionRow(
        "argmax",
        "the first place of the largest item along an axis, or in the flat array",
        "the first place of the largest number along an axis, or in the flat array, or raise ValueError",
    ),
    ReductionRow("any", "whether any item along axes is true", None),
    ReductionRow("all", "whether all items along axes are true", None),
    ReductionRow(
        "mean",
        "the means along axes, of integers as float64",
        "the means of the numbers along axes; NaN, with a warning, of none",
    ),
    ReductionRow("var", "the variances along axes", "the variances of the numbers along axes"),
    ReductionRow(
        "std", "the standard deviations along axes", "the standard deviations of the numbers along axes"
    ),
)

#: What all of them return, by their names.
REDUCTION_RETURNS: dict[str, str] = {
    **{row.name: row.returns for row in REDUCTIONS},
    **{f"nan{row.name}": row.numbers for row in REDUCTIONS if row.numbers is not None},
}
