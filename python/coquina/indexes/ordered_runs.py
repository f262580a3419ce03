"""The first rows of an order, by an index: what each of its runs begins, or ends, with.

In: an index, and how many rows are wanted. Out: rows among which these are.
Invariant: no row that is not given, and is in no open range, comes before the first `count` of those that are
    given and accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import KeyRanges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.indexes.index import Index

    Keys = npt.NDArray[np.uint64]
    Rows = npt.NDArray[np.int64]
    Accept = Callable[[Rows], npt.NDArray[np.bool_]]

#: Entries of a run that are looked at together: a block of them.
_WINDOW = 4096
#: Of rows that have to be accepted so many at least are asked for first, then four times as many, and so on.
_ASKED = 16
#: Rows that are handed to `accept`, where nothing else is said.
ASKED_MOST = 1 << 10
#: Rows with the same key that are looked at.
_ALIKE_MOST = 1 << 16


@dataclass(frozen=True, slots=True)
class FirstRows:
    """What is asked for.

    count: of rows. descending: the greatest key first; equal ones by row, ascending, either way. is_tied:
    rows with the key of the last one are all wanted: something else has yet to order them. accept: tells
    which rows are meant; all if None. asked_most: so many rows are handed to it at most. keys: the least and
    the greatest that those rows have; None if they may also have none.
    """

    count: int
    descending: bool = False
    is_tied: bool = False
    accept: Accept | None = None
    asked_most: int = ASKED_MOST
    keys: tuple[int, int] | None = None


class _TooManyError(Exception):
    """More rows would have to be looked at than is worth while."""


def first_rows(index: Index, wanted: FirstRows) -> Rows | None:
    """Return rows, ascending, among which the first ones are, but for open ranges.

    None where a scan is better: more rows would have to be looked at than it takes; or there is no order.
    """
    runs = index.in_order(descending=wanted.descending, window=_WINDOW, keys=wanted.keys, by_prefix=True)
    if runs is None:
        return None
    asking = _Asking(wanted)
    try:
        found = [_of_run(run, wanted.count, asking) for run in runs]
        rows = np.concatenate([np.empty(0, np.int64), *found])
        if len(rows) < wanted.count and wanted.keys is not None:
            more = rows[:0]
        elif len(rows) < wanted.count:
            more = asking.accepted(index.missing_rows())
            more = more if wanted.is_tied else more[: wanted.count - len(rows)]
        elif wanted.count and (wanted.descending or wanted.is_tied or not index.is_exact):
            more = _alike(index, wanted, rows, asking)
        else:
            more = rows[:0]
    except _TooManyError:
        return None
    return np.unique(np.concatenate([rows, more]))


class _Asking:
    """Which rows are meant, and how many have been asked for."""

    def __init__(self, wanted: FirstRows) -> None:
        self._accept = wanted.accept
        self._left = wanted.asked_most

    def accepted(self, rows: Rows) -> Rows:
        """Return the rows that are meant. Raises _TooManyError."""
        if self._accept is None or not len(rows):
            return rows
        self._left -= len(rows)
        if self._left < 0:
            raise _TooManyError
        return rows[self._accept(rows)]


def _of_run(run: Iterator[Rows], count: int, asking: _Asking) -> Rows:
    """Return the first rows of a run that are meant."""
    found: list[Rows] = [np.empty(0, np.int64)]
    if not count:
        return found[0]
    for part in _parts(run, count):
        some = asking.accepted(part)[:count]
        found.append(some)
        count -= len(some)
        if not count:
            break
    return np.concatenate(found)


def _alike(index: Index, wanted: FirstRows, rows: Rows, asking: _Asking) -> Rows:
    """Return the rows with the key of the last that is wanted: runs had only some of them."""
    keys, _ = index.source.keys_at(rows)
    place = len(keys) - wanted.count if wanted.descending else wanted.count - 1
    key = np.partition(keys, place)[place : place + 1]

    def is_alike(some: Rows) -> Any:
        return index.source.keys_at(some)[0] == key

    if index.is_exact and not wanted.is_tied:
        # Keys are all that orders, and so the first of these rows are enough.
        ends = (int(key[0]), int(key[0]))
        runs = index.in_order(window=_WINDOW, keys=ends) or []
        alike = [
            _of_run((part[is_alike(part)] for part in _parts(run, wanted.count)), wanted.count, asking)
            for run in runs
        ]
        return np.concatenate([rows[:0], *alike])
    alike_keys = KeyRanges(key, key)
    if index.estimate(alike_keys) > _ALIKE_MOST:
        raise _TooManyError
    return asking.accepted(index.lookup(alike_keys, check=is_alike).rows)


def _parts(run: Iterator[Rows], count: int) -> Iterator[Rows]:
    """Yield the rows of a run some at a time, few at first: they are looked at one by one."""
    size = max(_ASKED, 2 * count)
    for window in run:
        rows = window
        while len(rows):
            yield rows[:size]
            rows, size = rows[size:], 4 * size
