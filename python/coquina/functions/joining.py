"""Functions that make one array of several, several of one, or one that shows its items many times.

In: arrays of any kind. Out: a small compressed array at once, else a lazy expression that reads what is asked
    of it.
Source: the Array API standard, 2024.12, "Manipulation functions"; NumPy decides results and errors.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate, pairwise
from operator import index
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.functions.layouts import (
    chunks_of,
    gathered,
    is_eager,
    lazy,
    lengths,
    read_from,
    rearranged,
    repeated,
    stored_as,
)
from coquina.functions.manipulation import atleast_1d, atleast_2d, atleast_3d, broadcast_to, expand_dims
from coquina.functions.reshaping import ravel, reshape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region, Shape
    from coquina.functions.layouts import Indices, Places
    from coquina.storage_options import StorageOptions

Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


def concat(
    arrays: Sequence[Any],
    /,
    *,
    axis: int | None = 0,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array | Expr:
    """Join arrays along an existing axis.

    arrays: arrays of any kind, whose lengths differ along `axis` alone. The dtype of the result is the one
        that NumPy promotes theirs to.
    axis: the axis to join along; None joins the flattened arrays.
    path, storage: with a path or an option of `asarray`, the result is an `Array` stored so, computed
        chunk by chunk. Without them it is a small `Array` or, above 64 KiB, a lazy expression.

    Raises ValueError if other lengths differ.

    >>> import coquina as cq
    >>> cq.concat([cq.arange(3), cq.zeros(2)])[:]
    array([0., 1., 2., 0., 0.])
    >>> cq.concat([cq.arange(3), cq.arange(3)], codec="lz4").shape
    (6,)
    """
    return stored_as(concat, _concatenated(arrays, axis), path, storage)


def concatenate(
    arrays: Sequence[Any],
    /,
    axis: int | None = 0,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: Casting = "same_kind",
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array | Expr:
    """Join arrays along an existing axis: `concat` with the options of `numpy.concatenate`.

    dtype: of the result. casting: how far a conversion to `dtype` may go, as in NumPy.

    >>> import coquina as cq
    >>> cq.concatenate([cq.arange(2), cq.arange(3)])[:]
    array([0, 1, 0, 1, 2])
    """
    return stored_as(concatenate, _concatenated(arrays, axis, dtype, casting), path, storage)


def _concatenated(
    arrays: Sequence[Any],
    axis: int | None,
    dtype: npt.DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> Array | Expr:
    sources = [source_of(x) for x in arrays]
    if axis is None:
        sources, axis = [ravel(source) for source in sources], 0
    axis = index(axis)
    # Arrays without items tell shape, dtype and errors.
    probe = np.concatenate([_cut(source, axis) for source in sources], axis, dtype=dtype, casting=casting)
    axis = normalize_axis_index(axis, probe.ndim)
    sizes = [source.shape[axis] for source in sources]
    shape = (*probe.shape[:axis], sum(sizes), *probe.shape[axis + 1 :])
    if is_eager(sources, shape, probe.dtype):
        values = [as_numpy(source) for source in sources]
        return stored(np.concatenate(values, axis, dtype=dtype, casting=casting))
    starts = list(accumulate(sizes, initial=0))
    read = partial(_read_joined, sources, starts, axis, probe.dtype)
    chunks = chunks_of(max(sources, key=lambda source: source.shape[axis]))
    return lazy("concat", read, shape, probe.dtype, sources, chunks)


def _cut(source: Any, axis: int) -> npt.NDArray[Any]:
    """Return an array like the source, but of length 0 along an axis, and without memory."""
    shape = list(source.shape)
    if -len(shape) <= axis < len(shape):
        shape[axis] = 0
    return np.broadcast_to(np.empty((), source.dtype), shape)


def _read_joined(
    sources: list[Any], starts: list[int], axis: int, dtype: np.dtype[Any], region: Region
) -> npt.NDArray[Any]:
    part = region[axis]
    number = min(bisect_right(starts, part.start), len(sources)) - 1
    if part.stop <= starts[number + 1]:
        wanted = slice(part.start - starts[number], part.stop - starts[number])
        items = read_from(sources[number], (*region[:axis], wanted, *region[axis + 1 :]))
        return items.astype(dtype, copy=False)
    out = np.empty(lengths(region), dtype)
    along = np.moveaxis(out, axis, 0)
    while number < len(sources) and starts[number] < part.stop:
        first, last = max(part.start, starts[number]), min(part.stop, starts[number + 1])
        if first < last:
            wanted = slice(first - starts[number], last - starts[number])
            items = read_from(sources[number], (*region[:axis], wanted, *region[axis + 1 :]))
            along[first - part.start : last - part.start] = np.moveaxis(items, axis, 0)
        number += 1
    return out


def stack(
    arrays: Sequence[Any],
    /,
    *,
    axis: int = 0,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array | Expr:
    """Join arrays of one shape along a new axis.

    axis: the place of the new axis in the result. path, storage: as in `concat`.
    Raises ValueError if there is no array, or if shapes differ.

    >>> import coquina as cq
    >>> cq.stack([cq.arange(3), cq.zeros(3)], axis=1)[:]
    array([[0., 0.],
           [1., 0.],
           [2., 0.]])
    """
    sources = [source_of(x) for x in arrays]
    if not sources:
        raise ValueError("need at least one array to stack")
    if len({source.shape for source in sources}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, len(sources[0].shape) + 1)
    joined = _concatenated([expand_dims(source, axis) for source in sources], axis)
    return stored_as(stack, joined, path, storage)


def vstack(arrays: Sequence[Any], /) -> Array | Expr:
    """Return the arrays one below the other: along the first axis, arrays of one axis being rows.

    >>> import coquina as cq
    >>> cq.vstack([[1, 2], [3, 4]])[:]
    array([[1, 2],
           [3, 4]])
    """
    return concat([atleast_2d(x) for x in arrays])


def hstack(arrays: Sequence[Any], /) -> Array | Expr:
    """Return the arrays side by side: along the second axis, or the first if the first has no other.

    >>> import coquina as cq
    >>> cq.hstack([[1, 2], [3, 4]])[:]
    array([1, 2, 3, 4])
    """
    wide = [atleast_1d(x) for x in arrays]
    return concat(wide, axis=0 if wide and len(wide[0].shape) == 1 else 1)


def dstack(arrays: Sequence[Any], /) -> Array | Expr:
    """Return the arrays one behind the other: along the third axis, which is added where it is missing.

    >>> import coquina as cq
    >>> cq.dstack([[1, 2], [3, 4]]).shape
    (1, 2, 2)
    """
    return concat([atleast_3d(x) for x in arrays], axis=2)


def column_stack(arrays: Sequence[Any], /) -> Array | Expr:
    """Return the arrays side by side, arrays of one axis being columns.

    >>> import coquina as cq
    >>> cq.column_stack([[1, 2], [3, 4]])[:]
    array([[1, 3],
           [2, 4]])
    """
    sources = [source_of(x) for x in arrays]
    columns = [
        source if len(source.shape) > 1 else rearranged("column_stack", source, _as_column)
        for source in sources
    ]
    return concat(columns, axis=1)


def _as_column(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values[:, None] if values.ndim else values[None, None]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array | Expr, ...]:
    """Return the arrays that stand side by side along `axis`, which they do not have.

    Raises IndexError for an axis that there is not.

    >>> import numpy as np
    >>> import coquina as cq
    >>> [part[:].tolist() for part in cq.unstack(np.eye(2))]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    source = source_of(x)
    if not len(source.shape):
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(axis, len(source.shape))
    shape: Shape = (*source.shape[:axis], *source.shape[axis + 1 :])
    if is_eager([source], (), source.dtype):
        lines = np.unstack(as_numpy(source), axis=axis)
        return tuple([stored(np.asarray(values, source.dtype)) for values in lines])
    cut = chunks_of(source)
    chunks = None if cut is None else (*cut[:axis], *cut[axis + 1 :])
    return tuple(
        [
            lazy("unstack", partial(_read_item, source, axis, number), shape, source.dtype, [source], chunks)
            for number in range(source.shape[axis])
        ]
    )


def split(x: Any, /, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array | Expr]:
    """Return `x` cut along `axis`: into so many equal parts, or before each of these places.

    Raises ValueError for a number of parts that does not divide the length.

    >>> import coquina as cq
    >>> [part[:].tolist() for part in cq.split(cq.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    source = source_of(x)
    axis = normalize_axis_index(axis, len(source.shape))
    size = source.shape[axis]
    if hasattr(indices_or_sections, "__index__"):
        count = index(cast("int", indices_or_sections))
        if count <= 0 or size % count:
            raise ValueError(f"split: array split of {size} into {count} is not an equal division")
        cuts = [number * (size // count) for number in range(1, count)]
    else:
        cuts = [index(cut) for cut in cast("Sequence[int]", indices_or_sections)]
    parts: list[Array | Expr] = []
    for begin, end in pairwise([0, *cuts, size]):
        start, stop, _ = slice(begin, end).indices(size)
        places: list[Places | None] = [None] * len(source.shape)
        places[axis] = partial(_shifted, start)
        shape = (*source.shape[:axis], max(0, stop - start), *source.shape[axis + 1 :])
        parts.append(gathered("split", source, shape, places))
    return parts


def _shifted(by: int, start: int, stop: int) -> Indices:
    return np.arange(start + by, stop + by)


def _read_item(source: Any, axis: int, number: int, region: Region) -> npt.NDArray[Any]:
    wanted = (*region[:axis], slice(number, number + 1), *region[axis:])
    return read_from(source, wanted).reshape(lengths(region))


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any | None = None, append: Any | None = None
) -> Array | Expr:
    """Return the differences of neighbours along `axis`, `n` times over.

    prepend, append: what is joined to `x` along the axis first; numbers stand for one item of each line.

    Raises ValueError for `n` below 0 and for a scalar, IndexError for an axis that there is not.

    >>> import coquina as cq
    >>> cq.diff([1, 4, 9])[:]
    array([3, 5])
    """
    source = source_of(x)
    if n == 0:
        return rearranged("diff", source, np.asarray)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if not len(source.shape):
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, len(source.shape))
    parts = [source]
    for at, extra in ((0, prepend), (2, append)):
        if extra is not None:
            its = source_of(extra)
            line = (*source.shape[:axis], 1, *source.shape[axis + 1 :])
            parts.insert(at, its if len(its.shape) else broadcast_to(its, line))
    if len(parts) > 1:
        source = concat(parts, axis=axis)
    # Differences of truths, times and small integers have dtypes of their own.
    dtype = np.diff(np.zeros(3, source.dtype), min(n, 2)).dtype
    shape = (*source.shape[:axis], max(0, source.shape[axis] - n), *source.shape[axis + 1 :])
    if is_eager([source], shape, dtype):
        return stored(np.diff(as_numpy(source), n, axis))

    def read(region: Region) -> npt.NDArray[Any]:
        part = region[axis]
        wanted = (
            *region[:axis],
            slice(part.start, min(part.stop + n, source.shape[axis])),
            *region[axis + 1 :],
        )
        return np.diff(read_from(source, wanted), n, axis)

    return lazy("diff", read, shape, dtype, [source], chunks_of(source))


def meshgrid(
    *arrays: Any, indexing: Literal["xy", "ij"] = "xy", sparse: bool = False
) -> tuple[Array | Expr, ...]:
    """Return the coordinates of a grid, whose axes have the places that the arrays list.

    indexing: "ij": axis `i` is that of array `i`. "xy": the first two change places. sparse: the results keep
    length 1 along the axes of the others.

    Raises ValueError for another `indexing`.

    >>> import coquina as cq
    >>> [grid[:].tolist() for grid in cq.meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = list(range(len(arrays)))
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    lines: list[Array | Expr] = []
    for x, axis in zip(arrays, axes, strict=True):
        lines.append(reshape(x, (*(1,) * axis, -1, *(1,) * (len(arrays) - axis - 1))))
    shape = np.broadcast_shapes(*[line.shape for line in lines])
    return tuple([line if sparse else broadcast_to(line, shape) for line in lines])


def repeat(x: Any, repeats: int | Any, /, *, axis: int | None = None) -> Array | Expr:
    """Return `x` with each item `repeats` times, one after the other.

    repeats: one number, or one for each place along `axis`. axis: None repeats the items of the flat array.

    Raises ValueError for numbers below 0, or another number of them than of places.

    >>> import coquina as cq
    >>> cq.repeat([1, 2], 2)[:]
    array([1, 1, 2, 2])
    """
    source = source_of(x)
    if axis is None:
        source, axis = ravel(source), 0
    axis = normalize_axis_index(axis, len(source.shape))
    size = source.shape[axis]
    counts = as_numpy(repeats)
    # An empty list says nothing of its type.
    counts = counts.astype(np.int64, casting="safe" if counts.size else "unsafe", copy=False)
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if counts.size not in (1, size):
        raise ValueError(f"operands could not be broadcast together with shape ({size},) {counts.shape}")
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    shape = list(source.shape)
    places: list[Places | None] = [None] * len(shape)
    if counts.size == 1:
        count = int(counts.reshape(()))
        shape[axis] *= count
        places[axis] = None if count == 1 else lambda start, stop: np.arange(start, stop) // count
    else:
        ends = np.cumsum(counts)
        shape[axis] = int(ends[-1]) if size else 0
        places[axis] = lambda start, stop: ends.searchsorted(np.arange(start, stop), side="right")
    return gathered("repeat", source, tuple(shape), places)


def tile(x: Any, repetitions: int | tuple[int, ...], /) -> Array | Expr:
    """Return `x` repeated whole, so many times along each axis; axes that are missing are added in front.

    repetitions: how often along each axis, counted from the last. Raises ValueError for numbers below 0.

    >>> import coquina as cq
    >>> cq.tile([1, 2], 2)[:]
    array([1, 2, 1, 2])
    """
    source = source_of(x)
    counts = [index(count) for count in np.atleast_1d(np.asarray(repetitions, np.int64)).tolist()]
    missing = len(counts) - len(source.shape)
    if missing > 0:
        source = expand_dims(source, tuple(range(missing)))
    counts = [1] * -missing + counts
    if any(count < 0 for count in counts):
        raise ValueError(f"tile: repetitions {tuple(counts)}: negative dimensions are not allowed")
    shape = tuple([size * count for size, count in zip(source.shape, counts, strict=True)])
    places = [
        repeated(0, size) if count != 1 and size else None
        for size, count in zip(source.shape, counts, strict=True)
    ]
    return gathered("tile", source, shape, places)


__all__ = [
    "column_stack",
    "concat",
    "concatenate",
    "diff",
    "dstack",
    "hstack",
    "meshgrid",
    "repeat",
    "split",
    "stack",
    "tile",
    "unstack",
    "vstack",
]
