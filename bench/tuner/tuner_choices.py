"""What codec="auto" takes for the chunks of the corpus, and what that costs beside what the grid knows.

In: measured chunks. Out: the way of each stored chunk, by goal and mode; regrets; how soon a choice changes
with the data.
What must hold: a way is read off the stored chunk, whose codec, filters and bytes have to be those of a way
of the grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import coquina as cq
from bench.tuner import tuner_grid, tuner_table
from bench.tuner.tuner_corpus import Case
from bench.tuner.tuner_grid import Chunk
from bench.tuner.tuner_ways import STORED, Filters, Way

UNIFORM = "one item over and over"
FINE = 1 << 18  # bytes of a chunk of the arrays that show how soon a choice changes
Identity = tuple[str, Filters, int]


@dataclass(frozen=True)
class Choice:
    """The way of a chunk for a goal; None if it is a special value. cbytes: of what is stored."""

    chunk: Chunk
    way: Way | None
    cbytes: int


def auto(case: Case, goal: float, mode: str, *, calibrate: bool = False) -> cq.Array:
    """The array as codec="auto" writes it."""
    return cq.asarray(
        case.x,
        chunks=case.chunks,
        blocks=case.blocks,
        codec="auto",
        goal=goal,
        for_=mode,
        calibrate=calibrate,
    )


def identity(stored: bytes) -> Identity:
    """What a stored chunk says of its way: codec, filters, and its length, which tells levels apart."""
    info = cq.chunk_info(stored)
    codec = info.codec if info.kind == "blocks" else info.kind
    return codec, tuple(info.filters), len(stored)


def way_of(chunk: Chunk, stored: bytes) -> Way | None:
    """The way of a stored chunk, None for a special value; ValueError if it is none of the grid."""
    codec, filters, cbytes = identity(stored)
    if codec == "stored":
        return STORED
    if cq.chunk_info(stored).kind != "blocks":
        return None
    levels = [way for way in chunk.costs if (way.codec, way.filters) == (codec, filters)]
    same = [way for way in levels if chunk.costs[way].cbytes == cbytes]
    if not same:
        raise ValueError(f"{codec} {filters}, {cbytes} bytes: no way of the grid")
    # Of levels that make the same bytes, the first that the tuner may choose.
    return min(same, key=lambda way: way.level not in tuner_table.WAYS[way.codec])


def choices(chunks: Sequence[Chunk], goal: float, mode: str) -> list[Choice]:
    """What chunks of a case became."""
    written = tuner_grid.stored_chunks(auto(chunks[0].case, goal, mode))
    stored = [written[chunk.number] for chunk in chunks]
    return [Choice(chunk, way_of(chunk, one), len(one)) for chunk, one in zip(chunks, stored, strict=True)]


def names(ways: Sequence[Way | None]) -> str:
    """Ways as a reader says them, once if all are the same."""
    return "; ".join(dict.fromkeys(way.name if way else UNIFORM for way in ways))


def adaptation(case: Case, goal: float, mode: str) -> Mapping[str, object]:
    """After how many chunks of the second half its choice is that of an array of the second half alone."""
    fine = replace(case, chunk_bytes=FINE)
    half = len(case.x) // 2
    rest = replace(fine, x=np.ascontiguousarray(case.x[half:]))
    found, alone = (
        [identity(stored)[:2] for stored in tuner_grid.stored_chunks(auto(one, goal, mode))]
        for one in (fine, rest)
    )
    first = -(-half // fine.chunks[0])  # the first chunk that has nothing of the first half
    before, after, wanted = (max(set(some), key=some.count) for some in (found[:first], found[first:], alone))
    late = next((number for number, one in enumerate(found[first:]) if one == wanted), len(found) - first)
    told = {"before": spelled(before), "after": spelled(after), "alone": spelled(wanted)}
    return {"chunks": len(found), "first": first, "late": late, **told}


def spelled(kind: tuple[str, Filters]) -> str:
    """Codec and filters as a reader says them."""
    codec, filters = kind
    return " + ".join([codec, *(name for name, _ in filters)])
