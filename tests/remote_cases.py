"""Files that are far away, for the tests: in a file system in memory, and on a web server."""

from __future__ import annotations

import io
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import fsspec
import numpy as np

import coquina as cq

MEMORY = fsspec.filesystem("memory")
_numbers = count()


def put(content: bytes, suffix: str = ".b2nd") -> str:
    """Put a file into memory, and return its URL."""
    name = f"/coquina-{next(_numbers)}{suffix}"
    MEMORY.pipe_file(name, content)
    return "memory:/" + name


def noise(shape, dtype="i4") -> np.ndarray:
    """Return items that no codec makes smaller, but for some rows of zeros."""
    items = np.random.default_rng(3).integers(0, 1 << 30, shape).astype(dtype)
    items[shape[0] // 2 : shape[0] // 2 + 3] = 0
    return items


class Counted:
    """A reader's counts since this was made or asked for the last time."""

    def __init__(self, reader) -> None:
        self.reader = reader
        self.since()

    def since(self) -> tuple[int, int, int]:
        """Return rounds, requests and bytes."""
        now = (self.reader.rounds, self.reader.requests, self.reader.bytes_read)
        last, self.last = getattr(self, "last", (0, 0, 0)), now
        return tuple(new - old for new, old in zip(now, last, strict=True))


class Seeking:
    """A file object of the plainest kind, which may fail: `fails` is what `read` raises."""

    def __init__(self, content: bytes) -> None:
        self._file = io.BytesIO(content)
        self.name = "a plain file object"
        self.fails: BaseException | None = None

    def seek(self, offset, whence=0):
        return self._file.seek(offset, whence)

    def tell(self):
        return self._file.tell()

    def read(self, size=-1):
        if self.fails is not None:
            raise self.fails
        # As a socket may do it: less than was asked for.
        return self._file.read(min(size, 50_000))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._answer(with_content=False)

    def do_GET(self):
        self._answer(with_content=True)

    def _answer(self, *, with_content):
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.server.asked.append(self.headers.get("Range"))
        status, part = 200, content
        wanted = self.headers.get("Range")
        if wanted and self.server.knows_ranges:
            start, _, last = wanted.removeprefix("bytes=").partition("-")
            status, part = 206, content[int(start) : int(last) + 1]
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if with_content:
            self.wfile.write(part)

    def log_message(self, *arguments):
        pass


@contextmanager
def web_server(files: dict[str, bytes]):
    """Serve files by ranges: the server has what was `asked`, and may forget that it `knows_ranges`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.files, server.asked, server.knows_ranges = files, [], True
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def opened(array_or_bytes, **options):
    """Return an array that is far away, as `array_or_bytes` is."""
    content = array_or_bytes if isinstance(array_or_bytes, bytes) else array_or_bytes.to_bytes()
    return cq.open(put(content), **options)
