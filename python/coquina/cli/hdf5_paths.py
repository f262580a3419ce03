"""What the command line names in HDF5 files: `FILE.h5`, `FILE.h5:/path`, `FILE.h5:/path[3:5, ::-1]`.

In: text. Out: the file, and the path in it. h5py is imported only if the file is one of HDF5.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import coquina
from coquina.cli.inputs import is_url
from coquina.cli.keys import key
from coquina.hdf5 import File
from coquina.hdf5.near_names import near_name
from coquina.hdf5_names import HDF5_SUFFIXES, Place, place

if TYPE_CHECKING:
    from collections.abc import Generator


def _opened(file: str) -> Any:
    """Open an HDF5 file to read, also one behind a URL."""
    if is_url(file):
        return coquina.open(file)
    return File(file)


def new_place(text: str, default: str) -> Place | None:
    """Return the place of a dataset that is to be written; None if `text` names no HDF5 file."""
    found = place(text)
    if found is None:
        file, colon, path = text.rpartition(":")
        found = Place(file, path) if colon and file.lower().endswith(HDF5_SUFFIXES) else Place(text, "/")
        if not found.file.lower().endswith(HDF5_SUFFIXES):
            return None
    return found if found.path.strip("/") else Place(found.file, default)


def check_new(found: Place, *, is_forced: bool) -> None:
    """Raise FileExistsError if there is something that is not to be replaced: without --force anything, with
    it a group that is not a table, and all that is in it.
    """
    if not os.path.exists(found.file):
        return
    with _opened(found.file) as file:
        if found.path not in file:
            return
        if not is_forced:
            raise FileExistsError(f"{found.file}:{found.path} exists; --force replaces it")
        if isinstance(file[found.path], coquina.hdf5.Group):
            what = "is a group, of which --force replaces nothing; name a dataset in it"
            raise FileExistsError(f"{found.file}:{found.path} {what}")


@contextmanager
def opened(found: Place) -> Generator[Any]:
    """Open what is at a place: a `Group` or `Dataset`, or h5py's dataset where no array has its items.

    Raises ValueError if there is nothing.
    """
    with _opened(found.file) as file:
        yield node(file, found)


def node(file: Any, found: Place) -> Any:
    """Return what is at a place of an open file. Raises ValueError if there is nothing."""
    if (there := file.get(found.path)) is not None:
        return there
    near = near_name(file.h5, found.path)
    # Names beyond this many help nobody.
    hint = f"did you mean {near}?" if near else f"at the top it has: {', '.join(list(file)[:20])}"
    raise ValueError(f"{found.file}: there is no {found.path}; {hint}")


def with_key(found: Place) -> tuple[Place, Any]:
    """Return a place without the key that may follow its path in brackets, and that key or None."""
    name, bracket, rest = found.path.partition("[")
    if not bracket or not rest.endswith("]"):
        return found, None
    with _opened(found.file) as file:
        # A name may have brackets itself.
        if found.path in file:
            return found, None
    return Place(found.file, name or "/"), key(f"[{rest}")


__all__ = ["Place", "new_place", "node", "opened", "place", "with_key"]
