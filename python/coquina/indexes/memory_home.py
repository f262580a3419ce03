"""Arrays of indexes in memory, compressed: beside arrays that are in memory.

In: paths of arrays. Out: arrays, and attributes of the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import new_array

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.homes import Appender


class MemoryHome:
    """Arrays in memory, compressed."""

    is_writable = True
    is_broken = False
    file = None

    def __init__(self) -> None:
        """Nothing is there."""
        self.attrs: MutableMapping[str, Any] = {}
        self._arrays: dict[str, Array] = {}

    def names(self, path: str) -> list[str]:
        """Return what there is right below a path."""
        return list(dict.fromkeys(_below(self._arrays, path)))

    def create(
        self, path: str, dtype: npt.DTypeLike, storage: Storage, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new array without items."""
        del fillvalue, zoned
        made = self._arrays[path] = new_array((0,), np.dtype(dtype), storage.for_engine())
        return made

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array at a path. Raises KeyError."""
        del zoned
        return self._arrays[path]

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what appends at once."""
        return _Appender(arrays)

    def remove(self, path: str) -> None:
        """Remove what is at a path, and below."""
        for one in [one for one in self._arrays if one == path or one.startswith(f"{path}/")]:
            del self._arrays[one]

    def close(self) -> None:
        """Nothing."""


class _Appender:
    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays

    def append(self, parts: Sequence[npt.NDArray[Any]], /) -> None:
        """Add items to each array."""
        for array, part in zip(self._arrays, parts, strict=True):
            array.append(part)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing waits."""


def _below(paths: Any, path: str) -> Iterator[str]:
    start = f"{path}/" if path else ""
    for one in paths:
        if one.startswith(start) and len(one) > len(start):
            yield one[len(start) :].partition("/")[0]
