"""How the libraries of `table.py` are asked a query: each behind the same call.

In: an open file, or a DataFrame. Out: a function of a `Query` that returns its answer as a NumPy array.
Each has two threads: what reads them from the environment is imported here, after `set_threads`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import coquina as cq
from bench.common import harness
from bench.hdf5.hdf5_contest import ENVIRONMENT, TABLES, TABLES_FRESH
from bench.tables.table_data import Query

Ask = Callable[[Query], np.ndarray]

TABLES_WHOLE = "PyTables by chunks"
ROWS, COLUMNS = "coquina rows", "coquina columns"
DUCKDB, POLARS, PANDAS, PANDAS_EVAL, PARQUET = "DuckDB", "Polars", "pandas", "pandas eval", "Parquet"
THREADS = 2


def set_threads() -> None:
    """Gives everything two threads; before anything of it runs."""
    import blosc2
    import tables

    os.environ.update(ENVIRONMENT)
    os.environ.update(POLARS_MAX_THREADS=str(THREADS), NUMEXPR_NUM_THREADS=str(THREADS))
    import numexpr
    import pyarrow as pa

    cq.set_num_threads(THREADS)
    blosc2.set_nthreads(THREADS)
    tables.set_blosc_max_threads(THREADS)
    numexpr.set_num_threads(THREADS)
    pa.set_cpu_count(THREADS)


def ask_ours(table: Any) -> Ask:
    """Our table, of either layout."""
    return lambda query: table.where(query.text)[query.column]


def ask_pytables(table: Any) -> Ask:
    """PyTables, in the kernel: rows by their numbers or one by one, whichever was faster the first time."""
    ways: dict[str, Ask] = {}

    def by_numbers(query: Query) -> np.ndarray:
        return table.read_where(query.text, field=query.column)

    def one_by_one(query: Query) -> np.ndarray:
        dtype = table.coldtypes[query.column]
        return np.fromiter((row[query.column] for row in table.where(query.text)), dtype)

    def ask(query: Query) -> np.ndarray:
        if query.text not in ways:
            seconds = {way: harness.clock(lambda way=way: way(query), 1) for way in (by_numbers, one_by_one)}
            ways[query.text] = min(seconds, key=seconds.__getitem__)
        return ways[query.text](query)

    return ask


def connected() -> Any:
    """A connection to DuckDB with two threads."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"set threads={THREADS}")
    return connection


def ask_duckdb(path: Path) -> Ask:
    """DuckDB on a Parquet file; the order of rows is kept, as by all others."""
    connection = connected()

    def ask(query: Query) -> np.ndarray:
        sql = f"select \"{query.column}\" from '{path}' where {query.sql}"
        return connection.execute(sql).fetchnumpy()[query.column]

    return ask


def ask_polars(path: Path) -> Ask:
    """Polars on a Parquet file, lazily."""
    import polars as pl

    if pl.thread_pool_size() != THREADS:
        raise AssertionError(f"Polars has {pl.thread_pool_size()} threads")

    def ask(query: Query) -> np.ndarray:
        rows = pl.scan_parquet(path).filter(pl.sql_expr(query.sql))
        return rows.select(query.column).collect().to_series().to_numpy()

    return ask


def ask_pandas(frame: Any) -> Ask:
    """In memory, as in the post: all columns of the rows are taken first."""
    return lambda query: frame.query(query.text, engine="numexpr")[query.column].to_numpy()


def eval_pandas(frame: Any) -> Ask:
    """In memory, the other way: the condition, then one column."""
    return lambda query: frame[query.column].to_numpy()[frame.eval(query.text, engine="numexpr").to_numpy()]


def frame_of(columns: Mapping[str, np.ndarray]) -> Any:
    """A DataFrame."""
    import pandas as pd

    return pd.DataFrame(dict(columns))


def opened(library: str, path: Path) -> Ask:
    """A library on its file, opened for reading; pandas reads all of a Parquet file."""
    if library in (ROWS, COLUMNS):
        return ask_ours(cq.open_table(path))
    if library in (TABLES, TABLES_FRESH):
        import tables

        return ask_pytables(tables.open_file(str(path)).root.table)
    if library == PANDAS:
        import pandas as pd

        return ask_pandas(pd.read_parquet(path))
    return {DUCKDB: ask_duckdb, POLARS: ask_polars}[library](path)
