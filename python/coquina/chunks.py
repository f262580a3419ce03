"""What a chunk says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coquina import _core

if TYPE_CHECKING:
    from coquina._core import Buffer


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """The header of a chunk, read without decoding anything.

    version: of the chunk format; 2 is C-Blosc, 3 and above C-Blosc2.
    nbytes, cbytes: bytes decoded and as stored, header included.
    typesize: bytes of an item.
    blocksize, nblocks: bytes of a block (None where blocks differ in size) and how many there are.
    codec: its name, or its number if this build does not have it. codec_parameter: of one that has one.
    filters: pairs of a name and the parameter byte, in the order of encoding.
    kind: "blocks", "variable blocks", "stored" (not compressed), or a special value without data:
        "zeros", "nans", "value" (repeated), "uninit".
    is_split: blocks are cut into one stream per byte of an item.
    has_dictionary: the streams share a dictionary.
    """

    version: int
    nbytes: int
    cbytes: int
    typesize: int
    blocksize: int | None
    nblocks: int
    codec: str
    filters: list[tuple[str, int]]
    kind: str
    is_split: bool
    has_dictionary: bool
    codec_parameter: int | None = None

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one."""
        return self.nbytes / self.cbytes


def chunk_info(chunk: Buffer, /) -> ChunkInfo:
    """Return what the header of `chunk` says; the first 32 bytes are enough.

    Raises CorruptError, TruncatedError or UnsupportedError for bytes that are no chunk.
    """
    return ChunkInfo(**_core.chunk_info(chunk))
