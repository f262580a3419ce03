"""A file behind a web address, as a source of ranges, by the standard library.

In: a URL. Out: bytes of the state that the file had when it was asked for its size.
Source: RFC 9110, sections 8.8 (validators), 13 (conditions) and 14 (ranges).
Invariant: a file that was changed since is an error, not a mixture, wherever the server names its states.
"""

from __future__ import annotations

import http.client
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coquina.remote import Source

_AT_ONCE = 8
_REDIRECTS_MAX = 5
_SECONDS = 60.0
_MISSING = (404, 410)
#: What servers without HEAD answer.
_NO_HEAD = (400, 403, 405, 501)
_Answer = tuple[int, dict[str, str], bytes]


def is_plain(url: str) -> bool:
    """Whether a URL leads to a web server that is asked directly: without a password, and without a proxy."""
    parts = urlsplit(url)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "::" in url
        or parts.username is not None
    ):
        return False
    return parts.scheme not in getproxies() or bool(proxy_bypass(parts.hostname))


def fetch_ranges(
    ranges: Sequence[tuple[int, int]],
    fetch: Callable[[tuple[int, int]], bytes],
    pool: Callable[[], ThreadPoolExecutor],
) -> list[bytes]:
    """Return the bytes of each range, of an empty one without asking; the pool fetches several at once."""
    wanted = [one for one in ranges if one[0] < one[1]]
    found = map(fetch, wanted) if len(wanted) < 2 else pool().map(fetch, wanted)
    pieces = dict(zip(wanted, found, strict=True))
    return [pieces.get(one, b"") for one in ranges]


class HttpSource:
    """A file behind a URL. version: its ETag, or when it was modified; empty if the server names neither."""

    def __init__(self, url: str) -> None:
        """url: for which `is_plain` holds."""
        self.url = url
        self.version = ""
        self._address = url
        self._kept = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close_all, self._connections)

    @property
    def origin(self) -> tuple[Callable[..., Source | None], tuple[Any, ...]] | None:
        """What makes it anew in another process."""
        return HttpSource, (self.url,)

    def size(self) -> int:
        """Return how many bytes it has. Raises FileNotFoundError, OSError."""
        status, headers, _ = self._led("HEAD", {})
        if status in _NO_HEAD or (status == 200 and "content-length" not in headers):
            status, headers, _ = self._led("GET", {"Range": "bytes=0-0"})
        self._check(status, (200, 206))
        self.version = headers.get("etag") or headers.get("last-modified") or ""
        length = headers.get("content-range", "").rpartition("/")[2] or headers.get("content-length", "")
        if not length.isdecimal():
            raise OSError("the server does not report its length")
        return int(length)

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range; some are asked for at once. Raises OSError for a changed file."""
        return fetch_ranges(ranges, self._range, lambda: self._pool)

    def _range(self, one: tuple[int, int]) -> bytes:
        start, stop = one
        asked = {"Range": f"bytes={start}-{stop - 1}"}
        if self.version and not self.version.startswith("W/"):
            asked["If-Range"] = self.version
        status, headers, content = self._asked("GET", self._address, asked)
        self._check(status, (200, 206))
        now = headers.get("etag") or headers.get("last-modified") or ""
        if self.version and now != self.version:
            raise OSError("the file was changed since it was opened")
        if status == 200:
            raise OSError("the server does not support range requests")
        if not headers.get("content-range", "").startswith(f"bytes {start}-{stop - 1}/"):
            raise OSError(f"asked for bytes {start} to {stop}, it sent {headers.get('content-range')}")
        return content

    def _check(self, status: int, good: tuple[int, ...]) -> None:
        if status in _MISSING:
            raise FileNotFoundError(f"status {status}")
        if status in (401, 403):
            raise PermissionError(f"status {status}")
        if status not in good:
            raise OSError(f"status {status}")

    def _led(self, method: str, headers: dict[str, str]) -> _Answer:
        """Return the answer at the place where redirections end, which is asked from then on."""
        for _ in range(_REDIRECTS_MAX):
            status, found, content = self._asked(method, self._address, headers)
            if status not in (301, 302, 303, 307, 308) or "location" not in found:
                return status, found, content
            self._address = urljoin(self._address, found["location"])
            if not is_plain(self._address):
                raise OSError(f"it leads to {self._address}")
        raise OSError("it leads from one place to the next")

    def _asked(self, method: str, url: str, headers: dict[str, str]) -> _Answer:
        """Return the answer to a request, asked anew where the server has closed an idle connection."""
        for is_last in (False, True):
            try:
                return self._once(method, url, headers)
            except (http.client.HTTPException, ConnectionError):
                self._drop()
                if is_last:
                    raise
            except OSError:
                self._drop()
                raise
        raise AssertionError("a request is made, or raises")

    def _once(self, method: str, url: str, headers: dict[str, str]) -> _Answer:
        parts = urlsplit(url)
        where = (parts.scheme, parts.netloc)
        kept: tuple[Any, http.client.HTTPConnection] | None = getattr(self._kept, "connection", None)
        if kept is None or kept[0] != where:
            self._drop()
            make = http.client.HTTPConnection if parts.scheme == "http" else http.client.HTTPSConnection
            kept = (where, make(parts.hostname or "", parts.port, timeout=_SECONDS))
            self._kept.connection = kept
            self._connections.append(kept[1])
        target = parts.path or "/"
        kept[1].request(method, f"{target}?{parts.query}" if parts.query else target, headers=headers)
        answer = kept[1].getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status == 200 and "Range" in headers:
            # All of the file is on its way, however large it is.
            self._drop()
            return answer.status, found, b""
        return answer.status, found, answer.read()

    def _drop(self) -> None:
        kept = getattr(self._kept, "connection", None)
        if kept is not None:
            kept[1].close()
            self._connections.remove(kept[1])
            self._kept.connection = None

    @lazy_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, "coquina-http")


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    for one in connections:
        one.close()
