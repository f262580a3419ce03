"""`open`: looks at what a file holds, and gives an `Array`, a `Frame` or a `PackFile`.

In: a path, a file object or, for `from_bytes`, a buffer. Out: an open handle that reads what it is asked for.
Frames that stand for data elsewhere, or hold code, are refused: nothing that is opened is run or followed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from coquina import _core
from coquina.array import Array
from coquina.bloscpack import PackFile
from coquina.dtypes import parse_dtype
from coquina.frames import Frame

if TYPE_CHECKING:
    from coquina._core import Buffer, Path

_WRITABLE = {"r": False, "r+": True, "a": True}


def open(
    source: Path | BinaryIO,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    offset: int = 0,
    verify: bool = True,
    damaged: bool = False,
) -> Any:
    """Open a file by its content, and read only what is asked for.

    Returns an `Array` for files and directories of Blosc2 with an n-dimensional array (`.b2nd`), a `Frame`
    for others of Blosc2 (`.b2frame`), a `PackFile` for Bloscpack files.

    source: a path, or a file object opened for reading in binary mode that can seek.
    mode: "r" to read; "r+" or "a" to change too, which one process at a time can.
    offset: where in the file the frame begins.
    verify: look at the checksums of what is read, where the file has them.
    damaged: open, to read, what is left where header, index or trailer of a frame are damaged, which is
        an error else. Checksums tell which chunks are good: see `verify` and `repair`. That a chunk is all
        zeros, all NaN or not written yet has none, and is believed.

    Raises CorruptError, TruncatedError, UnsupportedError, OSError (BlockingIOError if another process
    writes).
    """
    if mode not in _WRITABLE:
        raise ValueError(f"mode {mode!r}: takes 'r', 'r+' or 'a'")
    target: Path | BinaryIO = source
    if isinstance(source, str | os.PathLike):
        target = os.path.abspath(os.fspath(source))
    handle = _core.open_content(
        target, writable=_WRITABLE[mode], offset=offset, verify=verify, damaged=damaged
    )
    return _opened(handle)


def from_bytes(buffer: Buffer) -> Any:
    """Return what the bytes of a file hold, for reading: an `Array`, `Frame` or `PackFile`. See `open`."""
    return _opened(_core.open_content(buffer))


def reopen(path: str, offset: int) -> Array:
    """Open what a pickle refers to."""
    array = open(path, offset=offset)
    if not isinstance(array, Array):
        raise TypeError(f"{path}: the file that was pickled was an array, and is none now")
    return array


def restore(content: bytes, mode: str) -> Array:
    """Return the array of a pickle; one that could be changed can be again."""
    array = from_bytes(content)
    return array.copy() if _WRITABLE[mode] else array


def _opened(handle: _core.ArrayHandle | _core.FrameHandle | _core.PackReader) -> Any:
    if isinstance(handle, _core.ArrayHandle):
        return Array(handle, parse_dtype(handle.dtype_text, handle.typesize))
    if isinstance(handle, _core.PackReader):
        return PackFile(handle)
    return Frame(handle)
