"""A process of its own for `table.py`: what memory a library keeps, and tables of zeros.

    python -m bench.tables.table_child queries LIBRARY FILE TEXTS  TEXTS is JSON: [[text, column], ...]
    python -m bench.tables.table_child zeros LIBRARY FILE HOW ROWS  zeros; HOW is "resized" or "appended"

Out: JSON on standard output. Memory is what the process has resident beyond what it had with its libraries
loaded: after the work with its results dropped, and at its highest.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tables

import coquina as cq
from bench.common import harness, weather
from bench.hdf5.hdf5_contest import TABLES
from bench.tables import table_peers
from bench.tables.table_data import PIECE, POST_CHUNK, Query

CHUNK_ROWS = {"resized": 1 << 25, "appended": 1 << 20}
CONDITION = "lat > 10"


def memory(field: str) -> float:
    """MB that are resident: now (VmRSS), or at the highest (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise AssertionError(f"{field}: the system does not tell")


def queries(library: str, path: str, texts: str) -> dict[str, float]:
    """Each query once, its result dropped."""
    modules = {table_peers.DUCKDB: "duckdb", table_peers.POLARS: "polars", table_peers.PANDAS: "pandas"}
    if library in modules:
        importlib.import_module(modules[library])
    before = memory("VmRSS")
    ask = table_peers.opened(library, Path(path))
    for text, column in json.loads(texts):
        ask(Query("", text, column, lambda _: np.zeros(0, bool)))
    gc.collect()
    return {"kept": memory("VmRSS") - before, "highest": memory("VmHWM") - before}


def zeros(library: str, path: str, how: str, rows: str) -> dict[str, float]:
    """A table of zeros made, opened, scanned without a hit, and read at random rows."""
    count = int(rows)
    before = memory("VmRSS")
    make, opened = (make_theirs, open_theirs) if library == TABLES else (make_ours, open_ours)
    found = {"create": harness.clock(lambda: make(path, how, count), 1)}
    table: list[Any] = []
    found["open"] = harness.clock(lambda: table.append(opened(path)), 1)
    scan: Callable[[], object] = (
        (lambda: table[0].read_where(CONDITION))
        if library == TABLES
        else (lambda: table[0].where(CONDITION).to_numpy())
    )
    if len(scan()) != 0 or len(table[0]) != count:  # type: ignore[arg-type]
        raise AssertionError(f"{library}: zeros that are above 10")
    found["scan"] = harness.clock(scan, 1)
    places = np.random.default_rng(3).integers(0, count, 20 if library == TABLES else 1000).tolist()
    if any(table[0][place] != np.zeros((), weather.DTYPE) for place in places[:5]):
        raise AssertionError(f"{library}: a row that is not zero")
    found["row"] = harness.clock(lambda: [table[0][place] for place in places], 1) / len(places)
    found["file"] = os.path.getsize(path)
    return {**found, "highest": memory("VmHWM") - before}


def make_ours(path: str, how: str, count: int) -> None:
    """A table in the rows layout; rows that nobody wrote take no chunks."""
    options = {"layout": "rows", "codec": "zstd", "level": 1, "chunk_rows": CHUNK_ROWS[how]}
    with cq.create_table(path, weather.DTYPE, mode="w", **options) as table:
        if how == "resized":
            table.resize(count)
        else:
            part = np.zeros(PIECE, weather.DTYPE)
            for start in range(0, count, PIECE):
                table.append(part[: count - start])


def open_ours(path: str) -> Any:
    """Our table, opened again."""
    return cq.open_table(path)


def make_theirs(path: str, how: str, count: int) -> None:
    """A table of PyTables, as the post makes it, in smaller pieces."""
    filters = tables.Filters(complevel=1, complib="blosc2:zstd", shuffle=True)
    with tables.open_file(path, "w", pytables_sys_attrs=False) as file:
        table = file.create_table("/", "table", weather.DTYPE, filters=filters, chunkshape=POST_CHUNK)
        part = np.zeros(5 * PIECE, weather.DTYPE)
        for start in range(0, count, len(part)):
            table.append(part[: count - start])


def open_theirs(path: str) -> Any:
    """PyTables' table, opened again."""
    return tables.open_file(path).root.table


if __name__ == "__main__":
    table_peers.set_threads()
    job, *arguments = sys.argv[1:]
    print(json.dumps({"queries": queries, "zeros": zeros}[job](*arguments)))
