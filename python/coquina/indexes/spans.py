"""Which run knows which rows: for each span of 65536 rows its owner, and a fingerprint of its values.

In: what changes, and what is sorted. Out: open ranges, of which no run knows anything; who owns a row.
Source: docs/formats/indexes.md, "Spans".
Invariant: a span that is owned has a fingerprint of its first `rows` rows as they were when its run was made;
    all of them but the last are whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Rows = npt.NDArray[np.int64]
    Fingerprints = Callable[[Rows, Rows], npt.NDArray[np.uint64]]

SPAN_ROWS = 1 << 16
SPAN_BITS = 16
#: One span as it is stored; a run below 0 is none.
SPAN_DTYPE = np.dtype([("fingerprint", "<u8"), ("run", "<i4"), ("rows", "<i4")])
OPEN = -1


class Spans:
    """The spans of an index."""

    def __init__(self, items: npt.NDArray[Any] | None = None) -> None:
        """The stored items. Raises CorruptError for what cannot be."""
        found = np.empty(0, SPAN_DTYPE) if items is None else items.astype(SPAN_DTYPE)
        rows = found["rows"][found["run"] >= 0]
        if len(rows) and (int(rows.min()) < 1 or int(rows.max()) > SPAN_ROWS):
            raise CorruptError(f"a span of {rows.min()} or {rows.max()} rows, of at most {SPAN_ROWS}")
        if bool((rows[:-1] != SPAN_ROWS).any()):
            raise CorruptError("a span that is not the last one is not whole")
        self.items = found

    @property
    def owners(self) -> npt.NDArray[np.int32]:
        """The run of each span."""
        return self.items["run"]

    @property
    def stop(self) -> int:
        """The row behind the last that is owned."""
        owned = np.flatnonzero(self.items["run"] >= 0)
        return int(owned[-1]) * SPAN_ROWS + int(self.items["rows"][owned[-1]]) if len(owned) else 0

    @property
    def rows(self) -> int:
        """How many rows are owned."""
        return int(self.items["rows"][self.items["run"] >= 0].sum(dtype=np.int64))

    def rows_of(self) -> dict[int, int]:
        """Return how many rows each run owns."""
        owned = self.items[self.items["run"] >= 0]
        numbers, places = np.unique(owned["run"], return_inverse=True)
        counts = np.bincount(places, owned["rows"], len(numbers)).astype(np.int64)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))

    def open_ranges(self, nrows: int) -> Rows:
        """Return the ranges of `nrows` rows that nobody owns: pairs, ascending, not adjacent."""
        owned = np.flatnonzero(self.items["run"] >= 0)
        starts = owned * SPAN_ROWS
        stops = np.minimum(starts + self.items["rows"][owned], nrows)
        edges = np.empty(2 * len(owned) + 2, np.int64)
        edges[0], edges[-1] = 0, nrows
        edges[1:-1:2], edges[2:-1:2] = starts, stops
        found = edges.reshape(-1, 2)
        return found[found[:, 0] < found[:, 1]]

    def changed(self, start: int, stop: int) -> bool:
        """Forget what was known of rows; return whether that was anything."""
        part = self.items[start >> SPAN_BITS : -(-stop // SPAN_ROWS)] if start < stop else self.items[:0]
        was_owned = bool((part["run"] >= 0).any())
        part["run"] = OPEN
        return was_owned

    def resized(self, nrows: int) -> bool:
        """Forget what lies behind `nrows` rows; return whether that was anything."""
        is_shorter = self.stop > nrows
        count = -(-nrows // SPAN_ROWS)
        if len(self.items) > count:
            self.items = self.items[:count].copy()
        if self.stop > nrows:
            # The last of them has a fingerprint of more rows than there are.
            self.changed(nrows - 1, nrows)
        return is_shorter

    def verify(self, fingerprints: Fingerprints) -> bool:
        """Forget the spans whose values have another fingerprint; return whether there are some."""
        owned = np.flatnonzero(self.items["run"] >= 0)
        starts = owned * SPAN_ROWS
        found = fingerprints(starts, starts + self.items["rows"][owned])
        wrong = owned[found != self.items["fingerprint"][owned]]
        self.items["run"][wrong] = OPEN
        return bool(len(wrong))

    def wanted(self, runs: set[int], nrows: int) -> Rows:
        """Return the spans of `nrows` rows that are open, or owned by one of `runs`, by their numbers."""
        count = -(-nrows // SPAN_ROWS)
        is_wanted = np.ones(count, np.bool_)
        known = self.items[:count]
        rows = np.minimum(SPAN_ROWS, nrows - np.arange(len(known)) * SPAN_ROWS)
        is_kept = (known["run"] >= 0) & (known["rows"] == rows)
        is_wanted[: len(known)] = ~is_kept | np.isin(known["run"], list(runs))
        return np.flatnonzero(is_wanted)

    def own(self, spans: Rows, run: int, nrows: int, fingerprints: Fingerprints) -> None:
        """Give spans to a run, which knows all of their rows."""
        count = -(-nrows // SPAN_ROWS)
        if len(self.items) < count:
            more = np.zeros(count - len(self.items), SPAN_DTYPE)
            more["run"] = OPEN
            self.items = np.concatenate([self.items, more])
        ranges = ranges_of(spans, nrows, join=False)
        self.items["run"][spans] = run
        self.items["rows"][spans] = ranges[:, 1] - ranges[:, 0]
        self.items["fingerprint"][spans] = fingerprints(ranges[:, 0], ranges[:, 1])


def ranges_of(spans: Rows, nrows: int, *, join: bool = True) -> Rows:
    """Return the rows of spans as pairs; of adjacent ones as one, if `join`."""
    starts = spans.astype(np.int64) * SPAN_ROWS
    stops = np.minimum(starts + SPAN_ROWS, nrows)
    if join and len(spans):
        is_first = np.append(True, np.diff(spans) != 1)
        starts, stops = starts[is_first], stops[np.append(is_first[1:], True)]
    return np.stack([starts, stops], 1)


def merged(ranges: Rows) -> Rows:
    """Return ranges in any order, which may overlap, as ascending ones that are not adjacent."""
    if len(ranges) < 2:
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    stops = np.maximum.accumulate(ranges[:, 1])
    is_first = np.append(True, ranges[1:, 0] > stops[:-1])
    return np.stack([ranges[is_first, 0], stops[np.append(is_first[1:], True)]], 1)
