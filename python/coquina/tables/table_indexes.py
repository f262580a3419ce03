"""The indexes of a table: made, listed, dropped, and where they are, in its file or its directory.

In: a table or its layout, names of columns and texts of expressions. Out: `Index` objects, and their place.
Source: docs/formats/indexes.md, "Where".
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coquina._core import CorruptError
from coquina.hdf5.sessions import GROUP, HIDDEN
from coquina.indexes.places import reading
from coquina.indexes.store import KINDS
from coquina.tables.directory_names import FOLDER, is_directory
from coquina.tables.homes import Hdf5Home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina.indexes.places import Place
    from coquina.indexes.source import IndexSource
    from coquina.indexes.store import IndexStore
    from coquina.tables.layout import Layout
    from coquina.tables.table import Table


def store_of(layout: Layout) -> IndexStore:
    """Return the store of the indexes of a table. What it holds is the layout: it must not hold the table."""
    from coquina.indexes.store import IndexStore

    return IndexStore(partial(place_of, layout), partial(_source_of, layout))


def all_of(table: Table, ours: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the indexes of a table by name: ours, and PyTables' own, by column."""
    return ours if table.layout.kind != "rows" else MappingProxyType({**_theirs(table), **ours})


def create(
    table: Table, column: str, *, kind: str, memory_limit: int, progress: Any, name: str | None
) -> Any:
    """Make an index; see `Table.create_index`."""
    if column not in table.layout.columns and (path := column.replace(".", "/")) in table.layout.columns:
        # A column within a column as conditions write it: an index of the column, not of an expression.
        column = path
    if kind == "pytables":
        from coquina.tables.pytables_index_writing import write_index

        return write_index(table, column, memory_limit=memory_limit, progress=progress)
    store = table.index_store
    source = _source_of(table.layout, store.writer_id, column)
    if kind not in KINDS:
        kinds = KINDS if table.layout.kind != "rows" else (*KINDS, "pytables")
        raise ValueError(f"create_index: kind {kind!r}: one of {', '.join(map(repr, kinds))}")
    return store.create(source, kind=kind, name=name, memory_limit=memory_limit, progress=progress)


def drop(table: Table, name: str) -> None:
    """Remove an index. Raises KeyError if there is none of this name."""
    if name not in table.index_store.indexes and name in _theirs(table):
        from coquina.tables.pytables_index_writing import drop_index

        drop_index(table, name)
    else:
        table.index_store.drop(name)


def refresh(table: Table, name: str | None) -> None:
    """Index the rows that are not, in one index or in all. Raises KeyError if there is none of this name."""
    found = table.indexes
    if name is not None and name not in found:
        raise KeyError(f"there is no index {name!r}; there are {', '.join(map(repr, found)) or 'none'}")
    for one in found.values() if name is None else [found[name]]:
        one.refresh()


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
    with reading(path):
        found = layout.file.get(path)
    if found is None:
        return Hdf5Home(layout.file.create_group(path)) if is_made else None
    return Hdf5Home(found)


def _folder_of(layout: Any, is_made: bool) -> Place | None:
    from coquina.tables.frames_home import FramesHome

    path = f"{layout.home.path}/{FOLDER}"
    if not is_made and not os.path.isdir(path):
        return None
    durable = layout.home.durable
    if is_directory(path):
        try:
            return FramesHome.open(path, "r+" if layout.is_writable else "r", durable=durable)
        except CorruptError:
            if not is_made:
                raise
    if not is_made:
        return None
    if os.path.isdir(path):
        # It is damaged, or a program was killed before it wrote what is in it.
        shutil.rmtree(path)
    return FramesHome.make(path, durable=durable)


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


def _source_of(layout: Layout, writer_id: int, text: str) -> IndexSource:
    from coquina.tables.index_sources import index_source

    return index_source(layout, text, writer_id)


def _theirs(table: Table) -> Mapping[str, Any]:
    if table.layout.kind != "rows":
        return {}
    from coquina.tables.pytables_indexes import indexes_of

    return indexes_of(table)
