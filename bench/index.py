"""What do indexes of tables cost, and what do they give, beside PyTables, python-blosc2 and DuckDB?

    python bench/index.py                         10 million rows, all parts; under ten minutes
    python bench/index.py --quick                 500,000 rows; a minute, nothing is kept
    python bench/index.py --long                  100 million rows, the parts builds first queries orders
    python bench/index.py --only queries complex  some parts, nothing is kept

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
in memory where there is /dev/shm, those of --long on a disk. Results: bench/results/indexes.md,
indexes.json and plots; of --long indexes-long.*.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import harness
import index_builds
import index_orders
import index_queries
import index_report
import table_peers
from hdf5_contest import folder
from index_contest import Found, IndexPlan, theirs
from index_ours import Ours
from index_peers import COMPLETE

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
LONG = ("builds", "first", "queries", "orders")
ROWS, ROWS_QUICK, ROWS_LONG = 10_000_000, 500_000, 100_000_000


def long_plan(rows: int) -> IndexPlan:
    """Files of many gigabytes, which lie on a disk: complete indexes, one layout."""
    place = Path(tempfile.mkdtemp(prefix="coquina-bench-"))
    return IndexPlan(place, False, rows, levels=(COMPLETE,), libraries=(Ours("columns"), *theirs()))


def main() -> None:
    """Measures and reports."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rows, results not kept")
    parser.add_argument("--long", action="store_true", help="100 million rows, some of the parts")
    parser.add_argument(
        "--rows", type=int, help="how many rows; results kept only if it is as many as without"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help="results not kept")
    arguments = parser.parse_args()
    table_peers.set_threads()
    rows = arguments.rows or (ROWS_QUICK if arguments.quick else ROWS_LONG if arguments.long else ROWS)
    seconds = 0.2 if arguments.quick else 1.0
    plan = long_plan(rows) if arguments.long else IndexPlan(folder(), arguments.quick, rows, seconds)
    findings: list[Found] = []
    try:
        for part in arguments.only or (LONG if arguments.long else PARTS):
            for found in PARTS[part](plan):
                findings.append(found)
                print(index_report.line(found), flush=True)
    finally:
        shutil.rmtree(plan.folder, ignore_errors=True)
    is_kept = not arguments.only and rows == (ROWS_LONG if arguments.long else ROWS)
    name = "indexes-long" if arguments.long else "indexes"
    index_report.report(findings, plan, harness.RESULTS if is_kept else None, name)


if __name__ == "__main__":
    main()
