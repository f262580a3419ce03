"""The parts `builds` and `memory` of `index.py`: what an index costs.

In: a plan. Out: cells of the time to index a column; facts of what the file gains, and of memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.common import harness
from bench.hdf5.hdf5_contest import TABLES, Case
from bench.indexes.index_contest import OURS, Found, IndexPlan, Remark, cell, in_rounds
from bench.indexes.index_data import FLOAT, INT
from bench.indexes.index_peers import COMPLETE, INDEXED, Library, copy, remove, size
from bench.indexes.index_theirs import CTABLE
from bench.tables.table_facts import Fact
from bench.tables.table_peers import COLUMNS, DUCKDB, ROWS

CHILD = "bench.indexes.index_child"
ROUNDS, EACH = 3, 4.0  # a build that takes long is not repeated
TYPES = {INT: "int32", FLOAT: "float64"}
GOALS = {TABLES: 5.0, DUCKDB: 0.5}  # times faster, for complete indexes
SIZE_SHARE = 0.5  # of what PyTables' takes, at most
MEBIBYTE = 1 << 20
LIMITS = (256, 64)  # MiB


def builds(plan: IndexPlan) -> Iterator[Found]:
    """Each level on both columns, one after the other in the same file."""
    for level in plan.levels:
        libraries = [library for library in plan.libraries if level in library.kinds]
        seconds, sizes = built(plan, libraries, level)
        for column in INDEXED:
            work = f"{level}, {TYPES[column]}"
            goals = GOALS if level == COMPLETE else {}
            yield cell(
                Case("builds", work, plan.label, 0, goals, ours=COLUMNS),
                {library.name: seconds[library.name][column] for library in libraries},
            )
            values = {library.name: sizes[library.name][column] / 1e6 for library in libraries}
            limits = {COLUMNS: SIZE_SHARE * values[TABLES]} if level == COMPLETE else {}
            yield Fact("sizes", work, plan.label, values, "MB", limits)
    bases = {library.name: size(plan.base(library)) / 1e6 for library in plan.libraries}
    yield Fact("sizes", "the table without indexes", plan.label, bases, "MB")


def built(
    plan: IndexPlan, libraries: list[Library], level: str
) -> tuple[dict[str, dict[str, list[float]]], dict[str, dict[str, int]]]:
    """Seconds of all rounds and bytes, by library and column; the files stay."""
    seconds: dict[str, dict[str, list[float]]] = {
        one.name: {name: [] for name in INDEXED} for one in libraries
    }
    sizes: dict[str, dict[str, int]] = {one.name: {} for one in libraries}

    def build(library: Library) -> float:
        path = copy(plan.base(library), plan.place(library, level))
        before = size(path)
        for column in INDEXED:
            seconds[library.name][column].append(library.index(path, column, level))
            after = size(path)
            sizes[library.name][column], before = after - before, after
        return sum(seconds[library.name][column][-1] for column in INDEXED)

    in_rounds({one.name: lambda one=one: build(one) for one in libraries}, ROUNDS, EACH)
    return seconds, sizes


def child(library: Library, path: Path, mebibytes: int) -> dict[str, float] | str:
    """What a process of its own found that built a complete index; its complaint if that is not ours."""
    done = subprocess.run(
        [sys.executable, "-m", CHILD, library.name, str(path), str(mebibytes)],
        capture_output=True,
        text=True,
        timeout=1800,
        env=harness.child_environment(),
    )
    if done.returncode and not library.name.startswith(OURS):
        return done.stderr.strip().splitlines()[-1][:160]
    if done.returncode:
        raise AssertionError(f"{CHILD} {library.name}: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def memory(plan: IndexPlan) -> Iterator[Found]:
    """The highest that a process had, beyond its libraries, while it built a complete index of float64."""
    by_name = {library.name: library for library in plan.libraries}
    runs = {COLUMNS: (0, *LIMITS), ROWS: LIMITS[:1], DUCKDB: (0, LIMITS[0]), TABLES: (0,), CTABLE: (0,)}
    found: dict[int, dict[str, dict[str, float]]] = {}
    for name, limits in runs.items():
        library = by_name[name]
        for limit in limits:
            path = copy(plan.base(library), plan.folder / f"memory{library.suffix}")
            figures = child(library, path, limit)
            if isinstance(figures, str):
                yield Remark("memory", name, f"building, told to take {limit} MiB at most: {figures}")
            else:
                found.setdefault(limit, {})[name] = figures
            remove(path)
    for limit, one in sorted(found.items()):
        told = f"told to take {limit} MiB at most" if limit else "told nothing"
        limits = {name: limit * MEBIBYTE / 1e6 for name in one if limit and name != DUCKDB}
        values = {name: figures["highest"] for name, figures in one.items()}
        yield Fact("memory", f"building, {told}", plan.label, values, "MB", limits)
        seconds = {name: figures["seconds"] for name, figures in one.items()}
        yield Fact("memory", f"time of it, {told}", plan.label, seconds, "s")
