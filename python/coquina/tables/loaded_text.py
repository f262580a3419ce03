"""Text that libhdf5 keeps string by string: a column of it, which is read as a whole when it is first used.

In: HDF5's strings of variable length, read by h5py. Out: a column of text, whose offsets and bytes are arrays
    in memory, compressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.arrays.creation import asarray
from coquina.tables.columns import Column, Stored, StringColumn
from coquina.tables.values import TEXT, TEXT_OR_NONE, Utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.arrays.array import Array


class LoadedStringColumn(StringColumn):
    """Text that is read once it is asked for. Memory: all of it, compressed; uncompressed meanwhile."""

    def __init__(
        self, name: str, rows: int, load: Callable[[], npt.NDArray[Any]], mask: Array | None
    ) -> None:
        """A column of `rows` rows. load: gives all text, as str and None."""
        dtype = TEXT if mask is None else TEXT_OR_NONE
        Column.__init__(self, name, dtype, is_nullable=mask is not None)
        self._rows_known = rows if mask is None else min(rows, mask.shape[0])
        self._load = load
        self._stored_mask = mask

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._rows_known

    def __getattr__(self, name: str) -> Any:
        """Read all text, when the first of its parts is asked for."""
        if name not in ("_offsets", "_data", "_mask"):
            raise AttributeError(name)
        texts: Any = self._load()
        if self._stored_mask is None:
            # HDF5 has strings that are nowhere, which h5py shows as empty ones.
            texts[[one is None for one in texts]] = ""
            parts: list[Array] = []
        else:
            parts = [self._stored_mask]
        text = Utf8.of(texts)
        arrays = (asarray(text.offsets), asarray(text.data))
        masks = [Stored(mask, mask.dtype) for mask in parts]
        made = StringColumn(self.name, *arrays, *masks)
        for part in ("_offsets", "_data", "_mask"):
            setattr(self, part, vars(made)[part])
        return vars(self)[name]
