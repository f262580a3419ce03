"""Stores that are opened: directories, ZIP archives, and frames that hold others.

In: paths, file objects, open frames. Out: stores; None for what is none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

from coquina import _core
from coquina._core import CorruptError
from coquina.stores.archive import Archive
from coquina.stores.contents import Contents
from coquina.stores.directory import leaves_of_directory
from coquina.stores.keys import EMBED
from coquina.stores.metadata import fixed_names
from coquina.stores.objects import values_of
from coquina.stores.packed import LAYER as PACKED
from coquina.stores.packed import packed_array
from coquina.stores.tree import Store

if TYPE_CHECKING:
    from coquina._core import FrameHandle
    from coquina.remote import RangeReader
    from coquina.tables.table import Table

_SUFFIX = ".b2z"


def open_directory(path: str, *, verify: bool = True) -> Store | Table:
    """Return the store, or the table, that a directory with an `embed.b2e` is."""
    embed = os.path.join(path, EMBED)
    frame = _embed_frame(_core.open_content(embed, verify=verify), embed)
    return _opened(Contents(frame, leaves_of_directory(path), path=path, name=path, verify=verify))


def open_archive(
    file: BinaryIO,
    path: str | None,
    name: str,
    *,
    verify: bool = True,
    reader: RangeReader | None = None,
) -> Store | Table | None:
    """Return the store, or the table, that a ZIP archive is; None for one of other files.

    path: by which the engine opens it; None for it to read `file`, or `reader`. name: for errors.
    """
    try:
        archive = Archive(file, path, name)
    except CorruptError:
        if name.lower().endswith(_SUFFIX):
            raise
        # It is told of as what it is.
        return None
    if EMBED not in archive.members:
        return None
    frame = _embed_frame(archive.leaf(EMBED).open(verify), f"{name}: {EMBED}")
    found = _opened(Contents(frame, archive.leaves(EMBED), path=path, name=name, verify=verify))
    if isinstance(found, Store):
        found.remote = reader
    return found


def of_frame(handle: FrameHandle, *, verify: bool, is_whole: bool) -> Any:
    """Return what a frame is that holds more than plain chunks. is_whole: whether it is all of its file."""
    if PACKED in handle.layer_names():
        return packed_array(handle)
    if (values := values_of(handle, fixed_names(handle))) is not None:
        return values
    path = handle.path if is_whole else None
    name = handle.path or "a frame in memory"
    return _opened(Contents(handle, {}, path=path, name=name, verify=verify))


def _opened(contents: Contents) -> Store | Table:
    """Return a store, or the table that all of it is."""
    store = Store(contents)
    return contents.table("/", contents.top) or store


def _embed_frame(handle: Any, where: str) -> FrameHandle:
    if not isinstance(handle, _core.FrameHandle):
        raise CorruptError(f"{where}: no frame that leaves lie in")
    return handle
