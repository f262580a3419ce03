"""Bodies of requests, received piece by piece into temporary files.

In: requests. Out: files with the whole body.
Invariant: no more than the limit is taken, and a client that stops to send is not waited for.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, BinaryIO

from anyio import to_thread

from coquina.server.failures import RequestError, bad_request, too_large

if TYPE_CHECKING:
    from starlette.requests import Request

_PIECE_SECONDS = 30.0


async def receive(request: Request, file: BinaryIO, most: int) -> int:
    """Write the body of a request to a file; return how many bytes. Raises RequestError: 408, 413."""
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > most:
        raise too_large(f"a body of {said} bytes, and at most {most} are taken")
    count = 0
    pieces = request.stream().__aiter__()
    while True:
        try:
            piece: Any = await asyncio.wait_for(pieces.__anext__(), _PIECE_SECONDS)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise RequestError(408, "time", "the body did not come") from None
        count += len(piece)
        if count > most:
            raise too_large(f"a body of more than {most} bytes")
        if piece:
            await to_thread.run_sync(file.write, piece)
    if said.isdigit() and int(said) != count:
        raise bad_request(f"a body of {count} bytes, and {said} were announced")
    await to_thread.run_sync(_flush, file)
    return count


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
