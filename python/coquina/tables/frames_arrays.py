"""Arrays of a table that is a directory: what is written to one is committed together with all others.

In: writes, as arrays take them. Out: commits of the table.
Invariant: the handle is in a transaction as long as the array is open for writing; the table commits it.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import ref

from coquina._core import CoquinaError, UnsupportedError, open_content
from coquina.arrays.array import Array

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    import numpy as np
    import numpy.typing as npt

    from coquina import _core
    from coquina.tables.directory import Directory


class TableArray(Array):
    """An array that is part of a table in a directory."""

    __slots__ = ("_directory",)
    _directory: ref[Directory]

    @classmethod
    def of(cls, handle: _core.ArrayHandle, dtype: np.dtype[Any], directory: Directory) -> TableArray:
        """Return the array of a handle, which the directory commits."""
        made = cls(handle, dtype)
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
        if self.directory.is_changing:
            return super().write_selection(*arguments, **options)
        with self.directory.transaction():
            return super().write_selection(*arguments, **options)

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make the array longer, as a change of the table."""
        if self.directory.is_changing:
            super().append_items(axis, len, values, threads)
        else:
            with self.directory.transaction():
                super().append_items(axis, len, values, threads)

    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None:
        """Give the array another shape, as a change of the table."""
        if self.directory.is_changing:
            super().resize_axes(shape, threads)
        else:
            with self.directory.transaction():
                super().resize_axes(shape, threads)

    @contextmanager
    def transaction(self) -> Generator[Array]:
        """Make all changes of the table within one commit. An exception undoes them all."""
        with self.directory.transaction():
            yield self

    def refresh(self) -> bool:
        """Return False: `Table.refresh` goes to the newest commit of all columns."""
        return False

    def compact(self) -> NoReturn:
        """Raise UnsupportedError: `Table.compact` does it for all arrays."""
        raise UnsupportedError("an array of a table gives its space back by `Table.compact`")

    def undo(self) -> None:
        """Go back to the last commit, after the table did not come to the next one."""
        self.handle.undo()
        self._wrote()


def left_of(file: str, state: tuple[int, int] | None, error: Exception) -> Any:
    """Open what is left of the committed state of an array. Raises UnsupportedError if it is nothing."""
    with suppress(CoquinaError, OSError):
        found = open_content(file, damaged=True)
        known = getattr(found, "commit_id", None)
        if known is not None and (state is None or known[0] == state[0]):
            return found
    raise UnsupportedError(str(error))
