"""Rows by their numbers: read column by column, or as whole records where that is less work.

In: columns, or a table, and numbers of rows in any order, also repeated, or a slice. Out: values by column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.indexing import lower
from coquina.tables.reading import row_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.indexing import Selection
    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch
    from coquina.tables.table import Table

    Rows = npt.NDArray[np.int64]

_COLUMNS_LOWERED = 2


def take(columns: dict[str, Column], rows: npt.NDArray[Any] | slice) -> Batch:
    """Return the values of rows by their numbers, in any order, also repeated; or by a slice."""
    if isinstance(rows, slice) or len(columns) < _COLUMNS_LOWERED:
        return {path: column.read(rows) for path, column in columns.items()}
    # What the numbers name is found out once; text looks at them in its own way.
    lowered: dict[int, Selection] = {}
    values: Batch = {}
    for path, column in columns.items():
        key: Any = rows
        # Columns of others read as ours do, but know no keys that are lowered.
        if getattr(column, "kind", "string") != "string":
            length = len(column)
            if length not in lowered:
                lowered[length] = lower(rows, (length,))
            key = lowered[length]
        values[path] = column.read(key)
    return values


def take_rows(table: Table, columns: dict[str, Column], rows: Any) -> Batch:
    """Return the values of rows by their numbers, or by a slice."""
    dataset = getattr(table.layout, "dataset", None)
    if dataset is None or 2 * row_bytes(list(columns.values())) < dataset.typesize:
        return take(columns, rows)
    # All columns of a record lie in one place: read it once.
    found = dataset[rows]
    if not len(found):
        return take(columns, rows)
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
