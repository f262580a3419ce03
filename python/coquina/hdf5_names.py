"""Names of what is in HDF5 files: `FILE.h5`, `FILE.h5:/path`.

In: text. Out: the file, and the path in it; nothing where the text names no such file. h5py is not imported.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, cast

from coquina.arrays.opening import is_hdf5

HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".nc", ".nc4", ".nxs")


class Place(NamedTuple):
    """A file, and a path in it."""

    file: str
    path: str


def place(text: str) -> Place | None:
    """Return the place that `text` names in an HDF5 file; None if it names no such file."""
    if _is_file(text):
        return Place(text, "/")
    at = text.rfind(":")
    while at > 0:
        if _is_file(text[:at]):
            return Place(text[:at], text[at + 1 :] or "/")
        at = text.rfind(":", 0, at)
    return None


def is_hdf5_name(path: object) -> bool:
    """Whether a new file of this name is one of HDF5."""
    return os.fsdecode(cast("Any", path)).lower().endswith(HDF5_SUFFIXES)


def _is_file(text: str) -> bool:
    """Whether this is an HDF5 file: by its content, and by its name if it is remote."""
    return text.lower().endswith(HDF5_SUFFIXES) if "://" in text else is_hdf5(text)
