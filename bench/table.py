"""How fast are tables queried, read and written, beside PyTables, pandas, DuckDB and Polars?

    python bench/table.py              all parts; some ten minutes
    python bench/table.py --quick      one hour of weather instead of fifteen; two minutes, nothing is kept
    python bench/table.py --only queries scale      some parts of: queries aggregates reads memory scale

queries     the table of the post "Blosc2 meets PyTables", of synthetic weather: six queries that return one
            column. The rows layout beside PyTables (a file opened again, and one still open since it was
            written); the columns layout beside DuckDB and Polars on Parquet, and pandas in memory
aggregates  sums and means under a condition, groups by one and two keys, the first ten in order; on the
            weather, and on real flights, whose keys are strings
reads       all rows, one column, single random rows, slices of a hundred; appending a million rows at a time
memory      what a process keeps after the six queries, and has at the highest
scale       tables of 10^9 and 10^12 rows of zeros, beside what the post on 100 trillion rows published

All use two threads and Zstd 5, ours and PyTables' with shuffle. Every answer is compared with NumPy's before
it is timed. Files lie in memory where there is /dev/shm. Speed-up (x) is a library's time over that of ours:
above 1, coquina is faster. Results: bench/results/tables.json, tables.md, tables-queries.png,
tables-speed.png, tables-small.png and tables-memory.png.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator

import harness
import table_peers
import table_report
from hdf5_contest import Plan, folder
from table_aggregates import aggregates
from table_facts import Found
from table_queries import queries
from table_reads import reads
from table_scale import memory, scale

PARTS: dict[str, Callable[[Plan], Iterator[Found]]] = {
    "queries": queries,
    "aggregates": aggregates,
    "reads": reads,
    "memory": memory,
    "scale": scale,
}


def main() -> None:
    """Measures and reports."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller data, results not kept")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    arguments = parser.parse_args()
    table_peers.set_threads()
    plan = Plan(folder(), arguments.quick)
    findings: list[Found] = []
    try:
        for part in arguments.only:
            for found in PARTS[part](plan):
                findings.append(found)
                print(table_report.line(found), flush=True)
    finally:
        shutil.rmtree(plan.folder, ignore_errors=True)
    table_report.report(findings, None if arguments.quick else harness.RESULTS)


if __name__ == "__main__":
    main()
