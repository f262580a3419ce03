"""Tables that are made and opened: in files of their own, and in groups.

In: paths or groups, and data or a description of columns. Out: tables.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from coquina._core import UnsupportedError
from coquina.hdf5.attributes import attributes
from coquina.hdf5.damage import told
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5a, h5g, h5o, h5py
from coquina.remote import RangeReader
from coquina.tables.columns_names import is_columns
from coquina.tables.incoming import batches
from coquina.tables.making import Storing, create_at, expecting, is_file_name, owned
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from coquina._core import Filters, Path
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.tables.column_bounds import Bounds
    from coquina.tables.layout import Layout
    from coquina.tuning_options import Tuning

Kind = Literal["columns", "rows"]
Mode = Literal["w", "x", "a", "r+"]

#: What tables say of themselves, by attribute; and how names of what is not shown begin.
_MARKS = {"CLASS": ("TABLE", b"TABLE"), "encoding-type": ("dataframe", b"dataframe")}
_HIDDEN = (b"_i_", b"_p_")


def create_table(
    path: Path,
    data: Any,
    *,
    name: str = "/table",
    layout: Kind = "columns",
    mode: Mode = "a",
    overwrite: bool = False,
    title: str = "",
    expected_rows: int | None = None,
    chunk_rows: int | None = None,
    filter: str = "blosc2",
    codec: str | None = None,
    level: int | None = None,
    filters: Filters = "shuffle",
    fletcher32: bool = False,
    index: Sequence[str] = (),
    lossy: Bounds = None,
    checksums: bool = True,
    **tuning: Unpack[Tuning],
) -> Table:
    """Return a new table in a file, open for writing; closing it closes the file.

    path: of an HDF5 file (`.h5`, `.hdf5` and the like); any other makes a directory of frames.
    data: what it begins with (records, a mapping of columns, a DataFrame, Arrow data, a table or a
        selection), or a description without rows: a dtype with fields, or a mapping of names to dtypes
        (`str` for text).
    name: of the table in the file.
    layout: "columns", each an array of its own, or "rows", as PyTables has them.
    mode: "a" puts the table into a file that is there, or makes one; "r+" and "x" do one of these. "w" makes
        a new file in place of one that is there, and of all that is in it.
    overwrite: replace a table of this name, in the file or as a directory, once the new one is complete.
    title: what it is about. expected_rows: about how many rows are to come, if `data` does not tell.
    chunk_rows: rows of a chunk; by default what suits the layout.
    filter, codec, level, filters: how chunks are compressed; see `Group.create_dataset`. The codec "auto"
        gives each chunk of each column what suits it, by goal, for_, bandwidth and calibrate of `Tuning`.
    fletcher32: chunks in HDF5 files get a checksum; then no bounds are kept that let conditions skip blocks.
        Those of frames always have one.
    checksums: whether each block of chunks in HDF5 files whose only filter is Blosc2 gets a checksum, which
        is verified when the block is read.
    index: columns, and expressions of them, that get an index; see `Table.create_index`.
    lossy: of columns of numbers, by name, a `Lossy` or a mapping of its keywords: how far what is stored may
        be from what was given, now and in all rows to come. Layout "columns" only.

    Raises ValueError if there is something of this name that is not to be replaced, or is no table,
    FileExistsError for a directory, TypeError for data that tables do not take.
    """
    storing = Storing(
        layout,
        title,
        expected_rows,
        chunk_rows,
        filter,
        codec,
        level,
        filters,
        fletcher32,
        tuple(index),
        lossy,
        tuning=tuning,
        checksums=checksums,
    )
    return create_at(path, mode, name, batches(data), expecting(storing, data), overwrite=overwrite)


def open_table(
    path: Path | RangeReader,
    name: str | None = None,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    wait: float | None = None,
    durable: bool = False,
    allow_external: bool | None = None,
) -> Table:
    """Open a table of a file, or one that is a directory; closing it closes the file.

    path: of the file or the directory, or the URL of a file, which is only read; see `coquina.open`.
    name: of the table; None for the only one that the file has. wait: for so many seconds, if another process
    writes; BlockingIOError is raised then. durable: commits wait for the disk. allow_external: see
    `coquina.open`.

    A table that this process has open for writing is opened as another handle of it: what both append is
    kept, in its order. Readers see a table as of one commit, until `Table.refresh`.

    Raises KeyError if there is no such table, or more than one and no name, UnsupportedError for what is no
    table.
    """
    from coquina.hdf5.files import File

    if not isinstance(path, RangeReader) and not is_file_name(path) and os.path.isdir(path):
        from coquina.tables.directories import open_directory

        return open_directory(path, mode, wait=wait, durable=durable)
    file = File(path, mode, wait=wait, durable=durable, allow_external=allow_external)
    try:
        with told(inside(file)):
            return owned(open_in(file, only_table(file) if name is None else name), file)
    except BaseException:
        file.close()
        raise


def open_in(group: Group, name: str) -> Table:
    """Return the table of this name, also of records that are not marked as a table."""
    found = group[name]
    if isinstance(found, Table):
        return found
    return group.adopt(Table(layout_of(found)))


def layout_of(node: Any) -> Layout:
    """Return the layout of a group or a dataset. Raises UnsupportedError if it is no table."""
    from coquina.hdf5.groups import Group

    with told(inside(node)):
        if isinstance(node, Group):
            from coquina.tables.columns_layout import ColumnsLayout

            return ColumnsLayout.open(node)
        from coquina.tables.rows import RowsLayout

        return RowsLayout.open(node)


def table_at(node: Any) -> Table | None:
    """Return the table that a group or a dataset says it is; None if it does not, or is none of ours."""
    attribute, wanted = (
        ("encoding-type", "dataframe") if hasattr(node, "create_group") else ("CLASS", "TABLE")
    )
    found = attributes(inside(node)).get(attribute)
    if isinstance(found, bytes):
        found = found.decode(errors="replace")
    if not isinstance(found, str) or found != wanted:
        return None
    if hasattr(node, "create_group"):
        # What cannot be decoded of a table is told: it is no reason to show a group.
        return Table(layout_of(node)) if is_columns(node) else None
    try:
        return Table(layout_of(node))
    except UnsupportedError:
        return None


def only_table(file: File) -> str:
    """Return the name of the only table in a file. Raises KeyError if there is none, or several."""
    found = sorted(_tables_in(inside(file).id))
    if len(found) != 1:
        what = f"has the tables {', '.join(found)}; name one" if found else "has no table"
        raise KeyError(f"{file.filename} {what}")
    return found[0]


def _tables_in(root: Any) -> Iterator[str]:
    """Yield the names of the tables below a low-level group. Links of names are not followed, and neither
    what is hidden nor what is in a table is looked at: of a table with indexes it is most.
    """
    seen = {h5g.get_objinfo(root, b".").objno}
    # Each with the names that are left of it: of two names of a table the first one is found.
    open_groups = [(root, b"/", iter(root))]
    while open_groups:
        group, above, names = open_groups[-1]
        name = next(names, None)
        if name is None:
            open_groups.pop()
            continue
        if name.startswith(_HIDDEN):
            # Indexes that are damaged are as none.
            continue
        info = h5g.get_objinfo(group, name, follow_link=False)
        if info.type not in (h5g.GROUP, h5g.DATASET) or info.objno in seen:
            continue
        seen.add(info.objno)
        node = h5o.open(group, name)
        if _is_marked(node):
            yield (above + name).decode(errors="surrogateescape")
        elif info.type == h5g.GROUP:
            open_groups.append((node, above + name + b"/", iter(node)))


def _is_marked(node: Any) -> bool:
    """Whether a low-level node says that it is a table."""
    made = h5py.Group if isinstance(node, h5g.GroupID) else h5py.Dataset
    return any(
        h5a.exists(node, name.encode()) and attributes(made(node)).get(name) in marks
        for name, marks in _MARKS.items()
    )


def reopen(path: str | RangeReader, name: str) -> Table:
    """Open what a pickle refers to, for reading."""
    return open_table(path, name)


__all__ = ["create_table", "open_table"]
