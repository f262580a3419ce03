"""Files of rows that others write: Parquet, Feather, CSV and JSON lines, by their names, and as tables.

In: a name on the command line. Out: their rows, some at a time; or a table of them, for the time being.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import coquina
from coquina.cli import store_paths, tables

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from coquina.tables.table import Table

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.bz2", ".tsv.bz2")
PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow")
JSON_LINES = (".jsonl", ".ndjson")
#: Stores of python-blosc2.
STORES = (".b2z", ".b2d")
#: Files of rows that others read and write.
ROWS = (*CSV, *PARQUET, *FEATHER, *JSON_LINES)

#: What rows are written to, for people.
KINDS = f"{', '.join(ROWS)}, .h5, {', '.join(STORES)}, and a folder, whose name has no extension"


def is_rows(text: str) -> bool:
    """Whether this names such a file."""
    return text.lower().endswith(ROWS) and not os.path.isdir(text)


def is_writable(output: str) -> bool:
    """Whether an output's name says that it takes rows: such a file, or the folder of a table."""
    return output.lower().endswith((*ROWS, *STORES)) or not os.path.splitext(output)[1]


def has_nested(rows: Any) -> bool:
    """Whether rows have lists, structs, axes or bytes of any length: Arrow data, or records of NumPy."""
    if (dtype := getattr(rows, "dtype", None)) is not None:
        return any(dtype[name].subdtype is not None for name in dtype.names or ())
    from coquina.tables.files import is_nested

    return any(is_nested(field.type) for field in rows.schema)


def rows_in(file: str, columns: Sequence[str] | None = None) -> Any:
    """Return the rows of such a file, as Arrow data. columns: only these, of Parquet."""
    from coquina.tables.files import csv_rows, feather_rows, json_rows, parquet_rows

    path = file.lower()
    if path.endswith(CSV):
        return csv_rows(file, delimiter="\t" if ".tsv" in path else ",")
    if path.endswith(PARQUET):
        return parquet_rows(file, columns=columns)
    return feather_rows(file) if path.endswith(FEATHER) else json_rows(file)


@contextmanager
def opened(text: str, *said: str | None) -> Generator[Table]:
    """Open a table as `tables.opened` does, one of a store, or the rows of such a file as one.

    said: what was said of columns. If any, a Parquet file is read for the names in it alone. Files become
    tables in a folder of their own for the time, so that memory does not grow with them.
    """
    if not is_rows(text):
        if (place := store_paths.place(text)) is not None:
            with store_paths.opened(place) as found:
                if not tables.is_table(found):
                    raise ValueError(f"{text} is not a table; `coquina ls {place.file}` lists the tables")
                yield found
            return
        with tables.opened(text) as table:
            yield table
        return
    with tempfile.TemporaryDirectory(prefix="coquina-") as folder:
        rows = rows_in(text, _columns(text, [one for one in said if one]))
        with coquina.create_table(os.path.join(folder, "rows"), rows, codec="lz4", level=1) as table:
            yield table


def _columns(text: str, said: list[str]) -> list[str] | None:
    """Return the columns of a Parquet file whose names occur in what was said; None for all."""
    if not said or not text.lower().endswith(PARQUET):
        return None
    from coquina.tables.files import parquet_columns

    known = parquet_columns(text)
    words = {word for one in said for word in re.findall(r"\w+", one)}
    # Names with other signs than letters stand in quotes, of one kind or another.
    wanted = [name for name in known if name in words or any(name in one for one in said if " " in name)]
    return wanted or known[:1]
