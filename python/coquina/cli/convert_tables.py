"""Tables to files of other kinds and back: what `coquina convert` does where rows go in or come out.

In: a table, a CSV or Parquet file, or an array of records. Out: a table, or a CSV, Parquet or NumPy file.
Invariant: rows go through some at a time, and what was there stays until the new file is complete.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

import coquina
from coquina.arrays.descriptions import description_of
from coquina.cli import hdf5_paths, store_paths, tables, tuning_options
from coquina.cli.outputs import new_file
from coquina.cli.row_files import CSV, FEATHER, PARQUET, ROWS, has_nested, is_rows, rows_in
from coquina.hdf5 import File

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator
    from contextlib import ExitStack

    from coquina.tables.table import Table


def rows_of(options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return the rows that are to be converted; None if the input is not a table.

    What must be closed goes to `stack`. With --layout an array of records is one too.
    """
    if is_rows(options.file):
        return rows_in(options.file)
    if tables.is_directory(options.file):
        return stack.enter_context(coquina.open_table(options.file))
    place = hdf5_paths.place(options.file)
    if place is not None:
        found = stack.enter_context(hdf5_paths.opened(place))
        if place.path == "/" and len(names := tables.of_file(found.h5)) == 1:
            found = found[names[0]]
        return found if tables.is_table(found) else None
    if (place := store_paths.place(options.file)) is not None:
        found = stack.enter_context(store_paths.opened(place))
        if place.path == "/" and store_paths.is_group(found):
            found = store_paths.only_one(found)
        return found if tables.is_table(found) else None
    return None


def is_wanted(source: Any, options: argparse.Namespace) -> bool:
    """Whether a table, or a file of rows, is to be written: stores have records as tables."""
    if options.layout is not None or options.output.lower().endswith(ROWS):
        return True
    return store_paths.new_place(options.output, "/") is not None and source.dtype.names is not None


def is_for_arrays(options: argparse.Namespace) -> bool:
    """Whether the output holds an array, and no table."""
    return options.output.lower().endswith((".npy", ".npz", ".blp", ".b2nd"))


def convert(rows: Any, options: argparse.Namespace) -> dict[str, Any] | None:
    """Write rows, and return a summary; None where the output is for arrays."""
    output = options.output.lower()
    attributes: dict[str, Any] = {}
    if isinstance(rows, coquina.Array):
        attributes, rows = description_of(rows)[0], np.asarray(rows)
    if output.endswith(ROWS):
        with as_table(rows, options) as table:
            count = _write_rows(table, options.output)
            return {"output": options.output, "rows": count, "columns": len(table.columns)}
    if (target := hdf5_paths.new_place(options.output, "/table")) is not None:
        return _into_file(rows, target, options, attributes)
    if (target := store_paths.new_place(options.output, "/")) is not None and target.path.strip("/"):
        return _into_store(rows, target, options, attributes)
    if not Path(output).suffix or target is not None:
        stored = _storing(options)
        with coquina.create_table(options.output, rows, overwrite=options.force, **stored) as table:
            table.attrs.update(attributes)
            return _said(table, options)
    if not tables.is_table(rows):
        raise ValueError(f"{options.output}: rows become tables (.h5, or a directory), and {', '.join(ROWS)}")
    if output.endswith(".npy"):
        return _into_npy(rows, options)
    return None


def _said(table: Table, options: argparse.Namespace) -> dict[str, Any]:
    return {"output": options.output, "rows": len(table), "columns": len(table.columns)}


def _storing(options: argparse.Namespace) -> dict[str, Any]:
    """Return how a new table is to be stored."""
    given = {name: getattr(options, name) for name in ("codec", "level", "filters", "layout")}
    given["chunk_rows"] = None if options.chunks is None else options.chunks[0]
    known = {name: value for name, value in given.items() if value is not None}
    return known | tuning_options.words_of(options)


def _into_store(
    rows: Any, target: store_paths.Place, options: argparse.Namespace, attributes: dict[str, Any]
) -> dict[str, Any]:
    """Write a table in a store of python-blosc2, which is made if there is none."""
    stored = {name: value for name, value in _storing(options).items() if name != "layout"}
    with store_paths.replaced(target, is_forced=options.force) as (store, name):
        table = store.create_table(name, rows, **stored)
        table.attrs.update(attributes)
        return _said(table, options)


def _into_file(
    rows: Any, target: hdf5_paths.Place, options: argparse.Namespace, attributes: dict[str, Any]
) -> dict[str, Any]:
    """Write a table in an HDF5 file, which is made if there is none."""
    hdf5_paths.check_new(target, is_forced=options.force)
    stored = _storing(options)
    if tables.is_table(rows) and "layout" not in stored:
        # A table of PyTables stays one.
        stored["layout"] = rows.layout.kind
    with File(target.file, "r+" if os.path.exists(target.file) else "x") as file:
        # Under another name first, so that what is there is lost only once this is complete.
        name = f"{target.path.rstrip('/')}.{secrets.token_hex(4)}"
        with file.create_table(name, rows, **stored) as table:
            table.attrs.update(attributes)
            said = _said(table, options)
        if target.path in file:
            del file[target.path]
        file.move(name, target.path)
    return said


def _write_rows(table: Table, output: str) -> int:
    from coquina.tables.files_out import to_feather, to_json_lines

    if output.lower().endswith(PARQUET):
        return table.to_parquet(output)
    if output.lower().endswith(CSV):
        return table.to_csv(output, delimiter="\t" if ".tsv" in output.lower() else ",")
    return (to_feather if output.lower().endswith(FEATHER) else to_json_lines)(table, output)


@contextmanager
def as_table(rows: Any, options: argparse.Namespace) -> Generator[Table]:
    """Give rows as a table, one for the time being if they are none."""
    if tables.is_table(rows):
        yield rows
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(options.output))) as folder:
        # Lists, structs, bytes of any length and rows with axes have a kind of column in stores only.
        path = os.path.join(folder, "rows.b2d" if has_nested(rows) else "rows")
        with coquina.create_table(path, rows, codec="lz4", level=1) as table:
            yield table


def _into_npy(table: Table, options: argparse.Namespace) -> dict[str, Any]:
    """Write the rows as records, some at a time."""
    _check_columns(table, options)
    with new_file(options.output) as file:
        _write_npy(file, table)
    return _said(table, options)


def _write_npy(file: BinaryIO, table: Table) -> None:
    dtype = table.dtype
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (len(table),)
    }  # fmt: skip
    write_header: Callable[..., None] = np.lib.format.write_array_header_2_0
    write_header(file, cast("Any", header))
    for batch in table.batches():
        file.write(np.ascontiguousarray(batch, dtype).tobytes())


def _check_columns(table: Table, options: argparse.Namespace) -> None:
    """Raise ValueError for columns that no array of records has."""
    for path, column in table.layout.columns.items():
        if column.is_nullable or column.dtype.kind in "TO":
            what = "can be missing" if column.is_nullable else "are text of any length"
            kind = Path(options.output).suffix
            raise ValueError(
                f"{path}: values {what}, which {kind} cannot record; use .csv, .parquet or .feather"
            )


def array_of(table: Table, options: argparse.Namespace) -> Any:
    """Return a table's records as an array: for outputs that know no tables."""
    _check_columns(table, options)
    is_stored = table.records is not None and table.dataset.dtype == table.dtype
    return table.dataset if is_stored else table.to_numpy()
