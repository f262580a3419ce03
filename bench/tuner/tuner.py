"""How near to the best way does codec="auto" come, for every goal, beside fixed ways and BTune?

    python -m bench.tuner.tuner                  71 arrays, every way of the grid; half an hour
    python -m bench.tuner.tuner --quick          some of the arrays and goals; a minute
    python -m bench.tuner.tuner --full           BTune with every goal, longer turns; an hour
    python -m bench.tuner.tuner --grid FILE      the grid out of a file, as a run leaves it: tuner-grid.json

Real sets, ERA5-like fields, numbers, images, text, records, and arrays whose halves differ, in chunks of 1
MiB and blocks of 64 KiB. For a chunk of each half, every way that the tuner may choose is timed on one
thread, the quickest of six rounds: that is the grid. A way's score is the seconds of a core and of the
storage for a byte (goal 0: storage of 2 GB/s, 0.5: 125 MB/s), its bytes alone at goal 1. Regret is what a
choice's score has above the best of the grid, in parts of it. What codec="auto" took is read off the chunks
that it wrote; all of them were read by python-blosc2.

Beside it: every way of the grid as a fixed default, and BTune (python-blosc2 4.0.0, blosc2-btune 1.2.1),
which gets each chunk 40 times and keeps one way; it is scored by the same clock. Then: what choosing adds
to writing 64 MB, whether other processes choose the same, how soon a choice follows the data.
Results: bench/results/tuner.json, tuner.md, tuner-regret.png, tuner-speed.png and tuner-grid.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench.common import studies
from bench.common.harness import Effort
from bench.common.packages import UnavailableError
from bench.common.run import RESULTS, Run, Script
from bench.tuner import (
    tuner_cells,
    tuner_choices,
    tuner_corpus,
    tuner_grid,
    tuner_overhead,
    tuner_peers,
    tuner_plots,
    tuner_report,
    tuner_stability,
)
from bench.tuner.tuner_cells import Cell
from bench.tuner.tuner_choices import Choice
from bench.tuner.tuner_grid import BALANCED, GOALS, MODES, Chunk

Asked = tuple[float, str]
EVERYTHING = [(goal, mode) for goal in GOALS for mode in MODES]
QUICK = [(0.0, "both"), BALANCED, (0.5, "read"), (1.0, "both")]
PEERS = [(0.0, "both"), BALANCED, (0.5, "read"), (0.5, "write"), (1.0, "both")]


def extend(parser: argparse.ArgumentParser) -> None:
    """The option of this bench."""
    parser.add_argument("--grid", type=Path, metavar="FILE", help="take from it what is known of the grid")


def grid(run: Run) -> list[list[Chunk]]:
    """The chunks of every array with the costs of all ways, measured or known; kept in a file."""
    known = tuner_grid.load(run.options.grid) if run.options.grid else {}
    arrays = []
    cases = list(tuner_corpus.corpus())
    for case in run.choose(cases[::9], cases, cases):
        chunks = list(tuner_grid.chunks_of(case))
        for chunk in chunks:
            if not tuner_grid.recall(chunk, known):
                tuner_grid.measure(chunk)
        run.say(f"grid: {case.name}, best for the balanced goal: {chunks[0].best(*BALANCED).name}")
        arrays.append(chunks)
    folder = run.options.out or (RESULTS if run.is_complete else None)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        tuner_grid.save(folder / "tuner-grid.json", [chunk for chunks in arrays for chunk in chunks])
    return arrays


def choices(run: Run, arrays: Sequence[Sequence[Chunk]]) -> dict[Asked, list[list[Choice]]]:
    """What codec="auto" takes, array by array."""
    found: dict[Asked, list[list[Choice]]] = {}
    for goal, mode in run.choose(QUICK, EVERYTHING, EVERYTHING):
        found[goal, mode] = []
        for chunks in arrays:
            title = f"{tuner_cells.asked(goal, mode)}, {chunks[0].case.name}"
            found[goal, mode] += run.attempt(title, partial(tuner_choices.choices, chunks, goal, mode))
    return found


def peers(run: Run, found: Mapping[Asked, Sequence[Sequence[Choice]]]) -> Iterator[Cell]:
    """BTune's search for the first chunk of each array."""
    try:
        tuner_peers.python()
    except UnavailableError as why:
        run.wrong.append(str(why))
        return
    for goal, mode in run.choose([BALANCED], PEERS, EVERYTHING):
        mine = [some[0] for some in found[goal, mode] if some[0].way is not None]
        tuner_peers.write_plan(run.folder, [one.chunk for one in mine])
        for name, is_told in ((tuner_peers.BTUNE, False), (tuner_peers.TOLD, True)):
            if goal == 1 and is_told:
                continue  # only size counts there
            run.say(f"{name}, {tuner_cells.asked(goal, mode)}")
            chunks = [one.chunk for one in mine]
            searches = tuner_peers.searches(run.folder, chunks, goal, mode, is_told=is_told)
            for one, search in zip(mine, searches, strict=True):
                yield tuner_cells.peer_cell(name, search, one, goal, mode)


def adaptation(run: Run) -> Iterator[Cell]:
    """How soon the choice changes where the data do."""
    for case in tuner_corpus.corpus():
        if case.is_mixed:
            for goal, mode in run.choose([BALANCED], [(0.0, "both"), BALANCED], [(0.0, "both"), BALANCED]):
                for values in run.attempt(case.name, partial(tuner_choices.adaptation, case, goal, mode)):
                    yield Cell("adaptation", tuner_cells.asked(goal, mode), case.name, values)


def measure(run: Run) -> Iterator[Cell]:
    """The parts that are wanted."""
    if {"choices", "peers"} & {*run.parts}:
        arrays = grid(run)
        found = choices(run, arrays)
        for (goal, mode), some in found.items():
            yield from (tuner_cells.regret_cell(one, goal, mode) for one in some)
        yield from tuner_cells.fixed_cells(arrays)
        if "peers" in run.parts:
            yield from peers(run, found)
    if "overhead" in run.parts:
        effort = run.choose(Effort(0.2, 2, 3), Effort(1.0, 3, 9), Effort(4.0, 5, 25))
        yield from tuner_overhead.cells(effort, run.choose(16 << 20, 64 << 20, 256 << 20))
    if "adaptation" in run.parts:
        yield from adaptation(run)
    if "stability" in run.parts:
        yield from tuner_stability.cells(run.choose(2, 20, 20))


SCRIPT = Script(
    studies.TUNER,
    __doc__,
    measure,
    tuner_report.line,
    asdict,
    tuner_report.body,
    tuner_plots.draw,
    needs=("blosc2",),
    extend=extend,
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
