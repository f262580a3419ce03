"""Answers on their way to clients: in pieces, each of which a client must take within some time.

In: bytes, or a part of a file, and headers. Out: messages of ASGI.
Invariant: a client that reads slowly, or not at all, holds the memory of one answer for a bounded time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from anyio import current_time, fail_after, to_thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coquina.server.raw_files import RawAnswer

_PIECE_BYTES = 256 << 10
_PIECE_SECONDS = 30.0


def raw_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI has them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]


async def send_bytes(send: Any, status: int, headers: dict[str, str], content: bytes | memoryview) -> None:
    """Send an answer. Raises TimeoutError for a client that does not take it."""
    if status != 304:
        # An answer to HEAD says how long the one to GET is.
        headers = {"Content-Length": str(len(content)), **headers}
    await send({"type": "http.response.start", "status": status, "headers": raw_headers(headers.items())})
    view = memoryview(content)
    with fail_after(_PIECE_SECONDS) as scope:
        for start in range(0, max(1, len(view)), _PIECE_BYTES):
            scope.deadline = current_time() + _PIECE_SECONDS
            piece = bytes(view[start : start + _PIECE_BYTES])
            is_last = start + _PIECE_BYTES >= len(view)
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})


async def send_file(send: Any, answer: RawAnswer) -> None:
    """Send a part of a file, and close it. A file that became shorter ends the connection."""
    try:
        headers = raw_headers(answer.headers.items())
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        at = answer.start
        while answer.descriptor is not None and at < answer.stop:
            count = min(_PIECE_BYTES, answer.stop - at)
            piece = await to_thread.run_sync(os.pread, answer.descriptor, count, at)
            if not piece:
                raise OSError("the file became shorter while it was sent")
            with fail_after(_PIECE_SECONDS):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            at += len(piece)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        if answer.descriptor is not None:
            os.close(answer.descriptor)
