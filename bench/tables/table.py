"""How fast are tables queried, read and written, beside PyTables, pandas, DuckDB and Polars?

    python -m bench.tables.table  all parts; 6 minutes
    python -m bench.tables.table --quick  one hour of weather instead of fifteen; two minutes, nothing is kept
    python -m bench.tables.table --only queries cold  some of: queries texts names aggregates reads memory
                                                    cold
    python -m bench.tables.table --full  longer rounds; 15 minutes

queries     the table of the post "Blosc2 meets PyTables", of synthetic weather: six queries that return one
            column. The rows layout beside PyTables (a file opened again, and one still open since it was
            written); the columns layout beside DuckDB and Polars on Parquet, and pandas in memory
texts       words of a fixed width and of any length: equal to one, beginning so, before one; and ranges
            of numbers, beside DuckDB, Polars and pandas
names       real names, as often as people have them: conditions, groups by few keys, by all names and by
            100,000 numbers, the least of all rows; as items of 16 bytes, as text and as categories
aggregates  sums and means under a condition, groups by one and two keys, the first ten in order; on the
            weather, and on real flights, whose keys are strings
reads       all rows, one column, single random rows, slices of a hundred; appending a million rows at a time
memory      what a process keeps after the six queries, and has at the highest
cold        a query of files on a disk that are not in the page cache, where the system allows it (cold.py)

All use two threads and Zstd 5, ours and PyTables' with shuffle. Every answer is compared with NumPy's before
it is timed. Files lie in memory where there is /dev/shm. Speed-up (x) is a library's time over that of ours:
above 1, coquina is faster. Results: bench/results/tables.json, tables.md, tables-queries.png,
tables-speed.png, tables-small.png and tables-memory.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from bench.common import studies
from bench.common.run import Run, Script
from bench.hdf5.hdf5_contest import Plan, plan_of
from bench.tables import table_peers, table_report
from bench.tables.table_aggregates import aggregates
from bench.tables.table_cold import cold_queries
from bench.tables.table_facts import Found
from bench.tables.table_memory import memory
from bench.tables.table_names import names
from bench.tables.table_queries import queries
from bench.tables.table_reads import reads
from bench.tables.table_texts import texts

PARTS: dict[str, Callable[[Plan], Iterator[Found]]] = {
    "queries": queries,
    "texts": texts,
    "names": names,
    "aggregates": aggregates,
    "reads": reads,
    "memory": memory,
    "cold": cold_queries,
}


def measure(run: Run) -> Iterator[Found]:
    """Each part."""
    table_peers.set_threads()
    plan = plan_of(run)
    for part in run.parts:
        yield from PARTS[part](plan)


SCRIPT = Script(
    studies.TABLES,
    __doc__,
    measure,
    table_report.line,
    table_report.row,
    table_report.body,
    table_report.draw,
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
