"""The context in which all changes of a directory are one commit.

In: a directory. Out: one commit when the outermost context ends, none after an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from coquina.tables.directory import Directory


class Transaction:
    """A context in which all changes of a directory are one commit."""

    __slots__ = ("_directory",)

    def __init__(self, directory: Directory) -> None:
        """It may be entered any number of times."""
        self._directory = ref(directory)

    def __enter__(self) -> None:
        """Begin."""
        directory = self._directory()
        assert directory is not None
        directory.begin()

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Commit, or after an exception undo."""
        directory = self._directory()
        assert directory is not None
        directory.end(kind is None)
