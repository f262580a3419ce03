"""Diagonals of arrays and their sums: NumPy's `diagonal` and `trace`.

In: an array of any kind with two axes or more. Out: a small compressed array at once, else a lazy expression.
Invariant: of large arrays only small squares along the diagonal are read.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.functions.layouts import is_few, lazy, lengths, nbytes_of, read_from

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region

#: What a square may take with all that stands beside it.
_SQUARE_BYTES = 4 << 20
#: The longest side of a square; of more, most items would be read for nothing.
_SIDE = 64


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array | Expr:
    """Return the items of `x` whose places along two axes are `i` and `i + offset`, along a new last axis.

    offset: above the main one if positive. axis1, axis2: the two axes. As `numpy.diagonal`.

    >>> import coquina as cq
    >>> cq.diagonal([[1, 2], [3, 4]])[:]
    array([1, 4])
    """
    source = source_of(x)
    # Of one byte, repeated: only shapes are looked at.
    probe = np.diagonal(np.broadcast_to(np.uint8(0), source.shape), offset, axis1, axis2)
    if is_few(nbytes_of([source])):
        return stored(np.diagonal(as_numpy(source), offset, axis1, axis2))
    ndim = len(source.shape)
    axes = (normalize_axis_index(axis1, ndim), normalize_axis_index(axis2, ndim))
    starts = (max(0, -offset), max(0, offset))
    return lazy("diagonal", partial(_read, source, axes, starts), probe.shape, source.dtype, [source])


def _read(source: Any, axes: tuple[int, int], starts: tuple[int, int], region: Region) -> npt.NDArray[Any]:
    part = region[-1]
    out = np.empty(lengths(region), source.dtype)
    beside = prod(out.shape[:-1]) * out.itemsize
    side = min(_SIDE, max(1, isqrt(_SQUARE_BYTES // max(1, beside))))
    edges = [*range(part.start, part.stop, side), part.stop]
    for start, stop in pairwise(edges):
        wanted = list(region[:-1])
        for axis, first in sorted(zip(axes, starts, strict=True)):
            wanted.insert(axis, slice(first + start, first + stop))
        items = np.diagonal(read_from(source, tuple(wanted)), 0, *axes)
        out[..., start - part.start : stop - part.start] = items
    return out


def trace(
    x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dtype: npt.DTypeLike | None = None
) -> Any:
    """Return the sums of a diagonal, as NumPy does: small integers are summed up as 64-bit ones.

    x: what `asarray` takes. offset, axis1, axis2: see `diagonal`. dtype: of the sums. As `numpy.trace`.

    >>> import coquina as cq
    >>> cq.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    items = as_numpy(diagonal(x, offset, axis1, axis2))
    return np.sum(items, axis=-1, dtype=dtype)


__all__ = ["diagonal", "trace"]
