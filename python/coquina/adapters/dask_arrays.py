"""Arrays as Dask arrays: chunks that are unions of stored chunks, read without a lock.

In: an array, dataset, view or expression. Out: a `dask.array.Array` whose tasks read `Shared` handles.
Invariant: no stored chunk is decoded for two tasks, if it is the chunks of one array that are read.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.adapters.shared_handles import Shared
from coquina.arrays.array import Array
from coquina.arrays.creation import new_array
from coquina.arrays.fields import FieldSource
from coquina.arrays.views import View

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[int, ...]
#: What Dask calls "auto", an extent, -1 or None for the whole axis; or one of these for each axis.
Wanted = int | str | None | tuple[int | str | None, ...]
#: Along an axis: how many items until the first edge of a stored chunk, and from one edge to the next.
Cut = tuple[int, int]


def dask() -> Any:
    """Return the module `dask`, with `dask.array`. Raises ImportError that says what to install."""
    try:
        import_module("dask.array")
        return import_module("dask")
    except ImportError as error:
        raise ImportError("Dask arrays need Dask: pip install coquina[dask]") from error


def to_dask(items: Any, chunks: Wanted) -> Any:
    """Return a Dask array of an `Array`, a view or an expression; see `Array.to_dask`."""
    module = dask()
    shared = Shared(items)
    cuts = cuts_of(items)
    limit = module.utils.parse_bytes(module.config.get("array.chunk-size"))
    lengths = dask_chunks(shared.shape, cuts, chunks, limit // max(shared.dtype.itemsize, 1))
    return module.array.from_array(
        shared,
        chunks=lengths,
        name=f"coquina-{module.base.tokenize(shared, lengths)}",
        lock=False,
        # Then Dask hands the keys of slices on to us.
        fancy=True,
        asarray=False,
        inline_array=False,
        meta=np.empty((0,) * shared.ndim, shared.dtype),
    )


def cuts_of(items: Any) -> list[Cut]:
    """Return where stored chunks have edges along each axis; by the default rule if nothing is stored."""
    if isinstance(items, Array):
        return _whole_cuts(items.chunks)
    if isinstance(items, View):
        return _cuts_of_view(items)
    shape = tuple(items.shape)
    for operand in getattr(items, "operands", ()):
        if isinstance(operand, Array) and operand.shape == shape:
            return _whole_cuts(operand.chunks)
    return _whole_cuts(_default_chunks(shape, items.dtype))


def _whole_cuts(chunks: Shape) -> list[Cut]:
    return [(max(chunk, 1), max(chunk, 1)) for chunk in chunks]


def _default_chunks(shape: Shape, dtype: np.dtype[Any]) -> Shape:
    return new_array(shape, dtype, {}).chunks


def _cuts_of_view(view: View) -> list[Cut]:
    source: Any = view.source
    array = source.place[0] if isinstance(source, FieldSource) else source
    chunks: Any = getattr(array, "chunks", None)
    cuts = _whole_cuts(_default_chunks(view.shape, view.dtype))
    if not isinstance(chunks, tuple):
        return cuts
    for dim, found in enumerate(view.ranges()):
        if found is None:
            continue
        axis, start, step = found
        chunk = max(int(cast("Any", chunks)[axis]), 1)
        # Edges lie evenly only where items follow each other.
        stepped = max(chunk // max(abs(step), 1), 1)
        cuts[dim] = (chunk - start % chunk, chunk) if step == 1 else (stepped, stepped)
    return cuts


def dask_chunks(
    shape: Shape, cuts: Sequence[Cut], wanted: Wanted, items_max: int
) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of Dask's chunks along each axis: whole stored chunks, near to what is wanted.

    items_max: items of a chunk along all axes where "auto" is wanted, unless a stored chunk has more.
    """
    if wanted is None:
        wanted = "auto"
    each = wanted if isinstance(wanted, tuple) else (wanted,) * len(shape)
    if len(each) != len(shape):
        raise ValueError(f"chunks {wanted}: an array of {len(shape)} axes")
    extents = [min(cut[1], max(length, 1)) for cut, length in zip(cuts, shape, strict=True)]
    growing: list[int] = []
    for axis, (extent, length) in enumerate(zip(each, shape, strict=True)):
        if extent == "auto":
            growing.append(axis)
        elif extent is None or extent == -1:
            extents[axis] = max(length, 1)
        elif isinstance(extent, int) and extent > 0:
            unit = cuts[axis][1]
            extents[axis] = max(round(extent / unit), 1) * unit
        else:
            raise ValueError(
                f"chunks {wanted!r}: takes 'auto', a number of items, -1, or one of these an axis"
            )
    _grow(extents, shape, growing, items_max)
    return tuple(_lengths(*one) for one in zip(shape, cuts, extents, strict=True))


def _grow(extents: list[int], shape: Shape, axes: list[int], items_max: int) -> None:
    """Double the extents of chunks along `axes`, the shortest first, as long as they have so few items."""
    axes = list(axes)
    while axes:
        axis = min(axes, key=lambda axis: extents[axis])
        longer = min(2 * extents[axis], max(shape[axis], 1))
        if longer == extents[axis] or prod(extents) // extents[axis] * longer > items_max:
            axes.remove(axis)
        else:
            # What reaches the end need not be a multiple.
            extents[axis] = longer


def _lengths(length: int, cut: Cut, extent: int) -> tuple[int, ...]:
    """Return the lengths of chunks of at most `extent` items that end where stored chunks do."""
    if extent >= length:
        return (length,)
    first, step = cut
    whole = max(extent // step, 1) * step
    # The first one is filled up with what is in front of its first edge.
    edges = [0, *range(first + whole - step, length, whole), length]
    return tuple(b - a for a, b in pairwise(edges))
