"""Columns of a columns table as arrays: how many rows they have, and how rows are added, changed and removed.

In: values. Out: items of the column's arrays: one of a row in each, but for text, which is places in an array
    of bytes. Killed writers leave arrays of unequal lengths: `rows` says how many are whole.
Invariant: what is changed in place has as many bytes as before; text that has not is written anew behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.tables.text_rows import Items, cut_rows, joined, last_of_each, replaced, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.tables.column import Column
    from coquina.tables.layout import ColumnSpec

    #: Makes a column's arrays anew of lists of items, for each array those behind the last.
    Anew = Callable[["StoredColumn", Iterator["Items"]], None]

#: Rows that are rewritten at a time.
_ROWS = 1 << 18
#: Text behind a change that is taken into memory at once; where there is more, the column is written anew.
_TEXT_BYTES_MAX = 32 << 20


class StoredColumn(ABC):
    """A column and its arrays. path: below the table; `spec` describes it.

    has_length: whether its encoding says how many rows it has; None until that was looked up.
    """

    has_length: bool | None = None

    def __init__(self, path: str, spec: ColumnSpec, column: Column, arrays: list[Array]) -> None:
        """Made when a table is opened, or a column is made."""
        self.path = path
        self.spec = spec
        self.column = column
        self.arrays = arrays

    @abstractmethod
    def rows(self) -> int:
        """Return how many rows all arrays have."""

    @abstractmethod
    def truncate(self, rows: int) -> None:
        """Keep the first `rows` rows, of those that all arrays have."""

    @abstractmethod
    def grow(self, rows: int) -> None:
        """Add rows up to so many: no value where one can be missing, else the default."""

    @abstractmethod
    def encoded(self, values: Any) -> Items:
        """Return values as items of the arrays; of text the first offset is 0, one more than rows."""

    def cut(self, items: Items, start: int, stop: int) -> Items:
        """Return the items of some rows, of those that `encoded` gave."""
        return [part[start:stop] for part in items]

    def added(self, items: Items) -> Items:
        """Return what to put behind each array for these rows to come."""
        return items

    def took(self, items: Items) -> None:
        """Note that these items were put behind the arrays."""
        del items

    @abstractmethod
    def write(self, start: int, items: Items, anew: Anew) -> None:
        """Overwrite rows from `start` on. anew: writes the column from an iterator, where that must be."""

    @abstractmethod
    def write_at(self, rows: npt.NDArray[np.intp], items: Items, anew: Anew) -> None:
        """Overwrite these rows; of several values for one the last stays."""

    @abstractmethod
    def keep(self, kept: Callable[[int, int], npt.NDArray[np.bool_]], rows: int) -> None:
        """Close the gaps of rows that go. kept: of the rows from one to another, which stay."""

    @abstractmethod
    def parts(self, rows: int) -> Iterator[Items]:
        """Yield what the arrays hold of these rows, piece by piece, as it goes behind one another."""


class FixedColumn(StoredColumn):
    """One item of each array for a row: numbers, codes, values and their mask."""

    def rows(self) -> int:
        """Return the length of the shortest."""
        return min(len(one) for one in self.column.stored)

    def truncate(self, rows: int) -> None:
        """Cut the arrays off."""
        for array in self.arrays:
            if array.shape[0] > rows:
                array.resize((rows,))

    def grow(self, rows: int) -> None:
        """Make the arrays longer: by their fill values, and by marks of what is missing."""
        before = self.rows()
        items: list[Any] = [None] * len(self.arrays)
        if self.column.kind == "categorical":
            items = [-1]
        elif self.column.kind == "nullable":
            items = [None, True]
        elif self.spec.default is None and self.spec.enum_default:
            # Fill values are 0.
            items = [self.spec.enum_default]
        for array, item in zip(self.arrays, items, strict=True):
            array.resize((rows,))
            if item is not None and rows > before:
                array[before:rows] = item

    def encoded(self, values: Any) -> Items:
        """Return the parts of the values."""
        parts = cast("Items", self.column.encode(values))
        return [part.astype(one.dtype, copy=False) for part, one in zip(parts, self.arrays, strict=True)]

    def write(self, start: int, items: Items, anew: Anew) -> None:
        """Overwrite neighbours."""
        for stored, part in zip(self.column.stored, items, strict=True):
            stored.write(start, part)

    def write_at(self, rows: npt.NDArray[np.intp], items: Items, anew: Anew) -> None:
        """Overwrite scattered rows."""
        for stored, part in zip(self.column.stored, items, strict=True):
            stored.write_at(rows, part)

    def keep(self, kept: Callable[[int, int], npt.NDArray[np.bool_]], rows: int) -> None:
        """Move what stays to the front, a piece at a time."""
        for array in self.arrays:
            to = 0
            for start, stop in _pieces(0, rows):
                stays = kept(start, stop)
                count = int(stays.sum())
                if to != start or count != stop - start:
                    array[to : to + count] = array[start:stop][stays]
                to += count

    def parts(self, rows: int) -> Iterator[Items]:
        """Yield the items."""
        for start, stop in _pieces(0, rows):
            yield [array[start:stop] for array in self.arrays]


class TextColumn(StoredColumn):
    """Text of any length: offsets, one more than rows, bytes of UTF-8, and where it may be missing a mask."""

    def __init__(self, path: str, spec: ColumnSpec, column: Column, arrays: list[Array]) -> None:
        """Made when a table is opened, or a column is made."""
        super().__init__(path, spec, column, arrays)
        self._offsets, self._data, *rest = arrays
        self._mask = rest[0] if rest else None
        self._ends: int | None = None

    def rows(self) -> int:
        """Return of how many rows offsets, bytes and mask are there."""
        rows = max(self._offsets.shape[0] - 1, 0)
        if self._mask is not None:
            rows = min(rows, self._mask.shape[0])
        size = self._data.shape[0]
        if not rows or int(self._offsets[rows]) <= size:
            return rows
        low, high = 0, rows  # The bytes of `low` rows are there, those of `high` are not.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if int(self._offsets[middle]) <= size else (low, middle)
        return low

    def truncate(self, rows: int) -> None:
        """Cut the arrays off; one that was never written gets its first offset."""
        if not self._offsets.shape[0]:
            self._offsets.append(np.zeros(1, np.int64))
        end = int(self._offsets[rows])
        for array, length in zip(self.arrays, (rows + 1, end, rows), strict=False):
            if array.shape[0] > length:
                array.resize((length,))
        self._ends = end

    def grow(self, rows: int) -> None:
        """Add empty texts, or none: offsets that stay where the last is, and the mask."""
        before, end = self.rows(), int(self._offsets[-1])
        self._offsets.resize((rows + 1,))
        if end and rows > before:
            self._offsets[before + 1 : rows + 1] = end
        if self._mask is not None:
            self._mask.resize((rows,))
            if rows > before:
                self._mask[before:rows] = True

    def encoded(self, values: Any) -> Items:
        """Return offsets, bytes, and the mask."""
        (offsets, data), *mask = cast("Any", self.column.encode(values))
        offsets = np.asarray(offsets, np.int64)
        data = np.asarray(data, np.uint8)[int(offsets[0]) : int(offsets[-1])]
        return [offsets - offsets[0], data, *(one.astype(np.bool_, copy=False) for one in mask)]

    def cut(self, items: Items, start: int, stop: int) -> Items:
        """Return offsets, bytes, and the mask, of some rows."""
        return cut_rows(items, start, stop)

    def added(self, items: Items) -> Items:
        """Return offsets behind those that are there, bytes, and the mask."""
        if self._ends is None:
            self._ends = int(self._offsets[-1])
        return _items_at(self._ends, items)

    def took(self, items: Items) -> None:
        """Move on behind these bytes."""
        self._ends = (self._ends or 0) + len(items[1])

    def write(self, start: int, items: Items, anew: Anew) -> None:
        """Overwrite neighbours: in place where each has as many bytes as before."""
        offsets, data, *mask = items
        stop = start + len(offsets) - 1
        if not 0 <= start <= stop <= self._offsets.shape[0] - 1:
            raise IndexError(f"rows {start}:{stop} of {self._offsets.shape[0] - 1}")
        before = self._offsets[start : stop + 1]
        if np.array_equal(before - before[0], offsets - offsets[0]):
            if len(data):
                self._data[int(before[0]) : int(before[-1])] = data
            if self._mask is not None and len(mask[0]):
                self._mask[start:stop] = mask[0]
            return

        def replace(low: int, high: int, old: Items) -> Items:
            first, last = max(low, start), min(high, stop)
            if first >= last:
                return old
            part = cut_rows(items, first - start, last - start)
            return joined([cut_rows(old, 0, first - low), part, cut_rows(old, last - low, high - low)])

        self._rewrite(start, replace, anew)

    def write_at(self, rows: npt.NDArray[np.intp], items: Items, anew: Anew) -> None:
        """Overwrite scattered rows: all behind the first of them is written again."""
        count = self._offsets.shape[0] - 1
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < count:
            raise IndexError(f"rows {rows.min()} to {rows.max()} of {count}")
        places, at = last_of_each(rows)
        if not len(places):
            return

        def replace(low: int, high: int, old: Items) -> Items:
            first, last = np.searchsorted(places, [low, high])
            if first == last:
                return old
            return replaced(old, places[first:last] - low, items, at[first:last])

        self._rewrite(int(places[0]), replace, anew)

    def keep(self, kept: Callable[[int, int], npt.NDArray[np.bool_]], rows: int) -> None:
        """Move what stays to the front: it never overtakes what is still to be read."""
        to, end = 0, int(self._offsets[0])
        for start, stop in self._text_pieces(0, rows):
            stays = kept(start, stop)
            items = taken(self._read(start, stop), np.flatnonzero(stays))
            count = int(stays.sum())
            if to != start or count != stop - start:
                self._put(to, end, items)
            to, end = to + count, end + len(items[1])
        self._ends = None

    def _read(self, start: int, stop: int) -> Items:
        offsets = self._offsets[start : stop + 1]
        data = self._data[int(offsets[0]) : int(offsets[-1])]
        if len(data) != offsets[-1] - offsets[0] or (np.diff(offsets) < 0).any():
            raise CorruptError(f"column {self.path!r}: the offsets of rows {start} to {stop} are no places")
        mask = [] if self._mask is None else [self._mask[start:stop]]
        return [offsets - offsets[0], data, *mask]

    def _put(self, row: int, end: int, items: Items) -> None:
        """Write text to rows from `row` on, whose bytes begin at `end`; all arrays are long enough."""
        offsets, data, *mask = _items_at(end, items)
        if len(data):
            self._data[end : end + len(data)] = data
        if self._mask is not None and len(offsets):
            self._mask[row : row + len(offsets)] = mask[0]
        if len(offsets):
            self._offsets[row + 1 : row + 1 + len(offsets)] = offsets

    def _text_pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut rows into runs of which neither the number nor, where a row alone is not, the text is large."""
        for low, high in _pieces(start, stop):
            ends: npt.NDArray[np.int64] = self._offsets[low : high + 1]
            while low < high:
                base = len(ends) - 1 - (high - low)
                limit = int(ends[base]) + _TEXT_BYTES_MAX
                fits = int(ends.searchsorted(limit, "right")) - 1 - base
                step = min(max(fits, 1), high - low)
                yield low, low + step
                low += step

    def _rewrite(self, first: int, replace: Callable[[int, int, Items], Items], anew: Anew) -> None:
        """Write the rows from `first` on again, as `replace` changes them."""
        rows = self._offsets.shape[0] - 1
        begin, end = int(self._offsets[first]), int(self._offsets[rows])
        if end - begin <= _TEXT_BYTES_MAX and rows - first <= _TEXT_BYTES_MAX // 8:
            items = replace(first, rows, self._read(first, rows))
            new_end = begin + len(items[1])
            if new_end > end:
                self._data.resize((new_end,))
            self._put(first, begin, items)
            if new_end < end:
                self._data.resize((new_end,))
            self._ends = None
            return
        anew(self, self._parts(rows, replace))

    def parts(self, rows: int) -> Iterator[Items]:
        """Yield offsets, bytes and mask."""
        return self._parts(rows, lambda start, stop, items: items)

    def _parts(self, rows: int, replace: Callable[[int, int, Items], Items]) -> Iterator[Items]:
        end = 0
        for start, stop in self._text_pieces(0, rows):
            items = replace(start, stop, self._read(start, stop))
            yield _items_at(end, items)
            end += len(items[1])


class LoadedColumn(StoredColumn):
    """Text that h5py reads: a column that can be read here, but neither changed nor added to."""

    def rows(self) -> int:
        """Return the length."""
        return len(self.column)

    def encoded(self, values: Any) -> Items:
        """Raise UnsupportedError."""
        raise self._refused()

    def truncate(self, rows: int) -> None:
        """Raise UnsupportedError where there is something to be cut off."""
        if self.rows() > rows:
            raise self._refused()

    def grow(self, rows: int) -> None:
        """Raise UnsupportedError."""
        raise self._refused()

    def write(self, start: int, items: Items, anew: Anew) -> None:
        """Raise UnsupportedError."""
        raise self._refused()

    def write_at(self, rows: npt.NDArray[np.intp], items: Items, anew: Anew) -> None:
        """Raise UnsupportedError."""
        raise self._refused()

    def keep(self, kept: Callable[[int, int], npt.NDArray[np.bool_]], rows: int) -> None:
        """Raise UnsupportedError."""
        raise self._refused()

    def parts(self, rows: int) -> Iterator[Items]:
        """Raise UnsupportedError."""
        raise self._refused()

    def _refused(self) -> UnsupportedError:
        return UnsupportedError(
            f"column {self.path!r} is text in HDF5's own variable-length strings: it is read, not written; "
            "copy the table to change it"
        )


def _pieces(start: int, stop: int) -> Iterator[tuple[int, int]]:
    for low in range(start, stop, _ROWS):
        yield low, min(low + _ROWS, stop)


def _items_at(end: int, items: Items) -> Items:
    """Return text as what goes behind bytes that end there."""
    offsets, data, *mask = items
    return [offsets[1:] + end, data, *mask]
