"""Arrays of xarray's that are read where they are indexed: arrays of ours, and text that h5py reads.

In: a manager that has the file open, and where in it the items are. Out: what xarray indexes lazily.
Invariant: what an index does not touch is neither read nor decoded; values are those of the whole array
    indexed by NumPy.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from coquina.arrays.array import Array
from coquina.hdf5.variable_items import read_items

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import numpy.typing as npt

    Values = npt.NDArray[Any]


class Opened:
    """An open file as xarray's managers keep it: they close it while others read; it closes after them."""

    def __init__(self, file: Any) -> None:
        """For an array, or a file of HDF5."""
        self._file = file
        self._lock = Lock()
        self._readers = 0
        self._is_closed = False

    def begin(self) -> Any:
        """Return the file, which stays open until `end`; None if it is closed."""
        with self._lock:
            if self._is_closed:
                return None
            self._readers += 1
            return self._file

    def end(self) -> None:
        """Have read."""
        with self._lock:
            self._readers -= 1
            is_last = self._is_closed and not self._readers
        if is_last:
            self._file.close()

    def close(self) -> None:
        """Close the file, or have the last one who reads close it."""
        with self._lock:
            is_last = not self._is_closed and not self._readers
            self._is_closed = True
        if is_last:
            self._file.close()

    def __reduce__(self) -> tuple[type[Opened], tuple[Any]]:
        """Pickle the file."""
        return Opened, (self._file,)


@contextmanager
def reading(manager: Any) -> Generator[Any]:
    """Give the open file of a manager, open to the end. Raises ValueError if it was closed for good."""
    last = None
    while (found := manager.acquire()) is not last:
        if (file := found.begin()) is not None:
            try:
                yield file
            finally:
                found.end()
            return
        last = found
    raise ValueError("the file of this dataset was closed")


@dataclass(frozen=True)
class Place:
    """Where an array is: a manager that has the file open, and a path in an HDF5 file; None for a frame."""

    manager: Any
    path: str | None

    @contextmanager
    def opened(self) -> Generator[Any]:
        """Give our array, or h5py's dataset where we have none."""
        with reading(self.manager) as file:
            yield file if self.path is None else file.dataset(self.path)


class LazyItems(BackendArray):
    """An array that xarray indexes: any key is read as it is, by our own indexing."""

    __slots__ = ("_place", "dtype", "shape")

    def __init__(self, place: Place, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """The array at a place."""
        self._place = place
        self.shape = shape
        self.dtype = dtype

    def __getitem__(self, key: Any) -> Any:
        """Return the items of one of xarray's keys."""
        support, read = indexing.IndexingSupport.OUTER, self._outer
        if isinstance(key, indexing.VectorizedIndexer):
            # Points are read as points, unless there are whole axes among them.
            if all(isinstance(one, np.ndarray) for one in key.tuple):
                support, read = indexing.IndexingSupport.VECTORIZED, self._points
        elif not isinstance(key, indexing.OuterIndexer):
            read = self._basic
        return self._adapted(key, support, read)

    def _adapted(self, key: Any, support: Any, read: Callable[[Any], Any]) -> Any:
        """Return the items of a key, of which `read` reads what `support` says, and xarray does the rest."""
        # xarray does not get along with slices that step back and hold nothing.
        parts: list[Any] = [
            slice(0, 0) if isinstance(one, slice) and not range(length)[one] else one
            for one, length in zip(key.tuple, self.shape, strict=True)
        ]
        return indexing.explicit_indexing_adapter(type(key)(tuple(parts)), self.shape, support, read)

    def _basic(self, key: Any) -> Any:
        with self._place.opened() as stored:
            return stored[key]

    def _outer(self, key: Any) -> Any:
        with self._place.opened() as stored:
            return stored.oindex[key]

    def _points(self, key: Any) -> Any:
        with self._place.opened() as stored:
            return stored.vindex[key]


class BoxItems(LazyItems):
    """An array that is read in boxes: text, and what is stored of it may be shorter than it is."""

    __slots__ = ("_fill",)

    def __init__(self, place: Place, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Any) -> None:
        """fill: the value of items that are not stored."""
        super().__init__(place, shape, dtype)
        self._fill = fill

    def __getitem__(self, key: Any) -> Any:
        """Return the items of one of xarray's keys."""
        return self._adapted(key, indexing.IndexingSupport.BASIC, self._basic)

    def _basic(self, key: Any) -> Any:
        with self._place.opened() as stored:
            return self._read(stored, key)

    def _read(self, stored: Any, key: Any) -> Any:
        spans = [
            range(length)[one] if isinstance(one, slice) else range(one, one + 1)
            for one, length in zip(key, self.shape, strict=True)
        ]
        out: Values = np.full([len(span) for span in spans], self._fill, self.dtype)
        # What of each span is stored; steps are positive in boxes.
        inside = [
            span[: len(range(span.start, min(span.stop, length), span.step))]
            for span, length in zip(spans, stored.shape, strict=True)
        ]
        if out.size and all(len(span) for span in inside):
            out[tuple([slice(0, len(span)) for span in inside])] = self._box(stored, inside)
        return out[(*[slice(None) if isinstance(one, slice) else 0 for one in key], ...)]

    def _box(self, stored: Any, spans: list[range]) -> Values:
        if self.dtype.kind != "O":
            return stored[tuple([slice(span.start, span.stop, span.step) for span in spans])]
        region = tuple([slice(span.start, span[-1] + 1) for span in spans])
        whole = stored[region] if isinstance(stored, Array) else read_items(stored, region)
        items = np.asarray(whole)[(*[slice(None, None, span.step) for span in spans], ...)]
        texts = np.empty(items.shape, object)
        texts[...] = np.reshape([_text(one) for one in items.ravel().tolist()] or [""], items.shape)
        return texts


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
