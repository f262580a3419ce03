"""`Table`: named columns of compressed values, in rows that are read, appended, changed and queried.

In: a layout, which stores the columns. Out: records and columns as NumPy arrays, lazy selections, changes.
Invariant: what was appended is seen by whatever reads next; threads may share a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.arrays.fields import field_names
from coquina.changes import written_by
from coquina.hdf5.places import inside
from coquina.providers import Provider
from coquina.quoting import quoted
from coquina.tables.changing import Changes
from coquina.tables.nests import Nest
from coquina.tables.plan import Condition, Plan
from coquina.tables.reading import spec_of
from coquina.tables.record_columns import RecordColumn, record_column
from coquina.tables.rows_by_key import read_key
from coquina.tables.selection import Selection
from coquina.tables.sorted_reading import iterate_sorted, read_sorted
from coquina.tables.table_html import table_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.info import Damage
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.remote import RangeReader
    from coquina.tables import making as table_making
    from coquina.tables import opening as table_opening
    from coquina.tables.column_bounds import Bounds
    from coquina.tables.layout import ColumnSpec
    from coquina.tables.making import Kind
    from coquina.tables.reading import Names
    from coquina.tuning_options import Tuning

    Values = npt.NDArray[Any]
else:
    table_making, table_opening = map(Provider, ("table_making", "table_opening"))


class Table(Changes):
    """A table: columns by name, rows by number.

    `t[3]` is a record, `t[5:9]`, `t[[7, 1]]` and `t[mask]` are structured arrays, `t["x"]` is a column,
    lazily, with the keys, operators and methods of arrays, `t[["x", "y"]]` are columns as a structured
    array. Assigning to any of these writes. `t.where("x > 5")` selects rows lazily. Columns are attributes
    too, where nothing else is.

    Rows that are appended wait in memory, some megabytes of them at most, until they are read, flushed, or
    the table is closed: appending single rows is cheap. A killed program loses those that waited, and no
    others; only within a flush of an HDF5 file it may lose those that flushes left in a last, partly filled
    chunk (`AppendSession` says more).
    """

    __slots__ = ("__weakref__",)

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (self.nrows,)

    @property
    def file(self) -> Any:
        """The file that it is in; None for a table that is a directory."""
        return self._layout.file

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None for one that is only in memory."""
        file = self._layout.file
        return getattr(getattr(self._layout, "home", None), "path", None) if file is None else file.path

    @property
    def remote(self) -> RangeReader | None:
        """What reads a file that is far away, with counts of `requests` and `bytes_read`; else None."""
        return None if self.file is None else self.file.remote

    @property
    def attrs(self) -> Any:
        """The attributes, a mapping."""
        return self._layout.attrs

    @property
    def info(self) -> dict[str, Any]:
        """How it is stored."""
        self.ready()
        return {"name": self.name, "path": self.path, "nrows": self.nrows, **self._layout.info()}

    @property
    def dataset(self) -> Any:
        """The records as an array, of a table in the rows layout."""
        found = getattr(self._layout, "dataset", None)
        if found is None:
            raise AttributeError(f"a table of layout {self._layout.kind!r} has no dataset of its own")
        self.ready()
        return found

    @property
    def records(self) -> RecordColumn | None:
        """Whole records as one column, where they are stored as they are shown; for those who read rows."""
        if self._records is False:
            self._records = record_column(self._layout)
        return self._records

    @property
    def h5(self) -> Any:
        """The h5py object that it is: a dataset, or a group; see `Group.h5` for what follows from that."""
        return self.file.h5[self.name]

    @property
    def _h5(self) -> Any:
        if self.file is None:
            raise AttributeError("a table that is a directory is no object of h5py's")
        return inside(self.file)[self.name]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.nrows

    def __bool__(self) -> bool:
        """Return whether the table is open."""
        return not self.is_closed

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column of this name."""
        return name in self._layout.columns or name in self.columns

    # Reading

    def __getitem__(self, key: Any) -> Any:
        """Return a column, columns, a record, or records. Raises what NumPy raises, and KeyError."""
        self.ready()
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, list) and (names := field_names(key)) is not None:
            return self.to_numpy(names)
        return read_key(self, key)

    def _column(self, name: str) -> Any:
        column = self._layout.columns.get(name)
        if column is not None:
            return column.array()
        return Nest(self, name, spec_of(self.schema, name))

    def __getattr__(self, name: str) -> Any:
        """Return the column of this name."""
        # Without a layout the table is being made.
        if not name.startswith("_") and (name in self._layout.columns or name in self.columns):
            return self[name]
        raise AttributeError(f"a table has no {name!r}, nor has this one such a column", name=name, obj=self)

    def read(
        self,
        columns: Names = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Values:
        """Return rows as a structured array, or the values of a column that is given by its name."""
        rows = slice(start, stop, step)
        if rows.step is None or rows.step > 0:
            self.ready()
            return Selection(Plan(self, start=start, stop=stop, step=step)).to_numpy(columns)
        return read_key(self, rows, columns)

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
        """Return rows in the order of a column, that of `order_by`, as a structured array, or one column.

        start, stop, step: places in the order, as of a slice; `stop=10` is the ten first of it, `start=10`
        all behind, `step=-1` goes backwards. An index of the column (of kind "full" or "partial") gives few
        rows without reading others; without one the column is read and sorted in memory.
        """
        return read_sorted(self._query().ordered(column, descending), columns, slice(start, stop, step))

    def itersorted(
        self,
        column: str,
        descending: bool = False,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Iterator[Any]:
        """Iterate over the rows in the order of a column, as `read_sorted` gives them.

        The first rows come at once if there is an index of the column. For many rows all are sorted, as
        `copy(sort_by=)` does it: in memory, or if they take more than 1 GiB by a temporary file.
        """
        return iterate_sorted(self._query().ordered(column, descending), slice(start, stop, step))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Values:
        """Return all rows as a structured array."""
        if copy is False:
            raise ValueError("copy=False: the rows are decoded into new memory")
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
        codec: str | None = None,
        level: int | None = None,
        lossy: Bounds = None,
        overwrite: bool = False,
        **tuning: Unpack[Tuning],
    ) -> Table:
        """Return a copy as another table, in a file or in a group; rows are read a window at a time.

        name: of the new table; that of this one if None. overwrite: replace a table of this name in a file,
        or in a directory; all else in them stays. layout: "rows" or "columns". condition: only the
        rows that meet it. sort_by: columns by which the rows are sorted, the first of which weighs most; rows
        that are equal keep their order, and what is missing, and NaN, comes last. lossy: bounds by column, as
        in `create_table`; without them the copy holds what is stored here, and is exact from then on. codec
        and level, and what goes with the codec "auto": as in `create_table`, with its defaults.

        Sorting takes about `memory_limit` bytes of memory (n rows may take what n^(2/3) of them do, if that
        is more). Rows that are more are sorted some at a time, written to a temporary file beside the copy,
        and read again: its size is theirs without compression. Each row is decoded once, whatever the limit.
        """
        plan = self._query()
        if condition is not None:
            plan = plan.where(Condition(condition), None, None, None)
        if columns is not None:
            plan = plan.selecting(columns)
        if sort_by is not None:
            plan = plan.ordered(sort_by, False)
        kind = self._layout.kind if layout is None else layout
        storing = table_making.Storing(kind, codec=codec, level=level, lossy=lossy, tuning=tuning)
        return table_making.copy_plan(plan, target, name, storing, overwrite, memory_limit)

    # The life of a table

    def close(self) -> None:
        """Flush, and let go of the table; the file too, if it was opened for this table."""
        with self._lock:
            if self.is_closed:
                return
            self.handles.discard(self)
            if self.handles:
                self._leave()
                return
            try:
                if self._layout.file is None or self._layout.file:
                    self._end()
            finally:
                if self._pending:
                    self._pending = 0
                    self._hold(False)
                self.is_closed = True
                if self._index_store is not None:
                    self._index_store.close()
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
        self._drain()
        try:
            if self._layout.is_writable and not self.index_store.is_empty:
                with written_by(self.author):
                    self._layout.flush()
                self._pending = 0
                self.index_store.closing()
        finally:
            with written_by(self.author):
                self._layout.close()

    def verify(self, *, threads: int | None = None) -> dict[str, list[Damage]]:
        """Read and check every chunk; return the damaged ones, by the names of the columns they are of."""
        self.ready()
        found: dict[str, list[Damage]] = {}
        seen: dict[int, list[Damage]] = {}
        for path, column in self._layout.columns.items():
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
        return made

    def refresh(self) -> bool:
        """Show the last commit of a table that is only read; return whether it is another one.

        All columns are shown as of that commit.
        """
        self._check_open()
        file = self._layout.file
        if file is not None:
            return file.refresh()
        with self._lock:
            if is_newer := self._layout.refresh():
                self._begin_with(self._layout)
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
        return f"<Table {self.name!r} ({self.nrows} rows, {self._layout.kind}): {columns}>"

    def _repr_html_(self) -> str:
        """Return columns and some rows, for notebooks."""
        return table_html(self)

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
    kind = "text" if spec.dtype.kind == "T" else str(spec.dtype)
    if spec.categories is not None:
        kind = f"{len(spec.categories)} categories"
    return f"{kind}{list(spec.shape) if spec.shape else ''}{'?' if spec.nullable else ''}"


__all__ = ["Table"]
