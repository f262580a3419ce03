"""What choosing costs: arrays of 64 MB and more with codec="auto", beside the very ways that it takes.

In: nothing. Out: cells: seconds of both, by goal, mode and threads, and the ways that were taken: of new
arrays, whose first chunks are tried, and of writing all of them once more. All write to memory, in turns
(harness.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

import coquina as cq
from bench.common import data, harness, synthetic
from bench.common.harness import Effort
from bench.tuner import tuner_choices, tuner_grid
from bench.tuner.tuner_cells import Cell, asked
from bench.tuner.tuner_choices import Identity
from bench.tuner.tuner_corpus import Case
from bench.tuner.tuner_grid import BALANCED
from bench.tuner.tuner_ways import LEVELS, STORED, Way

NBYTES = 64 << 20
ASKED = (BALANCED, (0.0, "both"), (0.0, "write"))
AUTO, SAME = 'codec="auto"', "the same ways"


def arrays(nbytes: int = NBYTES) -> Iterator[Case]:
    """A field, whole numbers, measured temperatures where they are in the cache."""
    rows, cols = synthetic.GRID
    yield Case("era5 wind", "field", synthetic.era5("wind", (-(-nbytes // (4 * rows * cols)), rows, cols)))
    random = np.random.RandomState(4)
    steps = random.randint(-40, 41, nbytes // 8)
    yield Case("walk, i8", "integers", np.cumsum(steps))
    found = data.cached().get("cmip_tas")
    if found is not None:
        yield Case("cmip_tas", "real", np.ascontiguousarray(found[: max(1, nbytes // found[0].nbytes)]))


def write(case: Case, way: Way, threads: int) -> cq.Array:
    """The array by a fixed way, cut by the default rule."""
    return cq.asarray(case.x, codec=way.codec, level=way.level, filters=list(way.filters), threads=threads)


def write_auto(case: Case, goal: float, mode: str, threads: int) -> cq.Array:
    """The array with codec="auto", cut by the default rule."""
    return cq.asarray(case.x, codec="auto", goal=goal, for_=mode, threads=threads)


def taken(case: Case, written: cq.Array) -> dict[Way, float]:
    """The ways of the chunks, and the share that each has of them."""
    stored = tuner_grid.stored_chunks(written)
    kinds = [tuner_choices.identity(chunk) for chunk in stored]
    shares: dict[Way, float] = {}
    for number, kind in enumerate(kinds):
        if kind[:2] not in [one[:2] for one in kinds[:number]]:
            share = sum(one[:2] == kind[:2] for one in kinds) / len(kinds)
            shares[level_of(case, kind, number)] = share
    return shares


def level_of(case: Case, kind: Identity, number: int) -> Way:
    """The way of chunk `number`, whose level shows in its bytes."""
    codec, filters, _ = kind
    if codec not in LEVELS:
        return STORED
    for level in LEVELS[codec]:
        way = Way(codec, level, filters)
        if tuner_choices.identity(tuner_grid.stored_chunks(write(case, way, 2))[number]) == kind:
            return way
    raise ValueError(f"{case.name}: no level of {codec} makes {kind}")


def cells(effort: Effort, nbytes: int = NBYTES) -> Iterator[Cell]:
    """Every array with some goals, on one thread and on two."""
    for case in arrays(nbytes):
        for goal, mode in ASKED:
            shares = taken(case, write_auto(case, goal, mode, 2))
            for threads in (1, 2):
                yield contest(case, (goal, mode), shares, threads, effort)


def contest(
    case: Case, wanted: tuple[float, str], shares: Mapping[Way, float], threads: int, effort: Effort
) -> Cell:
    """Writing while choosing, beside the ways that were chosen: a new array, and once more into it."""
    first = beside(
        {AUTO: partial(write_auto, case, *wanted, threads)}
        | {way.name: partial(write, case, way, threads) for way in shares},
        shares,
        effort,
    )
    held = {AUTO: write_auto(case, *wanted, threads)}
    held |= {way.name: write(case, way, threads) for way in shares}
    threads_before = cq.num_threads()
    cq.set_num_threads(threads)
    try:
        again = beside({name: partial(rewrite, a, case.x) for name, a in held.items()}, shares, effort)
    finally:
        cq.set_num_threads(threads_before)
    ways = "; ".join(f"{way.name} ({share:.0%})" for way, share in shares.items())
    values = {"ways": ways, "threads": threads, "auto": first.ours, "same": first.theirs}
    values |= {"nbytes": case.x.nbytes, "after": again.speedup}
    return Cell("overhead", asked(*wanted), case.name, values, {SAME: first.speedup})


def rewrite(array: cq.Array, x: np.ndarray) -> None:
    """Writes all of it once more: a tuner has met all of these chunks."""
    array[...] = x


def beside(calls: Mapping[str, harness.Call], shares: Mapping[Way, float], effort: Effort) -> harness.Versus:
    """Choosing, beside each of the ways as often as it was chosen."""
    seconds = harness.take_turns(dict(calls), effort)
    rounds = zip(*(seconds[way.name] for way in shares), strict=True)
    same = [sum(share * one for share, one in zip(shares.values(), each, strict=True)) for each in rounds]
    return harness.versus(seconds[AUTO], same)
