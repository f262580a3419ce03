"""What changes a table: rows behind the last, values in place, rows and columns that go.

In: what the methods of tables get. Out: batches and calls for the layout; few rows at a time are gathered.
Invariant: rows are appended in the order in which they came, and what reads next sees them.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any, Literal, cast
from weakref import WeakSet

import numpy as np

from coquina._core import UnsupportedError
from coquina.arrays.fields import field_names
from coquina.changes import written_by
from coquina.tables import deleting, writing
from coquina.tables.access import KnownTerms
from coquina.tables.conditions import KnownConditions
from coquina.tables.layout import RecordBatch
from coquina.tables.plan import Condition, Plan
from coquina.tables.reading import RowShape
from coquina.tables.table_indexes import TableIndexes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    import numpy.typing as npt

    from coquina.hdf5.files import File
    from coquina.tables.layout import Batch, ColumnSpec, Layout, Schema
    from coquina.tables.record_columns import RecordColumn
    from coquina.tables.table import Table

    Values = npt.NDArray[Any]

#: A few rows at a time are gathered until they are so many.
_FEW_ROWS, _WAITING_ROWS = 256, 4096


class Changes(TableIndexes):
    """What changes a table, and the rows that wait in memory meanwhile."""

    # Handles of one table share all of it but who closes it.
    __slots__ = ("__dict__", "_first", "_owner", "is_closed")
    _owner: File | None
    _first: Table | None

    def __init__(self, layout: Layout, owner: File | None = None) -> None:
        """Made by `create_table`, `open_table`, and by files. owner: a file that is closed with the table."""
        self._lock = threading.RLock()
        #: The handles of the table that are open.
        self.handles: WeakSet[Any] = WeakSet([self])
        self._owner = owner
        self._first = None
        self.is_closed = False
        self._begin_with(layout)

    def _begin_with(self, layout: Layout) -> None:
        """Know nothing but the layout."""
        self._layout = layout
        self._index_store = None
        self._pending = 0
        self._waiting: list[Values] = []
        self._waiting_rows = 0
        self._row: np.dtype[Any] | Literal[False] | None = False
        #: Texts of conditions that were read, and what conditions ask of indexes; for queries.
        self.conditions = KnownConditions()
        self.known_terms = KnownTerms()
        self._shape: tuple[object, RowShape] | None = None
        self._records: RecordColumn | Literal[False] | None = False

    def show(self, layout: Layout | None) -> None:
        """Show another state of the table: rows that waited are given up. None closes it."""
        if layout is not None:
            self._begin_with(layout)
            return
        for handle in list(self.handles):
            handle.is_closed = True

    @property
    def layout(self) -> Layout:
        """How it is stored."""
        return self._layout

    @property
    def schema(self) -> Schema:
        """How its columns are described."""
        return self._layout.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple([spec.name for spec in self.schema])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row."""
        return self.row_shape.dtype

    @property
    def row_shape(self) -> RowShape:
        """What whole rows are made of; for those who read rows."""
        columns = self._layout.columns
        known = self._shape
        if known is None or known[0] is not columns:
            known = self._shape = (columns, RowShape.of(self._layout))
        return known[1]

    @property
    def nrows(self) -> int:
        """How many rows there are, with those that wait in memory."""
        return self._layout.nrows if not self._pending else self._pending

    @property
    def name(self) -> str | None:
        """Its name in the file, from the root on."""
        return self._layout.name

    @property
    def _table(self) -> Table:
        return cast("Table", self)

    def ready(self) -> None:
        """Write what waits in memory, so that it is read. Raises ValueError if the table is closed."""
        if self.is_closed:
            raise ValueError("the table is closed")
        if self._pending:
            self.flush()

    def _query(self) -> Plan:
        self.ready()
        return Plan(self._table)

    def append(self, data: Any) -> int:
        """Put rows behind the last; return how many.

        data: structured arrays, mappings of columns, DataFrames, Arrow data, tables and selections, whose
        columns go by their names; or rows one by one, as tuples in the order of the columns, mappings, or
        records.
        """
        self._check_open()
        if isinstance(data, np.ndarray | np.void) and cast("Any", data).dtype == self._plain_row():
            rows = np.atleast_1d(cast("Values", data))
            if rows.ndim == 1 and len(rows) <= _FEW_ROWS:
                return self._wait(rows)
        return writing.append_rows(self._table, data)

    def _plain_row(self) -> np.dtype[Any] | None:
        """Return the dtype of rows that are appended as they are; None if columns look at their values."""
        if self._row is False:
            columns = self._layout.columns.values()
            self._row = self.dtype if all(one.kind in ("number", "bits") for one in columns) else None
        return self._row

    def _wait(self, rows: Values) -> int:
        """Keep a few rows until there are more."""
        if not self._layout.is_writable:
            raise ValueError(f"{self.name}: the file is open for reading only")
        if len(rows):
            with self._lock:
                self._check_open()
                before = self.nrows
                if not self._pending:
                    self._begin()
                self._waiting.append(rows.copy())
                self._waiting_rows += len(rows)
                self._pending = before + len(rows)
                if self._waiting_rows >= _WAITING_ROWS:
                    self._drain()
        return len(rows)

    def _drain(self) -> None:
        """Hand the few rows that wait over to the layout."""
        waiting = self._waiting
        if waiting:
            rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
            with written_by(self.author):
                self._layout.append(RecordBatch(writing.batch_of(rows), rows))
            self._waiting, self._waiting_rows = [], 0

    def put(self, batch: Batch) -> None:
        """Append a batch: values by the path of their column, as `layout.append` takes them."""
        count = writing.length(batch)
        if not count:
            return
        with self._lock:
            self._check_open()
            self._drain()
            before = self.nrows
            if not self._pending:
                self._begin()
            with written_by(self.author):
                self._layout.append(batch)
            self._pending = before + count

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a column (a new one too, in the columns layout), columns, or rows."""
        with self._lock, self._changing():
            if isinstance(key, str):
                if key in self._layout.columns:
                    writing.modify_plan(Plan(self._table), {key: value})
                elif key in self.columns:
                    writing.write_nest(self._table, key, value)
                else:
                    self.add_column(key, value)
            elif isinstance(key, list) and (names := field_names(key)) is not None:
                writing.write_columns(self._table, list(names), value)
            else:
                writing.write_key(self._table, key, value)

    def modify(self, rows: Any, values: Mapping[str, Any]) -> int:
        """Overwrite columns in some rows; return how many rows that are.

        rows: a condition, as `where` takes it, a selection's `row_numbers()`, an int or a slice. values: by
        column, one for all rows, one for each, or an expression with one for each row of the table.
        """
        with self._lock, self._changing():
            if is_condition(rows):
                return writing.modify_plan(Plan(self._table).where(Condition(rows), None, None, None), values)
            return writing.modify_rows(self._table, writing.rows_of_key(self._table, rows), values)

    def delete(self, rows: Any) -> int:
        """Delete rows; return how many. Those behind them move down, which rewrites the table from the first
        on.

        rows: a condition, as `where` takes it, row numbers, an int, a slice, or a mask.
        """
        with self._lock:
            self.ready()
            if is_condition(rows):
                return deleting.delete_plan(Plan(self._table).where(Condition(rows), None, None, None))
            return deleting.delete_key(self._table, rows)

    def truncate(self, n: int) -> None:
        """Keep the first `n` rows. Raises ValueError for more than there are."""
        with self._lock:
            self.ready()
            if not 0 <= n <= self.nrows:
                raise ValueError(f"truncate: {n} of {self.nrows} rows")
            self.set_rows(n)

    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` rows; if there are fewer, add some behind the last.

        New rows have the columns' defaults: null where values can be missing, else zeros and empty text
        unless the column was made with another default. Zeros and defaults of HDF5's own kind, that is fill
        values, take no space and no time, however many they are; others are written.
        """
        nrows = index(nrows)
        if nrows < 0:
            raise ValueError(f"resize: {nrows} rows")
        with self._lock:
            self.ready()
            self.set_rows(nrows)

    def set_rows(self, nrows: int) -> None:
        """Give the layout another number of rows; for those who change rows."""
        before = self._layout.nrows
        with self.telling(None, [(min(before, nrows), max(before, nrows))]):
            self._layout.resize(nrows)

    @property
    def author(self) -> int:
        """In whose name it writes what its indexes are told of; see `coquina.changes`."""
        return self.index_store.author

    @contextmanager
    def telling(self, columns: Iterable[str] | None, ranges: Iterable[tuple[int, int]]) -> Generator[None]:
        """Tell the indexes, before rows of these columns change in the block; None for all columns."""
        store = None if self.index_store.is_empty else self.index_store
        if store is not None:
            store.look()
            for start, stop in ranges:
                store.changed(columns, start, stop)
        try:
            with written_by(self.author):
                yield
        finally:
            if store is not None:
                store.resized(self._layout.nrows)

    def add_column(self, name: str, values: Any, spec: ColumnSpec | None = None) -> None:
        """Put a column behind the last, with a value for each row, or one for all. Columns layout only."""
        with self._lock:
            self.ready()
            writing.add_column(self._table, name, values, spec)
            self._row = False

    def drop_column(self, name: str) -> None:
        """Remove a column. Columns layout only."""
        with self._lock:
            self.ready()
            with self.telling(None, []):
                self._layout.drop_column(name)
            if not self.index_store.is_empty:
                self.index_store.dropped(name)
            self._row = False

    def rename_column(self, old: str, new: str) -> None:
        """Give a column another name. Columns layout only."""
        with self._lock:
            self.ready()
            with self.telling(None, []):
                self._layout.rename_column(old, new)
            if not self.index_store.is_empty:
                self.index_store.renamed(old, new)
            self._row = False

    def compact(self) -> None:
        """Give back the space of what was overwritten or deleted, and make one run of each index.

        Raises UnsupportedError for tables in HDF5 files that have no index.
        """
        self.ready()
        compact = getattr(self._layout, "compact", None) if self._layout.file is None else None
        if not self.index_store.is_empty:
            self.index_store.compact()
            compact = compact or _nothing
        if compact is None:
            raise UnsupportedError(
                "HDF5 gives no space back in place; `copy` to a new file, or `coquina repack`, does"
            )
        with self.telling(None, []):
            compact()

    def flush(self) -> None:
        """Write the rows that wait in memory: from then on a killed program does not lose them."""
        with self._lock:
            self._check_open()
            self._drain()
            with written_by(self.author):
                self._layout.flush()
            if self._pending:
                self._pending = 0
                self._hold(False)
                if not self.index_store.is_empty:
                    self.index_store.flushed()
            self._commit()

    def _commit(self) -> None:
        """Commit what was changed, in a file that has commits."""
        file = self._layout.file
        if file is not None and self._layout.is_writable:
            file.commit()

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Write what waits, then make what changes in the block one commit, where the layout has commits."""
        self.ready()
        with self._layout.changing():
            yield

    def _check_open(self) -> None:
        if self.is_closed:
            raise ValueError("the table is closed")

    def _begin(self) -> None:
        """Prepare for rows that wait until a flush."""
        self.index_store.look()
        self._hold(True)

    def _hold(self, is_held: bool) -> None:
        """Keep the file from forgetting a table with rows that wait."""
        file = self._layout.file
        if hasattr(file, "hold"):
            file.hold(self, is_held)


def _nothing() -> None:
    """Do nothing."""


def is_condition(rows: Any) -> bool:
    """Whether rows are given by a condition: text, or a lazy array of bool."""
    if isinstance(rows, str):
        return True
    return (
        not isinstance(rows, np.ndarray)
        and getattr(rows, "dtype", None) == np.bool_
        and hasattr(rows, "shape")
    )
