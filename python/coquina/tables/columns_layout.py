"""The columns layout: a table as one 1-d array for each column, in a group by AnnData's dataframe encoding.

In: batches of columns. Out: arrays of each column, that are made, changed, moved and removed.
Source: anndata, on-disk format, "dataframes"; docs/formats/columns.md.
Invariant: a name is among the table's columns only while all of the column is there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.chunk_encoding import loses
from coquina.storage_options import Storage
from coquina.tables import columns_names as names
from coquina.tables.column_encodings import make_column
from coquina.tables.column_storage import column_storage, rows_of
from coquina.tables.columns_filling import fill, missing_values, set_length, written_anew
from coquina.tables.columns_growing import GrowingColumns
from coquina.tables.homes import Hdf5Home, Home
from coquina.tables.larger_chunks import needs_larger_chunks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coquina.hdf5.groups import Group
    from coquina.lossy import Lossy
    from coquina.tables.layout import Batch, ColumnSpec, Schema


_DEFAULT = Storage()


def create_columns(
    group: Group,
    name: str,
    schema: Schema,
    storage: Storage = _DEFAULT,
    *,
    title: str = "",
    expected_rows: int | None = None,
    lossy: Mapping[str, Lossy] | None = None,
) -> ColumnsLayout:
    """Make a table without rows, and return its layout. Groups on the way are made.

    storage: as in `Group.create_dataset`. chunks: rows, of all columns; by default 65536, or a power of two
    from 4096 to 524288, an eighth of `expected_rows`. blocks: 16384 rows by default. lossy: bounds by column,
    as `bounds_of` gives them.

    Raises ValueError if the name exists already, or for options and names that do not fit;
    UnsupportedError for columns that have no place here: nested ones, and values with axes.
    """
    if name in group:
        raise ValueError(f"create_table: {name!r} exists already")
    storage = column_storage(storage, expected_rows)
    made = group.create_group(name)
    try:
        return ColumnsLayout.create(Hdf5Home(made), schema, storage, title=title, lossy=lossy)
    except BaseException:
        del group[name]
        raise


class ColumnsLayout(GrowingColumns):
    """A table each of whose columns has arrays of its own. Made by `open` and `create_columns`.

    buffer_bytes: an `append` that makes it more bytes since the last flush flushes, up to where the last of
    its chunks ends; what is behind it waits on, and is at most as much. So much a kill takes back. None,
    until the first flush of a new table: it is filled at once.
    skipped: what is in the group as a column and is not understood here, with the reason.
    """

    @classmethod
    def open(cls, group: Any) -> ColumnsLayout:
        """Open a group, or another `Home`, as a table, whoever made it.

        Raises UnsupportedError if it is no dataframe by AnnData's encoding.
        """
        home: Home = group if isinstance(group, Home) else Hdf5Home(group)
        names.check_table(home)
        return cls(home)

    @classmethod
    def create(
        cls,
        home: Home,
        schema: Schema,
        storage: Storage,
        *,
        title: str = "",
        lossy: Mapping[str, Lossy] | None = None,
    ) -> ColumnsLayout:
        """Make a table without rows in an empty home. lossy: bounds by column.

        Raises ValueError for no columns, names that columns cannot have, and what loses items.
        """
        if not schema:
            raise ValueError("create_table: a table needs a column")
        order = [spec.name for spec in schema]
        for at, name in enumerate(order):
            names.check_name(name, order[:at])
        if loses(storage):
            # Places of text and numbers that say which values are missing are stored in the same way.
            asked = f"codec {storage.codec!r}, filters {storage.filters!r}"
            raise ValueError(f"{asked}: columns are kept exactly; lossy= gives bounds by column")
        bounds = lossy or {}
        with home.transaction():
            for spec in schema:
                make_column(home, spec.name, spec, replace(storage, lossy=bounds.get(spec.name)))
            names.put_table(home, storage, title)
            names.put_order(home, order, order[0])
        made = cls(home)
        made.buffer_bytes = None
        return made

    def write(self, start: int, batch: Batch) -> None:
        """Overwrite rows from `start` on, in the columns that `batch` has.

        Text of other lengths than before has all text behind it written again. Raises IndexError for rows
        that there are not, ValueError or TypeError for values that do not fit.
        """
        rows = self._prepare_write(batch)
        if not 0 <= start <= start + rows <= self._rows:
            raise IndexError(f"write: rows {start}:{start + rows} of {self._rows}")
        encoded = {name: self._all[name].encoded(values) for name, values in batch.items()}
        with self.changing():
            for name, items in encoded.items():
                self._all[name].write(start, rows, items)

    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Overwrite these rows, in the columns that `batch` has; see `write`."""
        count = self._prepare_write(batch)
        places = np.asarray(rows, np.int64)
        places = np.where(places < 0, places + self._rows, places)
        if batch and len(places) != count:
            raise ValueError(f"write: {count} values for {len(places)} rows")
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < self._rows:
            raise IndexError(f"write: rows {places.min()} to {places.max()} of {self._rows}")
        encoded = {name: self._all[name].encoded(values) for name, values in batch.items()}
        with self.changing():
            for name, items in encoded.items():
                self._all[name].write_at(places, items)

    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` rows; new ones, if it is more, are defaults, or null where that can be."""
        self._check_writable()
        self._settle()
        if nrows < 0:
            raise ValueError(f"resize: {nrows} rows")
        with self.changing():
            before = self._rows
            self._cut_off(min(nrows, before))
            if nrows <= before:
                return
            try:
                for one in self._all.values():
                    one.grow(nrows)
                    set_length(self.home, one, nrows)
                self.home.note_rows(nrows)
            except BaseException:
                # Columns are of unequal lengths now.
                self._let_go()
                raise
            self._rows = nrows

    def enlarge_chunks(self, nrows: int) -> None:
        """Make chunks larger where so many rows would have too many of them.

        They stay as they are where more than some rows would be written again, and with bounds of loss.
        """
        wanted = column_storage(Storage(), nrows)
        now, then = rows_of(self.storage)[0], rows_of(wanted)[0]
        if not needs_larger_chunks(nrows, now, then, self.nrows_appended):
            return
        self._check_writable()
        self._settle()
        if any(array.lossy for one in self._all.values() for array in one.arrays):
            return
        storage = replace(self.storage, chunks=wanted.chunks)
        with self.changing():
            for name, one in list(self._all.items()):
                self._all[name] = written_anew(self.home, one, storage)
                set_length(self.home, self._all[name], self._rows)
            names.put_table(self.home, storage, self.title)
        self.storage = storage
        self._changed()

    def delete(self, rows: npt.NDArray[Any]) -> None:
        """Remove these rows, and close the gaps: one pass over what lies behind the first of them."""
        self._check_writable()
        self._check_sizable()
        self._settle()
        gone = np.unique(np.asarray(rows, np.int64))
        if len(gone) and not 0 <= int(gone[0]) <= int(gone[-1]) < self._rows:
            raise IndexError(f"delete: rows {gone[0]} to {gone[-1]} of {self._rows}")

        with self.changing():
            if len(gone):
                for one in self._all.values():
                    one.remove(gone, self._rows)
                self._cut_off(self._rows - len(gone))

    def add_column(self, spec: ColumnSpec, values: Any = None) -> None:
        """Put a column behind the last. values: one for each row; without them the default, or none at all.

        Raises ValueError for a name that is taken or cannot be one, and for values that are too few or too
        many: the table stays as it was.
        """
        self._check_writable()
        names.check_name(spec.name, [*self._all, *self.skipped])
        self._settle()
        with self.changing():
            self._clear(spec.name)
            made = make_column(self.home, spec.name, spec, self.storage)
            try:
                fill(
                    self.home,
                    made,
                    missing_values(spec) if values is None else values,
                    self._rows,
                    self.storage,
                )
            except BaseException:
                self.home.discard(spec.name)
                raise
            order, index = names.order_of(self.home)
            names.put_order(self.home, [*order, spec.name], index)
        self._reopen(spec.name)
        self._changed()

    def drop_column(self, name: str) -> None:
        """Remove a column. Raises KeyError if there is none, ValueError if it is the only one."""
        self._check_writable()
        self._check_known(name)
        self._settle()
        order, index = names.order_of(self.home)
        order = [one for one in order if one != name]
        if not order:
            raise ValueError(f"drop_column: {name!r} is the last one, and a table needs a column")
        with self.changing():
            names.put_order(self.home, order, order[0] if index == name else index)
            self.home.remove(name)
        self.skipped.pop(name, None)
        self._all.pop(name, None)
        self._changed()

    def rename_column(self, old: str, new: str) -> None:
        """Give a column another name. Raises KeyError if there is none, ValueError for one that is taken."""
        self._check_writable()
        self._check_known(old)
        names.check_name(new, [*self._all, *self.skipped])
        self._settle()
        with self.changing():
            self._clear(new)
            self.home.move(old, new)
            order, index = names.order_of(self.home)
            order = [new if one == old else one for one in order]
            names.put_order(self.home, order, new if index == old else index)
        self._all, before = {}, list(self._all)
        for name in before:
            self._reopen(new if name == old else name)
        self._changed()

    def compact(self) -> None:
        """Give the room of what was overwritten or removed back, in a directory; columns are opened anew."""
        self._check_writable()
        self._settle()
        with self.changing():
            self.home.compact()
        self._see()

    def _prepare_write(self, batch: Batch) -> int:
        self._check_writable()
        rows = self._check_batch(batch, list(self._all))
        self._settle()
        self._extend_categories(batch)
        return rows

    def _clear(self, name: str) -> None:
        """Remove what a killed writer left where a column is to be."""
        if self.home.kind(name) is not None:
            self.home.remove(name)
