"""How many boxes of a grid a way of reading touches: on the average over all places where it can be.

In: lengths of an axis, of what is read, of chunks, of blocks. Out: a mean, exactly, without a walk over them.
Invariant: it is the mean of what `Array.blocks_touched` says, over all places.
"""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coquina.tuning.patterns import Pattern, Shape


def mean_touched(total: int, length: int, chunk: int, block: int) -> float:
    """Return how many blocks `length` items in a row touch on an axis of `total`.

    Blocks begin anew in every chunk; chunks themselves are counted by a block as long as the chunk.
    """
    length = min(length, total)
    if length < 1:
        return 0.0
    # A run that starts at s meets one block, and one more for each boundary p with s < p < s + length. So a
    # boundary counts as often as there are such starts: min(p, last + 1) - max(p - length + 1, 0).
    starts = total - length + 1
    if chunk % block == 0:
        chunk = block
    crossed = 0
    for first in range(0, min(chunk, total), block):
        count = ceil((total - first) / chunk)
        crossed += _sum_of_least(first, chunk, count, starts)
        crossed -= _sum_of_excess(first, chunk, count, length - 1)
    return 1 + crossed / starts


def _sum_of_least(first: int, step: int, count: int, most: int) -> int:
    """Return the sum of min(p, most) over p = first, first + step, ... (count of them)."""
    below = min(count, max(0, (most - first) // step + 1))
    return below * first + step * (below * (below - 1) // 2) + (count - below) * most


def _sum_of_excess(first: int, step: int, count: int, start: int) -> int:
    """Return the sum of max(p - start, 0) over the same p."""
    whole = count * first + step * (count * (count - 1) // 2)
    return whole - _sum_of_least(first, step, count, start)


def blocks_touched(shape: Shape, chunks: Shape, blocks: Shape, pattern: Pattern) -> float:
    """Return how many blocks a pattern touches on the average."""
    region = pattern.region(shape)
    return prod(mean_touched(*one) for one in zip(shape, region, chunks, blocks, strict=True))


def chunks_touched(shape: Shape, chunks: Shape, pattern: Pattern) -> float:
    """Return how many chunks a pattern touches on the average."""
    return blocks_touched(shape, chunks, chunks, pattern)
