"""Tables that are made: in groups of HDF5 files, and in directories of frames; also as copies of rows.

In: a place, data or a description of columns, and how it is to be stored. Out: open tables with the data.
Invariant: a table that cannot be filled is not there; a new file appears when the table is complete.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina._core import UnsupportedError, check_is_replaceable, put_in_place
from coquina.arrays.opening import open as open_content
from coquina.hdf5.files import File
from coquina.hdf5.filters import check_is_used
from coquina.keyword_hints import check_keywords
from coquina.providers import Provider
from coquina.remote import new_path
from coquina.storage_options import Storage, TableOptions
from coquina.tables.column_bounds import bounds_of
from coquina.tables.column_storage import column_storage
from coquina.tables.columns_layout import ColumnsLayout, create_columns
from coquina.tables.directories import open_directory
from coquina.tables.frames_home import FramesHome
from coquina.tables.gathering import cut
from coquina.tables.incoming import batches
from coquina.tables.opening import is_file_name, open_in, open_table, owned
from coquina.tables.ordering import MEMORY_LIMIT
from coquina.tables.reading import narrowed
from coquina.tables.rows import create_rows
from coquina.tables.sorting import sorted_pieces
from coquina.tables.table import Table
from coquina.tables.table_indexes import forget_indexes
from coquina.tables.user_attributes import attributes_of, put_attributes, title_of, user_attributes
from coquina.tuning_options import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from coquina._core import Path
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.stores import ctable_writing as store_writing
    from coquina.tables.column_bounds import Bounds
    from coquina.tables.layout import Batch, Layout, Schema
    from coquina.tables.plan import Plan
else:
    store_writing = Provider("store_writing")

Kind = Literal["columns", "rows"]
Mode = Literal["w", "x", "a", "r+"]

#: Names of stores of python-blosc2.
_STORES = (".b2d", ".b2z")
LAYOUTS = ("columns", "rows")


@dataclass(frozen=True, slots=True)
class NewTable:
    """What a new table is; see `coquina.create_table`. storage: of its arrays, in rows; lossy: by column.

    is_dotted: names of columns are as tables of python-blosc2 have them, with dots for nested ones.
    """

    layout: str = "columns"
    storage: Storage = field(default_factory=Storage)
    title: str = ""
    expected_rows: int | None = None
    index: tuple[str, ...] = ()
    lossy: Bounds = None
    attrs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_dotted: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for a layout that there is not, and for bounds that it cannot keep."""
        if self.layout not in LAYOUTS:
            raise ValueError(f"layout {self.layout!r}: takes {' or '.join(map(repr, LAYOUTS))}")
        if self.lossy and self.layout == "rows":
            raise ValueError("lossy: records are kept exactly; layout='columns' takes bounds by column")

    @classmethod
    def of(
        cls, writer: Callable[..., Any], given: Mapping[str, Any], kinds: Any = TableOptions, **own: Any
    ) -> NewTable:
        """Return what a writer was given, by the keywords of `kinds`; raises as `Storage.of`.

        own: fields that it sets itself.
        """
        check_keywords(writer, given, kinds)
        own |= {name: given[name] for name in ("layout", "title", "expected_rows", "lossy") if name in given}
        rest = {name: value for name, value in given.items() if name not in {*own, "index", "chunk_rows"}}
        storage = Storage.of(writer, rest, kinds, base=DATASETS)
        check_is_used(storage)
        if (rows := given.get("chunk_rows")) is not None:
            storage = replace(storage, chunks=(rows,))
        return cls(storage=storage, index=tuple(given.get("index", ())), **own)

    def create(self, group: Group, name: str, schema: Schema) -> Layout:
        """Return the layout of a new table without rows."""
        if self.layout == "rows":
            rows, title = self.expected_rows, self.title
            return create_rows(group, name, schema, self.storage, title=title, expected_rows=rows)
        return create_columns(
            group,
            name,
            schema,
            self.storage,
            title=self.title,
            expected_rows=self.expected_rows,
            lossy=bounds_of(self.lossy, schema),
        )

    def create_directory(self, path: Path, schema: Schema) -> Layout:
        """Return the layout of a new table without rows that is a directory."""
        if self.layout != "columns":
            hint = "a table in a file is named by name=, and its file ends in .h5"
            raise ValueError(f"a directory has the layout 'columns', not {self.layout!r}; {hint}")
        lossy = bounds_of(self.lossy, schema)
        self._check_frames(path)
        # Frames always have checksums.
        plain = replace(self.storage, fletcher32=None, checksums=None)
        storage = column_storage(plain, self.expected_rows)
        home = FramesHome.make(path)
        try:
            return ColumnsLayout.create(home, schema, storage, title=self.title, lossy=lossy)
        except BaseException:
            shutil.rmtree(home.path)
            raise

    def _check_frames(self, path: Path) -> None:
        """Raise ValueError for options that frames would ignore."""
        storage, place = self.storage, os.fspath(path)
        if storage.dictionary:
            raise ValueError(f"{place}: dictionary: tables in HDF5 files take it, directories do not")
        if storage.checksums is False:
            raise ValueError(f"{place}: checksums=False: tables in directories always have checksums")
        if storage.filter == "none" and storage.codec is not None:
            raise ValueError(f"codec {storage.codec!r}: the filter 'none' has its own codec")


def create_table(
    path: Path,
    data: Any,
    *,
    name: str = "/table",
    mode: Mode = "a",
    overwrite: bool = False,
    **storage: Unpack[TableOptions],
) -> Table:
    """Return a new table, open for writing. Closing the table closes its file.

    path: of an HDF5 file (`.h5`, `.hdf5` and the like); of a store of python-blosc2 (`.b2d`, `.b2z`), which
        consists of the table unless it has a name; any other path is a directory of frames.
    data: the rows (structured arrays, mappings of columns, DataFrames, Arrow data, tables, selections), or a
        description of an empty table: a dtype with fields, or a mapping of names to dtypes (`str` for text).
    name: of the table in the file.
    layout: "columns", an array for each column, or "rows", records as in PyTables.
    mode: "a": add the table to the file, which is created if missing. "r+": the file must exist. "x": the
        file must not exist. "w": create a file, and replace an existing one with all its contents.
    overwrite: replace a table of this name, in the file or as a directory, once the new one is complete.
    title: a description. expected_rows: the approximate number of rows to come, if `data` does not tell; a
        chunk has about an eighth of them, from 4096 to 524288 rows of columns, or 64 KiB to 8 MiB of records.
    chunk_rows: rows of a chunk; by default chosen by the layout, 2 MiB of records.
    filter, codec, level, filters: see `Group.create_dataset`. The codec "auto" chooses for each chunk of each
        column, by the keywords of `Tuning`: goal, for_, and others.
    fletcher32: add HDF5's checksum to each chunk, which disables zone maps. Frames always have checksums.
    checksums: add a checksum to each block of chunks whose only filter is Blosc2, which is verified when the
        block is read.
    index: columns, or expressions of columns, to index; see `Table.create_index`.
    lossy: a mapping of column names to error bounds, each a `Lossy` or a mapping of its keywords, for all
        rows now and later. Layout "columns" only.

    Returns a `Table`. Raises ValueError if the name exists and is not to be replaced, FileExistsError for an
    existing directory, TypeError for unsupported data.

    >>> import coquina as cq
    >>> with cq.create_table("t.h5", {"x": [3, 1, 2], "s": ["a", "b", "a"]}, overwrite=True) as t:
    ...     appended = t.append({"x": [9], "s": ["c"]})
    ...     print(t.where("x > 2").to_numpy("s").tolist())
    ['a', 'c']
    """
    new = NewTable.of(create_table, storage)
    if _is_store(path):
        store = new_path(path)
        if name == "/table":
            new = expecting(new, data)
            return store_writing.create_whole(store, batches(data), mode, new, overwrite=overwrite)
        return _create_in_store(store, mode, name, data, storage, overwrite=overwrite)
    return create_at(path, mode, name, batches(data), expecting(new, data), overwrite=overwrite)


def _is_store(path: Path) -> bool:
    return os.fsdecode(path).lower().endswith(_STORES)


def _create_in_store(
    path: str, mode: Mode, name: str, data: Any, storage: TableOptions, *, overwrite: bool
) -> Table:
    """Return a new table in a store, as python-blosc2 has them."""
    with open_content(path, mode) as store:
        if name not in store or not overwrite:
            store.create_table(name, data, **storage)
        elif not isinstance(store[name], Table):
            raise ValueError(f"{path}:{name} is not a table, and only tables are replaced; delete it first")
        else:
            beside = f"{name.rstrip('/')}.{secrets.token_hex(4)}"
            store.create_table(beside, data, **storage)
            del store[name]
            store.move(beside, name)
    return open_table(path, name, mode="r+")


def create_in(group: Group, name: str, data: Any, new: NewTable) -> Table:
    """Return a new table in a group, with the rows of `data`; without them there is none."""
    schema, parts = batches(data)
    return filled_in(group, name, schema, parts, expecting(new, data))


def filled_in(group: Group, name: str, schema: Schema, parts: Iterator[Batch], new: NewTable) -> Table:
    """Return a new table in a group, with these rows."""
    with group.file.filling():
        table = group.adopt(Table(new.create(group, name, schema)))
        forget_indexes(table.layout)
        try:
            _fill(table, parts, new)
        except BaseException:
            table.close()
            del group[name]
            raise
    return table


def create_at(
    path: Path,
    mode: Any,
    name: str,
    made: tuple[Schema, Iterator[Batch]],
    new: NewTable,
    *,
    overwrite: bool = False,
) -> Table:
    """Return a new table in a file, or as a directory, with these rows.

    overwrite: a table of this name is replaced, once the new one is complete.
    """
    schema, parts = made
    path = new_path(path)
    if not is_file_name(path):
        return _create_directory(path, mode, (schema, parts), new, overwrite=overwrite)
    if not overwrite and mode in ("a", "r+") and os.path.exists(path):
        # Before the file is opened for writing, which already leaves a time in it.
        with File(path) as file:
            if name in file:
                place = f"{file.filename}:{name}"
                raise ValueError(
                    f"{place} exists; overwrite=True replaces a table, mode='w' makes a new file"
                )
    file = File(path, mode)
    try:
        if name in file:
            table = _replaced(file, name, (schema, parts), new)
        else:
            table = filled_in(file, name, schema, parts, new)
        file.publish()
    except BaseException as error:
        file.__exit__(type(error), error, None)
        raise
    return owned(table, file)


def _replaced(file: File, name: str, made: tuple[Schema, Iterator[Batch]], new: NewTable) -> Table:
    """Return a new table in place of another, which is there until the new one is complete.

    Raises ValueError if what is there is no table.
    """
    if not isinstance(file[name], Table):
        place = f"{file.filename}:{name}"
        raise ValueError(f"{place} is not a table, and only tables are replaced; delete it first")
    beside = f"{name.rstrip('/')}.{secrets.token_hex(4)}"
    filled_in(file, beside, *made, new).close()
    del file[name]
    file.move(beside, name)
    return open_in(file, name)


def _create_directory(
    path: Path, mode: str, made: tuple[Schema, Iterator[Batch]], new: NewTable, *, overwrite: bool
) -> Table:
    """Return a new table as a directory, which gets its name when the table is complete."""
    if mode not in ("a", "w", "x"):
        raise ValueError(
            f"{os.fspath(path)}: mode {mode!r}: a directory is one table; takes 'a', 'w' and 'x'"
        )
    place = new_path(path)
    # A link goes on to point where it does: the table that it points to is replaced.
    target = os.path.realpath(place)
    if os.path.lexists(place):
        if mode == "x" or not (overwrite or mode == "w"):
            raise FileExistsError(f"{place} exists; overwrite=True replaces a table")
        check_is_replaceable(target)
    schema, parts = made
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.part")
    process = os.getpid()
    try:
        with Table(new.create_directory(beside, schema)) as table:
            if os.path.exists(target):
                shutil.copymode(target, beside)
            _fill(table, parts, new)
        put_in_place(beside, target)
    except BaseException:
        # One that was forked by who gives the rows leaves the table to its parent.
        if process == os.getpid():
            shutil.rmtree(beside, ignore_errors=True)
        raise
    return open_directory(place, "a")


def _fill(table: Table, parts: Iterator[Batch], new: NewTable) -> None:
    put_attributes(table, new.attrs)
    for batch in parts:
        table.put(batch)
    table.flush()
    for column in new.index:
        table.create_index(column)


def _dotted(data: Any) -> bool:
    """Whether rows come from a table of python-blosc2."""
    return getattr(getattr(getattr(data, "table", data), "layout", None), "is_dotted", False) is True


def expecting(new: NewTable, data: Any) -> NewTable:
    """Return how to store data: with its attributes, and for as many rows as it has, if that can be told."""
    given: Any = data
    new = replace(
        new, attrs=attributes_of(given), title=new.title or title_of(given), is_dotted=_dotted(data)
    )
    # Records that come are the first of many: their chunks are as large as where nobody says anything.
    if new.expected_rows is not None or new.layout == "rows":
        return new
    rows = None
    if isinstance(data, np.ndarray | Table) or type(given).__module__.startswith("pandas."):
        rows = len(given)
    elif isinstance(data, Mapping):
        first: Any = next(iter(given.values()), None)
        rows = len(first) if hasattr(first, "__len__") and not isinstance(first, str | type) else None
    return replace(new, expected_rows=rows)


def copy_plan(
    plan: Plan,
    target: Any,
    name: str | None,
    new: NewTable,
    overwrite: bool,
    memory_limit: int | None = None,
) -> Table:
    """Return a new table with the rows of a plan, at a path or in a group.

    memory_limit: of what takes rows in an order.
    """
    source = plan.table
    picked, columns = plan.picked(None)
    schema = narrowed(source.schema, picked)
    paths = {path: one.name + path[len(one.path) :] for one in picked for path in one.leaves()}
    if plan.order and plan.limit is None:
        limit = MEMORY_LIMIT if memory_limit is None else memory_limit
        found = sorted_pieces(plan, columns, memory_limit=limit, folder=_folder_of(target))
        values_of = (one.values for one in found)
    else:
        values_of = (values for _, values in cut(plan, columns, None))
    parts = ({paths[path]: one for path, one in values.items()} for values in values_of)
    given = name
    name = (source.name if source.file is not None else None) or "/table" if name is None else name
    attrs = user_attributes(source)
    rows = None if new.layout == "rows" else len(plan.span)
    new = replace(new, title=title_of(source), expected_rows=rows, attrs=attrs, is_dotted=_dotted(source))
    if isinstance(target, str | os.PathLike) and _is_store(cast("Any", target)):
        if given not in (None, "/table"):
            raise UnsupportedError(f"copy to {given!r} in a store: open it, and set store[{given!r}] = table")
        new, made = replace(new, layout="columns"), (schema, parts)
        return store_writing.create_whole(new_path(cast("Any", target)), made, "a", new, overwrite=overwrite)
    if isinstance(target, str | os.PathLike):
        return create_at(cast("Any", target), "a", name, (schema, parts), new, overwrite=overwrite)
    return filled_in(target, name, schema, parts, new)


def _folder_of(target: Any) -> str | None:
    """Return the folder that a copy goes to; None if it stays in memory."""
    path: Any = cast("Any", target) if isinstance(target, str | os.PathLike) else target.file.path
    return None if path is None else os.path.dirname(os.path.abspath(os.fsdecode(path)))


__all__ = ["create_table"]
