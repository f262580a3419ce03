"""Columns that grow in step: how a columns table is opened, and how rows are put behind its last.

In: batches of columns. Out: items of each column's arrays, flushed together.
Invariant: `nrows` rows of every column are there, whatever a killed writer left; what is longer is cut off
    before anything is put behind it.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.tables import columns_names as names
from coquina.tables.categories import extended, fits, new_values, widen
from coquina.tables.column_encodings import open_column
from coquina.tables.column_storage import rows_of
from coquina.tables.columns_filling import set_length
from coquina.tables.layout import Layout, RecordBatch
from coquina.tables.stored_columns import LoadedColumn
from coquina.tuning_options import tuning_facts_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.tables.homes import Appender, Home
    from coquina.tables.layout import Batch
    from coquina.tables.stored_columns import Items, StoredColumn

#: What was appended is flushed when there are more bytes of it, or of a chunk of all columns if that is more.
BUFFER_BYTES = 1 << 20
#: Records that are taken apart at a time: as many as a cache of the processor holds.
_TILE_BYTES = 1 << 18


class GrowingColumns(Layout):
    """The part of `ColumnsLayout` that opens columns and puts rows behind them."""

    kind = "columns"

    def __init__(self, home: Home) -> None:
        """The table in a home."""
        self.home = home
        self.skipped: dict[str, str] = {}
        self._all: dict[str, StoredColumn] = {}
        self._appender: Appender | None = None
        self._appended = self._appended_bytes = 0
        self._see()
        self.storage = names.storage_of(home, self._rows)
        self.buffer_bytes: int | None = self._default_buffer()

    @contextmanager
    def changing(self) -> Generator[None]:
        """Make what changes in the block one commit, where the home has commits; an exception undoes it.

        What waits in memory is written before: it is no part of the block, and stays whatever comes of that.
        """
        if self.home.is_transactional:
            self.flush()
        with self._changing():
            yield

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Do the same, and have rows wait on: they are lost if the change cannot be made."""
        try:
            with self.home.transaction():
                yield
        except BaseException:
            if self.home.is_transactional:
                self._see_last_commit()
            raise

    def refresh(self) -> bool:
        """Go to the newest commit of another writer; return whether there is one."""
        is_newer = False
        while self.home.refresh():
            is_newer = True
            try:
                self._see()
            except CorruptError:
                # The writer may have come to the next commit, and removed what was before.
                if not self.home.is_outdated():
                    raise
            else:
                break
        return is_newer

    def _see(self) -> None:
        """Show what the home has, whatever has been shown before."""
        self._appender = None
        self._appended = self._appended_bytes = 0
        self._all, self.skipped = {}, {}
        self.home.rows_max = None
        for name in names.names_of(self.home):
            self._reopen(name)
        self._skip_shared()
        self._rows, noted = self._whole_rows(), self.home.noted_rows()
        if any(one.rows() > self._rows for one in self._all.values()):
            if noted is not None and self._rows < noted:
                self._complain_of_short(noted)
            # A writer was killed; all columns are shown with what is there of all.
            self._limit(self._rows)
        self._changed()

    def watched_by(self, table: Any) -> None:
        """Have the home tell the table of transactions of its arrays."""
        self.home.watched_by(table)

    @property
    def nrows(self) -> int:
        """How many rows can be read: without those that wait in memory."""
        return self._rows

    @property
    def nrows_appended(self) -> int:
        """How many rows there are with those that wait in memory."""
        return self._rows + self._appended

    @property
    def is_writable(self) -> bool:
        """Whether rows can be changed."""
        return self.home.is_writable

    @property
    def name(self) -> str | None:
        """Its name in the file."""
        return self.home.name

    @property
    def file(self) -> Any:
        """The file that it is in; None for a directory."""
        return self.home.file

    @property
    def attrs(self) -> Any:
        """The attributes. Those of the encoding are among them."""
        return self.home.attrs

    @property
    def title(self) -> str:
        """What the table is about; empty if nothing says it."""
        return str(self.home.attrs.get("title", ""))

    def append(self, batch: Batch) -> None:
        """Put rows behind the last: values for every column.

        They are written chunk by chunk; the rest waits in memory until a flush. One comes by itself when
        `buffer_bytes` have gathered: at the end of these rows' last whole chunk, if there is one. Values that
        are no category of theirs yet become one, unless categories are ordered. Raises ValueError or
        TypeError for values that do not fit: no row is added then.
        """
        self._check_writable()
        rows = self._check_batch(batch, list(self._all))
        missing = [name for name in self._all if name not in batch]
        if missing:
            raise ValueError(f"append to {self.name}: no values for {', '.join(map(repr, missing))}")
        if not rows:
            return
        self._extend_categories(batch)
        if isinstance(batch, RecordBatch):
            batch = _disentangled(batch)
        encoded = {name: one.encoded(batch[name]) for name, one in self._all.items()}
        self._opened_appender()
        added_bytes = sum(part.nbytes for items in encoded.values() for part in items)
        if self.buffer_bytes is None or self._appended_bytes + added_bytes <= self.buffer_bytes:
            self._append(encoded, 0, rows)
            return
        # Where chunks end the fewest arrays have one that is partly filled, to be written again.
        beyond = (self._rows + self._appended + rows) % rows_of(self.storage)[0]
        until = rows - beyond if beyond < rows else rows
        self._append(encoded, 0, until)
        self.flush()
        if until < rows:
            self._append(encoded, until, rows)
            # Texts of a chunk may be more than the buffer is to hold.
            if self._appended_bytes > self.buffer_bytes:
                self.flush()

    def _append(self, encoded: dict[str, Items], start: int, stop: int) -> None:
        """Hand some of the rows that were encoded to the appender."""
        appender = self._opened_appender()
        items = {name: one.added(one.cut(encoded[name], start, stop)) for name, one in self._all.items()}
        parts = [part for one in items.values() for part in one]
        try:
            appender.append(parts)
        except BaseException:
            # Columns may be of unequal lengths now: the next append finds out.
            self._let_go()
            raise
        for name, one in items.items():
            self._all[name].took(one)
        self._appended += stop - start
        self._appended_bytes += sum(part.nbytes for part in parts)

    def flush(self) -> None:
        """Write what waits in memory: once it returns, a kill does not take it back."""
        if self.buffer_bytes is None:
            self.buffer_bytes = self._default_buffer()
        if self._appender is None or not self._appended:
            return
        rows = self._rows + self._appended
        try:
            with self.home.transaction():
                for one in self._all.values():
                    set_length(self.home, one, rows)
                self.home.note_rows(rows)
                self._appender.flush()
        except BaseException:
            self._let_go()
            raise
        self._rows, self._appended, self._appended_bytes = rows, 0, 0

    def close(self) -> None:
        """Flush, and let go of the arrays."""
        self._end_appending()
        self.home.close()

    def info(self) -> dict[str, Any]:
        """How it is stored: the rows of chunks and blocks, and for each column its encoding and sizes."""
        columns: dict[str, dict[str, Any]] = {}
        for name, one in self._all.items():
            columns[name] = {
                "kind": one.column.kind,
                "dtype": str(one.column.dtype),
                "encoding": names.text(self.home.attrs_of(name).get("encoding-type")),
                "nbytes": sum(array.nbytes for array in one.arrays),
                "cbytes": sum(array.cbytes for array in one.arrays),
                "lossy": next((found for array in one.arrays if (found := array.lossy) is not None), None),
                **tuning_facts_of(one.arrays),
            }
        totals = {key: sum(one[key] for one in columns.values()) for key in ("nbytes", "cbytes")}
        first = next((array for one in self._all.values() for array in one.arrays), None)
        return {
            "layout": self.kind,
            "nrows": self._rows,
            "chunk_rows": None if first is None else first.chunks[0],
            "block_rows": None if first is None else first.blocks[0],
            **totals,
            "columns": columns,
            "skipped": dict(self.skipped),
        }

    def _reopen(self, name: str) -> None:
        try:
            self._all[name] = open_column(self.home, name)
        except UnsupportedError as error:
            self.skipped[name] = str(error)

    def _changed(self) -> None:
        """Show the columns that there are now."""
        # Tables take it that new columns come with the schema: theirs goes first.
        self.schema = tuple(one.spec for one in self._all.values())
        self.columns = {name: one.column for name, one in self._all.items()}

    def _skip_shared(self) -> None:
        """Show only the first of columns that have an array in common: both would change it."""
        owners: dict[Any, str] = {}
        for name, one in list(self._all.items()):
            arrays = [self.home.place_of(array) for array in one.arrays]
            owner = next((owners[array] for array in arrays if array in owners), None)
            if owner is None and len(set(arrays)) < len(arrays):
                owner = name
            if owner is None:
                owners |= dict.fromkeys(arrays, name)
            else:
                self.skipped[name] = f"an array of it is an array of column {owner!r} too"
                del self._all[name]

    def _whole_rows(self) -> int:
        return min((one.rows() for one in self._all.values()), default=0)

    def _complain_of_short(self, noted: int) -> None:
        """Raise CorruptError: some columns have fewer rows than the last commit."""
        short = {name: one.rows() for name, one in self._all.items() if one.rows() < noted}
        told = ", ".join(f"{name!r} has {rows}" for name, rows in short.items())
        raise CorruptError(
            f"{self.name}: the table has {noted} rows, and column {told}: it was cut short. "
            "`coquina recover` makes a file with the rows that all columns have"
        )

    def _default_buffer(self) -> int:
        row_bytes = sum(array.typesize for one in self._all.values() for array in one.arrays)
        return max(BUFFER_BYTES, rows_of(self.storage)[0] * row_bytes)

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise ValueError(f"{self.name}: the file is open for reading only; open it with mode 'r+'")

    def _check_known(self, name: str) -> None:
        if name not in self._all and name not in self.skipped:
            raise KeyError(f"{self.name} has no column {name!r}; it has {', '.join(self._all)}")

    def _check_batch(self, batch: Batch, wanted: list[str]) -> int:
        """Return the number of rows of a batch, all of whose columns are wanted ones."""
        for name in batch:
            if name not in wanted:
                self._check_known(name)
                raise UnsupportedError(f"column {name!r}: {self.skipped[name]}")
        lengths = {name: len(values) for name, values in batch.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of unequal lengths: {lengths}")
        return next(iter(lengths.values()), 0)

    def _extend_categories(self, batch: Batch) -> None:
        """Make categories of values that are none yet."""
        new = {name: new_values(self._all[name].column, values) for name, values in batch.items()}
        if not any(new.values()):
            return
        # What cannot be stored is refused before anything is changed.
        "".join(one for unknown in new.values() for one in unknown if isinstance(one, str)).encode()
        with self._changing():
            for name, unknown in new.items():
                if not unknown:
                    continue
                if not fits(self.home, self._all[name], unknown):
                    self._settle()
                    self._all[name] = widen(self.home, self._all[name], len(unknown), self.storage)
                self._all[name] = extended(self.home, self._all[name], unknown, self.storage)
                self._changed()

    def _end_appending(self) -> None:
        """Flush, and let go of the arrays: what else is changed in a file must not come between."""
        self.flush()
        appender, self._appender = self._appender, None
        if appender is not None:
            appender.close()

    def _settle(self) -> None:
        """End appending, and cut off what a killed writer left."""
        self._end_appending()
        if self.home.rows_max is not None:
            with self.home.transaction():
                self._cut_off(self._rows)

    def undone(self) -> None:
        """Show the last commit again after a change of the home was undone by others."""
        self._see_last_commit()

    def _see_last_commit(self) -> None:
        """See what there is after a change was undone, if it could be."""
        if not self.home.is_broken:
            self._see()

    def _let_go(self) -> None:
        """End appending after an error, and see what there is."""
        if self.home.is_transactional:
            self._see_last_commit()
            return
        appender, self._appender = self._appender, None
        self._appended = self._appended_bytes = 0
        if appender is not None:
            with suppress(Exception):
                appender.close()
        if self.home.is_broken:
            return
        self._rows = self._whole_rows()
        with suppress(Exception):
            self.home.note_rows(self._rows)
        self._limit(self._rows)

    def _opened_appender(self) -> Appender:
        if self._appender is None:
            with self.changing():
                self._cut_off(self._rows)
            arrays = [array for one in self._all.values() for array in one.arrays]
            self._appender = self.home.appender(arrays)
        return self._appender

    def _limit(self, rows: int | None) -> None:
        self.home.rows_max = rows
        for name in list(self._all):
            self._reopen(name)
        self._changed()

    def _cut_off(self, rows: int) -> None:
        self._check_sizable()
        if self.home.rows_max is not None:
            self._limit(None)
        self.home.note_rows(rows)
        for one in self._all.values():
            one.truncate(rows)
            set_length(self.home, one, rows)
        self._rows = rows

    def _check_sizable(self) -> None:
        """Raise UnsupportedError if there is a column that can neither grow nor shrink."""
        for name, one in self._all.items():
            if isinstance(one, LoadedColumn) or not all(map(self.home.can_grow, one.arrays)):
                raise UnsupportedError(
                    f"column {name!r} was made with a fixed number of rows; copy the table to change that"
                )
        for name in self.skipped:
            raise UnsupportedError(f"column {name!r} is not understood: {self.skipped[name]}")


def _disentangled(batch: RecordBatch) -> Batch:
    """Return the values of records, each column in one piece: all columns of some rows, then of the next."""
    rows = len(batch.records)
    step = max(1, _TILE_BYTES // max(1, batch.records.itemsize))
    if rows <= step:
        return batch
    made: Batch = {name: np.empty(values.shape, values.dtype) for name, values in batch.items()}
    for start in range(0, rows, step):
        for name, values in batch.items():
            made[name][start : start + step] = values[start : start + step]
    return made
