"""The grid of `tuner.py`: what every way makes of chunks of the corpus, and what a goal thinks of it.

In: the cases of the corpus. Out: `Chunk`s with the cost of every way; scores for a goal; a file of them, so
that the report can be made again without measuring.
Source: crates/coquina/src/policy/tuned/goal.rs says what a goal is; here it is written again, to judge it.
Invariant: what lies in the file belongs to the very bytes that the corpus has now.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path

import blosc2
import numpy as np

import coquina as cq
from bench.common import harness
from bench.tuner import tuner_ways
from bench.tuner.tuner_corpus import Case
from bench.tuner.tuner_ways import Cost, Way

GOALS = (0.0, 0.25, 0.5, 0.75, 1.0)
MODES = ("read", "write", "both")
BALANCED = (0.5, "both")
BANDWIDTH = 125e6
SAME_SIZE = 1.001  # of chunks that count as equally small where only size counts


@dataclass(frozen=True)
class Chunk:
    """A chunk of a case: its plain bytes, block behind block, as the writer of arrays would encode them.

    costs: of the ways of the grid. others: of ways beyond it, which peers took.
    """

    case: Case
    number: int
    plain: np.ndarray = field(repr=False)
    block_bytes: int
    costs: dict[Way, Cost] = field(default_factory=dict, repr=False)
    others: dict[Way, Cost] = field(default_factory=dict, repr=False)

    @property
    def typesize(self) -> int:
        """Bytes of an item, for the filters."""
        return tuner_ways.typesize_of(self.case.x.dtype)

    @cached_property
    def is_uniform(self) -> bool:
        """True if it is one item over and over: no way is needed for that."""
        items = self.plain[: self.plain.nbytes // self.case.x.itemsize * self.case.x.itemsize]
        return bool((items.reshape(-1, self.case.x.itemsize) == items[: self.case.x.itemsize]).all())

    @property
    def crc(self) -> int:
        """Tells whether the bytes are the same as before."""
        return zlib.crc32(self.plain)

    def score(self, way: Way, goal: float, mode: str) -> float:
        """What the goal has against the way: seconds for a byte, or bytes where only size counts."""
        return score(self.cost(way), self.plain.nbytes, goal, mode)

    def cost(self, way: Way) -> Cost:
        """Of a way that was measured."""
        return self.costs.get(way) or self.others[way]

    def best(self, goal: float, mode: str) -> Way:
        """The way of the grid that the goal likes most."""
        if goal < 1:
            return min(self.costs, key=lambda way: self.score(way, goal, mode))
        smallest = min(cost.cbytes for cost in self.costs.values())
        small = [way for way, cost in self.costs.items() if cost.cbytes <= smallest * SAME_SIZE]
        return min(small, key=lambda way: seconds(self.costs[way], mode))


def seconds(cost: Cost, mode: str) -> float:
    """Of what the mode counts."""
    return {"read": cost.read, "write": cost.write, "both": cost.read + cost.write}[mode]


def score(cost: Cost, nbytes: int, goal: float, mode: str, bandwidth: float = BANDWIDTH) -> float:
    """Seconds of a core and of the storage for a byte of items; bytes of the chunk at goal 1."""
    if goal >= 1:
        return float(cost.cbytes)
    fraction = cost.cbytes / nbytes
    moved = (2 if mode == "both" else 1) * fraction / (bandwidth * 2 ** (4 * (1 - 2 * goal)))
    return seconds(cost, mode) / nbytes + moved


def measured_numbers(case: Case) -> list[int]:
    """Which chunks are measured: one of each half."""
    count = prod(-(-side // chunk) for side, chunk in zip(case.x.shape, case.chunks, strict=True))
    return [0] if count == 1 else [0, 3 * count // 4] if case.is_mixed else [0, count // 2]


def chunks_of(case: Case, *, is_all: bool = False) -> Iterator[Chunk]:
    """The chunks of a case that are measured."""
    held = cq.asarray(case.x, chunks=case.chunks, blocks=case.blocks, codec="zstd", level=0)
    found = stored_chunks(held)
    for number in range(len(found)) if is_all else measured_numbers(case):
        plain = np.frombuffer(cq.decompress(found[number]), np.uint8)
        yield Chunk(case, number, plain, cq.chunk_info(found[number]).blocksize)


def stored_chunks(array: cq.Array) -> list[bytes]:
    """The chunks of an array as they lie in a frame, found by python-blosc2, which thus reads it."""
    frame = array.to_bytes()  # which python-blosc2 looks into without holding it
    theirs = blosc2.ndarray_from_cframe(frame)
    return [theirs.schunk.get_chunk(number) for number in range(theirs.schunk.nchunks)]


def measure(chunk: Chunk) -> None:
    """Fills in the cost of every way."""
    ways = tuner_ways.ways(chunk.case.x.dtype)
    chunk.costs.update(tuner_ways.costs(ways, chunk.plain, chunk.typesize, chunk.block_bytes))


def stored(chunk: Chunk) -> Mapping[str, object]:
    """A chunk as the file has it: bytes, and nanoseconds for 1000 bytes to write and to read, by way."""
    scale = 1e12 / chunk.plain.nbytes
    costs = [[c.cbytes, round(c.write * scale, 1), round(c.read * scale, 1)] for c in chunk.costs.values()]
    return {"data": chunk.case.name, "chunk": chunk.number, "crc": chunk.crc, "costs": costs}


def save(path: Path, chunks: list[Chunk]) -> None:
    """Writes the file: a line for each chunk."""
    lines = ",\n".join(json.dumps(stored(chunk), separators=(",", ":")) for chunk in chunks)
    about = json.dumps(harness.circumstances())
    path.write_text(f'{{"about": {about},\n"chunks": [\n{lines}\n]}}\n')


def load(path: Path) -> dict[tuple[str, int], Mapping[str, object]]:
    """What the file knows, by case and number."""
    content = json.loads(path.read_text())
    return {(one["data"], one["chunk"]): one for one in content["chunks"]}


def recall(chunk: Chunk, known: Mapping[tuple[str, int], Mapping[str, object]]) -> bool:
    """Fills in the costs that the file knows of this very chunk; False if it knows none."""
    one = known.get((chunk.case.name, chunk.number))
    ways = list(tuner_ways.ways(chunk.case.x.dtype))
    if one is None or one["crc"] != chunk.crc or len(costs := one["costs"]) != len(ways):
        return False
    scale = chunk.plain.nbytes / 1e12
    for way, (cbytes, write, read) in zip(ways, costs, strict=True):
        chunk.costs[way] = Cost(cbytes, write * scale, read * scale)
    return True


def fitted(way: Way, dtype: np.dtype) -> Way:
    """A way for items of eight bytes as it is for others: those of one byte have nothing to shuffle."""
    size = tuner_ways.typesize_of(dtype)
    parameters = {"bytedelta": size}
    some = [one for one in way.filters if size > 1 or one[0] != "shuffle"]
    return replace(way, filters=tuple((name, parameters.get(name, meta)) for name, meta in some))


def fixed_ways() -> Iterator[Way]:
    """Every way of the grid for items of eight bytes: what a default could be."""
    yield from tuner_ways.ways(np.dtype("f8"))
