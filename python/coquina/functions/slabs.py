"""Functions along one axis of arrays that do not fit in memory: slab by slab, each with all of that axis.

In: arrays that broadcast along the other axes, and NumPy's function. Out: a compressed array.
Memory: slabs of all arrays and of the result together, unless a single line along the axis is more.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import asarray, new_array
from coquina.arrays.new_arrays import usual_options, written
from coquina.arrays.operands import as_numpy
from coquina.arrays.regions import chunk_regions
from coquina.arrays.results import stored
from coquina.functions.layouts import chunks_of, is_eager, nbytes_of, read_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

#: Slabs of the arrays and of the result together.
SLAB_BYTES = 64 << 20
#: A chunk of the result.
_CHUNK_BYTES = 4 << 20


def is_slab(nbytes: int) -> bool:
    """Whether all of a function's arrays together are one slab."""
    return nbytes <= SLAB_BYTES


def along_axis(
    call: Callable[..., npt.NDArray[Any]],
    sources: Sequence[Any],
    axis: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    path: Path | None = None,
) -> Array:
    """Return `call(*sources)`, of this shape and dtype, where each line along `axis` depends on no other.

    axis: counted from the end, so it is negative, in the arrays as in the result.
    """
    nbytes = nbytes_of(sources) + prod(shape) * dtype.itemsize
    if is_eager(sources, shape, dtype) or is_slab(nbytes) or 0 in shape:
        values = np.asarray(call(*[as_numpy(source) for source in sources]))
        return stored(values) if path is None else asarray(values, path=path)
    axis += len(shape)
    line = shape[axis] * dtype.itemsize
    line += sum([source.shape[axis - len(shape)] * source.dtype.itemsize for source in sources])
    cut = next(
        (chunks for source in sources if len(chunks := chunks_of(source) or ()) == len(shape)),
        (1,) * len(shape),
    )
    extents, chunks = _extents(
        shape, axis, cut, max(1, SLAB_BYTES // line), max(1, _CHUNK_BYTES // dtype.itemsize)
    )
    options = usual_options(path, chunks)
    array = new_array(shape, dtype, options)
    with written(array):
        for region in chunk_regions(shape, extents):
            panels: list[npt.NDArray[Any]] = []
            for source in sources:
                wanted = [
                    part if size != 1 else slice(0, 1)
                    for part, size in zip(region[len(shape) - len(source.shape) :], source.shape, strict=True)
                ]
                own = axis - len(shape)
                wanted[own] = slice(0, source.shape[own])
                panels.append(read_from(source, tuple(wanted)))
            array[region] = call(*panels)
    return array


def _extents(
    shape: tuple[int, ...], axis: int, cut: tuple[int, ...], lines: int, items: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Choose slabs of at most so many lines, and chunks of about so many items that lie in one slab."""
    extents = [max(1, min(length, size)) for length, size in zip(cut, shape, strict=True)]
    extents[axis] = 1
    while prod(extents) > lines and prod(extents) > 1:
        longest = extents.index(max(extents))
        extents[longest] = (extents[longest] + 1) // 2
    chunks = list(extents)
    chunks[axis] = max(1, min(items // prod(extents), shape[axis]))
    # Long rows first: most things that are read from lie in rows.
    for other in reversed(range(len(shape))):
        if other != axis:
            count = lines * extents[other] // prod(extents) // extents[other]
            extents[other] = min(max(1, count) * extents[other], shape[other])
    extents[axis] = shape[axis]
    return tuple(extents), tuple(chunks)
