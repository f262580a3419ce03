"""What `coquina bench` measures of codecs: ratio, and speed of writing and reading, on a sample of the data.

In: anything with a shape, a dtype and slices. Out: a `Measurement` for each way to encode it, in the order
asked.
Method: boxes of whole chunks from places all over the data are put behind each other as one array, a chunk
each, and that is encoded and decoded in memory on all threads, cache off. Times are medians. What comes
back is compared with what went in. The places depend on the shape alone.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.tuning.samples import spread
from coquina.tuning.ways import Way

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from coquina.cli.arguments import Pipeline

#: Levels that are tried of a codec, and codecs that are tried, where none are given.
LEVELS = {"blosclz": (5,), "lz4": (5,), "lz4hc": (5,), "zlib": (5,), "zstd": (1, 5)}
#: The same where small is all that counts: high levels take long to measure, and are never best for speed.
LEVELS_FOR_SIZE = {**LEVELS, "lz4hc": (9,), "zlib": (9,), "zstd": (5, 9)}
CODECS = ("blosclz", "lz4", "lz4hc", "zstd")
_LOSSY = ("trunc_prec", "int_trunc")
SECONDS = 0.4  # a way is tried again until it took this long,
TIMES = 5  # or this often


@dataclass(frozen=True, slots=True)
class Sample:
    """Boxes of the data, one behind another along the first axis. blocks: how each box is cut."""

    items: np.ndarray[Any, Any]
    blocks: tuple[int, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a way to encode came to. Seconds are those of the whole sample."""

    way: Way
    nbytes: int
    cbytes: int
    write_seconds: float
    read_seconds: float
    is_exact: bool
    is_front: bool = False

    @property
    def ratio(self) -> float:
        """Bytes of the items to bytes stored; of zeros none are, which counts as one."""
        return self.nbytes / max(self.cbytes, 1)

    @property
    def write_mbs(self) -> float:
        """Millions of bytes encoded a second."""
        return self.nbytes / self.write_seconds / 1e6

    @property
    def read_mbs(self) -> float:
        """Millions of bytes decoded a second."""
        return self.nbytes / self.read_seconds / 1e6


def ways(dtype: np.dtype[Any], given: argparse.Namespace) -> list[Way]:
    """Return the ways that are tried: codec, level, filters as given, and a short list for what is not."""
    codecs: list[str] | None = given.codec
    levels: list[int] | None = given.level
    filters: list[Pipeline] | None = given.filters
    known = LEVELS_FOR_SIZE if given.goal == "size" else LEVELS
    return [
        Way(codec, level, pipeline)
        for codec in codecs or CODECS
        for level in levels or known[codec]
        for pipeline in filters or pipelines(dtype)
    ]


def pipelines(dtype: np.dtype[Any]) -> list[Pipeline]:
    """Return the filters that may suit a dtype."""
    if dtype.itemsize == 1:
        return ["nofilter", "bitshuffle"]
    if dtype.kind in "SUV":
        return ["nofilter", "shuffle"]
    found: list[Pipeline] = ["shuffle", "bitshuffle", ["shuffle", "bytedelta"], "nofilter"]
    return found if dtype.kind in "fc" else [*found, ["delta", "shuffle"]]


def sample(source: Any, chunks: tuple[int, ...], blocks: tuple[int, ...], most_bytes: int) -> Sample:
    """Return boxes of some `most_bytes`, or one box if that is more, from places all over the source.

    Raises ValueError if there is nothing to measure.
    """
    shape = tuple(map(int, source.shape))
    if not math.prod(shape) or not source.dtype.itemsize:
        raise ValueError(f"{source.dtype} {shape}: the array is empty, so there is nothing to measure")
    box = tuple(map(min, chunks, shape))
    counts = tuple(length // part for length, part in zip(shape, box, strict=True))
    total = math.prod(counts)
    wanted = max(1, min(total, most_bytes // (math.prod(box) * source.dtype.itemsize)))
    items = np.empty((0, *box), source.dtype)
    pieces = [items]
    for place in spread(total, wanted):
        starts = np.unravel_index(place, counts) if counts else ()
        region = tuple(
            slice(int(at) * length, (int(at) + 1) * length) for at, length in zip(starts, box, strict=True)
        )
        pieces.append(np.asarray(source[region if region else ()])[np.newaxis])
    return Sample(np.concatenate(pieces), tuple(map(min, blocks, box)))


def measure(one: Sample, way: Way) -> Measurement:
    """Encode and decode a sample. Raises CorruptError if other items come back, but for lossy filters."""
    box = one.items.shape[1:]

    def encode() -> coquina.Array:
        cut: dict[str, Any] = {"chunks": (1, *box), "blocks": (1, *one.blocks)}
        return coquina.asarray(
            one.items, **cut, codec=way.codec, level=way.level, filters=way.filters, copy=True
        )

    array, write_seconds = timed(encode)
    array.cache_bytes = 0
    back, read_seconds = timed(lambda: array[...])
    is_exact = np.array_equal(_bytes(back), _bytes(one.items))
    if not is_exact and not any(name in way.pipeline for name in _LOSSY):
        raise coquina.CorruptError(
            f"{way}: decoding does not return the input; please report it with the data"
        )
    return Measurement(way, one.items.nbytes, array.info.cbytes, write_seconds, read_seconds, is_exact)


def measure_all(samples: list[Sample], way: Way) -> tuple[Measurement, list[Measurement]]:
    """Measure a way on several samples (columns): all together, and each."""
    each = [measure(one, way) for one in samples]
    total = Measurement(
        way,
        sum(one.nbytes for one in each),
        sum(one.cbytes for one in each),
        sum(one.write_seconds for one in each),
        sum(one.read_seconds for one in each),
        all(one.is_exact for one in each),
    )
    return total, each


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives, and the median of the seconds that it takes."""
    seconds: list[float] = []
    result: Any = None
    while not seconds or (len(seconds) < TIMES and sum(seconds) < SECONDS):
        result = None  # its memory is there for the next one
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, max(median(seconds), 1e-9)


def _bytes(items: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # As bytes: NaN equals itself then, and -0.0 is not 0.0.
    return np.ascontiguousarray(items).reshape(-1).view(np.uint8)


def with_front(found: list[Measurement]) -> list[Measurement]:
    """Return the measurements with those marked that no other beats in ratio, writing and reading at once."""
    points = [(one.ratio, one.write_mbs, one.read_mbs) for one in found]
    return [replace(one, is_front=is_front) for one, is_front in zip(found, front(points), strict=True)]


def front(points: list[tuple[float, ...]]) -> list[bool]:
    """Return which points no other beats in all coordinates at once."""

    def is_beaten(mine: tuple[float, ...]) -> bool:
        return any(
            other != mine and all(theirs >= own for theirs, own in zip(other, mine, strict=True))
            for other in points
        )

    return [not is_beaten(point) for point in points]


#: What a goal is the least of: seconds for a million bytes that are written once and read so many times, in
#: memory or over storage of so many MB/s. The smallest is simply the smallest.
READS = 4
STORAGE_MBS = 200
GOALS = {
    "speed": f"written once and read {READS} times, in memory",
    "balanced": f"written once and read {READS} times over storage of {STORAGE_MBS} MB/s",
    "size": "the smallest",
}


def cost(one: Measurement, goal: str) -> float:
    """Return what the best way to encode has the least of."""
    if goal == "size":
        return one.cbytes
    seconds = 1 / one.write_mbs + READS / one.read_mbs
    if goal == "balanced":
        seconds += (1 + READS) / (STORAGE_MBS * one.ratio)
    return seconds
