"""Complete indexes as PyTables makes them at its highest effort, written and removed.

In: a column of a table of records. Out: an index that PyTables uses, sorts by, and keeps up to date when it
appends; and ours, which reads it.
Source: docs/formats/pytables-indexes.md.
Invariant: an index stands under its name only when it is complete, and the one before it until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina._core import UnsupportedError
from coquina.tables.pytables_index_groups import group_of
from coquina.tables.pytables_index_making import make_index, remove
from coquina.tables.pytables_indexes import PyTablesIndex, indexes_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.tables.rows import RowsLayout
    from coquina.tables.table import Table

    Progress = Callable[[int, int], None] | None
    Values = npt.NDArray[Any]


def write_index(
    table: Table,
    column: str,
    *,
    memory_limit: int = 1 << 30,
    folder: str | None = None,
    progress: Progress = None,
) -> PyTablesIndex:
    """Make a complete index of PyTables' kind, in place of one that there is, and return it.

    column: one of single numbers, truth values, times or strings. memory_limit: bytes that sorting takes
    about; more values go through files in `folder`, by default beside the table's file. progress: called with
    steps that are done, and all.

    Raises KeyError if there is no such column, ValueError if the table is open for reading only,
    UnsupportedError for a table that is not of records, and for columns that PyTables cannot index.
    """
    layout = _writable(table, "create_index")
    table.flush()
    make_index(layout, column, memory_limit=memory_limit, folder=folder, progress=progress)
    return indexes_in(layout)[column]


def drop_index(table: Table, column: str) -> None:
    """Remove the index of a column, and the group of all if it was the last. Raises KeyError for none."""
    layout = _writable(table, "drop_index")
    group = group_of(layout)
    if group is None or column not in group:
        raise KeyError(f"{layout.name} has no index of PyTables of {column!r}")
    remove(group, column)
    above = column.rpartition("/")[0]
    while above and not len(group[above]):
        del group[above]
        above = above.rpartition("/")[0]
    if not len(group) and "AUTO_INDEX" not in group.attrs:
        del group.file[group.name]
    layout.indexes_changed()


def _writable(table: Table, what: str) -> RowsLayout:
    layout: Any = table.layout
    if layout.kind != "rows":
        raise UnsupportedError(f"{what}: PyTables has no tables of the layout {layout.kind!r}")
    if not layout.is_writable:
        raise ValueError(f"{layout.name}: the file is open for reading only; open it with mode 'r+'")
    return layout
