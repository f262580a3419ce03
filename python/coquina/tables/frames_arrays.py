"""Arrays of a table that is a directory: what is written to one is committed together with all others.

In: a directory of the engine, and writes, as arrays take them. Out: commits of the table.
Invariant: the handle is in a transaction as long as the array is open for writing; the directory commits it.
    All who have a directory open for writing in this process have the same arrays.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakSet, WeakValueDictionary, ref

from coquina._core import TableDirectory, UnsupportedError
from coquina.arrays.array import Array
from coquina.attrs import Attrs
from coquina.dtypes import parse_dtype

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    import numpy.typing as npt

    from coquina._core import ArrayHandle, DirectoryTransaction
    from coquina.tables.table import Table


class Directory:
    """A directory of frames, and the arrays of it that are in use."""

    __slots__ = ("__weakref__", "_arrays", "engine", "tables")

    def __init__(self, engine: TableDirectory) -> None:
        """The directory of an engine; see `shared`."""
        self.engine = engine
        # By what tells those that are open from each other, which a number does not: it is used again.
        self._arrays: WeakValueDictionary[int, TableArray] = WeakValueDictionary()
        #: Whose arrays these are.
        self.tables: WeakSet[Table] = WeakSet()

    def array(self, path: str) -> TableArray:
        """Return the array. Raises KeyError if there is none, CorruptError if its file holds another one."""
        handle = self.engine.handle(path)
        found = self._arrays.get(handle.identity)
        if found is None:
            made = TableArray.of(handle, self)
            found = self._arrays.setdefault(handle.identity, made)
        return found

    def transaction(self) -> DirectoryTransaction:
        """Return a context that makes all changes in it one commit; an exception undoes them.

        Contexts within it are part of it.
        """
        return self.engine.committing(self._undone)

    def _undone(self) -> None:
        """Tell who looks after changes that the arrays are as at the last commit."""
        for array in list(self._arrays.values()):
            array.undone()


_guard = Lock()
_directories: WeakValueDictionary[int, Directory] = WeakValueDictionary()


def shared(engine: TableDirectory) -> Directory:
    """Return the directory of an engine, the same one for all who have it. It does not hold the engine."""
    with _guard:
        found = _directories.get(engine.id)
        if found is None:
            found = _directories[engine.id] = Directory(engine.shared())
        return found


class _Layers:
    """The metadata of an array, each change of which is a change of the table."""

    def __init__(self, array: TableArray) -> None:
        self._array = array

    def layer(self, name: str, /) -> bytes | None:
        return self._array.handle.layer(name)

    def layer_names(self) -> list[str]:
        return self._array.handle.layer_names()

    def metalayers(self) -> list[tuple[str, bytes]]:
        return self._array.handle.metalayers()

    def set_layer(self, name: str, content: bytes | None, /) -> None:
        with self._array.directory.transaction():
            self._array.handle.set_layer(name, content)


class TableArray(Array):
    """An array that is part of a table in a directory."""

    __slots__ = ("_directory",)
    _directory: ref[Directory]

    @classmethod
    def of(cls, handle: ArrayHandle, directory: Directory) -> TableArray:
        """Return the array of a handle, which the directory commits."""
        made = cls(handle, parse_dtype(handle.dtype_text, handle.typesize))
        # Who holds the table holds the directory: a circle would keep its lock until it is found.
        made._directory = ref(directory)
        return made

    @property
    def directory(self) -> Directory:
        """Who commits it. Raises ValueError if the table is gone."""
        directory = self._directory()
        if directory is None:
            raise ValueError("the table that the array is part of has been closed")
        return directory

    def write_selection(self, *arguments: Any, **options: Any) -> bool:
        """Write values to the items of a selection, as a change of the table."""
        if self.directory.engine.is_changing:
            return super().write_selection(*arguments, **options)
        with self.directory.transaction():
            return super().write_selection(*arguments, **options)

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make the array longer, as a change of the table."""
        if self.directory.engine.is_changing:
            super().append_items(axis, len, values, threads)
        else:
            with self.directory.transaction():
                super().append_items(axis, len, values, threads)

    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None:
        """Give the array another shape, as a change of the table."""
        if self.directory.engine.is_changing:
            super().resize_axes(shape, threads)
        else:
            with self.directory.transaction():
                super().resize_axes(shape, threads)

    @property
    def attrs(self) -> Attrs:
        """Metadata by name; each change is a commit of the table."""
        return Attrs(_Layers(self))

    @contextmanager
    def transaction(self) -> Generator[Array]:
        """Make all changes of the table within one commit. An exception undoes them all.

        Rows that were appended before, and wait in memory, are committed first.
        """
        directory = self.directory
        if directory.engine.is_changing:
            with directory.transaction():
                yield self
            return
        for table in list(directory.tables):
            if not table.is_closed:
                table.flush()
        try:
            with directory.transaction():
                yield self
        except BaseException:
            for table in list(directory.tables):
                if not table.is_closed:
                    table.layout.undone()
                    table.show(table.layout)
            raise

    def refresh(self) -> bool:
        """Return False: `Table.refresh` goes to the newest commit of all columns."""
        return False

    def compact(self) -> NoReturn:
        """Raise UnsupportedError: `Table.compact` does it for all arrays."""
        raise UnsupportedError("an array of a table gives its space back by `Table.compact`")

    def undone(self) -> None:
        """Count a change: the items are as at the last commit."""
        self._wrote()
