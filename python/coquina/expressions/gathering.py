"""Any NumPy key of something that is computed region by region.

In: a source that gives the items of regions, and a key. Out: the items that the key selects.
Memory: the result, and a box of some MiB; boxes without a selected item are not computed.
Invariant: the result is `x[key]` for the array `x` that the source stands for.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.arrays.regions import boxes
from coquina.indexing import ResolvedKey, Selection, lower, resolve
from coquina.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from coquina.index_maps import IntArray, Range, Shape

    Region = tuple[slice, ...]
    Read = Callable[[Region], npt.NDArray[Any]]

_BOX_BYTES = 8 << 20
#: Regions with gaps are computed whole if they are small, or have not many more items than are wanted.
_WHOLE_BYTES = 1 << 20
_WASTE_MAX = 4


def read_key(read: Read, key: Any, shape: Shape, dtype: np.dtype[Any], chunks: Shape | None = None) -> Any:
    """Return `x[key]`, where `read` gives the items of a region of `x`. Raises what NumPy raises."""
    found = resolve(key, shape)
    check_memory(prod(found.shape) * dtype.itemsize, "the selection")
    if 0 in found.shape:
        return np.empty(found.shape, dtype)
    if found.block is None:
        items = _basic(read, found, dtype)
        if items is not None:
            return items[()] if found.kind == "item" else items
    selection = lower(key, shape)
    items = read_selection(read, selection, shape, dtype, chunks).reshape(selection.shape)
    return items[()] if selection.is_scalar else items


def _basic(read: Read, found: ResolvedKey, dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Read a key of integers and slices by the region around it, unless most of that would be for nothing."""
    region: list[slice] = []
    steps: list[slice] = []
    for start, step, length in cast("list[Range]", found.entries):
        last = start + step * (length - 1)
        region.append(slice(min(start, last), max(start, last) + 1))
        steps.append(slice(None, None, step if length > 1 else 1))
    size = prod([part.stop - part.start for part in region])
    if size * dtype.itemsize > _WHOLE_BYTES and size > _WASTE_MAX * prod(found.shape):
        return None
    items = read(tuple(region))
    if any(part.step != 1 for part in steps):
        items = items[tuple(steps)]
    return np.ascontiguousarray(items).reshape(found.shape)


class _Axis(NamedTuple):
    """The indices along one axis, or of points along several, by the boxes that they fall into.

    Each group is the number of the box along each axis, the places of its indices among all, and the indices.
    """

    axes: tuple[int, ...]
    length: int
    groups: list[tuple[tuple[int, ...], IntArray, list[IntArray]]]


def read_selection(
    read: Read, selection: Selection, shape: Shape, dtype: np.dtype[Any], chunks: Shape | None = None
) -> npt.NDArray[Any]:
    """Return the items of a lowered key in its raw shape, box by box."""
    out = np.empty(selection.raw_shape, dtype)
    if not out.size:
        return out
    extents = _extents(shape, dtype.itemsize, chunks)
    dims = [
        _grouped((axis,), [_as_array(entry)], extents)
        for axis, entry in enumerate(selection.axes)
        if entry is not None
    ]
    if selection.points is not None:
        joint = [axis for axis, _ in selection.points]
        lists = [places for _, places in selection.points]
        dims.insert(selection.points_at, _grouped(tuple(joint), lists, extents))
    for groups in product(*[dim.groups for dim in dims]):
        _read_box(read, out, dims, groups, len(shape))
    return out


def _read_box(read: Read, out: npt.NDArray[Any], dims: list[_Axis], groups: Any, ndim: int) -> None:
    """Read the part of a box that has all of the indices of these groups."""
    region = [slice(0, 0)] * ndim
    index: list[Any] = [None] * ndim
    for place, (dim, (_, _, lists)) in enumerate(zip(dims, groups, strict=True)):
        for axis, indices in zip(dim.axes, lists, strict=True):
            low, high = int(indices.min()), int(indices.max())
            region[axis] = slice(low, high + 1)
            index[axis] = (indices - low).reshape([-1 if at == place else 1 for at in range(len(dims))])
    items = read(tuple(region))
    where = np.ix_(*[places for _, places, _ in groups])
    out[where] = items[tuple(index)]


def _grouped(axes: tuple[int, ...], lists: Sequence[IntArray], extents: Shape) -> _Axis:
    cells = np.stack([indices // extents[axis] for axis, indices in zip(axes, lists, strict=True)])
    order = np.lexsort(cells[::-1])
    ordered = cells[:, order]
    starts = np.flatnonzero(np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)) + 1
    groups = [
        (tuple(cells[:, places[0]].tolist()), places, [indices[places] for indices in lists])
        for places in np.split(order, starts)
    ]
    return _Axis(axes, len(lists[0]), groups)


def _extents(shape: Shape, itemsize: int, chunks: Shape | None) -> Shape:
    """Return the shape of the boxes: chunks, or pieces of some MiB that are alike along all axes."""
    if chunks is not None:
        return tuple([max(1, size) for size in chunks])
    extents = [max(1, size) for size in shape]
    while prod(extents) * max(itemsize, 1) > _BOX_BYTES and max(extents) > 1:
        longest = extents.index(max(extents))
        extents[longest] = -(-extents[longest] // 2)
    return tuple(extents)


def _as_array(entry: Range | IntArray) -> IntArray:
    if isinstance(entry, tuple):
        start, step, length = entry
        return start + step * np.arange(length, dtype=np.int64)
    return entry


def rows(shape: Shape, itemsize: int, chunks: Shape | None = None) -> Iterator[Region]:
    """Yield regions of the first axis that are read at a time by iteration."""
    row_bytes = prod(shape[1:]) * itemsize
    return boxes(shape[:1], (chunks or (1,))[:1], row_bytes, _BOX_BYTES)
