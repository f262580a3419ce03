"""`connect`: a server of `coquina serve`, as a folder of files.

In: a URL. Out: folders, and what is in their files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote

from coquina.arrays.opening import open as open_file
from coquina.client.disk_cache import DiskCache
from coquina.client.groups import opened
from coquina.client.raw_files import RawFile
from coquina.client.requests import Requests
from coquina.lazy_property import lazy_property
from coquina.remote import RangeReader


def connect(
    url: str,
    *,
    token: str | None = None,
    timeout: float = 60.0,
    cache: str | os.PathLike[str] | None = None,
    cache_bytes: int = 1 << 30,
) -> Any:
    """Connect to a server that runs `coquina serve`. Returns its folder, or the content of its only file.

    url: of the server, `http://host:port/`. token: of a user; None: public access. timeout: the number of
        seconds to wait for each answer.
    cache: a folder on disk for answers, of at most `cache_bytes`; before an answer is used again, the server
        is asked whether it is still valid.

    A folder is a mapping of names to folders and to the contents of files: groups, arrays, tables. They have
    the interface of local ones: `a[3:5]`, `a.shape`, `t.where("x > 5").to_arrow()`, `t["x"][5:9]`. Only
    requested values are transferred. `f.compute("a + b * 2", a="x", b="y")` computes on the server.
    `read_async`, `compute_async`, `to_arrow_async` and the like can be awaited; eight requests run at the
    same time.

    Raises OSError if no server answers, PermissionError without a right, ValueError for an invalid URL.
    """
    requests = Requests(url, token, timeout, None if cache is None else DiskCache(cache, cache_bytes))
    single = requests.get("version").json()["single"]
    return RemoteFolder(requests, "") if single is None else opened(requests, single, "/")


class RemoteFolder(Mapping[str, Any]):
    """A folder of a server: a mapping from names to folders, and to what is in files."""

    def __init__(self, requests: Requests, path: str) -> None:
        """Made by `connect`."""
        self.requests = requests
        self.path = path

    @lazy_property
    def _entries(self) -> dict[str, dict[str, Any]]:
        found = self.requests.get("files", path=self.path).json()["entries"]
        return {one["name"]: one for one in found}

    def refresh(self) -> None:
        """Ask the server anew from now on."""
        self.__dict__.pop("_entries", None)

    def __getitem__(self, name: str) -> Any:
        """Return a folder, or what is in a file. Raises KeyError."""
        first, _, rest = name.strip("/").partition("/")
        entry = self._entries.get(first)
        if entry is None:
            raise KeyError(f"{self.requests.url}: there is no {first!r} in {self.path or 'the folder'}")
        if entry["kind"] == "folder":
            below = RemoteFolder(self.requests, entry["path"])
            return below[rest] if rest else below
        return opened(self.requests, entry["path"], f"/{rest}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._entries)

    async def get_async(self, name: str) -> Any:
        """Return what has this name, as `folder[name]`, without holding up other tasks. Raises KeyError."""
        return await self.requests.in_thread(self.__getitem__, name)

    def open(self, name: str) -> Any:
        """Return a file as `coquina.open` does, of whose bytes only those are fetched that are asked for.

        Values are decoded here, not by the server. Raises KeyError, or OSError if the file changes meanwhile.
        """
        place = f"{self.path}/{name}".strip("/")
        return open_file(cast("Any", RangeReader(RawFile(self.requests, place))))

    def url_of(self, name: str) -> str:
        """Return the URL of the bytes of a file, which `coquina.open` reads block by block."""
        place = f"{self.path}/{name}".strip("/")
        return f"{self.requests.url}raw/{quote(place)}"

    def upload(self, name: str, content: bytes, *, overwrite: bool = False) -> None:
        """Put a file into the folder. Raises PermissionError, BlockingIOError where there is one."""
        place = f"{self.path}/{name}".strip("/")
        flag = 1 if overwrite else None
        self.requests.send("PUT", f"upload/{place}", content, overwrite=flag)
        self.refresh()

    def __repr__(self) -> str:
        """Say where it is."""
        return f"<RemoteFolder {self.path or '/'}, {self.requests.url}>"


__all__ = ["connect"]
