"""The plots of `tuner.py`: regret by goal, and where the choices lie between ratio and speed.

In: cells. Out: PNGs. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.common import harness
from bench.common.run import Canvas
from bench.tuner.tuner_cells import DEFAULT, MEASURES, THEIRS, Cell
from bench.tuner.tuner_grid import BALANCED, GOALS, MODES
from bench.tuner.tuner_peers import BTUNE, TOLD
from bench.tuner.tuner_report import having

AUTO = 'codec="auto"'
FIXED, BEST_FIXED = "fixed ways", "best fixed way of each goal"
# Blue is ours, warm colours BTune's, greys the fixed ways'; marker and line for each.
STYLES: dict[str, tuple[str, str, str]] = {
    AUTO: ("#0072B2", "o", "-"),
    BEST_FIXED: ("#555555", "s", "--"),
    DEFAULT.name: ("#999999", "D", "--"),
    THEIRS.name: ("#CCCCCC", "P", "--"),
    BTUNE: ("#D55E00", "^", "-"),
    TOLD: ("#E69F00", "v", "-"),
    FIXED: ("#BBBBBB", ".", ""),
}
Points = Sequence[tuple[float, float]]


LEAST = 0.1  # percent: what is below is drawn there, as the axis is logarithmic


def mean_regret(cells: Sequence[Cell]) -> float:
    """The geometric mean of scores over the best ones, in percent above 1."""
    return max(LEAST, 100 * (harness.geometric_mean(1 + cell.values["regret"] for cell in cells) - 1))


def regrets(cells: Sequence[Cell], mode: str) -> dict[str, Points]:
    """Curves of mean regret by goal."""
    found: dict[str, list[tuple[float, float]]] = {}
    for goal in GOALS:
        fixed = {
            BEST_FIXED: having(cells, "fixed", goal=goal, mode=mode, place=1),
            **{w.name: having(cells, "fixed", goal=goal, mode=mode, way=w.name) for w in (DEFAULT, THEIRS)},
        }
        for name, some in fixed.items():
            found.setdefault(name, []).extend((goal, 100 * cell.values["mean"]) for cell in some[:1])
        sets = {AUTO: [c for c in having(cells, "regret", goal=goal, mode=mode) if "regret" in c.values]}
        sets |= {name: having(cells, "peer", goal=goal, mode=mode, peer=name) for name in (BTUNE, TOLD)}
        for name, some in sets.items():
            if some:
                found.setdefault(name, []).append((goal, mean_regret(some)))
    return {name: points for name, points in found.items() if points}


def places(cells: Sequence[Cell], speed: str) -> dict[str, Points]:
    """Mean ratio by mean speed: of each fixed way, and of each goal."""
    goal, mode = BALANCED
    fixed = having(cells, "fixed", goal=goal, mode=mode)
    found: dict[str, list[tuple[float, float]]] = {
        FIXED: [(cell.values[speed], cell.values["ratio"]) for cell in fixed if cell.values["ratio"] > 1]
    }
    for wanted in GOALS:
        sets = {AUTO: [c for c in having(cells, "regret", goal=wanted, mode="both") if "ratio" in c.values]}
        sets[BTUNE] = having(cells, "peer", goal=wanted, mode="both", peer=BTUNE)
        for name, some in sets.items():
            if some:
                point = [
                    harness.geometric_mean(c.values[which] for c in some) for which in (speed, MEASURES[0])
                ]
                found.setdefault(name, []).append((point[0], point[1]))
    return found


def draw_panel(axes: Any, curves: Mapping[str, Points], title: str, x_name: str, y_name: str) -> None:
    """Draws one panel; ours last, on top."""
    from bench.common.plots import INK

    for name in reversed(STYLES):
        if points := curves.get(name):
            colour, marker, stroke = STYLES[name]
            xs, ys = zip(*points, strict=True)
            size = 5 if name == FIXED else 7
            axes.plot(xs, ys, color=colour, marker=marker, linestyle=stroke, markersize=size, linewidth=1.3)
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(x_name, color=INK)
    axes.set_ylabel(y_name, color=INK)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def figure_of(
    panels: Mapping[str, tuple[Mapping[str, Points], str, str]], logarithmic: str
) -> tuple[Any, Any]:
    """Panels beside each other, one axis of each logarithmic, with a legend at the right."""
    import matplotlib.pyplot as plt

    from bench.common.plots import INK, handle, spread_axis

    figure, grid = plt.subplots(1, len(panels), figsize=(4.7 * len(panels) + 2.4, 5), squeeze=False)
    for axes, (title, (curves, x_name, y_name)) in zip(grid.flat, panels.items(), strict=True):
        draw_panel(axes, curves, title, x_name, y_name)
        values = [point["xy".index(logarithmic)] for points in curves.values() for point in points]
        spread_axis(axes, logarithmic, values, is_log=True)
    names = {name for curves, _, _ in panels.values() for name in curves}
    figure.legend(
        handles=[handle(name, colour, mark) for name, (colour, mark, _) in STYLES.items() if name in names],
        loc="upper left",
        bbox_to_anchor=(0.845, 1 - 0.7 / figure.get_figheight()),
        frameon=False,
        alignment="left",
        fontsize=9,
        labelcolor=INK,
    )
    return figure, grid


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Both plots."""
    from bench.common.plots import finish

    if not having(cells, "fixed"):
        return
    panels = {f"for {mode}": (regrets(cells, mode), "goal", "mean regret, %") for mode in MODES}
    figure, grid = figure_of(panels, "y")
    for axes in grid.flat:
        axes.set_xticks(GOALS)
    title = "How much worse than the best way of the grid: 0 is speed, 1 is size"
    finish(
        figure, canvas.path("regret"), title, f"{canvas.note} Lower is better; the axis ends at {LEAST} %."
    )
    kinds = {"write_speed": "MB/s written", "read_speed": "MB/s read"}
    panels = {name: (places(cells, key), f"{name}, one core", "ratio") for key, name in kinds.items()}
    figure, _ = figure_of(panels, "x")
    title = "Where the choices of five goals lie: geometric means over the arrays"
    finish(figure, canvas.path("speed"), title, f"{canvas.note} From right to left: goal 0 to 1.")
