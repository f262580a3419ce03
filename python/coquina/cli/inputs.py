"""The files that are named on the command line: whether they are there, and of which kind they are.

In: text such as `a.b2nd`, `run.h5:/images/raw`, `x.npz:name`, a URL. Out: nothing, or errors that say what
is there instead, and what to do.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Any

import coquina

#: What `coquina.open` opens.
FORMATS = (
    "Blosc2 arrays and frames (.b2nd, .b2frame), Bloscpack (.blp), HDF5 (.h5, .nc), directories of tables"
)

#: Names of files of plain bytes, which say of nothing else what they are.
PLAIN = (".raw", ".bin")

#: What files are that begin so, and the extensions by which `coquina convert` knows them, if it does.
_MAGICS = {
    b"\x93NUMPY": ("a .npy file", (".npy",)), b"PAR1": ("a Parquet file", (".parquet", ".pq")),
    b"ARROW1": ("a Feather file", (".feather", ".arrow")), b"\x89PNG": ("a PNG image", (".png",)),
    b"II*\0": ("a TIFF image", (".tif", ".tiff")), b"PK\x03\x04": ("a ZIP file", (".npz",)),
    b"\x1f\x8b": ("a gzip file", (".csv.gz", ".tsv.gz")), b"\x28\xb5\x2f\xfd": ("a Zstandard file", ()),
    b"CDF": ("a NetCDF-3 file, which is no HDF5", ()),
}  # fmt: skip


def is_url(text: str) -> bool:
    """Whether this names something behind a protocol."""
    return "://" in text


def path_of(text: str) -> str:
    """Return the part of a name that is a path: without what stands behind a colon, if that is no file."""
    end = len(text)
    while end > 0:
        if os.path.exists(text[:end]):
            return text[:end]
        end = text.rfind(":", 0, end)
    # Nothing is there: the name up to the path inside of a file that was meant.
    head, colon, _ = text.partition(":")
    return head if colon and os.path.splitext(head)[1] else text


def check(text: str) -> None:
    """Raise FileNotFoundError if a file is not there; it names what is there under similar names."""
    path = path_of(text)
    if is_url(text) or os.path.lexists(path):
        return
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        raise FileNotFoundError(f"{path}: there is no such file, nor the folder {folder}")
    try:
        others = os.listdir(folder or ".")
    except OSError:
        others = []
    close = get_close_matches(name, others, 1, 0.6)
    hint = f"did you mean {os.path.join(folder, close[0])}?" if close else "is the path right?"
    raise FileNotFoundError(f"{path}: there is no such file; {hint}")


def check_output(text: str) -> None:
    """Raise FileNotFoundError if the folder of a new file is not there."""
    folder = os.path.dirname(path_of(text))
    if not is_url(text) and folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"{text}: there is no folder {folder}; make it first")


def opened(path: str, *, damaged: bool = False) -> Any:
    """Open a file by its content. Raises ValueError if it is of no kind that is known."""
    if not is_url(path) and not is_known(path):
        raise unknown(path)
    return coquina.open(path, damaged=damaged)


def is_known(path: str) -> bool:
    """Whether a file begins as those do that `coquina.open` opens."""
    from coquina.opening import is_hdf5

    if os.path.isdir(path):
        return any(os.path.isfile(os.path.join(path, name)) for name in ("chunks.b2frame", "table.json"))
    with open(path, "rb") as file:
        head = file.read(32)
    return b"b2frame\0" in head or head.startswith(b"blpk") or is_hdf5(path)


def unknown(path: str, takes: str = FORMATS) -> ValueError:
    """Return the error of a file whose format is not known."""
    if is_url(path):
        return ValueError(f"{path}: takes {takes}")
    if os.path.isdir(path):
        return ValueError(f"{path}: a folder without an array or a table in it; takes {takes}")
    with open(path, "rb") as file:
        head = file.read(32)
    for magic, (name, extensions) in _MAGICS.items():
        if head.startswith(magic):
            what = "unpack it, or convert it by another program"
            if path.lower().endswith(extensions or ("\0",)):
                what = f"`coquina convert {path} OUTPUT` makes one of it"
            return ValueError(f"{path}: {name}, and this takes {takes}; {what}")
    if not head:
        return ValueError(f"{path}: an empty file; takes {takes}")
    hint = "; `coquina convert --dtype` makes arrays of plain bytes" if takes.startswith(FORMATS) else ""
    return ValueError(f"{path}: of no format that is known; takes {takes}{hint}")


def check_packed(path: str) -> None:
    """Raise ValueError if a file is no Bloscpack file."""
    if os.path.isdir(path):
        raise unknown(path, "Bloscpack files (.blp)")
    with open(path, "rb") as file:
        if file.read(4) != b"blpk":
            raise unknown(path, "Bloscpack files (.blp)")
