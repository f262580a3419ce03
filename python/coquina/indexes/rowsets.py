"""Sets of rows that indexes give: numbers of rows, and ranges of which nothing is known.

In: rows in order, without doubles, and open ranges. Out: sets that are combined.
Invariant: a row that belongs to the answer is among `rows` or in an open range; if the set is exact, a row
    among `rows` that is in no open range belongs to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core

if TYPE_CHECKING:
    import numpy.typing as npt

    Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowSet:
    """rows: int64, ascending, without doubles; open: pairs, ascending, disjoint. See the module."""

    rows: Rows
    open: Rows
    is_exact: bool = True

    @classmethod
    def all(cls, count: int) -> RowSet:
        """Return the set of which nothing is known."""
        ranges = np.array([[0, count]] if count else [], np.int64).reshape(-1, 2)
        return cls(np.empty(0, np.int64), ranges, True)

    @classmethod
    def none(cls) -> RowSet:
        """Return the set without rows."""
        return cls.all(0)

    @property
    def open_rows(self) -> int:
        """How many rows nothing is known of."""
        return int((self.open[:, 1] - self.open[:, 0]).sum()) if len(self.open) else 0

    def __and__(self, other: RowSet) -> RowSet:
        """Return the rows that may be in both."""
        is_exact = self.is_exact and other.is_exact
        if not len(self.open) and not len(other.open):
            return RowSet(_core.rows_and(self.rows, other.rows), self.open, is_exact)
        # A row of one set that is open in the other may be in both, which is all that is known of it.
        mine = _core.rows_within(self.rows, other.open) if len(other.open) else self.rows[:0]
        theirs = _core.rows_within(other.rows, self.open) if len(self.open) else self.rows[:0]
        rows = _core.rows_and(self.rows, other.rows)
        unsure = _core.rows_or(mine, theirs)
        # In both as rows, though open in one: not known either.
        return RowSet(
            _core.rows_or(rows, unsure),
            intersected(self.open, other.open),
            is_exact and not len(_core.rows_minus(unsure, _within(unsure, self.open, other.open))),
        )

    def __or__(self, other: RowSet) -> RowSet:
        """Return the rows that may be in any of both."""
        rows = _core.rows_or(self.rows, other.rows)
        return RowSet(rows, united(self.open, other.open), self.is_exact and other.is_exact)

    def clip(self, start: int, stop: int) -> RowSet:
        """Return the part of the set that is from row `start` to before row `stop`."""
        rows = self.rows
        if not len(self.open) and (not len(rows) or (rows[0] >= start and rows[-1] < stop)):
            return self
        low, high = np.searchsorted(rows, [start, stop])
        ends = np.clip(self.open, start, stop)
        return RowSet(rows[low:high], ends[ends[:, 0] < ends[:, 1]], self.is_exact)

    def strided(self, span: range) -> RowSet:
        """Return the part of the set that is in a range of rows; open ranges keep rows between its steps."""
        part = self.clip(span.start, span[-1] + 1) if span else RowSet.none()
        if span.step == 1:
            return part
        return RowSet(part.rows[(part.rows - span.start) % span.step == 0], part.open, part.is_exact)

    def known(self) -> Rows:
        """Return the rows that are in no open range: of an exact set they belong to the answer."""
        if not len(self.open) or not len(self.rows):
            return self.rows
        return _core.rows_minus(self.rows, _core.rows_within(self.rows, self.open))


def _within(rows: Rows, one: Rows, other: Rows) -> Rows:
    """Return those of `rows` that are in an open range of both."""
    both = intersected(one, other)
    return _core.rows_within(rows, both) if len(both) else rows[:0]


def intersected(one: Rows, other: Rows) -> Rows:
    """Return where ranges of both overlap; ranges are ascending and disjoint."""
    if not len(one) or not len(other):
        return np.empty((0, 2), np.int64)
    # Every overlap begins where a range of one begins within one of the other.
    starts = np.concatenate([one[:, 0], other[:, 0]])
    stops = np.minimum(_end_at(one, starts), _end_at(other, starts))
    found: Any = np.stack([starts, stops], axis=1)[stops > starts]
    return np.unique(found, axis=0)


def _end_at(ranges: Rows, at: Rows) -> Rows:
    """Return where the range ends that a row is in; the row itself if it is in none."""
    place = np.searchsorted(ranges[:, 0], at, "right") - 1
    ends = ranges[np.maximum(place, 0), 1]
    return np.where((place >= 0) & (ends > at), ends, at)


def united(one: Rows, other: Rows) -> Rows:
    """Return ranges with all rows of both, ascending and disjoint."""
    if not len(one) or not len(other):
        return other if not len(one) else one
    ranges = np.concatenate([one, other])
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    ends = np.maximum.accumulate(ranges[:, 1])
    is_first = np.append(True, ranges[1:, 0] > ends[:-1])
    return np.stack([ranges[is_first, 0], ends[np.append(is_first[1:], True)]], axis=1)
