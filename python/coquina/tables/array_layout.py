"""A 1-d array as a table: one column, `value`, or a column for each field of its records.

In: an array of any kind, in memory, in a file of its own, or in HDF5. Out: a layout, so that arrays are
queried, ordered and indexed as tables are.
Invariant: the array stays what it is and is not closed; what the table writes, it writes to the array.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import finalize

import numpy as np

from coquina._core import UnsupportedError
from coquina.casting import is_masked
from coquina.indexes.memory_home import MemoryHome
from coquina.tables.columns import NumberColumn
from coquina.tables.frames_home import FramesHome, is_directory
from coquina.tables.layout import ColumnSpec, Layout
from coquina.tables.stored import Stored
from coquina.tables.table import Table
from coquina.tables.time_columns import DatetimeColumn

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.indexes.places import Place
    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch

#: The column of an array without fields.
VALUE = "value"
#: The indexes of an array in a file of its own stand beside it, in a directory of its name and this.
INDEX_SUFFIX = ".index"
#: The indexes of arrays in memory by `id`, for as long as these live; `==` of arrays compares their items.
_memory: dict[int, Place] = {}


def as_table(array: Array) -> Table:
    """Return a 1-d array as a table, for conditions, orders and indexes. Nothing is copied.

    array: an `Array` or a dataset. The table has the column `value`, or a column for each field of records.
        Indexes are stored with the array: in its HDF5 file, in the directory `<file>.index` next to a frame,
        or in memory. Close the table, and not only the array, to keep its indexes up to date.

    Raises ValueError for another number of axes, UnsupportedError for fields that tables do not support.

    >>> import coquina as cq
    >>> t = cq.as_table(cq.asarray([3, 1, 2]))
    >>> t.where("value > 1").row_numbers()
    array([0, 2])
    """
    if len(array.shape) != 1:
        raise ValueError(f"as_table: an array of shape {array.shape}: tables have one axis of rows")
    return Table(ArrayLayout(array))


def create_index(array: Array, column: str | None, **options: Any) -> dict[str, Any]:
    """Make an index of an array, which `as_table` uses, and return how it is; see `Array.create_index`."""
    with as_table(array) as table:
        return table.create_index(VALUE if column is None else column, **options).info


class ArrayLayout(Layout):
    """A table whose rows are the items of a 1-d array."""

    kind = "array"

    def __init__(self, array: Array) -> None:
        """The table of an array."""
        self.array = array
        fields: Any = array.dtype.fields
        self._fields: dict[str, Stored] = (
            {VALUE: Stored(array, array.dtype)}
            if fields is None
            else {name: Stored(array, *fields[name][:2]) for name in array.dtype.names or ()}
        )
        self.columns = {name: _column(name, stored) for name, stored in self._fields.items()}
        self.schema = tuple(
            [ColumnSpec(name, column.dtype, column.shape) for name, column in self.columns.items()]
        )

    @property
    def nrows(self) -> int:
        """How many items there are."""
        return self.array.shape[0]

    @property
    def is_writable(self) -> bool:
        """Whether items can be changed."""
        handle: Any = self.array.handle
        return getattr(handle, "is_writable", self.array.mode != "r")

    @property
    def name(self) -> str | None:
        """The name of a dataset, or the path of a file; None in memory."""
        return getattr(self.array, "name", None) or self.array.path

    @property
    def file(self) -> Any:
        """The file of a dataset; None for other arrays."""
        return getattr(self.array, "file", None)

    @property
    def attrs(self) -> Any:
        """The attributes of the array."""
        return self.array.attrs

    def append(self, batch: Batch) -> None:
        """Put items behind the last."""
        missing = [name for name in self.columns if name not in batch]
        if missing:
            raise ValueError(f"append: no values for {', '.join(map(repr, missing))}")
        self.array.append(self._items(batch))

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing: the array is its owner's."""

    def write(self, start: int, batch: Batch) -> None:
        """Overwrite items from `start` on, in the columns that `batch` has."""
        for name, values in batch.items():
            self._fields[name].write(start, self._encoded(name, values))

    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Overwrite these items, in the columns that `batch` has."""
        for name, values in batch.items():
            self._fields[name].write_at(np.asarray(rows, np.intp), self._encoded(name, values))

    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` items; new ones are zeros."""
        self.array.resize((nrows,))

    def info(self) -> dict[str, Any]:
        """How it is stored."""
        array = self.array
        nbytes = self.nrows * array.typesize
        return {
            "layout": self.kind,
            "rows": self.nrows,
            "chunk_rows": array.chunks[0],
            "nbytes": nbytes,
            "cbytes": array.cbytes,
        }

    def index_place(self, is_made: bool) -> Place | None:
        """Return where the indexes of an array are that is in no HDF5 file; None if there are none."""
        if self.array.path is None:
            return _memory_of(self.array, is_made)
        path = os.fspath(self.array.path) + INDEX_SUFFIX
        durable = self.array.durable
        if is_directory(path):
            return FramesHome.open(path, "r+" if self.is_writable else "r", durable=durable)
        return FramesHome.make(path, durable=durable) if is_made else None

    def _encoded(self, name: str, values: Any) -> npt.NDArray[Any]:
        if is_masked(values):
            raise TypeError(f"column {name!r}: no item of an array can be missing")
        (part,) = self.columns[name].encode(values)
        assert not isinstance(part, tuple)
        return part

    def _items(self, batch: Batch) -> npt.NDArray[Any]:
        parts = {name: self._encoded(name, batch[name]) for name in self.columns}
        if self.array.dtype.fields is None:
            return parts[VALUE].view(self.array.dtype.newbyteorder("=")).astype(self.array.dtype)
        items = np.zeros(len(next(iter(parts.values()))), self.array.dtype)
        for name, part in parts.items():
            dtype: Any = items.dtype[name].base
            items[name] = part.view(dtype.newbyteorder("=")) if dtype.kind in "mM" else part
        return items

    def _keep_columns(self, what: str) -> NoReturn:
        raise UnsupportedError(f"{what}: the table is an array")


def _memory_of(array: Array, is_made: bool) -> Place | None:
    """Return where the indexes of an array in memory are; None if there are none."""
    if is_made and id(array) not in _memory:
        _memory[id(array)] = MemoryHome()
        finalize(array, _memory.pop, id(array), None)
    return _memory.get(id(array))


def _column(name: str, stored: Stored) -> Column:
    dtype = stored.dtype_out
    if dtype.names is not None:
        raise UnsupportedError(f"as_table: field {name!r} has fields of its own")
    if dtype.kind in "mM":
        return DatetimeColumn(name, stored, dtype)
    return NumberColumn(name, stored)


__all__ = ["as_table"]
