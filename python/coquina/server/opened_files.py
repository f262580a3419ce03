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
from hashlib import sha256
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

from coquina._core import JournaledFile
from coquina.arrays.array import Array
from coquina.arrays.opening import open as open_file
from coquina.lazy_property import lazy_property
from coquina.server.root import known_format
from coquina.tables.opening import open_table

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.server.root import Place

IDLE_SECONDS = 10.0
FILES_MAX = 64
#: Decoded bytes that are kept of one array, and of all: clients ask for what is beside what they saw.
CACHE_BYTES = 128 << 20
CACHES_BYTES = 512 << 20
#: Objects of a file that are kept open: each request for another one looks it up.
OBJECTS_MAX = 64
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
    """Arrays that keep decoded blocks for requests to come: those that were asked for last.

    Invariant: what they may keep together is at most `CACHES_BYTES`, that of the last one aside.
    """

    def __init__(self) -> None:
        """None keeps any."""
        self._lock = Lock()
        self._arrays: OrderedDict[int, tuple[Array, int]] = OrderedDict()
        self._nbytes = 0

    def use(self, array: Array) -> None:
        """Let an array keep blocks, and drop those of arrays that were asked for long ago."""
        key = id(array.handle)
        with self._lock:
            if key not in self._arrays:
                nbytes = min(CACHE_BYTES, _decoded_bytes(array))
                # A read of more than half of what may be kept leaves nothing behind.
                array.cache_bytes = min(CACHE_BYTES, 2 * nbytes)
                self._arrays[key] = array, nbytes
                self._nbytes += nbytes
            self._arrays.move_to_end(key)
            while self._nbytes > CACHES_BYTES and len(self._arrays) > 1:
                self._forget(next(iter(self._arrays)))

    def drop(self, array: Array) -> None:
        """Drop the blocks of an array, and the array."""
        with self._lock:
            if id(array.handle) in self._arrays:
                self._forget(id(array.handle))

    def _forget(self, key: int) -> None:
        old, nbytes = self._arrays.pop(key)
        self._nbytes -= nbytes
        old.cache_bytes = 0


def _decoded_bytes(array: Array) -> int:
    """Return the bytes of all blocks, which reach beyond the shape; something for an array without any."""
    lengths = zip(array.shape, array.chunks, strict=True)
    return max(1 << 16, prod(-(-length // chunk) * chunk for length, chunk in lengths) * array.itemsize)


@dataclass(eq=False)
class OpenedFile:
    """A file that is open. top: what `coquina.open` gave. state: of the file as it was opened.

    known: what was computed of it, for as long as it is open; keys begin with what they are of.
    caches: of arrays; None for objects of others, which stay as they are.
    objects: those that were asked for last, by path; in a file that is a state they do not change.
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
    objects: OrderedDict[str, Any] = field(default_factory=OrderedDict[str, Any])

    @lazy_property
    def tag(self) -> str:
        """What tells this state of the file from others, for ETags."""
        return sha256(repr(self.state).encode()).hexdigest()

    def kept(self, path: str) -> Any:
        """Return the object of a path if it was kept; None otherwise."""
        with self.lock:
            found = self.objects.get(path)
            if found is not None:
                self.objects.move_to_end(path)
        return found

    def keep(self, path: str, found: Any) -> Any:
        """Keep an object, and return the one of this path: another request may have been first."""
        if self.caches is None:
            return found
        with self.lock:
            found = self.objects.setdefault(path, found)
            old = self.objects.popitem(last=False)[1] if len(self.objects) > OBJECTS_MAX else None
        if old is not None:
            self._drop(old)
        return found

    def _drop(self, found: Any) -> None:
        if self.caches is not None and isinstance(found.node, Array):
            self.caches.drop(found.node)

    def close(self) -> None:
        """Let go of the file, and of what was taken out of it."""
        with self.lock:
            objects = list(self.objects.values())
            self.objects.clear()
        for one in objects:
            self._drop(one)
        with suppress(Exception):
            self.top.close()


def _open(place: Place, caches: Caches) -> OpenedFile:
    state = state_of(place.path)
    seen_ns = time.time_ns()
    kind = known_format(place)
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
