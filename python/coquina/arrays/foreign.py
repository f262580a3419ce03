"""What files of other formats are, told by their first bytes: for errors that say so, and what opens them.

In: a file that can seek, and its name. Out: the name of its format, what to do in Python, and the subcommand
that takes it. Nothing is trusted: what is said is only shown.
"""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Foreign(NamedTuple):
    """A format that is not ours. advice: what to do in Python, or ""; verb: the subcommand that takes it."""

    name: str
    advice: str = ""
    verb: str | None = None


_TABLE = "read_parquet makes a table of it"
_FRAME = "create_table makes a table of what pandas or Polars reads of it"
_CONVERT = "convert"
_NPY = "asarray(numpy.load(path, mmap_mode='r')) makes an array of it"
_NPZ = "asarray(numpy.load(path)['name']) makes an array of one of its arrays"
_ZARR = "asarray(zarr.open(path)) makes an array of one of its arrays"
_UNPACK = "unpack it first"
#: The first bytes of formats.
_MAGICS: tuple[tuple[bytes, Foreign], ...] = (
    (b"\x93NUMPY", Foreign("an NPY file", _NPY, _CONVERT)),
    (b"CDF", Foreign("a classic NetCDF file", "`nccopy -k nc4` converts it to NetCDF-4; xarray reads it")),
    (b"\x0e\x03\x13\x01", Foreign("an HDF4 file", "only HDF5 is read")),
    (b"PAR1", Foreign("a Parquet file", _TABLE, _CONVERT)),
    (b"ARROW1", Foreign("an Arrow IPC (Feather) file", _FRAME, _CONVERT)),
    (b"FEA1", Foreign("a Feather file of version 1", _FRAME)),
    (b"ORC", Foreign("an ORC file", _FRAME)),
    (b"Obj\x01", Foreign("an Avro file", _FRAME)),
    (b"SQLite format 3\0", Foreign("an SQLite database", _FRAME)),
    (b"\x1f\x8b", Foreign("a gzip file", _UNPACK)),
    (b"BZh", Foreign("a bzip2 file", _UNPACK)),
    (b"\xfd7zXZ\0", Foreign("an xz file", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", Foreign("a Zstandard file", _UNPACK)),
    (b"\x04\x22\x4d\x18", Foreign("an LZ4 file", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Foreign("a 7-Zip archive", _UNPACK)),
    (b"\x89PNG", Foreign("a PNG image", "", _CONVERT)),
    (b"\xff\xd8\xff", Foreign("a JPEG image")),
    (b"GIF8", Foreign("a GIF image")),
    (b"II*\0", Foreign("a TIFF image", "", _CONVERT)),
    (b"MM\0*", Foreign("a TIFF image", "", _CONVERT)),
    (b"II+\0", Foreign("a BigTIFF image", "", _CONVERT)),
    (b"%PDF", Foreign("a PDF document")),
    (b"SIMPLE  =", Foreign("a FITS file")),
    (b"GRIB", Foreign("a GRIB file")),
    (b"MATLAB 5.0", Foreign("a MATLAB file of version 5", "those of version 7.3 are HDF5, and are opened")),
    (b"\x7fELF", Foreign("a program or library")),
)  # fmt: skip
#: Those that stand further back.
_MAGICS_WITHIN: tuple[tuple[int, bytes, Foreign], ...] = (
    (8, b"DUCK", Foreign("a DuckDB database", _FRAME)),
    (257, b"ustar", Foreign("a tar archive", _UNPACK)),
)
_HEAD = 4096
_MEMBERS_MAX = 10_000
_SEPARATORS = ",;\t|"


def what_is(file: BinaryIO, name: str = "") -> Foreign | None:
    """Return what a file is; None if that is not known. name: of the file, which may have an extension."""
    file.seek(0)
    head = file.read(_HEAD)
    if not head:
        return Foreign("an empty file")
    if head.startswith(b"PK\x03\x04"):
        return _zip(file)
    for magic, found in _MAGICS:
        if head.startswith(magic):
            return found
    for at, magic, found in _MAGICS_WITHIN:
        if head[at:].startswith(magic):
            return found
    if head[0] == 0x80 and head[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return Foreign("a pickle of Python's", "it is not loaded: that could run any program")
    return _text(head, os.path.splitext(name)[1].lower())


def what_is_at(path: str) -> Foreign | None:
    """Return what the file or directory at a path is; None if that is not known, or nothing is there."""
    if os.path.isdir(path):
        return _directory(path)
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return what_is(file, path)


def _directory(path: str) -> Foreign:
    with os.scandir(path) as entries:
        names = {entry.name for _, entry in zip(range(_MEMBERS_MAX), entries, strict=False)}
    if names & {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}:
        return Foreign("a Zarr directory", _ZARR)
    return Foreign(
        "a folder without anything in it" if not names else "a folder without an array or a table in it"
    )


def _zip(file: BinaryIO) -> Foreign:
    # Takes long to import, for an error that few see.
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()[:_MEMBERS_MAX]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Foreign("a damaged ZIP or NPZ archive")
    ends = {os.path.splitext(name)[1] for name in names}
    last = {name.rpartition("/")[2] for name in names}
    if last & {"zarr.json", ".zgroup", ".zarray"}:
        return Foreign("a Zarr store in a ZIP archive", _ZARR)
    if ends & {".b2nd", ".b2frame", ".b2e", ".b2f"}:
        return Foreign("a store of Blosc2 in a ZIP archive (.b2z)", "unpack it: its .b2nd files are opened")
    if "[Content_Types].xml" in last:
        return Foreign("a document or table of Office Open XML", _FRAME)
    if names and ends == {".npy"}:
        return Foreign(
            "an NPZ archive",
            _NPZ,
            _CONVERT,
        )
    return Foreign("a ZIP archive", _UNPACK)


def _text(head: bytes, extension: str) -> Foreign | None:
    """Return what text is; None for bytes that are none."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Foreign("text in UTF-16")
    try:
        # The last character may be cut.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return None
    if any(ord(sign) < 32 and sign not in "\t\n\r\f" for sign in text):
        return None
    start = text.lstrip()[:1]
    if extension in (".json", ".jsonl", ".ndjson") or start in ("{", "["):
        return Foreign("JSON text", _FRAME)
    if start == "<":
        return Foreign("XML or HTML text")
    if extension in (".csv", ".tsv") or _has_columns(text.splitlines()[:3]):
        return Foreign("CSV text", "read_csv makes a table of it", _CONVERT)
    return Foreign("plain text")


def _has_columns(lines: Iterable[str]) -> bool:
    """Whether lines, two at least, have the same separators equally often."""
    counts = [[line.count(sign) for sign in _SEPARATORS] for line in lines if line]
    return len(counts) > 1 and any(counts[0]) and all(count == counts[0] for count in counts[:2])


__all__ = ["Foreign", "what_is", "what_is_at"]
