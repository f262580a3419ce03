"""Products of arrays: `matmul`, `tensordot`, `vecdot`, and NumPy's others. Larger than memory if need be.

In: arrays of any kind. Out: a compressed array, in memory or at `path`; `outer` of large ones is lazy.
Source: the Array API standard, 2024.12, "Linear algebra functions"; NumPy decides shapes, dtypes and errors.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.functions.contraction import Contraction, contracted
from coquina.functions.elementwise import multiply
from coquina.functions.layouts import is_eager, lazy, read_from
from coquina.functions.manipulation import matrix_transpose
from coquina.functions.reshaping import ravel, reshape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region, Shape

    Axes = int | tuple[int | Sequence[int], int | Sequence[int]]


def matmul(x1: Any, x2: Any, /, *, path: Path | None = None) -> Array:
    """Return the matrix product: of the last two axes, for all places of the others, which broadcast.

    An array of one axis is a row on the left, a column on the right, and that axis is summed over.
    path: the file to write; in memory if None. Raises ValueError for shapes that do not fit.
    Memory: 64 MiB of both arrays, 32 MiB of the result, and what NumPy needs to multiply them.

    x1, x2: what `asarray` takes, of at least one axis each.

    >>> import coquina as cq
    >>> cq.matmul(cq.eye(2), [[1, 2], [3, 4]])[:]
    array([[1., 2.],
           [3., 4.]])
    """
    sources = (source_of(x1), source_of(x2))
    a, b = (tuple(source.shape) for source in sources)
    # Without rows and columns NumPy looks at shapes and dtypes, and multiplies nothing.
    if len(a) == len(b) == 1 and a == b:
        probe = np.matmul(_like(sources[0], (0,)), _like(sources[1], (0,)))
    else:
        left = _like(sources[0], (*a[:-2], 0, a[-1]) if len(a) > 1 else a)
        probe = np.matmul(left, _like(sources[1], (*b[:-1], 0) if len(b) > 1 else b))
    batch = max(len(a), len(b), 2) - 2
    # Labels: the batch from 3 on, counted from its last axis; the rows, the columns, and what is summed over.
    rows, columns, summed = 0, 1, 2
    over = tuple(range(batch + 2, 2, -1))
    labels_1 = (*over[batch - len(a) + 2 :], rows, summed) if len(a) > 1 else (summed,)
    labels_2 = (*over[batch - len(b) + 2 :], summed, columns) if len(b) > 1 else (summed,)
    result = (*over, *[rows] * (len(a) > 1), *[columns] * (len(b) > 1))
    return contracted(Contraction(sources, (labels_1, labels_2), result, probe.dtype, np.matmul), path)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, path: Path | None = None) -> Array:
    """Return the sums over `axis` of products of items, those of `x1` conjugated; other axes broadcast.

    x1, x2: what `asarray` takes. path: the file to write; in memory if None. Raises ValueError for shapes
        that do not fit.

    >>> import coquina as cq
    >>> cq.vecdot([[1, 2], [3, 4]], [1, 1])[:]
    array([3, 7])
    """
    sources = (source_of(x1), source_of(x2))
    axis = index(axis)
    a, b = (list(source.shape) for source in sources)
    for source, shape in zip(sources, (a, b), strict=True):
        if not -len(shape) <= axis < len(shape):
            raise np.exceptions.AxisError(axis, len(source.shape))
    summed = (a.pop(axis), b.pop(axis))
    if summed[0] != summed[1]:
        raise ValueError(f"vecdot: axis {axis} of lengths {summed[0]} and {summed[1]}")
    result = tuple(range(len(np.broadcast_shapes(tuple(a), tuple(b))), 0, -1))
    labels: list[tuple[int, ...]] = []
    for shape in (a, b):
        own = [*result[len(result) - len(shape) :], 0]
        # Where the axis stands that is summed over.
        own.insert(axis if axis >= 0 else axis + len(own), own.pop())
        labels.append(tuple(own))
    dtype = np.vecdot(_like(sources[0], (0,)), _like(sources[1], (0,))).dtype

    def call(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return cast("Any", np.vecdot)(first, second, axis=axis)

    return contracted(Contraction(sources, tuple(labels), result, dtype, call), path)


def tensordot(x1: Any, x2: Any, /, *, axes: Axes = 2, path: Path | None = None) -> Array:
    """Return the sums of products over some axes of both; the others follow each other in the result.

    axes: how many, the last of `x1` and the first of `x2`; or which, of `x1` and of `x2`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=1)[:]
    array([[3., 3.],
           [3., 3.]])
    """
    sources = (source_of(x1), source_of(x2))
    ndims = [len(source.shape) for source in sources]
    if isinstance(axes, int):
        chosen = (tuple(range(ndims[0] - axes, ndims[0])), tuple(range(axes)))
    else:
        first, second = cast("tuple[Any, Any]", axes)
        chosen = (_axis_numbers(first), _axis_numbers(second))
    return _summed_products(sources, chosen, path)


def _axis_numbers(axes: Any) -> tuple[int, ...]:
    return (index(axes),) if hasattr(axes, "__index__") else tuple([index(axis) for axis in axes])


def _summed_products(
    sources: tuple[Any, Any], axes: tuple[tuple[int, ...], tuple[int, ...]], path: Path | None
) -> Array:
    """Return the sums over pairs of axes, one of each array."""
    shapes: list[Shape] = [tuple(source.shape) for source in sources]
    lengths = [[shape[axis] for axis in its] for shape, its in zip(shapes, axes, strict=True)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"shape-mismatch for sum: {shapes[0]} along {axes[0]}, {shapes[1]} along {axes[1]}")
    places = [[axis % len(shape) for axis in its] for shape, its in zip(shapes, axes, strict=True)]
    if any(len(set(its)) < len(its) for its in places):
        raise ValueError(f"tensordot: an axis named twice, in {axes[0]} or {axes[1]}")
    labels = [list(range(len(shapes[0]))), list(range(len(shapes[0]), sum(map(len, shapes))))]
    result = [
        label
        for own, its in zip(labels, places, strict=True)
        for axis, label in enumerate(own)
        if axis not in its
    ]
    for first, second in zip(*places, strict=True):
        labels[1][second] = labels[0][first]
    dtype = np.dot(_like(sources[0], (0,)), _like(sources[1], (0,))).dtype

    def call(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.tensordot(first, second, axes)

    work = Contraction(sources, (tuple(labels[0]), tuple(labels[1])), tuple(result), dtype, call)
    return contracted(work, path)


def dot(x1: Any, x2: Any, /, *, path: Path | None = None) -> Array | Expr:
    """Return NumPy's `dot`: sums over the last axis of `x1` and the last but one, or only, axis of `x2`.

    >>> import coquina as cq
    >>> cq.dot([1, 2], [3, 4])
    <Array () int64, chunks (), blocks (), in memory>
    """
    sources = (source_of(x1), source_of(x2))
    if not all(len(source.shape) for source in sources):
        return _multiplied(x1, x2)
    return _summed_products(sources, ((-1,), (-2 if len(sources[1].shape) > 1 else -1,)), path)


def inner(x1: Any, x2: Any, /, *, path: Path | None = None) -> Array | Expr:
    """Return the sums of products over the last axes of both.

    x1, x2: what `asarray` takes. path: the file to write; in memory if None. As `numpy.inner`.

    >>> import coquina as cq
    >>> cq.inner([1, 2], [3, 4])
    <Array () int64, chunks (), blocks (), in memory>
    """
    sources = (source_of(x1), source_of(x2))
    if not all(len(source.shape) for source in sources):
        return _multiplied(x1, x2)
    return _summed_products(sources, ((-1,), (-1,)), path)


def vdot(x1: Any, x2: Any, /) -> Array:
    """Return the sum of the products of all items, those of `x1` conjugated.

    >>> import coquina as cq
    >>> cq.vdot([1, 1j], [1, 1j])
    <Array () complex128, chunks (), blocks (), in memory>
    """
    return vecdot(ravel(x1), ravel(x2))


def _multiplied(x1: Any, x2: Any) -> Array | Expr:
    return multiply(x1, x2)


def outer(x1: Any, x2: Any, /) -> Array | Expr:
    """Return the products of each item of `x1` with each of `x2`, which are taken flat: one row for each.

    >>> import coquina as cq
    >>> cq.outer([1, 2], [3, 4])[:]
    array([[3, 4],
           [6, 8]])
    """
    first, second = (ravel(source_of(x)) for x in (x1, x2))
    dtype = np.outer(_like(first, (0,)), _like(second, (0,))).dtype
    shape = (prod(first.shape), prod(second.shape))
    if is_eager((first, second), shape, dtype):
        return stored(np.outer(as_numpy(first), as_numpy(second)))

    def read(region: Region) -> npt.NDArray[Any]:
        return np.outer(read_from(first, region[:1]), read_from(second, region[1:]))

    return lazy("outer", read, shape, dtype, (first, second))


def kron(x1: Any, x2: Any, /) -> Array | Expr:
    """Return the blocks that are `x2` times each item of `x1`; axes that one has not are added in front.

    >>> import coquina as cq
    >>> cq.kron([1, 10], [1, 2])[:]
    array([ 1,  2, 10, 20])
    """
    sources = (source_of(x1), source_of(x2))
    ndim = max(len(source.shape) for source in sources)
    wide: list[Any] = []
    for place, source in enumerate(sources):
        shape = (*(1,) * (ndim - len(source.shape)), *source.shape)
        # Each axis becomes two: one for the place of a block, one for the place in it.
        pairs = [(size, 1) if place == 0 else (1, size) for size in shape]
        wide.append(reshape(source, tuple(chain.from_iterable(pairs))))
    products = multiply(*wide)
    lengths = [
        outside * inside for outside, inside in zip(products.shape[::2], products.shape[1::2], strict=True)
    ]
    return reshape(products, tuple(lengths))


def _like(source: Any, shape: Shape) -> npt.NDArray[Any]:
    """Return an array of another shape and the source's dtype, without memory."""
    return np.broadcast_to(np.zeros((), source.dtype), shape)


__all__ = ["dot", "inner", "kron", "matmul", "matrix_transpose", "outer", "tensordot", "vdot", "vecdot"]
