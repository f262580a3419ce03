"""What do indexes of tables cost, and what do they give, beside PyTables, python-blosc2 and DuckDB?

    python -m bench.indexes.index  10 million rows, all parts; 7 minutes
    python -m bench.indexes.index --quick  500,000 rows; a minute, nothing is kept
    python -m bench.indexes.index --full  100 million rows, the parts builds first queries orders
    python -m bench.indexes.index --only queries complex  some parts, nothing is kept

builds   the time to index a column of int32 and one of float64, and what the file gains: complete, partial
         and light indexes, the smallest and largest of each zone, an index in PyTables' format written by us
levels   what queries take with each of them (see `queries`)
memory   what a process of its own has at the highest while it builds one, with a limit and without
queries  ranges of 0 to a million hits and equal numbers in data that are not sorted, other ones each time
first    the same, the file opened for each one
rows     the same, all columns of the rows
complex  the condition of three parts of PyTables' chapter, with both columns indexed, beside scans
orders   the first ten in order, the first thousand of a loop in order
appends  a million rows in batches, with two indexes and without
sorted   tables copied in the order of the column, and ranges of them

All use two threads. Speed-up (x) is a library's time over that of ours: above 1, coquina is faster. Files lie
in memory where there is /dev/shm, those of --full on a disk. Results: bench/results/indexes.md,
indexes.json and plots; of --full indexes-full.*.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from bench.common import studies
from bench.common.run import FULL, QUICK, Run, Script
from bench.indexes import index_builds, index_orders, index_plots, index_queries, index_report
from bench.indexes.index_contest import Found, IndexPlan, theirs
from bench.indexes.index_ours import Ours
from bench.indexes.index_peers import COMPLETE
from bench.tables import table_peers

PARTS: dict[str, Callable[[IndexPlan], Iterator[Found]]] = {
    "builds": index_builds.builds,
    "levels": index_queries.levels,
    "memory": index_builds.memory,
    "queries": index_queries.queries,
    "first": index_queries.first,
    "rows": index_queries.rows,
    "complex": index_queries.three,
    "orders": index_orders.orders,
    "appends": index_orders.appends,
    "sorted": index_orders.in_files,
}
FULL_PARTS = ("builds", "first", "queries", "orders")


def rows_of(run: Run) -> int:
    """How many rows."""
    return run.options.rows or run.choose(500_000, 10_000_000, 100_000_000)


def plan_of(run: Run) -> IndexPlan:
    """How a run goes about it; files of many gigabytes lie on a disk, in one layout, indexed completely."""
    rows = rows_of(run)
    if run.size == FULL:
        return IndexPlan(run.disk, False, rows, levels=(COMPLETE,), libraries=(Ours("columns"), *theirs()))
    is_quick = run.size == QUICK
    return IndexPlan(run.folder, is_quick, rows, run.choose(0.2, 0.5, 1.0))


def measure(run: Run) -> Iterator[Found]:
    """Each part."""
    table_peers.set_threads()
    plan = plan_of(run)
    for part in FULL_PARTS if run.size == FULL and not run.options.only else run.parts:
        yield from PARTS[part](plan)


def extend(parser: argparse.ArgumentParser) -> None:
    """An option for other sizes."""
    parser.add_argument("--rows", type=int, help="how many rows")


def body(findings: Sequence[Found], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    return index_report.body(findings, rows_of(run), in_memory=run.size != FULL)


SCRIPT = Script(
    studies.INDEXES,
    __doc__,
    measure,
    index_report.line,
    index_report.row,
    body,
    index_plots.draw_all,
    extend=extend,
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
