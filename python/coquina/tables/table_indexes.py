"""The indexes of a table: made, listed, dropped, and where they are.

In: names of columns and texts of expressions. Out: `Index` objects.
Source: docs/formats/indexes.md, "Where".
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from coquina._core import CorruptError
from coquina.hdf5.sessions import GROUP, HIDDEN
from coquina.tables.homes import Hdf5Home
from coquina.tables.manifest import FOLDER, is_directory
from coquina.tables.selection import Queries

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from coquina.indexes.places import Place
    from coquina.indexes.source import IndexSource
    from coquina.indexes.store import IndexStore
    from coquina.tables.layout import Layout
    from coquina.tables.table import Table

Kind = Literal["full", "partial", "light", "zones", "pytables"]


class TableIndexes(Queries):
    """What tables have for indexes; what changes a table tells `index_store`."""

    __slots__ = ()
    _index_store: IndexStore | None
    _layout: Layout
    _lock: threading.RLock

    @property
    def index_store(self) -> IndexStore:
        """The store of this table's indexes; for those who change and query it."""
        if self._index_store is None:
            from coquina.indexes.store import IndexStore

            # What the store holds is the layout: it must not hold the table.
            self._index_store = store = IndexStore(
                partial(place_of, self._layout), partial(_source_of, self._layout)
            )
            return store
        return self._index_store

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes by name: those of `create_index`, and PyTables' own, by column."""
        theirs = _theirs(self._table) if self._layout.kind == "rows" else {}
        return MappingProxyType({**theirs, **self.index_store.indexes})

    def create_index(
        self,
        column: str,
        *,
        kind: Kind = "full",
        memory_limit: int = 1 << 30,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Make an index, which conditions and orders use from then on, and return it.

        column: a column, one of the values that it has in each row (`"pos[0]"`), or an expression of columns
            (`"price * volume"`), for conditions on the same expression.
        kind: "full": all is sorted: any query, orders too; the largest. "partial": sorted about a million
            rows at a time: built fast, slower to ask. "light": says which 1024 rows may match; smaller.
            "zones": least and greatest values of 16384 rows each: tiny, for rows that are nearly in order.
            "pytables": what PyTables calls a completely sorted index, which both use (layout "rows" only).
        memory_limit: of sorting, in bytes; what is more goes through a temporary file beside the table.
        name: of the index; by default the text of `column`.
        progress: called with how many rows have been read, and how many there are.

        Appended rows are looked at by scanning until they are many, then sorted and merged; changes are
        noticed, also those of other programs. Raises KeyError for no column, TypeError for values without an
        order, ValueError for a name that is taken and for a table that is open for reading.
        """
        with self._lock:
            self.ready()
            if not self._layout.is_writable:
                raise ValueError(f"create_index: {self._layout.name} is open for reading only")
            if kind == "pytables":
                from coquina.tables.pytables_index_writing import write_index

                return write_index(self._table, column, memory_limit=memory_limit, progress=progress)
            store = self.index_store
            source = _source_of(self._layout, store.author, column)
            return store.create(source, kind=kind, name=name, memory_limit=memory_limit, progress=progress)

    def drop_index(self, name: str) -> None:
        """Remove an index. Raises KeyError if there is none of this name."""
        with self._lock:
            self.ready()
            if not self._layout.is_writable:
                raise ValueError(f"drop_index: {self._layout.name} is open for reading only")
            if name not in self.index_store.indexes and name in _theirs(self._table):
                from coquina.tables.pytables_index_writing import drop_index

                drop_index(self._table, name)
            else:
                self.index_store.drop(name)

    def refresh_index(self, name: str | None = None) -> None:
        """Index the rows that are not, in one index or in all: appended and changed ones, and all of an index
        that is damaged. Raises KeyError if there is none of this name.
        """
        with self._lock:
            self.ready()
            if not self._layout.is_writable:
                raise ValueError(f"refresh_index: {self._layout.name} is open for reading only")
            found = self.indexes
            if name is not None and name not in found:
                raise KeyError(
                    f"there is no index {name!r}; there are {', '.join(map(repr, found)) or 'none'}"
                )
            for one in found.values() if name is None else [found[name]]:
                one.refresh()

    def ready(self) -> None:
        """Write what waits in memory, so that it is read."""
        raise NotImplementedError

    @property
    def _table(self) -> Table:
        raise NotImplementedError


def place_of(layout: Layout, is_made: bool) -> Place | None:
    """Return where the indexes of a table are; None if there is nothing, and nothing is to be made."""
    if layout.file is None:
        by_layout = getattr(layout, "index_place", None)
        return _folder_of(layout, is_made) if by_layout is None else by_layout(is_made)
    path = _group_of(layout)
    if not path:
        if is_made:
            raise ValueError("create_index: the table has no name, and its indexes stand beside it")
        return None
    if path not in layout.file:
        if not is_made:
            return None
        return Hdf5Home(layout.file.create_group(path))
    return Hdf5Home(layout.file[path])


def _folder_of(layout: Any, is_made: bool) -> Place | None:
    from coquina.tables.frames_home import FramesHome

    path = os.path.join(layout.home.path, FOLDER)
    if is_directory(path):
        try:
            return FramesHome.open(path, "r+" if layout.is_writable else "r")
        except CorruptError:
            if not is_made:
                raise
    if not is_made:
        return None
    if os.path.isdir(path):
        # It is damaged, or a program was killed before it wrote what is in it.
        shutil.rmtree(path)
    return FramesHome.make(path)


def forget_indexes(layout: Layout) -> None:
    """Remove what is left of the indexes of a table that had this name, and is no more."""
    if layout.file is not None and (path := _group_of(layout)) and path in layout.file:
        del layout.file[path]


def _group_of(layout: Layout) -> str:
    """Return the name of the group of a table's indexes; empty for a table without a name.

    A table that is a group has them in it: AnnData does not read groups of which it finds others beside.
    """
    name = layout.name or ""
    if layout.kind == "columns":
        return f"{name.rstrip('/')}/{GROUP}" if name else ""
    above, _, own = name.rpartition("/")
    return f"{above}/{HIDDEN}{own}" if own else ""


def _source_of(layout: Layout, author: int, text: str) -> IndexSource:
    from coquina.tables.index_sources import index_source

    return index_source(layout, text, author)


def _theirs(table: Table) -> dict[str, Any]:
    from coquina.tables.pytables_indexes import indexes_of

    return dict(indexes_of(table))
