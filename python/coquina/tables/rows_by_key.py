"""Rows by keys: `table[7]`, `table[5:9]`, `table[[7, 1]]`, `table[mask]`.

In: a table, a key that NumPy takes for one axis, and columns. Out: a record, or a structured array.
Rows that follow each other are scanned; others are read by their numbers, from records at once where that is
less work than column by column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.indexing import lower
from coquina.tables.gathering import take
from coquina.tables.plan import Plan
from coquina.tables.reading import records, row_bytes
from coquina.tables.scanning import scan

if TYPE_CHECKING:
    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch
    from coquina.tables.reading import Names
    from coquina.tables.table import Table


def read_key(table: Table, key: Any, names: Names = None) -> Any:
    """Return the rows that a key names; of one column, if that is given by its name, the values."""
    table.ready()
    selection = lower(key, (table.nrows,))
    axis = selection.axes[0] if selection.axes else None
    if axis is None:
        raise IndexError(f"rows of a table: a key that gives shape {selection.shape} is not taken")
    records_ = table.records if names is None else None
    if records_ is not None:
        found = records_.take(selection)
        return found[0] if selection.is_scalar else found.reshape(selection.shape)
    picked, columns = Plan(table).picked(names)
    if isinstance(axis, tuple):
        start, step, count = axis
        values = _by_range(table, columns, start, step, count)
    else:
        count = len(axis)
        values = take_rows(table, columns, axis)
    if isinstance(names, str) and not picked[0].spec.children:
        return values[names]
    found = records(columns, picked, values, count)
    if selection.is_scalar:
        return found[0]
    return found.reshape(selection.shape)


def _by_range(table: Table, columns: dict[str, Column], start: int, step: int, count: int) -> Batch:
    if count == 1 or not count:
        return take_rows(table, columns, np.full(count, start, np.int64))
    if step > 0:
        return scan(None, columns, range(start, start + step * count, step)).values
    last = start + step * (count - 1)
    found = scan(None, columns, range(last, start + 1, -step)).values
    return {path: values[::-1] for path, values in found.items()}


def take_rows(table: Table, columns: dict[str, Column], rows: Any) -> Batch:
    """Return the values of rows by their numbers."""
    dataset = getattr(table.layout, "dataset", None)
    if dataset is None or not len(rows) or 2 * row_bytes(list(columns.values())) < dataset.typesize:
        return take(columns, rows)
    # All columns of a record lie in one place: read it once.
    found = dataset[rows]
    values: Batch = {}
    for path, column in columns.items():
        (stored,) = column.stored
        part: Any = np.ndarray(
            (len(found), *stored.dtype.shape),
            stored.dtype.base,
            found,
            stored.place[1],
            _strides(found, stored),
        )
        values[path] = column.values([part.astype(stored.dtype_out.base)])
    return values


def _strides(found: Any, stored: Any) -> tuple[int, ...]:
    inner = np.empty(1, stored.dtype).strides[1:]
    return (found.dtype.itemsize, *inner)
