"""Values of any length as python-blosc2 keeps them for a column of a table: in batches, packed by msgpack.

In: packed values. Out: frames of chunks with blocks of variable size, each a batch of values.
Source: docs/formats/blosc2-stores.md, "Objects"; docs/formats/chunk.md, "Variable blocks".
"""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from coquina import _core, msgpack
from coquina._core import CorruptError
from coquina.chunks import chunk_info, compress
from coquina.msgpack_values import pack
from coquina.stores.metadata import fixed, map_of
from coquina.stores.objects import BATCHES, LENGTHS, LISTS, SCALARS, FlatArray

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

#: Values of a batch, as python-blosc2 has them.
BATCH_ROWS = 2048
#: What python-blosc2 calls the values of a column, by its kind; lists have a layer of their own.
_PYTHON_TYPES = {"vlstring": "str", "vlbytes": "bytes", "struct": "struct", "object": "object"}
#: A chunk of blocks of variable size: version, flags, typesize; numbers; codec; flags2.
_CHUNK = struct.Struct("<BBBBiii6xBB6xBB")
#: Flags of it: a header of 32 bytes, not split, the streams of Zstd.
_FLAGS, _ZSTD = 0x95, 5


def layers_of(values: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Return the fixed metadata of a frame of values. values: what they are, as a schema describes them."""
    kind, nullable = values["kind"], bool(values.get("nullable"))
    if kind == "list":
        said = {key: value for key, value in values.items() if key not in ("name", "storage")}
        name, one = LISTS, {"version": 1, **said, "backend": "batch"}
    else:
        name = SCALARS
        one = {
            "version": 1,
            "py_type": _PYTHON_TYPES[kind],
            "nullable": nullable,
            "batch_rows": BATCH_ROWS,
        }
    batches = {
        "version": 1,
        "serializer": "msgpack",
        "items_per_block": BATCH_ROWS,
        "arrow_schema": None,
    }
    return [(name, pack(one)), (BATCHES, pack(batches))]


class ValueBatches:
    """A frame of values that is made or appended to: the lengths of its batches are known at the end."""

    def __init__(self, frame: _core.FrameHandle, lengths: Iterable[int] = ()) -> None:
        """Take a frame that can be written. lengths: of the batches that it has."""
        self._frame = frame
        self._lengths = list(lengths)
        self._waiting: list[bytes] = []
        # Readers find a value by it: all blocks of a batch but the last have as many.
        said = (map_of(fixed(frame, BATCHES)) or {}).get("items_per_block")
        self._block_len = said if isinstance(said, int) and said > 0 else BATCH_ROWS

    @classmethod
    def create(cls, path: str, layers: list[tuple[str, bytes]], lengths: Iterable[int] = ()) -> ValueBatches:
        """Make a frame, which has its name when it is closed. lengths: of batches that are copied to it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        frame = _core.create_frame(path, filters=[], checksums=False, metalayers=layers, variable_blocks=True)
        return cls(frame, lengths)

    def copy(self, frame: _core.FrameHandle) -> None:
        """Copy all batches of a frame, as they are stored."""
        for number in range(len(self._lengths)):
            self._frame.put_chunk(number, frame.stored_chunk(number), insert=True)

    def append(self, packed: Iterable[bytes]) -> None:
        """Put packed values behind the last."""
        self._waiting.extend(packed)
        while len(self._waiting) >= BATCH_ROWS:
            self._put(self._waiting[:BATCH_ROWS])
            del self._waiting[:BATCH_ROWS]

    def finish(self) -> None:
        """Write what waits, and the lengths of all batches."""
        if self._waiting:
            self._put(self._waiting)
            self._waiting = []
        if self._lengths:
            self._frame.set_layer(LENGTHS, pack({"batch_lengths": self._lengths}))

    def close(self) -> None:
        """Finish a frame that is new, and give it its name."""
        self.finish()
        self._frame.publish()
        self._frame.close()

    def cut(self, count: int) -> None:
        """Keep the first `count` values."""
        total = sum(self._lengths)
        if count > total:
            raise CorruptError(f"{total} values for {count} rows")
        while self._lengths and total - self._lengths[-1] >= count:
            total -= self._lengths.pop()
            self._frame.remove_chunk(len(self._lengths))
        if total > count:
            kept = count - total + self._lengths[-1]
            last = list(islice(FlatArray(self._frame), total - self._lengths[-1], count))
            self._lengths.pop()
            self._frame.remove_chunk(len(self._lengths))
            assert len(last) == kept
            self._put([pack(one) for one in last])

    def _put(self, packed: list[bytes]) -> None:
        cuts = range(0, len(packed), self._block_len)
        blocks = [list_of_packed(packed[at : at + self._block_len]) for at in cuts]
        self._frame.put_chunk(len(self._lengths), chunk_of(blocks), insert=True)
        self._lengths.append(len(packed))


def has_varied_sizes(place: str) -> bool:
    """Whether chunks of a frame have sizes of their own: the first batch of python-blosc2 sets one."""
    with _core_frame(place) as frame:
        return frame.stats()["chunk_size"] == 0


def with_varied_sizes(place: str, new: str) -> None:
    """Copy the batches of a file to a new one, whose chunks have sizes of their own."""
    with _core_frame(place) as frame:
        batches = ValueBatches.create(new, frame.metalayers(), FlatArray(frame).lengths)
        batches.copy(frame)
        batches.close()


@contextmanager
def _core_frame(place: str) -> Generator[_core.FrameHandle]:
    frame: Any = _core.open_content(place)
    try:
        yield frame
    finally:
        frame.close()


def append_values(place: str, end: int, packed: Iterable[bytes]) -> None:
    """Put packed values behind the first `end` of a file, in one commit."""
    handle: Any = _core.open_content(place, writable=True)
    batches = ValueBatches(handle, FlatArray(handle).lengths)
    handle.begin()
    try:
        batches.cut(end)
        batches.append(packed)
        batches.finish()
        handle.commit()
    finally:
        handle.close()


def list_of_packed(packed: list[bytes]) -> bytes:
    """Return packed values as one packed list."""
    return msgpack.head("list", len(packed)) + b"".join(packed)


def chunk_of(blocks: Sequence[bytes]) -> bytes:
    """Return a chunk of blocks of variable size: each coded by Zstd if that makes it smaller."""
    starts: list[int] = []
    at = _CHUNK.size + 4 * len(blocks)
    parts: list[bytes] = []
    for block in blocks:
        starts.append(at)
        # A stream as long as its block is stored.
        parts.append(struct.pack("<i", len(block)) + _coded(block))
        at += len(parts[-1])
    body = struct.pack(f"<{len(blocks)}i", *starts) + b"".join(parts)
    nbytes = sum(map(len, blocks))
    return _CHUNK.pack(6, 1, _FLAGS, 1, nbytes, len(blocks), at, _ZSTD, 0, 1, 0) + body


def _coded(block: bytes) -> bytes:
    """Return the bytes of a block, as one stream of Zstd if that is shorter."""
    chunk = compress(
        block, codec="zstd", level=5, typesize=1, filters=[], blocksize=max(len(block), 1), split="never"
    )
    start = _CHUNK.size + 8
    stream = chunk[start:]
    if chunk_info(chunk).kind != "blocks" or len(stream) >= len(block):
        return block
    (length,) = struct.unpack_from("<i", chunk, _CHUNK.size + 4)
    assert length == len(stream)
    return stream
