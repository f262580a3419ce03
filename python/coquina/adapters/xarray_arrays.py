"""Arrays of xarray's that are read where they are indexed: arrays of ours, and text that h5py reads.

In: a manager that has the file open, and where in it the items are. Out: what xarray indexes lazily.
Invariant: what an index does not touch is neither read nor decoded; values are those of the whole array
    indexed by NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from coquina.array import Array
from coquina.hdf5.variable_items import read_items

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Place:
    """Where an array is: a manager that has the file open, and a path in an HDF5 file; None for a frame."""

    manager: Any
    path: str | None

    def opened(self) -> Any:
        """Return our array, or h5py's dataset where we have none."""
        found = self.manager.acquire()
        return found if self.path is None else found.dataset(self.path)


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
        return self._place.opened()[key]

    def _outer(self, key: Any) -> Any:
        return self._place.opened().oindex[key]

    def _points(self, key: Any) -> Any:
        return self._place.opened().vindex[key]


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
        stored = self._place.opened()
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
