"""The files that are named on the command line: whether they are there, and of which kind they are.

In: text such as `a.b2nd`, `run.h5:/images/raw`, `x.npz:name`, a URL. Out: nothing, or errors that say what
is there instead, and what to do.
"""

from __future__ import annotations

import os
from typing import Any

import coquina
from coquina.arrays.foreign import what_is_at
from coquina.arrays.opening import is_hdf5
from coquina.folder_members import ARRAY, TABLE, has_member
from coquina.keyword_hints import near_word

#: How files of rows are called, most of them.
_ROWS = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".arrow", ".jsonl", ".ndjson")
#: What `coquina.open` opens.
FORMATS = (
    "Blosc2 arrays and frames (.b2nd, .b2frame), Bloscpack (.blp), HDF5 (.h5, .nc), directories of tables"
)

#: Names of files of plain bytes, which say of nothing else what they are.
PLAIN = (".raw", ".bin")


def is_url(text: str) -> bool:
    """Whether this names something behind a protocol."""
    return "://" in text


def path_of(text: str) -> str:
    """Return the part of a name that is a path: without what stands behind a colon, if that is not a file."""
    end = len(text)
    while end > 0:
        if os.path.exists(text[:end]):
            return text[:end]
        end = text.rfind(":", 0, end)
    # A key may follow the name: `a.b2nd[3:5]`.
    head = text.partition("[")[0]
    if text.endswith("]") and head and os.path.exists(head):
        return head
    # Nothing is there: the name up to the path inside of a file that was meant.
    head, colon, _ = text.partition(":")
    return head if colon and os.path.splitext(head)[1] else text


def check(text: str) -> None:
    """Raise FileNotFoundError if a file is not there; it names what is there under similar names."""
    path = path_of(text)
    if is_url(text) or os.path.lexists(path):
        return
    if text == "-":
        raise ValueError("-: this command reads files; `coquina compress - -` and `decompress` take pipes")
    folder, name = os.path.split(path)
    if os.path.isfile(file := _existing(folder)):
        inside = path[len(file) :].replace(os.sep, "/")
        raise FileNotFoundError(f"{path}: {file} is a file; what is in it is written {file}:{inside}")
    if not os.path.isdir(folder or "."):
        raise FileNotFoundError(f"{path}: there is no such file, nor the folder {folder}")
    try:
        others = os.listdir(folder or ".")
    except OSError:
        others = []
    near = near_word(name, others)
    hint = f"did you mean {os.path.join(folder, near)}?" if near else "is the path right?"
    raise FileNotFoundError(f"{path}: there is no such file; {hint}")


def _existing(path: str) -> str:
    """Return the longest head of a path that is there; "" if none of it is."""
    while path and not os.path.lexists(path):
        path, above = os.path.dirname(path), path
        if path == above:
            return ""
    return path


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
    if os.path.isdir(path):
        return has_member(path, ARRAY) or has_member(path, TABLE)
    with open(path, "rb") as file:
        head = file.read(32)
    return b"b2frame\0" in head or head.startswith(b"blpk") or is_hdf5(path)


def unknown(path: str, takes: str = FORMATS) -> ValueError:
    """Return the error of a file that a subcommand does not take: what it is, and what is taken."""
    if is_url(path):
        return ValueError(f"{path}: takes {takes}")
    if is_known(path):
        return ValueError(
            f"{path} is {_own(path)}; this command reads {takes}; `coquina info {path}` describes it"
        )
    found = what_is_at(path)
    if found is None:
        hint = "; `coquina convert --dtype` makes arrays of plain bytes" if takes.startswith(FORMATS) else ""
        return ValueError(f"{path}: unknown format; this command reads {takes}{hint}")
    what = f"; `coquina {found.verb} {path} OUTPUT` converts it" if found.verb else ""
    if path.lower().endswith((".npy", ".npz")):
        what += f"; `coquina info {path}` describes it"
    if path.lower().endswith(_ROWS):
        what += f"; `coquina query {path}` prints its rows"
    if not what and found.advice == "unpack it first":
        what = "; unpack it first"
    return ValueError(f"{path} is {found.name}; this command reads {takes}{what}")


def _own(path: str) -> str:
    """Return what a file of ours is."""
    if os.path.isdir(path):
        is_table = has_member(path, TABLE)
        return "the directory of a table" if is_table else "the directory of an array"
    with open(path, "rb") as file:
        head = file.read(32)
    if b"b2frame\0" in head:
        return "a frame or array of Blosc2"
    return "a Bloscpack file" if head.startswith(b"blpk") else "an HDF5 file"


def check_packed(path: str) -> None:
    """Raise ValueError if a file is no Bloscpack file."""
    if os.path.isdir(path):
        raise unknown(path, "Bloscpack files (.blp)")
    with open(path, "rb") as file:
        if file.read(4) != b"blpk":
            raise unknown(path, "Bloscpack files (.blp)")
