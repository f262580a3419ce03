"""What do files of many small datasets cost: made, opened for one, walked, all read, some read again and
again?

    python -m bench.hdf5.many_nodes            10,000 datasets in 100 groups; half a minute
    python -m bench.hdf5.many_nodes --quick    1,000 in 20; 20 seconds, nothing is kept
    python -m bench.hdf5.many_nodes --full     100,000 in 1,000; 15 minutes

Each dataset has 100 float64 in one chunk with gzip 1. Each library makes its own file; all others read the
one that h5py made. "Walk" visits every dataset and asks for its shape. "Again" reads 2,000 times, places
normally distributed over all, so that some come back often: PyTables keeps the 64 nodes that were used
last, or, as "PyTables, all kept", as many as there are. Beside h5py and PyTables, one thread each; files
are in memory where there is /dev/shm. coquina opens a file as it lies on the disk, with no cache of decoded
blocks.

What is read is compared with what was written. Speed-up (x) is a library's time over coquina's: above 1,
coquina is faster. Results: bench/results/many-nodes.json, many-nodes.md and many-nodes.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tables

import coquina as cq
from bench.common import harness, studies
from bench.common.harness import Effort
from bench.common.run import Canvas, Run, Script

OURS, THEIRS, TABLES, TABLES_KEPT = "coquina", "h5py", "PyTables", "PyTables, all kept"
ITEMS = 100
PICKS = 2000
FILTERS = tables.Filters(complevel=1, complib="zlib", shuffle=False)


@dataclass(frozen=True)
class Cell:
    """One thing done with all nodes, or with one: median seconds, the ratios of the others' times to ours."""

    work: str
    data: str
    nodes: int
    seconds: Mapping[str, float]
    ratios: Mapping[str, float]


@dataclass(frozen=True)
class Nodes:
    """How many there are."""

    groups: int
    each: int

    @property
    def count(self) -> int:
        """All datasets."""
        return self.groups * self.each

    def path(self, number: int) -> str:
        """Where a dataset is."""
        return f"/group{number // self.each:04}/node{number % self.each:04}"

    def values(self, number: int) -> np.ndarray:
        """What is in it."""
        return np.arange(number, number + ITEMS, dtype=np.float64)


def make_ours(path: Path, nodes: Nodes) -> None:
    """A file of ours, from nothing to closed."""
    with cq.open(path, "w") as file:
        for number in range(nodes.count):
            values = nodes.values(number)
            file.create_dataset(
                nodes.path(number), data=values, chunks=(ITEMS,), filter="gzip", level=1, filters=()
            )


def make_h5py(path: Path, nodes: Nodes) -> None:
    """h5py's."""
    options: dict[str, Any] = {"chunks": (ITEMS,), "compression": "gzip", "compression_opts": 1}
    with h5py.File(path, "w") as file:
        for number in range(nodes.count):
            file.create_dataset(nodes.path(number), data=nodes.values(number), **options)


def make_tables(path: Path, nodes: Nodes) -> None:
    """PyTables'."""
    with tables.open_file(str(path), "w") as file:
        for number in range(nodes.count):
            where, name = nodes.path(number).rsplit("/", 1)
            values = nodes.values(number)
            options: dict[str, Any] = {"filters": FILTERS, "chunkshape": (ITEMS,), "createparents": True}
            file.create_carray(where, name, obj=values, **options)


MAKERS: dict[str, Callable[[Path, Nodes], None]] = {OURS: make_ours, THEIRS: make_h5py, TABLES: make_tables}


def opened(library: str, path: Path, nodes: Nodes) -> Any:
    """The file, for reading."""
    if library == OURS:
        return cq.open(path)
    if library == THEIRS:
        return h5py.File(path)
    return tables.open_file(str(path), node_cache_slots=4 * nodes.count if library == TABLES_KEPT else 64)


def node_of(file: Any, name: str) -> Any:
    """A dataset of any library's file."""
    return file.get_node(name) if isinstance(file, tables.File) else file[name]


def walk(file: Any) -> int:
    """Visits every dataset and asks for its shape; returns how many items all have."""
    if isinstance(file, tables.File):
        return sum(node.shape[0] for node in file.walk_nodes("/", "CArray"))
    found: list[int] = []

    def visit(_: str, node: Any) -> None:
        if shape := getattr(node, "shape", ()):
            found.append(shape[0])

    file.visititems(visit)
    return sum(found)


def read(library: str, path: Path, nodes: Nodes, numbers: Sequence[int]) -> float:
    """Opens the file and reads some datasets; returns the sum of their first items."""
    with opened(library, path, nodes) as file:
        return sum(float(node_of(file, nodes.path(number))[:][0]) for number in numbers)


def works(path: Path, nodes: Nodes) -> Iterator[tuple[str, int, Callable[[str], object], object]]:
    """What is done with the file, how many nodes that are, what must come out."""
    rng = np.random.default_rng(12)
    lone = rng.integers(0, nodes.count, 1).tolist()
    picks = (
        np.clip(rng.normal(nodes.count / 2, nodes.count / 200, PICKS), 0, nodes.count - 1)
        .astype(int)
        .tolist()
    )
    every = range(nodes.count)

    def walked(library: str) -> int:
        with opened(library, path, nodes) as file:
            return walk(file)

    yield "open, read one", 1, lambda library: read(library, path, nodes, lone), float(lone[0])
    yield "open, walk", nodes.count, walked, nodes.count * ITEMS
    yield "open, read each", nodes.count, lambda library: read(library, path, nodes, every), float(sum(every))
    again = float(sum(picks))
    yield "open, read some again", PICKS, lambda library: read(library, path, nodes, picks), again


def measure(run: Run) -> Iterator[Cell]:
    """Makes the files, then reads h5py's."""
    cq.set_num_threads(1)
    nodes = run.choose(Nodes(20, 50), Nodes(100, 100), Nodes(1000, 100))
    effort = run.choose(Effort(0.3, 2, 3), Effort(4.0, 2, 5), Effort(20.0, 2, 3))
    label = f"{nodes.count:,} datasets in {nodes.groups} groups"
    paths = {name: run.folder / f"{name}.h5" for name in MAKERS}
    calls = {name: lambda name=name, make=make: make(paths[name], nodes) for name, make in MAKERS.items()}
    yield cell("create", label, nodes.count, harness.take_turns(calls, effort, alike=False))
    for path in paths.values():
        with h5py.File(path) as file:
            if walk(file) != nodes.count * ITEMS or file[nodes.path(7)][3] != nodes.values(7)[3]:
                raise AssertionError(f"{path.name}: not what was written")
    for work, count, call, expected in works(paths[THEIRS], nodes):
        names = [OURS, THEIRS, TABLES] + ([TABLES_KEPT] if work.endswith("again") else [])
        for name in names:
            if call(name) != expected:
                raise AssertionError(f"{name}, {work}: not what was written")
        turns = {name: lambda name=name, call=call: call(name) for name in names}
        yield cell(work, label, count, harness.take_turns(turns, effort, alike=False))


def cell(work: str, label: str, nodes: int, times: Mapping[str, list[float]]) -> Cell:
    """Medians and ratios."""
    return Cell(work, label, nodes, *harness.compared(times, OURS))


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    others = ", ".join(f"{name} {ratio:.2f}x" for name, ratio in cell.ratios.items())
    return f"{cell.work}: {1e6 * cell.seconds[OURS] / cell.nodes:.1f} us a node; {others}"


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    yield (
        f"{cells[0].data}, {ITEMS} float64 in a chunk with gzip 1. Microseconds for each node; x: time of "
        "the other library over time of coquina. One thread."
    )
    names = list(dict.fromkeys(name for cell in cells for name in cell.seconds))
    rows = []
    for one in cells:
        micros = [1e6 * one.seconds.get(name, float("nan")) / one.nodes for name in names]
        rows.append(
            [one.work, one.nodes, *micros, *(one.ratios.get(name, float("nan")) for name in names[1:])]
        )
    yield harness.markdown(
        ["work", "nodes", *(f"{name} us" for name in names), *(f"{name} x" for name in names[1:])], rows
    )


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Microseconds per node."""
    from bench.common import plots

    per_node = {one.work: {k: 1e6 * v / one.nodes for k, v in one.seconds.items()} for one in cells}
    alone = {"open, read one": per_node.pop("open, read one")}
    panels = {"each node of many": per_node, "one, from the closed file on": alone}
    title, note = f"Files of many nodes: {cells[0].data}", f"{canvas.note} Lower is better."
    path = canvas.path("")
    plots.grouped_bars(panels, path, title=title, note=note, unit="microseconds a node", columns=1)


SCRIPT = Script(studies.NODES, __doc__, measure, line, asdict, body, draw)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
