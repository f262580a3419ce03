"""Where arrays of indexes are: what a place must have, and what the engine calls of it.

In: paths of arrays. Out: arrays, and the metadata of indexes among the attributes of the place.
Source: docs/formats/indexes.md, "Where".
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coquina._core import CoquinaError, CorruptError
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, MutableMapping, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.tables.homes import Appender


#: The attribute of an index is called this and its key.
PREFIX = "coquina_index:"
#: Items of lists, by the names that the engine has for them.
_LISTS: dict[str, np.dtype[Any]] = {
    "span": np.dtype([("fingerprint", "<u8"), ("run", "<i4"), ("rows", "<i4")]),
    "zone": np.dtype([("low", "<u8"), ("high", "<u8"), ("missing", "<u8")]),
}

#: What damage raises where an index is read, but for what h5py raises, which `reading` makes one of these.
#: Other errors are mistakes of ours, and are raised.
DAMAGE = (CoquinaError, OSError)
#: What places raise for what is damaged or not there: a TypeError is for a damaged datatype of HDF5.
_OF_PLACES = (RuntimeError, KeyError, ValueError, TypeError)


@contextmanager
def reading(what: str) -> Generator[None]:
    """Let what a place raises for damage be a CorruptError. Only calls of a place stand inside."""
    try:
        yield
    except DAMAGE:
        raise
    except _OF_PLACES as error:
        raise CorruptError(f"{what}: {error.args[0] if error.args else type(error).__name__}") from error


class Place(Protocol):
    """A `Hdf5Home`, a `FramesHome` or a `MemoryHome`."""

    @property
    def is_writable(self) -> bool:
        """Whether anything can be changed."""
        ...

    @property
    def is_broken(self) -> bool:
        """Whether an error has closed it."""
        ...

    @property
    def file(self) -> Any:
        """The file of HDF5 that it is in; None for others."""
        ...

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        """Attributes of the whole place."""
        ...

    def names(self, path: str) -> list[str]:
        """Return what there is right below a path; nothing if there is nothing."""
        ...

    def create(
        self, path: str, dtype: npt.DTypeLike, storage: Storage, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new array without items."""
        ...

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array at a path."""
        ...

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what puts rows behind these arrays."""
        ...

    def remove(self, path: str) -> None:
        """Remove what is at a path, and below."""

    def close(self) -> None:
        """Let go of the arrays."""


class IndexPlace:
    """A place as the engine's `IndexState` takes it."""

    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        """Of a place."""
        self.place = place

    @property
    def folder(self) -> str | None:
        """The folder that the place is in; None if it is in memory."""
        file = self.place.file
        path: Any = getattr(self.place, "path", None) if file is None else file.path
        return None if path is None else os.path.dirname(os.path.abspath(path))

    def names(self, path: str) -> list[str]:
        """Return what there is right below a path."""
        return self.place.names(path)

    def array(self, path: str) -> tuple[Array, str, bool]:
        """Return an array, its dtype as text, and whether that is one of unsigned numbers, little endian."""
        with reading(path):
            found = self.place.array(path, zoned=False)
            dtype = found.dtype
            return found, str(dtype), dtype.kind == "u" and dtype == dtype.newbyteorder("<")

    def write(self, arrays: Sequence[tuple[str, str, Any, int, int, bool]]) -> _Writer:
        """Make arrays, each of a path, the name of a dtype, a codec, a level, and the items of a chunk.

        The last part of each says whether items rise by little.
        """
        made: list[Array] = []
        for path, dtype, codec, level, chunk, rises in arrays:
            filters = ["shuffle", "bytedelta"] if rises else "shuffle"
            # In HDF5 chunks with two filters are whole chunks of Blosc2, which have checksums of their own.
            checked = not rises
            storage = Storage(codec, level, filters, chunks=(chunk,), blocks=(chunk,), fletcher32=checked)
            made.append(self.place.create(path, _LISTS.get(dtype, dtype), storage, zoned=False))
        return _Writer(made, self.place.appender(made))

    def remove(self, path: str) -> None:
        """Remove what is at a path, and below."""
        self.place.remove(path)

    def set_metadata(self, key: str, text: str) -> None:
        """Set the metadata of an index."""
        self.place.attrs[PREFIX + key] = text

    def flush(self) -> None:
        """Commit what was handed over to an HDF5 file.

        Rows that wait in a table are not: handing them over may extend this index while it is being written.
        """
        if self.place.file is not None:
            self.place.file.commit()

    def nbytes(self, key: str, runs: Iterable[int]) -> int:
        """Return what runs take, compressed."""
        with reading(key):
            return sum(
                int(self.place.array(f"{key}/runs/{run}/{name}", zoned=False).cbytes)
                for run in runs
                for name in ("offsets", "rows", "first", "shifts")
            )


class _Writer:
    """Appends items to some arrays at once. Frames have no fields: there items of lists are bytes."""

    def __init__(self, arrays: Sequence[Array], appender: Appender) -> None:
        self._dtypes = [array.dtype for array in arrays]
        self._appender = appender

    def append(self, parts: Sequence[npt.NDArray[Any]]) -> None:
        """Add items to each array."""
        self._appender.append([part.view(dtype) for part, dtype in zip(parts, self._dtypes, strict=True)])

    def close(self) -> None:
        """Write what waits."""
        self._appender.close()
