"""`DiskCache`: answers of servers on disk, used again where the server says that they still hold.

In: keys and answers with their ETags. Out: answers. A file for each: a line of JSON, and the body.
Invariant: a file that is cut or damaged is no answer. Names of files tell neither URLs nor tokens.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any

#: What is kept when there was too much.
_KEPT = 0.8
#: The largest answer that is kept, of all bytes.
_LARGEST = 0.25


class DiskCache:
    """A folder of answers. Threads and processes may share it.

    hits: answers that were used again. Which are dropped: those that were not used for the longest time.
    """

    def __init__(self, folder: str | os.PathLike[str], limit_bytes: int) -> None:
        """folder: made where there is none. limit_bytes: of all files. Raises OSError."""
        self._folder = Path(folder).expanduser()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._limit = limit_bytes
        self._lock = Lock()
        self._total: int | None = None
        self.hits = 0

    def find(self, key: str) -> tuple[dict[str, str], bytes] | None:
        """Return the headers and the body of an answer; None if there is none."""
        path = self._path(key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        head, _, body = raw.partition(b"\n")
        try:
            said: dict[str, Any] = json.loads(head)
            is_whole = said["length"] == len(body) and said["crc"] == zlib.crc32(body)
            headers: dict[str, str] = said["headers"]
        except (ValueError, KeyError, TypeError):
            return None
        if not is_whole:
            return None
        with suppress(OSError):
            os.utime(path)
        return headers, body

    def keep(self, key: str, headers: dict[str, str], body: bytes) -> None:
        """Keep an answer, in place of an older one. What cannot be written is not kept."""
        if len(body) > self._limit * _LARGEST:
            return
        said = {"length": len(body), "crc": zlib.crc32(body), "headers": headers}
        raw = json.dumps(said).encode() + b"\n" + body
        draft = self._folder / f"{token_hex(8)}.new"
        try:
            draft.write_bytes(raw)
            draft.replace(self._path(key))
        except OSError:
            with suppress(OSError):
                draft.unlink()
            return
        with self._lock:
            total = self._size() if self._total is None else self._total + len(raw)
            self._total = self._shrunk(total) if total > self._limit else total

    def _path(self, key: str) -> Path:
        return self._folder / sha256(key.encode()).hexdigest()

    def _files(self) -> list[tuple[int, int, Path]]:
        """Return the time, size and path of each file."""
        found: list[tuple[int, int, Path]] = []
        for path in self._folder.iterdir():
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found

    def _size(self) -> int:
        return sum([size for _, size, _ in self._files()])

    def _shrunk(self, total: int) -> int:
        """Drop the answers that were not used for the longest time; return the bytes that are left."""
        for _, size, path in sorted(self._files(), key=lambda one: one[0]):
            if total <= self._limit * _KEPT:
                break
            with suppress(OSError):
                path.unlink()
                total -= size
        return total
