"""Where arrays of indexes are: what a place must have.

In: paths of arrays. Out: arrays, and attributes of the place.
Invariant: nothing here knows what an index is.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from coquina._core import CoquinaError, CorruptError

if TYPE_CHECKING:
    from collections.abc import Generator, MutableMapping, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.homes import Appender


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
