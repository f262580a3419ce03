"""Walks over an array in boxes: whole chunks, as many as a budget of memory takes.

In: shape and chunk shape. Out: regions, tuples of slices, in C order, that cover every item once.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What copying keeps in memory at a time, unless a single chunk is more.
BOX_BYTES = 32 << 20

Region = tuple[slice, ...]


def chunk_regions(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[Region]:
    """Return the regions of all chunks."""
    starts = [range(0, size, max(chunk, 1)) for size, chunk in zip(shape, chunks, strict=True)]
    sides = zip(starts, chunks, shape, strict=True)
    return product(*[[slice(at, min(at + chunk, size)) for at in every] for every, chunk, size in sides])


def boxes(
    shape: tuple[int, ...], chunks: tuple[int, ...], item_bytes: int, budget: int = BOX_BYTES
) -> Iterator[Region]:
    """Yield regions of whole chunks that take at most `budget` bytes, but at least one chunk."""
    extents = [min(max(chunk, 1), max(size, 1)) for size, chunk in zip(shape, chunks, strict=True)]
    # Long rows first: a region of whole rows lies in one piece in most things that are copied from.
    for axis in reversed(range(len(shape))):
        others = prod(extents) // extents[axis] * max(item_bytes, 1)
        fitting = budget // max(others, 1) // extents[axis] * extents[axis]
        extents[axis] = min(max(fitting, extents[axis]), max(shape[axis], 1))
        if extents[axis] < shape[axis]:
            break
    return chunk_regions(shape, tuple(extents))
