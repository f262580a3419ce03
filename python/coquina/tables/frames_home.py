"""A directory as the home of a columns table: a frame for each array, and a manifest that says what they are.

In: paths of arrays below the table. Out: arrays in files of their own, their attributes, lists of text.
Source: docs/formats/columns.md, "A directory of frames".
Invariant: each change is a commit, or part of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina._core import TableDirectory
from coquina.arrays.creation import asarray, new_array
from coquina.hdf5.untyped import h5py
from coquina.remote import new_path
from coquina.storage_options import Storage
from coquina.tables.column_storage import for_array
from coquina.tables.directory_names import is_directory
from coquina.tables.frames_arrays import Directory, shared
from coquina.tables.homes import Appender, Home

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

#: Rows that wait are written when they are more than this, flushed or not.
_WAITING_BYTES_MAX = 16 << 20


class FramesHome(TableDirectory, Home):
    """A directory of frames. Made by `make` and `open`."""

    is_transactional = True
    directory: Directory

    @classmethod
    def make(cls, path: Path, *, durable: bool = False) -> FramesHome:
        """Make an empty directory. durable: commits wait for the disk. Raises FileExistsError."""
        return cls._of(cls(new_path(path), "x", durable=durable))

    @classmethod
    def open(
        cls,
        path: Path,
        mode: Literal["r", "r+", "a"] = "r",
        *,
        durable: bool = False,
        wait: float | None = None,
        damaged: bool = False,
    ) -> FramesHome:
        """Open a directory; one that is open for writing in this process is opened for writing once more.

        wait: for so many seconds, if another process writes. damaged: for reading, by who takes what is left.
        Raises FileNotFoundError, BlockingIOError, and CorruptError if its manifest is not that of a table.
        """
        return cls._of(cls(new_path(path), mode, durable=durable, wait=wait or 0, damaged=damaged))

    @staticmethod
    def _of(made: FramesHome) -> FramesHome:
        made.directory = shared(made)
        return made

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context in which all changes are one commit."""
        return self.directory.transaction()

    def watched_by(self, table: Any) -> None:
        """Have a table told of transactions that are begun by one of its arrays."""
        self.directory.tables.add(table)

    @property
    def name(self) -> str | None:
        """The path of the directory."""
        return self.path

    @property
    def file(self) -> Any:
        """None: there is no file of HDF5."""
        return None

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        """The attributes of the table."""
        return _Attributes(self.directory.engine, "")

    def attrs_of(self, path: str) -> MutableMapping[str, Any]:
        """Return the attributes of what is at a path."""
        return _Attributes(self.directory.engine, path)

    def create(
        self, path: str, dtype: npt.DTypeLike, storage: Storage, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new array without items. Raises ValueError for another compressor than Blosc2."""
        if storage.compressor not in ("blosc2", "none"):
            raise ValueError(f"filter {storage.filter!r}: frames are compressed by 'blosc2'")
        wanted, storage = np.dtype(dtype), for_array(storage, path)
        if storage.filter == "none":
            storage = replace(storage, level=0, tuning=None)
        members = h5py.check_enum_dtype(wanted)
        names = None if members is None else _json({str(name): int(value) for name, value in members.items()})
        with self.transaction():
            number, file = self.new_array()
            storage = replace(storage, path=file, overwrite=True, checksums=True)
            made = new_array((0,), np.dtype(wanted.str), storage.for_engine())
            self.add_array(path, number, made.handle, names)
            return self.directory.array(path)

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array. Raises KeyError if there is none, CorruptError if its file holds another one."""
        return self.directory.array(path)

    def files(self) -> dict[str, str]:
        """Return the names of the files of all arrays, by the paths of the arrays."""
        numbers = {path: self.number(path) for path in self.paths()}
        return {path: f"{number:04d}.b2nd" for path, number in numbers.items() if number is not None}

    def limited(self, array: Array, length: int) -> Array:
        """Return a copy in memory, compressed."""
        return asarray(array.view(slice(0, length)))

    def texts(self, path: str) -> npt.NDArray[Any]:
        """Return all text."""
        return np.array([*self.text_list(path), None], object)[:-1]

    def put_texts(self, path: str, texts: Sequence[str], storage: Storage) -> None:
        """Keep a list of text."""
        self.put_text_list(path, list(texts))

    def takes_texts(self, path: str, texts: Sequence[str]) -> bool:
        """Return True: all is in the JSON."""
        return True

    def replace(self, old: str, new: str) -> None:
        """Give it the path of something else, in one commit: there is always one of both."""
        with self.transaction():
            self.remove(new)
            self.move(old, new)

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what appends to one array after the other."""
        return _Appender(self, arrays)

    def can_grow(self, array: Array) -> bool:
        """Return True: all frames can grow."""
        return True

    def set_number(self, path: str, name: str, number: int) -> None:
        """Do nothing: who reads frames asks them how long they are."""

    def note_rows(self, rows: int) -> None:
        """Do nothing: a commit tells how long each array is."""


class _Attributes(MutableMapping[str, Any]):
    """Attributes, as JSON can have them."""

    __slots__ = ("_engine", "_path")

    def __init__(self, engine: TableDirectory, path: str) -> None:
        """Those of what is at a path."""
        self._engine = engine
        self._path = path

    def __getitem__(self, name: str) -> Any:
        """Return an attribute."""
        return self._engine.attribute(self._path, name)

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an attribute to text, a number, or a list of these."""
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        """Remove an attribute."""
        self._engine.remove_attribute(self._path, name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._engine.attribute_names(self._path))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._engine.attribute_names(self._path))

    def update(self, *args: Any, **more: Any) -> None:
        """Set attributes, in one step. Raises TypeError for a value that JSON does not have."""
        new = {name: _plain(value) for name, value in dict(*args, **more).items()}
        self._engine.set_attributes(self._path, _json(new))


class _Appender:
    """Rows that wait for the next flush, and then are committed to all arrays together."""

    def __init__(self, home: FramesHome, arrays: Sequence[Array]) -> None:
        self._home = home
        self._arrays = arrays
        self._waiting: list[list[npt.NDArray[Any]]] = [[] for _ in arrays]
        self._bytes = 0

    def append(self, parts: Sequence[npt.NDArray[Any]], /) -> None:
        """Add items to each array."""
        for waiting, part in zip(self._waiting, parts, strict=True):
            # A copy: until it is written, the caller may change his own.
            waiting.append(np.array(part))
            self._bytes += part.nbytes
        if self._bytes > _WAITING_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Write what waits; of all or of none."""
        taken, self._waiting = self._waiting, [[] for _ in self._arrays]
        self._bytes = 0
        if not any(taken):
            return
        with self._home.transaction():
            for array, waiting in zip(self._arrays, taken, strict=True):
                if waiting:
                    items = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
                    if items.dtype == array.dtype and items.ndim == 1:
                        # What `append` would check is so.
                        array.append_items(0, len(items), items)
                    else:
                        array.append(items)

    def close(self) -> None:
        """Write what waits."""
        self.flush()


def _plain(value: Any) -> Any:
    return cast("Any", value).tolist() if isinstance(value, np.generic | np.ndarray) else value


def _json(value: dict[str, Any]) -> bytes:
    """Return the text of an object. Raises TypeError for what JSON does not have."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


__all__ = ["FramesHome", "is_directory"]
