"""Files of NumPy, `.npy` and `.npz`: what their headers say.

In: an open file, and its first bytes. Out: facts by name, or an error for a damaged file.
Memory: 64 KiB. No item is read, and no pickle is loaded.
"""

from __future__ import annotations

import math
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from zipfile import BadZipFile, ZipFile
from zlib import error as zlib_error

from numpy.lib import format as npy

if TYPE_CHECKING:
    from collections.abc import Callable

_ZIP_MAGIC = b"PK"
_HEADER_MAX = 1 << 16


def described(file: BinaryIO, head: bytes) -> dict[str, Any] | None:
    """Return the facts of a file of NumPy; None for another. Raises ValueError for a damaged one."""
    if head.startswith(npy.MAGIC_PREFIX):
        return {"format": "NumPy array", **_facts(file, _of_array)}
    if head.startswith(_ZIP_MAGIC) and file.name.lower().endswith(".npz"):
        return {"format": "NumPy archive", **_facts(file, _of_archive)}
    return None


def _facts(file: BinaryIO, facts: Callable[[BinaryIO], dict[str, Any]]) -> dict[str, Any]:
    file.seek(0)
    try:
        return facts(file)
    except (ValueError, BadZipFile, NotImplementedError, RuntimeError, zlib_error) as error:
        raise ValueError(f"{file.name}: a damaged file: {error}") from None


def _of_array(file: BinaryIO) -> dict[str, Any]:
    """Return what the header of an array at the start of `file` says."""
    # A header that says that it is longer is none.
    head = BytesIO(file.read(_HEADER_MAX))
    version = npy.read_magic(head)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of NumPy's format")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(head)
    nbytes = math.prod(shape) * dtype.itemsize
    stored = "pickled objects" if dtype.hasobject else None
    order = "F" if is_fortran else "C"
    return {"shape": shape, "dtype": str(dtype), "order": order, "nbytes": nbytes, "stored": stored}


def _of_archive(file: BinaryIO) -> dict[str, Any]:
    """Return what the headers of the arrays of an archive say."""
    arrays: dict[str, Any] = {}
    with ZipFile(file) as archive:
        for one in archive.infolist():
            with archive.open(one) as member:
                facts = _of_array(cast("BinaryIO", member))
            arrays[one.filename.removesuffix(".npy")] = {**facts, "cbytes": one.compress_size}
    nbytes, cbytes = (sum(one[name] for one in arrays.values()) for name in ("nbytes", "cbytes"))
    return {"arrays": arrays, "nbytes": nbytes, "cbytes": cbytes}
