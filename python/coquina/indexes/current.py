"""What an index can be asked as long as nothing changes: its runs, and what they own.

In: ranges of keys. Out: rows that are owned by the run which has them.
Invariant: rows that a run has and does not own are not in what it gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coquina import _core
from coquina._core import CorruptError
from coquina.indexes.rowsets import RowSet
from coquina.indexes.spans import SPAN_BITS, SPAN_ROWS, merged
from coquina.indexes.zones import ZONE_ROWS, zone_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from coquina.indexes.runs import Run
    from coquina.indexes.state import IndexState

    Rows = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]

_NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Current:
    """What is so now. nrows: of the table. runs: those that own rows. open: the ranges that nobody owns.

    owners: the run of each span, and one more, which is nobody's. stop: the row behind the last that is
    owned.
    """

    nrows: int
    state: IndexState
    runs: tuple[Run, ...]
    open: Rows
    open_rows: int
    owners: npt.NDArray[np.int32]
    stop: int

    def owned(self, run: Run, rows: Rows) -> Rows:
        """Return those of a run's rows, in any order, that it owns."""
        return rows if run.owns_all else rows[self._is_owner(run, rows >> SPAN_BITS)]

    def _is_owner(self, run: Run, spans: Rows) -> npt.NDArray[np.bool_]:
        """Return which spans a run owns. Those that were cut off are owned by nobody, as the last here."""
        return self.owners[np.minimum(spans, len(self.owners) - 1)] == run.number

    def found(self, low: Keys, high: Keys, missing: bool, *, is_exact: bool) -> tuple[Rows, Rows]:
        """Return the rows that are in ranges, and those that may be, each in order, once.

        is_exact: whether keys tell values apart; else a row whose key is an end of a range may be in it.
        """
        inner = (low, high) if is_exact else _within(low, high)
        edges = None if is_exact else _edges(low, high)
        sure: list[Rows] = []
        unsure: list[Rows] = []
        for run in self.runs:
            found, maybe = run.core.find(*inner)
            sure.append(self._checked(run, found))
            unsure.append(self._checked(run, maybe))
            if edges is not None:
                unsure += [self._checked(run, one) for one in run.core.find(edges, edges)]
            if missing and run.missing:
                sure.append(self._checked(run, run.missing_rows()))
        known, maybe = _joined(sure), _joined(unsure)
        # At the end of a range a row may be found twice, once because of what is within.
        return known, _core.rows_minus(maybe, known) if edges is not None and len(maybe) else maybe

    def _checked(self, run: Run, rows: Rows) -> Rows:
        """Return the rows that a run owns, of some in order."""
        if not len(rows):
            return rows
        rows = self.owned(run, rows)
        if len(rows) and not 0 <= int(rows[0]) <= int(rows[-1]) < self.stop:
            raise CorruptError(f"run {run.number}: rows {rows[0]} to {rows[-1]} of {self.stop}")
        return rows

    def estimate(self, low: Keys, high: Keys, missing: bool, bucket_rows: int) -> int:
        """Return how many rows may be in ranges at most, without those of open ranges; from memory alone."""
        if self.state.meta.kind == "zones":
            found = len(self.state.zones.candidates(low, high, missing)) * ZONE_ROWS
        else:
            found = sum([run.core.estimate(low, high) for run in self.runs])
            found = (found + sum([run.missing for run in self.runs if missing])) * bucket_rows
        return min(found, self.nrows - self.open_rows)

    def buckets(self, low: Keys, high: Keys, missing: bool, bucket_rows: int) -> Rows:
        """Return the buckets that have rows in ranges, or may have."""
        per_span = SPAN_ROWS // bucket_rows
        found: list[Rows] = []
        for run in self.runs:
            parts = [*run.core.find(low, high), *([run.missing_rows()] if missing else [])]
            found += [part[self._is_owner(run, part // per_span)] for part in parts]
        is_found = np.zeros(-(-self.nrows // bucket_rows), np.bool_)
        for part in found:
            is_found[part] = True
        return np.flatnonzero(is_found)

    def candidates(self, numbers: Rows, unit_rows: int) -> RowSet:
        """Return units of rows, by their numbers in order, and what is open, as a set."""
        ranges = zone_ranges(numbers, self.nrows, unit_rows)
        joined = merged(np.concatenate([ranges, self.open])) if len(self.open) else ranges
        return RowSet(_NO_ROWS, joined, True)

    def missing_rows(self) -> Rows:
        """Return the rows without a key."""
        return _joined([self._checked(run, np.sort(run.missing_rows())) for run in self.runs])

    def in_order(
        self, run: Run, window: int, *, descending: bool, keys: tuple[int, int] | None = None
    ) -> Iterator[Rows]:
        """Yield the rows that a run owns in the order of their keys, some at a time.

        keys: the least and the greatest; a few more rows beside them may be there.
        """
        start, stop = 0, run.entries
        if keys is not None:
            start = _entries(run, keys[0] - 1)[0] if keys[0] else 0
            stop = max(start, sum(_entries(run, keys[1])))
        for at in range(0, stop - start, window):
            if descending:
                rows = run.rows_at(max(start, stop - at - window), stop - at)[::-1]
            else:
                rows = run.rows_at(start + at, min(start + at + window, stop))
            rows = self.owned(run, rows)
            if len(rows):
                yield rows


def _entries(run: Run, key: int) -> tuple[int, int]:
    """Return how many entries are not behind a key, and of how many more that may be."""
    return run.core.count(np.zeros(1, np.uint64), np.array([key], np.uint64))


def _joined(parts: Sequence[Rows]) -> Rows:
    """Return rows of several runs, in order: no two have the same."""
    full = [part for part in parts if len(part)]
    if len(full) < 2:
        return full[0] if full else _NO_ROWS
    # Not `unique`, which hashes: each part is in order, and parts are merged.
    rows = np.sort(np.concatenate(full), kind="stable")
    is_twice = rows[1:] == rows[:-1]
    return rows[np.append(True, ~is_twice)] if is_twice.any() else rows


def _edges(low: Keys, high: Keys) -> Keys:
    """Return the keys at the ends of ranges, in order."""
    return np.unique(np.concatenate([low, high]))


def _within(low: Keys, high: Keys) -> tuple[Keys, Keys]:
    """Return the ranges without their ends."""
    is_long = (high > low) & (high - low > 1)
    return low[is_long] + np.uint64(1), high[is_long] - np.uint64(1)
