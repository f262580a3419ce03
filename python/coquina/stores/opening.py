"""Stores that are opened: directories, ZIP archives, and frames that hold others.

In: paths, file objects, open frames. Out: stores; None for what is none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

from coquina import _core
from coquina._core import CorruptError, UnsupportedError
from coquina.folder_members import STORE, has_member
from coquina.stores.archive import Archive
from coquina.stores.checking import Checked, check
from coquina.stores.contents import Contents
from coquina.stores.directory import leaves_of_directory
from coquina.stores.homes import ArchiveHome, DirectoryHome
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
    return _opened(contents_of(path, verify=verify))


def checked(path: str, threads: int | None = None) -> Checked:
    """Return what was read of all leaves of a store, or of a table that is one, and what is damaged."""
    return check(contents_of(path), threads)


def contents_of(path: str, *, verify: bool = True) -> Contents:
    """Return what is in a store that is a directory, an archive or one frame."""
    if os.path.isdir(path):
        embed = os.path.join(path, STORE)
        frame = _embed_frame(_core.open_content(embed, verify=verify), embed)
        return Contents(frame, leaves_of_directory(path), path=path, name=path, verify=verify)
    with open(path, "rb") as file:
        if file.read(2) == b"PK":
            archive = Archive(file, path, path)
            frame = _embed_frame(archive.leaf(STORE).open(verify), f"{path}: {STORE}")
            return Contents(frame, archive.leaves(STORE), path=path, name=path, verify=verify)
    frame = _embed_frame(_core.open_content(path, verify=verify), path)
    return Contents(frame, {}, path=path, name=path, verify=verify)


def open_to_change(path: str, mode: str, *, verify: bool = True, durable: bool = False) -> Store | Table:
    """Return a store that can be changed, or the table that all of it is: the one at a path, or a new one.

    Raises FileExistsError for mode "x", and for what is no store; BlockingIOError if another writer has it.
    """
    path = os.path.realpath(path)
    is_there, is_directory = os.path.lexists(path), os.path.isdir(path)
    if is_there and (mode == "x" or (is_directory and not has_member(path, STORE))):
        raise FileExistsError(f"{path} exists{'' if mode == 'x' else ', and is not a store'}")
    if is_directory or not (is_there or path.lower().endswith(_SUFFIX)):
        home = (DirectoryHome if is_there else DirectoryHome.make)(path, durable=durable)
    else:
        home = ArchiveHome(path, is_new=mode == "w" or not is_there, durable=durable)
    try:
        contents = Contents(home.embed, home.leaves(), path=path, name=path, verify=verify, home=home)
    except BaseException:
        home.close()
        raise
    store = Store(contents)
    try:
        if store.kind != "TreeStore":
            raise UnsupportedError(
                f"{path}: a {store.kind} is opened for reading only; a TreeStore can be changed"
            )
        if (table := contents.table("/", contents.top)) is not None:
            if mode == "w":
                raise UnsupportedError(f"{path}: mode 'w': a table in a directory is not replaced; remove it")
            table.own(store)
            return table
        if mode == "w":
            store.clear()
            store.attrs.clear()
    except BaseException:
        contents.close(commits=False)
        raise
    return store


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
    if STORE not in archive.members:
        return None
    frame = _embed_frame(archive.leaf(STORE).open(verify), f"{name}: {STORE}")
    found = _opened(Contents(frame, archive.leaves(STORE), path=path, name=name, verify=verify))
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
