"""Functions of items that are made of others: what is close, what NaN and infinities become, angles.

In: as the functions of `elementwise`. Out: an `Array`, computed at once, if all is small, else a lazy
    expression; `allclose` and `array_equal` give Python's bool.
Source: NumPy's functions of the same names, formula by formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.methods import namespace
from coquina.arrays.operands import source_of
from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS, Function

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr


def _of(name: str, *operands: Any) -> Any:
    return evaluate(FUNCTIONS[name], *operands)


def isclose(x1: Any, x2: Any, /, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array | Expr:
    """Return whether `abs(x1 - x2) <= atol + rtol * abs(x2)`; NaN is close to NaN if `equal_nan`.

    >>> import coquina as cq
    >>> cq.isclose([1.0, 2.0], [1.0, 2.1])[:]
    array([ True, False])
    """
    if type(x2) is int:
        x2 = float(x2)
    elif type(x2) not in (float, complex):
        x2 = source_of(x2)
        if x2.dtype.kind != "m":
            x2 = namespace().astype(x2, np.result_type(x2.dtype, 1.0), copy=False)
    distance = _of("absolute", _of("subtract", x1, x2))
    allowed = _of("add", atol, _of("multiply", rtol, _of("absolute", x2)))
    close = _of("bitwise_and", _of("less_equal", distance, allowed), _of("isfinite", x2))
    close = _of("bitwise_or", close, _of("equal", x1, x2))
    if equal_nan:
        close = _of("bitwise_or", close, _of("bitwise_and", _of("isnan", x1), _of("isnan", x2)))
    return close


def allclose(x1: Any, x2: Any, /, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all items are close, in the sense of `isclose`.

    x1, x2: what `asarray` takes; they broadcast. rtol, atol, equal_nan: see `isclose`. Returns a bool.

    >>> import coquina as cq
    >>> cq.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    """
    return bool(namespace().all(isclose(x1, x2, rtol, atol, equal_nan)))


def array_equal(x1: Any, x2: Any, /, equal_nan: bool = False) -> bool:
    """Whether both have the same shape and equal items; NaN equals NaN if `equal_nan`.

    x1, x2: what `asarray` takes. equal_nan: whether NaN equals NaN. Returns a bool.

    >>> import coquina as cq
    >>> cq.array_equal(cq.arange(3), [0, 1, 2])
    True
    """
    first, second = source_of(x1), source_of(x2)
    if first.shape != second.shape:
        return False
    same = _of("equal", first, second)
    if equal_nan and first.dtype.kind in "fcmM" and second.dtype.kind in "fcmM":
        same = _of("logical_or", same, _of("logical_and", _of("isnan", first), _of("isnan", second)))
    return bool(namespace().all(same))


def nan_to_num(
    x: Any, /, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, *, copy: bool = True
) -> Array | Expr:
    """Return `x` with numbers for NaN and the infinities: zero, the largest, and the most negative one.

    copy: as NumPy has it; the result is new in any case.

    nan, posinf, neginf: what stands for them; numbers.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nan_to_num([1.0, np.nan], nan=-1)[:]
    array([ 1., -1.])
    """
    x = source_of(x)
    kind = x.dtype.kind
    if kind == "c":

        def replaced(items: Any) -> Any:
            return np.nan_to_num(items, nan=nan, posinf=posinf, neginf=neginf)

        def resolve(_: Any) -> tuple[np.dtype[Any], ...]:
            return (x.dtype, x.dtype)

        return evaluate(Function("nan_to_num", replaced, None, 1, resolve), x)
    if kind != "f":
        return _of("positive", x) if kind != "b" else _of("logical_or", x, x)
    limits: Any = np.finfo(x.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    is_infinite = _of("isinf", x)
    finite = _of("where", is_infinite, _of("where", _of("signbit", x), low, high), x)
    return namespace().astype(_of("where", _of("isnan", x), nan, finite), x.dtype, copy=False)


def angle(z: Any, /, deg: bool = False) -> Array | Expr:
    """Return the angle of each complex number, in radians from -pi to pi, or in degrees.

    z: numbers of any kind. deg: degrees instead of radians. Returns floats of the same shape.

    >>> import coquina as cq
    >>> cq.angle([1, 1j], deg=True)[:]
    array([ 0., 90.])
    """
    angles = _of("arctan2", _of("imag", z), _of("real", z))
    return _of("multiply", angles, 180 / np.pi) if deg else angles


def iscomplex(x: Any, /) -> Array | Expr:
    """Return whether each item has an imaginary part other than zero.

    >>> import coquina as cq
    >>> cq.iscomplex([1 + 1j, 2])[:]
    array([ True, False])
    """
    return _of("not_equal", _of("imag", x), 0)


def isreal(x: Any, /) -> Array | Expr:
    """Return whether the imaginary part of each item is zero.

    >>> import coquina as cq
    >>> cq.isreal([1 + 1j, 2])[:]
    array([False,  True])
    """
    return _of("equal", _of("imag", x), 0)


__all__ = ["allclose", "angle", "array_equal", "isclose", "iscomplex", "isreal", "nan_to_num"]
