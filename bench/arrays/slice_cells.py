"""The results of bench/arrays/slices.py: a cell for each duel, and the tables and plots that sum them up.

In: cells, sizes, costs. Out: Markdown and PNGs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.common import harness
from bench.common.harness import Versus
from bench.common.run import Canvas


@dataclass(frozen=True)
class Cell:
    """One operation against one other library."""

    part: str
    data: str
    codec: str
    storage: str
    operation: str
    peer: str
    duel: Versus

    @property
    def setting(self) -> str:
        """How lists name all but operation and library."""
        return f"{self.data}, {self.codec}, {self.storage}"

    @property
    def kind(self) -> str:
        """The operation as the summary groups it: the axes together."""
        if self.part == "volumes":
            word = "plane" if self.operation.startswith("plane") else self.operation
            return f"{word}, {self.storage}"
        return {"append": "append", "open": "open and first slice", "small": "small array"}[self.part]


@dataclass(frozen=True)
class Size:
    """What an array takes in a file."""

    data: str
    codec: str
    library: str
    nbytes: int
    stored: int


@dataclass(frozen=True)
class Cost:
    """Seconds with and without a safety; `share` is what it adds, as a part of the time without."""

    name: str
    seconds_with: float
    seconds_without: float
    share: float


Found = Cell | Size | Cost


def summary(cells: Sequence[Cell]) -> str:
    """By kind of operation: geometric mean and worst speed-up against each library."""
    peers = list(dict.fromkeys(cell.peer for cell in cells))
    header = ["operation"]
    for peer in peers:
        header += [f"{peer} x", "worst"]
    rows: list[list[object]] = []
    for kind in ("**all**", *dict.fromkeys(cell.kind for cell in cells)):
        row: list[object] = [kind]
        for peer in peers:
            part = [
                cell.duel.speedup for cell in cells if cell.peer == peer and kind in ("**all**", cell.kind)
            ]
            row += [harness.geometric_mean(part), min(part, default=float("nan"))]
        rows.append(row)
    return harness.markdown(header, rows)


def losses(cells: Sequence[Cell]) -> str:
    """Every cell that came out below 1: first those that a second look confirms."""
    rows: list[list[object]] = []
    for cell in cells:
        duel = cell.duel
        if duel.speedup < 1 and (again := duel.again) is not None:
            word = "loss" if duel.is_loss else "unclear"
            rounds = f"{again.lost} of {again.rounds}"
            rows.append([word, again.speedup, duel.speedup, rounds, cell.peer, cell.operation, cell.setting])
    rows.sort(key=lambda row: row[:2])
    confirmed = sum(row[0] == "loss" for row in rows)
    head = (
        f"{len(rows)} of {len(cells)} came out below 1.0; a second, longer look confirms {confirmed} "
        "(sign test over its rounds, 5 %).\n\n"
    )
    header = ["verdict", "second look x", "first look x", "rounds lost", "against", "operation", "array"]
    return head + (harness.markdown(header, rows) if rows else "")


def sizes_table(sizes: Sequence[Size]) -> str:
    """Compression ratio of each library's files."""
    libraries = list(dict.fromkeys(size.library for size in sizes))
    ratio = {(size.data, size.codec, size.library): size.nbytes / size.stored for size in sizes}
    rows = [
        [data, codec, *(ratio.get((data, codec, library), float("nan")) for library in libraries)]
        for data, codec in dict.fromkeys((size.data, size.codec) for size in sizes)
    ]
    return harness.markdown(["array", "codec", *libraries], rows)


def costs_table(costs: Sequence[Cost]) -> str:
    """What safety costs."""
    rows = [[c.name, 1e3 * c.seconds_with, 1e3 * c.seconds_without, 100 * c.share] for c in costs]
    return harness.markdown(["what", "with ms", "without ms", "adds %"], rows)


def times_table(cells: Sequence[Cell], ours: str, title: Callable[[Cell], str]) -> str:
    """One row per operation: milliseconds of all, and the speed-ups."""
    peers = list(dict.fromkeys(cell.peer for cell in cells))
    header = ["operation", f"{ours} ms"]
    for peer in peers:
        header += [f"{peer} ms", "x"]
    rows: list[list[object]] = []
    for name in dict.fromkeys(map(title, cells)):
        found = {cell.peer: cell.duel for cell in cells if title(cell) == name}
        # Against python-blosc2 it was measured longest.
        row: list[object] = [name, 1e3 * found[next(iter(found))].ours]
        for peer in peers:
            duel = found.get(peer)
            row += [float("nan")] * 2 if duel is None else [1e3 * duel.theirs, duel.speedup]
        rows.append(row)
    return harness.markdown(header, rows)


def body(found: Sequence[Found], ours: str) -> list[str]:
    """The Markdown page below its head."""
    cells = [one for one in found if isinstance(one, Cell)]
    parts = [
        f"Speed-up (x): time of the other library over time of {ours}. Same chunks, codec, level 5 and byte "
        "shuffle, two threads; caches of decoded data off, but where a row says otherwise. Medians of "
        "interleaved rounds, each at another place of the array."
    ]
    if cells:
        parts += ["## Geometric means and worst cells", summary(cells)]
        parts += [f"## Cells where {ours} is slower", losses(cells)]
    if sizes := [one for one in found if isinstance(one, Size)]:
        parts += ["## Compression ratio of the files", sizes_table(sizes)]
    if costs := [one for one in found if isinstance(one, Cost)]:
        parts += ["## What coquina's checksums and commits cost", costs_table(costs)]
    for setting in dict.fromkeys(cell.setting for cell in cells if cell.part == "volumes"):
        part = [cell for cell in cells if cell.setting == setting]
        parts += [f"## {setting}", times_table(part, ours, lambda cell: cell.operation)]
    for name, title in {
        "append": "Appended to a file",
        "open": "A file opened for its first slice",
        "small": "A hundred elements",
    }.items():
        part = [cell for cell in cells if cell.part == name]
        if part:
            parts += [f"## {title}", times_table(part, ours, lambda c: f"{c.operation}; {c.data}, {c.codec}")]
    return parts


def draw(found: Sequence[Found], canvas: Canvas) -> None:
    """A PNG for memory and one for files."""
    from bench.common import plots

    for storage in ("memory", "file"):
        panels: dict[str, dict[str, dict[str, float]]] = {}
        for cell in found:
            if isinstance(cell, Cell) and cell.part == "volumes" and cell.storage == storage:
                if not cell.operation.startswith(("plane", "box")):
                    continue
                groups = panels.setdefault(f"{cell.data}, {cell.codec}", {})
                group = groups.setdefault(cell.operation.replace("plane of ", ""), {})
                group.setdefault("coquina", 1e3 * cell.duel.ours)
                group[cell.peer] = 1e3 * cell.duel.theirs
        if panels:
            where = "in memory" if storage == "memory" else "in a file in the page cache"
            note = f"Arrays {where}; same chunks and codec. {canvas.note} Lower is better."
            title = "Time of a plane along each axis, and of a box"
            path = canvas.path(storage)
            plots.grouped_bars(panels, path, title=title, note=note, unit="milliseconds", columns=2)
