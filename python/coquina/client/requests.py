"""Requests to a server, by the standard library: one connection for each thread, kept open.

In: a route and parameters. Out: the body of the answer and its headers; errors of the server as exceptions.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from coquina._core import CoquinaError, LimitError
from coquina.expressions.grammar import ExpressionError
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coquina.client.disk_cache import DiskCache

#: How often parts of a file that changes meanwhile are read again.
_TRIES = 5
#: Asynchronous reads that are on their way at once.
_AT_ONCE = 8
_KINDS: dict[int, type[Exception]] = {
    401: PermissionError,
    403: PermissionError,
    404: KeyError,
    409: BlockingIOError,
    413: LimitError,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request. headers: with names in small letters."""

    status: int
    content: bytes
    headers: dict[str, str]

    def json(self) -> Any:
        """Return what JSON says."""
        return json.loads(self.content)


def of_one_state(answers: Callable[[], list[Answer]]) -> list[Answer]:
    """Return answers that are all of one state of a file, asked for again if it changed meanwhile.

    Raises OSError if it keeps changing.
    """
    for _ in range(_TRIES):
        found = answers()
        if len({one.headers.get("x-state") for one in found}) < 2:
            return found
    raise OSError("the file changes all the time: ask for less of it at once")


class Requests:
    """Asks one server. Threads may share it.

    count, bytes_read: how many requests were answered so far, and how many bytes came.
    """

    def __init__(self, url: str, token: str | None, timeout: float, cache: DiskCache | None = None) -> None:
        """url: of the server. token: of a user. timeout: seconds to wait for an answer. cache: of answers."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r}: takes the address of a server, http:// or https://")
        self.url = url if url.endswith("/") else f"{url}/"
        self._parts = parts
        self._path = parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._cache = cache
        self._kept = threading.local()
        self._lock = threading.Lock()
        self.count = self.bytes_read = 0
        self._connections: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close_all, self._connections)

    def get(self, route: str, **parameters: Any) -> Answer:
        """Ask for something; parameters that are None are left out."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self.ask("GET", f"/{route}/?{urlencode(given)}", None)

    def send(self, method: str, route: str, body: bytes, **parameters: Any) -> Answer:
        """Send a body."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self.ask(method, f"/{quote(route)}?{urlencode(given)}", body)

    def ask(
        self, method: str, path: str, body: bytes | None, given: Mapping[str, str] | None = None
    ) -> Answer:
        """Return the answer to a request; what can be asked twice is, where a connection was closed.

        given: headers.
        """
        headers = dict(given or {})
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        target = f"{self._path}{path}"
        key = self._key(method, target, headers)
        kept = None if key is None or self._cache is None else self._cache.find(key)
        if kept is not None and "If-Range" in headers:
            # A range of a state that the server named when the file was opened.
            return self._used(kept)
        if kept is not None:
            headers["If-None-Match"] = kept[0]["etag"]
        answer, content = self._answered(method, target, body, headers)
        if kept is not None and answer.status == 304:
            return self._used(kept)
        found = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status >= 400:
            raise _error(self.url, answer.status, content)
        if key is not None and self._cache is not None and "etag" in found and answer.status in (200, 206):
            self._cache.keep(key, found, content)
        return Answer(answer.status, content, found)

    def _key(self, method: str, target: str, headers: Mapping[str, str]) -> str | None:
        """Return what an answer is kept under; None for what is not kept."""
        if self._cache is None or method != "GET":
            return None
        if "Range" in headers and not headers.get("If-Range", "").startswith('"'):
            return None
        who = sha256((self._token or "").encode()).hexdigest()
        asked = "".join([f"{name}: {headers.get(name)}\n" for name in ("Range", "If-Range")])
        return f"{who}\n{self._parts.scheme}://{self._parts.netloc}{target}\n{asked}"

    def _used(self, kept: tuple[dict[str, str], bytes]) -> Answer:
        assert self._cache is not None
        self._cache.hits += 1
        headers, content = kept
        return Answer(206 if "content-range" in headers else 200, content, headers)

    def _answered(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        try:
            answer, content = self._asked(method, target, body, headers)
        except (http.client.HTTPException, ConnectionError) as error:
            if body is not None:
                raise OSError(f"{self.url}: {type(error).__name__}: {error}") from error
            answer, content = self._asked_again(method, target, headers)
        with self._lock:
            self.count += 1
            self.bytes_read += len(content)
        return answer, content

    @lazy_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, "coquina-client")

    async def in_thread(self, call: Callable[..., Any], *given: Any) -> Any:
        """Return what a call gives, made in a thread of this connection; a few are made at once."""
        return await asyncio.wrap_future(self._pool.submit(call, *given))

    def _asked(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = self._connection()
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            return answer, answer.read()
        except (http.client.HTTPException, ConnectionError):
            self._drop()
            raise
        except OSError as error:
            self._drop()
            raise OSError(f"{self.url}: {error}") from error

    def _asked_again(
        self, method: str, target: str, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Ask by a new connection: servers close those that were idle."""
        try:
            return self._asked(method, target, None, headers)
        except (http.client.HTTPException, ConnectionError) as error:
            raise OSError(f"{self.url}: {type(error).__name__}: {error}") from error

    def _connection(self) -> http.client.HTTPConnection:
        known = getattr(self._kept, "connection", None)
        if known is None:
            is_plain = self._parts.scheme == "http"
            make = http.client.HTTPConnection if is_plain else http.client.HTTPSConnection
            known = make(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
            self._kept.connection = known
            self._connections.append(known)
        return known

    def _drop(self) -> None:
        connection = getattr(self._kept, "connection", None)
        if connection is not None:
            connection.close()
            self._connections.remove(connection)
            self._kept.connection = None

    def close(self) -> None:
        """Close all connections; the next request makes a new one."""
        _close_all(self._connections)


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    for one in connections:
        one.close()


def _error(url: str, status: int, content: bytes) -> Exception:
    """Return the exception of an answer: that of the same mistake with a local file, if there is one."""
    try:
        said: dict[str, Any] = json.loads(content)
        message, kind = str(said["message"]), str(said.get("error"))
    except (ValueError, KeyError, TypeError):
        return OSError(f"{url}: status {status}")
    if kind == "expression":
        error = ExpressionError(message)
        error.column = int(said.get("caret") or 0)
        return error
    if kind in ("corrupt", "truncated", "unsupported"):
        return CoquinaError(f"{url}: {message}")
    if status in (400, 422):
        return ValueError(message)
    return _KINDS.get(status, OSError)(f"{url}: {message}")
