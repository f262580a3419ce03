"""Rows that were appended and not flushed: a few at a time are gathered here until they are many.

In: structured arrays and batches of columns. Out: calls of the layout, in the order in which they came.
Invariant: rows that the layout did not take wait on.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.changes import written_by
from coquina.tables.incoming import record_batch

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.tables.layout import Batch, Layout

    Values = npt.NDArray[Any]

#: So many rows at a time are few, and so many are enough for the layout.
FEW_ROWS, _ENOUGH_ROWS = 256, 4096


class WaitingRows:
    """The rows of a table that wait for a flush. Whoever calls has the table's lock.

    writer_id: the writer of the rows; see `coquina.changes`.
    """

    __slots__ = ("_count", "_layout", "_parts", "total")

    def __init__(self, layout: Layout) -> None:
        """None wait yet."""
        self._layout = layout
        self._parts: list[Values] = []
        self._count = 0
        #: How many rows the table has with them; 0 if there are none.
        self.total = 0

    @property
    def nrows(self) -> int:
        """How many rows the table has with them."""
        return self.total or self._layout.nrows

    def add(self, rows: Values, writer_id: int) -> None:
        """Keep a copy of a few rows."""
        self.total = self.nrows + len(rows)
        self._parts.append(rows.copy())
        self._count += len(rows)
        if self._count >= _ENOUGH_ROWS:
            self.hand_over(writer_id)

    def put(self, batch: Batch, count: int, writer_id: int) -> None:
        """Append a batch of `count` rows, behind those that wait here."""
        self.hand_over(writer_id)
        before = self.nrows
        self._append(batch, writer_id)
        self.total = before + count

    def hand_over(self, writer_id: int) -> None:
        """Hand the few rows that wait here over to the layout."""
        if self._parts:
            rows = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
            self._append(record_batch(rows), writer_id)
            self._parts, self._count = [], 0

    def flush(self, writer_id: int) -> None:
        """Write all that wait."""
        self.hand_over(writer_id)
        try:
            with written_by(writer_id):
                self._layout.flush()
        except BaseException as error:
            self._count_anew(error)
            raise

    def _append(self, batch: Batch, writer_id: int) -> None:
        try:
            with written_by(writer_id):
                self._layout.append(batch)
        except BaseException as error:
            self._count_anew(error)
            raise

    def _count_anew(self, error: BaseException) -> None:
        """See how many rows are left after an error: a layout may have given up those before, too."""
        with suppress(Exception):
            before, now = self.nrows, self._layout.nrows_appended + self._count
            self.total = now if now > self._layout.nrows else 0
            if now < before:
                error.add_note(f"{before - now} rows that were appended before and not flushed are gone")

    def end(self) -> bool:
        """Have none wait: they were flushed, or are given up. Return whether there were any."""
        had = self.total > 0
        self.total = 0
        return had
