"""What is looked at of an array before it is stored: some blocks from places all over it.

In: anything with a shape, a dtype and slices, and how it is to be cut. Out: `Place`s, each with whole blocks
of one chunk, padded with zeros as blocks at the edge are stored.
Memory: the blocks of all places, some megabytes. The places depend on shapes alone; each block is read once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import asarray
from coquina.lossy import Lossy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.lossy import Lossy
    from coquina.tuning.patterns import Shape

#: At most so many places, and so many blocks of each.
PLACES = 16
BLOCKS = 3
#: Blocks that are larger are looked at in fewer places.
BYTES_MAX = 32 << 20
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class Place:
    """Blocks of a chunk.

    start: where the first one begins. items: the blocks, one behind another. count: items that are the
    array's, and no padding.
    """

    start: Shape
    items: npt.NDArray[Any]
    count: int


def spread(total: int, wanted: int) -> Sequence[int]:
    """Return numbers below `total`: spread evenly, without a stride that meets one axis again and again."""
    if wanted >= total:
        return range(total)
    return sorted({int((0.5 + number * _GOLDEN) % 1 * total) for number in range(wanted)})


def places(source: Any, chunks: Shape, blocks: Shape, lossy: Lossy | None = None) -> list[Place]:
    """Return blocks from up to `PLACES` places. lossy: numbers are as near as this bound asks for.

    Raises ValueError if there are no items.
    """
    shape = tuple(int(length) for length in source.shape)
    dtype: np.dtype[Any] = np.dtype(source.dtype)
    if not math.prod(shape) or not dtype.itemsize:
        raise ValueError(
            f"tune: {dtype} of shape {shape}: the array is empty, so there is nothing to measure"
        )
    most = max(1, BYTES_MAX // (math.prod(blocks) * dtype.itemsize))
    together = min(BLOCKS, most)
    wanted = min(PLACES, most // together)
    counts = [-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True)]
    starts = _starts(counts, chunks, wanted)
    each = together * max(1, wanted // len(starts))
    found: list[Place] = []
    for number, start in starts:
        firsts = _blocks_in(shape, start, (chunks, blocks), number, each)
        groups = [firsts[at : at + together] for at in range(0, len(firsts), together)]
        found += [_place(source, group, blocks, dtype, lossy) for group in groups]
    return found


def _starts(counts: list[int], chunks: Shape, wanted: int) -> list[tuple[int, Shape]]:
    """Return the numbers of some chunks, and the first item of each."""
    found: list[tuple[int, Shape]] = []
    for number in spread(math.prod(counts), wanted):
        at = np.unravel_index(number, counts) if counts else ()
        found.append((number, tuple(int(one) * chunk for one, chunk in zip(at, chunks, strict=True))))
    return found


def _blocks_in(shape: Shape, start: Shape, cut: tuple[Shape, Shape], seed: int, wanted: int) -> list[Shape]:
    """Return the first items of some blocks of a chunk, of those that have items."""
    counts = [
        -(-min(chunk, length - first) // block)
        for length, first, chunk, block in zip(shape, start, *cut, strict=True)
    ]
    total = math.prod(counts)
    # Each chunk gives blocks of other places in it.
    shift = int(seed * _GOLDEN % 1 * total) if total > wanted else 0
    found: list[Shape] = []
    for number in spread(total, wanted):
        at = np.unravel_index((number + shift) % total, counts) if counts else ()
        found.append(
            tuple(first + int(one) * block for first, one, block in zip(start, at, cut[1], strict=True))
        )
    return sorted(found)


def _place(
    source: Any, starts: list[Shape], block: Shape, dtype: np.dtype[Any], lossy: Lossy | None
) -> Place:
    """Return blocks, padded with zeros where the array ends."""
    count = 0
    found = np.zeros((len(starts), *block), dtype)
    for number, start in enumerate(starts):
        ends = [
            min(first + extent, int(length))
            for first, extent, length in zip(start, block, source.shape, strict=True)
        ]
        region = tuple(slice(first, end) for first, end in zip(start, ends, strict=True))
        items = np.asarray(source[region if region else ()], dtype)
        if lossy is not None:
            items = _rounded(items, lossy)
        found[(number, *(slice(0, length) for length in items.shape))] = items
        count += items.size
    return Place(starts[0], found, count)


def _rounded(items: npt.NDArray[Any], lossy: Lossy) -> npt.NDArray[Any]:
    """Return numbers as near as a bound asks for."""
    bound: dict[str, Any] = {lossy.bound: lossy.value}
    near = Lossy(**bound, method="round")
    return asarray(np.ascontiguousarray(items), codec="lz4", level=1, lossy=near)[...]
