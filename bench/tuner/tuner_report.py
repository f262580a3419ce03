"""What `tuner.py` says: a line for each cell, and the page.

In: cells. Out: text.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from bench.common import harness
from bench.common.harness import markdown
from bench.common.run import Run
from bench.tuner.tuner_cells import BEST, DEFAULT, THEIRS, Cell, asked
from bench.tuner.tuner_grid import BALANCED
from bench.tuner.tuner_peers import BTUNE, EARLY, TIMES, TOLD

WORSE = 1 / 1.03  # of our score: a fixed way that is better by more is told of
SHOWN = 12  # fixed ways
ADAPTATION = ("data", "goal", "first half", "second half", "second alone", "chunks", "second from", "late")


def percent(value: float) -> str:
    """A regret as a reader says it."""
    return f"{100 * value:.0f} %" if abs(value) >= 0.0995 else f"{100 * value:.1f} %"


def having(cells: Sequence[Cell], part: str, **values: object) -> list[Cell]:
    """The cells of a part that have these values."""
    return [
        cell
        for cell in cells
        if cell.part == part and all(cell.values.get(name) == value for name, value in values.items())
    ]


def line(cell: Cell) -> str:
    """A cell for the terminal; "" for those of which there are too many."""
    if cell.part == "regret" and "regret" in cell.values:
        told = f"{cell.values['chosen']} ({percent(cell.values['regret'])} above {cell.values['best']})"
        return f"{cell.work}: {cell.data}: {told}"
    if cell.part in ("overhead", "stability", "adaptation"):
        values = ", ".join(f"{name} {harness.short(value)}" for name, value in cell.values.items())
        return f"{cell.part}, {cell.work}: {cell.data}: {values}"
    return ""


def spread(regrets: Sequence[float]) -> list[str]:
    """Median, 95th percentile and maximum."""
    found = statistics.median(regrets), float(np.quantile(regrets, 0.95)), max(regrets)
    return [percent(value) for value in found]


def by_goal(cells: Sequence[Cell]) -> Iterator[str]:
    """The regrets of codec="auto" by goal and mode, beside the best fixed way and the default."""
    rows = []
    for best in having(cells, "fixed", place=1):
        goal, mode = best.values["goal"], best.values["mode"]
        some = [c for c in having(cells, "regret", goal=goal, mode=mode) if "regret" in c.values]
        if not some:
            continue
        defaults = [
            having(cells, "fixed", goal=goal, mode=mode, way=way.name)[0] for way in (DEFAULT, THEIRS)
        ]
        worse = sum(cell.ratios[DEFAULT.name] < WORSE for cell in some)
        mean = harness.geometric_mean(1 + cell.values["regret"] for cell in some) - 1
        rows.append(
            [
                f"{goal:g}",
                mode,
                percent(mean),
                *spread([cell.values["regret"] for cell in some]),
                best.values["way"],
                *(percent(best.values[name]) for name in ("mean", "median", "p95", "max")),
                *(percent(one.values["mean"]) for one in defaults),
                f"{worse} of {len(some)}",
            ]
        )
    if rows:
        yield "## Regret by goal"
        yield (
            f'"Mean" is the geometric mean of scores over the best ones, less one. The default is '
            f'{DEFAULT.name}, that of python-blosc2 {THEIRS.name}. "Worse" counts arrays for which '
            f'codec="auto" is more than 3 % worse than the default.'
        )
        names = ["mean", "median", "p95", "max"]
        fixed = [f"its {name}" for name in names]
        yield markdown(
            ["goal", "for", *names, "best fixed way", *fixed, "default's mean", "blosc2's mean", "worse"],
            rows,
        )


def by_kind(cells: Sequence[Cell]) -> Iterator[str]:
    """The regrets for reading and writing by kind of data; the unseen kind tells whether they are luck."""
    both = [c for c in having(cells, "regret", mode=BALANCED[1]) if "regret" in c.values]
    goals = list(dict.fromkeys(cell.values["goal"] for cell in both))
    rows = []
    for kind in dict.fromkeys(cell.values["kind"] for cell in both):
        row: list[object] = [kind, len({cell.data for cell in both if cell.values["kind"] == kind})]
        for goal in goals:
            some = [c.values["regret"] for c in having(both, "regret", kind=kind, goal=goal)]
            row.append(
                f"{percent(harness.geometric_mean(1 + one for one in some) - 1)}, {percent(max(some))}"
            )
        rows.append(row)
    if rows:
        yield "## Regret by kind of data"
        yield (
            f'Mean and largest, for "{BALANCED[1]}". The arrays of the kind "unseen" came last and were not '
            "looked at while the tuner was made."
        )
        yield markdown(["kind", "arrays", *(f"goal {goal:g}" for goal in goals)], rows)


def fixed(cells: Sequence[Cell]) -> Iterator[str]:
    """The best fixed ways for the balanced goal: what a default could be."""
    rows = []
    for cell in having(cells, "fixed", goal=BALANCED[0], mode=BALANCED[1]):
        values = cell.values
        if values["place"] <= SHOWN or values["way"] in (DEFAULT.name, THEIRS.name):
            regrets = [percent(values[name]) for name in ("mean", "median", "p95", "max")]
            speeds = [values["ratio"], values["write_speed"], values["read_speed"]]
            rows.append([values["place"], values["way"], *regrets, *speeds])
    if rows:
        yield "## Fixed ways, balanced"
        yield (
            f"The {SHOWN} best of the grid's ways as a default for all arrays, and both defaults. Ratio and "
            "MB/s of one core are geometric means over the arrays."
        )
        names = ["place", "way", "mean", "median", "p95", "max", "ratio", "write MB/s", "read MB/s"]
        yield markdown(names, rows)


def peers(cells: Sequence[Cell]) -> Iterator[str]:
    """BTune beside us."""
    rows = []
    wanted = dict.fromkeys((c.values["goal"], c.values["mode"]) for c in having(cells, "peer"))
    for goal, mode in wanted:
        for name in (BTUNE, TOLD):
            some = [cell.values for cell in having(cells, "peer", goal=goal, mode=mode, peer=name)]
            if some:
                means = [
                    percent(harness.geometric_mean(max(1 + one[key], 1e-9) for one in some) - 1)
                    for key in ("ours", "regret", "early")
                ]
                rows.append(
                    [f"{goal:g}", mode, name, means[0], *means[1:], *spread([v["regret"] for v in some])]
                )
    if rows:
        yield "## BTune"
        yield (
            f"The first chunk of each array, {TIMES} times. 'Ours' is the mean regret of what codec=\"auto\" "
            "took for it at once, 'kept' that of BTune's best way in the end, 'at first' that of its first "
            f"{EARLY} chunks as they are written. Its models are sold: this is its search without them. Its "
            "tradeoff is the goal's number, which need not mean the same; told of the storage, it knows the "
            "125 MB/s that the goals start from."
        )
        names = ["goal", "for", "peer", "ours", "kept", "at first", "kept: median", "p95", "max"]
        yield markdown(names, rows)


def overhead_row(cell: Cell) -> list[object]:
    """What choosing cost in one case."""
    values = cell.values
    speeds = [values["nbytes"] / 1e6 / values[name] for name in ("auto", "same")]
    more = percent(1 / next(iter(cell.ratios.values())) - 1)
    after = percent(1 / values["after"] - 1)
    return [cell.data, cell.work, values["ways"], values["threads"], *speeds, more, after]


def others(cells: Sequence[Cell]) -> Iterator[str]:
    """What choosing costs, whether it is the same again, how soon it follows the data."""
    rows = [overhead_row(cell) for cell in having(cells, "overhead")]
    if rows:
        yield "## What choosing costs"
        yield (
            "Beside the ways that were chosen, of several by their shares of the chunks: new arrays, "
            "whose first chunks are tried; and after that, the same once more into the same array."
        )
        names = ["data", "goal", "ways", "threads", "auto MB/s", "those ways MB/s", "more time", "after"]
        yield markdown(names, rows)
    rows = [
        [
            c.values["times"],
            c.values["processes"],
            percent(c.values["same_way"]),
            percent(c.values["same_bytes"]),
        ]
        for c in having(cells, "stability")
    ]
    if rows:
        yield "## The same again"
        yield f"Chunks of the whole corpus, {asked(*BALANCED)}, in new processes beside the first of them."
        yield markdown(["times from", "processes", "same codec and filters", "same bytes"], rows)
    rows = [
        [
            c.data,
            c.work,
            *(c.values[name] for name in ("before", "after", "alone", "chunks", "first", "late")),
        ]
        for c in having(cells, "adaptation")
    ]
    if rows:
        yield "## Data that change"
        yield (
            "Chunks of 256 KiB. Late: how many chunks of the second half had another codec or other filters "
            "than an array of the second half alone gets. What is as good is kept, so late need not be worse."
        )
        yield markdown(ADAPTATION, rows)


def arrays(cells: Sequence[Cell]) -> Iterator[str]:
    """Every array with the balanced goal."""
    rows = []
    for cell in having(cells, "regret", goal=BALANCED[0], mode=BALANCED[1]):
        values = cell.values
        if "regret" in values:
            told = [values["chosen"], values["best"], percent(values["regret"]), cell.ratios[DEFAULT.name]]
            rows.append([cell.data, *told, values["ratio"], values["write_speed"], values["read_speed"]])
        else:
            rows.append([cell.data, values["chosen"], "", "", *[float("nan")] * 4])
    if rows:
        yield "## Every array, balanced"
        yield f"Two chunks of each; 'x' is the score of {DEFAULT.name} over ours, MB/s are of one core."
        yield markdown(["data", "chosen", BEST, "regret", "x", "ratio", "write MB/s", "read MB/s"], rows)


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The page below its head."""
    yield (
        "Score: seconds of one core and of the storage for a byte of items, by goal; bytes alone at goal 1. "
        "Regret: what a score has above that of the best way of the grid."
    )
    for part in (by_goal, by_kind, fixed, peers, others, arrays):
        yield from part(cells)
