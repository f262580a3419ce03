"""Plots: compression ratio against speed (colour says which library, the marker which codec), and bars.

In: points or groups of bars in named panels. Out: a PNG. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

# Okabe and Ito's colours: told apart by every kind of sight, and in print.
COLOURS = {
    "coquina": "#0072B2",
    "coquina .blp": "#0072B2",
    "coquina chunk": "#56B4E9",
    "coquina rows": "#0072B2",
    "coquina columns": "#56B4E9",
    "coquina columns, index": "#003A5C",
    "coquina pytables": "#7FD0C0",
    "coquina scan": "#9DB7C9",
    "python-blosc2": "#D55E00",
    "python-blosc2 classic": "#F0E442",
    "NumPy copy": "#AAAAAA",
    "bloscpack": "#E69F00",
    "joblib": "#009E73",
    "Zarr": "#009E73",
    "h5py": "#CC79A7",
    "NPZ": "#CC79A7",
    "NPY": "#555555",
    "NumPy": "#555555",
    "numexpr": "#009E73",
    "PyTables": "#D55E00",
    "PyTables fresh": "#E69F00",
    "PyTables, all kept": "#E69F00",
    "coquina, 10^9 rows": "#0072B2",
    "coquina, 10^12 rows": "#003A5C",
    "coquina, 10^8 appended": "#56B4E9",
    "coquina, 10^7 appended": "#9DB7C9",
    "PyTables, 10^7 appended": "#D55E00",
    "published": "#555555",
    "PyTables by chunks": "#E69F00",
    "PyTables direct": "#F0E442",
    "PyTables filter": "#009E73",
    "PyTables in-kernel": "#E69F00",
    "blosc2 CTable": "#CC79A7",
    "b2h5py": "#56B4E9",
    "DuckDB": "#009E73",
    "Polars": "#CC79A7",
    "Parquet": "#009E73",
    "pandas": "#555555",
    "pandas eval": "#AAAAAA",
}
MARKERS = {"blosclz": "o", "lz4": "s", "lz4hc": "D", "zlib": "^", "zstd": "*", "": "X"}
FILLS = {
    "shuffle": "full",
    "bitshuffle": "none",
    "shuffle+bytedelta": "left",
    "no filter": "bottom",
    "": "full",
}
INK = "#333333"


@dataclass(frozen=True)
class Point:
    """One measurement; `label` is "codec-level filters", as `peers.Format` writes it."""

    family: str
    label: str
    speed: float
    ratio: float

    @property
    def codec(self) -> str:
        """The codec in the label, or "" for none."""
        return self.label.split("-")[0]

    @property
    def filters(self) -> str:
        """The filters in the label, or ""."""
        return self.label.partition(" ")[2]


def plain(value: float, _: object = None) -> str:
    """An axis label without powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


def spread_axis(axes: Any, which: str, values: Sequence[float], *, is_log: bool) -> None:
    """Scale, limits and ticks that leave the values some air and the labels apart."""
    low, high = min(values), max(values)
    axis = getattr(axes, f"{which}axis")
    scale, limit = getattr(axes, f"set_{which}scale"), getattr(axes, f"set_{which}lim")
    if is_log:
        air = max(high / low, 1.5) ** 0.08
        scale("log")
        limit(low / air, high * air)
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high < 100 * low else (1,)))
        axis.set_minor_formatter(NullFormatter())
    else:
        air = 0.08 * max(high - low, 0.05 * high)
        limit(low - air, high + air)
        axis.set_major_locator(MaxNLocator(7))
    axis.set_major_formatter(FuncFormatter(plain))


def draw_panel(axes: Any, points: Sequence[Point], title: str, speed: str) -> None:
    """One panel: ratio upwards, speed to the right."""
    for point in points:
        colour = COLOURS[point.family]
        fill = FILLS[point.filters]
        axes.plot(
            point.speed,
            point.ratio,
            marker=MARKERS[point.codec],
            fillstyle=fill,
            color=colour,
            markerfacecolor="white" if fill == "none" else colour,
            markerfacecoloralt="white",
            markeredgecolor=colour,
            markeredgewidth=1.4,
            markersize=12 if point.codec == "zstd" else 8.5,
            linestyle="none",
            alpha=0.9,
        )
    spread_axis(axes, "x", [point.speed for point in points], is_log=True)
    ratios = [point.ratio for point in points]
    spread_axis(axes, "y", ratios, is_log=max(ratios) > 8 * min(ratios))
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(speed, color=INK)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def handle(label: str, colour: str, marker: str, fill: Any = "full") -> Line2D:
    """An entry of a legend."""
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        label=label,
        color=colour,
        fillstyle=fill,
        markerfacecolor="white" if fill == "none" else colour,
        markerfacecoloralt="white",
        markersize=10 if marker == "*" else 8,
    )


def draw_legends(figure: Any, points: Sequence[Point]) -> None:
    """Three legends at the right edge, of what the points use: library, codec, filters."""
    families = {point.family for point in points}
    codecs = {point.codec for point in points}
    filters = {point.filters for point in points} - {""}
    groups = {
        "library": [handle(name, colour, "o") for name, colour in COLOURS.items() if name in families],
        "codec": [
            handle(name or "not compressed", INK, mark) for name, mark in MARKERS.items() if name in codecs
        ],
        "filter": [handle(name, INK, "o", fill) for name, fill in FILLS.items() if name in filters],
    }
    inches = 0.7
    for title, handles in groups.items():
        legend(figure, title, handles, inches)
        inches += 0.38 + 0.187 * len(handles)


def legend(figure: Any, title: str, handles: Sequence[Any], inches: float = 0.7) -> None:
    """A legend at the right edge, so many inches below the top."""
    made = figure.legend(
        handles=handles,
        title=title,
        loc="upper left",
        bbox_to_anchor=(0.845, 1 - inches / figure.get_figheight()),
        frameon=False,
        alignment="left",
        fontsize=9,
        labelcolor=INK,
    )
    made.get_title().set_fontweight("bold")


def ratio_against_speed(
    panels: Mapping[str, Sequence[Point]], path: Path, *, title: str, note: str, speed: str, columns: int
) -> None:
    """Saves the panels as a PNG; `note` is the small print below the title."""
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4.7 * columns + 2, 4.4 * rows + 0.7), squeeze=False)
    for axes, (name, points) in zip(grid.flat, panels.items(), strict=False):
        draw_panel(axes, points, name, speed)
    for line in grid:
        line[0].set_ylabel("compression ratio", color=INK)
    draw_legends(figure, [point for points in panels.values() for point in points])
    finish(figure, path, title, note)


def finish(figure: Any, path: Path, title: str, note: str) -> None:
    """Writes title and small print, leaves room for them and for the legend at the right, saves."""
    inch = 1 / figure.get_figheight()
    figure.text(0.05, 1 - 0.12 * inch, title, ha="left", va="top", fontsize=14, fontweight="bold", color=INK)
    figure.text(0.05, 1 - 0.42 * inch, note, ha="left", va="top", fontsize=9, color="#666666")
    figure.tight_layout(rect=(0.04, 0.01, 0.84, 1 - 0.6 * inch))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_bars(axes: Any, groups: Mapping[str, Mapping[str, float]], title: str, unit: str) -> None:
    """One panel: for each group a bar per library, its value above it; logarithmic."""
    families = list(dict.fromkeys(name for group in groups.values() for name in group))
    width = 0.84 / len(families)
    for place, group in enumerate(groups.values()):
        for number, (name, value) in enumerate(group.items()):
            x = place + (number - (len(families) - 1) / 2) * width
            axes.bar(x, value, width * 0.92, color=COLOURS[name])
            axes.annotate(
                plain(float(f"{value:.2g}")),
                (x, value),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=6.5,
                color=INK,
            )
    values = [value for group in groups.values() for value in group.values()]
    axes.set_yscale("log")
    axes.set_ylim(min(values) / 2, max(values) * 2)
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_ylabel(unit, color=INK)
    axes.grid(True, which="major", axis="y", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(axis="x", length=0)
    axes.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def grouped_bars(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]],
    path: Path,
    *,
    title: str,
    note: str,
    unit: str,
    columns: int,
) -> None:
    """Saves panels of grouped bars as a PNG: panel -> group -> library -> value."""
    rows, columns = -(-len(panels) // columns), min(columns, len(panels))
    figure, grid = plt.subplots(
        rows, columns, figsize=(max(9.8, 6.2 * columns + 2), 3.4 * rows + 0.7), squeeze=False
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, groups) in zip(grid.flat, panels.items(), strict=False):
        draw_bars(axes, groups, name, unit)
    families = {family for groups in panels.values() for group in groups.values() for family in group}
    legend(
        figure,
        "library",
        [handle(name, colour, "s") for name, colour in COLOURS.items() if name in families],
    )
    finish(figure, path, title, note)
