"""Plots of curves: what is kept against what it costs, a curve for each library and codec.

In: panels of curves. Out: a PNG. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from bench.common.plots import INK, finish, handle, plain, spread_axis

# Blues are ours, warm colours python-blosc2's and its plugins', the rest has a hue for each library; a codec
# has the same marker everywhere.
STYLES = {
    "coquina htj2k": ("#0072B2", "o"),
    "coquina j2k": ("#0072B2", "s"),
    "coquina lossy": ("#56B4E9", "D"),
    "coquina zstd bitshuffle": ("#003A5C", "^"),
    "coquina zstd bytedelta": ("#003A5C", "P"),
    "coquina lz4 bitshuffle": ("#003A5C", "v"),
    "coquina chosen": ("#0072B2", "o"),
    "coquina round": ("#56B4E9", "D"),
    "coquina trunc": ("#003A5C", "^"),
    "coquina zfp": ("#7FD0C0", "s"),
    "coquina predict": ("#0072B2", "X"),
    "python-blosc2 htj2k": ("#D55E00", "o"),
    "python-blosc2 j2k": ("#D55E00", "s"),
    "python-blosc2 zstd bitshuffle": ("#D55E00", "^"),
    "python-blosc2 grok": ("#E69F00", "s"),
    "python-blosc2 trunc": ("#E69F00", "^"),
    "python-blosc2 zfp": ("#D55E00", "s"),
    "Pillow j2k": ("#009E73", "s"),
    "imagecodecs htj2k": ("#CC79A7", "o"),
    "imagecodecs j2k": ("#CC79A7", "s"),
    "imagecodecs jpegls": ("#CC79A7", "D"),
    "imagecodecs png": ("#CC79A7", "^"),
    "h5py htj2k": ("#555555", "o"),
    "h5py zfp": ("#AAAAAA", "s"),
    "h5py sz3": ("#555555", "D"),
    "h5py sperr": ("#CC79A7", "P"),
}


@dataclass(frozen=True)
class Panel:
    """One panel: curves by family. is_flipped: y grows downwards, so that better is up."""

    title: str
    x_name: str
    y_name: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
    is_log: tuple[bool, bool] = (True, False)
    is_flipped: bool = False


def draw_curves(axes: Any, panel: Panel) -> None:
    """Draws one panel."""
    for family, points in reversed(panel.curves.items()):  # ours last, on top
        colour, marker = STYLES[family]
        xs, ys = zip(*sorted(points), strict=True)
        axes.plot(xs, ys, color=colour, marker=marker, markersize=7, linewidth=1.2, alpha=0.9)
    points = [point for curve in panel.curves.values() for point in curve]
    for number, which in enumerate("xy"):
        spread_axis(axes, which, [point[number] for point in points], is_log=panel.is_log[number])
    if panel.is_flipped:
        axes.invert_yaxis()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}" if value < 1e-3 else plain(value))
    axes.set_title(panel.title, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(panel.x_name, color=INK)
    axes.set_ylabel(panel.y_name, color=INK)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def curves(panels: Sequence[Panel], path: Path, *, title: str, note: str, columns: int) -> None:
    """Saves the panels as a PNG, `columns` beside each other."""
    panels = [panel for panel in panels if panel.curves]
    rows, columns = -(-len(panels) // columns), min(columns, len(panels))
    figure, grid = plt.subplots(
        rows, columns, figsize=(max(12, 4.7 * columns + 2.4), 3.9 * rows + 0.7), squeeze=False
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_curves(axes, panel)
    families = {family for panel in panels for family in panel.curves}
    figure.legend(
        handles=[handle(name, *style) for name, style in STYLES.items() if name in families],
        loc="upper left",
        bbox_to_anchor=(0.845, 1 - 0.7 / figure.get_figheight()),
        frameon=False,
        alignment="left",
        fontsize=9,
        labelcolor=INK,
    )
    finish(figure, path, title, note)
