"""Files that are open for reading, and kept open between requests.

In: places. Out: what `coquina.open` gives, of the newest commit.
Invariant: what a request has open stays as it is until the request ends, whoever writes to the file. A file
that nobody has asked for in `IDLE_SECONDS` is closed, so that its writer can tidy up.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from coquina._core import JournaledFile
from coquina.arrays.array import Array
from coquina.arrays.opening import open as open_file
from coquina.server.failures import not_found
from coquina.server.root import format_of
from coquina.tables.opening import open_table

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.server.root import Place

IDLE_SECONDS = 10.0
FILES_MAX = 64
#: Decoded bytes that are kept of an array, and of how many: clients ask for what is beside what they saw.
CACHE_BYTES = 32 << 20
CACHED_MAX = 16
#: A change within one tick of the clock of the file system leaves the times as they are.
_TICK_NS = 50_000_000
_MEMBERS_MAX = 10_000
_LOCKS = 64

State = tuple[tuple[int, int, int, int], ...]


def state_of(path: str) -> State:
    """Return what changes with every commit: inode, size and times of the file, its journal, its members."""
    found = [_stat(path)]
    if os.path.isdir(path):
        for folder, _, names in os.walk(path):
            found += [_stat(folder), *(_stat(os.path.join(folder, name)) for name in sorted(names))]
            if len(found) > _MEMBERS_MAX:
                break
    else:
        found.append(_stat(os.fspath(JournaledFile.journal_of(path))))
    return tuple(found)


def _stat(path: str) -> tuple[int, int, int, int]:
    try:
        one = os.stat(path)
    except OSError:
        return (0, 0, 0, 0)
    return (one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns)


def _is_settled(state: State, seen_ns: int) -> bool:
    """Whether a later change would change the state: its times are older than a tick."""
    return all(seen_ns - max(one[2], one[3]) > _TICK_NS for one in state)


class Caches:
    """Arrays that keep decoded blocks for requests to come: those that were asked for last."""

    def __init__(self) -> None:
        """None keeps any."""
        self._lock = Lock()
        self._arrays: OrderedDict[int, Array] = OrderedDict()

    def use(self, array: Array) -> None:
        """Have an array keep blocks, and one that was asked for long ago none."""
        key = id(array.handle)
        with self._lock:
            if key not in self._arrays:
                array.cache_bytes = CACHE_BYTES
            self._arrays[key] = array
            self._arrays.move_to_end(key)
            if len(self._arrays) > CACHED_MAX:
                _, old = self._arrays.popitem(last=False)
                old.cache_bytes = 0


@dataclass(eq=False)
class OpenedFile:
    """A file that is open. top: what `coquina.open` gave. state: of the file as it was opened.

    known: what was computed of it, for as long as it is open; keys begin with what they are of.
    caches: of arrays; None for objects of others, which stay as they are.
    """

    place: Place
    kind: str
    top: Any
    state: State
    is_settled: bool
    users: int = 0
    is_stale: bool = False
    used: float = 0.0
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])
    lock: Lock = field(default_factory=Lock)
    caches: Caches | None = None

    @cached_property
    def tag(self) -> str:
        """What tells this state of the file from others, for ETags."""
        return sha256(repr(self.state).encode()).hexdigest()

    def close(self) -> None:
        """Let go of the file."""
        with suppress(Exception):
            self.top.close()


def _open(place: Place, caches: Caches) -> OpenedFile:
    state = state_of(place.path)
    seen_ns = time.time_ns()
    kind = format_of(place.path)
    if kind is None:
        raise not_found(f"{place.name!r}: no file that coquina opens")
    top = open_table(place.path) if kind == "table" else open_file(place.path)
    return OpenedFile(place, kind, top, state, _is_settled(state, seen_ns), caches=caches)


class OpenedFiles:
    """The files that are open."""

    def __init__(self) -> None:
        """None are open."""
        self._lock = Lock()
        self._caches = Caches()
        # Two requests do not open the same file at once.
        self._opening = [Lock() for _ in range(_LOCKS)]
        self._files: OrderedDict[str, OpenedFile] = OrderedDict()
        #: How often a file was opened; for tests.
        self.opened = 0

    @contextmanager
    def using(self, place: Place) -> Generator[OpenedFile]:
        """Return a file at its newest commit, which stays open in the block."""
        found = self._taken(place)
        try:
            yield found
        finally:
            self._release(found)

    def _taken(self, place: Place) -> OpenedFile:
        with self._opening[hash(place.path) % _LOCKS]:
            state = state_of(place.path)
            with self._lock:
                known = self._files.get(place.path)
                if known is not None and known.is_settled and known.state == state:
                    known.users += 1
                    known.used = time.monotonic()
                    self._files.move_to_end(place.path)
                    return known
            if known is not None:
                self._drop(known)
            made = _open(place, self._caches)
            made.users, made.used = 1, time.monotonic()
            with self._lock:
                self.opened += 1
                self._files[place.path] = made
            self.close_idle(forever=False)
            return made

    def _release(self, found: OpenedFile) -> None:
        with self._lock:
            found.users -= 1
            is_last = found.is_stale and not found.users
        if is_last:
            found.close()

    def _drop(self, found: OpenedFile) -> None:
        """Give a file out no more; it is closed once nobody uses it."""
        with self._lock:
            if self._files.get(found.place.path) is found:
                del self._files[found.place.path]
            if found.is_stale:
                return
            found.is_stale = True
            is_idle = not found.users
        if is_idle:
            found.close()

    def close_idle(self, *, forever: bool = False) -> None:
        """Close what nobody has asked for of late, and the oldest of too many; forever: all."""
        now = time.monotonic()
        with self._lock:
            many = len(self._files) - FILES_MAX
            old = [
                one
                for at, one in enumerate(self._files.values())
                if forever or (not one.users and (at < many or now - one.used > IDLE_SECONDS))
            ]
        for one in old:
            self._drop(one)

    def forget(self, path: str) -> None:
        """Give a file out no more: it was changed here."""
        with self._lock:
            found = self._files.get(path)
        if found is not None:
            self._drop(found)
