"""A table of python-blosc2 as a `Table`: rows that were deleted are passed over.

In: what lies below the table's place in a store. Out: a layout whose columns are read from there.
Source: docs/formats/blosc2-stores.md, "Tables". Indexes that are there are not used.
Invariant: nothing is written; columns of kinds that tables do not have are named by `info`, and not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coquina._core import CorruptError, FrameHandle, UnsupportedError
from coquina.arrays.array import Array
from coquina.attrs import Attrs
from coquina.indexes.memory_home import MemoryHome
from coquina.stores.ctable_columns import Parts, column_of, without_deleted
from coquina.stores.ctable_schema import columns_of
from coquina.tables.layout import ColumnSpec, Layout
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.attrs import Layers
    from coquina.indexes.places import Place
    from coquina.tables.column import Column
    from coquina.tables.layout import Batch


class CTableLayout(Layout):
    """The columns of a table of python-blosc2, for reading."""

    kind = "columns"

    def __init__(self, at: Callable[[str], Any], meta: FrameHandle, name: str, attrs: Layers) -> None:
        """Read what the table says of itself. at: opens what lies at a key; None for nothing."""
        self._name = name
        self._attrs = Attrs(attrs)
        self._memory: Place | None = None
        valid = at("_valid_rows")
        if not isinstance(valid, Array) or valid.dtype.kind != "b" or len(valid.shape) != 1:
            raise CorruptError(f"{name}: _valid_rows: no array of truth values")
        parts = Parts(at, valid.shape[0], name)
        self.columns: dict[str, Column] = {}
        #: Names and kinds of the columns that are not shown.
        self.others: dict[str, str] = {}
        for column in columns_of(meta, name):
            made = column_of(column, parts)
            if made is None:
                self.others[column.name] = column.kind
            else:
                self.columns[column.name] = made
        self._nrows = parts.rows
        if parts.rows and not bool(valid.all()):
            rows = np.flatnonzero(np.asarray(valid[...]))
            self._nrows = len(rows)
            self.columns = {key: without_deleted(column, rows) for key, column in self.columns.items()}
        for key, column in self.columns.items():
            if len(column) != self._nrows:
                self.columns[key] = without_deleted(column, np.arange(self._nrows))
        self.schema = tuple([_spec(key, column) for key, column in self.columns.items()])

    @property
    def nrows(self) -> int:
        """How many rows there are."""
        return self._nrows

    @property
    def is_writable(self) -> bool:
        """False: such tables are only read."""
        return False

    @property
    def name(self) -> str | None:
        """Where the table is."""
        return self._name

    @property
    def file(self) -> Any:
        """None: it is in no HDF5 file."""
        return None

    @property
    def attrs(self) -> Any:
        """What python-blosc2 calls `vlmeta` of the table, for reading."""
        return self._attrs

    def append(self, batch: Batch) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing: arrays are closed with their last user."""

    def write(self, start: int, batch: Batch) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def resize(self, nrows: int) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def add_column(self, spec: ColumnSpec, values: Any) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def drop_column(self, name: str) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def rename_column(self, old: str, new: str) -> None:
        """Raise UnsupportedError."""
        self._refuse()

    def info(self) -> dict[str, Any]:
        """How it is stored; `others` are columns that are not shown, where there are some."""
        # What would be copied to memory for it is left out.
        known = [column for column in self.columns.values() if vars(column).get("make") is None]
        arrays = [part.array for column in known for part in column.stored]
        facts: dict[str, Any] = {
            "layout": self.kind,
            "rows": self.nrows,
            "chunk_rows": arrays[0].chunks[0] if arrays else 0,
            "nbytes": sum(array.size * array.typesize for array in arrays),
            "cbytes": sum(array.cbytes for array in arrays),
        }
        return {**facts, "others": self.others} if self.others else facts

    def index_place(self, is_made: bool) -> Place | None:
        """Return where indexes of this table are: in memory."""
        if self._memory is None and is_made:
            self._memory = MemoryHome()
        return self._memory

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(
            f"{self._name}: tables of python-blosc2 are only read; copy(path) makes one of ours"
        )


def open_table(at: Callable[[str], Any], meta: FrameHandle, name: str, attrs: Layers) -> Table:
    """Return the table that lies in a store; see `CTableLayout`."""
    return Table(CTableLayout(at, meta, name, attrs))


def _spec(name: str, column: Column) -> ColumnSpec:
    categories = getattr(column, "categories", None)
    return ColumnSpec(
        name,
        column.dtype,
        column.shape,
        column.is_nullable,
        None if categories is None else tuple(categories.tolist()),
        bool(getattr(column, "ordered", False)),
        zone=getattr(column, "zone", None),
    )
