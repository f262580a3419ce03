"""Columns of text of any length: where each text ends, and the bytes of all, as Arrow has them.

In: offsets, one more than rows, and UTF-8. Out: a column of NumPy's strings of any length.
Invariant: text `i` is the bytes from offset `i` to offset `i + 1`; without a text it is None.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError
from coquina.tables.column import Column
from coquina.tables.number_columns import BitsColumn
from coquina.tables.stored import Stored
from coquina.tables.values import Utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, QueryColumn, Source

_PLAIN: Any = np.dtypes.StringDType()
_NULLABLE: Any = np.dtypes.StringDType(na_object=None)
_CONTRADICTION = "texts that end before they begin, or beyond the bytes that there are"
#: Texts up to this length, all of ASCII, are made without an object of Python's for each.
_SHORT_BYTES = 256
_WORK_BYTES = 1 << 24
#: So many texts are made one by one.
_FEW_TEXTS = 64
#: Rows that lie so close, on average, are read together with what lies between them.
_DENSE = 8
#: Bytes whose places are listed at a time, longer texts at once.
_LISTED_BYTES = 1 << 20


class StringColumn(Column):
    """Text of any length."""

    kind = "string"

    def __init__(self, name: str, offsets: Array, data: Array, mask: Stored | None = None) -> None:
        """The column of int64 offsets, of bytes of UTF-8, and of a mask, true where there is no text."""
        super().__init__(name, _PLAIN if mask is None else _NULLABLE, is_nullable=mask is not None)
        self._offsets = Stored(offsets, offsets.dtype)
        self._data = Stored(data, data.dtype)
        self._mask = None if mask is None else BitsColumn(name, mask)
        self._sources: list[Source] = []

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return max(0, len(self._offsets) - 1)

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The offsets, the bytes, and the mask if there is one."""
        return (self._offsets, self._data, *(() if self._mask is None else self._mask.stored))

    @property
    def parts(self) -> tuple[Stored, Stored]:
        """The offsets and the bytes."""
        return self._offsets, self._data

    def sources(self) -> list[Source]:
        """Return what is to be gathered: the pair of offsets and bytes, and the mask."""
        if not self._sources:
            masks = [] if self._mask is None else self._mask.sources()
            self._sources = [(self._offsets.lazy(), self._data.lazy()), *masks]
        return self._sources

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return text of gathered parts."""
        offsets, data = parts[0]
        mask = None if self._mask is None else self._mask.values(parts[1:])
        return texts_of(np.asarray(offsets), np.asarray(data), mask)

    def utf8_of(self, parts: Sequence[Part]) -> Utf8:
        """Return gathered parts as they are: offsets, bytes and mask."""
        offsets, data = parts[0]
        mask = None if self._mask is None else self._mask.values(parts[1:])
        return Utf8(np.asarray(offsets).view(np.int64), np.asarray(data), mask)

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the texts of rows."""
        count = len(self)
        if isinstance(key, slice):
            start, stop, step = key.indices(count)
            if step == 1:
                return self._rows(start, max(start, stop))
        rows = np.arange(count)[key] if isinstance(key, slice) else _row_numbers(key, count)
        if not rows.size:
            return np.empty(rows.shape, self.dtype)
        flat = rows.reshape(-1)
        low, high = int(flat.min()), int(flat.max()) + 1
        is_dense = high - low <= _DENSE * len(flat)
        values = self._picked(low, high, flat) if is_dense else self._gathered(flat)
        return values.reshape(rows.shape)

    def _picked(self, low: int, high: int, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the texts of rows between two, which are read with all that lies between them."""
        offsets, data, mask = self._between(low, high)
        rows = rows - low
        found = _put_in_order(offsets, data, rows)
        if found is None:
            return texts_of(offsets, data, mask)[rows]
        return texts_of(*found, None if mask is None else mask[rows])

    def _gathered(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the texts of scattered rows."""
        starts = self._offsets[rows]
        lengths = self._offsets[rows + 1] - starts
        if (starts < 0).any() or (lengths < 0).any() or (starts + lengths > len(self._data)).any():
            raise CorruptError(_CONTRADICTION)
        offsets = np.append(np.zeros(1, np.int64), np.cumsum(lengths))
        data = np.empty(int(offsets[-1]), np.uint8)
        for low, high in _runs(offsets):
            # Byte by byte: where each text starts, and how far into it each byte is.
            first = np.repeat(starts[low:high] - offsets[low:high], lengths[low:high])
            data[offsets[low] : offsets[high]] = self._data[first + np.arange(offsets[low], offsets[high])]
        return texts_of(offsets, data, None if self._mask is None else self._mask.read(rows))

    def _rows(self, start: int, stop: int) -> npt.NDArray[Any]:
        if stop <= start:
            return np.empty(0, self.dtype)
        return texts_of(*self._between(start, stop))

    def _between(self, start: int, stop: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Any]:
        """Return offsets, bytes and nulls of the rows between two, as they are stored."""
        offsets = self._offsets[start : stop + 1]
        data = self._data[int(offsets[0]) : int(offsets[-1])]
        return offsets, data, None if self._mask is None else self._mask.read(slice(start, stop))

    def encode(self, values: Any) -> list[Part]:
        """Return text as the pair of offsets and bytes, and as a mask if there is one."""
        try:
            text = Utf8.of(values).packed()
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self.described()}: {error}") from None
        pair = (np.ascontiguousarray(text.offsets, np.int64), np.ascontiguousarray(text.data))
        if self._mask is None:
            if text.mask is not None and text.mask.any():
                raise ValueError(f"{self.described()}: a value is null, and the column takes no nulls")
            return [pair]
        mask = np.zeros(len(text), np.bool_) if text.mask is None else text.mask
        return [pair, np.ascontiguousarray(mask).view(np.uint8)]

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        mask = None if self._mask is None else self._mask.stored[0].lazy()
        return self.name, "texts", "", [self._offsets.lazy(), self._data.lazy()], mask, None

    def node(self) -> Node:
        """Raise TypeError: text is compared and matched, not computed with."""
        raise TypeError(
            f"{self.described()}: text is compared (==, <, in) and matched (startswith, endswith, contains), "
            "not computed with"
        )

    def nulls(self) -> Node | None:
        """Return where there is no text."""
        return None if self._mask is None else self._mask.node()


def _row_numbers(key: Any, count: int) -> npt.NDArray[Any]:
    """Return the rows of a key that is no slice. Raises IndexError."""
    rows: npt.NDArray[Any] = np.asarray(key)
    if rows.dtype == np.bool_:
        if rows.shape != (count,):
            raise IndexError(f"a mask of shape {rows.shape} for {count} rows")
        return np.flatnonzero(rows)
    if not rows.size:
        return rows.astype(np.int64)
    if rows.dtype.kind not in "iu":
        raise IndexError(f"rows are named by integers, slices and masks, not by {rows.dtype}")
    rows = rows.astype(np.int64)
    if int(rows.min()) < -count or int(rows.max()) >= count:
        wrong = int(rows.min()) if int(rows.min()) < -count else int(rows.max())
        raise IndexError(f"index {wrong} is out of bounds for axis 0 with size {count}")
    return np.where(rows < 0, rows + count, rows)


def _runs(offsets: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts of some bytes each."""
    low, count = 0, len(offsets) - 1
    while low < count:
        end = int(offsets[low]) + _LISTED_BYTES
        high = int(offsets.searchsorted(end, "right")) - 1
        high = min(count, max(low + 1, high))
        yield low, high
        low = high


def _put_in_order(
    offsets: npt.NDArray[Any], data: npt.NDArray[Any], rows: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Return the texts of rows as offsets and bytes; None if texts are long, or offsets do not fit the bytes.

    The bytes are moved before strings are made of them: NumPy takes many times as long to move the strings.
    """
    offsets = offsets.view(np.int64) if offsets.dtype != np.int64 else offsets
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    is_right = offsets[0] >= 0 and int(lengths.min()) >= 0 and len(data) == offsets[-1] - offsets[0]
    if not is_right or not 0 < longest <= _SHORT_BYTES:
        return None
    starts, lengths = (offsets[:-1] - offsets[0])[rows], lengths[rows]
    ends = np.append(np.zeros(1, np.int64), np.cumsum(lengths))
    out = np.empty(int(ends[-1]), np.uint8)
    # From each byte on, as many as the longest text has are an item: a text, and what stands behind it.
    padded = np.append(np.ascontiguousarray(data).view(np.uint8), np.zeros(longest, np.uint8))
    items: Any = np.ndarray((len(data) + 1,), f"V{longest}", padded, strides=(1,))
    count = max(1, _WORK_BYTES // longest)
    for at in range(0, len(rows), count):
        part = slice(at, min(len(rows), at + count))
        found = items[starts[part]].view(np.uint8).reshape(-1, longest)
        out[ends[part.start] : ends[part.stop]] = found[np.arange(longest) < lengths[part, None]]
    return ends, out


def texts_of(
    offsets: npt.NDArray[Any], data: npt.NDArray[Any], mask: npt.NDArray[Any] | None
) -> npt.NDArray[Any]:
    """Return texts as NumPy's strings of any length; None where `mask`, if given, is true.

    Raises CorruptError for offsets that contradict the bytes, and for bytes that are no text.
    """
    offsets = offsets.view(np.int64) if offsets.dtype != np.int64 else offsets
    count = max(0, len(offsets) - 1)
    out: Any = np.empty(count, _PLAIN if mask is None else _NULLABLE)
    if mask is None and 0 < count <= _FEW_TEXTS:
        first, *_, last = places = offsets.tolist()
        if first < 0 or last - first != len(data) or places != sorted(places):
            raise CorruptError(_CONTRADICTION)
        out[:] = _decoded(data.tobytes(), [place - first for place in places])
        return out
    first, last = (int(offsets[0]), int(offsets[-1])) if count else (0, len(data))
    offsets, data = offsets - first, np.ascontiguousarray(data).view(np.uint8)
    lengths = offsets[1:] - offsets[:-1]
    if first < 0 or last - first != len(data) or (count and int(np.minimum.reduce(lengths)) < 0):
        raise CorruptError(_CONTRADICTION)
    longest = int(np.maximum.reduce(lengths)) if count else 0
    if 0 < longest <= _SHORT_BYTES and np.logical_and.reduce((data > 0) & (data < 128)):
        rows = max(1, _WORK_BYTES // longest)
        for start in range(0, count, rows):
            part = slice(start, min(count, start + rows))
            out[part] = _padded(offsets[part], lengths[part], data, longest)
    else:
        out[:] = _decoded(data.tobytes(), offsets.tolist())
    if mask is not None and mask.any():
        out[mask] = None
    return out


def _decoded(raw: bytes, places: list[int]) -> list[str]:
    """Return the texts between places. Raises CorruptError for bytes that are no text."""
    try:
        return [raw[a:b].decode() for a, b in pairwise(places)]
    except UnicodeDecodeError as error:
        raise CorruptError(f"text that is not UTF-8: {error}") from None


def _padded(
    starts: npt.NDArray[Any], lengths: npt.NDArray[Any], data: npt.NDArray[Any], width: int
) -> npt.NDArray[Any]:
    """Return texts of ASCII as strings of a fixed width."""
    items = np.zeros((len(starts), width), np.uint8)
    is_text = np.arange(width) < lengths[:, None]
    items[is_text] = data[int(starts[0]) : int(starts[-1] + lengths[-1])]
    return items.reshape(-1).view(f"S{width}")
