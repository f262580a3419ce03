"""An object of this process that is served as if it were a file: an array, an expression, a table, an open file.

In: the object and a name for it. Out: a root and open files with that one entry.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coquina.server.failures import not_found
from coquina.server.opened_files import OpenedFile, OpenedFiles
from coquina.server.root import Place, Root

if TYPE_CHECKING:
    from collections.abc import Generator


class HeldRoot(Root):
    """A root with one entry, which is no file."""

    def __init__(self, name: str, top: Any) -> None:
        """name: of the entry. top: the object."""
        # Nothing of the file system is below it.
        self.path = ""
        self.name = self.single = name
        self._top = top

    def find(self, name: str) -> Place:
        """Return the place of the entry. Raises RequestError, 404, for any other name."""
        if name != self.single:
            raise not_found(f"{name!r}: there is no such file")
        return Place(name, "", name)

    def file(self, name: str) -> Place:
        """Return the place of the entry."""
        return self.find(name or self.name)

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return the one entry."""
        size = getattr(self._top, "nbytes", None)
        return [
            {
                "name": self.name,
                "path": self.name,
                "kind": "file",
                "size": size if isinstance(size, int) else None,
                "modified": None,
                "format": "memory",
            }
        ]


class HeldFiles(OpenedFiles):
    """The object as an open file. It may change at any time, so no answer about it is kept by clients."""

    def __init__(self, top: Any) -> None:
        """top: the object, which stays the caller's: it is never closed here."""
        super().__init__()
        self._top = top
        self._lengths: Any = None
        self._file: OpenedFile | None = None

    @contextmanager
    def using(self, place: Place) -> Generator[OpenedFile]:
        """Return the object as a file. What was computed of it is forgotten once its shape has changed."""
        lengths = getattr(self._top, "shape", None)
        if self._file is None or lengths != self._lengths:
            self._lengths = lengths
            self._file = OpenedFile(place, "memory", self._top, (), is_settled=False)
        yield self._file

    def close_idle(self, *, forever: bool = False) -> None:
        """Close nothing: the object is the caller's."""
