"""The part `queries` of `table.py`: six of them, each giving one column, in both layouts.

In: a plan. Out: a `Cell` for each query and layout, one for all six, and the sizes of the files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import tables

import coquina as cq
from bench.hdf5.hdf5_contest import TABLES, TABLES_FRESH, Case, Cell, Plan, measured, same
from bench.tables import table_data
from bench.tables.table_data import Query
from bench.tables.table_facts import Fact, Found
from bench.tables.table_peers import (
    COLUMNS,
    DUCKDB,
    PANDAS,
    PANDAS_EVAL,
    PARQUET,
    POLARS,
    ROWS,
    Ask,
    ask_duckdb,
    ask_ours,
    ask_pandas,
    ask_polars,
    ask_pytables,
    eval_pandas,
    frame_of,
)

ROWS_GOALS = {TABLES: 5.0, TABLES_FRESH: 5.0}
EACH_GOALS = dict.fromkeys((DUCKDB, POLARS, PANDAS), 1 / 1.5)
TOTAL_GOALS = dict.fromkeys((DUCKDB, POLARS, PANDAS), 1.0)


def queries(plan: Plan) -> Iterator[Found]:
    """Six queries: rows beside PyTables, columns beside the readers of Parquet and pandas."""
    columns, records = table_data.era5(plan.quick)
    with ExitStack() as stack:
        path = plan.folder / "fresh.h5"
        fresh = stack.enter_context(table_data.fill_pytables(path, records))
        shutil.copy(path, plan.folder / table_data.FILES["pytables"])
        paths = table_data.files(plan)
        yield sizes(plan, columns, paths)
        ours = stack.enter_context(cq.open_table(paths["rows"]))
        reopened = stack.enter_context(tables.open_file(str(paths["pytables"])))
        asks = {
            ROWS: ask_ours(ours),
            TABLES: ask_pytables(reopened.root.table),
            TABLES_FRESH: ask_pytables(fresh.root.table),
        }
        yield from contest(plan, ROWS, asks, ROWS_GOALS)
    path.unlink()
    with cq.open_table(paths["columns"]) as ours:
        frame = frame_of(columns)
        asks = {
            COLUMNS: ask_ours(ours),
            DUCKDB: ask_duckdb(paths["parquet"]),
            POLARS: ask_polars(paths["parquet"]),
            PANDAS: ask_pandas(frame),
            PANDAS_EVAL: eval_pandas(frame),
        }
        yield from contest(plan, COLUMNS, asks, EACH_GOALS)


def contest(plan: Plan, ours: str, asks: Mapping[str, Ask], goals: Mapping[str, float]) -> Iterator[Cell]:
    """Each query, and what they take together."""
    columns, _ = table_data.era5(plan.quick)
    cells = []
    for query in table_data.six_queries(columns):
        cells.append(one(plan, ours, asks, query, goals))
        yield cells[-1]
    yield total(cells, TOTAL_GOALS if ours == COLUMNS else ROWS_GOALS)


def one(plan: Plan, ours: str, asks: Mapping[str, Ask], query: Query, goals: Mapping[str, float]) -> Cell:
    """A query, when all have answered it as NumPy does."""
    columns, records = table_data.era5(plan.quick)
    answer = query.answer(columns)
    share = len(answer) / len(records)
    if (query.name == "none") != (share == 0):
        raise AssertionError(f"{query.text}: {len(answer)} rows")
    for library, ask in asks.items():
        same(f"{library}, {query.text}", ask(query), answer)
    work = f"{query.text}: {query.column}, {100 * share:.3g} % of the rows"
    case = Case("queries", work, table_data.label(plan), records.nbytes, goals, ours=ours)
    return measured(plan, case, {library: lambda ask=ask: ask(query) for library, ask in asks.items()})


def total(cells: Sequence[Cell], goals: Mapping[str, float]) -> Cell:
    """The sums of some cells' times."""
    case = cells[0].case
    seconds = {name: sum(cell.seconds[name] for cell in cells) for name in cells[0].seconds}
    ratios = {name: value / seconds[case.ours] for name, value in seconds.items() if name != case.ours}
    nbytes = sum(cell.case.nbytes for cell in cells)
    return Cell(Case(case.part, "all together", case.data, nbytes, goals, ours=case.ours), seconds, ratios)


def sizes(plan: Plan, columns: table_data.Columns, paths: Mapping[str, Path]) -> Fact:
    """What the files take."""
    names = {"rows": ROWS, "columns": COLUMNS, "pytables": TABLES, "parquet": PARQUET}
    megabytes = {names[key]: path.stat().st_size / 1e6 for key, path in paths.items()}
    plain = sum(values.nbytes for values in columns.values()) / 1e6
    return Fact("queries", "size of the file", table_data.label(plan), {**megabytes, "NumPy": plain}, "MB")
