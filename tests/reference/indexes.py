"""The engine's part of indexes in plain NumPy: the judge of what `_core` has.

In, out: as in `_core_index.pyi`. All is in memory, one entry after the other where that is simplest.
Invariant: results are those of the engine, but for fingerprints, which are another hash.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from tests.reference.keys import keys_of
from tests.reference.scanning import reader_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina._core import KeyRanges, Lazy

    Source = Lazy | tuple[Lazy, Lazy]
    Keys = npt.NDArray[np.uint64]
    Rows = npt.NDArray[np.int64]


def _part(source: Any, start: int, stop: int) -> Any:
    """Return bytes of some rows, or offsets and bytes of text."""
    return reader_of(source).scan(None, range(start, stop)).values["0"]


def _values(source: Any, kind: str, start: int, stop: int) -> Any:
    """Return the values of rows, as `keys_of` takes them."""
    return values_of_part(_part(source, start, stop), kind, stop - start)


def values_of_part(part: Any, kind: str, count: int) -> Any:
    """Return gathered bytes, or offsets and bytes of text, as values that `keys_of` takes."""
    if isinstance(part, tuple):
        offsets, data = cast("tuple[Any, Any]", part)
        ends: list[int] = np.asarray(offsets).view(np.int64).tolist()
        raw = np.asarray(data).tobytes()
        return [raw[ends[at] : ends[at + 1]] for at in range(count)]
    items: Any = np.asarray(part)
    if kind in ("S", "U"):
        width = len(items) // max(count, 1) // (4 if kind == "U" else 1)
        return items.view(f"{kind}{width}") if width else np.zeros(count, f"{kind}1")
    return items.view(np.int64 if kind == "time" else kind)


def values_of(source: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
    """Return all values of what is indexed, and where there is none; texts as a list."""
    count, missing = source.count(), source.missing()
    values = _values(source.lazies(), source.kind, 0, count)
    mask = (
        np.zeros(count, np.bool_) if missing is None else np.asarray(_part(missing, 0, count)).view(np.bool_)
    )
    return (values.tolist() if source.kind in ("S", "U") else values), mask


class IndexSort:
    """The entries of an index, in order, block by block."""

    def __init__(
        self,
        source: Source,
        kind: str,
        missing: Lazy | None,
        ranges: Sequence[tuple[int, int]],
        *,
        memory_limit: int,
        folder: str,
        bucket_rows: int = 1,
        block_entries: int = 4096,
        progress: Callable[[int, int], None] | None = None,
        threads: int | None = None,
    ) -> None:
        """Sort the values of these rows by key, and then by row."""
        del memory_limit, folder, threads
        keys, rows, gone = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        total, done = sum(stop - start for start, stop in ranges), 0
        for start, stop in ranges:
            found, is_missing = keys_of(_values(source, kind, start, stop), kind)
            if missing is not None:
                is_missing |= np.asarray(_part(missing, start, stop)) != 0
            numbers = np.arange(start, stop)
            keys.append(found[~is_missing])
            rows.append(numbers[~is_missing])
            gone.append(numbers[is_missing])
            done += stop - start
            if progress is not None:
                progress(done, total)
        all_keys, all_rows = np.concatenate(keys), np.concatenate(rows)
        order = np.argsort(all_keys, kind="stable")
        self._keys, self._rows = all_keys[order], all_rows[order] // bucket_rows
        self._gone = np.concatenate(gone)
        self._block = block_entries
        self._at = 0
        self._is_wide = bool(len(all_rows)) and int(all_rows.max()) >= 1 << 32

    @property
    def entries(self) -> int:
        """How many rows have a key."""
        return len(self._keys)

    @property
    def missing(self) -> Rows:
        """The rows that have none, whatever the buckets."""
        return self._gone

    def next(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Keys, npt.NDArray[np.uint8]] | None:
        """Return offsets and rows of the next blocks, their first keys and shifts; None at the end."""
        if self._at >= len(self._keys):
            return None
        part = slice(self._at, self._at + 16 * self._block)
        self._at = part.stop
        keys, rows = self._keys[part], self._rows[part]
        first = keys[:: self._block].copy()
        ends = np.append(np.arange(self._block, len(keys), self._block), len(keys)) - 1
        widths = [max(0, int(one).bit_length() - 16) for one in (keys[ends] - first)]
        shifts = np.array(widths, np.uint8)
        blocks = np.arange(len(keys)) // self._block
        offsets = (keys - first[blocks]) >> shifts[blocks].astype(np.uint64)
        return (
            offsets.astype(np.uint16),
            rows.astype(np.uint64 if self._is_wide else np.uint32),
            first,
            shifts,
        )


class IndexRun:
    """A sorted run, searched."""

    def __init__(
        self,
        offsets: Lazy,
        rows: Lazy,
        first: Keys,
        shifts: npt.NDArray[np.uint8],
        entries: int,
        missing: int,
        block_entries: int = 4096,
    ) -> None:
        """All of it is read at once."""
        count = entries + missing
        blocks = -(-entries // block_entries)
        if offsets.shape != (entries,) or rows.shape != (count,) or len(first) != blocks != len(shifts):
            raise _core.CorruptError(f"a run of {entries} entries and {missing} without a key: arrays differ")
        given: Any = np.asarray(_part(rows, 0, count)) if count else np.empty(0, np.uint8)
        self._rows = given.view(f"u{max(1, given.nbytes // max(count, 1))}").astype(np.int64)
        raw: Any = np.asarray(_part(offsets, 0, entries)) if entries else np.empty(0, np.uint8)
        block = np.arange(entries) // block_entries
        shift = shifts.astype(np.uint64)[block]
        self._low = first[block] + (raw.view(np.uint16).astype(np.uint64) << shift)
        room = (np.uint64(1) << shift) - np.uint64(1)
        self._high = self._low + np.minimum(room, ~self._low)
        self._entries, self._missing = entries, missing

    def _places(self, keys: KeyRanges) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which entries are surely in a range, and which may be."""
        sure = np.zeros(self._entries, np.bool_)
        maybe = np.zeros(self._entries, np.bool_)
        for one, other in keys.pairs():
            sure |= (self._low >= one) & (self._high <= other)
            maybe |= (self._high >= one) & (self._low <= other)
        return sure, maybe & ~sure

    def estimate(self, keys: KeyRanges) -> int:
        """Return how many entries are in ranges at most."""
        return sum(self.count(keys))

    def count(self, keys: KeyRanges) -> tuple[int, int]:
        """Return how many entries are in ranges, and how many may be."""
        sure, maybe = self._places(keys)
        return int(np.count_nonzero(sure)), int(np.count_nonzero(maybe))

    def find(self, keys: KeyRanges, *, threads: int | None = None) -> tuple[Rows, Rows]:
        """Return the rows, or buckets, of entries in ranges, and of those that may be: in order, once."""
        del threads
        sure, maybe = self._places(keys)
        rows = self._rows[: self._entries]
        return np.unique(rows[sure]), np.unique(rows[maybe])

    def rows_at(self, start: int, stop: int, *, threads: int | None = None) -> Rows:
        """Return the rows of entries in the order of keys; those without a key are the last."""
        del threads
        if not 0 <= start <= stop <= self._entries + self._missing:
            raise IndexError(f"entries {start}:{stop} of {self._entries + self._missing}")
        return self._rows[start:stop]


def row_fingerprints(
    sources: Sequence[Source],
    starts: Rows,
    stops: Rows,
    *,
    threads: int | None = None,
) -> Keys:
    """Return a number for each range of rows, which changes with the bytes of any source there."""
    del threads
    found: list[int] = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        one, other = 1, 0
        for source in sources:
            part = _part(source, start, stop)
            parts = cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)
            for bytes_ in parts:
                content = np.ascontiguousarray(bytes_).tobytes()
                one, other = zlib.adler32(content, one), zlib.crc32(content, other)
        found.append(one << 32 | other)
    return np.array(found, np.uint64)
