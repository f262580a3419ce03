"""The bytes of a file of a server, by ranges: what `RangeReader` asks, with the token of a connection.

In: requests, and the name of a file. Out: bytes of the state that the file had when it was opened.
Invariant: a file that was changed since is an error, not a mixture.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

from coquina.http_source import fetch_ranges
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from coquina.client.requests import Requests
    from coquina.remote import Source

_AT_ONCE = 8


class RawFile:
    """A file of a server, as a source of ranges."""

    def __init__(self, requests: Requests, name: str) -> None:
        """name: below the folder that is served."""
        self._requests = requests
        self._path = f"/raw/{quote(name)}"
        self.url = f"{requests.url}raw/{quote(name)}"
        self.version = ""
        #: Connections cannot be pickled, and tokens should not be.
        self.origin: tuple[Callable[..., Source | None], tuple[Any, ...]] | None = None

    @lazy_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, "coquina-raw-file")

    def size(self) -> int:
        """Return how many bytes it has."""
        headers = self._requests.ask("HEAD", self._path, None).headers
        self.version = headers["etag"]
        return int(headers["content-length"])

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, asked for at once. Raises OSError for a changed file."""
        return fetch_ranges(ranges, self._range, lambda: self._pool)

    def _range(self, one: tuple[int, int]) -> bytes:
        start, stop = one
        given = {"Range": f"bytes={start}-{stop - 1}", "If-Range": self.version}
        answer = self._requests.ask("GET", self._path, None, given)
        if answer.status != 206 or answer.headers.get("etag") != self.version:
            raise OSError("the file was changed since it was opened")
        return answer.content
