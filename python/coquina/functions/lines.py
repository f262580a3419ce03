"""Walks over an array in whole lines or in the order of its items, and arrays that grow as they are found.

In: what has `shape`, `dtype` and gives NumPy arrays for regions. Out: regions that cover every item once,
    within a budget of bytes (but one line, or one item, at least).
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.creation import asarray, new_array
from coquina.arrays.new_arrays import usual_options, written
from coquina.arrays.regions import Region, boxes
from coquina.arrays.results import stored
from coquina.indexing import lower

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.storage_options import Options

#: Of items that are worked on at once; sorting takes some four times as much in all.
WORK_BYTES = 64 << 20
#: How many bytes a growing array gathers before it compresses them.
GATHER_BYTES = 8 << 20

Shape = tuple[int, ...]


def budget_of(memory_limit: int | None) -> int:
    """Return how many bytes of items may be worked on at once if all may take `memory_limit` bytes."""
    if memory_limit is None:
        return WORK_BYTES
    if memory_limit <= 0:
        raise ValueError(f"memory_limit: {memory_limit} bytes is too little")
    return max(memory_limit // 4, 1)


def nbytes_of(x: Any) -> int:
    """Return the bytes of the items of `x`, decoded."""
    return prod(x.shape) * x.dtype.itemsize


def axis_of(axis: int, ndim: int) -> int:
    """Return an axis counted from the first. Raises what NumPy raises for one that is not there."""
    return np.lib.array_utils.normalize_axis_index(axis, ndim)


def chunks_of(x: Any) -> Shape:
    """Return the boxes that are best read at once: the chunks of `x`, or any that are not too large."""
    chunks: Any = getattr(x, "chunks", None)
    if isinstance(chunks, tuple) and len(cast("Shape", chunks)) == len(x.shape):
        return tuple([max(int(chunk), 1) for chunk in cast("Shape", chunks)])
    return (1,) * len(x.shape)


def line_regions(
    x: Any, axes: Collection[int], budget: int, item_bytes: int | None = None
) -> Iterator[Region]:
    """Yield regions that are whole along `axes` and take `budget` bytes at most, if a line does.

    Along the other axes they are of whole chunks where the budget allows that.
    """
    size = x.dtype.itemsize if item_bytes is None else item_bytes
    extents = [
        length if axis in axes else min(chunk, length)
        for axis, (length, chunk) in enumerate(zip(x.shape, chunks_of(x), strict=True))
    ]
    for axis in range(len(extents)):
        taken = prod(extents) * size
        if axis not in axes and taken > budget:
            extents[axis] = max(1, extents[axis] * budget // taken)
    return boxes(x.shape, tuple(extents), size, budget)


def row_regions(x: Any, budget: int, item_bytes: int | None = None) -> Iterator[Region]:
    """Yield regions in C order whose items follow each other in C order, too, of `budget` bytes at most."""
    shape: Shape = x.shape
    size = max(x.dtype.itemsize if item_bytes is None else item_bytes, 1)
    if not shape:
        yield ()
        return
    if 0 in shape:
        return
    cut = next(axis for axis in range(len(shape)) if prod(shape[axis + 1 :]) * size <= max(budget, size))
    rows = max(1, budget // (prod(shape[cut + 1 :]) * size))
    chunk = chunks_of(x)[cut]
    rows = rows // chunk * chunk if rows > chunk else rows
    whole = tuple([slice(0, length) for length in shape[cut + 1 :]])
    for lead in product(*map(range, shape[:cut])):
        fixed = tuple([slice(at, at + 1) for at in lead])
        for start in range(0, shape[cut], rows):
            yield (*fixed, slice(start, min(start + rows, shape[cut])), *whole)


def new_at(path: Path | None) -> Options:
    """Return the options of a new array in memory, or in the file `path`."""
    return usual_options(path)


def result(values: npt.NDArray[Any], path: Path | None = None) -> Array:
    """Return values as an array in memory, or in the file `path`."""
    return stored(values) if path is None else asarray(values, path=path)


def put(out: Array, region: Region, values: npt.NDArray[Any]) -> None:
    """Write the items of a region, within the commit that is open."""
    out.set_selection(lower(region, out.shape), np.asarray(values, out.dtype, order="C"))


class Line:
    """One line of a source along an axis, as a source of one axis."""

    def __init__(self, source: Any, axis: int, index: Shape) -> None:
        """`index`: where the line is along the other axes; what it says of `axis` does not count."""
        self._source = source
        self._axis = axis
        self._index = index
        self.shape: Shape = (source.shape[axis],)
        self.dtype: np.dtype[Any] = source.dtype
        self.chunks: Shape = (chunks_of(source)[axis],)

    def region(self, part: slice) -> Region:
        """Return the region of the source that a part of the line is."""
        return tuple(
            [part if axis == self._axis else slice(at, at + 1) for axis, at in enumerate(self._index)]
        )

    def __getitem__(self, region: Region) -> npt.NDArray[Any]:
        """Return the items of a part."""
        return np.asarray(self._source[self.region(region[0])]).ravel()


@contextmanager
def growing(dtype: npt.DTypeLike, *, row: Shape = (), path: Path | None = None) -> Generator[Column]:
    """Make a new array that grows by what is pushed to the column, and is complete when the statement ends.

    row: the shape of one row. An exception leaves no file.
    """
    column = Column(new_array((0, *row), np.dtype(dtype), new_at(path)))
    with written(column.array):
        yield column
        column.flush(0)


class Column:
    """An array that grows along its first axis by many pieces; made by `growing`."""

    def __init__(self, array: Array) -> None:
        """`array`: without rows as yet."""
        self.array = array
        self._pending: list[npt.NDArray[Any]] = []
        self._rows = 0
        self._row_bytes = max(array.itemsize * prod(array.shape[1:]), 1)

    def push(self, values: npt.NDArray[Any]) -> None:
        """Add rows."""
        self._pending.append(np.array(values, self.array.dtype))
        self._rows += len(values)
        if self._rows * self._row_bytes >= GATHER_BYTES:
            # Up to where a chunk ends, if one does, so that it is written once.
            over = (self.array.shape[0] + self._rows) % max(self.array.chunks[0], 1)
            self.flush(over if over < self._rows else 0)

    def flush(self, kept: int) -> None:
        """Write all rows but the last `kept`."""
        if not self._pending:
            return
        rows = np.concatenate(self._pending)
        if len(rows) > kept:
            self.array.append(rows[: len(rows) - kept])
        self._rows = kept
        self._pending = [rows[len(rows) - kept :]] if kept else []
