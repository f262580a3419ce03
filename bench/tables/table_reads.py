"""The part `reads` of `table.py`: whole tables read and written, single rows, small slices.

In: a plan. Out: a `Cell` for each: rows beside PyTables, files of columns beside pyarrow's Parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tables

import coquina as cq
from bench.hdf5.hdf5_contest import TABLES, Case, Cell, Plan, Read, measured, same
from bench.tables import table_data
from bench.tables.table_peers import COLUMNS, PARQUET, ROWS, TABLES_WHOLE

SINGLE, SINGLE_THEIRS = 2000, 50  # rows that are read one by one
SLICES, SLICES_THEIRS = 200, 20
SLICE_ROWS = 100
WRITTEN = 5_000_000  # rows
WRITERS = (ROWS, TABLES, TABLES_WHOLE, COLUMNS, PARQUET)


def reads(plan: Plan) -> Iterator[Cell]:
    """What is read from the rows layout and from a reopened table of PyTables, then what is written."""
    columns, records = table_data.era5(plan.quick)
    paths, label = table_data.files(plan), table_data.label(plan)
    file = tables.open_file(str(paths["pytables"]))
    with cq.open_table(paths["rows"]) as ours, cq.open_table(paths["columns"]) as by_columns, file:
        theirs = file.root.table
        case = Case("reads", "all rows", label, records.nbytes, {TABLES: 3.0}, ours=ROWS)
        calls: dict[str, Callable[[], Any]] = {
            ROWS: ours.read,
            TABLES: theirs.read,
            COLUMNS: by_columns.read,
        }
        yield whole(plan, case, calls, records)
        case = Case("reads", "one column", label, columns["precip"].nbytes, {TABLES: 3.0}, ours=ROWS)
        calls = {
            ROWS: lambda: ours.read("precip"),
            TABLES: lambda: theirs.read(field="precip"),
            COLUMNS: lambda: by_columns.read("precip"),
        }
        yield whole(plan, case, calls, columns["precip"])
        readers = {ROWS: ours.__getitem__, TABLES: theirs.__getitem__, COLUMNS: by_columns.__getitem__}
        yield from small(plan, readers, records)
    yield from writes(plan)


def whole(plan: Plan, case: Case, calls: Mapping[str, Callable[[], Any]], expected: np.ndarray) -> Cell:
    """One call that reads it all."""
    for library, call in calls.items():
        same(f"{library}, {case.work}", call(), expected)
    return measured(plan, case, calls)


def small(plan: Plan, readers: Mapping[str, Read], records: np.ndarray) -> Iterator[Cell]:
    """Random rows and slices of a hundred; of PyTables' fewer, which are long."""
    places = np.random.default_rng(7).integers(0, len(records) - SLICE_ROWS, SINGLE).tolist()
    for work, size, keys, few in (
        ("one row", 1, places, SINGLE_THEIRS),
        ("slice", SLICE_ROWS, [slice(k, k + SLICE_ROWS) for k in places[:SLICES]], SLICES_THEIRS),
    ):
        for library, read in readers.items():
            for key in keys[:5]:
                same(f"{library}, {work}", read(key), records[key])
        goals = {TABLES: 100.0} if work == "one row" else {}
        name = work if size == 1 else f"{work} of {size} rows"
        case = Case("small", name, table_data.label(plan), size * records.itemsize, goals, ours=ROWS)
        chosen = {library: keys[:few] if library == TABLES else keys for library in readers}
        yield paced(plan, case, readers, chosen)


def paced(plan: Plan, case: Case, readers: Mapping[str, Read], keys: Mapping[str, list[Any]]) -> Cell:
    """Seconds for one key, where the libraries read different numbers of them in a round."""

    def all_of(library: str) -> Callable[[], None]:
        read, chosen = readers[library], keys[library]

        def call() -> None:
            for key in chosen:
                read(key)

        return call

    cell = measured(plan, case, {library: all_of(library) for library in readers})
    number = {library: len(chosen) for library, chosen in keys.items()}
    ratios = {name: ratio * number[case.ours] / number[name] for name, ratio in cell.ratios.items()}
    return Cell(case, {name: value / number[name] for name, value in cell.seconds.items()}, ratios)


def writes(plan: Plan) -> Iterator[Cell]:
    """A file from nothing to closed, appended to by a million rows at a time, by PyTables also by chunks."""
    columns, records = table_data.era5(plan.quick)
    records = records[:WRITTEN]
    columns = {name: values[:WRITTEN] for name, values in columns.items()}
    label = f"ERA5-like, {len(records) / 1e6:.3g} M rows, Zstd {table_data.LEVEL}"
    paths = {name: plan.folder / f"written-{at}" for at, name in enumerate(WRITERS)}
    paths = {name: path.with_suffix(".parquet" if name == PARQUET else ".h5") for name, path in paths.items()}
    for ours, goals, calls in (
        (
            ROWS,
            {TABLES: 3.0},
            {
                ROWS: lambda: table_data.write_ours(paths[ROWS], records, "rows"),
                TABLES: lambda: table_data.write_pytables(paths[TABLES], records, table_data.PIECE),
                TABLES_WHOLE: lambda: table_data.write_pytables(paths[TABLES_WHOLE], records),
            },
        ),
        (
            COLUMNS,
            {PARQUET: 1.0},
            {
                COLUMNS: lambda: table_data.write_ours(paths[COLUMNS], records, "columns"),
                PARQUET: lambda: table_data.write_parquet(paths[PARQUET], columns),
            },
        ),
    ):
        for name, call in calls.items():
            call()
            same(f"{name}, written", written(name, paths[name]), records)
        yield measured(plan, Case("writes", "append", label, records.nbytes, goals, ours=ours), calls)
        for name in calls:
            paths[name].unlink()


def written(library: str, path: Path) -> np.ndarray:
    """What is in a file."""
    if library == PARQUET:
        from pyarrow import parquet

        found = parquet.read_table(str(path)).to_pandas()
        return found.to_records(index=False)
    if library in (TABLES, TABLES_WHOLE):
        with tables.open_file(str(path)) as file:
            return file.root.table.read()
    with cq.open_table(path) as table:
        return table.to_numpy()
