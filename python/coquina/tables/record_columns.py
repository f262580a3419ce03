"""Whole records as one column: rows of the rows layout that people get as they are stored.

In: the dataset of a table, and its columns. Out: a column whose values are records; none where a column is
not stored as it is shown, or not in the machine's byte order.
Invariant: the values are those that the columns give one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.indexing import Selection, lower
from coquina.tables.reading import pick, row_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.tables.columns import Column
    from coquina.tables.layout import Layout


class RecordColumn:
    """The records of a dataset; scans take it for a column."""

    is_nullable = False
    kind = "records"
    name = ""
    shape = ()

    def __init__(self, dataset: Array, dtype: np.dtype[Any], bits: Sequence[tuple[str, ...]]) -> None:
        """The records of `dataset` as `dtype`, of the same size; `bits`: names of what is shown as bool."""
        self.dtype = dtype
        self._dataset = dataset
        self._bits = bits

    def sources(self) -> list[_core.Lazy]:
        """Return what is to be gathered."""
        return [_core.lazy_array(self._dataset, 0, self.dtype.itemsize, 1)]

    def values(self, parts: Sequence[Any]) -> npt.NDArray[Any]:
        """Return the records of gathered bytes."""
        return self._shown(np.ascontiguousarray(parts[0]))

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the records of rows, by any key that NumPy takes."""
        return self.take(lower(key, self._dataset.shape))

    def take(self, selection: Selection) -> npt.NDArray[Any]:
        """Return the records of a lowered key, in its raw shape."""
        found = self._dataset.get_selection(selection)
        return self._shown(np.ascontiguousarray(found.reshape(selection.raw_shape)))

    def _shown(self, records: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: Any = records.view(self.dtype)
        for names in self._bits:
            field = found
            for name in names:
                field = field[name]
            # Any byte but 0 is true, and 1 for NumPy.
            np.not_equal(field.view(np.uint8), 0, out=field)
        return found


def record_column(layout: Layout) -> RecordColumn | None:
    """Return the column of a table's records, if they are stored as they are shown."""
    dataset = getattr(layout, "dataset", None)
    if dataset is None:
        return None
    dtype = row_dtype(layout.columns, pick(layout.schema, None))
    bits: list[tuple[str, ...]] = []
    if dtype.itemsize != dataset.typesize or dtype.hasobject:
        return None
    for path, column in layout.columns.items():
        names = names_of(path, dtype)
        if names is None or not _is_plain(column, dtype, names):
            return None
        if column.kind == "bits":
            bits.append(names)
    return RecordColumn(dataset, dtype, bits)


def names_of(path: str, dtype: np.dtype[Any]) -> tuple[str, ...] | None:
    """Return the names of the fields that lead to a path; None if that is not clear."""
    if path in (dtype.names or ()):
        return (path,)
    for name in dtype.names or ():
        if path.startswith(name + "/"):
            below = names_of(path[len(name) + 1 :], dtype[name])
            if below is not None:
                return (name, *below)
    return None


def _is_plain(column: Column, dtype: np.dtype[Any], names: tuple[str, ...]) -> bool:
    """Whether a column's bytes stand where the row has its values, and are these."""
    if column.kind not in ("number", "bits"):
        return False
    (stored,) = column.stored
    at = 0
    for name in names:
        field: Any = dtype.fields
        dtype, offset = field[name][:2]
        at += offset
    return stored.place[1] == at and stored.dtype.itemsize == dtype.itemsize and stored.dtype.base.isnative
