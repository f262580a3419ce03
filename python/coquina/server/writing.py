"""Writes of clients: rows and items that are appended, and files that are uploaded.

In: bodies of requests in temporary files, and places. Out: commits of coquina, or files under their names.
Invariant: a write is one commit, or nothing is written; another writer makes it fail, and is not waited for.
A file that is uploaded appears when it is complete and one that coquina opens.
"""

from __future__ import annotations

import glob
import os
import secrets
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.opening import open as open_file
from coquina.disk import sync_folder
from coquina.hdf5.files import File
from coquina.server.failures import RequestError, bad_request, not_found
from coquina.server.objects import parts_of
from coquina.server.root import HDF5_SUFFIXES, Root, format_of
from coquina.tables.arrow_module import pyarrow
from coquina.tables.opening import open_table
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.server.root import Place
    from coquina.server.service import Service
    from coquina.server.users import User

_NPY = b"\x93NUMPY"
_SUFFIXES = (".b2nd", ".b2frame", ".b2e", ".b2z", ".blp", *HDF5_SUFFIXES)
#: How names of files begin that are still uploaded.
_UNFINISHED = ".upload-"
#: An upload to which nothing was added for so long has ended: pieces of a body come within a minute.
_ABANDONED_SECONDS = 3600
#: One writer of a file at a time in this process; another process is kept out by the file's own lock.
_WRITING = [Lock() for _ in range(64)]


@contextmanager
def _alone(path: str) -> Generator[None]:
    lock = _WRITING[hash(path) % len(_WRITING)]
    if not lock.acquire(blocking=False):
        raise RequestError(409, "busy", "another request writes to the file")
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class Target:
    """What is appended to: the name of a file, and the path of an object in it."""

    file: str
    path: str | None


def check(service: Service, user: User, asked: Target) -> Place:
    """Return the place of a file that a user may change. Raises RequestError: 403, 404."""
    place = service.readable(user, asked.file)
    service.writable(user, place)
    if not isinstance(service.root, Root):
        raise bad_request("objects in memory are not written")
    return place


def append(service: Service, user: User, asked: Target, body: BinaryIO) -> dict[str, Any]:
    """Append what a body holds to a table or an array, in one commit; return its new length.

    body: an Arrow stream, or an NPY file.
    """
    place, path = check(service, user, asked), asked.path
    with _alone(place.path), _opened(place, path) as (node, transaction):
        with transaction:
            if isinstance(node, Table):
                count = _append_rows(node, body)
            elif isinstance(node, Array):
                count = _append_items(node, body)
            else:
                raise bad_request(f"{path or '/'}: neither a table nor an array")
        length = len(node) if isinstance(node, Table) else node.shape[0]
    service.files.forget(place.path)
    return {"appended": count, "length": length}


@contextmanager
def _opened(place: Place, path: str | None) -> Generator[tuple[Any, Any]]:
    """Return an object that can be written, and a context of one commit; the end closes it, and commits."""
    parts = parts_of(path)
    if format_of(place.path) == "table":
        with open_table(place.path, mode="a") as table:
            yield table, _nothing()
        return
    with open_file(place.path, mode="a") as top:
        node: Any = top
        if parts:
            if "/".join(parts) not in top:
                raise not_found(f"{path}: there is no such object in {place.name}")
            node = top["/".join(parts)]
        if isinstance(top, (File, Array)):
            yield node, top.transaction()
        else:
            yield node, _nothing()


@contextmanager
def _nothing() -> Generator[None]:
    yield


def _append_rows(table: Table, body: BinaryIO) -> int:
    pa = pyarrow()
    head = body.read(len(_NPY))
    body.seek(0)
    if head == _NPY:
        return table.append(np.load(body, allow_pickle=False))
    try:
        with pyarrow("ipc").open_stream(body) as stream:
            rows = stream.read_all()
    except pa.ArrowException as error:
        raise bad_request(f"the body is neither an Arrow stream nor an NPY file: {error}") from None
    return table.append(rows)


def _append_items(array: Array, body: BinaryIO) -> int:
    try:
        values: Any = np.load(body, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise bad_request(f"the body is not an NPY file: {error}") from None
    if not getattr(values, "ndim", 0):
        raise bad_request("the body is not an NPY file of an array with axes")
    array.append(values)
    return values.shape[0]


def upload_target(service: Service, user: User, name: str, overwrite: bool) -> Place:
    """Return where an upload goes. Raises RequestError: 403, 409 for a file that is there."""
    if not isinstance(service.root, Root):
        raise bad_request("objects in memory are not written")
    place = service.root.target(name)
    service.writable(user, place)
    if not place.path.lower().endswith(_SUFFIXES):
        raise bad_request(f"{name!r}: takes names that end in {', '.join(_SUFFIXES)}")
    if os.path.lexists(place.path) and not overwrite:
        raise RequestError(409, "exists", f"{name!r} exists; overwrite=1 replaces it")
    return place


def temporary(place: Place) -> str:
    """Return a path beside a place for a file that is not complete; it is not served."""
    folder = os.path.dirname(place.path)
    _remove_abandoned(folder)
    return os.path.join(folder, f"{_UNFINISHED}{secrets.token_hex(8)}")


def _remove_abandoned(folder: str) -> None:
    """Remove the incomplete files of servers that were killed."""
    last = time.time() - _ABANDONED_SECONDS
    for path in glob.glob(os.path.join(glob.escape(folder), f"{_UNFINISHED}*")):
        with suppress(OSError):
            if os.lstat(path).st_mtime < last:
                os.unlink(path)


def finish_upload(service: Service, place: Place, path: str, overwrite: bool) -> dict[str, Any]:
    """Give a complete file its name, once it is known that coquina opens it."""
    suffix = os.path.splitext(place.path)[1].lower()
    checked = f"{path}{suffix}"
    os.rename(path, checked)
    try:
        if format_of(checked) is None:
            raise bad_request(f"{place.name!r}: no file that coquina opens")
        try:
            open_file(checked).close()
        except Exception as error:
            raise bad_request(f"{place.name!r}: cannot be opened: {type(error).__name__}") from None
        size = os.path.getsize(checked)
        with _alone(place.path), _held(place) if overwrite else _nothing():
            if overwrite:
                os.replace(checked, place.path)
            else:
                # Unlike a rename this fails where there is one by now.
                os.link(checked, place.path)
            sync_folder(os.path.dirname(place.path))
    finally:
        with suppress(OSError):
            os.unlink(checked)
    service.files.forget(place.path)
    return {"file": place.name, "size": size}


@contextmanager
def _held(place: Place) -> Generator[None]:
    """Be the writer of a file that is replaced. Raises BlockingIOError where another one is."""
    if format_of(place.path) in (None, "bloscpack"):
        yield
        return
    with open_file(place.path, mode="r+"):
        yield


__all__ = ["append", "finish_upload", "temporary", "upload_target"]
