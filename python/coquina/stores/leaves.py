"""What lies at a key of a store: a frame in a file, in a part of a file, or in the bytes of another frame.

In: where it lies. Out: an open handle of the engine. A leaf is opened when it is asked for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from coquina import _core
from coquina._core import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

Handle = Any  # _core.ArrayHandle | _core.FrameHandle | _core.PackReader

#: What frames begin with.
FRAME_MAGIC = b"\x9e\xa8b2frame\0"
#: Where a frame says how long it is, and with how many bytes.
LENGTH_AT = 16
HEAD_BYTES = 24
#: Bytes of a file that are in memory at a time, where it is copied or checked.
PIECE_BYTES = 1 << 20


class Leaf(Protocol):
    """Something at a key."""

    def open(self, verify: bool) -> Handle:
        """Return the frame. Raises CorruptError, UnsupportedError for what is not followed."""
        ...


@dataclass(frozen=True, slots=True)
class FileLeaf:
    """A file below a folder."""

    folder: str
    path: str

    @property
    def place(self) -> str:
        """Where the file is. Raises UnsupportedError for a link."""
        path = os.path.join(self.folder, self.path)
        if os.path.islink(path):
            raise UnsupportedError(f"{path}: a link, which is not followed")
        return path

    @property
    def suffix(self) -> str:
        """What its name ends in, behind the key."""
        return os.path.splitext(self.path)[1]

    def open(self, verify: bool, *, writable: bool = False) -> Handle:
        """Return the frame of the file."""
        return _core.open_content(self.place, verify=verify, writable=writable)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file, some at a time."""
        with open(self.place, "rb") as file:
            yield from iter(lambda: file.read(PIECE_BYTES), b"")


@dataclass(frozen=True, slots=True)
class RefusedLeaf:
    """What is named, and not read."""

    why: str

    def open(self, verify: bool) -> Handle:
        """Raise UnsupportedError."""
        raise UnsupportedError(self.why)


def length_of(head: bytes) -> int | None:
    """Return how many bytes a frame has that begins so; None for what is no frame."""
    if len(head) < HEAD_BYTES or not head.startswith(FRAME_MAGIC):
        return None
    return int.from_bytes(head[LENGTH_AT:HEAD_BYTES], "big")
