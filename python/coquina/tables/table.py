"""`Table`: named columns of compressed values, in rows that are read, appended, changed and queried.

In: a layout, which stores the columns. Out: records and columns as NumPy arrays, lazy selections, changes.
Invariant: what was appended is seen by whatever reads next; threads may share a table.
"""

from __future__ import annotations

from contextlib import contextmanager
from operator import attrgetter, index
from typing import TYPE_CHECKING, Any, Literal, cast, overload
from weakref import WeakSet

import numpy as np

from coquina._core import LimitError, UnsupportedError
from coquina.arrays.fields import field_names
from coquina.changes import written_by
from coquina.foreign_attributes import TABLES, no_attribute
from coquina.hdf5.places import inside
from coquina.keyword_hints import names_keywords
from coquina.lazy_property import lazy_property
from coquina.locks import NodeLock
from coquina.providers import Provider
from coquina.quoting import quoted
from coquina.storage_options import TableCopyOptions
from coquina.tables import deleting, stored_chunks, table_indexes, writing
from coquina.tables.nests import Nest
from coquina.tables.pandas_callers import refuse_constructor
from coquina.tables.plan import Condition, Plan, is_condition
from coquina.tables.reading import ColumnSet, RowShape, spec_of
from coquina.tables.record_columns import record_column
from coquina.tables.rows_by_key import read_key
from coquina.tables.selection import Queries, Selection
from coquina.tables.sorted_reading import iterate_sorted, read_sorted
from coquina.tables.table_html import table_html
from coquina.tables.table_text import table_text
from coquina.tables.user_attributes import UserAttributes
from coquina.tables.waiting import FEW_ROWS, WaitingRows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Buffer, Path
    from coquina.arrays.info import Damage
    from coquina.hdf5.chunks import ChunkInfo
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.indexes.store import IndexStore
    from coquina.remote import RangeReader
    from coquina.tables import making as table_making
    from coquina.tables import opening as table_opening
    from coquina.tables.access import ChooserOf
    from coquina.tables.layout import Batch, ColumnSpec, Layout, Schema
    from coquina.tables.making import Kind
    from coquina.tables.reading import Names
    from coquina.tables.record_columns import RecordColumn

    Values = npt.NDArray[Any]
    IndexKind = Literal["full", "partial", "light", "zones", "pytables"]
else:
    table_making, table_opening = map(Provider, ("table_making", "table_opening"))


class Table(Queries):
    """A table of named columns and numbered rows.

    `t[3]` is a record; `t[5:9]`, `t[[7, 1]]` and `t[mask]` are structured arrays; `t["x"]` is a column, a
    lazy array; `t[["x", "y"]]` are several columns as a structured array. Assignments to these write. Columns
    are also attributes, unless another attribute has that name. `t.where("x > 5")` selects rows lazily.

    Appended rows wait in memory, a few megabytes at most, until they are read or flushed, or the table is
    closed, so appending single rows is cheap. A killed process loses these rows and no others.

    >>> import coquina as cq
    >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
    >>> t[1], t["x"].sum()
    (np.void((1, 'b'), dtype=[('x', '<i8'), ('s', 'O')]), np.int64(6))
    >>> t.where("x > 1").to_numpy("s").tolist()
    ['a', 'a']
    """

    # Handles of one table share all of it but who closes it.
    __slots__ = ("__dict__", "__weakref__", "_first", "_owner", "is_closed")
    _owner: File | None
    _first: Table | None
    _layout: Layout
    #: How it is stored. Queries ask often: this getter is no function of Python's.
    layout: Layout = cast("Any", property(attrgetter("_layout"), doc="How it is stored."))

    def __init__(self, layout: Layout, owner: File | None = None) -> None:
        """Made by `create_table`, `open_table`, and by files. owner: a file that is closed with the table."""
        self._lock = NodeLock()
        #: The handles of the table that are open.
        self.handles: WeakSet[Any] = WeakSet([self])
        self._owner = owner
        self._first = None
        self.is_closed = False
        self._begin_with(layout)
        layout.watched_by(self)

    def _begin_with(self, layout: Layout) -> None:
        """Know nothing but the layout."""
        self._layout = layout
        vars(self).pop("index_store", None)
        #: Rows that were appended and are in memory only.
        self.waiting = WaitingRows(layout)
        self._row: np.dtype[Any] | Literal[False] | None = False
        #: What chooses among the indexes, once that was wanted; for queries.
        self.chooser: ChooserOf | None = None
        self._shape: tuple[object, RowShape] | None = None

    def show(self, layout: Layout | None) -> None:
        """Show another state of the table: rows that waited are given up. None closes it."""
        if layout is not None:
            self._begin_with(layout)
            return
        for handle in list(self.handles):
            handle.is_closed = True

    @property
    def schema(self) -> Schema:
        """How its columns are described."""
        return self.layout.schema

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
        columns = self.layout.columns
        known = self._shape
        if known is None or known[0] is not columns:
            records = record_column(self.layout)
            records = None if records is None else ColumnSet({"": records})
            known = self._shape = (columns, RowShape.of(self.layout)._replace(records=records))
        return known[1]

    @property
    def nrows(self) -> int:
        """How many rows there are, with those that wait in memory."""
        return self.waiting.total or self.layout.nrows

    @property
    def name(self) -> str | None:
        """Its name in the file, from the root on."""
        return self.layout.name

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (self.nrows,)

    @property
    def file(self) -> Any:
        """The file that it is in; None for a table that is a directory."""
        return self.layout.file

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None for one that is only in memory."""
        file = self.layout.file
        return getattr(getattr(self.layout, "home", None), "path", None) if file is None else file.path

    @property
    def remote(self) -> RangeReader | None:
        """What reads a remote file, with counts of `requests` and `bytes_read`; else None."""
        return None if self.file is None else self.file.remote

    @property
    def attrs(self) -> Any:
        """The attributes that users gave, a mapping; those of the format (`CLASS`) are not listed."""
        return UserAttributes(self.layout.attrs)

    @property
    def info(self) -> dict[str, Any]:
        """How it is stored."""
        self.ready()
        return {"name": self.name, "path": self.path, "nrows": self.nrows, **self.layout.info()}

    @property
    def dataset(self) -> Any:
        """The records as an array, of a table in the rows layout."""
        found = getattr(self.layout, "dataset", None)
        if found is None:
            raise AttributeError(f"a table of layout {self.layout.kind!r} has no dataset of its own")
        self.ready()
        return found

    @property
    def records(self) -> RecordColumn | None:
        """Whole records as one column, where they are stored as they are shown; for those who read rows."""
        records = self.row_shape.records
        return None if records is None else records[""]

    @property
    def h5(self) -> Any:
        """The h5py object that it is: a dataset, or a group; see `Group.h5` for what follows from that."""
        return self.file.h5[self.name]

    @property
    def _h5(self) -> Any:
        if self.file is None:
            raise AttributeError("a table that is a directory is not an object of h5py's")
        return inside(self.file)[self.name]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.nrows

    def __bool__(self) -> bool:
        """Return whether the table is open."""
        return not self.is_closed

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column of this name."""
        return name in self.layout.columns or name in self.columns

    # Reading

    @overload
    def __getitem__(self, key: str) -> Any: ...

    @overload
    def __getitem__(self, key: int) -> np.void: ...

    @overload
    def __getitem__(self, key: slice | list[str] | list[int] | Values) -> Values: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Return a column, columns, a record, or records. Raises what NumPy raises, and KeyError."""
        self.ready()
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, list) and (names := field_names(key)) is not None:
            return self.to_numpy(names)
        if isinstance(key, tuple) and (names := field_names(list(cast("Any", key)))):
            raise IndexError(f"{key!r}: columns are given as a list: t[{names!r}]")
        return read_key(self, key)

    def _column(self, name: str) -> Any:
        column = self.layout.columns.get(name)
        if column is not None:
            return column.array()
        if (why := self.layout.why_hidden(name)) is not None:
            raise UnsupportedError(why)
        return Nest(self, name, spec_of(self.schema, name))

    def __getattr__(self, name: str) -> Any:
        """Return the column of this name."""
        # Without a layout the table is being made.
        is_column = "_layout" in vars(self) and (name in self.layout.columns or name in self.columns)
        if is_column and not name.startswith("_"):
            return self[name]
        known = [*self.columns, *dir(type(self))] if "_layout" in vars(self) else []
        text = no_attribute("the table", name, TABLES, "attribute or column", known)
        raise AttributeError(text, name=name, obj=self)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of the columns, for interpreters that complete `table["`."""
        return list(self.columns)

    @names_keywords
    def read(
        self,
        columns: Names = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Values:
        """Read rows as a structured array, or the values of one column.

        columns: the names of the columns, or one name; None for all. start, stop, step: as in a slice.

        Raises KeyError for an unknown column. Memory: the result.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.read("x", start=1)
        array([1, 2])
        """
        if isinstance(columns, int):
            raise TypeError("read: the first argument names columns; t[0:10] reads rows")
        rows = slice(start, stop, step)
        if rows.step is None or rows.step > 0:
            self.ready()
            return Selection(Plan(self, start=start, stop=stop, step=step)).to_numpy(columns)
        return read_key(self, rows, columns)

    @names_keywords
    def read_sorted(
        self,
        column: str,
        columns: Names = None,
        *,
        descending: bool = False,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Values:
        """Read rows in the order of a column, as a structured array; or one column of them.

        column: the column to order by. columns: the names of the columns to read, or one name; None for all.
        start, stop, step: positions in the order, as in a slice: `stop=10` reads the first ten, `step=-1`
            reverses.
        descending: the greatest values first.

        With an index of the column (kind "full" or "partial") a few rows are read without a scan; otherwise
        the column is read and sorted in memory.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x")
        >>> t.read_sorted("x", "s").tolist()
        ['b', 'a', 'a']
        """
        return read_sorted(self._query().ordered(column, descending), columns, slice(start, stop, step))

    @names_keywords
    def itersorted(
        self,
        column: str,
        descending: bool = False,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Iterator[Any]:
        """Iterate over the rows in the order of a column; see `read_sorted` for the arguments.

        With an index of the column the first rows are returned at once. Otherwise a scan finds the first
        thousand of a large table, and for more of them all rows are sorted: in memory, or with a temporary
        file if they take more than 1 GiB.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x")
        >>> [int(row["x"]) for row in t.itersorted("x")]
        [1, 2, 3]
        """
        return iterate_sorted(self._query().ordered(column, descending), slice(start, stop, step))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Values:
        """Return all rows as a structured array."""
        if copy is False:
            raise ValueError("copy=False: the rows are decoded into new memory")
        refuse_constructor()
        found = self.to_numpy()
        return found if dtype is None else found.astype(dtype)

    def copy(
        self,
        target: Path | Group,
        name: str | None = None,
        *,
        layout: Kind | None = None,
        columns: Names = None,
        condition: Any = None,
        sort_by: str | Sequence[str] | None = None,
        memory_limit: int = 1 << 30,
        overwrite: bool = False,
        **storage: Unpack[TableCopyOptions],
    ) -> Table:
        """Copy the table to a file or a group.

        target: a path, or a group of an HDF5 file.
        name: of the new table; None: the name of this one.
        overwrite: replace a table of this name; other contents of the file or directory stay.
        layout: "rows" or "columns". columns: the columns to copy; None for all. condition: copy the matching
            rows.
        sort_by: columns to sort by, the first one decides first. Equal rows keep their order; nulls and NaN
            are last.
        memory_limit: bytes for sorting (or those of n^(2/3) of n rows, if that is more). Larger tables are
            sorted in parts, written to a temporary file next to the copy, uncompressed, and merged. codec,
            level, lossy and the other options of storage: as in `create_table`, with the same defaults.
            Without lossy the copy stores the current values and is exact from then on.

        Returns the new `Table`, open for writing. Memory: a window of rows, and `memory_limit` if sorted.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> with t.copy("u.h5", overwrite=True, sort_by="x") as copied:
        ...     print(copied["x"][:])
        [1 2 3]
        """
        kind = self.layout.kind if layout is None else layout
        new = table_making.NewTable.of(Table.copy, storage, TableCopyOptions, layout=kind)
        plan = self._query()
        if condition is not None:
            plan = plan.where(Condition(condition), None, None, None)
        if columns is not None:
            plan = plan.selecting(columns)
        if sort_by is not None:
            plan = plan.ordered(sort_by, False)
        return table_making.copy_plan(plan, target, name, new, overwrite, memory_limit)

    # Changes

    def ready(self) -> None:
        """Write what waits in memory, so that it is read. Raises ValueError if the table is closed."""
        if self.is_closed:
            raise ValueError("the table is closed")
        if self.waiting.total:
            self.flush()

    def _query(self) -> Plan:
        if self.is_closed or self.waiting.total:
            self.ready()
        return Plan(self)

    def append(self, data: Any) -> int:
        """Append rows. Returns their number.

        data: structured arrays, mappings of columns, DataFrames, Arrow data, tables and selections, whose
            columns are matched by name; or a list of rows: tuples in the order of the columns, mappings, or
            records.

        Raises TypeError or ValueError for values that do not fit a column; no row is added then. Memory: rows
        wait until a chunk is full, or until `flush`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.append({"x": [7, 8], "s": ["c", "d"]})
        2
        >>> t.nrows
        5
        """
        self._check_open()
        if isinstance(data, np.ndarray | np.void) and cast("Any", data).dtype == self._plain_row():
            rows = np.atleast_1d(cast("Values", data))
            if rows.ndim == 1 and len(rows) <= FEW_ROWS:
                return self._wait(rows)
        return writing.append_rows(self, data)

    def _plain_row(self) -> np.dtype[Any] | None:
        """Return the dtype of rows that are appended as they are; None if columns look at their values."""
        if self._row is False:
            columns = self.layout.columns.values()
            self._row = self.dtype if all(one.kind in ("number", "bits") for one in columns) else None
        return self._row

    def _wait(self, rows: Values) -> int:
        """Keep a few rows until there are more."""
        if not self.layout.is_writable:
            raise ValueError(f"{self.name}: the file is open for reading only; open it with mode 'r+'")
        if len(rows):
            with self._lock:
                self._check_open()
                if not self.waiting.total:
                    self._begin()
                self.waiting.add(rows, self.writer_id)
        return len(rows)

    def put(self, batch: Batch) -> None:
        """Append a batch: values by the path of their column, as `layout.append` takes them."""
        count = writing.length(batch)
        if not count:
            return
        with self._lock:
            self._check_open()
            if not self.waiting.total:
                self._begin()
            self.waiting.put(batch, count, self.writer_id)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a column (a new one too, in the columns layout), columns, or rows."""
        with self.changing():
            if isinstance(key, str):
                if key in self.layout.columns:
                    writing.modify_plan(Plan(self), {key: value})
                elif key in self.columns:
                    writing.write_nest(self, key, value)
                else:
                    self.add_column(key, value)
            elif isinstance(key, list) and (names := field_names(key)) is not None:
                writing.write_columns(self, list(names), value)
            else:
                writing.write_key(self, key, value)

    @names_keywords
    def modify(self, rows: Any, values: Mapping[str, Any]) -> int:
        """Overwrite columns in some rows. Returns the number of rows.

        rows: a condition, as for `where`; row numbers, such as `selection.row_numbers()`; an int; or a slice.
        values: a mapping of columns to one value for all rows, one for each row, or an expression of columns.
            Raises KeyError for an unknown column, TypeError or ValueError for values that do not fit.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.modify([0, 2], {"x": [30, 20]})
        2
        >>> t["x"][:].tolist()
        [30, 1, 20]
        """
        with self.changing():
            if is_condition(rows):
                return writing.modify_plan(Plan(self).where(Condition(rows), None, None, None), values)
            return writing.modify_rows(self, writing.rows_of_key(self, rows), values)

    @names_keywords
    def delete(self, rows: Any) -> int:
        """Delete rows. Returns their number.

        rows: a condition, as for `where`; row numbers; an int; a slice; or a mask. The rows after the first
            deleted one are rewritten.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.delete(slice(0, 2))
        2
        >>> t["x"][:].tolist()
        [2]
        """
        with self.changing():
            if is_condition(rows):
                return deleting.delete_plan(Plan(self).where(Condition(rows), None, None, None))
            return deleting.delete_key(self, rows)

    def truncate(self, n: int) -> None:
        """Keep the first `n` rows. Raises ValueError for more than there are.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.truncate(1)
        >>> t["x"][:].tolist()
        [3]
        """
        with self._lock:
            self.ready()
            if not 0 <= n <= self.nrows:
                raise ValueError(f"truncate: {n} of {self.nrows} rows")
            self.set_rows(n)

    def resize(self, nrows: int) -> None:
        """Set the number of rows: remove the last ones, or add rows of default values.

        nrows: the new number of rows. Defaults are null, zero or empty text, unless the column has another
            one. New rows of zeros or of HDF5's fill values take no space. Short columns get larger chunks if
            necessary.

        Raises ValueError for a negative number, and for a table open for reading.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.resize(2)
        >>> t.nrows
        2
        """
        nrows = index(nrows)
        if nrows < 0:
            raise ValueError(f"resize: {nrows} rows")
        with self._lock:
            self.ready()
            self.set_rows(nrows)

    def set_rows(self, nrows: int) -> None:
        """Give the layout another number of rows; for those who change rows."""
        before = self.layout.nrows
        with self.notify_indexes(None, [(min(before, nrows), max(before, nrows))]):
            try:
                if self.index_store.is_empty:  # Indexes know the arrays that columns have.
                    self.layout.enlarge_chunks(nrows)
                self.layout.resize(nrows)
            except LimitError as error:
                advice = f"a table made with expected_rows={nrows} has larger chunks"
                raise LimitError(f"resize to {nrows} rows: {error}; {advice}") from error

    @property
    def writer_id(self) -> int:
        """The number of this writer, by which its indexes know its changes; see `coquina.changes`."""
        return self.index_store.writer_id

    @contextmanager
    def notify_indexes(
        self, columns: Iterable[str] | None, ranges: Iterable[tuple[int, int]]
    ) -> Generator[None]:
        """Notify the indexes before rows of these columns change in the block; None for all columns."""
        store = None if self.index_store.is_empty else self.index_store
        if store is not None:
            store.look()
            for start, stop in ranges:
                store.changed(columns, start, stop)
        try:
            with written_by(self.writer_id):
                yield
        finally:
            if store is not None:
                store.resized(self.layout.nrows)

    @names_keywords
    def add_column(self, name: str, values: Any, spec: ColumnSpec | None = None) -> None:
        """Add a column after the last one. Layout "columns" only.

        name: of the column. values: one value for all rows, or one for each. spec: a dtype or a `ColumnSpec`,
            if the values do not tell.

        Raises ValueError if the name exists and for another number of values, UnsupportedError for the layout
        "rows".

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.add_column("y", [1.0, 2.0, 3.0])
        >>> t.columns
        ('x', 's', 'y')
        """
        with self._lock:
            self.ready()
            writing.add_column(self, name, values, spec)
            self._row = False

    def drop_column(self, name: str) -> None:
        """Remove a column. Columns layout only.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.drop_column("s")
        >>> t.columns
        ('x',)
        """
        with self._lock:
            self.ready()
            with self.notify_indexes(None, []):
                self.layout.drop_column(name)
            if not self.index_store.is_empty:
                self.index_store.dropped(name)
            self._row = False

    def rename_column(self, old: str, new: str) -> None:
        """Give a column another name. Columns layout only.

        old, new: its name, and the one that it gets. Raises KeyError without `old`, ValueError if `new` is
            taken.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.rename_column("x", "y")
        >>> t.columns
        ('y', 's')
        """
        with self._lock:
            self.ready()
            with self.notify_indexes(None, []):
                self.layout.rename_column(old, new)
            if not self.index_store.is_empty:
                self.index_store.renamed(old, new)
            self._row = False

    # Stored chunks

    def chunk_info(self, coords: Iterable[int], column: str | None = None, part: int = 0) -> ChunkInfo:
        """Return where the chunk is stored that holds the row of `coords`, a tuple of one number.

        column: of a table of columns, whose arrays have chunks of their own; None for records. part: of a
        column that is stored as several arrays, as text is (0 for where each begins, 1 for its bytes).

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2]}, layout="rows")
        >>> t.chunk_info([0]).start
        (0,)
        """
        return stored_chunks.dataset_of(self, column, part).chunk_info(coords)

    def chunk_iter(self, column: str | None = None, part: int = 0) -> Iterator[ChunkInfo]:
        """Iterate over the stored chunks of the records, or of a column; see `chunk_info`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2]}, layout="rows")
        >>> len(list(t.chunk_iter()))
        1
        """
        return stored_chunks.dataset_of(self, column, part).chunk_iter()

    def read_chunk(
        self, coords: Iterable[int], out: Buffer | None = None, column: str | None = None, part: int = 0
    ) -> bytes | memoryview:
        """Return the stored bytes of the chunk that begins at `coords`; see `Dataset.read_chunk`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2]}, layout="rows")
        >>> len(t.read_chunk([0])) > 0
        True
        """
        return stored_chunks.dataset_of(self, column, part).read_chunk(coords, out)

    def write_chunk(
        self,
        coords: Iterable[int],
        data: Buffer,
        filter_mask: int = 0,
        column: str | None = None,
        part: int = 0,
    ) -> None:
        """Store `data` as the chunk that begins at `coords`; see `Dataset.write_chunk`.

        Its rows must be there: `resize` makes room for them.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2]}, layout="rows")
        >>> t.write_chunk([0], t.read_chunk([0]))
        """
        with self.changing():
            stored_chunks.write_chunk(self, coords, data, filter_mask, column, part)

    def compact(self) -> None:
        """Release the space of overwritten and deleted rows, and merge the runs of each index.

        Raises UnsupportedError for tables in HDF5 files without indexes.

        >>> import coquina as cq
        >>> with cq.create_table("t", {"x": [3, 1, 2]}, overwrite=True) as t:
        ...     deleted = t.delete(slice(0, 1))
        ...     t.compact()
        """
        self.ready()
        compact = getattr(self.layout, "compact", None) if self.layout.file is None else None
        if not self.index_store.is_empty:
            self.index_store.compact()
            compact = compact or _nothing
        if compact is None:
            raise UnsupportedError(
                "HDF5 gives no space back in place; `copy` to a new file, or `coquina repack`, does"
            )
        with self.notify_indexes(None, []):
            compact()

    def flush(self) -> None:
        """Commit the rows that wait in memory. A killed process no longer loses them.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.append({"x": [7], "s": ["c"]})
        1
        >>> t.flush()
        """
        with self._lock:
            self._check_open()
            self.waiting.flush(self.writer_id)
            if self.waiting.end():
                self._hold(False)
                if not self.index_store.is_empty:
                    self.index_store.flushed()
            self._commit()

    def _commit(self) -> None:
        """Commit what was changed, in a file that has commits."""
        file = self.layout.file
        if file is not None and self.layout.is_writable:
            file.commit()

    @contextmanager
    def changing(self) -> Generator[None]:
        """Write what waits, then make what changes in the block one commit, where the layout has commits.

        Other threads that change the table wait.

        >>> import coquina as cq
        >>> t = cq.create_table("t", {"x": [1, 2]}, overwrite=True)
        >>> with t.changing():
        ...     t["x"][0] = 5
        ...     t["x"][1] = 6
        >>> t["x"][:].tolist()
        [5, 6]
        """
        with self._lock:
            self.ready()
            with self.layout.changing():
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
        file = self.layout.file
        if hasattr(file, "hold"):
            file.hold(self, is_held)

    # Indexes

    @lazy_property
    def index_store(self) -> IndexStore:
        """The store of this table's indexes; for those who change and query it."""
        return table_indexes.store_of(self.layout)

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes by name: those of `create_index`, and PyTables' own, by column."""
        return table_indexes.all_of(self, self.index_store.indexes)

    @names_keywords
    def create_index(
        self,
        column: str,
        *,
        kind: IndexKind = "full",
        memory_limit: int = 1 << 30,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Create an index, which conditions and orders use from then on.

        column: a column, one of the values that it has in each row (`"pos[0]"`), or an expression of columns
            (`"price * volume"`), for conditions that contain the same expression.
        kind: "full": all rows sorted; the largest, for any condition and for orders. "partial": rows sorted
            in runs of about a million; quicker to build, slower to search. "light": finds groups of 1024 rows
            that may match; smaller. "zones": minimum and maximum of 16384 rows each; tiny, for rows that are
            nearly sorted. "pytables": a completely sorted index of PyTables, which both libraries use; layout
            "rows" only.
        memory_limit: bytes for sorting; the remainder is sorted in a temporary file next to the table.
        name: of the index; by default the text of `column`.
        progress: a function that is called with the number of rows read and their total.

        Returns an `Index`. Appended rows are scanned until they are many, then sorted and merged. Changes are
        noticed, including those of other programs. Raises KeyError for an unknown column, TypeError for
        values without an order, ValueError if the name exists or the table is open for reading.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x", kind="full")
        >>> t.where("x == 2").row_numbers()
        array([2])
        """
        with self._lock:
            self._check_writable("create_index")
            given: Any = {"kind": kind, "name": name, "memory_limit": memory_limit, "progress": progress}
            return table_indexes.create(self, column, **given)

    def drop_index(self, name: str) -> None:
        """Remove an index. Raises KeyError for an unknown name.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x")
        >>> t.drop_index("x")
        >>> len(t.indexes)
        0
        """
        with self._lock:
            self._check_writable("drop_index")
            table_indexes.drop(self, name)

    def refresh_index(self, name: str | None = None) -> None:
        """Index the unindexed rows of one index, or of all.

        name: of the index; None for all. These are appended and changed rows, and all rows of a damaged
            index. Raises KeyError for an unknown name.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x")
        >>> t.refresh_index("x")
        """
        with self._lock:
            self._check_writable("refresh_index")
            table_indexes.refresh(self, name)

    def _check_writable(self, what: str) -> None:
        """Write what waits. Raises ValueError if the table is open for reading only."""
        self.ready()
        if not self.layout.is_writable:
            raise ValueError(f"{what}: {self.layout.name} is open for reading only; open it with mode 'r+'")

    # The life of a table

    def close(self) -> None:
        """Flush, and let go of the table; the file too, if it was opened for this table.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.close()
        >>> t.is_closed
        True
        """
        with self._lock:
            if self.is_closed:
                return
            self.handles.discard(self)
            if self.handles:
                self._leave()
                return
            try:
                if self.layout.file is None or self.layout.file:
                    self._end()
            finally:
                if self.waiting.end():
                    self._hold(False)
                self.is_closed = True
                if "index_store" in vars(self):
                    self.index_store.close()
                if self._owner is not None:
                    self._owner.close()

    def _leave(self) -> None:
        """Be closed, while other handles go on."""
        try:
            self.flush()
        finally:
            self.is_closed = True
            if self._owner is not None:
                self._owner.close()

    def _end(self) -> None:
        """Flush, and let go of the layout and the indexes."""
        self.waiting.hand_over(self.writer_id)
        try:
            if self.layout.is_writable and not self.index_store.is_empty:
                with written_by(self.writer_id):
                    self.layout.flush()
                self.waiting.end()
                self.index_store.closing()
        finally:
            with written_by(self.writer_id):
                self.layout.close()

    def verify(self, *, threads: int | None = None) -> dict[str, list[Damage]]:
        """Read and check every chunk; return the damaged ones, by the names of the columns they are of.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.verify()
        {}
        """
        self.ready()
        found: dict[str, list[Damage]] = {}
        seen: dict[int, list[Damage]] = {}
        for path, column in self.layout.columns.items():
            for part in column.stored:
                if id(part.array) not in seen:
                    seen[id(part.array)] = part.array.verify(threads=threads)
                if seen[id(part.array)]:
                    found.setdefault(path, []).extend(seen[id(part.array)])
        return found

    def own(self, file: File) -> None:
        """Close this file with the table."""
        self._owner = file

    def shared(self, file: File | None = None) -> Table:
        """Return another handle of the table, which is closed by itself, with its own handle of the file."""
        # Files know tables by their first handle; of a directory one that is forgotten is as good as closed.
        first = self._first or self if file is not None else None
        made = Table.__new__(Table)
        made.__dict__ = self.__dict__
        made._owner, made._first, made.is_closed = file, first, False
        self.handles.add(made)
        self.layout.watched_by(made)
        return made

    def refresh(self) -> bool:
        """Show the last commit of a table opened for reading; return whether there was a newer one.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.refresh()
        False
        """
        self._check_open()
        file = self.layout.file
        if file is not None:
            return file.refresh()
        with self._lock:
            if is_newer := self.layout.refresh():
                self._begin_with(self.layout)
            return is_newer

    def __enter__(self) -> Table:
        """Return the table; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Say name, rows, and columns."""
        if self.is_closed:
            return "<Table, closed>"
        columns = ", ".join([f"{quoted(spec.name)} {_shown(spec)}" for spec in self.schema])
        return f"<Table {self.name!r} ({self.nrows} rows, {self.layout.kind}): {columns}>"

    _repr_html_ = table_html

    def __str__(self) -> str:
        """Return the first and the last rows, in columns that line up."""
        return table_text(self)

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[Any, ...]]:
        """Pickle by path and name: it reopens for reading."""
        self.ready()
        where = self.path or self.remote
        if where is None or self.name is None:
            raise TypeError("a table that is only in memory cannot be pickled; pickle to_numpy()")
        return table_opening.reopen, (where, self.name)


def _shown(spec: ColumnSpec) -> str:
    if spec.children:
        return "{" + ", ".join([f"{quoted(child.name)} {_shown(child)}" for child in spec.children]) + "}"
    kind = spec.values_kind or ("text" if spec.dtype.kind == "T" else str(spec.dtype))
    if spec.categories is not None:
        kind = f"{len(spec.categories)} categories"
    return f"{kind}{list(spec.shape) if spec.shape else ''}{'?' if spec.nullable else ''}"


__all__ = ["Table"]


def _nothing() -> None:
    """Do nothing."""
