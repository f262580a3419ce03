"""The parts `memory` and `scale` of `table.py`: each library in a process of its own, `table_child.py`.

In: a plan. Out: a `Fact` for each figure.
Source: the post "100 Trillion Rows Baby": a scan of zeros at 75 GB a second, a random row in 60 us, 17 GB of
file and 110 MB of memory for 10^14 rows of 32 bytes, on a machine of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import table_data
from hdf5_contest import TABLES, Plan
from table_facts import Fact
from table_peers import COLUMNS, DUCKDB, PANDAS, POLARS, ROWS

CHILD = Path(__file__).parent / "table_child.py"
KEPT_MAX = 250  # MB
GIGA = 10**9  # rows
PUBLISHED = "post"
# By 10^9 rows, where it depends on them.
POST = {"scan": 32 / 75, "row": 60e-6, "file": 17e9 / 1e5, "highest": 110}
FIGURES = {  # what `zeros` finds: title, unit, factor, whether it is by 10^9 rows
    "create": ("create, by 10^9 rows", "ms", 1e3, True),
    "open": ("open", "ms", 1e3, False),
    "scan": ("scan for lat > 10, by 10^9 rows", "ms", 1e3, True),
    "row": ("a random row", "us", 1e6, False),
    "file": ("file, by 10^9 rows", "KB", 1e-3, True),
    "highest": ("memory", "MB", 1.0, False),
}


def child(*arguments: Any) -> dict[str, float]:
    """What a process of its own found."""
    done = subprocess.run(
        [sys.executable, str(CHILD), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        raise AssertionError(f"{CHILD.name} {arguments[:2]}: {done.stderr.strip()[-800:]}")
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


def scale(plan: Plan) -> Iterator[Fact]:
    """Tables of zeros: ours whose rows nobody wrote and ours that were appended, PyTables' appended."""
    appended = 10**7 if plan.quick else 10**8
    runs = {
        f"{ROWS}, 10^9, not written": (ROWS, "resized", GIGA),
        f"{ROWS}, 10^12, not written": (ROWS, "resized", 1000 * GIGA),
        f"{ROWS}, 10^{len(str(appended)) - 1}, appended": (ROWS, "appended", appended),
        f"{TABLES}, 10^7, appended": (TABLES, "appended", 10**7),
    }
    path = plan.folder / "zeros.h5"
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
            values[PUBLISHED] = factor * POST[figure] if figure != "highest" else POST[figure]
            limits = {name: values[PUBLISHED] for name in runs if name.startswith(ROWS)}
        yield Fact("scale", work, "zeros of 32 bytes", values, unit, limits)
