"""The values of a column in order, with their rows: in memory, or through files where that is too little.

In: how to read rows, and how much memory may be taken. Out: values and rows, ascending, some at a time.
Invariant: equal values come in the order of their rows, NaN behind all others; nothing is sorted that is
larger than the memory allows, unless samples of the values mislead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    Values = npt.NDArray[Any]
    Rows = npt.NDArray[np.uint64]
    Pairs = Iterator[tuple[Values, Rows]]

_WINDOW_ROWS = 1 << 20
_SAMPLES, _SAMPLE_ROWS = 256, 1024


@dataclass(frozen=True, slots=True)
class Unsorted:
    """Values to be sorted.

    read: of rows from a start to a stop. progress: told how many rows were read.
    """

    read: Callable[[int, int], Values]
    rows: int
    dtype: np.dtype[Any]
    progress: Callable[[int], None]

    def windows(self) -> Pairs:
        """Yield values in the order of the rows, and the rows."""
        for start in range(0, self.rows, _WINDOW_ROWS):
            stop = min(start + _WINDOW_ROWS, self.rows)
            yield self.read(start, stop), np.arange(start, stop, dtype=np.uint64)
            self.progress(stop)


def in_order(unsorted: Unsorted, memory_limit: int, folder: str | None) -> Pairs:
    """Yield all values and their rows, sorted; `folder` is where files go if memory is too little."""
    # Values, and as many in order; the order itself, and what sorting takes.
    needed = unsorted.rows * (2 * unsorted.dtype.itemsize + 16)
    if needed <= memory_limit:
        values, rows = np.empty(unsorted.rows, unsorted.dtype), np.arange(0)
        for part, rows in unsorted.windows():
            values[int(rows[0]) : int(rows[0]) + len(part)] = part
        yield from _sorted(values, None)
        return
    with TemporaryDirectory(dir=folder) as place:
        yield from _by_parts(unsorted, 4 * needed // max(memory_limit, 1) + 1, place)


def _sorted(values: Values, rows: Rows | None) -> Pairs:
    order = np.argsort(values, kind="stable")
    for first in range(0, len(order), _WINDOW_ROWS):
        part = order[first : first + _WINDOW_ROWS]
        yield values[part], part.astype(np.uint64) if rows is None else rows[part]


def _by_parts(unsorted: Unsorted, parts: int, place: str) -> Pairs:
    """Sort by parts: values between two samples each, and those that equal one, which need no sorting."""
    splits = _splits(unsorted, parts)
    for values, rows in unsorted.windows():
        part = np.searchsorted(splits, values, "left") + np.searchsorted(splits, values, "right")
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(2 * len(splits) + 2))
        for number in range(2 * len(splits) + 1):
            those = order[ends[number] : ends[number + 1]]
            if len(those):
                _put(place, f"{number}.values", values[those])
                _put(place, f"{number}.rows", rows[those])
    for number in range(2 * len(splits) + 1):
        names = [os.path.join(place, f"{number}.{what}") for what in ("values", "rows")]
        if not os.path.exists(names[0]):
            continue
        if number % 2:
            yield from _windows_of(names, unsorted.dtype)
        else:
            yield from _sorted(np.fromfile(names[0], unsorted.dtype), np.fromfile(names[1], np.uint64))
        for name in names:
            os.remove(name)


def _splits(unsorted: Unsorted, parts: int) -> Values:
    """Return different values that cut a sample into so many parts of one size."""
    step = max(unsorted.rows // _SAMPLES, _SAMPLE_ROWS)
    starts = range(0, unsorted.rows, step)
    sample = np.sort(
        np.concatenate([unsorted.read(at, min(at + _SAMPLE_ROWS, unsorted.rows)) for at in starts])
    )
    return np.unique(sample[np.arange(1, parts) * len(sample) // parts])


def _put(place: str, name: str, items: Values) -> None:
    with open(os.path.join(place, name), "ab") as file:
        file.write(np.ascontiguousarray(items).tobytes())


def _windows_of(names: list[str], dtype: np.dtype[Any]) -> Pairs:
    with open(names[0], "rb") as values, open(names[1], "rb") as rows:
        while raw := values.read(_WINDOW_ROWS * dtype.itemsize):
            found = np.frombuffer(raw, dtype)
            yield found, np.frombuffer(rows.read(8 * len(found)), np.uint64)


def cut(pairs: Pairs, lengths: Iterator[int]) -> Pairs:
    """Yield the same pairs in parts of these lengths."""
    kept: list[tuple[Values, Rows]] = []
    wanted, held = next(lengths, 0), 0
    for values, rows in pairs:
        kept.append((values, rows))
        held += len(values)
        while wanted and held >= wanted:
            every = np.concatenate([one for one, _ in kept]), np.concatenate([one for _, one in kept])
            yield every[0][:wanted], every[1][:wanted]
            kept, held = [(every[0][wanted:], every[1][wanted:])], held - wanted
            wanted = next(lengths, 0)
