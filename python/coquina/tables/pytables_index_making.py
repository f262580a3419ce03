"""Complete indexes as PyTables makes them at its highest effort, made.

In: a column of a table of records. Out: an index that PyTables uses, sorts by, and keeps up to date when it
appends; and ours, which reads it.
Source: docs/formats/pytables-indexes.md.
Invariant: an index stands under its name only when it is complete, and the one before it until then.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import PyTablesSort, UnsupportedError, lazy_function, pytables_sizes
from coquina.hdf5 import fixed_attributes
from coquina.hdf5.places import inside
from coquina.hdf5.sessions import Session
from coquina.hdf5.times import shown_seconds
from coquina.hdf5.untyped import h5f, h5py, h5t
from coquina.indexes.keys import kind_of
from coquina.tables.pytables_index_arrays import Plan, make_arrays, mark_container, put_attributes
from coquina.tables.pytables_index_groups import arrays_of, group_of
from coquina.tables.pytables_index_shape import ARRAYS
from coquina.tables.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina._core import Lazy
    from coquina.tables.rows import RowsLayout
    from coquina.tables.rows_types import Field

    Progress = Callable[[int, int], None] | None
    Values = npt.NDArray[Any]

_WINDOW_ROWS = 1 << 19


def make_index(
    layout: RowsLayout,
    column: str,
    *,
    memory_limit: int,
    folder: str | None = None,
    progress: Progress = None,
) -> None:
    """Make a complete index of PyTables' kind, in place of one that there is; nothing waits in memory.

    The options are those of `write_index`, which returns the index.
    """
    if column not in layout.columns:
        raise KeyError(f"{layout.name} has no column {column!r}; it has {', '.join(layout.columns)}")
    field = layout.field(column)
    made = _Making(layout, field, _sorted_dtype(layout, field))
    path = layout.dataset.path
    if folder is None and path is not None:
        folder = os.path.dirname(path)
    session, place = Session.at(inside(layout.dataset))
    seen = session.changes(place).total
    try:
        made.fill(_steps(layout.nrows, progress), memory_limit, folder)
        made.place()
    finally:
        made.clear()
    _empty_stale(layout)
    layout.indexes_changed()
    layout.their_changes[column] = seen
    h5f.flush(inside(layout.dataset).id)


def _sorted_dtype(layout: RowsLayout, field: Field) -> np.dtype[Any]:
    """Return the dtype of values in an index. Raises UnsupportedError if PyTables makes none of these."""
    dtype = field.dtype
    if layout.dataset.layout != "chunked":
        raise UnsupportedError(f"{layout.name} is {layout.dataset.layout}: PyTables' indexes go by chunks")
    if dtype.subdtype is None and layout.columns[field.path].kind == "time":
        return np.dtype(np.float64).newbyteorder(">" if _is_big(dtype) else "<")
    # PyTables sorts float16 by its bits.
    if dtype.subdtype is not None or dtype.kind not in "biufS" or dtype.str[1:] in ("u8", "f2"):
        raise UnsupportedError(
            f"column {field.path!r} of {dtype}: PyTables has indexes of single numbers and strings, but none "
            "that is right of uint64, float16 and complex ones; other kinds of index take more"
        )
    return dtype


def _is_big(dtype: np.dtype[Any]) -> bool:
    return dtype.base.str[0] == ">"


def _steps(rows: int, progress: Progress) -> Callable[[int], None]:
    """Return what is told of rows that were read, and then of those that were written too."""

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, 2 * rows)

    return tell


def remove(group: Any, path: str) -> None:
    """Remove an index. Who has it open still finds that it is out of date."""
    if isinstance(group[path], h5py.Group):
        fixed_attributes.put_number(group[path], "DIRTY", 1, h5t.STD_I32LE)
    del group[path]


def _empty_stale(layout: RowsLayout) -> None:
    """Empty indexes that are out of date.

    PyTables takes the number of rows that are indexed from any of a table's indexes. If that is too large it
    does not add rows that are appended to the others, which it then takes to be complete.
    """
    group = group_of(layout)

    def look(_: str, node: Any) -> None:
        if not isinstance(node, h5py.Group) or not fixed_attributes.raw_of(node, "DIRTY"):
            return
        for name, kind, _ in ARRAYS:
            array = node.get(name)
            if not isinstance(array, h5py.Dataset):
                continue
            if kind == "LASTROWARRAY":
                fixed_attributes.put_number(array, "nelements", 0, h5t.STD_I64LE)
            elif array.maxshape[:1] == (None,):
                array.resize(0, axis=0)

    if group is not None:
        group.visititems(look)


class _Making:
    """An index that is being made, beside the table, under a name that PyTables hides."""

    def __init__(self, layout: RowsLayout, field: Field, dtype: np.dtype[Any]) -> None:
        self._layout, self._field = layout, field
        is_big = any(_is_big(layout.field(path).dtype) for path in layout.columns)
        rows = layout.nrows
        title = f"Index for {field.parts[-1]} column"
        self._plan = Plan(pytables_sizes(rows, dtype.itemsize), rows, dtype, field.is_bits, is_big, title)
        h5 = inside(layout.dataset)
        above, _, name = h5.name.rpartition("/")
        self._file, self._name, self._all = h5.file, f"{above}/_p_making_{name}", f"{above}/_i_{name}"
        self.clear()

    def clear(self) -> None:
        """Remove what is not in place, now or from a time before."""
        if self._name in self._file:
            del self._file[self._name]

    def fill(self, tell: Callable[[int], None], memory_limit: int, folder: str | None) -> None:
        """Write all arrays and attributes."""
        plan = self._plan
        dtype = plan.dtype.newbyteorder("=")
        group = self._file.create_group(self._name)
        make_arrays(group, plan)
        arrays = arrays_of(self._layout, group, [name for name, _, _ in ARRAYS])
        sort = PyTablesSort(
            self._values(),
            "bool" if plan.is_bits else kind_of(plan.dtype),
            plan.sizes,
            window_rows=_WINDOW_ROWS,
            memory_limit=memory_limit,
            folder=tempfile.gettempdir() if folder is None else folder,
            progress=tell,
        )
        done = 0
        while (part := sort.next()) is not None:
            number, start, values, rows = part
            span = slice(start, start + len(rows))
            is_rest = number == plan.slices
            key = span if is_rest else (number, span)
            arrays["sortedLR" if is_rest else "sorted"][key] = values.view(dtype)
            arrays["indicesLR" if is_rest else "indices"][key] = rows
            done += len(rows)
            tell(plan.rows + done)
        edges = {name: found.view(dtype) for name, found in sort.finish().items()}
        behind = edges.pop("sortedLR")
        arrays["sortedLR"][plan.rest : plan.rest + len(behind)] = behind
        for name, found in edges.items() if plan.slices else ():
            arrays[name][:] = found.reshape(arrays[name].shape)
        put_attributes(group, plan)

    def _values(self) -> Lazy:
        """Return the engine's source of the values as PyTables sorts them."""
        field, dataset = self._field, self._layout.dataset
        stored = Stored(dataset, field.dtype, field.offset)
        is_time = self._layout.columns[field.path].kind == "time"
        if not is_time and not field.is_bits:
            return stored.lazy()

        def read(start: tuple[int, ...], shape: tuple[int, ...]) -> Values:
            items = stored[start[0] : start[0] + shape[0]]
            if is_time:
                return shown_seconds(np.ascontiguousarray(items).view(np.int64))
            return (items != 0).astype(np.uint8)

        window = [max(_WINDOW_ROWS, 1)]
        return lazy_function(read, [self._plan.rows], self._plan.dtype.itemsize, window, window)

    def place(self) -> None:
        """Give the index its name, with the groups above it."""
        if self._all not in self._file:
            table = inside(self._layout.dataset).name
            made = self._file.create_group(self._all)
            mark_container(made, "TINDEX", f"Indexes container for table {table}")
        group, path = self._file[self._all], ""
        for part in self._field.parts[:-1]:
            path = f"{path}/{part}" if path else part
            if path not in group:
                made = group.create_group(path)
                mark_container(made, "DINDEX", f"Indexes container for sub-description {path}")
        if self._field.path in group:
            remove(group, self._field.path)
        self._file.move(self._name, f"{self._all}/{self._field.path}")
