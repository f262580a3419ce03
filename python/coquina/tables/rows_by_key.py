"""Rows by keys: `table[7]`, `table[5:9]`, `table[[7, 1]]`, `table[mask]`.

In: a table, a key that NumPy takes for one axis, and columns. Out: a record, or a structured array.
Rows that follow each other are scanned; others are read by their numbers, from records at once where that is
less work than column by column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.indexing import lower
from coquina.tables.gathering import all_records
from coquina.tables.plan import Plan
from coquina.tables.reading import records
from coquina.tables.scanning import scan
from coquina.tables.taking import take_rows

if TYPE_CHECKING:
    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch
    from coquina.tables.reading import Names
    from coquina.tables.table import Table

#: So many rows that follow each other are read column by column, more are scanned.
_FEW_ROWS = 4096


def read_key(table: Table, key: Any, names: Names = None) -> Any:
    """Return the rows that a key names; of one column, if that is given by its name, the values."""
    table.ready()
    # Another thread may append: what waits to be written is not there yet.
    selection = lower(key, (table.layout.nrows,))
    axis = selection.axes[0] if selection.axes else None
    if axis is None:
        raise IndexError(f"rows of a table: a key that gives shape {selection.shape} is not taken")
    records_ = table.records if names is None else None
    if records_ is not None:
        found = records_.take(selection)
        return found[0] if selection.is_scalar else found.reshape(selection.shape)
    shape = Plan(table).row_shape(names)
    if isinstance(axis, tuple):
        start, step, count = axis
        if count > _FEW_ROWS and step > 0 and not isinstance(names, str):
            plan = Plan(table, start=start, stop=start + step * count, step=step)
            return all_records(plan, shape)
        values = _by_range(table, shape.columns, start, step, count)
    else:
        count = len(axis)
        values = take_rows(table, shape.columns, axis)
    if isinstance(names, str) and not shape.picked[0].spec.children:
        return values[names]
    found = records(shape, values, count)
    if selection.is_scalar:
        return found[0]
    return found.reshape(selection.shape)


def _by_range(table: Table, columns: dict[str, Column], start: int, step: int, count: int) -> Batch:
    if step < 0 and count > 1:
        found = _by_range(table, columns, start + step * (count - 1), -step, count)
        return {path: values[::-1] for path, values in found.items()}
    if count <= _FEW_ROWS:
        return take_rows(table, columns, slice(start, start + step * count, step))
    return scan(None, columns, range(start, start + step * count, step)).values
