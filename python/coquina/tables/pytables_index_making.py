"""Complete indexes as PyTables makes them at its highest effort, made.

In: a column of a table of records. Out: an index that PyTables uses, sorts by, and keeps up to date when it
appends; and ours, which reads it.
Source: docs/formats/pytables-indexes.md.
Invariant: an index stands under its name only when it is complete, and the one before it until then.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.hdf5 import fixed_attributes
from coquina.hdf5.places import inside
from coquina.hdf5.sessions import Session
from coquina.hdf5.times import shown_seconds
from coquina.hdf5.untyped import h5f, h5py, h5t
from coquina.tables.pytables_index_arrays import Plan, make_arrays, mark_container, put_attributes
from coquina.tables.pytables_index_groups import arrays_of, group_of
from coquina.tables.pytables_index_shape import ARRAYS, cut_for
from coquina.tables.pytables_index_sorting import Unsorted, cut, in_order
from coquina.tables.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

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
        self._plan = Plan(cut_for(rows, dtype.itemsize), rows, dtype, field.is_bits, is_big, title)
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
        plan, size = self._plan, self._plan.cut.slice
        group = self._file.create_group(self._name)
        make_arrays(group, plan)
        arrays = arrays_of(self._layout, group, [name for name, _, _ in ARRAYS])
        unsorted = Unsorted(self._read, plan.rows, plan.dtype.newbyteorder("="), tell)
        bounds, done = _Bounds(plan), 0
        for values, rows in cut(in_order(unsorted, memory_limit, folder), self._lengths()):
            number, start = divmod(done, size)
            span = slice(start, start + len(values))
            is_rest = number == plan.slices
            arrays["sortedLR" if is_rest else "sorted"][span if is_rest else (number, span)] = values
            arrays["indicesLR" if is_rest else "indices"][span if is_rest else (number, span)] = rows
            bounds.add(number, values)
            done += len(values)
            tell(plan.rows + done)
        bounds.put(arrays)
        put_attributes(group, plan)

    def _lengths(self) -> Iterator[int]:
        """Yield how many rows are written at once: whole chunks, and the last ones of a slice."""
        plan = self._plan
        window = max(_WINDOW_ROWS // plan.cut.chunk, 1) * plan.cut.chunk
        for size in [plan.cut.slice] * plan.slices + [plan.rest]:
            for start in range(0, size, window):
                yield min(window, size - start)

    def _read(self, start: int, stop: int) -> Values:
        """Return values of rows as PyTables sorts them."""
        field = self._field
        items = Stored(self._layout.dataset, field.dtype, field.offset)[start:stop]
        if self._layout.columns[field.path].kind == "time":
            return shown_seconds(np.ascontiguousarray(items).view(np.int64))
        return (items != 0).astype(np.uint8) if field.is_bits else items

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


class _Bounds:
    """First, middle and last values of chunks, gathered while values pass in order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        none = np.empty(0, plan.dtype.newbyteorder("="))
        self._firsts, self._middles, self._lasts, self._last = [none], [none], [none], none
        self._ends: dict[int, Any] = {}

    def add(self, number: int, values: Values) -> None:
        """Take whole chunks of a slice, or its last ones."""
        chunk = self._plan.cut.chunk
        self._firsts.append(values[::chunk].copy())
        self._middles.append(values[chunk // 2 :: chunk].copy())
        self._lasts.append(values[chunk - 1 :: chunk].copy())
        self._last = values[-1:].copy()
        # To PyTables nothing is at most NaN: it would find nothing in a slice that is told to end with it.
        count = np.count_nonzero(values == values)
        if count or number not in self._ends:
            self._ends[number] = values[max(count, 1) - 1]

    def put(self, arrays: dict[str, Any]) -> None:
        """Write them."""
        slices, chunks, rest = self._plan.slices, self._plan.cut.chunks, self._plan.rest
        count = slices * chunks
        firsts, middles, lasts = map(np.concatenate, (self._firsts, self._middles, self._lasts))
        if rest:
            bounds = np.concatenate([firsts[count:], self._last])
            arrays["sortedLR"][rest : rest + len(bounds)] = bounds
        if not slices:
            return
        each = [one[:count].reshape(slices, chunks) for one in (firsts, middles)]
        ends = np.array([self._ends[number] for number in range(slices)], firsts.dtype)
        arrays["ranges"][:] = np.stack([each[0][:, 0], ends], axis=1)
        arrays["bounds"][:] = each[0][:, 1:]
        arrays["mranges"][:] = each[1][:, chunks // 2]
        arrays["abounds"][:] = firsts[:count]
        arrays["mbounds"][:] = middles[:count]
        arrays["zbounds"][:] = lasts[:count]
