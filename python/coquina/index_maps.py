"""How the indices of an array's axes depend on the dimensions of a result.

In: for each axis an `AxisMap`. Out: maps of maps (`compose`), and what the engine reads (`layout`).
A view is nothing but such maps; a key with index arrays goes through them too.
Invariant: a map names only dimensions that its indices vary along; dimensions of length 1 have no map.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

IntArray = npt.NDArray[np.int64]
Range = tuple[int, int, int]
Shape = tuple[int, ...]


class AxisMap(NamedTuple):
    """The indices of one axis: a range, or an array, along `dims` of the result (ascending).

    A range has one dimension, or none if its length is 1. An array has as many as there are `dims`.
    """

    dims: tuple[int, ...]
    indices: Range | IntArray


class Layout(NamedTuple):
    """What the engine reads, as in `Selection`; `order` is how the dimensions of the result lie there."""

    axes: list[Range | IntArray | None]
    points: list[tuple[int, IntArray]] | None
    points_at: int
    raw_shape: Shape
    order: list[int]


def as_map(dims: Iterable[int], indices: Range | IntArray) -> AxisMap:
    """Return the map of indices along `dims`, without the dimensions of length 1."""
    if isinstance(indices, tuple):
        return AxisMap(() if indices[2] == 1 else tuple(dims), indices)
    kept = tuple([dim for dim, size in zip(dims, indices.shape, strict=True) if size != 1])
    if not kept:
        return AxisMap((), (int(indices.flat[0]), 1, 1))
    return AxisMap(kept, indices if len(kept) == indices.ndim else indices.squeeze())


def compose(inner: Sequence[AxisMap], outer: Sequence[AxisMap]) -> list[AxisMap]:
    """Return the maps of `x[key1][key2]`: `inner` is key1 on x, `outer` is key2 on the dimensions of x[key1].

    Only the indices are worked on: ranges by arithmetic, lists by taking from them.
    """
    return [_composed(axis_map, outer) for axis_map in inner]


def _composed(axis_map: AxisMap, outer: Sequence[AxisMap]) -> AxisMap:
    dims, indices = axis_map
    if len(dims) == 0:
        return axis_map
    if len(dims) > 1:
        among = sorted({new for dim in dims for new in outer[dim].dims})
        taken = cast("IntArray", indices)[tuple([_spread(outer[dim], among) for dim in dims])]
        return as_map(among, np.asarray(taken))
    new_dims, taker = outer[dims[0]]
    if isinstance(indices, tuple):
        start, step, _ = indices
        if isinstance(taker, tuple):
            return AxisMap(new_dims, (start + taker[0] * step, taker[1] * step, taker[2]))
        return AxisMap(new_dims, start + step * taker)
    if len(new_dims) == 0:
        return AxisMap((), (int(indices[cast("Range", taker)[0]]), 1, 1))
    return AxisMap(new_dims, indices[_as_array(taker)])


def joint_dims(maps: Sequence[AxisMap]) -> set[int]:
    """Return the dimensions that several axes share, and those that hang together with these."""
    seen: set[int] = set()
    joint: set[int] = set()
    for dims, _ in maps:
        joint.update(seen.intersection(dims))
        seen.update(dims)
    grown = -1
    while grown != len(joint):
        grown = len(joint)
        for dims, _ in maps:
            if not joint.isdisjoint(dims):
                joint.update(dims)
    return joint


def layout(maps: Sequence[AxisMap], shape: Shape, joint: set[int]) -> Layout:
    """Lay the maps out for the engine; the axes along `joint` dimensions become points.

    No axis may depend on joint dimensions and on others. The lists among the others are flattened.
    """
    block = sorted(joint)
    points_shape = tuple([shape[dim] for dim in block])
    axes: list[Range | IntArray | None] = []
    points: list[tuple[int, IntArray]] = []
    raw: list[int] = []
    order: list[int] = []
    points_at = -1
    for axis, axis_map in enumerate(maps):
        dims, indices = axis_map
        if dims and dims[0] in joint:
            axes.append(None)
            spread = np.broadcast_to(_spread(axis_map, block), points_shape)
            points.append((axis, np.ascontiguousarray(spread).reshape(-1)))
            continue
        if block and points_at < 0 and dims and dims[0] > block[0]:
            points_at = len(raw)
            order += block
        order += dims
        axes.append(indices if isinstance(indices, tuple) else np.ascontiguousarray(indices).reshape(-1))
        raw.append(indices[2] if isinstance(indices, tuple) else indices.size)
    if not block:
        return Layout(axes, None, 0, tuple(raw), order)
    if points_at < 0:
        points_at = len(raw)
        order += block
    raw.insert(points_at, prod(points_shape))
    return Layout(axes, points, points_at, tuple(raw), order)


def _as_array(indices: Range | IntArray) -> IntArray:
    if isinstance(indices, tuple):
        start, step, length = indices
        return start + step * np.arange(length, dtype=np.int64)
    return indices


def _spread(axis_map: AxisMap, among: Sequence[int]) -> IntArray:
    """Return the indices with one dimension for each of `among`, of length 1 where they do not vary."""
    array = _as_array(axis_map.indices)
    sizes = dict(zip(axis_map.dims, array.shape, strict=False))
    return array.reshape([sizes.get(dim, 1) for dim in among])
