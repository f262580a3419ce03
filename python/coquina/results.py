"""Operands in, results out: what all functions on arrays share.

In: `Array`s, lazy expressions, views, NumPy arrays, scalars, lists. Out: NumPy arrays or nodes of them; and
    for results, compressed arrays in memory or in a file.
Invariant: what is read whole fits in memory; larger results are made box by box.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.array import Array
from coquina.creation import TEXTS, fill_boxes, new_array, usual_options, written
from coquina.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.creation import Chunks
    from coquina.expressions.nodes import Node, Region

#: Operands and results of up to so many bytes are computed at once, by NumPy.
EAGER_BYTES = 1 << 16


def is_tiny(*operands: Any) -> bool:
    """Whether all operands together have at most `EAGER_BYTES` bytes; scalars and lists have none."""
    return sum(map(nbytes_of, operands)) <= EAGER_BYTES


def nbytes_of(x: Any) -> int:
    """Return how many bytes the items have, 0 for scalars and lists."""
    nbytes = getattr(x, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return prod(x.shape) * x.dtype.itemsize
    return 0


def as_numpy(x: Any) -> npt.NDArray[Any]:
    """Return all items as a NumPy array. Raises MemoryError for what is too large."""
    if isinstance(x, np.ndarray):
        return cast("npt.NDArray[Any]", x)
    source = source_of(x)
    if isinstance(source, np.ndarray):
        return cast("npt.NDArray[Any]", source)
    check_memory(int(np.prod(source.shape, dtype=object)) * source.dtype.itemsize, "the operand")
    return np.asarray(source[...])


def stored(values: npt.NDArray[Any]) -> Array:
    """Return values as an array in memory."""
    if not values.flags.c_contiguous:
        values = np.asarray(values, order="C")
    dtype = values.dtype
    if values.nbytes <= EAGER_BYTES and (text := TEXTS.get(dtype)) is not None:
        return Array(_core.small_array(values, text), dtype)
    return new_array(values.shape, dtype, {}, values)


def from_parts(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    part: Callable[[Region], npt.NDArray[Any]],
    *,
    path: Path | None = None,
    chunks: Chunks = None,
) -> Array:
    """Return a new array of what `part(region)` gives for each region, which has some 64 MiB.

    A file appears under its name when it is complete; what failed leaves nothing.
    """
    options = usual_options(path, chunks)
    array = new_array(shape, dtype, options)
    with written(array):
        fill_boxes(array, part)
    return array


def source_of(x: Any) -> Any:
    """Return what has the shape, the dtype and, for regions, the items of `x` as NumPy arrays.

    That is `x` itself if it is an array, an expression, a view, or a dataset; else a NumPy array of it.
    """
    is_array = isinstance(getattr(x, "dtype", None), np.dtype) and hasattr(x, "shape")
    return np.asarray(cast("Any", x)) if isinstance(x, np.generic) or not is_array else x


def as_node(x: Any) -> Node:
    """Return the node of an operand. What has no axes and is in memory becomes a constant, copied now."""
    from coquina.expressions.functions import as_node

    return as_node(x)
