"""Functions of items, evaluated: at once where all is small, else as lazy expressions.

In: a function and operands: arrays, expressions, views, datasets, Python and NumPy scalars, lists. Out: an
    array in memory, or an expression.
Invariant: items, dtype, shape and errors are the same either way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays import results
from coquina.arrays.operands import SCALAR_TYPES, nbytes_of, source_of
from coquina.expressions.functions import STRUCTURED, broadcast_shapes, call, quietly

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.functions import Function

_BOOL = np.dtype(np.bool_)
_AS_THEY_ARE = SCALAR_TYPES | {np.ndarray, np.str_, np.bytes_}


def evaluate(function: Function, *operands: Any) -> Array | Expr:
    """Return `function` of the operands: an array in memory if they are small, else an expression."""
    nbytes = 0
    shape = None
    is_mixed = False
    values: list[Any] = []
    for x in operands:
        if type(x) not in SCALAR_TYPES:
            if not hasattr(x, "nbytes"):
                x = source_of(x)
            nbytes += nbytes_of(x)
            is_mixed |= shape is not None and x.shape != shape
            shape = x.shape
        values.append(x)
    if nbytes > results.EAGER_BYTES or (is_mixed and _is_large(values)):
        from coquina.expressions.expression import Expr

        return Expr(call(function, *values))
    if function.name in STRUCTURED and any(getattr(x, "dtype", _BOOL).kind == "V" for x in values):
        function = STRUCTURED[function.name]
    values = [x if type(x) in _AS_THEY_ARE else x[...] for x in values]
    return results.stored(np.asarray(quietly(function.apply, *values)))


def _is_large(values: list[Any]) -> bool:
    """Whether operands of several shapes broadcast to more than is computed at once."""
    arrays = [x for x in values if type(x) not in SCALAR_TYPES]
    size = 1
    for length in broadcast_shapes([x.shape for x in arrays]):
        size *= length
    return size * max([x.dtype.itemsize for x in arrays]) > results.EAGER_BYTES
