"""Sorts more items than fit in memory: sorted runs, stored compressed, that are merged part by part.

In: the items of a line in pieces, each of which fits. Out: the sorted items in blocks, with their numbers
    in the line where these are asked for.
How: every run keeps a sample of its items, evenly spaced. All samples in order tell where to cut so that
    the items between two cuts, of all runs together, fit: they are read, sorted and given out.
Source: the merge is the splitting step of "parallel sorting by regular sampling" (Shi and Schaeffer, 1992).
Invariant: items are ordered by value, then run, then place; no two are alike, so that the cuts are exact
    however many values are equal, and the sort is stable.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import asarray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

#: Bytes that a row number takes, and the order of a piece besides.
_NUMBER_BYTES = 16


def piece_items(dtype: np.dtype[Any], budget: int, *, numbered: bool) -> int:
    """Return how many items a piece may have, at least 2."""
    return max(2, budget // max(dtype.itemsize + (_NUMBER_BYTES if numbered else 0), 1))


def sorted_blocks(
    pieces: Iterable[npt.NDArray[Any]],
    length: int,
    dtype: np.dtype[Any],
    budget: int,
    *,
    numbered: bool = False,
    beside: Path | None = None,
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int64]]]:
    """Yield the sorted items of a line of `length` items in blocks, and their numbers (else no numbers).

    pieces: one after another, of `piece_items` items at most. beside: the file next to which the runs lie
        while they are needed; in memory, compressed, if None.

    Memory: some four times `budget`, and a sample of about 4 * (length / piece)^2 items.
    """
    step = max(1, piece_items(dtype, budget, numbered=numbered) ** 2 // (4 * max(length, 1)))
    with ExitStack() as stack:
        folder = None
        if beside is not None:
            near = os.path.dirname(os.path.abspath(os.fsdecode(beside)))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="coquina-sort-", dir=near))
        runs = [run for run in _runs(pieces, step, folder, numbered=numbered) if run.length]
        for run in runs:
            stack.callback(run.close)
        if runs:
            yield from _merged(runs, step, piece_items(dtype, budget, numbered=numbered))


class _Run:
    """A sorted run, read from its start to its end."""

    def __init__(self, values: Array, numbers: Array | None, sample: npt.NDArray[Any]) -> None:
        self.values = values
        self.numbers = numbers
        self.sample = sample
        self.length = values.shape[0]
        self._start = 0  # of what has not been given out
        self._items = sample[:0]  # read, but not given out

    def close(self) -> None:
        self.values.close()
        if self.numbers is not None:
            self.numbers.close()

    def read_to(self, stop: int) -> npt.NDArray[Any]:
        """Return the items that have not been given out, up to `stop`."""
        at = self._start + len(self._items)
        if stop > at:
            self._items = np.concatenate([self._items, self.values[at:stop]])
        return self._items

    def give(self, count: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return the next `count` items, all of them read, and go on behind them."""
        given, self._items = self._items[:count], self._items[count:].copy()
        numbers = np.empty(0, np.int64) if self.numbers is None else self._numbers(self.numbers, count)
        self._start += count
        return given, numbers

    def _numbers(self, numbers: Array, count: int) -> npt.NDArray[np.int64]:
        return np.asarray(numbers[self._start : self._start + count], np.int64)

    @property
    def start(self) -> int:
        """How many items have been given out."""
        return self._start


def _runs(
    pieces: Iterable[npt.NDArray[Any]], step: int, folder: str | None, *, numbered: bool
) -> Iterator[_Run]:
    start = 0
    for place, piece in enumerate(pieces):
        numbers = None
        if numbered:
            order = np.argsort(piece, kind="stable")
            values = piece[order]
            numbers = _kept(order.astype(np.int64, copy=False) + start, folder, f"{place}-numbers")
        else:
            values = np.sort(piece, kind="stable")
        start += len(piece)
        yield _Run(_kept(values, folder, f"{place}-values"), numbers, values[::step].copy())


def _kept(values: npt.NDArray[Any], folder: str | None, name: str) -> Array:
    # Read once and thrown away: what is quickly written is best.
    path = None if folder is None else os.path.join(folder, name)
    return asarray(values, codec="lz4", level=1, path=path, checksums=False)


def _merged(
    runs: list[_Run], step: int, items: int
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int64]]]:
    sample = np.concatenate([run.sample for run in runs])
    owners = np.repeat(np.arange(len(runs)), [len(run.sample) for run in runs])
    places = np.concatenate([np.arange(len(run.sample)) * step for run in runs])
    order = np.argsort(sample, kind="stable")
    seen = np.zeros(len(runs), np.int64)  # samples of each run before the cut
    # Between two cuts lie `per_block` samples, and up to `step` items of each run beside them.
    per_block = max(1, items // (2 * step))
    for at in range(per_block, len(order), per_block):
        seen += np.bincount(owners[order[at - per_block : at]], minlength=len(runs))
        cut = order[at]
        value, owner, place = sample[cut : cut + 1], int(owners[cut]), int(places[cut])
        yield _block(
            [
                _before(run, number, value, owner, place, int(seen[number]) * step)
                for number, run in enumerate(runs)
            ]
        )
    for run in runs:
        run.read_to(run.length)
    yield _block([run.give(run.length - run.start) for run in runs])


def _before(
    run: _Run, number: int, value: npt.NDArray[Any], owner: int, place: int, stop: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Give out what of a run comes before the cut: the item of run `owner` at `place`, which is `value`.

    The samples say that it comes before `stop`.
    """
    items = run.read_to(min(stop, run.length))
    if number == owner:
        return run.give(place - run.start)
    side = "right" if number < owner else "left"
    return run.give(int(np.searchsorted(items, value, side)[0]))


def _block(
    parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.int64]]],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    values = np.concatenate([values for values, _ in parts])
    numbers = np.concatenate([numbers for _, numbers in parts])
    if not len(numbers):
        values.sort(kind="stable")
        return values, numbers
    order = np.argsort(values, kind="stable")
    return values[order], numbers[order]
