"""Columns of a columns table as arrays: how many rows they have, and how rows are added, changed and removed.

In: values. Out: items of the column's arrays: one of a row in each, but for text, which is places in an array
    of bytes. Killed writers leave arrays of unequal lengths: `rows` says how many are whole.
Invariant: what is changed in place has as many bytes as before; text that has not moves all behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import ColumnArrays, UnsupportedError
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.tables.column import Column
    from coquina.tables.layout import ColumnSpec

#: Of text offsets, bytes, and a mask where there is one; of other columns the items of each array.
Items = list["npt.NDArray[Any]"]

#: Text that is taken into memory at once where some of it is changed.
_TEXT_BYTES_MAX = 32 << 20


class StoredColumn:
    """A column and its arrays, with an item of each for a row: numbers, codes, values and their mask.

    path: below the table; `spec` describes it.
    has_length: whether its encoding says how many rows it has; None until that was looked up.
    """

    has_length: bool | None = None

    def __init__(self, path: str, spec: ColumnSpec, column: Column, arrays: list[Array]) -> None:
        """Made when a table is opened, or a column is made."""
        self.path = path
        self.spec = spec
        self.column = column
        self.arrays = arrays

    @lazy_property
    def engine(self) -> ColumnArrays:
        """The arrays, for the engine to change them."""
        items: list[Any] = [None] * len(self.arrays)
        if self.column.kind == "categorical":
            items = [-1]
        elif self.column.kind == "nullable":
            items = [None, True]
        elif self.spec.default is None and self.spec.enum_default:
            # Fill values are 0.
            items = [self.spec.enum_default]
        pairs = zip(self.arrays, items, strict=True)
        new_items = [None if item is None else np.array(item, array.dtype).tobytes() for array, item in pairs]
        return ColumnArrays(self.arrays, new_items)

    def rows(self) -> int:
        """Return how many rows all arrays have."""
        return min(len(one) for one in self.column.stored)

    def truncate(self, rows: int) -> None:
        """Keep the first `rows` rows, of those that all arrays have."""
        self.engine.truncate(rows)

    def grow(self, rows: int) -> None:
        """Add rows up to so many: no value where one can be missing, else the default."""
        self.engine.grow(rows)

    def encoded(self, values: Any) -> Items:
        """Return values as items of the arrays; of text the first offset is 0, one more than rows."""
        parts = cast("Items", self.column.encode(values))
        return [part.astype(one.dtype, copy=False) for part, one in zip(parts, self.arrays, strict=True)]

    def cut(self, items: Items, start: int, stop: int) -> Items:
        """Return the items of some rows, of those that `encoded` gave."""
        return [part[start:stop] for part in items]

    def added(self, items: Items) -> Items:
        """Return what to put behind each array for these rows to come."""
        return items

    def took(self, items: Items) -> None:
        """Note that these items were put behind the arrays."""
        del items

    def write(self, start: int, count: int, items: Items) -> None:
        """Overwrite `count` rows from `start` on."""
        self.engine.write(start, count, list(map(np.ascontiguousarray, items)))

    def write_at(self, rows: npt.NDArray[np.int64], items: Items) -> None:
        """Overwrite these rows; of several values for one the last stays."""
        self.engine.write_at(rows, list(map(np.ascontiguousarray, items)))

    def remove(self, gone: npt.NDArray[np.int64], rows: int) -> None:
        """Close the gaps of rows that go, which ascend, of the `rows` rows that there are."""
        self.engine.remove(gone, rows)


class TextColumn(StoredColumn):
    """Text of any length: offsets, one more than rows, bytes of UTF-8, and where it may be missing a mask."""

    #: Where the bytes end that are there or wait; None until rows are appended.
    _ends: int | None = None

    @lazy_property
    def engine(self) -> ColumnArrays:
        """The arrays, for the engine to change them."""
        missing = [b"\1" for _ in self.arrays[2:]]
        return ColumnArrays(self.arrays, missing, _TEXT_BYTES_MAX)

    def rows(self) -> int:
        """Return of how many rows offsets, bytes and mask are there."""
        return self.engine.rows()

    def truncate(self, rows: int) -> None:
        """Cut the arrays off; one that was never written gets its first offset."""
        self._ends = None
        super().truncate(rows)

    def grow(self, rows: int) -> None:
        """Add empty texts, or none."""
        self._ends = None
        super().grow(rows)

    def encoded(self, values: Any) -> Items:
        """Return offsets, bytes, and the mask."""
        (offsets, data), *mask = cast("Any", self.column.encode(values))
        offsets = np.asarray(offsets, np.int64)
        data = np.asarray(data, np.uint8)[int(offsets[0]) : int(offsets[-1])]
        return [offsets - offsets[0], data, *(one.astype(np.bool_, copy=False) for one in mask)]

    def cut(self, items: Items, start: int, stop: int) -> Items:
        """Return offsets, bytes, and the mask, of some rows."""
        offsets, data, *mask = items
        if stop - start == len(offsets) - 1:
            return items
        part = offsets[start : stop + 1]
        return [part - part[0], data[int(part[0]) : int(part[-1])], *(one[start:stop] for one in mask)]

    def added(self, items: Items) -> Items:
        """Return offsets behind those that are there, bytes, and the mask."""
        if self._ends is None:
            self._ends = int(self.arrays[0][-1])
        offsets, *rest = items
        return [offsets[1:] + self._ends, *rest]

    def took(self, items: Items) -> None:
        """Move on behind these bytes."""
        self._ends = (self._ends or 0) + len(items[1])

    def write(self, start: int, count: int, items: Items) -> None:
        """Overwrite neighbours: in place where each has as many bytes as before."""
        self._ends = None
        super().write(start, count, items)

    def write_at(self, rows: npt.NDArray[np.int64], items: Items) -> None:
        """Overwrite scattered rows: all behind the first of them is written again."""
        self._ends = None
        super().write_at(rows, items)

    def remove(self, gone: npt.NDArray[np.int64], rows: int) -> None:
        """Move what stays to the front."""
        self._ends = None
        super().remove(gone, rows)


class LoadedColumn(StoredColumn):
    """Text that h5py reads: a column that can be read here, but neither changed nor added to."""

    @lazy_property
    def engine(self) -> ColumnArrays:
        """Raise UnsupportedError."""
        raise self._refused()

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

    def _refused(self) -> UnsupportedError:
        return UnsupportedError(
            f"column {self.path!r} is text in HDF5's own variable-length strings: it is read, not written; "
            "copy the table to change it"
        )
