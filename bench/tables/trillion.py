"""What does a table of a trillion rows cost: to make, to scan, to read a random row of, in memory?

    python -m bench.tables.trillion            10^9 and 10^12 rows, 10^8 appended; half a minute
    python -m bench.tables.trillion --quick    10^7 appended; 20 seconds, nothing is kept

Tables of zeros of 32 bytes a row, in the rows layout, each in a process of its own: of ours some whose rows
nobody wrote, which take no chunks, and one that was appended; of PyTables one that was appended. Whatever
grows with the rows is told by 10^9 of them. Nothing of the tables is known beforehand: the scan asks every
chunk, and a chunk of equal bytes answers for all its rows at once.

"Published" are the figures of the post "100 Trillion Rows Baby", of PyTables on a machine of its own: a
scan of zeros at 75 GB a second, a random row in 60 us, 17 GB of file and 110 MB of memory for 10^14 rows.
Results: bench/results/trillion.json, trillion.md and trillion.png.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from bench.common import studies
from bench.common.run import QUICK, Canvas, Run, Script
from bench.hdf5.hdf5_contest import TABLES
from bench.tables import table_report
from bench.tables.table_facts import Fact
from bench.tables.table_memory import child
from bench.tables.table_peers import ROWS

GIGA = 10**9  # rows
PUBLISHED = "published"
# By 10^9 rows, where it depends on them.
POST = {"scan": 32 / 75, "row": 60e-6, "file": 17e9 / 1e5, "highest": 110}
FIGURES = {  # what a child finds: title, unit, factor, whether it is by 10^9 rows
    "create": ("create, by 10^9 rows", "ms", 1e3, True),
    "open": ("open", "ms", 1e3, False),
    "scan": ("scan for lat > 10, by 10^9 rows", "ms", 1e3, True),
    "row": ("a random row", "us", 1e6, False),
    "file": ("file, by 10^9 rows", "KB", 1e-3, True),
    "highest": ("memory", "MB", 1.0, False),
}


def measure(run: Run) -> Iterator[Fact]:
    """Each table, then figure by figure."""
    appended = 10**7 if run.size == QUICK else 10**8
    power = len(str(appended)) - 1
    runs = {
        "coquina, 10^9 rows": (ROWS, "resized", GIGA),
        "coquina, 10^12 rows": (ROWS, "resized", 1000 * GIGA),
        f"coquina, 10^{power} appended": (ROWS, "appended", appended),
        "PyTables, 10^7 appended": (TABLES, "appended", 10**7),
    }
    path = run.folder / "zeros.h5"
    found: dict[str, dict[str, float]] = {}
    for name, (library, how, rows) in runs.items():
        found[name] = child("zeros", library, path, how, rows)
        path.unlink()
    for figure, (work, unit, factor, is_by_rows) in FIGURES.items():
        values = {
            name: factor * one[figure] / (runs[name][2] / GIGA if is_by_rows else 1)
            for name, one in found.items()
        }
        limits = {}
        if figure in POST:
            values[PUBLISHED] = (1 if figure == "highest" else factor) * POST[figure]
            limits = {name: values[PUBLISHED] for name in runs if name.startswith("coquina")}
        yield Fact("scale", work, "zeros of 32 bytes", values, unit, limits)


def body(facts: Sequence[Fact], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    yield (
        "Tables of zeros, each in a process of its own. Published: the post on 100 trillion rows, on a "
        "machine of its own. Whatever grows with the rows is by 10^9 of them."
    )
    yield from table_report.tables_of(facts)
    yield "## Goals"
    yield table_report.goals_table(facts)


def draw(facts: Sequence[Fact], canvas: Canvas) -> None:
    """A panel for each figure."""
    from bench.common import plots

    panels = {f"{one.work}, {one.unit}": {"": dict(one.values)} for one in facts}
    title, note = "Tables of zeros", f"{canvas.note} Lower is better; logarithmic."
    plots.grouped_bars(panels, canvas.path(""), title=title, note=note, unit="", columns=2)


SCRIPT = Script(studies.TRILLION, __doc__, measure, Fact.line, table_report.row, body, draw)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
