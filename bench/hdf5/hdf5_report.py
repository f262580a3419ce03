"""What `hdf5.py` says: a line and a row for each cell, a Markdown page, two plots.

In: cells. Out: text, and plots on a canvas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bench.common import harness
from bench.common.run import Canvas, Run
from bench.hdf5.hdf5_contest import OURS, Cell

TITLES = {
    "full": "All of a dataset",
    "slices": "Parts of an array of four axes, written by PyTables",
    "direct": "A stack of images, a chunk each",
    "small": "Small parts of chunks of 28.8 MB",
    "table": "A table of many chunks, from the closed file on",
    "append": "Appending small pieces",
    "cold": "First reads of a file that is not in the page cache: opened, read, closed",
}
UNITS = {"small": ("us", 1e6)}  # of the others it is milliseconds


def line(cell: Cell) -> str:
    """A cell as a line: ours, and how many times slower each other one is."""
    others = ", ".join(f"{name} {harness.short(ratio)}x" for name, ratio in cell.ratios.items())
    missed = "; ".join(f"{goal}: {found}" for goal, found, is_met in goals_of(cell) if not is_met)
    case = cell.case
    text = f"{case.part:11}{case.work}; {case.data}: {duration(cell.seconds[case.ours])}; {others}"
    return text + (f"  MISSED {missed}" if missed else "")


def duration(seconds: float) -> str:
    """A time as a reader says it."""
    factor, unit = (1e6, "us") if abs(seconds) < 1e-3 else (1e3, "ms") if abs(seconds) < 1 else (1, "s")
    return f"{harness.short(seconds * factor)} {unit}"


def goals_of(cell: Cell) -> Iterator[tuple[str, str, bool]]:
    """Each goal, what was found, whether that is enough."""
    for name, ratio in cell.case.goals.items():
        yield (
            f"{harness.short(ratio)}x {name}",
            f"{harness.short(cell.ratios[name])}x",
            cell.ratios[name] >= ratio,
        )
    if (limit := cell.case.limit) is not None:
        beyond = f" beyond {cell.case.beyond}" if cell.case.beyond else ""
        yield f"{duration(limit)}{beyond}", duration(cell.limited), cell.limited <= limit


def goals_table(cells: Sequence[Cell]) -> str:
    """All goals."""
    rows = [
        [cell.case.part, cell.case.work, cell.case.data, goal, found, "met" if is_met else "missed"]
        for cell in cells
        for goal, found, is_met in goals_of(cell)
    ]
    return harness.markdown(["part", "work", "data", "goal", "found", "verdict"], rows)


def times_table(cells: Sequence[Cell]) -> str:
    """The cells of a part: time of ours, and of each other library with its ratio."""
    unit, factor = UNITS.get(cells[0].case.part, ("ms", 1e3))
    peers = list(dict.fromkeys(name for cell in cells for name in cell.ratios))
    header = ["work", "data", f"{cells[0].case.ours} {unit}"]
    for peer in peers:
        header += [f"{peer} {unit}", "x"]
    rows: list[list[object]] = []
    for cell in cells:
        row: list[object] = [cell.case.work, cell.case.data, factor * cell.seconds[cell.case.ours]]
        for peer in peers:
            row += [factor * cell.seconds.get(peer, math.nan), cell.ratios.get(peer, math.nan)]
        rows.append(row)
    return harness.markdown(header, rows)


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    yield (
        f"x: time of the other library over time of {OURS}; medians of interleaved rounds, two threads for "
        "all that use threads, files in the page cache or in memory, no cache of decoded blocks in coquina."
    )
    yield "## Goals"
    yield goals_table(cells)
    for part, title in TITLES.items():
        if found := [cell for cell in cells if cell.case.part == part]:
            yield f"## {title}"
            yield times_table(found)


def row(cell: Cell) -> dict[str, object]:
    """A cell for JSON."""
    case = cell.case
    return {
        "part": case.part,
        "work": case.work,
        "data": case.data,
        "nbytes": case.nbytes,
        "seconds": dict(cell.seconds),
        "ratios": dict(cell.ratios),
    }


def throughput(cell: Cell) -> dict[str, float]:
    """MB of results a second, by library."""
    return {name: cell.case.nbytes / seconds / 1e6 for name, seconds in cell.seconds.items()}


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """The figures of the two posts."""
    from bench.common import plots

    panels: dict[str, dict[str, dict[str, dict[str, float]]]] = {"slices": {}, "direct": {}}
    for cell in cells:
        case = cell.case
        if case.part == "slices" and case.work.startswith("plane"):
            group = panels["slices"].setdefault(case.data.removeprefix("int64, "), {})
            group[case.work.removeprefix("plane along ")] = throughput(cell)
        elif case.part == "direct":
            group = panels["direct"].setdefault(case.work, {})
            group[case.data.split(", ")[-1]] = throughput(cell)
    titles = {
        "slices": "Hyperplanes along each axis, int64 of four axes, LZ4",
        "direct": "A stack of images, a chunk each, Zstd",
    }
    note, unit = f"{canvas.note} Higher is better.", "MB of items a second"
    for suffix, found in panels.items():
        if found:
            path = canvas.path(suffix)
            plots.grouped_bars(found, path, title=titles[suffix], note=note, unit=unit, columns=1)
