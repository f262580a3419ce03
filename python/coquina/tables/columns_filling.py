"""Columns that are written at once: new ones, and text that is written anew.

In: values, or items of arrays, some rows at a time. Out: a column with all of its rows.
Invariant: the old column is there until the new one is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.tables.categories import extended, new_values, widen
from coquina.tables.column_encodings import make_column, open_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.storage_options import Storage
    from coquina.tables.homes import Home
    from coquina.tables.layout import ColumnSpec
    from coquina.tables.stored_columns import StoredColumn

_ROWS = 1 << 18


def fill(home: Home, column: StoredColumn, values: Any, rows: int, storage: Storage) -> None:
    """Put so many rows into a new column: an item of `values` for each, or the one value for all."""
    is_one = values is None or isinstance(values, str | bytes | np.generic) or not hasattr(values, "__len__")
    if not is_one and _length(values) != rows:
        raise ValueError(f"column {column.path!r}: {_length(values)} values for {rows} rows")

    def parts() -> Iterator[Any]:
        for start in range(0, rows, _ROWS):
            stop = min(start + _ROWS, rows)
            yield [values] * (stop - start) if is_one else _slice(values, start, stop)

    for part in parts():
        unknown = new_values(column.column, part)
        if unknown:
            column = extended(home, widen(home, column, len(unknown), storage), unknown, storage)
    appender = home.appender(column.arrays)
    try:
        for part in parts():
            items = column.added(column.encoded(part))
            appender.append(items)
            column.took(items)
        set_length(home, column, rows)
    finally:
        appender.close()


def missing_values(spec: ColumnSpec) -> Any:
    """Return what a column has in rows for which there is no value."""
    if spec.enum:
        return np.array(spec.enum_default, spec.dtype)[()]
    if spec.default is not None:
        return spec.default
    if spec.nullable or spec.categories is not None:
        return None
    if spec.dtype.kind in "TUSO":
        return b"" if spec.dtype.kind == "S" else ""
    if spec.dtype.kind in "mM":
        return np.array("NaT", spec.dtype)[()]
    return np.array(np.nan if spec.dtype.kind in "fc" else 0, spec.dtype)[()]


def written_anew(home: Home, column: StoredColumn, storage: Storage) -> StoredColumn:
    """Return a column whose arrays are copied to new ones, stored in another way."""
    path, temporary = column.path, f"{column.path}~"
    while home.kind(temporary) is not None:
        temporary += "~"
    made = make_column(home, temporary, column.spec, storage)
    try:
        for new, old in zip(made.arrays, column.arrays, strict=True):
            # Of text there is a first offset.
            for start in range(len(new), len(old), _ROWS):
                new.append(old[start : start + _ROWS])
        if home.file is None:
            # In a directory each array has attributes of its own.
            for new, old in zip(made.arrays, column.arrays, strict=True):
                new.attrs.update(dict(old.attrs))
        kept = home.attrs_of(temporary)
        for name, value in home.attrs_of(path).items():
            if name not in kept or name == "length":
                kept[name] = value
    except BaseException:
        home.discard(temporary)
        raise
    home.replace(temporary, path)
    return open_column(home, path)


def set_length(home: Home, column: StoredColumn, rows: int) -> None:
    """Say how many rows a column has, where its encoding wants to know."""
    if column.has_length is None:
        # Looked up once: in HDF5 that opens the column.
        column.has_length = "length" in home.attrs_of(column.path)
    if column.has_length:
        home.set_number(column.path, "length", rows)


def _length(values: Any) -> int:
    return len(values)


def _slice(values: Any, start: int, stop: int) -> Any:
    return values[start:stop]
