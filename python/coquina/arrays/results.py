"""Results of functions on arrays: compressed arrays in memory or in a file.

In: NumPy arrays, or what gives one for each region. Out: an `Array`.
Invariant: what does not fit in memory is made box by box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.arrays.array import Array
from coquina.arrays.creation import new_array
from coquina.arrays.new_arrays import TEXTS, fill_boxes, usual_options, written
from coquina.arrays.operands import nbytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.expressions.nodes import Region
    from coquina.storage_options import Chunks

#: Operands and results of up to so many bytes are computed at once, by NumPy.
EAGER_BYTES = 1 << 16


def is_tiny(*operands: Any) -> bool:
    """Whether all operands together have at most `EAGER_BYTES` bytes; scalars and lists have none."""
    return sum(map(nbytes_of, operands)) <= EAGER_BYTES


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
