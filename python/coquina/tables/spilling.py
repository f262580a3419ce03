"""Rows that wait on disk while more of them are sorted than memory holds.

In: values of columns. Out: values of any range of their rows.
A file without a name beside what is made: it goes with the program, however that ends. Bytes are stored as
they are in memory, text as offsets and UTF-8.
Invariant: what is read is what was written, of the same dtype, masks too.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.tables.string_columns import texts_of
from coquina.tables.values import Utf8

if TYPE_CHECKING:
    import numpy.typing as npt


class _Items(NamedTuple):
    """Items of one dtype, and where the first of them is in the file."""

    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Kept(NamedTuple):
    """Values in the file: items, or offsets of text; a mask where something can be missing; bytes of text."""

    items: _Items
    mask: _Items | None = None
    text: _Items | None = None


#: Some rows in the file, by column.
Spilled = dict[str, Kept]


class Spill:
    """A file of rows that are needed once more. Close it, and they are gone."""

    def __init__(self, folder: str | None = None) -> None:
        """A file in a folder; in that of temporary files if None."""
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)
        self._size = 0

    def close(self) -> None:
        """Let go of the rows."""
        self._file.close()

    def put(self, values: Any) -> Kept:
        """Write the values of a column; return where they are."""
        if isinstance(values, np.ma.MaskedArray):
            masked = cast("Any", values)
            return Kept(self._put(masked.data), self._put(np.ma.getmaskarray(masked)))
        if values.dtype.kind != "T":
            return Kept(self._put(values))
        text = Utf8.of(values).packed()
        mask = text.mask
        if mask is None and hasattr(values.dtype, "na_object"):
            mask = np.zeros(len(text), np.bool_)
        return Kept(self._put(text.offsets), None if mask is None else self._put(mask), self._put(text.data))

    def _put(self, items: npt.NDArray[Any]) -> _Items:
        start = self._size
        content = np.ascontiguousarray(items)
        self._file.seek(start)
        if content.nbytes:
            self._file.write(content.reshape(-1).view(np.uint8).data)
        self._size += content.nbytes
        return _Items(start, items.dtype, items.shape[1:])

    def get(self, kept: Kept, start: int, stop: int) -> Any:
        """Return the values of rows `start` to `stop` of those that were written together."""
        if kept.text is None:
            items = self._get(kept.items, start, stop)
            return items if kept.mask is None else np.ma.MaskedArray(items, self._get(kept.mask, start, stop))
        offsets = self._get(kept.items, start, stop + 1)
        data = self._get(kept.text, int(offsets[0]), int(offsets[-1]))
        return texts_of(offsets, data, None if kept.mask is None else self._get(kept.mask, start, stop))

    def _get(self, items: _Items, start: int, stop: int) -> npt.NDArray[Any]:
        out: Any = np.empty((stop - start, *items.shape), items.dtype)
        if out.nbytes:
            self._file.seek(items.start + start * (out.nbytes // len(out)))
            found = self._file.readinto(out.reshape(-1).view(np.uint8).data)
            if found != out.nbytes:
                raise OSError(f"a temporary file has {found} of {out.nbytes} bytes that were written to it")
        return out
