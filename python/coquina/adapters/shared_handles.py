"""Arrays that travel to tasks of other processes: by the path of their file, which each process opens once.

In: an array, a view or an expression. Out: a `Shared` with the same items, which can be pickled and has a
token: the same for the same items in the same place, another one after a change.
Invariant: a process reads the file as it is when tasks arrive, never an older state that it had open.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.opening import open as open_file
from coquina.arrays.opening import restore
from coquina.arrays.writes import changes_of
from coquina.expressions.expression import Expr
from coquina.folder_members import ARRAY
from coquina.hdf5.files import File
from coquina.locks import NodeLock

if TYPE_CHECKING:
    from collections.abc import Callable

#: Files that a process keeps open for tasks to come.
FILES_MAX = 64

Place = tuple[str, int | str]


class Shared:
    """Something with `shape`, `dtype` and items for keys, for all tasks of a process and those of others.

    One that was pickled opens its files when it is first read, not where it only passes through.
    """

    __slots__ = ("__weakref__", "_items", "_pickle", "_token")

    def __init__(self, items: Any, content: bytes | None = None) -> None:
        """For an `Array`, a view or an expression; or for the content of a pickle, and None."""
        self._items = items
        self._pickle = content
        self._token: str | None = None

    @property
    def items(self) -> Any:
        """The array, view or expression."""
        if self._items is None:
            self._items = import_module("pickle").loads(self._pickle)
        return self._items

    @property
    def shape(self) -> tuple[int, ...]:
        """Items along each axis."""
        return self.items.shape

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the items."""
        return self.items.dtype

    def __getitem__(self, key: Any) -> Any:
        """Return the items of a key: an array of NumPy's, of which only these were decoded."""
        return np.asarray(self.items[key])

    def __dask_tokenize__(self) -> str:
        """Return the token of the items as they were when it was first asked for."""
        if self._token is None:
            self._token = token_of(self.items)
        return self._token

    def __repr__(self) -> str:
        """Say of what."""
        return f"<Shared {'' if self._items is None else repr(self._items)}>"

    def __reduce__(self) -> tuple[type[Shared], tuple[None, bytes]]:
        """Pickle with files by their paths, and all else by content."""
        return Shared, (None, _pickled(self._items, _as_place) if self._pickle is None else self._pickle)


def token_of(items: Any) -> str:
    """Return what tells the items of an array, view or expression from others, the same in every process.

    Of a file it says where it is and which state of it this is, of what is in memory what the items are.
    """
    return hashlib.blake2b(_pickled(items, _as_token), digest_size=16).hexdigest()


def opened(path: str, where: int | str) -> Array:
    """Return the array at a byte of a file, or the dataset of this name: open for reading, once a process."""
    is_name = isinstance(where, str)
    key = (os.getpid(), path, -1 if is_name else where)
    stamp = _stamp(path)
    with _lock:
        known = _files.pop(key, None)
        if known is None or known[0] != stamp:
            known = (stamp, _opened_hdf5(path) if is_name else open_file(path, offset=int(where)))
        _files[key] = known
        while len(_files) > FILES_MAX:
            _files.popitem(last=False)
    file = known[1]
    if is_name:
        return file.dataset(where)
    if not isinstance(file, Array):
        raise TypeError(f"{path}: the shared file was an array, and is not one now")
    # Two commits may have the same time and size.
    file.refresh()
    return file


def close_files() -> None:
    """Let go of the files that this process has opened for tasks; those in use close after that."""
    with _lock:
        _files.clear()


def _opened_hdf5(path: str) -> Any:
    """Return a file open for reading, without a lock that would keep others from writing to it later on."""
    # Where somebody writes now, this one fails.
    File(path).close()
    try:
        return File(path, locking=False)
    except OSError:
        # It is open in this process otherwise, and libhdf5 wants the same of both.
        return File(path)


_lock = NodeLock()
_files: OrderedDict[tuple[int, str, int | str], tuple[tuple[int, ...], Any]] = OrderedDict()


def _stamp(path: str) -> tuple[int, ...]:
    """Return what changes when the file, or the index in a directory, does."""
    found = os.stat(os.path.join(path, ARRAY) if os.path.isdir(path) else path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _place_of(array: Array) -> Place | None:
    """Return where an array is opened again; None for one in memory."""
    path = array.path
    if path is None:
        return None
    name = getattr(array, "name", None)
    return path, array.handle.offset if name is None else str(name)


def _as_place(array: Array) -> tuple[Callable[..., Array], tuple[Any, ...]]:
    if array.remote is not None:
        return array.__reduce__()
    place = _place_of(array)
    if place is None:
        return restore, (array.to_bytes(), "r")
    if isinstance(place[1], str) and array.handle.is_writable:
        raise TypeError(
            f"{place[0]}: the HDF5 file is open for writing, so other processes cannot read it; close it, "
            "and open it for reading before its datasets go to tasks"
        )
    return opened, place


def _as_token(array: Array) -> tuple[Callable[..., str], tuple[Any, ...]]:
    place, remote = _place_of(array), array.remote
    if remote is not None:
        facts = (
            remote.url,
            remote.size,
            remote.version,
            getattr(array, "name", None),
            array.handle.offset,
            array.shape,
        )
        return str, (repr((*facts, array.dtype.str, array.handle.state_sum)),)
    if place is None:
        return str, (hashlib.blake2b(array.to_bytes(), digest_size=16).hexdigest(),)
    state: tuple[int, ...] = ()
    if array.handle.state_sum is not None:
        state = (array.handle.state_sum,)
    if not state or array.handle.stats()["checksums"] != "fresh":
        # Without sums of chunks the state does not say what is in them.
        state += _stamp(place[0]) if os.path.exists(place[0]) else (os.getpid(), id(changes_of(array)))
        if array.handle.is_writable:
            state += (changes_of(array).total,)
    return str, (repr((*place, array.shape, array.dtype.str, state)),)


def _pickled(items: Any, reduced: Callable[[Array], tuple[Any, ...]]) -> bytes:
    """Return the pickle of something, with arrays as `reduced` says."""
    base: Any = import_module("cloudpickle").Pickler

    class Pickler(base):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Array):
                return reduced(obj)
            if isinstance(obj, Expr):
                # Functions of Python's too, which a pickle alone does not take.
                return Expr, (obj.node,)
            return base.reducer_override(self, obj)

    out = BytesIO()
    Pickler(out, protocol=5).dump(items)
    return out.getvalue()
