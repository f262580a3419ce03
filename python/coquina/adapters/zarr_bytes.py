"""The stored bytes of a Zarr chunk, of which ranges are fetched: a source of a `RangeReader`.

In: what Zarr gets bytes by, which works within an event loop. Out: answers to questions of another thread.
Source: docs/formats/frame.md: the length of a frame stands in its header.
Invariant: all ranges of a question are asked for at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from zarr.abc.store import RangeByteRequest

from coquina._core import CorruptError, TruncatedError
from coquina.remote import PAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr.abc.store import ByteGetter
    from zarr.core.buffer import BufferPrototype

_MAGIC = slice(2, 10)
_LENGTH = slice(16, 24)


class StoredChunk:
    """A frame that a store has."""

    #: It cannot be asked for from another process, nor later on.
    origin = None
    version = ""

    def __init__(
        self, getter: ByteGetter, prototype: BufferPrototype, loop: asyncio.AbstractEventLoop
    ) -> None:
        """The bytes that `getter` gets; `loop` runs in another thread than those that call `fetch`."""
        self._getter = getter
        self._prototype = prototype
        self._loop = loop
        self._head = b""
        self._length = 0
        self.url = str(getter)

    async def begin(self) -> bool:
        """Fetch the first bytes; return whether there is anything. Raises CorruptError if it is no frame."""
        head = await self._got(0, PAGE_BYTES)
        if head is None:
            return False
        if head[_MAGIC] != b"b2frame\0" or len(head) < _LENGTH.stop:
            raise CorruptError(f"{self.url}: the chunk is not a Blosc2 frame")
        self._head = head
        self._length = int.from_bytes(head[_LENGTH], "big")
        if len(head) < min(PAGE_BYTES, self._length):
            raise TruncatedError(
                f"{self.url}: the frame has {self._length} bytes, and {len(head)} are stored"
            )
        return True

    @property
    def content(self) -> bytes | None:
        """The whole frame, if it was short enough to come at once."""
        return self._head if len(self._head) >= self._length else None

    def size(self) -> int:
        """Return how many bytes the frame has."""
        return self._length

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range."""
        return asyncio.run_coroutine_threadsafe(self._all(ranges), self._loop).result()

    async def _all(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        found = await asyncio.gather(*[self._one(start, stop) for start, stop in ranges])
        return list(found)

    async def _one(self, start: int, stop: int) -> bytes:
        if stop <= len(self._head):
            return self._head[start:stop]
        found = await self._got(start, stop)
        if found is None:
            raise FileNotFoundError(f"{self.url}: the chunk was deleted while it was read")
        return found

    async def _got(self, start: int, stop: int) -> bytes | None:
        found = await self._getter.get(self._prototype, RangeByteRequest(start, stop))
        return None if found is None else found.to_bytes()


__all__ = ["StoredChunk"]
