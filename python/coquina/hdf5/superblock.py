"""The superblock: the first bytes of an HDF5 file, which say how long it is and whether somebody writes it.

In: an open file. Out: its superblock, and the bytes of one that says what is so now.
Source: HDF5 File Format Specification, III.A "Disk Format: Level 0A - Format Signature and Superblock".

    version       0, 1                          2, 3
    0   signature (8)                       signature (8)
    8   version                             version
    9   4 versions and a reserved byte      9   bytes of an offset
    13  bytes of an offset                  10  bytes of a length
    14  bytes of a length                   11  flags
    15  reserved, 2 ranks (2 each)          12  base address, extension, end of file, root group
    20  flags (4)                           ..  checksum of all before (4)
    24  in version 1: a rank, 2 reserved
    ..  base address, free space, end of file, driver, root group

Invariant: what `Superblock.packed` gives is read back as the same superblock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from coquina._core import CorruptError, UnsupportedError, lookup3

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_FIRST_PLACES = 40  # The signature stands at 0 or a power of two from 512 on.


@dataclass(frozen=True)
class Superblock:
    """What matters of a superblock.

    at: where in the file it stands, behind a user block. end: where the file ends, as it says.
    flags: not 0 if it says that the file is open for writing.
    """

    at: int
    version: int
    flags: int
    end: int
    raw: bytes

    @classmethod
    def read(cls, file: BinaryIO) -> Superblock:
        """Find and read the superblock. Raises CorruptError if there is none, UnsupportedError for others."""
        file_bytes = file.seek(0, 2)
        for at in _places(file_bytes):
            file.seek(at)
            raw = file.read(128)
            if raw.startswith(SIGNATURE):
                break
        else:
            raise CorruptError("it has no HDF5 signature")
        version = raw[8] if len(raw) > 8 else -1
        if version not in (0, 1, 2, 3):
            raise UnsupportedError(f"superblock: version {version}; 0 to 3 are known")
        flags_at, flags_bytes, end_at, size, stop = _layout(raw, version)
        if len(raw) < stop:
            raise CorruptError(f"superblock: needs {stop} bytes, {len(raw)} left")
        flags = int.from_bytes(raw[flags_at : flags_at + flags_bytes], "little")
        end = int.from_bytes(raw[end_at : end_at + size], "little")
        return cls(at, version, flags, end, raw[:stop])

    @property
    def is_sound(self) -> bool:
        """Whether its checksum is right; versions 0 and 1 have none."""
        return self.version < 2 or self.packed() == self.raw

    def mended(self, file_bytes: int) -> Superblock:
        """Return it as that of a file that nobody writes, and which ends where it does."""
        return replace(self, flags=0, end=file_bytes)

    def packed(self) -> bytes:
        """Return what stands in the file, checksum included."""
        raw = bytearray(self.raw)
        flags_at, flags_bytes, end_at, size, stop = _layout(self.raw, self.version)
        raw[flags_at : flags_at + flags_bytes] = self.flags.to_bytes(flags_bytes, "little")
        raw[end_at : end_at + size] = self.end.to_bytes(size, "little")
        if self.version >= 2:
            raw[stop - 4 :] = lookup3(raw[: stop - 4]).to_bytes(4, "little")
        return bytes(raw)


def _places(file_bytes: int) -> Iterator[int]:
    yield 0
    yield from (at for power in range(_FIRST_PLACES) if (at := 512 << power) < file_bytes)


def _layout(raw: bytes, version: int) -> tuple[int, int, int, int, int]:
    """Return where the flags are, their bytes, where the end of file is, its bytes, and where all ends."""
    size = raw[13 if version < 2 else 9]
    if size not in (2, 4, 8):
        raise CorruptError(f"superblock: offsets of {size} bytes; takes 2, 4 or 8")
    if version < 2:
        base = 24 if version == 0 else 28
        return 20, 4, base + 2 * size, size, base + 4 * size
    return 11, 1, 12 + 2 * size, size, 12 + 4 * size + 4
