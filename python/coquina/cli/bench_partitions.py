"""What `coquina bench` measures of partitions: which blocks parts of an array touch, and how long that
takes.

In: a source, a way to encode, ways of reading. Out: a `Cut` for each way to cut the array, with a `Reading`
for each.
Method: blocks are counted on the whole shape. Times are of a region from the middle of the data, cut with
the same chunks and blocks, in memory, cache off: of each place the least of three, of several places the
median.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.tuning.patterns import Pattern
from coquina.tuning.patterns import patterns as known_patterns

if TYPE_CHECKING:
    from coquina.tuning.ways import Way

#: Ways of reading that have a name; else the shape of a box.
ACCESSES = ("all", "rows", "columns", "planes", "points")
_TRIES = 3

Access = str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way of reading: blocks touched, bytes decoded for those wanted, and milliseconds on the region."""

    pattern: Pattern
    blocks: float
    decoded_bytes: float
    wanted_bytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A way to cut an array, and what reading came to. options: what makes it, for `asarray`, `convert`."""

    name: str
    options: dict[str, Any]
    chunks: tuple[int, ...]
    blocks: tuple[int, ...]
    readings: tuple[Reading, ...] = ()

    @property
    def ms(self) -> float:
        """The geometric mean of the times of all ways of reading."""
        return geometric_mean(one.ms for one in self.readings)


def patterns(shape: tuple[int, ...], access: Access) -> list[Pattern]:
    """Return the ways of reading that a word, or the shape of a box, stands for.

    Raises ValueError for no box.
    """
    return list(known_patterns(shape, "any" if access == "all" else access))


def cuts(shape: tuple[int, ...], dtype: np.dtype[Any], access: Access, given: dict[str, Any]) -> list[Cut]:
    """Return the ways to cut an array that are compared: what is given, and the rule's for some accesses."""
    wishes: list[tuple[str, dict[str, Any]]] = [("given", given)] if given else []
    wishes += [("any", {}), ("rows", {"access": "rows"}), ("columns", {"access": "columns"})]
    if not isinstance(access, str):
        wishes.append(("box", {"access": access}))
    found: dict[tuple[Any, ...], Cut] = {}
    for name, options in wishes:
        # Chunks of zeros are not stored, so that the whole shape costs nothing.
        array = coquina.zeros(shape, dtype, **options)
        found.setdefault((array.chunks, array.blocks), Cut(name, options, array.chunks, array.blocks))
    return list(found.values())


def region(source: Any, most_bytes: int) -> np.ndarray[Any, Any]:
    """Return items from the middle of a source: about `most_bytes`, all axes shorter by the same factor."""
    shape = tuple(map(int, source.shape))
    nbytes = math.prod(shape) * source.dtype.itemsize
    factor = min(1.0, most_bytes / nbytes) ** (1 / len(shape))
    lengths = [max(1, int(length * factor)) for length in shape]
    key = tuple(
        slice((total - length) // 2, (total - length) // 2 + length)
        for total, length in zip(shape, lengths, strict=True)
    )
    return np.ascontiguousarray(source[key])


def measured(
    cut: Cut, items: np.ndarray[Any, Any], shape: tuple[int, ...], way: Way, wanted: list[Pattern]
) -> Cut:
    """Return a cut with what reading came to."""
    chunks, blocks = (tuple(map(min, one, items.shape)) for one in (cut.chunks, cut.blocks))
    array = coquina.asarray(
        items, chunks=chunks, blocks=blocks, codec=way.codec, level=way.level, filters=way.filters, copy=True
    )
    array.cache_bytes = 0
    whole = coquina.zeros(shape, items.dtype, **cut.options)
    block_bytes = math.prod(cut.blocks) * items.itemsize
    readings: list[Reading] = []
    for pattern in wanted:
        blocks = median(whole.blocks_touched(key) for key in pattern.keys(shape))
        counts = [total if one is None else one for one, total in zip(pattern.lengths, shape, strict=True)]
        ms = _ms(array, Pattern(tuple(_within(pattern, items.shape))))
        readings.append(
            Reading(pattern, blocks, blocks * block_bytes, math.prod(counts) * items.itemsize, ms)
        )
    return Cut(cut.name, cut.options, cut.chunks, cut.blocks, tuple(readings))


def _within(pattern: Pattern, shape: tuple[int, ...]) -> list[int | None]:
    return [
        one if one is None else min(one, total) for one, total in zip(pattern.lengths, shape, strict=True)
    ]


def _ms(array: coquina.Array, pattern: Pattern) -> float:
    keys = pattern.keys(array.shape)
    array[keys[0]]  # code that runs for the first time
    return max(median(_seconds(array, key) for key in keys) * 1e3, 1e-6)


def _seconds(array: coquina.Array, key: Any) -> float:
    """Return the least time of some tries: one of a few microseconds says much of what else is running."""
    found: list[float] = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        array[key]
        found.append(time.perf_counter() - start)
    return min(found)
