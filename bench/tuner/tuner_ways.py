"""The ways to compress that the tuner may choose of, and what one of them costs with a chunk.

In: the dtype of items; the plain bytes of a chunk. Out: `Way`s; bytes of the chunk, seconds on one thread.
Invariant: every way is decoded and compared before it is timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import coquina as cq
from bench.common import harness

LEVELS = {
    "blosclz": (1, 5, 9),
    "lz4": (1, 5, 9),
    "lz4hc": (1, 5, 9),
    "zlib": (1, 5, 9),
    "zstd": (1, 2, 3, 4, 5, 6, 7, 8, 9),
}
Filters = tuple[tuple[str, int], ...]
BLOCK_BYTES = 65536
ROUNDS = 6
SLOW = 0.03, 0.1  # seconds: what takes longer is timed in half of the rounds, or in one


@dataclass(frozen=True)
class Way:
    """A codec at a level behind filters, which are names with parameters. Level 0 stores.

    split: as `compress` takes it; the tuner leaves it to the rule.
    """

    codec: str
    level: int
    filters: Filters
    split: str = "auto"

    @property
    def name(self) -> str:
        """As a reader says it: "zstd 5 + shuffle"."""
        if self.level == 0:
            return "stored"
        named = [f"{name}({meta})" if name == "shuffle" and meta else name for name, meta in self.filters]
        split = {"auto": [], "always": ["split"], "never": ["not split"]}[self.split]
        return " + ".join([f"{self.codec} {self.level}", *named, *split])


@dataclass(frozen=True)
class Cost:
    """Bytes of the chunk, and seconds to write and to read it on one thread."""

    cbytes: int
    write: float
    read: float


STORED = Way("zstd", 0, ())


def pipelines(dtype: np.dtype) -> list[Filters]:
    """The filters that suit items of a type. Parameters are those that a chunk's header shows."""
    size = typesize_of(dtype)
    found: list[Filters] = [(), (("bitshuffle", 0),), (("bytedelta", 1),)]
    if size > 1:
        found = [(), (("shuffle", 0),), (("bitshuffle", 0),), (("shuffle", 0), ("bytedelta", size))]
    if dtype.kind == "U":
        # Its characters have 4 bytes each, of which most are zero.
        found += [(("shuffle", 4),), (("shuffle", 4), ("bytedelta", 4))]
    return found


def ways(dtype: np.dtype) -> Iterator[Way]:
    """The whole grid for items of a type."""
    yield STORED
    for filters in pipelines(dtype):
        for codec, levels in LEVELS.items():
            for level in levels:
                yield Way(codec, level, filters)


def typesize_of(dtype: np.dtype) -> int:
    """What a chunk's header says of the type: one byte where an item is too long for it."""
    return dtype.itemsize if dtype.itemsize <= 255 else 1


def encode(way: Way, plain: bytes | np.ndarray, typesize: int, block_bytes: int = BLOCK_BYTES) -> bytes:
    """The chunk, made on one thread."""
    filters = list(way.filters)
    return cq.compress(
        plain,
        typesize=typesize,
        codec=way.codec,
        level=way.level,
        filters=filters,
        blocksize=block_bytes,
        split=way.split,
        threads=1,
    )


def decode(chunk: bytes, out: np.ndarray) -> None:
    """The bytes of a chunk, on one thread."""
    cq.decompress_into(chunk, out, threads=1)


def cost(way: Way, plain: np.ndarray, typesize: int, block_bytes: int = BLOCK_BYTES) -> Cost:
    """What one way makes of a chunk, as `costs` says it."""
    return costs([way], plain, typesize, block_bytes)[way]


def costs(
    some: Iterable[Way], plain: np.ndarray, typesize: int, block_bytes: int = BLOCK_BYTES
) -> dict[Way, Cost]:
    """What ways make of a chunk, and how long that takes; ValueError where other bytes come back.

    Seconds of a core, of the quickest of some rounds. Each round times all ways: a moment in which the
    machine is slow then spoils some round of some ways, not all that there is of one. Ways that make the same
    bytes are read as fast as each other.
    """
    calls: list[harness.Call] = []
    chunks: dict[Way, bytes] = {}
    out = np.empty(plain.nbytes, np.uint8)
    for way in some:
        chunk = encode(way, plain, typesize, block_bytes)
        decode(chunk, out)
        if not np.array_equal(out, plain):
            raise ValueError(f"{way.name}: other bytes come back")
        chunks[way] = chunk
        calls += [partial(encode, way, plain, typesize, block_bytes), partial(decode, chunk, out)]
    best = [harness.processor(call) for call in calls]
    for number in range(1, ROUNDS):
        for place, call in enumerate(calls):
            if best[place] < SLOW[number % 2]:
                best[place] = min(best[place], harness.processor(call))
    reads: dict[bytes, float] = {}
    for chunk, read in zip(chunks.values(), best[1::2], strict=True):
        reads[chunk] = min(read, reads.get(chunk, read))
    written = zip(chunks.items(), best[::2], strict=True)
    return {way: Cost(len(chunk), write, reads[chunk]) for (way, chunk), write in written}
