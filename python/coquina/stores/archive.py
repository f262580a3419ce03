"""The leaves of a store that is a ZIP archive: frames at an offset of its file, which are read in place.

In: a file. Out: the leaves by key. Nothing is unpacked: leaves are stored as they are, not deflated.
Source: docs/formats/blosc2-stores.md, "Archives", and APPNOTE.TXT of PKWARE, 4.3.7, 4.3.12, 4.5.3.
Invariant: each leaf lies in a part of the file of its own; both headers that the archive has of it agree.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from coquina import _core
from coquina._core import CorruptError, LimitError, TruncatedError
from coquina.quoting import quoted
from coquina.stores.keys import SUFFIXES, check_path, key_of
from coquina.stores.leaves import FRAME_MAGIC, HEAD_BYTES, PIECE_BYTES, RefusedLeaf, length_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.stores.leaves import Handle, Leaf

_MEMBERS_MAX = 1 << 20
#: Before each member: signature, flags, method, CRC-32, two sizes, lengths of name and extra field.
_HEADER = struct.Struct("<4s2xHH4xIIIHH")
_SIGNATURE = b"PK\3\4"
_ENCRYPTED, _SIZES_BEHIND, _UTF8 = 0x1, 0x8, 0x800
#: In place of a size that stands in the extra field of this tag.
_WIDE, _WIDE_TAG = 0xFFFFFFFF, 1
#: Up to so many bytes of a leaf are held against their CRC-32 when it is opened.
_CHECKED_BYTES = 1 << 20


class Archive:
    """A ZIP archive: where its members lie."""

    def __init__(self, file: BinaryIO, path: str | None, name: str) -> None:
        """Read what is in a file. path: by which the engine opens it; None for it to read `file`."""
        self.path = path
        self.name = name
        self._file = file
        self._state = _state(path)
        self.members = self._members()
        if path is not None:
            # Headers of remote archives are read as leaves are.
            for member in self.members.values():
                member.place()

    def _members(self) -> dict[str, Member]:
        try:
            with zipfile.ZipFile(self._file) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir()]
                end = archive.start_dir
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, LookupError) as error:
            raise CorruptError(f"{self.name}: a damaged ZIP archive: {error}") from None
        if len(infos) > _MEMBERS_MAX:
            raise LimitError(f"{self.name}: {len(infos)} files, of which {_MEMBERS_MAX} are read at most")
        members: dict[str, Member] = {}
        for info in sorted(infos, key=_header_offset, reverse=True):
            member = Member(self, info, end)
            check_path(info.orig_filename)
            if info.orig_filename in members:
                raise CorruptError(f"{self.name}: two files {info.orig_filename!r}")
            if info.header_offset < 0 or info.header_offset + _HEADER.size + info.compress_size > end:
                raise CorruptError(f"{self.name}: {info.orig_filename!r} lies in another file, or behind all")
            members[info.orig_filename] = member
            end = info.header_offset
        return members

    def leaf(self, path: str) -> Leaf:
        """Return a leaf by the path of its file."""
        member = self.members[path]
        info, where = member.info, member.where
        if info.flag_bits & _ENCRYPTED:
            return RefusedLeaf(f"{where}: encrypted")
        if info.compress_type != zipfile.ZIP_STORED:
            return RefusedLeaf(f"{where}: compressed as a file; what is stored as it is can be read in place")
        if info.create_system == 3 and stat.S_ISLNK(info.external_attr >> 16):
            return RefusedLeaf(f"{where}: a link, which is not followed")
        return member

    def leaves(self, but: str) -> dict[str, Leaf]:
        """Return the leaves by key, but for one file. Raises CorruptError for two of a key."""
        leaves: dict[str, Leaf] = {}
        for path in sorted(self.members):
            if path == but or not (path.endswith(SUFFIXES) or self.members[path].is_frame()):
                continue
            key = key_of(path)
            if key in leaves:
                raise CorruptError(f"{self.name}: two files are called {key!r} but for their endings")
            leaves[key] = self.leaf(path)
        return leaves

    def read(self, start: int, length: int) -> bytes:
        """Return some bytes of the file."""
        with self._opened() as file:
            file.seek(start)
            content = file.read(length)
        if len(content) < length:
            raise TruncatedError(f"{self.name}: {length} bytes at {start}: it has {len(content)} of them")
        return content

    def open(self, offset: int, verify: bool) -> Handle:
        """Return the frame at an offset. Raises OSError if the file is not the one that was looked at."""
        self._check_same()
        source: Any = self._file if self.path is None else self.path
        handle = _core.open_content(getattr(source, "reader", source), offset=offset, verify=verify)
        self._check_same()
        return handle

    def _check_same(self) -> None:
        if _state(self.path) != self._state:
            raise OSError(f"{self.name}: was replaced since it was opened; open it again")

    def _opened(self) -> Any:
        return _Borrowed(self._file) if self.path is None else open(self.path, "rb")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive. end: where the next one begins."""

    archive: Archive
    info: zipfile.ZipInfo
    end: int

    @property
    def suffix(self) -> str:
        """What its name ends in, behind the key."""
        return os.path.splitext(self.info.orig_filename)[1]

    @property
    def where(self) -> str:
        """What it is called in errors."""
        return f"{self.archive.name}: {quoted(self.info.orig_filename)}"

    def open(self, verify: bool) -> Handle:
        """Return the frame, read in place; what is small is held against its CRC-32 before."""
        offset, size = self.place(), self.info.file_size
        length = length_of(self.archive.read(offset, min(size, HEAD_BYTES)))
        if length is None:
            raise CorruptError(f"{self.where}: no frame of Blosc2")
        if length > size:
            raise CorruptError(f"{self.where}: a frame of {length} bytes in a file of {size}")
        if verify and size <= _CHECKED_BYTES:
            self.check()
        return self.archive.open(offset, verify)

    def check(self) -> None:
        """Raise CorruptError if the bytes are not those that the CRC-32 is of."""
        for _ in self.pieces():
            pass

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, some at a time. Raises CorruptError at the end if the CRC-32 is not of these."""
        offset, size, found = self.place(), self.info.file_size, 0
        for start in range(0, size, PIECE_BYTES):
            piece = self.archive.read(offset + start, min(PIECE_BYTES, size - start))
            found = zlib.crc32(piece, found)
            yield piece
        if found != self.info.CRC:
            raise CorruptError(
                f"{self.where}: the CRC-32 is {found:#010x}, and should be {self.info.CRC:#010x}"
            )

    def is_frame(self) -> bool:
        """Whether a file of another name begins as frames do."""
        info = self.info
        if info.compress_type != zipfile.ZIP_STORED or info.file_size < HEAD_BYTES:
            return False
        return self.archive.read(self.place(), HEAD_BYTES).startswith(FRAME_MAGIC)

    def place(self) -> int:
        """Return where the bytes begin. Raises CorruptError if the header before them says other things."""
        info = self.info
        head = self.archive.read(info.header_offset, _HEADER.size)
        signature, flags, method, crc, csize, size, name_len, extra_len = _HEADER.unpack(head)
        rest = self.archive.read(info.header_offset + _HEADER.size, name_len + extra_len)
        offset = info.header_offset + _HEADER.size + name_len + extra_len
        name = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
        is_known = not flags & _SIZES_BEHIND or (crc, csize, size) != (0, 0, 0)
        said = (crc, *_wide(rest[name_len:], size, csize))
        if (
            signature != _SIGNATURE
            or (flags, method) != (info.flag_bits, info.compress_type)
            or rest[:name_len] != name
            or (is_known and said != (info.CRC, info.file_size, info.compress_size))
            or (method == zipfile.ZIP_STORED and info.file_size != info.compress_size)
            or offset + info.compress_size > self.end
        ):
            raise CorruptError(
                f"{self.where}: the header before it and the archive's table contradict each other"
            )
        return offset


def _wide(extra: bytes, size: int, csize: int) -> tuple[int, int]:
    """Return the sizes that a header says, of which long ones stand in its extra field."""
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + length]
        wide = [int.from_bytes(field[i : i + 8], "little") for i in range(0, len(field) // 8 * 8, 8)]
        if tag == _WIDE_TAG:
            size = wide.pop(0) if size == _WIDE and wide else size
            csize = wide.pop(0) if csize == _WIDE and wide else csize
        at += 4 + length
    return size, csize


def _header_offset(info: zipfile.ZipInfo) -> int:
    return info.header_offset


def _state(path: str | None) -> tuple[int, ...]:
    """Return what tells a file from another one that has its name later."""
    if path is None:
        return ()
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class _Borrowed:
    """A file that is not closed here."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __enter__(self) -> BinaryIO:
        return self._file

    def __exit__(self, *exception: object) -> None:
        pass
