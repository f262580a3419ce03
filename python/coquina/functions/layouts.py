"""What functions that only move items are made with: `rearranged` for axes, `gathered` for places along them.

In: an array of any kind, and where each axis or place of the result comes from. Out: a small compressed array
    at once, else a lazy expression.
Invariant: a region of the result reads the boxes of its sources that it needs, once, and takes memory for
    itself and them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.arrays.creation import asarray
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import is_tiny, stored
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.nodes import Boxes
from coquina.keyword_hints import check_keywords
from coquina.storage_options import StorageOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.expressions.nodes import Region, Shape

    Values = npt.NDArray[Any]
    Indices = npt.NDArray[np.int64]
    #: The places of the source that `range(start, stop)` of the result shows; -1 for none.
    Places = Callable[[int, int], Indices]
    #: Places in the result, places in the source, and which of these are taken if it is not all, in order.
    Piece = tuple[slice, slice, Indices | None]


def stored_as(
    function: Callable[..., Any], result: Array | Expr, path: Path | None, storage: StorageOptions
) -> Array | Expr:
    """Return the result of a function as it is, or stored if there are options to store it by.

    function: whose keywords the options are. Raises TypeError for a keyword that it does not have.
    """
    check_keywords(function, storage, StorageOptions)
    if path is None and not storage:
        return result
    return asarray(result, path=path, **storage)


class _Bytes(NamedTuple):
    nbytes: int


#: Places that are read though nobody asked for them, where that saves reading piece by piece.
_GAP = 8


def is_eager(sources: Sequence[Any], shape: Shape, dtype: np.dtype[Any]) -> bool:
    """Whether sources and a result are so few bytes together that NumPy makes the result at once."""
    return is_few(nbytes_of(sources) + prod(shape) * dtype.itemsize)


def is_few(nbytes: int) -> bool:
    """Whether NumPy makes a result of all operands at once, where all of it is so many bytes."""
    return is_tiny(_Bytes(nbytes))


def nbytes_of(sources: Sequence[Any]) -> int:
    """Return the bytes of all items."""
    return sum([prod(source.shape) * source.dtype.itemsize for source in sources])


def lazy(
    name: str,
    read: Callable[[Region], Values],
    shape: Shape,
    dtype: np.dtype[Any],
    sources: Sequence[Any],
    chunks: Shape | None = None,
) -> Expr:
    """Return the expression of what `read` gives for regions. name: for `explain`; chunks: see `Boxes`."""
    args = tuple([as_node(source) for source in sources])
    return Expr(Boxes(name, read, shape, dtype, args=args, chunks=chunks))


def chunks_of(source: Any) -> Shape | None:
    """Return the boxes in which a source is best read, if it says so."""
    chunks = getattr(getattr(source, "node", source), "chunks", None)
    if not isinstance(chunks, tuple) or len(cast("Shape", chunks)) != len(source.shape):
        return None
    return cast("Shape", chunks)


def read_from(source: Any, region: Region) -> Values:
    """Return the items of a region; those of an array without axes too."""
    return np.asarray(source[region], source.dtype)


def lengths(region: Region) -> list[int]:
    """Return the shape of a region."""
    return [part.stop - part.start for part in region]


def rearranged(name: str, x: Any, change: Callable[[Values], Values]) -> Array | Expr:
    """Return `change(x)`, where `change` permutes, flips, adds, drops or repeats whole axes of NumPy arrays.

    Axes are added by None in a key or by `numpy.broadcast_to`. Raises what `change` raises.
    """
    source = source_of(x)
    if is_few(nbytes_of([source])):
        # Single items lose what their dtype says beyond their own: a length, a byte order.
        values = np.asarray(change(as_numpy(source)), source.dtype)
        if is_few(values.nbytes):
            return stored(values)
    shape, axes = _traced(change, source.shape)
    cut = chunks_of(source)
    chunks = None
    if cut is not None and all(
        axis is not None or size == 1 for (axis, _), size in zip(axes, shape, strict=True)
    ):
        chunks = tuple([1 if axis is None else cut[axis] for axis, _ in axes])
    return lazy(name, partial(_read_rearranged, source, axes), shape, source.dtype, [source], chunks)


#: Which axis of the source an axis of the result is, None for a new one; and whether it runs backwards.
_Axis = tuple[int | None, bool]


def _traced(change: Callable[[Values], Values], shape: Shape) -> tuple[Shape, list[_Axis]]:
    """Find what a function does with axes: an array without items, whose strides name the axes, is asked."""
    strides = tuple(range(1, len(shape) + 1))
    probe = change(np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), shape, strides))
    return probe.shape, [(abs(stride) - 1 if stride else None, stride < 0) for stride in probe.strides]


def _read_rearranged(source: Any, axes: list[_Axis], region: Region) -> Values:
    # An axis that no axis of the result shows has one place.
    wanted = [slice(0, 1)] * len(source.shape)
    for (axis, is_backwards), part in zip(axes, region, strict=True):
        if axis is not None:
            size = source.shape[axis]
            wanted[axis] = slice(size - part.stop, size - part.start) if is_backwards else part
    shown = [axis for axis, _ in axes if axis is not None]
    dropped = [axis for axis in range(len(source.shape)) if axis not in shown]
    items = read_from(source, tuple(wanted)).transpose(shown + dropped)
    key: list[Any] = [None if axis is None else slice(None, None, -1 if back else 1) for axis, back in axes]
    return np.broadcast_to(items[(*key, *[0] * len(dropped), ...)], lengths(region))


def gathered(
    name: str,
    x: Any,
    shape: Shape,
    places: Sequence[Places | None],
    *,
    fill: Callable[[Region, Values], None] | None = None,
    chunks: Shape | None = None,
) -> Array | Expr:
    """Return `x` with each axis taken at other places: for each axis a function of places, None for the same.

    fill: sets the items of a region where a function says -1.
    """
    source = source_of(x)
    if is_eager([source], shape, source.dtype):
        whole = tuple([slice(0, size) for size in shape])
        return stored(_read_gathered(as_numpy(source), places, fill, whole))
    return lazy(name, partial(_read_gathered, source, places, fill), shape, source.dtype, [source], chunks)


def repeated(offset: int, size: int) -> Places:
    """Return the places of an axis of `size` that starts anew where it ends, from `offset` on."""
    # The offset is brought within the size first: sums with it must not exceed 64 bits.
    offset %= size
    return lambda start, stop: (np.arange(start, stop) + offset) % size


def _read_gathered(
    source: Any,
    places: Sequence[Places | None],
    fill: Callable[[Region, Values], None] | None,
    region: Region,
) -> Values:
    pieces = [_pieces(find, part) for find, part in zip(places, region, strict=True)]
    if all(
        len(its) == 1 and its[0][0] == slice(0, size)
        for its, size in zip(pieces, lengths(region), strict=True)
    ):
        return _read_pieces(source, [its[0] for its in pieces])
    out = np.empty(lengths(region), source.dtype)
    if fill is not None:
        fill(region, out)
    for box in product(*pieces):
        out[tuple([piece[0] for piece in box])] = _read_pieces(source, box)
    return out


def _read_pieces(source: Any, box: Sequence[Piece]) -> Values:
    """Return the items of one piece of each axis."""
    items = read_from(source, tuple([piece[1] for piece in box]))
    for axis, (_, _, taken) in enumerate(box):
        if taken is not None:
            items = items.take(taken, axis)
    return items


def _pieces(find: Places | None, part: slice) -> list[Piece]:
    """Cut a part of the result so that each piece shows places of the source that lie together."""
    count = part.stop - part.start
    if find is None:
        return [(slice(0, count), part, None)]
    if not count:
        return []
    found = find(part.start, part.stop)
    cuts = (found[1:] < 0) != (found[:-1] < 0)
    # All between the first and the last are read, unless they are few of many.
    if found.max() - found.min() >= 2 * count:
        cuts |= np.abs(np.diff(found)) > _GAP
    edges = [0, *(np.flatnonzero(cuts) + 1).tolist(), count]
    pieces: list[Piece] = []
    for start, stop in pairwise(edges):
        run = found[start:stop]
        if run[0] < 0:
            continue
        first, last = int(run.min()), int(run.max())
        is_plain = last - first + 1 == len(run) and bool((np.diff(run) == 1).all())
        pieces.append((slice(start, stop), slice(first, last + 1), None if is_plain else run - first))
    return pieces
