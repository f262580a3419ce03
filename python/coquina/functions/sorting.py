"""Sorting and searching in what is sorted, of arrays of any size.

In: arrays, expressions, views, datasets, NumPy arrays. Out: compressed arrays, in memory or in a file.
Source: the Python array API standard, 2024.12, "sorting functions" and `searchsorted`; NumPy decides the
    order of what the standard leaves open: NaN and NaT are the largest, complex numbers go by
    their real part first.
Memory: what fits is sorted by NumPy; lines along the axis that fit are sorted some at a time; a line that
    does not is sorted in runs that are merged (`runs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina.arrays.creation import new_array
from coquina.arrays.new_arrays import written
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import from_parts
from coquina.functions import lines
from coquina.functions.lines import (
    Line,
    axis_of,
    budget_of,
    line_regions,
    nbytes_of,
    new_at,
    put,
    result,
    row_regions,
)
from coquina.functions.runs import piece_items, sorted_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

__all__ = ["argsort", "searchsorted", "sort"]

#: So few values are searched for one by one in what is too large to be read.
_BISECTED = 256
#: Of these many items the place is found in memory.
_BISECTED_TO = 4096


def sort(
    x: Any,
    /,
    *,
    axis: int | None = -1,
    descending: bool = False,
    stable: bool = True,
    path: Path | None = None,
    memory_limit: int | None = None,
) -> Array:
    """Return the items of `x` sorted along `axis` (of all items in C order, if None).

    descending: the largest first, NaN before all others; equal items stay in their order all the same.
    stable: whether equal items stay in their order; they do in any case.
    path: the file to write; in memory, compressed, if None. Runs that do not fit lie beside it meanwhile.
    memory_limit: bytes that sorting may take, some 256 MiB by default.

    Raises AxisError for an axis that is not there.

    >>> import coquina as cq
    >>> cq.sort([3, 1, 2])[:]
    array([1, 2, 3])
    """
    del stable
    source = source_of(x)
    budget = budget_of(memory_limit)
    if nbytes_of(source) <= budget or not source.shape:
        return result(_sorted(as_numpy(source), axis, descending), path)
    return _by_lines(source, axis, _sorted, _How(descending, False, budget, path))


def argsort(
    x: Any,
    /,
    *,
    axis: int | None = -1,
    descending: bool = False,
    stable: bool = True,
    path: Path | None = None,
    memory_limit: int | None = None,
) -> Array:
    """Return the indices along `axis` (into all items in C order, if None) that sort `x`, as int64.

    The options are those of `sort`; the sort is stable in any case.

    descending, stable, path, memory_limit: see `sort`.

    >>> import coquina as cq
    >>> cq.argsort([3, 1, 2])[:]
    array([1, 2, 0])
    """
    del stable
    source = source_of(x)
    budget = budget_of(memory_limit)
    if nbytes_of(source) <= budget or not source.shape:
        return result(_order(as_numpy(source), axis, descending), path)
    return _by_lines(source, axis, _order, _How(descending, True, budget, path))


@dataclass(frozen=True, slots=True)
class _How:
    """How to sort what does not fit. numbered: row numbers are wanted, not items."""

    descending: bool
    numbered: bool
    budget: int
    path: Path | None


def _sorted(values: npt.NDArray[Any], axis: int | None, descending: bool) -> npt.NDArray[Any]:
    values = values.ravel() if axis is None else values
    at = -1 if axis is None else axis
    if not descending:
        return np.sort(values, axis=at, kind="stable")
    return np.flip(np.sort(np.flip(values, axis_of(at, values.ndim)), axis=at, kind="stable"), at)


def _order(values: npt.NDArray[Any], axis: int | None, descending: bool) -> npt.NDArray[Any]:
    values = values.ravel() if axis is None else values
    at = -1 if axis is None else axis
    if not descending:
        return np.argsort(values, axis=at, kind="stable").astype(np.int64, copy=False)
    flipped = np.argsort(np.flip(values, axis_of(at, values.ndim)), axis=at, kind="stable")
    return values.shape[at] - 1 - np.flip(flipped, at).astype(np.int64, copy=False)


def _by_lines(
    source: Any,
    axis: int | None,
    part: Callable[[npt.NDArray[Any], int | None, bool], npt.NDArray[Any]],
    how: _How,
) -> Array:
    """Return what `part` gives for lines that fit, and what merging gives for others."""
    shape, item_bytes = source.shape, source.dtype.itemsize + (8 if how.numbered else 0)
    dtype = np.dtype(np.int64) if how.numbered else source.dtype
    if axis is None:
        out = new_array((prod(shape),), dtype, new_at(how.path))
        with written(out):
            for place, values in _long_line(source, how):
                put(out, (place,), values)
        return out
    axis = axis_of(axis, len(shape))
    out = new_array(shape, dtype, new_at(how.path))
    with written(out):
        if shape[axis] * item_bytes <= how.budget:
            for region in line_regions(source, (axis,), how.budget, item_bytes):
                put(out, region, part(source[region], axis, how.descending))
            return out
        for index in np.ndindex(*shape[:axis], 1, *shape[axis + 1 :]):
            line = Line(source, axis, index)
            for place, values in _long_line(line, how):
                put(
                    out,
                    line.region(place),
                    values.reshape([-1 if at == axis else 1 for at in range(len(shape))]),
                )
    return out


def _long_line(source: Any, how: _How) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Yield where items of the result stand, and these items; the line is that of all items in C order."""
    length = prod(source.shape)
    items = piece_items(source.dtype, how.budget, numbered=how.numbered)
    regions = row_regions(source, items * source.dtype.itemsize)
    # The largest first is what is last of the reversed line: so equal items keep their order.
    turn = slice(None, None, -1 if how.descending else 1)
    ordered = reversed(list(regions)) if how.descending else regions
    pieces = (np.asarray(source[region]).ravel()[turn] for region in ordered)
    start = 0
    for values, numbers in sorted_blocks(
        pieces, length, source.dtype, how.budget, numbered=how.numbered, beside=how.path
    ):
        stop = start + len(values)
        found = values if not how.numbered else length - 1 - numbers if how.descending else numbers
        yield slice(length - stop, length - start) if how.descending else slice(start, stop), found[turn]
        start = stop


def searchsorted(
    x1: Any,
    x2: Any,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Any = None,
    path: Path | None = None,
) -> Array:
    """Return where in the sorted 1-d `x1` each value of `x2` would have to be inserted, as int64.

    side: "left": before the items that are equal to it; "right": behind them.
    sorter: indices that sort `x1`, which is then read whole.
    path: the file to write; in memory, compressed, if None.

    Memory: some 64 MiB of each operand. A few values are searched for in an `x1` of any size by reading
    some blocks of it only. Raises ValueError for an `x1` of another number of axes.

    >>> import coquina as cq
    >>> cq.searchsorted([1, 3, 5], [2, 5])[:]
    array([1, 2])
    """
    source, values = source_of(x1), source_of(x2)
    if len(source.shape) != 1:
        raise ValueError(f"searchsorted: x1 has {len(source.shape)} axes, not 1")
    if sorter is not None or nbytes_of(source) <= lines.WORK_BYTES:
        known = as_numpy(source)
        order = None if sorter is None else as_numpy(sorter)

        def find(wanted: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.asarray(np.searchsorted(known, wanted, side, order), np.int64)
    else:

        def find(wanted: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return search(source, wanted, side)

    if nbytes_of(values) <= lines.WORK_BYTES:
        return result(find(as_numpy(values)), path)
    return from_parts(values.shape, np.dtype(np.int64), lambda region: find(values[region]), path=path)


def search(source: Any, wanted: npt.NDArray[Any], side: Literal["left", "right"]) -> npt.NDArray[np.int64]:
    """Return what `np.searchsorted` would, of a sorted source that is read in parts."""
    found = np.zeros(wanted.shape, np.int64)
    if wanted.size <= _BISECTED:
        for index in np.ndindex(wanted.shape):
            found[index] = _bisected(source, wanted[(*index, None)], side)
        return found
    # How many items come before a value is how many do in each part.
    order = np.argsort(wanted, axis=None, kind="stable")
    ordered = wanted.ravel()[order]
    counts = np.zeros(ordered.shape, np.int64)
    for region in row_regions(source, lines.WORK_BYTES):
        counts += np.searchsorted(source[region], ordered, side)
    found.ravel()[order] = counts
    return found


def _bisected(source: Any, value: npt.NDArray[Any], side: Literal["left", "right"]) -> int:
    low, high = 0, source.shape[0]
    while high - low > _BISECTED_TO:
        middle = (low + high) // 2
        if np.searchsorted(source[middle : middle + 1], value, side)[0]:
            low = middle + 1
        else:
            high = middle
    return low + int(np.searchsorted(source[low:high], value, side)[0])
