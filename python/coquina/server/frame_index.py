"""Where the chunks of a frame are stored: the index of a frame, and the heads of its chunks.

In: the path of a frame, and where in its file it begins, or its bytes. Out: an entry for each chunk.
Source: docs/formats/frame.md, "Header", "Index chunk" and "Sparse frames".
Invariant: the frame may be damaged, or change while it is read: that is a CorruptError. No more is read than
the index and 32 bytes of a chunk.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from struct import unpack_from
from typing import BinaryIO

from coquina._core import CorruptError, decompress_items
from coquina.chunks import chunk_info
from coquina.folder_members import ARRAY

_HEADER_BYTES = 87
_HEAD_BYTES = 32
_MAGIC = b"\x9e\xa8b2frame\0"
_SPECIAL = {0x81: "zeros", 0x82: "nan", 0x84: "unwritten"}
_INDEX_BYTES_MAX = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk. offset: in the file; None where nothing is stored, and in memory. head: its first bytes.

    special: "zeros", "nan" or "unwritten" where the index alone says what the values are.
    """

    offset: int | None
    head: bytes | None
    special: str | None


class FrameIndex:
    """The index of a frame; used in a `with` block.

    chunk_bytes: decoded bytes of a chunk; 0 where each has its own size.
    """

    def __init__(self, path: str, start: int = 0, content: bytes | None = None) -> None:
        """path: of the file, or of the directory of a sparse frame. start: where in the file it begins.

        content: the frame itself, of an array in memory; path is its name then.
        """
        self._content = content
        self._folder = path if content is None and os.path.isdir(path) else None
        self._path = os.path.join(path, ARRAY) if self._folder else path
        self._start = start
        self._file: BinaryIO | None = None
        self._index = b""
        self._count = 0
        self.chunk_bytes = 0

    def __enter__(self) -> FrameIndex:
        """Read header and index. Raises CorruptError, OSError."""
        self._file = open(self._path, "rb") if self._content is None else io.BytesIO(self._content)
        try:
            header = self._read(0, _HEADER_BYTES)
            if len(header) < _HEADER_BYTES or header[:10] != _MAGIC:
                raise CorruptError(f"{self._path}: no frame")
            (self._header_bytes,) = unpack_from(">i", header, 11)
            frame_bytes, nbytes, cbytes = (unpack_from(">q", header, at)[0] for at in (16, 30, 39))
            (self.chunk_bytes,) = unpack_from(">i", header, 58)
            if self.chunk_bytes >= 0 and nbytes > 0:
                at = self._header_bytes + (0 if self._folder else cbytes)
                if not 0 < at < frame_bytes:
                    raise CorruptError(f"{self._path}: an index beyond the frame")
                self._index = self._read(at, min(frame_bytes - at, _INDEX_BYTES_MAX))
                # Chunks of a frame that does not name their size each have their own.
                whole = self.chunk_bytes
                self._count = -(-nbytes // whole) if whole else chunk_info(self._index).nbytes // 8
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        """Return how many chunks there are."""
        return self._count

    def entry(self, number: int) -> Entry:
        """Return where a chunk is. Raises CorruptError, OSError."""
        (value,) = unpack_from("<q", decompress_items(self._index, number, number + 1))
        if value < 0:
            top = (value >> 56) & 0xFF
            if top not in _SPECIAL:
                raise CorruptError(f"{self._path}: chunk {number}: an unknown special value")
            return Entry(None, None, _SPECIAL[top])
        if self._folder is not None:
            with open(os.path.join(self._folder, f"{value:08X}.chunk"), "rb") as file:
                return Entry(0, file.read(_HEAD_BYTES), None)
        at = self._header_bytes + value
        offset = self._start + at if self._content is None else None
        return Entry(offset, self._read(at, _HEAD_BYTES), None)

    def _read(self, at: int, count: int) -> bytes:
        assert self._file is not None
        self._file.seek(self._start + at)
        return self._file.read(count)
