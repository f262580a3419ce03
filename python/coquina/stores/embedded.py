"""The leaves that lie in the bytes of a frame, one behind the other: `embed.b2e`, and files `.b2e`.

In: an open frame, whose metadata say where each leaf lies. Out: the leaves by key. A leaf is decoded whole.
Source: docs/formats/blosc2-stores.md, "Embedded leaves".
Invariant: no more memory is taken than what the frame's file could hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CorruptError, LimitError
from coquina.quoting import quoted
from coquina.stores.keys import check_path
from coquina.stores.leaves import HEAD_BYTES, RefusedLeaf, length_of
from coquina.stores.metadata import map_of, variable

if TYPE_CHECKING:
    from coquina.stores.leaves import Handle, Leaf

#: The metadata that say where the leaves lie.
MAP_LAYER = "estore_metadata"
#: What may be so much longer than it is stored: leaves are compressed already.
_RATIO_MAX = 1000
_FREE_BYTES = 1 << 20


def leaves_of_frame(frame: _core.FrameHandle, where: str) -> dict[str, Leaf]:
    """Return the leaves in a frame. where: what it is called in errors."""
    if MAP_LAYER not in frame.layer_names():
        return {}
    entries = map_of((map_of(variable(frame, MAP_LAYER)) or {}).get("embed_map"))
    if entries is None:
        raise CorruptError(f"{where}: {MAP_LAYER}: no map of leaves")
    nbytes = frame.stats()["nbytes"]
    leaves: dict[str, Leaf] = {}
    for key, entry in entries.items():
        if not isinstance(key, str) or not key.startswith("/"):
            raise CorruptError(f"{where}: {MAP_LAYER}: {key!r} is not a key")
        check_path(key[1:])
        leaves[key[1:]] = _leaf(frame, f"{where}: {quoted(key)}", entry, nbytes)
    return leaves


def _leaf(frame: _core.FrameHandle, where: str, entry: Any, nbytes: int) -> Leaf:
    fields = map_of(entry) or {}
    if "urlbase" in fields:
        return RefusedLeaf(f"{where}: an array on a server, which is not followed")
    offset, length = fields.get("offset"), fields.get("length")
    if type(offset) is not int or type(length) is not int or offset < 0 or length < HEAD_BYTES:
        raise CorruptError(f"{where}: no place in the frame: {entry!r}")
    if offset + length > nbytes:
        raise CorruptError(f"{where}: bytes {offset} to {offset + length} of {nbytes}")
    return EmbeddedLeaf(frame, where, offset, length)


@dataclass(frozen=True, slots=True)
class EmbeddedLeaf:
    """A frame in the bytes of another one."""

    frame: _core.FrameHandle
    where: str
    offset: int
    length: int

    def open(self, verify: bool) -> Handle:
        """Return the frame; its bytes are in memory from now on."""
        most = _FREE_BYTES + _RATIO_MAX * self.frame.stats()["cbytes"]
        if self.length > most:
            raise LimitError(f"{self.where}: {self.length} bytes in a frame that can hold {most}")
        content = self.content()
        if length_of(content) != self.length:
            raise CorruptError(f"{self.where}: {self.length} bytes, which are not a frame of that length")
        return _core.open_content(content, verify=verify)

    def content(self) -> bytes:
        """Return the bytes of the frame."""
        stats = self.frame.stats()
        size, nbytes = stats["chunk_size"], stats["nbytes"]
        if size <= 0:
            raise CorruptError(f"{self.where}: in a frame whose chunks have no fixed size")
        pieces: list[bytes] = []
        first, stop = self.offset // size, self.offset + self.length
        for number in range(first, -(-stop // size)):
            chunk = self.frame.chunk(number)
            if len(chunk) != min(size, nbytes - number * size):
                raise CorruptError(f"{self.where}: chunk {number} has {len(chunk)} bytes")
            pieces.append(chunk)
        at = self.offset - first * size
        return b"".join(pieces)[at : at + self.length]
