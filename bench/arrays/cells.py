"""The results of bench/arrays/codecs.py: a cell for each input and setting, and the tables that sum them up.

In: cells. Out: Markdown, plots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.common import harness
from bench.common.harness import Versus
from bench.common.inputs import megabytes
from bench.common.peers import THREADS
from bench.common.run import Canvas

SMALL, LARGE, HUGE = 80_000, 80_000_000, 400_000_000
SAME_SIZE = 0.02


@dataclass(frozen=True)
class Cell:
    """What was measured for one input and setting."""

    data: str
    nbytes: int
    typesize: int
    codec: str
    level: int
    filters: str
    ratio: float
    size: float
    compress: Versus
    decompress: Versus
    into: Versus

    @property
    def title(self) -> str:
        """How lists name the cell."""
        return f"{self.codec}-{self.level} {self.filters}, {self.data} {megabytes(self.nbytes)}"

    @property
    def is_same_size(self) -> bool:
        """True if the chunks of both differ by 2 % at most, so that their speeds can be compared."""
        return abs(self.size - 1) <= SAME_SIZE


OPERATIONS: dict[str, Callable[[Cell], Versus]] = {
    "compress": lambda cell: cell.compress,
    "decompress": lambda cell: cell.decompress,
    "decompress into": lambda cell: cell.into,
}


def speeds(cells: Sequence[Cell]) -> list[object]:
    """Geometric means of a group: how many cells, the three speed-ups, the size."""
    means = [harness.geometric_mean(of(cell).speedup for cell in cells) for of in OPERATIONS.values()]
    return [len(cells), *means, harness.geometric_mean(cell.size for cell in cells)]


def summary(cells: Sequence[Cell]) -> str:
    """Geometric means: over all, at equal size, by codec, filter, level, size and data."""
    rows: list[list[object]] = [
        ["**all**", *speeds(cells)],
        ["**equal size (2 %)**", *speeds([cell for cell in cells if cell.is_same_size])],
    ]
    groups: dict[str, Callable[[Cell], object]] = {
        "codec": lambda cell: cell.codec,
        "filter": lambda cell: cell.filters,
        "level": lambda cell: cell.level,
        "size": lambda cell: (
            "80 KB" if cell.nbytes <= SMALL else "400 MB" if cell.nbytes > LARGE else "to 80 MB"
        ),
        "data": lambda cell: cell.data,
    }
    for name, key in groups.items():
        for value in dict.fromkeys(key(cell) for cell in cells):
            group = [cell for cell in cells if key(cell) == value]
            rows.append([f"{name} {value}", *speeds(group)])
    return harness.markdown(["cells of", "cells", *(f"{name} x" for name in OPERATIONS), "size"], rows)


def extremes(cells: Sequence[Cell]) -> str:
    """The best and the worst cell of each operation."""
    rows = []
    for name, of in OPERATIONS.items():
        ranked = sorted(cells, key=lambda cell: of(cell).speedup)
        for word, cell in (("worst", ranked[0]), ("best", ranked[-1])):
            rows.append([name, word, of(cell).speedup, cell.size, cell.title])
    return harness.markdown(["operation", "", "speed-up", "size", "cell"], rows)


def losses(cells: Sequence[Cell]) -> str:
    """Every cell where coquina came out slower: first those that a second look confirms."""
    rows = []
    for name, of in OPERATIONS.items():
        for cell in cells:
            duel = of(cell)
            if duel.speedup < 1 and duel.again is not None:
                again = duel.again
                word = "loss" if duel.is_loss else "unclear"
                rounds = f"{again.lost} of {again.rounds}"
                rows.append([word, again.speedup, duel.speedup, rounds, name, cell.size, cell.title])
    rows.sort(key=lambda row: row[:2])
    confirmed = sum(row[0] == "loss" for row in rows)
    head = (
        f"{len(rows)} of {3 * len(cells)} came out below 1.0; a second, longer look confirms {confirmed} "
        "(sign test over its rounds, 5 %).\n\n"
    )
    header = ["verdict", "second look x", "first look x", "rounds lost", "operation", "size", "cell"]
    return head + (harness.markdown(header, rows) if rows else "")


def off_size(cells: Sequence[Cell]) -> str:
    """Every cell whose size differs from python-blosc2's by more than 2 %."""
    rows = sorted(
        [cell.size, cell.ratio, cell.compress.speedup, cell.title] for cell in cells if not cell.is_same_size
    )
    head = f"{len(rows)} of {len(cells)} cells differ by more than 2 %.\n\n"
    return head + (harness.markdown(["size", "ratio", "compress x", "cell"], rows) if rows else "")


def cell_rows(cells: Sequence[Cell]) -> str:
    """One row per cell: GB/s of both, speed-ups, ratio, size."""
    header = ["data", "size", "codec", "level", "filters", "ratio", "chunk size"]
    for name in OPERATIONS:
        header += [f"{name} GB/s", "blosc2 GB/s", "x"]
    rows = []
    for cell in cells:
        row: list[object] = [cell.data, megabytes(cell.nbytes), cell.codec, cell.level, cell.filters]
        row += [cell.ratio, cell.size]
        for of in OPERATIONS.values():
            duel = of(cell)
            row += [cell.nbytes / duel.ours / 1e9, cell.nbytes / duel.theirs / 1e9, duel.speedup]
        rows.append(row)
    return harness.markdown(header, rows)


def body(cells: Sequence[Cell]) -> list[str]:
    """The Markdown page below its head."""
    return [
        "Speed-up (x): time of python-blosc2 over time of coquina. Size: chunk of coquina over chunk of "
        f"python-blosc2. {THREADS} threads each; medians of interleaved rounds.",
        "## Geometric means",
        summary(cells),
        "## Best and worst cell",
        extremes(cells),
        "## Cells where coquina is slower",
        losses(cells),
        "## Cells of unequal size",
        off_size(cells),
    ]


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Ratio against speed at level 5: fields in one plot, real sets in the other."""
    from bench.common import plots

    shown = [cell for cell in cells if cell.level == 5 and SMALL < cell.nbytes <= LARGE]
    fields = [cell for cell in shown if cell.data.startswith("era5")]
    real = [cell for cell in shown if not cell.data.startswith("era5") and "entropy" not in cell.data]
    for suffix, some in {"era5": fields, "real": real}.items():
        panels: dict[str, list[plots.Point]] = {}
        for name in ("compress", "decompress"):
            for cell in some:
                duel, label = (
                    OPERATIONS[name](cell),
                    f"{cell.codec}-5 {cell.filters}".replace("none", "no filter"),
                )
                panel = panels.setdefault(f"{name}, {cell.data}", [])
                for family, seconds, ratio in (
                    ("python-blosc2", duel.theirs, cell.ratio * cell.size),
                    ("coquina", duel.ours, cell.ratio),
                ):
                    panel.append(plots.Point(family, label, cell.nbytes / 1e9 / seconds, ratio))
        if panels:
            title = "Codecs and filters: ratio against speed, level 5"
            note = f"{canvas.note} Up to 80 MB, less for slow codecs."
            columns = len(panels) // 2
            path = canvas.path(suffix)
            plots.ratio_against_speed(panels, path, title=title, note=note, speed="GB/s", columns=columns)
