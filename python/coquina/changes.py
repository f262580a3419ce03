"""How often arrays were written to: what indexes ask, to see what did not come through their owner.

In: writes, each told once it is done, or has failed. Out: counts, shared by all arrays of one stored thing.
Invariant: who looks at a count, then at the items, and finds the count unchanged later, saw the items that
    are there.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Generator

_lock = threading.Lock()
_numbers = count(1)


class _Writing(threading.local):
    """The writer for whom this thread writes; 0 for none."""

    writer_id = 0


_writing = _Writing()


class Changes:
    """The changes of one stored array.

    total: how many there were. is_told: whether an index beside it that is not ours says that it is out of
    date.
    """

    __slots__ = ("__weakref__", "_by_writer", "is_told", "total")

    def __init__(self) -> None:
        """There were none."""
        self.total = 0
        self.is_told = False
        self._by_writer: dict[int, int] = {}

    def happened(self) -> None:
        """Count a change, as one of the writer that this thread writes for."""
        writer_id = _writing.writer_id
        with _lock:
            self.total += 1
            if writer_id:
                self._by_writer[writer_id] = self._by_writer.get(writer_id, 0) + 1

    def by_others(self, writer_id: int) -> int:
        """Return the number of changes by other writers."""
        with _lock:
            return self.total - self._by_writer.get(writer_id, 0)


def new_writer_id() -> int:
    """Return the number of a writer that notifies an index of its changes."""
    return next(_numbers)


@contextmanager
def written_by(writer_id: int) -> Generator[None]:
    """Count writes of this thread within the block as changes by this writer."""
    before = _writing.writer_id
    _writing.writer_id = writer_id
    try:
        yield
    finally:
        _writing.writer_id = before


_files: WeakValueDictionary[str, Changes] = WeakValueDictionary()


def changes_of_file(path: str) -> Changes:
    """Return the changes of an array that is a file, or a directory, at an absolute path."""
    with _lock:
        found = _files.get(path)
        if found is None:
            found = _files[path] = Changes()
        return found


def changes_at(path: str | None) -> Changes:
    """Return the changes of an array at a path; those of a new one in memory, if that is None."""
    return Changes() if path is None else changes_of_file(path)


def is_watched(path: str | None) -> bool:
    """Whether anybody asks for the changes of an array at this path."""
    return bool(_files) and path in _files
