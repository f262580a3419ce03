"""The plots of `index.py`: bars of what indexes cost, lines of the time of a query over its hits.

In: findings. Out: PNGs. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from bench.common import plots
from bench.common.plots import COLOURS, INK
from bench.common.run import Canvas
from bench.hdf5.hdf5_contest import Cell
from bench.indexes.index_contest import Found
from bench.tables.table_facts import Fact

FLOAT_TYPE = "float64"
Lines = dict[str, dict[str, float]]  # library -> hits -> milliseconds


def draw_all(findings: Sequence[Found], canvas: Canvas) -> None:
    """All plots that the findings are enough for."""
    note = f"{canvas.note} Lower is better."
    for what, title, unit, panels in (
        ("build", "Time to index a column", "seconds", times(findings)),
        ("size", "What an index adds to the file", "MB", sizes(findings)),
    ):
        if panels:
            plots.grouped_bars(panels, canvas.path(what), title=title, note=note, unit=unit, columns=1)
    for what, title, panels in (
        ("queries", "One column of the rows in a range", queries(findings)),
        ("levels", "The same by kinds of indexes, float64", levels(findings)),
        ("complex", "A condition of three parts, and sorted tables", others(findings)),
    ):
        if panels:
            draw(panels, canvas.path(what), title, note)


def times(findings: Sequence[Found]) -> dict[str, dict[str, dict[str, float]]]:
    """Panel by type, group by level."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for one in findings:
        if isinstance(one, Cell) and one.case.part == "builds":
            level, kind = one.case.work.split(", ")
            panels.setdefault(kind, {})[level] = dict(one.seconds)
    return panels


def sizes(findings: Sequence[Found]) -> dict[str, dict[str, dict[str, float]]]:
    """The same of what files gain."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for one in findings:
        if isinstance(one, Fact) and one.part == "sizes" and ", " in one.work:
            level, kind = one.work.split(", ")
            # blosc2's summaries take the place of those that were there.
            panels.setdefault(kind, {})[level] = {
                name: value for name, value in one.values.items() if value > 0.001
            }
    return panels


def queries(findings: Sequence[Found]) -> dict[str, Lines]:
    """First and repeated, of float64 and int32."""
    panels: dict[str, Lines] = {}
    for one in findings:
        if not isinstance(one, Cell) or "hit" not in one.case.work:
            continue
        if one.case.part == "queries":
            kind = one.case.data.split(", ")[-1]
            add(panels, f"asked again, {kind}", one.case.work.removeprefix("about "), one)
        elif one.case.part == "first" and one.case.work.endswith("opened and asked"):
            add(panels, "file opened and asked, float64", one.case.work.split(", ")[0], one)
    return panels


def levels(findings: Sequence[Found]) -> dict[str, Lines]:
    """A panel for each level."""
    panels: dict[str, Lines] = {}
    for one in findings:
        if not isinstance(one, Cell) or "hit" not in one.case.work:
            continue
        if one.case.part == "levels":
            level, hits = one.case.work.split(": ")
            add(panels, level, hits, one)
        elif one.case.part == "queries" and one.case.data.endswith(FLOAT_TYPE):
            add(panels, "complete", one.case.work, one)
    return panels


def others(findings: Sequence[Found]) -> dict[str, Lines]:
    """The complex condition by widths, and sorted tables by hits."""
    panels: dict[str, Lines] = {}
    for one in findings:
        if isinstance(one, Cell) and one.case.part == "complex":
            add(panels, "three parts, both columns indexed", one.case.work, one)
        elif isinstance(one, Cell) and one.case.part == "sorted" and "hit" in one.case.work:
            add(panels, "ranges of the sorted table", one.case.work, one)
    return panels


def add(panels: dict[str, Lines], panel: str, place: str, found: Cell) -> None:
    """A cell's times, in milliseconds."""
    short = place.replace(",000,000", " M").replace(",000", " k").removesuffix(" hits").removesuffix(" hit")
    for name, seconds in found.seconds.items():
        panels.setdefault(panel, {}).setdefault(name, {})[short] = 1e3 * seconds


def draw(panels: Mapping[str, Lines], path: Path, title: str, note: str) -> None:
    """Saves panels of lines, two beside each other."""
    rows = -(-len(panels) // 2)
    figure, grid = plt.subplots(rows, 2, figsize=(13.4, 4.2 * rows + 0.7), squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, lines) in zip(grid.flat, panels.items(), strict=False):
        draw_lines(axes, name, lines)
    names = {name for lines in panels.values() for name in lines}
    handles = [plots.handle(name, colour, "o") for name, colour in COLOURS.items() if name in names]
    plots.legend(figure, "library", handles)
    plots.finish(figure, path, title, note)


def draw_lines(axes: Any, title: str, lines: Lines) -> None:
    """One panel: a line per library, its places at equal distances, time logarithmic."""
    places = list(dict.fromkeys(place for line in lines.values() for place in line))
    for name, line in lines.items():
        x = [places.index(place) for place in line]
        axes.plot(x, list(line.values()), "o-", color=COLOURS[name], markersize=5, linewidth=1.6)
    plots.spread_axis(axes, "y", [time for line in lines.values() for time in line.values()], is_log=True)
    axes.set_xticks(range(len(places)), places)
    axes.set_xlabel("width" if places[0].startswith("width") else "hits", color=INK)
    axes.set_ylabel("ms", color=INK)
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
