"""Zones: the least and the greatest key of each 16384 rows, and whether some of these have none.

In: values, a window at a time. Out: which zones may have keys in ranges.
Source: docs/formats/indexes.md, "Zones".
Invariant: a key of a row of a zone is within its bounds; a zone without keys has bounds that are the wrong
    way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.indexes.keys import keys_of, values_of_part
from coquina.indexes.spans import SPAN_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.indexes.source import IndexSource

    Rows = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]

ZONE_ROWS = 1 << 14
ZONE_DTYPE = np.dtype([("low", "<u8"), ("high", "<u8"), ("missing", "<u8")])
_WINDOW_ROWS = 1 << 20
_PER_SPAN = SPAN_ROWS // ZONE_ROWS


class Zones:
    """The zones of an index."""

    def __init__(self, items: npt.NDArray[Any] | None = None) -> None:
        """The stored items."""
        self.items = np.empty(0, ZONE_DTYPE) if items is None else items.astype(ZONE_DTYPE)

    def candidates(self, low: Keys, high: Keys, missing: bool) -> Rows:
        """Return the zones that may have keys in ranges, by number."""
        found = self.items["missing"] > 0 if missing else np.zeros(len(self.items), np.bool_)
        for one, other in zip(low, high, strict=True):
            found |= (self.items["high"] >= one) & (self.items["low"] <= other)
        found &= (self.items["low"] <= self.items["high"]) | (self.items["missing"] > 0)
        return np.flatnonzero(found)

    def compute(self, source: IndexSource, ranges: Rows, progress: Callable[[int, int], None] | None) -> None:
        """Look at the rows of ranges, which begin where spans do."""
        total, done = int((ranges[:, 1] - ranges[:, 0]).sum()), 0
        wanted = -(-int(ranges[-1, 1]) // SPAN_ROWS) * _PER_SPAN if len(ranges) else 0
        if len(self.items) < wanted:
            more = np.zeros(wanted - len(self.items), ZONE_DTYPE)
            self.items = np.concatenate([self.items, more])
        lazies, missing = source.lazies(), source.missing()
        for start, stop in ranges.tolist():
            for at in range(start, stop, _WINDOW_ROWS):
                end = min(at + _WINDOW_ROWS, stop)
                keys, gone = _keys(lazies, missing, source.kind, at, end)
                self._put(at, keys, gone)
                done += end - at
                if progress is not None:
                    progress(done, total)

    def _put(self, start: int, keys: Keys, missing: npt.NDArray[np.bool_]) -> None:
        ends = np.arange(0, len(keys), ZONE_ROWS)
        part = self.items[start // ZONE_ROWS :][: len(ends)]
        greatest = np.iinfo(np.uint64).max
        part["low"] = np.minimum.reduceat(np.where(missing, greatest, keys), ends)
        part["high"] = np.maximum.reduceat(np.where(missing, 0, keys), ends)
        part["missing"] = np.add.reduceat(missing.astype(np.uint64), ends)
        is_empty = np.logical_and.reduceat(missing, ends)
        part["low"][is_empty], part["high"][is_empty] = greatest, 0


def _keys(lazies: Any, missing: Any, kind: str, start: int, stop: int) -> tuple[Keys, Any]:
    sources = [lazies] if missing is None else [lazies, missing]
    parts = _core.scan(None, sources, start, stop)[1]
    keys, gone = keys_of(values_of_part(parts[0], kind, stop - start), kind)
    return keys, gone if missing is None else gone | (np.asarray(parts[1]) != 0)


def zone_ranges(zones: Rows, nrows: int, zone_rows: int = ZONE_ROWS) -> Rows:
    """Return the rows of zones (or buckets) as pairs, adjacent ones joined."""
    starts = zones * zone_rows
    stops = np.minimum(starts + zone_rows, nrows)
    found = np.stack([starts, stops], 1)
    found = found[starts < stops]
    if len(found) < 2:
        return found
    is_first = np.append(True, found[1:, 0] != found[:-1, 1])
    return np.stack([found[is_first, 0], found[np.append(is_first[1:], True), 1]], 1)
