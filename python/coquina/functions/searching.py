"""Where items are, and items by their indices, of arrays of any size.

In: arrays, expressions, views, datasets, NumPy arrays. Out: compressed arrays; lazy expressions where items
    are taken from what is not small.
Source: the Python array API standard, 2024.12, `nonzero`, `take` and `take_along_axis`; NumPy's `argwhere`,
    `flatnonzero` and `extract`.
Memory: some 64 MiB at a time; the indices that `take` is given.
"""

from __future__ import annotations

from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina.arrays import results
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import is_tiny, stored
from coquina.arrays.views import View
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.gathering import read_key
from coquina.expressions.nodes import Boxes
from coquina.functions import lines
from coquina.functions.lines import axis_of, chunks_of, growing, nbytes_of, row_regions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region, Shape

__all__ = ["argwhere", "extract", "flatnonzero", "nonzero", "take", "take_along_axis"]

_INDEX = np.dtype(np.int64)


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """Return the indices along each axis of the items that are not zero, in C order, as int64.

    Raises ValueError for an array without axes.

    >>> import coquina as cq
    >>> [found[:].tolist() for found in cq.nonzero([[0, 3], [4, 0]])]
    [[0, 1], [1, 0]]
    """
    source = source_of(x)
    ndim = len(source.shape)
    if nbytes_of(source) <= lines.WORK_BYTES or not ndim:
        return tuple([stored(found.astype(_INDEX, copy=False)) for found in np.nonzero(as_numpy(source))])
    with ExitStack() as stack:
        columns = [stack.enter_context(growing(_INDEX)) for _ in range(ndim)]
        for region, found in _hits(source):
            for column, part, indices in zip(columns, region, found, strict=True):
                column.push(indices + part.start)
    return tuple([column.array for column in columns])


def argwhere(a: Any, /) -> Array:
    """Return the indices of the items that are not zero, in C order: a row of int64 for each.

    >>> import coquina as cq
    >>> cq.argwhere([0, 3, 4])[:]
    array([[1],
           [2]])
    """
    source = source_of(a)
    if nbytes_of(source) <= lines.WORK_BYTES or not source.shape:
        return stored(np.argwhere(as_numpy(source)).astype(_INDEX, copy=False))
    with growing(_INDEX, row=(len(source.shape),)) as rows:
        for region, found in _hits(source):
            rows.push(np.stack(found, axis=1) + np.array([part.start for part in region]))
    return rows.array


def flatnonzero(a: Any, /) -> Array:
    """Return the indices, into all items in C order, of those that are not zero, as int64.

    >>> import coquina as cq
    >>> cq.flatnonzero([0, 3, 4])[:]
    array([1, 2])
    """
    source = source_of(a)
    if nbytes_of(source) <= lines.WORK_BYTES:
        return stored(np.flatnonzero(as_numpy(source)).astype(_INDEX, copy=False))
    start = 0
    with growing(_INDEX) as column:
        for region in row_regions(source, lines.WORK_BYTES):
            items = np.asarray(source[region])
            column.push(np.flatnonzero(items) + start)
            start += items.size
    return column.array


def _hits(source: Any) -> Iterator[tuple[Region, tuple[npt.NDArray[Any], ...]]]:
    """Yield regions in C order, and where in each of them items are not zero."""
    # As many indices as items, for each axis, may have to be kept.
    for region in row_regions(source, lines.WORK_BYTES, source.dtype.itemsize + 8 * len(source.shape)):
        yield region, np.nonzero(source[region])


def take(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int | None = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> Array | Expr:
    """Return the items of `x` at integer `indices` along `axis` (of all items in C order, if None).

    indices: of any shape, whose axes stand for `axis` in the result; negative ones count from the end.
    mode: what becomes of an index out of bounds: IndexError, or it wraps around, or it is clipped.

    Raises IndexError, in each mode, for an axis without items. Lazy for all but small arrays.
    Memory: the indices.

    >>> import coquina as cq
    >>> cq.take([5, 6, 7], [2, 0])[:]
    array([7, 5])
    """
    source, wanted = source_of(x), as_numpy(indices)
    if source.shape and wanted.size:
        length = prod(source.shape) if axis is None else source.shape[axis_of(axis, len(source.shape))]
        if not length:
            # NumPy never returns from mode="wrap" where another axis is empty too.
            raise IndexError("cannot take from an empty axis")
    if not source.shape or 0 in source.shape:
        return stored(np.asarray(np.take(as_numpy(source), wanted, axis=axis, mode=mode), source.dtype))
    if wanted.dtype.kind not in "iub" and wanted.size:
        raise TypeError(f"take: indices of {wanted.dtype} are not integers")
    flat = axis is None and len(source.shape) > 1
    axis = 0 if axis is None else axis_of(axis, len(source.shape))
    wanted = _in_bounds(wanted, prod(source.shape) if flat else source.shape[axis], mode)
    shape = wanted.shape if flat else (*source.shape[:axis], *wanted.shape, *source.shape[axis + 1 :])
    after = axis + wanted.ndim

    def read(region: Region) -> npt.NDArray[Any]:
        part = wanted[region[axis:after]]
        if flat:
            return _picked(source, np.unravel_index(part, source.shape))
        return _picked(source, (*region[:axis], part, *region[after:]))

    return _lazy("take", read, shape, source, x, indices)


def take_along_axis(x: Any, indices: Any, /, *, axis: int | None = -1) -> Array | Expr:
    """Return the items of `x` that `indices`, one for each item of the result, name along `axis`.

    indices: integers, as many axes as `x`; the lengths but that of `axis` broadcast with those of `x`.
    axis: of all items in C order, if None; `indices` then has one axis.

    Lazy for all but small arrays. Raises ValueError for another number of axes, IndexError for indices that
    are not integers and, when items are computed, for those out of bounds.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.take_along_axis([[5, 6], [8, 7]], np.array([[1], [0]]), axis=1)[:]
    array([[6],
           [8]])
    """
    source, wanted = source_of(x), source_of(indices)
    if axis is None or is_tiny(source, wanted):
        return stored(np.take_along_axis(as_numpy(source), as_numpy(wanted), axis))
    if len(source.shape) != len(wanted.shape):
        raise ValueError(f"take_along_axis: indices of {len(wanted.shape)} axes for {len(source.shape)}")
    if wanted.dtype.kind not in "iu":
        raise IndexError(f"take_along_axis: indices of {wanted.dtype} are not integers")
    at = axis_of(axis, len(source.shape))
    length = source.shape[at]
    alike = [
        wanted.shape[at] if dim == at else np.broadcast_shapes((own,), (its,))[0]
        for dim, (own, its) in enumerate(zip(source.shape, wanted.shape, strict=True))
    ]

    def read(region: Region) -> npt.NDArray[Any]:
        part = np.asarray(wanted[_within(region, wanted.shape)])
        whole = _within((*region[:at], slice(0, length), *region[at + 1 :]), source.shape)
        if prod([cut.stop - cut.start for cut in whole]) * source.dtype.itemsize <= lines.WORK_BYTES:
            return np.take_along_axis(np.asarray(source[whole]), part, at)
        # A line does not fit: single items are read.
        grid = np.ix_(*[range(cut.start, cut.stop) for cut in whole[:at]], [0],
                      *[range(cut.start, cut.stop) for cut in whole[at + 1 :]])  # fmt: skip
        return _picked(source, (*grid[:at], _in_bounds(part, length, "raise"), *grid[at + 1 :]))

    return _lazy("take_along_axis", read, tuple(alike), source, x, indices)


def extract(condition: Any, arr: Any) -> Array:
    """Return the items of `arr` in C order where `condition`, of as many items, is not zero.

    >>> import coquina as cq
    >>> cq.extract([True, False, True], [1, 2, 3])[:]
    array([1, 3])
    """
    source, chosen = source_of(arr), source_of(condition)
    if source.shape != chosen.shape or nbytes_of(source) <= lines.WORK_BYTES:
        return stored(np.extract(as_numpy(chosen), as_numpy(source)))
    with growing(source.dtype) as column:
        for region in row_regions(source, lines.WORK_BYTES):
            column.push(source[region][np.asarray(chosen[region]) != 0])
    return column.array


def _in_bounds(indices: npt.NDArray[Any], length: int, mode: str) -> npt.NDArray[np.int64]:
    """Return indices that count from the start. Raises IndexError for one out of bounds."""
    found = indices.astype(_INDEX)
    if mode == "wrap":
        return found % max(length, 1)
    if mode == "clip":
        return np.clip(found, 0, length - 1)
    if mode != "raise":
        raise ValueError(f"mode {mode!r}: not one of raise, wrap, clip")
    if found.size and not (-length <= found.min() and found.max() < length):
        worst = int(found.min() if found.min() < -length else found.max())
        raise IndexError(f"index {worst} is out of bounds for an axis of {length} items")
    return np.where(found < 0, found + length, found)


def _within(region: Region, shape: Shape) -> Region:
    """Return a region of a result as one of an operand whose axes of length 1 broadcast."""
    return tuple([slice(0, 1) if size == 1 else part for part, size in zip(region, shape, strict=True)])


def _picked(source: Any, key: Any) -> npt.NDArray[Any]:
    """Return `source[key]` for keys with arrays, which not every source takes."""
    dtype: np.dtype[Any] = source.dtype
    if isinstance(source, (np.ndarray, View)) or hasattr(source, "get_selection"):
        # Single items are NumPy's scalars, which have no byte order, and strings as long as they need to be.
        return np.asarray(cast("Any", source)[key], dtype)
    found = read_key(source.__getitem__, key, source.shape, dtype, chunks_of(source))
    return np.asarray(found, dtype)


def _lazy(
    name: str, read: Callable[[Region], npt.NDArray[Any]], shape: Shape, source: Any, *operands: Any
) -> Array | Expr:
    """Return what `read` gives: items that are read now if there are few, else an expression."""
    if is_tiny(source, *operands) and prod(shape) * source.dtype.itemsize <= results.EAGER_BYTES:
        return stored(read(tuple([slice(0, size) for size in shape])))
    return Expr(Boxes(name, read, shape, source.dtype, args=tuple([as_node(x) for x in operands])))
