"""Operands of functions on arrays: what they are read as, and how large they are.

In: `Array`s, lazy expressions, views, datasets, NumPy arrays, scalars, lists. Out: what gives their items,
    or these as NumPy arrays.
Invariant: what is read whole fits in memory.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.memory import check_memory

if TYPE_CHECKING:
    import numpy.typing as npt

#: Types whose values are operands as they are: they have no axes.
SCALAR_TYPES = frozenset((bool, int, float, complex, str, bytes))


def nbytes_of(x: Any) -> int:
    """Return how many bytes the items have, 0 for scalars and lists."""
    nbytes = getattr(x, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return prod(x.shape) * x.dtype.itemsize
    return 0


def as_numpy(x: Any) -> npt.NDArray[Any]:
    """Return all items as a NumPy array. Raises MemoryError for what is too large."""
    if isinstance(x, np.ndarray):
        return cast("npt.NDArray[Any]", x)
    source = source_of(x)
    if isinstance(source, np.ndarray):
        return cast("npt.NDArray[Any]", source)
    check_memory(int(np.prod(source.shape, dtype=object)) * source.dtype.itemsize, "the operand")
    return np.asarray(source[...])


def source_of(x: Any) -> Any:
    """Return what has the shape, the dtype and, for regions, the items of `x` as NumPy arrays.

    That is `x` itself if it is an array, an expression, a view, or a dataset; else a NumPy array of it. What
    has an `array_operand` is read as that: its items could be masked, and masks are lost in arrays.
    """
    x = getattr(x, "array_operand", x)
    is_array = isinstance(getattr(x, "dtype", None), np.dtype) and hasattr(x, "shape")
    return np.asarray(cast("Any", x)) if isinstance(x, np.generic) or not is_array else x
