"""Sums of products of arrays that do not fit in memory together, tile by tile: `matmul` and its like.

In: arrays, a label for each of their axes, the labels of the result's axes, and NumPy's function for panels.
Out: a compressed array. Labels that the result does not have are summed over.
Memory: panels of all operands together, one tile of the result, and what NumPy needs to multiply them.
Invariant: tiles are whole chunks of the result where these fit, so that no chunk is written twice. Sums are
    made panel by panel, in one order, in the dtype of the result (float32 for float16, as NumPy does).
"""

from __future__ import annotations

from dataclasses import dataclass
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
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region

    Values = npt.NDArray[Any]
    Extents = dict[int, int]

#: Panels of all operands together.
PANEL_BYTES = 64 << 20
#: A tile of the result, unless one chunk is more.
TILE_BYTES = 32 << 20
#: What one more panel costs beside its bytes, as bytes that are read.
_CALL_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Contraction:
    """What is multiplied, and which axes belong together.

    labels: for each operand, a label for each axis; axes of length 1 are repeated where others are longer.
    result: the labels of the result's axes. call: NumPy's function of panels, which has the result's axes.
    """

    operands: tuple[Any, ...]
    labels: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
    dtype: np.dtype[Any]
    call: Callable[..., Values]

    @property
    def lengths(self) -> Extents:
        """How long the axes of each label are."""
        found: Extents = {}
        for operand, labels in zip(self.operands, self.labels, strict=True):
            for label, size in zip(labels, operand.shape, strict=True):
                found[label] = size if found.get(label, 1) == 1 else found[label]
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result."""
        lengths = self.lengths
        return tuple([lengths[label] for label in self.result])


def contracted(work: Contraction, path: Path | None = None) -> Array:
    """Return the result: by NumPy at once where all of it fits into the panels' memory, else by tiles."""
    shape = work.shape
    result_bytes = prod(shape) * work.dtype.itemsize
    if is_eager(work.operands, shape, work.dtype) or nbytes_of(work.operands) + result_bytes <= PANEL_BYTES:
        values = np.asarray(work.call(*[as_numpy(operand) for operand in work.operands]))
        return stored(values) if path is None else asarray(values, path=path)
    options = usual_options(path)
    array = new_array(shape, work.dtype, options)
    extents = _extents(work, array.chunks)
    panels = _Panels(work)
    with written(array):
        for region in chunk_regions(shape, tuple([extents[label] for label in work.result])):
            array[region] = _tile(work, panels, extents, region)
    return array


def _tile(work: Contraction, panels: _Panels, extents: Extents, region: Region) -> Values:
    """Return a region of the result."""
    at = dict(zip(work.result, region, strict=True))
    total: Values | None = None
    for summed in _summed_regions(work, extents):
        parts = panels.read(at | summed)
        if work.dtype == np.float16:
            # NumPy, too, adds up numbers of 16 bits in 32.
            parts = [part.astype(np.float32) for part in parts]
        products = np.asarray(work.call(*parts))
        # Of truths the sum is whether one is true, which NumPy says too.
        total = products if total is None else np.add(total, products, out=total)
    if total is None:
        return np.zeros([part.stop - part.start for part in region], work.dtype)
    return total.astype(work.dtype, copy=False)


def _summed_regions(work: Contraction, extents: Extents) -> Iterator[dict[int, slice]]:
    """Yield which part of each axis that is summed over is taken, panel after panel."""
    lengths = work.lengths
    labels = [label for label in lengths if label not in work.result]
    shape = tuple([lengths[label] for label in labels])
    for region in chunk_regions(shape, tuple([extents[label] for label in labels])):
        yield dict(zip(labels, region, strict=True))


class _Panels:
    """Reads panels of the operands; each keeps its last one, which is often the next one."""

    def __init__(self, work: Contraction) -> None:
        self._work = work
        self._last: list[tuple[Region, Values] | None] = [None] * len(work.operands)

    def read(self, at: dict[int, slice]) -> list[Values]:
        """Return the parts of the operands for parts of the axes of each label."""
        found: list[Values] = []
        for number, (operand, labels) in enumerate(zip(self._work.operands, self._work.labels, strict=True)):
            region = tuple(
                [
                    at[label] if size != 1 else slice(0, 1)
                    for label, size in zip(labels, operand.shape, strict=True)
                ]
            )
            last = self._last[number]
            if last is None or last[0] != region:
                self._last[number] = None  # Its memory is free before the next one is read.
                last = (region, read_from(operand, region))
                self._last[number] = last
            found.append(last[1])
        return found


def _extents(work: Contraction, chunks: tuple[int, ...]) -> Extents:
    """Choose how long panels and tiles are: so that the operands are read the fewest times.

    They start at chunks and are doubled, where it helps most, as long as there is memory.
    """
    lengths = work.lengths
    extents = dict.fromkeys(lengths, 1)
    for operand, labels in zip(work.operands, work.labels, strict=True):
        for label, length in zip(labels, chunks_of(operand) or (1,) * len(labels), strict=True):
            extents[label] = max(extents[label], length)
    extents |= dict(zip(work.result, chunks, strict=True))
    extents = {label: max(1, min(extent, lengths[label])) for label, extent in extents.items()}
    while extents and not _fits(work, extents, tile_bytes=1 << 62):
        # Sums in smaller parts first: tiles that are less than a chunk are written to it piece by piece.
        label = max(
            extents, key=lambda label: (label not in work.result and extents[label] > 1, extents[label])
        )
        if extents[label] == 1:
            break
        extents[label] = (extents[label] + 1) // 2
    cost = _cost(work, extents)
    while True:
        longer = [extents | {label: min(2 * extents[label], max(1, lengths[label]))} for label in extents]
        longer = [choice for choice in longer if choice != extents and _fits(work, choice, TILE_BYTES)]
        best = min(longer, key=lambda choice: _cost(work, choice), default=extents)
        if _cost(work, best) >= cost:
            return extents
        extents, cost = best, _cost(work, best)


def _fits(work: Contraction, extents: Extents, tile_bytes: int) -> bool:
    panels = 0
    for operand, labels in zip(work.operands, work.labels, strict=True):
        sizes = [min(extents[label], size) for label, size in zip(labels, operand.shape, strict=True)]
        panels += prod(sizes) * operand.dtype.itemsize
    tile = prod([extents[label] for label in work.result]) * work.dtype.itemsize
    return panels <= PANEL_BYTES and tile <= tile_bytes


def _cost(work: Contraction, extents: Extents) -> int:
    """Return how many bytes are read: of each operand all, once for each part of the labels it has not."""
    counts = {label: -(-size // extents[label]) for label, size in work.lengths.items()}
    total = prod(counts.values()) * _CALL_BYTES
    for operand, labels in zip(work.operands, work.labels, strict=True):
        again = [count for label, count in counts.items() if label not in labels]
        total += prod(operand.shape) * operand.dtype.itemsize * prod(again)
    return total
