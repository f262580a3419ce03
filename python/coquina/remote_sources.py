"""What a `RangeReader` asks: a file system of fsspec, an object store of obstore, or a file object.

In: URLs, paths and objects, as users have them. Out: sources, each of one file. Neither library is imported
before it is needed, and a missing one is an error that says what to install.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from coquina.http_source import HttpSource, is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coquina.remote import Source

_INSTALL = "pip install 'coquina[remote]'"
#: What stores call that by which one content differs from another, in small letters and without marks.
_VERSIONS = frozenset(
    {
        *("etag", "version", "versionid", "generation", "contentmd5", "md5hash", "digest"),
        *("mtime", "lastmodified", "updated", "created"),
    }
)


def _version(facts: Mapping[str, Any]) -> str:
    """Return what the facts about a file say of its content."""
    known = {name: name.lower().replace("-", "").replace("_", "") for name in facts}
    return repr(sorted((name, str(facts[name])) for name in known if known[name] in _VERSIONS))


class FsspecSource:
    """A file of one of fsspec's file systems."""

    def __init__(self, fs: Any, path: str, url: str, origin: tuple[str, dict[str, Any]] | None) -> None:
        """fs, path: fsspec's. origin: the URL and the options that lead there, if there are."""
        self._fs = fs
        self._path = path
        self.url = url
        self.version = ""
        self._origin = origin

    @property
    def origin(self) -> tuple[Callable[..., Source | None], tuple[Any, ...]] | None:
        """What makes it anew: file systems can be pickled themselves."""
        if self._origin is None:
            return FsspecSource, (self._fs, self._path, self.url, None)
        return _of_url, self._origin

    def size(self) -> int:
        """Return how many bytes it has."""
        facts = self._fs.info(self._path)
        if facts.get("type") == "directory":
            raise IsADirectoryError("a directory: only frames in one file can be read remotely")
        if facts.get("size") is None:
            raise OSError("it does not report its length")
        self.version = _version(facts)
        return int(facts["size"])

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range; file systems that can ask for all of them at once."""
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        found = self._fs.cat_ranges([self._path] * len(ranges), starts, stops, on_error="raise")
        for piece in found:
            if isinstance(piece, Exception):
                raise piece
        return found


class ObstoreSource:
    """An object in a store of obstore."""

    def __init__(self, store: Any, path: str, url: str | None = None) -> None:
        """store: obstore's. path: of the object in it."""
        self._obstore = _imported("obstore", f"store {store!r}")
        self._store = store
        self._path = path
        self.url = url or f"{path} in {store!r}"
        self.version = ""
        # What we count is to be what is asked: neighbours have been put together already.
        known = signature(self._obstore.get_ranges).parameters
        self._options: dict[str, Any] = {"coalesce": 0} if "coalesce" in known else {}

    @property
    def origin(self) -> tuple[Callable[..., Source | None], tuple[Any, ...]] | None:
        """What makes it anew. Most stores can be pickled; those in memory cannot."""
        return ObstoreSource, (self._store, self._path, self.url)

    def size(self) -> int:
        """Return how many bytes it has."""
        facts = self._obstore.head(self._store, self._path)
        self.version = _version(facts)
        return int(facts["size"])

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, which the store asks for at once."""
        starts, ends = [start for start, _ in ranges], [stop for _, stop in ranges]
        return self._obstore.get_ranges(self._store, self._path, starts=starts, ends=ends, **self._options)


class FileSource:
    """A file object that can seek; one thread at a time reads there."""

    def __init__(self, file: Any) -> None:
        """file: open for reading, in binary mode."""
        self._file = file
        self._lock = Lock()
        self.url = str(getattr(file, "name", None) or repr(file))
        # Names of file objects need not be theirs alone.
        self.version = token_hex(16)
        self.origin = None

    def size(self) -> int:
        """Return how many bytes it has."""
        with self._lock:
            self._file.seek(0, os.SEEK_END)
            return int(self._file.tell())

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, one after the other."""
        with self._lock:
            return [self._read(start, stop) for start, stop in ranges]

    def _read(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        pieces: list[bytes] = []
        left = stop - start
        while left and (piece := self._file.read(left)):
            if isinstance(piece, str):
                raise TypeError("it returns text; open it in binary mode")
            pieces.append(bytes(piece))
            left -= len(pieces[-1])
        return b"".join(pieces)


def source_of(source: Any, store: Any, options: dict[str, Any]) -> Source | None:
    """Return the source that a URL, a path in a store or a file object is; None for a local path.

    Raises ImportError for a library that is not there, TypeError for options that nobody takes.
    """
    if store is not None:
        if options:
            raise TypeError("storage_options: pass them when you create the store")
        if not isinstance(source, str):
            raise TypeError(f"store: takes the path of an object in it, not a {type(source).__name__}")
        return ObstoreSource(store, source)
    if isinstance(source, str):
        return _of_url(source, options)
    if options:
        raise TypeError("storage_options: are for URLs")
    if hasattr(source, "fs") and hasattr(source, "path") and hasattr(source.fs, "cat_ranges"):
        return _of_open_file(source)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return FileSource(source)
    return None


def _of_url(url: str, options: dict[str, Any]) -> Source:
    if not options and is_plain(url):
        return HttpSource(url)
    is_web = urlsplit(url).scheme in ("http", "https") and "::" not in url
    if is_web and find_spec("aiohttp") is None and find_spec("obstore") is not None and not options:
        return _of_web(url)
    core = _imported("fsspec.core", url)
    try:
        fs, path = core.url_to_fs(url, **options)
    except ImportError as error:
        raise ImportError(f"{url}: {error}; or pass store= of obstore, see {_INSTALL}") from error
    return FsspecSource(fs, path, url, (url, options))


def _of_web(url: str) -> Source:
    """Read a web address by obstore, where fsspec lacks what it needs for that."""
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise ImportError(f"{url}: needs aiohttp: pip install aiohttp")
    store = import_module("obstore.store").HTTPStore.from_url(
        f"{parts.scheme}://{parts.netloc}/", client_options={"allow_http": parts.scheme == "http"}
    )
    return ObstoreSource(store, parts.path.lstrip("/"), url)


def _of_open_file(file: Any) -> Source:
    """Read past a file that fsspec has open, by its file system."""
    if getattr(file, "compression", None):
        return FileSource(file.open() if not hasattr(file, "read") else file)
    if "r" not in getattr(file, "mode", "rb"):
        raise ValueError(f"{file!r}: open it for reading")
    protocol = file.fs.protocol if isinstance(file.fs.protocol, str) else file.fs.protocol[0]
    url = file.path if "://" in file.path else f"{protocol}://{file.path.lstrip('/')}"
    return FsspecSource(file.fs, file.path, url, None)


def _imported(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what}: reading it needs {package}: {_INSTALL}") from error


__all__ = ["FileSource", "FsspecSource", "ObstoreSource", "source_of"]
