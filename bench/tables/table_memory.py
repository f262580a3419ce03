"""The part `memory` of `table.py`, and the way to a process of its own, `table_child.py`.

In: a plan. Out: a `Fact` for each figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bench.common import harness
from bench.hdf5.hdf5_contest import TABLES, Plan
from bench.tables import table_data
from bench.tables.table_facts import Fact
from bench.tables.table_peers import COLUMNS, DUCKDB, PANDAS, POLARS, ROWS

CHILD = "bench.tables.table_child"
KEPT_MAX = 250  # MB


def child(*arguments: Any) -> dict[str, float]:
    """What a process of its own found."""
    done = subprocess.run(
        [sys.executable, "-m", CHILD, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=harness.child_environment(),
    )
    if done.returncode:
        raise AssertionError(f"{CHILD} {arguments[:2]}: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def memory(plan: Plan) -> Iterator[Fact]:
    """What is resident after the six queries, and at the highest."""
    columns, _ = table_data.era5(plan.quick)
    paths = table_data.files(plan)
    texts = json.dumps([[query.text, query.column] for query in table_data.six_queries(columns)])
    sources = {
        ROWS: paths["rows"],
        COLUMNS: paths["columns"],
        TABLES: paths["pytables"],
        DUCKDB: paths["parquet"],
        POLARS: paths["parquet"],
        PANDAS: paths["parquet"],
    }
    found = {library: child("queries", library, path, texts) for library, path in sources.items()}
    limits = {ROWS: KEPT_MAX, COLUMNS: KEPT_MAX}
    for key, work, some in (
        ("kept", "after six queries, results dropped", limits),
        ("highest", "at the highest", {}),
    ):
        values = {library: one[key] for library, one in found.items()}
        yield Fact("memory", work, table_data.label(plan), values, "MB", some)
