"""Where in an index of PyTables values lie: the first values of chunks in memory, then a bisection in a few.

In: the arrays of an index, and ranges of keys. Out: ranges of places in each slice: candidates.
Source: docs/formats/pytables-indexes.md.
Invariant: a value within a range is at one of the places. Values that are read and not in order, or not
    those that the first values of chunks promise, raise `UnusableError`.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.indexes.keys import keys_of
from coquina.tables.pytables_index_shape import UnusableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from coquina.tables.pytables_index_shape import Shape

    Keys = npt.NDArray[np.uint64]
    Places = npt.NDArray[np.int64]

#: The key of values that have none: PyTables sorts NaN behind all numbers.
LAST = np.uint64(np.iinfo(np.uint64).max)
_CACHED_KEYS, _READ_KEYS, _FEW_CHUNKS = 1 << 20, 1 << 20, 64


def sorted_keys(values: Any, kind: str) -> Keys:
    """Return keys in the order in which PyTables sorts values: NaN last, dates that are missing first."""
    dtype = values.dtype.newbyteorder("=")
    keys, missing = keys_of(np.ascontiguousarray(values.reshape(-1), dtype), kind)
    if kind.startswith("float"):
        keys = np.where(missing, LAST, keys)
    return until_nul(keys) if kind == "S" else keys


def until_nul(keys: Keys) -> Keys:
    """Return keys of strings without what follows a NUL: PyTables sorts them as C does."""
    raw = np.ascontiguousarray(keys, ">u8").view(np.uint8).reshape(-1, 8)
    kept = np.logical_and.accumulate(raw != 0, axis=1)
    return (raw * kept).astype(np.uint8).view(">u8").reshape(-1).astype(np.uint64)


class SortedValues:
    """The sorted values of an index: full slices, and the rest as one more."""

    def __init__(self, arrays: Mapping[str, Any], shape: Shape, kind: str) -> None:
        """kind: of the keys."""
        self._arrays, self._shape, self._kind = arrays, shape, kind
        self._cache: OrderedDict[tuple[int, int], Keys] = OrderedDict()
        self._cached = 0
        self._has_nan = kind.startswith("float")
        slices, cut = shape.slices, shape.cut
        has_rest = [1] if shape.rest else []
        #: Of each slice: its rows, its kept values, and the number of its first chunk.
        self.rows = np.array([cut.slice] * slices + [shape.rest for _ in has_rest], np.int64)
        self._kept = np.array(
            [cut.slice // cut.reduction] * slices + [shape.kept_rest for _ in has_rest], np.int64
        )
        self._begins = np.arange(slices + len(has_rest), dtype=np.int64) * cut.chunks

    def places(self, low: Keys, high: Keys) -> list[tuple[Places, Places]]:
        """Return for each slice where candidates are: first and end of ranges, ascending, not adjacent."""
        if not len(self._begins) or not len(low):
            # A condition that no value meets asks for no ranges.
            return []
        before = [self._chunks_before(key, "left") for key in low]
        until = [self._chunks_before(key, "right") for key in high]
        self._load((at, int(one[at]) - 1) for found in (before, until) for one in found for at in _open(one))
        starts = np.array([self._first(key, one) for key, one in zip(low, before, strict=True)])
        stops = np.array([self._end(key, one) for key, one in zip(high, until, strict=True)])
        return [_merged(starts[:, at], stops[:, at]) for at in range(len(self._begins))]

    def most(self, low: Keys, high: Keys) -> int:
        """Return how many places there are at most: exactly, if few chunks have to be read for that."""
        total, chunks = 0, 0
        for first, last in zip(low, high, strict=True):
            if len(self._begins):
                start, stop = self._chunks_before(first, "left"), self._chunks_before(last, "right")
                chunks += int((start > 0).sum() + (stop > 0).sum())
                start = np.maximum(np.abs(start) - 1, 0) - (start < 0) * (self._shape.cut.reduction > 1)
                stop = np.where(stop < 0, -stop - 1, stop)
                total += int(np.maximum(stop - start, 0).sum())
        if chunks <= _FEW_CHUNKS:
            return sum(int((stops - starts).sum()) for starts, stops in self.places(low, high))
        return min(total * self._shape.cut.chunk, self._shape.rows)

    def _chunks_before(self, key: np.uint64, side: str) -> Places:
        """Return for each slice how many chunks begin before a place; all of them as `-count - 1` if the
        place is the slice's end.

        The place is the first one whose key is not less ("left"), or greater ("right").
        """
        firsts, lasts = self._ends
        is_before = firsts < key if side == "left" else firsts <= key
        found = np.add.reduceat(is_before, self._begins, dtype=np.int64)
        is_end = lasts < key if side == "left" else lasts <= key
        if key == LAST and self._has_nan:
            # A slice that has NaN behind its numbers may be told to end with these.
            is_end[:] = False
        return np.where(is_end, -found - 1, found)

    def _first(self, key: np.uint64, before: Places) -> Places:
        """Return the first place of each slice that may have a value that is not less than a key."""
        reduction = self._shape.cut.reduction
        kept = np.where(before < 0, self._kept, 0)
        for at in _open(before):
            kept[at] = self._kept_before(at, int(before[at]) - 1, key, "left")
        # Between the last kept value that is less, and the next, anything may stand; so behind the last one:
        # what is told to be a slice's last value is at times only the last that was kept.
        return np.maximum((kept - 1) * reduction + 1, 0)

    def _end(self, key: np.uint64, before: Places) -> Places:
        """Return the place of each slice behind all values that are not greater than a key."""
        found = np.where(before < 0, self.rows, 0)
        for at in _open(before):
            kept = self._kept_before(at, int(before[at]) - 1, key, "right")
            found[at] = min(kept * self._shape.cut.reduction, self.rows[at])
        return found

    def _kept_before(self, number: int, chunk: int, key: np.uint64, side: Any) -> int:
        keys = self._chunk(number, chunk)
        return chunk * self._shape.cut.kept + int(np.searchsorted(keys, key, side))

    @cached_property
    def _ends(self) -> tuple[Keys, Keys]:
        """The keys of the first value of each chunk, slice by slice, and of the last of each slice."""
        shape, arrays = self._shape, self._arrays
        firsts, lasts = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        if shape.slices:
            ranges = sorted_keys(arrays["ranges"][:], self._kind).reshape(-1, 2)
            bounds = sorted_keys(arrays["bounds"][:], self._kind).reshape(shape.slices, -1)
            ends = np.where(bounds[:, -1:] == LAST, LAST, ranges[:, 1:]) if self._has_nan else ranges[:, 1:]
            every = np.concatenate([ranges[:, :1], bounds, ends], axis=1)
            _check_order(every)
            firsts.append(every[:, :-1].reshape(-1))
            lasts.append(every[:, -1])
        if shape.rest:
            start = shape.kept_rest
            values = arrays["sortedLR"][start : start + shape.rest_chunks + 1]
            every = sorted_keys(values, self._kind)
            _check_order(every)
            firsts.append(every[:-1])
            lasts.append(every[-1:])
        return np.concatenate(firsts), np.concatenate(lasts)

    def _load(self, wanted: Iterable[tuple[int, int]]) -> None:
        """Read chunks that will be needed: those that stand side by side at once."""
        missing = sorted({one for one in wanted if one not in self._cache})
        most = max(_READ_KEYS // self._shape.cut.kept, 1)
        for first in range(0, len(missing), most):
            # Only as many as the cache keeps; what does not fit is read when it is its turn.
            if first:
                return
            for number, start, stop in _runs(missing[:most]):
                self._read(number, start, stop)

    def _chunk(self, number: int, chunk: int) -> Keys:
        found = self._cache.get((number, chunk))
        if found is None:
            self._read(number, chunk, chunk + 1)
            found = self._cache[number, chunk]
        return found

    def _read(self, number: int, start: int, stop: int) -> None:
        """Read some chunks of a slice into the cache."""
        kept = self._shape.cut.kept
        end = min(stop * kept, int(self._kept[number]))
        if number < self._shape.slices:
            values = self._arrays["sorted"][number, start * kept : end]
        else:
            values = self._arrays["sortedLR"][start * kept : end]
        keys = sorted_keys(values, self._kind)
        firsts, lasts = self._ends
        begin = int(self._begins[number])
        is_nan = self._has_nan and keys[-1] == LAST
        is_beyond = keys[-1] > lasts[number] and not is_nan
        if (keys[::kept] != firsts[begin + start : begin + stop]).any() or is_beyond:
            raise UnusableError("its values are not those that it tells the chunks begin with")
        _check_order(keys)
        for chunk in range(start, stop):
            part = keys[(chunk - start) * kept : (chunk + 1 - start) * kept]
            self._cache[number, chunk] = part
            self._cached += len(part)
        while self._cached > _CACHED_KEYS + (stop - start) * kept:
            self._cached -= len(self._cache.popitem(last=False)[1])


def _open(before: Places) -> list[int]:
    """Return the slices whose place is in a chunk, and not at one of the ends."""
    return np.flatnonzero(before > 0).tolist()


def _check_order(keys: Keys) -> None:
    if (keys[..., 1:] < keys[..., :-1]).any():
        raise UnusableError("its values are not in order")


def _runs(wanted: list[tuple[int, int]]) -> Iterable[tuple[int, int, int]]:
    """Yield chunks that stand side by side: the slice, the first, and the end."""
    start = 0
    for at in range(1, len(wanted) + 1):
        if at == len(wanted) or wanted[at] != (wanted[at - 1][0], wanted[at - 1][1] + 1):
            yield wanted[start][0], wanted[start][1], wanted[at - 1][1] + 1
            start = at


def _merged(starts: Places, stops: Places) -> tuple[Places, Places]:
    """Return ranges without those that are empty, and as one those that overlap or touch.

    They come in the order of their ends.
    """
    is_some = stops > starts
    starts, stops = starts[is_some], stops[is_some]
    if len(starts) < 2:
        return starts, stops
    ends = np.maximum.accumulate(stops)
    is_new = np.concatenate([[True], starts[1:] > ends[:-1]])
    return starts[is_new], ends[np.concatenate([is_new[1:], [True]])]
