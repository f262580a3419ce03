"""`reshape`: the items of an array, in C order, in another shape.

In: an array of any kind and a shape of as many items. Out: a small compressed array at once, else a lazy
    expression.
Invariant: axes that stay are read as they are asked for. Among axes that are merged or split, a region is
    some runs of the flat items; runs that lie close are read together, each as few boxes of the source.
Memory: the region, and `_WINDOW_BYTES` of the source or, where it is more, one run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.functions.layouts import (
    chunks_of,
    is_few,
    lazy,
    lengths,
    nbytes_of,
    read_from,
    rearranged,
    stored_as,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region, Shape
    from coquina.storage_options import StorageOptions

#: Read at once, though not all of it is asked for.
_WINDOW_BYTES = 8 << 20
#: Not worth a read of its own: about a block.
_GAP_BYTES = 64 << 10
#: The boxes that are proposed for reading are at most so large.
_CHUNK_BYTES = 32 << 20

Order = Literal["C", "F", "A"]


def reshape(
    x: Any,
    /,
    shape: int | tuple[int, ...],
    *,
    order: Order = "C",
    copy: bool | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array | Expr:
    """Give an array a new shape with the same number of elements.

    shape: lengths of the axes; one may be -1 and follows from the others.
    order: "C" reads and places elements with the last axis changing fastest, "F" with the first; "A" is "C".
    copy: False returns an expression that reads `x` when it is read itself, also if `x` is small; True and
        None decide by size.
    path, storage: with a path or an option of `asarray`, the result is an `Array` stored accordingly.

    Raises ValueError if the number of elements differs.

    >>> import coquina as cq
    >>> cq.reshape(cq.arange(6), (2, -1))[:]
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    return stored_as(reshape, _in_shape(x, shape, order, copy), path, storage)


def _in_shape(x: Any, shape: int | tuple[int, ...], order: Order, copy: bool | None) -> Array | Expr:
    source = source_of(x)
    if order == "F":
        turned = reshape(
            rearranged("transpose", source, np.transpose), _resolved(source, shape)[::-1], copy=copy
        )
        return rearranged("transpose", turned, np.transpose)
    if order not in ("C", "A"):
        raise ValueError(f"order must be one of 'C', 'F', or 'A' (got '{order}')")
    if copy is not False and is_few(nbytes_of([source])):
        return stored(as_numpy(source).reshape(shape))
    return _reshaped(source, _resolved(source, shape))


def ravel(x: Any, /, order: Order = "C") -> Array | Expr:
    """Return the items of `x` along one axis, in C order or, for "F", in Fortran's.

    >>> import coquina as cq
    >>> cq.ravel([[1, 2], [3, 4]])[:]
    array([1, 2, 3, 4])
    """
    return reshape(x, (-1,), order=order)


def _resolved(source: Any, shape: int | tuple[int, ...]) -> Shape:
    """Return the shape as NumPy understands it, or raise what it raises."""
    # Of one byte each, and no memory: only its shape is looked at.
    strides = (0,) * len(source.shape)
    return np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), source.shape, strides).reshape(shape).shape


def _reshaped(source: Any, shape: Shape) -> Expr:
    groups = _groups(source.shape, shape)
    cut = chunks_of(source)
    itemsize = max(1, source.dtype.itemsize)
    chunks = None if cut is None else _proposed(groups, cut, itemsize)
    return lazy("reshape", partial(_read, source, groups), shape, source.dtype, [source], chunks)


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring axes of source and result that have as many items: one became several, or the reverse."""

    source_axes: slice
    source_shape: Shape
    result_axes: slice
    result_shape: Shape

    @property
    def is_plain(self) -> bool:
        """Whether it is one axis that stays."""
        return self.source_shape == self.result_shape and len(self.source_shape) == 1


def _groups(source: Shape, result: Shape) -> list[_Group]:
    """Cut both shapes where the products of lengths meet, as early as possible."""
    if 0 in source:
        return [_Group(slice(0, len(source)), source, slice(0, len(result)), result)]
    groups: list[_Group] = []
    i = j = 0
    while i < len(source) or j < len(result):
        i_stop, j_stop = min(i + 1, len(source)), min(j + 1, len(result))
        ours, theirs = prod(source[i:i_stop]), prod(result[j:j_stop])
        while ours != theirs:
            if ours < theirs:
                ours *= source[i_stop]
                i_stop += 1
            else:
                theirs *= result[j_stop]
                j_stop += 1
        groups.append(_Group(slice(i, i_stop), source[i:i_stop], slice(j, j_stop), result[j:j_stop]))
        i, j = i_stop, j_stop
    return groups


@dataclass(frozen=True, slots=True)
class _Window:
    """Flat items `start` up to `stop` of a group, of which the region takes those at `taken`, all for None.

    into: the flat items of the region's part of the group that they are.
    """

    into: slice
    start: int
    stop: int
    taken: npt.NDArray[np.int64] | None


def _read(source: Any, groups: list[_Group], region: Region) -> npt.NDArray[Any]:
    sizes = [prod(lengths(region[group.result_axes])) for group in groups]
    if not prod(sizes):
        return np.empty(lengths(region), source.dtype)
    budget = _WINDOW_BYTES // max(1, source.dtype.itemsize)
    gap = _GAP_BYTES // max(1, source.dtype.itemsize)
    windows: list[list[_Window]] = []
    for number, group in enumerate(groups):
        # What the other groups take of the budget.
        others = prod(sizes[:number]) * prod(sizes[number + 1 :])
        windows.append(list(_windows(group, region[group.result_axes], gap, budget // others)))
    if all(len(its) == 1 for its in windows):
        return _read_windows(source, groups, [its[0] for its in windows]).reshape(lengths(region))
    out = np.empty(sizes, source.dtype)
    for box in product(*windows):
        out[tuple([window.into for window in box])] = _read_windows(source, groups, box)
    return out.reshape(lengths(region))


def _read_windows(source: Any, groups: list[_Group], box: Sequence[_Window]) -> npt.NDArray[Any]:
    """Return what the region takes of one window of each group, one axis for each group."""
    items = _read_box(source, groups, box)
    for axis, window in enumerate(box):
        if window.taken is not None:
            items = items.take(window.taken - window.start, axis)
    return items


def _windows(group: _Group, region: Region, gap: int, budget: int) -> Iterator[_Window]:
    """Yield the flat items of a group that a region takes, those together that lie close."""
    if group.is_plain:
        yield _Window(slice(0, region[0].stop - region[0].start), region[0].start, region[0].stop, None)
        return
    starts, length = _runs(group.result_shape, region)
    # A run is read with the next one if little is between them, up to the budget.
    first = 0
    for number in range(1, len(starts) + 1):
        if number < len(starts):
            is_close = starts[number] - starts[number - 1] - length <= gap
            if is_close and starts[number] + length - starts[first] <= budget:
                continue
        begins = starts[first:number]
        taken = None if number - first == 1 else (begins[:, None] + np.arange(length)).ravel()
        stop = int(begins[-1]) + length
        yield _Window(slice(first * length, number * length), int(begins[0]), stop, taken)
        first = number


def _runs(shape: Shape, region: Region) -> tuple[npt.NDArray[np.int64], int]:
    """Return where in the flat items of `shape` the runs of a region start, and how long all of them are."""
    inner = len(shape)
    length = 1
    while inner:
        inner -= 1
        length *= region[inner].stop - region[inner].start
        if region[inner].stop - region[inner].start < shape[inner]:
            break
    starts = np.zeros(1, np.int64)
    for axis, part in enumerate(region[: inner + 1]):
        stride = prod(shape[axis + 1 :])
        # The innermost one is where the run itself lies.
        steps = range(part.start, part.stop if axis < inner else part.start + 1)
        starts = (starts[:, None] + np.array(steps, np.int64) * stride).ravel()
    return starts, length


def _read_box(source: Any, groups: list[_Group], windows: Sequence[_Window]) -> npt.NDArray[Any]:
    """Return the flat items of all groups' windows, one axis for each group."""
    parts = [
        list(_boxes(window.start, window.stop, group.source_shape))
        for group, window in zip(groups, windows, strict=True)
    ]
    sizes = [window.stop - window.start for window in windows]
    if all(len(boxes) == 1 for boxes in parts):
        return read_from(source, tuple([part for boxes in parts for part in boxes[0]])).reshape(sizes)
    out = np.empty(sizes, source.dtype)
    places = [list(_places(boxes)) for boxes in parts]
    for chosen in product(
        *[zip(boxes, into, strict=True) for boxes, into in zip(parts, places, strict=True)]
    ):
        items = read_from(source, tuple([part for box, _ in chosen for part in box]))
        into = tuple([place for _, place in chosen])
        out[into] = items.reshape(lengths(into))
    return out


def _places(boxes: list[Region]) -> Iterator[slice]:
    """Yield where each of these boxes begins and ends when one follows the other."""
    at = 0
    for box in boxes:
        size = prod(lengths(box))
        yield slice(at, at + size)
        at += size


def _boxes(start: int, stop: int, shape: Shape) -> Iterator[Region]:
    """Yield boxes that are, one after the other, the flat items `start` up to `stop` of `shape`."""
    if not shape:
        yield ()
        return
    if len(shape) == 1:
        yield (slice(start, stop),)
        return
    row = prod(shape[1:])
    (first, begin), (last, end) = divmod(start, row), divmod(stop, row)
    if first == last:
        yield from ((slice(first, first + 1), *box) for box in _boxes(begin, end, shape[1:]))
        return
    if begin:
        yield from ((slice(first, first + 1), *box) for box in _boxes(begin, row, shape[1:]))
        first += 1
    if first < last:
        yield (slice(first, last), *[slice(0, size) for size in shape[1:]])
    if end:
        yield from ((slice(last, last + 1), *box) for box in _boxes(0, end, shape[1:]))


def _proposed(groups: list[_Group], cut: Shape, itemsize: int) -> Shape:
    """Return boxes of the result that take whole boxes of the source, where these are not too large."""
    chunks: list[int] = []
    budget = _CHUNK_BYTES // itemsize
    for group in groups:
        if group.is_plain:
            chunks.append(cut[group.source_axes][0])
            budget //= max(1, chunks[-1])
    for group in groups:
        if group.is_plain:
            continue
        own = cut[group.source_axes]
        # The first axis along which a box is longer than 1 decides: the rows below it are taken whole.
        outer = next((axis for axis, length in enumerate(own) if length > 1), len(own) - 1)
        items = own[outer] * prod(group.source_shape[outer + 1 :]) if own else 1
        extents = _extents(min(max(items, 1), max(budget, 1)), group.result_shape)
        chunks[group.result_axes.start : group.result_axes.start] = extents
    return tuple(chunks)


def _extents(items: int, shape: Shape) -> list[int]:
    """Return a box of at most so many items that lie in one piece."""
    extents = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        extents[axis] = max(1, min(items, shape[axis]))
        if items < shape[axis]:
            break
        items //= max(1, shape[axis])
    return extents


__all__ = ["ravel", "reshape"]
