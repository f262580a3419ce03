"""What `table.py` says: a line and a row for each finding, a Markdown page, plots as in the posts.

In: cells and facts. Out: text, and plots on a canvas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from bench.common import harness
from bench.common.run import Canvas, Run
from bench.hdf5 import hdf5_report
from bench.hdf5.hdf5_contest import Cell
from bench.tables.table_facts import Fact, Found

TITLES = {
    "queries": "Six queries that return one column",
    "texts": "Conditions on text, and ranges of numbers",
    "names": "Real names: conditions, groups, extremes",
    "aggregates": "Sums, means, groups, the first in order",
    "reads": "All rows, one column",
    "small": "Single rows and small slices",
    "writes": "Appending a million rows at a time",
    "memory": "Resident memory of a process of its own",
    "cold": "A query of files that are not in the page cache: opened, asked, closed",
    "scale": "Tables of zeros",
}
Bars = dict[str, dict[str, dict[str, float]]]


def goals(findings: Iterable[Found]) -> Iterator[list[object]]:
    """All goals, with what was found."""
    for one in findings:
        case = one.case if isinstance(one, Cell) else one
        met = hdf5_report.goals_of(one) if isinstance(one, Cell) else one.goals()
        who = one.case.ours if isinstance(one, Cell) else ""
        for goal, found, is_met in met:
            yield [case.part, who, case.work, case.data, goal, found, "met" if is_met else "missed"]


def goals_table(findings: Iterable[Found]) -> str:
    """The same as a table."""
    return harness.markdown(["part", "ours", "work", "data", "goal", "found", "verdict"], goals(findings))


def line(found: Found) -> str:
    """A finding for the terminal."""
    return hdf5_report.line(found) if isinstance(found, Cell) else found.line()


def tables_of(findings: Sequence[Found]) -> Iterator[str]:
    """The tables of a part: cells by which of ours they are of, then facts."""
    cells = [one for one in findings if isinstance(one, Cell)]
    for ours in dict.fromkeys(cell.case.ours for cell in cells):
        yield hdf5_report.times_table([cell for cell in cells if cell.case.ours == ours])
    if facts := [one for one in findings if isinstance(one, Fact)]:
        names = list(dict.fromkeys(name for fact in facts for name in fact.values))
        rows = [
            [fact.work, fact.data, fact.unit, *[float(fact.values.get(name, math.nan)) for name in names]]
            for fact in facts
        ]
        yield harness.markdown(["what", "data", "unit", *names], rows)


def body(findings: Sequence[Found], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    yield (
        "x: time of the other library over time of ours; medians of interleaved rounds, two threads for all "
        "that use threads, files in memory. PyTables: a file opened again, chunks as in the post; fresh: "
        "one still open since it was written; of `read_where` and iterating over rows the faster one. "
        "pandas: `query` in memory, as in the post; pandas eval: the condition, then one column. DuckDB and "
        "Polars read Parquet."
    )
    yield "## Goals"
    yield goals_table(findings)
    for part, title in TITLES.items():
        if some := [one for one in findings if (one.case if isinstance(one, Cell) else one).part == part]:
            yield f"## {title}"
            yield from tables_of(some)


def row(found: Found) -> dict[str, object]:
    """A finding for JSON."""
    if isinstance(found, Cell):
        return {**hdf5_report.row(found), "ours": found.case.ours}
    return {
        "part": found.part,
        "work": found.work,
        "data": found.data,
        "unit": found.unit,
        "values": dict(found.values),
    }


def short_name(cell: Cell) -> str:
    """A query for the axis of a plot."""
    text, _, _ = cell.case.work.partition(":")
    return text if len(text) < 30 else "the post's"


def bars(findings: Sequence[Found]) -> dict[str, tuple[str, str, Bars]]:
    """The figures by file: title, unit, bars."""
    made: dict[str, tuple[str, str, Bars]] = {
        "queries": ("Six queries that return one column; lower is better", "ms", {}),
        "speed": ("Whole tables; higher is better", "MB of rows a second", {}),
        "small": ("Single rows and small slices; lower is better", "us", {}),
        "memory": ("Resident memory beyond the libraries; lower is better", "MB", {}),
    }
    for one in findings:
        if isinstance(one, Fact):
            if one.part == "memory":
                values = {name: max(value, 0.1) for name, value in one.values.items()}
                made["memory"][2].setdefault(one.data, {})[one.work] = values
            continue
        case = one.case
        if case.part == "queries" and case.work != "all together":
            group = made["queries"][2].setdefault(case.data, {}).setdefault(short_name(one), {})
            group.update({name: 1e3 * seconds for name, seconds in one.seconds.items()})
        elif case.part in ("reads", "writes"):
            group = made["speed"][2].setdefault("ERA5-like", {}).setdefault(case.work, {})
            group.update(hdf5_report.throughput(one))
        elif case.part == "small":
            group = made["small"][2].setdefault(case.data, {}).setdefault(case.work, {})
            group.update({name: 1e6 * seconds for name, seconds in one.seconds.items()})
    return made


def draw(findings: Sequence[Found], canvas: Canvas) -> None:
    """The figures."""
    from bench.common import plots

    for suffix, (title, unit, panels) in bars(findings).items():
        if panels:
            path = canvas.path(suffix)
            plots.grouped_bars(panels, path, title=title, note=canvas.note, unit=unit, columns=1)
