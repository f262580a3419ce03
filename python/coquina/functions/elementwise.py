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
from coquina.functions import ufuncs
from coquina.functions.ufuncs import floor_divide, maximum, minimum, remainder, trunc

from .ufuncs import *  # noqa: F403

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr


_POSITIVE, _RINT, _WHERE = FUNCTIONS["positive"], FUNCTIONS["rint"], FUNCTIONS["where"]


def where(condition: Any, x1: Any, x2: Any, /) -> Array | Expr:
    """Return the item of `x1` where `condition` is true, else that of `x2`.

    >>> import coquina as cq
    >>> cq.where([True, False], [1, 2], [3, 4])[:]
    array([1, 4])
    """
    return evaluate(_WHERE, condition, x1, x2)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array | Expr:
    """Return `x` with items below `min` raised to it, and then items above `max` lowered to that.

    min, max: numbers or arrays; None for no limit.

    >>> import coquina as cq
    >>> cq.clip([1, 5, 9], 2, 8)[:]
    array([2, 5, 8])
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
    """Return each item rounded to so many decimals, of two as near to the even one, in its dtype.

    >>> import coquina as cq
    >>> cq.round([1.25, 2.5], 1)[:]
    array([1.2, 2.5])
    """
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
    """Return the whole number next to each item towards zero, in its dtype; as `trunc`.

    >>> import coquina as cq
    >>> cq.fix([1.7, -1.7])[:]
    array([ 1., -1.])
    """
    return trunc(x)


def modf(x: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return the fraction and the whole number that each item consists of, both with its sign.

    >>> import coquina as cq
    >>> [part[:].tolist() for part in cq.modf([1.5, -2.25])]
    [[0.5, -0.25], [1.0, -2.0]]
    """
    return evaluate(FUNCTIONS["modf_fraction"], x), evaluate(FUNCTIONS["modf_whole"], x)


def frexp(x: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return numbers from 0.5 to 1, and integers, so that `x` is the first times 2 to the second.

    >>> import coquina as cq
    >>> [part[:].tolist() for part in cq.frexp([1.0, 6.0])]
    [[0.5, 0.75], [1, 3]]
    """
    return evaluate(FUNCTIONS["frexp_mantissa"], x), evaluate(FUNCTIONS["frexp_exponent"], x)


def divmod(x1: Any, x2: Any, /) -> tuple[Array | Expr, Array | Expr]:
    """Return `x1 // x2` and `x1 % x2`.

    >>> import coquina as cq
    >>> [part[:].tolist() for part in cq.divmod([7, 8], 3)]
    [[2, 2], [1, 2]]
    """
    return floor_divide(x1, x2), remainder(x1, x2)


__all__: list[str] = ["around", "clip", "divmod", "fix", "frexp", "modf", "round", "where"]
__all__ += ufuncs.__all__
