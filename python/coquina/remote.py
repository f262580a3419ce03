"""`RangeReader`: a file behind a URL, in an object store or behind a file object, read by ranges of bytes.

In: a source of `remote_sources`, which answers many ranges at once. Out: bytes, and counts of what was asked.
The engine asks for what it foresees in one go (`read_ranges`); small pieces that nobody foresaw, such as
metadata, come from pages that are kept (`read`). For h5py it is a file object (`file`).
Invariant: what is returned has as many bytes as were asked for, or there is an error that names the file.
"""

from __future__ import annotations

import io
import os
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast
from weakref import WeakValueDictionary

from coquina._core import TruncatedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PAGE_BYTES = 16 << 10
#: Of frames, whose parts are read where they are: small pages are most of what small reads cost.
_FRAME_PAGE_BYTES = 1 << 10
#: Bytes of pages that are kept.
_KEPT_BYTES_MAX = 16 << 20
#: What is fetched beyond a page of an HDF5 file, whose metadata stand near each other.
HDF5_AHEAD = 63
#: The end of a frame says where its chunks are, by some 25 bytes each: enough for chunks of 200 kB,
#: within these numbers of bytes.
_FRAME_END_BYTES = (4 << 10, 128 << 10)
_FRAME_END_SHARE = 8192
_FRAMES = (".b2nd", ".b2frame")
#: The end of an archive names its members: a thousandth of the file, within these numbers of pages.
_END_PAGES = (2, 8)
#: More is read past the pages.
_PAGED_BYTES_MAX = 1 << 20


class Source(Protocol):
    """A remote file."""

    @property
    def url(self) -> str:
        """What people call it."""
        ...

    @property
    def origin(self) -> tuple[Callable[..., Source | None], tuple[Any, ...]] | None:
        """What makes it anew in another process, None if nothing can."""
        ...

    @property
    def version(self) -> str:
        """What tells this content from others of this name; known once `size` was; empty if nothing does."""
        ...

    def size(self) -> int:
        """Return how many bytes it has."""
        ...

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, start and stop, asked for at once."""
        ...


class RangeReader:
    """The bytes of a remote file. Threads may share it.

    url: what it is called. size, version: its bytes, and what tells it from what stood there before, as of
        when it was opened.
    requests: how many ranges were asked for so far. bytes_read: how many bytes came.
    rounds: in how many questions they were asked for, each of which had to be waited for.
    ahead: how many pages are fetched beyond the one that is needed.
    """

    _of_files: ClassVar[WeakValueDictionary[int, RangeReader]] = WeakValueDictionary()

    def __init__(self, source: Source) -> None:
        """Ask a source for its size. Raises FileNotFoundError, or OSError for all that goes wrong there."""
        self._source = source
        self.url = source.url
        self.requests = self.bytes_read = self.rounds = 0
        self.ahead = 0
        self._lock = Lock()
        self._is_frame = self.url.partition("?")[0].endswith(_FRAMES)
        self._page_bytes = _FRAME_PAGE_BYTES if self._is_frame else PAGE_BYTES
        self._pages: dict[int, bytes] = {}
        try:
            self.size, self.version = source.size(), source.version
        except (FileNotFoundError, ImportError):
            raise
        except Exception as error:
            raise OSError(f"{self.url}: {type(error).__name__}: {error}") from error

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range, start and stop, within the file: one question.

        Raises OSError that names the file for what the source raises, TruncatedError for an answer of
        another length.
        """
        ranges = [(start, stop) for start, stop in ranges]
        for start, stop in ranges:
            if not 0 <= start <= stop <= self.size:
                raise TruncatedError(f"{self.url}: bytes {start} to {stop}: it has {self.size}")
        try:
            pieces = [bytes(piece) for piece in self._source.fetch(ranges)]
        except Exception as error:
            where = ", ".join(f"{start} to {stop}" for start, stop in ranges[:3])
            more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
            message = f"{self.url}: bytes {where}{more}: {type(error).__name__}: {error}"
            raise (FileNotFoundError if isinstance(error, FileNotFoundError) else OSError)(message) from error
        with self._lock:
            self.requests += len(ranges)
            self.rounds += 1
            self.bytes_read += sum([len(piece) for piece in pieces])
        if len(pieces) != len(ranges):
            raise TruncatedError(f"{self.url}: {len(pieces)} answers to {len(ranges)} ranges")
        for (start, stop), piece in zip(ranges, pieces, strict=True):
            if len(piece) != stop - start:
                raise TruncatedError(
                    f"{self.url}: bytes {start} to {stop}: the answer has {len(piece)}: the file was changed,"
                    " or its server does not support range requests"
                )
        return pieces

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`; of a small piece all pages that it touches are kept."""
        if stop - start > _PAGED_BYTES_MAX or not 0 <= start < stop <= self.size:
            return self.read_ranges([(start, stop)])[0] if start != stop else b""
        first, last = start // self._page_bytes, (stop - 1) // self._page_bytes
        pages = self._pages_of(range(first, last + 1))
        whole = pages[0] if len(pages) == 1 else b"".join(pages)
        return whole[start - first * self._page_bytes : stop - first * self._page_bytes]

    def warm(self) -> None:
        """Fetch what says what the file is, its beginning and its end, in one question."""
        pages = self._page_count()
        if self._is_frame:
            least, most = _FRAME_END_BYTES
            end = min(max(self.size // _FRAME_END_SHARE, least), most)
            first = max(self.size - end, 0) // self._page_bytes
        else:
            first = max(pages - min(max(pages // 1024 + 1, _END_PAGES[0]), _END_PAGES[1]), 0)
        if pages:
            self._pages_of(sorted({0, *range(first, pages)}))

    def file(self) -> RangeFile:
        """Return a file object, open for reading."""
        return RangeFile(self)

    def _page_count(self) -> int:
        return -(-self.size // self._page_bytes)

    def _pages_of(self, numbers: Sequence[int]) -> list[bytes]:
        found = {number: page for number in numbers if (page := self._pages.get(number)) is not None}
        missing = [number for number in numbers if number not in found]
        if missing:
            found |= self._fetched(missing)
        return [found[number] for number in numbers]

    def _fetched(self, missing: list[int]) -> dict[int, bytes]:
        end = self._page_count()
        for number in range(missing[-1] + 1, min(missing[-1] + 1 + self.ahead, end)):
            if number in self._pages:
                break
            missing.append(number)
        runs: list[list[int]] = []
        for number in missing:
            if runs and runs[-1][1] == number:
                runs[-1][1] += 1
            else:
                runs.append([number, number + 1])
        size = self._page_bytes
        ranges = [(first * size, min(stop * size, self.size)) for first, stop in runs]
        fetched: dict[int, bytes] = {}
        # No lock is held meanwhile: two threads may fetch the same page, and none waits for another one.
        for (first, stop), piece in zip(runs, self.read_ranges(ranges), strict=True):
            for number in range(first, stop):
                at = (number - first) * size
                fetched[number] = piece[at : at + size]
        with self._lock:
            self._pages |= fetched
            for oldest in list(self._pages)[: max(len(self._pages) - _KEPT_BYTES_MAX // size, 0)]:
                del self._pages[oldest]
        return fetched

    def serves(self, number: int) -> None:
        """Note that HDF5's file of this number reads from here."""
        self._of_files[number] = self

    @classmethod
    def of_file(cls, number: int) -> RangeReader | None:
        """Return what HDF5's file of this number reads from, if it is remote."""
        return cls._of_files.get(number)

    def __repr__(self) -> str:
        """Say what it is, and what was asked."""
        return f"<RangeReader {self.url!r}, {self.requests} requests, {self.bytes_read} of {self.size} bytes>"

    def __reduce__(self) -> tuple[Callable[..., RangeReader], tuple[Any, ...]]:
        """Pickle where it is, not what it holds."""
        origin = self._source.origin
        if origin is None:
            raise TypeError(f"{self.url}: a source that was opened as a file object cannot be pickled")
        return _reopened, origin


def _reopened(make: Callable[..., Source], arguments: tuple[Any, ...]) -> RangeReader:
    return RangeReader(make(*arguments))


class RangeFile(io.RawIOBase):
    """A reader as a file object, for h5py and whoever else takes one."""

    def __init__(self, reader: RangeReader) -> None:
        """Start at the first byte."""
        super().__init__()
        self.reader = reader
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move the position, which is returned."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.reader.size}.get(whence)
        if start is None or start + offset < 0:
            raise ValueError(f"seek: {offset} from {whence}")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, as far as there are bytes; return how many."""
        view = memoryview(buffer).cast("B")
        count = max(min(len(view), self.reader.size - self._at), 0)
        view[:count] = self.reader.read(self._at, self._at + count)
        self._at += count
        return count

    def __repr__(self) -> str:
        """Say what it is: HDF5 knows the file by this name."""
        return self.reader.url


def reader_for(
    source: object, *, store: Any = None, storage_options: Mapping[str, Any] | None = None
) -> RangeReader | None:
    """Return what reads a URL, a path in an obstore `store`, or a file object.

    None for what is opened in another way: paths, `file://` included, open local files, and bytes in memory.
    """
    if store is None and not storage_options and isinstance(source, str) and not _is_url(source):
        return None
    if isinstance(source, RangeReader):
        return source
    if isinstance(source, RangeFile):
        return source.reader
    if isinstance(source, io.BufferedIOBase | io.FileIO) and not hasattr(source, "fs"):
        return None
    if store is None and isinstance(source, str | os.PathLike) and not _is_url(cast("object", source)):
        if storage_options:
            raise TypeError(f"storage_options: {os.fspath(source)} is not a URL")
        return None
    from coquina.remote_sources import source_of

    found = source_of(source, store, dict(storage_options or {}))
    return None if found is None else RangeReader(found)


def _is_url(source: object) -> bool:
    return isinstance(source, str) and "://" in source and local_path(source) is None


def local_path(source: object) -> str | None:
    """Return the path that a `file://` URL stands for; None for all else."""
    if not isinstance(source, str) or not source.startswith(("file://", "local://")):
        return None
    # Takes long to import, for a name that few use.
    from urllib.request import url2pathname

    return url2pathname(source.partition("://")[2])


def new_path(path: Any) -> str:
    """Return the absolute path of a file that is to be written. Raises ValueError for a URL."""
    if _is_url(path):
        raise ValueError(f"{path}: remote files can only be read; write a local file, and copy it there")
    return os.path.abspath(local_path(path) or os.fsdecode(path))


__all__ = ["RangeFile", "RangeReader", "local_path", "new_path", "reader_for"]
