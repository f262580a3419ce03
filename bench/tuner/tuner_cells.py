"""The cells of `tuner.py`: one array with one goal, one fixed way, one run of another kind.

In: measured chunks, choices, what a peer did. Out: `Cell`s, which are rows of the JSON.
A regret is (score - best score) / best score, where the best is of all ways of the grid for each chunk.
Ratios are others' scores over ours: above 1, codec="auto" is the better choice.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.common import harness
from bench.tuner import tuner_choices, tuner_grid
from bench.tuner.tuner_choices import Choice
from bench.tuner.tuner_grid import BALANCED, Chunk
from bench.tuner.tuner_peers import EARLY, Search
from bench.tuner.tuner_ways import Way

BEST = "best of the grid"
DEFAULT = Way("zstd", 1, (("shuffle", 0),))  # of coquina, where nobody says anything
THEIRS = Way("zstd", 5, (("shuffle", 0),))  # of python-blosc2
RIVALS = (
    DEFAULT,
    THEIRS,
    Way("zstd", 1, (("bitshuffle", 0),)),
    Way("lz4", 9, (("bitshuffle", 0),)),
)
MEASURES = ("ratio", "write_speed", "read_speed")


@dataclass(frozen=True)
class Cell:
    """What was found. part: regret, fixed, peer, overhead, stability or adaptation."""

    part: str
    work: str
    data: str
    values: Mapping[str, Any] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)


def asked(goal: float, mode: str) -> str:
    """A goal and a mode as a reader says them."""
    return f"goal {goal:g}, {mode}"


def worth(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks that need a way."""
    return [chunk for chunk in chunks if not chunk.is_uniform]


def measures(chunks: Sequence[Chunk], ways: Sequence[Way]) -> dict[str, float]:
    """Of ways for chunks of an array: ratio, MB/s of items written and read by one core."""
    costs = [chunk.cost(way) for chunk, way in zip(chunks, ways, strict=True)]
    nbytes = sum(chunk.plain.nbytes for chunk in chunks)
    found = [sum(getattr(cost, name) for cost in costs) for name in ("cbytes", "write", "read")]
    return dict(
        zip(MEASURES, (nbytes / found[0], nbytes / 1e6 / found[1], nbytes / 1e6 / found[2]), strict=True)
    )


def total(chunks: Sequence[Chunk], ways: Sequence[Way], goal: float, mode: str) -> float:
    """What the goal has against ways for some chunks."""
    return sum(chunk.score(way, goal, mode) for chunk, way in zip(chunks, ways, strict=True))


def best_of(chunks: Sequence[Chunk], goal: float, mode: str) -> list[Way]:
    """The best ways of the grid."""
    return [chunk.best(goal, mode) for chunk in chunks]


def fitted(chunks: Sequence[Chunk], way: Way) -> list[Way]:
    """A fixed way for chunks of an array."""
    return [tuner_grid.fitted(way, chunk.case.x.dtype) for chunk in chunks]


def regret_cell(choices: Sequence[Choice], goal: float, mode: str) -> Cell:
    """One array with one goal: what was chosen beside the best and beside some fixed ways."""
    pairs = [(one.chunk, one.way) for one in choices if one.way is not None]
    case = choices[0].chunk.case
    values: dict[str, Any] = {"kind": case.kind, "goal": goal, "mode": mode}
    if not pairs:
        return Cell("regret", asked(goal, mode), case.name, {**values, "chosen": tuner_choices.UNIFORM})
    chunks, ways = [chunk for chunk, _ in pairs], [way for _, way in pairs]
    mine, best = total(chunks, ways, goal, mode), best_of(chunks, goal, mode)
    least = total(chunks, best, goal, mode)
    ratios = {way.name: total(chunks, fitted(chunks, way), goal, mode) / mine for way in RIVALS}
    values |= {
        "chosen": tuner_choices.names(ways),
        "best": tuner_choices.names(best),
        "regret": mine / least - 1,
        **measures(chunks, ways),
    }
    return Cell("regret", asked(goal, mode), case.name, values, {BEST: least / mine, **ratios})


def fixed_scores(arrays: Sequence[Sequence[Chunk]], goal: float, mode: str) -> dict[Way, list[float]]:
    """How many times the best score each fixed way has, array by array."""
    found: dict[Way, list[float]] = {way: [] for way in tuner_grid.fixed_ways()}
    for chunks in arrays:
        least = total(chunks, best_of(chunks, goal, mode), goal, mode)
        for way, values in found.items():
            values.append(total(chunks, fitted(chunks, way), goal, mode) / least)
    return found


def fixed_cells(arrays: Sequence[Sequence[Chunk]]) -> Iterator[Cell]:
    """For each goal and mode the best fixed way and both defaults; for the balanced goal all of them."""
    arrays = [some for some in map(worth, arrays) if some]
    for goal in tuner_grid.GOALS:
        for mode in tuner_grid.MODES:
            scores = fixed_scores(arrays, goal, mode)
            ranked = sorted(scores, key=lambda way: harness.geometric_mean(scores[way]))
            for place, way in enumerate(ranked, 1):
                if place == 1 or way in (DEFAULT, THEIRS) or (goal, mode) == BALANCED:
                    values = {"goal": goal, "mode": mode, "way": way.name, "place": place}
                    values |= {**spread(scores[way]), **means(arrays, way)}
                    yield Cell("fixed", asked(goal, mode), "corpus", values)


def spread(scores: Sequence[float]) -> dict[str, float]:
    """Regrets of scores that are so many times the best ones; `mean` is a geometric one of the scores."""
    regrets = [one - 1 for one in scores]
    return {
        "mean": harness.geometric_mean(scores) - 1,
        "median": statistics.median(regrets),
        "p95": float(np.quantile(regrets, 0.95)),
        "max": max(regrets),
    }


def means(arrays: Sequence[Sequence[Chunk]], way: Way) -> dict[str, float]:
    """The measures of a fixed way: geometric means over all arrays."""
    found = [measures(chunks, fitted(chunks, way)) for chunks in arrays]
    return {name: harness.geometric_mean(one[name] for one in found) for name in MEASURES}


def peer_cell(peer: str, search: Search, mine: Choice, goal: float, mode: str) -> Cell:
    """What a peer kept for a chunk, and what it tried at first, beside what codec="auto" took."""
    chunk = mine.chunk
    assert mine.way is not None
    least, ours = chunk.score(chunk.best(goal, mode), goal, mode), chunk.score(mine.way, goal, mode)
    kept = chunk.score(search.winner, goal, mode)
    early = statistics.fmean(chunk.score(way, goal, mode) for way in search.tried[:EARLY])
    values = {
        "peer": peer,
        "goal": goal,
        "mode": mode,
        "kept": search.winner.name,
        "ours": ours / least - 1,
        "regret": kept / least - 1,
        "early": early / least - 1,
        **measures([chunk], [search.winner]),
    }
    return Cell(
        "peer",
        asked(goal, mode),
        chunk.case.name,
        values,
        {peer: kept / ours, f"{peer}, at first": early / ours},
    )
