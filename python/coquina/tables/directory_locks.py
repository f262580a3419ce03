"""One writer for each directory: its lock, and who in this process has it.

In: paths of directories. Out: locks, and the one home that writes.
Invariant: a directory is written by one process at a time, and in it by one home.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from coquina._core import DirectoryLock

if TYPE_CHECKING:
    Key = tuple[int, int, int]

_STEP_SECONDS = 0.02
_guard = threading.Lock()


class Writer(Protocol):
    """What writes a directory."""

    @property
    def is_broken(self) -> bool:
        """Whether it can write no more."""
        ...


_writers: WeakValueDictionary[Key, Any] = WeakValueDictionary()


def key_of(place: str) -> Key:
    """Return what tells a directory from all others, for this process. Raises FileNotFoundError."""
    found = os.stat(place)
    # A process that was forked has nothing open for writing.
    return os.getpid(), found.st_dev, found.st_ino


def found_writer(place: str) -> Writer | None:
    """Return who writes a directory in this process."""
    try:
        key = key_of(place)
    except OSError:
        return None
    with _guard:
        found = _writers.get(key)
    return None if found is None or found.is_broken else found


def note_writer(place: str, writer: Writer) -> None:
    """Remember who writes a directory."""
    with _guard:
        _writers[key_of(place)] = writer


def taken(place: str, wait: float) -> DirectoryLock:
    """Return the lock of a directory, if need be after so many seconds. Raises BlockingIOError."""
    until = time.monotonic() + wait
    while True:
        try:
            return DirectoryLock(place)
        except BlockingIOError:
            left = until - time.monotonic()
            if left <= 0:
                what = "it is open for writing in another process; close it there, or pass wait=seconds"
                raise BlockingIOError(f"{place}: {what}") from None
            time.sleep(min(_STEP_SECONDS, left))
