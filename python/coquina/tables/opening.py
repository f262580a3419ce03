"""Tables that are opened: in files of their own, as directories, and in groups.

In: paths or groups, and names. Out: tables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from coquina._core import UnsupportedError
from coquina.arrays.opening import is_hdf5
from coquina.arrays.opening import open as open_content
from coquina.folder_members import STORE, has_member
from coquina.hdf5.attributes import attributes
from coquina.hdf5.damage import told
from coquina.hdf5.files import File
from coquina.hdf5.groups import Group
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5a, h5g, h5o, h5py
from coquina.keyword_hints import names_keywords, near_words
from coquina.remote import RangeReader
from coquina.tables.columns_names import is_columns
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coquina._core import Path
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.tables.layout import Layout

#: How files are called that HDF5 tables are in.
SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".nc", ".nc4", ".nxs")
#: What tables say of themselves, by attribute; and how names of what is not shown begin.
_MARKS = {"CLASS": ("TABLE", b"TABLE"), "encoding-type": ("dataframe", b"dataframe")}
#: The attribute of groups that pandas wrote, which hold a table, and the group of its categories.
_PANDAS, _CATEGORIES = "pandas_type", b"meta"
_HIDDEN = (b"_i_", b"_p_")
#: Of the tables of a file, in an error.
_NAMES_MAX = 8


@names_keywords
def open_table(
    path: Path | RangeReader,
    name: str | None = None,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    wait: float | None = None,
    durable: bool = False,
    allow_external: bool | None = None,
) -> Table:
    """Open a table in a file or in a directory. Closing the table closes its file.

    path: of the file or the directory, or a URL, which is read only; see `coquina.open`.
    name: of the table; None if the file has only one.
    mode: "r": read only. "r+", "a": read and write.
    wait: the number of seconds to wait if another process is writing; BlockingIOError is raised after that.
    durable: commits wait for the disk. allow_external: see `coquina.open`.

    Returns a `Table`. If this process has the table open for writing already, the result is another handle of
    it, and the appended rows of both are kept in their order. Readers see one commit, until `Table.refresh`.

    Raises KeyError for an unknown name, and without a name if there are several tables; UnsupportedError for
    an object that is not a table.

    >>> import coquina as cq
    >>> cq.create_table("t.h5", {"x": [3, 1, 2]}, overwrite=True).close()
    >>> with cq.open_table("t.h5") as t:
    ...     print(t.sum("x"))
    6
    """
    if not isinstance(path, RangeReader) and _is_store(path):
        return _in_store(open_content(path, mode, durable=durable), name, path)
    if not isinstance(path, RangeReader) and not is_file_name(path) and os.path.isdir(path):
        from coquina.tables.directories import open_directory

        return open_directory(path, mode, wait=wait, durable=durable)
    try:
        file = File(path, mode, wait=wait, durable=durable, allow_external=allow_external)
    except OSError as error:
        raise _no_table(path) or error from error
    try:
        with told(inside(file)):
            if name is not None and name not in file:
                raise KeyError(_missing(file, name))
            return owned(open_in(file, only_table(file) if name is None else name), file)
    except BaseException:
        file.close()
        raise


def _no_table(source: Any) -> Exception | None:
    """Return the error of a file of another format, or of an array; None for others."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = str(cast("Any", source))
    if not os.path.isfile(path) or is_hdf5(path):
        return None
    try:
        with open_content(path) as found:
            kind = type(found).__name__
    except UnsupportedError as error:
        return error
    except OSError:
        return None
    article = "an" if kind[0] in "AE" else "a"
    meant = "; cq.as_table(cq.open(path)) shows it as one" if kind == "Array" else ""
    return UnsupportedError(f"{path}: {article} {kind}, not a table{meant}")


def _in_store(store: Any, name: str | None, path: Path) -> Table:
    """Return a table of a store, which is closed with it, or the table that all of the store is.

    name: None for the only table of the store.
    """
    if isinstance(store, Table) and name is None:
        return store
    try:
        if name is None:
            found = store[_only_in_store(store, path)]
        elif not isinstance(found := store[name], Table):
            raise UnsupportedError(f"{os.fspath(path)}: {name} is not a table")
    except BaseException:
        store.close()
        raise
    found.own(cast("Any", store))
    return found


def _only_in_store(store: Any, path: Path) -> str:
    """Return the name of the only table in a store. Raises KeyError if there is none, or several."""
    found: list[str] = []
    if isinstance(store, Mapping):
        look: Callable[[str, Any], None] = lambda name, node: (  # noqa: E731
            found.append(name) if isinstance(node, Table) else None
        )
        cast("Any", store).visititems(look)
    if len(found) != 1:
        raise KeyError(f"{os.fspath(path)}: {_several(found)}")
    return found[0]


def _is_store(path: Path) -> bool:
    """Whether this is a store of python-blosc2: a directory, or an archive by its name."""
    return has_member(os.fspath(path), STORE) or str(os.fspath(path)).lower().endswith(".b2z")


def is_file_name(path: Path) -> bool:
    """Whether a table of this path is in an HDF5 file; else it is a directory of frames."""
    return str(os.fspath(path)).lower().endswith(SUFFIXES)


def owned(table: Table, file: File) -> Table:
    """Return a table that closes its file when it is closed."""
    if file.is_shared:
        # Whoever has the table already goes on when this one is closed.
        return table.shared(file)
    table.own(file)
    return table


def open_in(group: Group, name: str) -> Table:
    """Return the table of this name, also of records that are not marked as a table."""
    found = group[name]
    if isinstance(found, Group) and _PANDAS in found.attrs:
        if "table" not in found:
            raise UnsupportedError(
                f"{found.name}: pandas' format 'fixed' is not a table; use pandas.read_hdf"
            )
        found = found["table"]
    if isinstance(found, Table):
        return found
    return group.adopt(Table(layout_of(found)))


def layout_of(node: Any) -> Layout:
    """Return the layout of a group or a dataset. Raises UnsupportedError if it is not a table."""
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
        raise KeyError(f"{file.filename}: {_several(found)}")
    return found[0]


def _several(names: list[str]) -> str:
    """Return what to say about a file that has not exactly one table."""
    if not names:
        return "the file has no table"
    shown = names if len(names) <= _NAMES_MAX else [*names[:_NAMES_MAX], "..."]
    count = "1 table" if len(names) == 1 else f"{len(names)} tables"
    return f"the file has {count}, pass the name of one: {', '.join(shown)}"


def _missing(file: File, name: str) -> str:
    """Return what to say about a name that a file does not have."""
    names = sorted(_tables_in(inside(file).id))
    own = f"/{name.strip('/')}"
    near = [one for one in names if one.endswith(own)][:_NAMES_MAX] or near_words(own, names, 3)
    if name in ("r", "r+", "w", "a", "x", "w-"):
        return f"{file.filename}: there is no table {name!r}; write mode={name!r} if that is the mode"
    known = f"did you mean {' or '.join(near)}?" if near else _several(names)
    return f"{file.filename}: there is no table {name!r}; {known}"


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
        if name.startswith(_HIDDEN) or (name == _CATEGORIES and h5a.exists(group, _PANDAS.encode())):
            # Indexes that are damaged are as none; categories of pandas belong to the table beside them.
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


__all__ = ["open_table"]
