"""A table of python-blosc2 as a `Table`: rows that were deleted are passed over.

In: what lies below the table's place in a store. Out: a layout whose columns are read from there, and changed
    where the store can be.
Source: docs/formats/blosc2-stores.md, "Tables". Indexes that are there are not used.
Invariant: columns of kinds that tables do not have are named by `info`, and not shown; a table that has some
    is only read.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coquina._core import CorruptError, FrameHandle, LimitError, UnsupportedError
from coquina.arrays.array import Array
from coquina.attrs import Attrs
from coquina.indexes.memory_home import MemoryHome
from coquina.stores.ctable_changes import VALID, TableChanges
from coquina.stores.ctable_columns import Parts, column_of, without_deleted
from coquina.stores.ctable_computed import computed_of
from coquina.stores.ctable_encoding import default_values, encoded
from coquina.stores.ctable_schema import columns_of, schema_of
from coquina.tables.layout import ColumnSpec, Layout
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import numpy.typing as npt

    from coquina.attrs import Layers
    from coquina.indexes.places import Place
    from coquina.stores.contents import Contents
    from coquina.stores.ctable_encoding import Encoded
    from coquina.stores.ctable_schema import Described
    from coquina.tables.column import Column
    from coquina.tables.layout import Batch, Schema

#: Rows that were appended are written when there are so many bytes of them.
_BUFFER_BYTES = 16 << 20
#: `resize` makes no more rows: which of them were deleted is known in memory.
_ROWS_MAX = 10**10


class CTableLayout(Layout):
    """The columns of a table of python-blosc2. changes: None if it is only read."""

    kind = "columns"
    #: Names of columns have dots where they lie below others.
    is_dotted = True

    def __init__(
        self,
        at: Callable[[str], Any],
        meta: FrameHandle,
        name: str,
        attrs: Layers,
        changes: TableChanges | None = None,
    ) -> None:
        """Read what the table says of itself. at: opens what lies at a key; None for nothing."""
        self._name = name
        self._at = at
        self._attrs = Attrs(attrs)
        self._memory: Place | None = None
        self._changes = changes
        schema = schema_of(meta, name)
        self._described = columns_of(schema, name)
        self._computed = computed_of(schema, name)
        stored = {column.name for column in self._described}
        if len(stored | {one.name for one in self._computed}) < len(stored) + len(self._computed):
            raise CorruptError(f"{name}: schema: two columns of one name")
        #: Names and kinds of the columns that are not shown, and of those that are no more than computed.
        self.others: dict[str, str] = {}
        self.not_computed: dict[str, str] = {}
        self._waiting: list[dict[str, Encoded]] = []
        self._waiting_rows = self._waiting_bytes = 0
        self._is_given_up = False
        self._see()

    def _see(self) -> None:
        """Show what is stored."""
        valid = self._at(VALID)
        if not isinstance(valid, Array) or valid.dtype.kind != "b" or len(valid.shape) != 1:
            raise CorruptError(f"{self._name}: {VALID}: no array of truth values")
        live: npt.NDArray[np.int64] | None = None
        rows = valid.shape[0]
        if rows and not bool(valid.all()):
            live = np.flatnonzero(np.asarray(valid[...]))
            if self._changes is None:
                # A writer that is at work, or was killed, has made room for more rows in some arrays.
                rows = int(live[-1]) + 1 if len(live) else 0
        parts = Parts(self._at, rows, self._name)
        columns: dict[str, Column] = {}
        for column in self._described:
            made = column_of(column, parts)
            if made is None:
                self.others[column.name] = column.kind
            else:
                columns[column.name] = made
        described = {column.name: column for column in self._described}
        for one in self._computed:
            made = one.column(described, parts)
            if made is None:
                self.not_computed[one.name] = one.readable or one.kind
            else:
                columns[one.name] = made
        #: The physical row behind the last, and the physical rows that were not deleted; None for all.
        self._end = self._nrows = parts.rows
        self._rows: npt.NDArray[np.int64] | None = None
        if live is not None and len(live) < rows:
            self._rows, self._nrows = live, len(live)
            columns = {key: without_deleted(column, live) for key, column in columns.items()}
        for key, column in columns.items():
            if len(column) != self._nrows:
                columns[key] = without_deleted(column, np.arange(self._nrows))
        # Tables take it that new columns come with the schema: theirs goes first.
        self.schema = tuple([_spec(key, column) for key, column in columns.items()])
        self.columns = columns

    def why_hidden(self, name: str) -> str | None:
        """Return why a column that there is is not shown; None if there is none of this name."""
        if name in self.others:
            return f"{self._name}: column {name!r} is of kind {self.others[name]!r}, which tables do not have"
        for one in self._computed:
            if one.name == name and one.kind == "expression":
                return (
                    f"{self._name}: column {name!r} is computed as {one.readable}, which cannot be read here"
                )
            if one.name == name:
                return f"{self._name}: column {name!r} is computed by Python code, which is never run"
        return None

    @property
    def stored_schema(self) -> Schema:
        """The columns that rows are given for: all but those that are computed."""
        computed = {one.name for one in self._computed}
        return tuple([spec for spec in self.schema if spec.name not in computed])

    @property
    def nrows(self) -> int:
        """How many rows there are, without those that wait in memory."""
        return self._nrows

    @property
    def nrows_appended(self) -> int:
        """How many rows there are with those that wait in memory."""
        return self._nrows + self._waiting_rows

    @property
    def is_writable(self) -> bool:
        """Whether rows can be changed."""
        return self._changes is not None

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
        """What python-blosc2 calls `vlmeta` of the table."""
        return self._attrs

    @property
    def title(self) -> str:
        """What the table is about; empty if nothing says it."""
        return str(self._attrs.get("title", ""))

    @contextmanager
    def changing(self) -> Generator[None]:
        """Make what is overwritten in the block one commit; an exception undoes it."""
        changes = self._to_change()
        self.flush()
        with changes.locked(), changes.overwriting():
            yield
        self._see()
        changes.commit()

    def append(self, batch: Batch) -> None:
        """Put rows behind the last: values for every column. They are written by `flush`."""
        if self._is_given_up:
            return
        self._to_change()
        missing = [column.name for column in self._described if column.name not in batch]
        if missing:
            raise ValueError(f"append to {self._name}: no values for {', '.join(map(repr, missing))}")
        unknown = [name for name in batch if name not in self.columns]
        if unknown:
            raise KeyError(f"{self._name} has no column {unknown[0]!r}; it has {', '.join(self.columns)}")
        lengths = {name: len(values) for name, values in batch.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of unequal lengths: {lengths}")
        parts = {name: encoded(column, spec, batch[name]) for name, column, spec in self._known()}
        rows = len(next(iter(parts.values())).items)
        if not rows:
            return
        self._waiting.append(parts)
        self._waiting_rows += rows
        self._waiting_bytes += sum(part.nbytes for part in parts.values())
        if self._waiting_bytes > _BUFFER_BYTES:
            self._write()

    def flush(self) -> None:
        """Write what waits in memory, and commit: an archive is written anew."""
        if self._changes is not None:
            self._write()
            self._changes.commit()

    def _write(self) -> None:
        waiting = self._waiting
        if not waiting:
            return
        changes = self._to_change()
        # Rows that cannot be written are gone, as those of other tables: the caller is told how many.
        nrows, self._waiting = self.nrows_appended, []
        self._waiting_rows = self._waiting_bytes = 0
        try:
            with changes.locked():
                changes.append(self._described, waiting, self._end, nrows)
        finally:
            self._see()

    def close(self) -> None:
        """Flush."""
        self.flush()

    def forget(self) -> None:
        """Give up what waits in memory, here and in the table that is closed next."""
        self._is_given_up, self._waiting, self._changes = True, [], None
        self._waiting_rows = self._waiting_bytes = 0

    def write(self, start: int, batch: Batch) -> None:
        """Overwrite rows from `start` on, in the columns that `batch` has."""
        rows = len(next(iter(batch.values()), ()))
        self.write_at(np.arange(start, start + rows), batch)

    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Overwrite these rows, in the columns that `batch` has."""
        changes = self._to_change()
        for one in self._computed:
            if one.name in batch:
                raise ValueError(f"{self._name}: column {one.name!r} is computed, as {one.readable}")
        rows = self._physical(rows)
        parts = {
            name: encoded(column, spec, batch[name]) for name, column, spec in self._known() if name in batch
        }
        columns = {column.name: column for column in self._described}
        with changes.locked():
            is_alone = not changes.is_overwriting
            with changes.overwriting():
                for name, part in parts.items():
                    changes.write(columns[name], rows, part, self._end)
        if is_alone:
            self._see()
            changes.commit()

    def delete(self, rows: npt.NDArray[Any]) -> None:
        """Delete rows, in one commit: they stay in the arrays, and are said to be none."""
        changes = self._to_change()
        if len(rows):
            with changes.locked():
                changes.delete(self._physical(rows), self._nrows - len(rows))
            self._see()
            changes.commit()

    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` rows; new ones, if it is more, have the defaults, and are written.

        Raises LimitError for more rows than a mask in memory can tell apart once one of them is deleted.
        """
        if nrows > max(_ROWS_MAX, self._nrows):
            raise LimitError(
                f"{self._name}: resize to {nrows} rows: the most are {_ROWS_MAX}, as each takes 9 bytes of "
                "memory once a row is deleted; a table in a directory or an HDF5 file takes 10**14 rows"
            )
        if nrows <= self._nrows:
            self.delete(np.arange(nrows, self._nrows))
            return
        self.flush()
        changes = self._to_change()
        row = {name: encoded(one, spec, default_values(one, spec)) for name, one, spec in self._known()}
        try:
            with changes.locked():
                changes.grow(self._described, row, self._end, nrows - self._nrows, nrows)
        finally:
            self._see()
        changes.commit()

    def _known(self) -> list[tuple[str, Described, ColumnSpec]]:
        specs = {spec.name: spec for spec in self.schema}
        return [(one.name, one, specs[one.name]) for one in self._described]

    def _physical(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        rows = np.asarray(rows, np.int64)
        rows = np.where(rows < 0, rows + self._nrows, rows)
        return rows if self._rows is None else self._rows[rows]

    def _to_change(self) -> TableChanges:
        """Return what changes it. Raises ValueError if it is only read, UnsupportedError for some columns."""
        if self._changes is None:
            raise ValueError(f"{self._name}: the table is open for reading only; open it with mode 'r+'")
        for name, kind in self.others.items():
            raise UnsupportedError(
                f"{self._name}: column {name!r} is of kind {kind!r}, so that the table is only read"
            )
        return self._changes

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
        shown = {one.name: one.readable for one in self._computed if one.name in self.columns}
        more = {"computed": shown, "others": {**self.others, **self.not_computed}}
        return facts | {name: value for name, value in more.items() if value}

    def index_place(self, is_made: bool) -> Place | None:
        """Return where indexes of this table are: in memory."""
        if self._memory is None and is_made:
            self._memory = MemoryHome()
        return self._memory

    def _keep_columns(self, what: str) -> NoReturn:
        del what
        raise UnsupportedError(
            f"{self._name}: such a table keeps the columns that it has; copy(path) makes one of ours"
        )


def open_table(
    at: Callable[[str], Any],
    meta: FrameHandle,
    name: str,
    attrs: Layers,
    contents: Contents | None = None,
    path: str = "/",
) -> Table:
    """Return the table that lies in a store; see `CTableLayout`. contents, path: to change it."""
    changes = None if contents is None else TableChanges(contents, path)
    return Table(CTableLayout(at, meta, name, attrs, changes))


def close_table(table: Table, *, commits: bool) -> None:
    """Close a table of a store. commits: with the rows that wait in it, which are given up otherwise."""
    layout: Any = table.layout
    if not commits:
        layout.forget()
    if not table.is_closed:
        table.close()


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
        values=getattr(column, "described_values", None),
    )
