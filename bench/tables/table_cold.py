"""The part `cold` of `table.py`: a query of files that are on a disk and not in the page cache.

In: a plan. Out: a `Cell` for each query and layout; none where the system does not drop pages (see cold.py).
Each call opens the file, asks and closes it; ahead of each the pages of all files are dropped.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import tables

import coquina as cq
from bench.common import cold
from bench.hdf5.hdf5_contest import TABLES, Case, Cell, Plan, measured, same
from bench.tables import table_data
from bench.tables.table_data import Query
from bench.tables.table_peers import COLUMNS, DUCKDB, POLARS, ROWS, Ask, ask_ours, ask_polars, connected

ASKED = ("post", "0.1 %", "40 %")


def cold_queries(plan: Plan) -> Iterator[Cell]:
    """Three of the six queries."""
    if plan.disk is None or not cold.works_in(plan.disk):
        print("no cold files: the system keeps them in its page cache", file=sys.stderr)
        return
    columns, _ = table_data.era5(plan.quick)
    paths = {name: Path(shutil.copy(path, plan.disk)) for name, path in table_data.files(plan).items()}
    os.sync()
    groups: dict[str, dict[str, Ask]] = {
        ROWS: {ROWS: of_ours(paths["rows"]), TABLES: of_pytables(paths["pytables"])},
        COLUMNS: {
            COLUMNS: of_ours(paths["columns"]),
            DUCKDB: of_duckdb(paths["parquet"]),
            POLARS: ask_polars(paths["parquet"]),
        },
    }
    for query in table_data.six_queries(columns):
        if query.name in ASKED:
            for ours, asks in groups.items():
                yield one(plan, ours, asks, query, paths)
    for path in paths.values():
        path.unlink()


def one(plan: Plan, ours: str, asks: Mapping[str, Ask], query: Query, paths: Mapping[str, Path]) -> Cell:
    """A query of one layout."""
    columns, records = table_data.era5(plan.quick)
    for name, ask in asks.items():
        same(f"{name}, {query.text}, cold", ask(query), query.answer(columns))
    work = f"{query.text}: {query.column}"
    case = Case("cold", work, table_data.label(plan), records.nbytes, ours=ours)
    calls = {name: lambda ask=ask: ask(query) for name, ask in asks.items()}
    return measured(plan, case, calls, lambda: cold.evict(paths.values()))


def of_ours(path: Path) -> Ask:
    """Our table, opened for each query."""

    def ask(query: Query) -> np.ndarray:
        with cq.open_table(path) as table:
            return ask_ours(table)(query)

    return ask


def of_pytables(path: Path) -> Ask:
    """PyTables', opened for each query; it reads rows by their numbers."""

    def ask(query: Query) -> np.ndarray:
        with tables.open_file(str(path)) as file:
            return file.root.table.read_where(query.text, field=query.column)

    return ask


def of_duckdb(path: Path) -> Ask:
    """DuckDB on Parquet, told to keep nothing of the file."""
    connection = connected()
    connection.execute("set enable_external_file_cache=false")

    def ask(query: Query) -> np.ndarray:
        sql = f"select \"{query.column}\" from '{path}' where {query.sql}"
        return connection.execute(sql).fetchnumpy()[query.column]

    return ask
