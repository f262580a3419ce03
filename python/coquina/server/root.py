"""The folder that is served, and what of it clients may name.

In: names from requests, hostile for all we know. Out: places within the folder.
Invariant: no place is outside of the folder, whatever `..`, absolute names, NULs and symbolic links say.
Names that begin with a dot are not served.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Any

from coquina.folder_members import ARRAY, STORE, TABLE, has_member
from coquina.server.failures import RequestError, bad_request, not_found

_HDF5 = b"\x89HDF\r\n\x1a\n"
_FRAME = b"b2frame\0"
_PACKED = b"blpk"
_ZIP = b"PK"
HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".nc", ".nc4", ".nxs")
#: Entries of a folder that are listed at most.
ENTRIES_MAX = 10_000
NAME_MAX = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A file or a folder that is served. name: from the root on, "" for the root. path: on the server.

    inside: its name once links are resolved, which rights are looked up by.
    """

    name: str
    path: str
    inside: str


def format_of(path: str) -> str | None:
    """Return what coquina opens at a path: "hdf5", "b2nd", "bloscpack", "store" or "table"; else None."""
    if os.path.isdir(path):
        for member, kind in ((TABLE, "table"), (STORE, "store"), (ARRAY, "b2nd")):
            if has_member(path, member):
                return kind
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError:
        return None
    if head.startswith(_HDF5):
        return "hdf5"
    if head[2:10] == _FRAME:
        return "store" if path.lower().endswith(".b2e") else "b2nd"
    if head.startswith(_PACKED):
        return "bloscpack"
    if head.startswith(_ZIP) and path.lower().endswith(".b2z"):
        return "store"
    # A user block stands before the signature.
    return "hdf5" if path.lower().endswith(HDF5_SUFFIXES) and head else None


def known_format(place: Place) -> str:
    """Return what coquina opens at a place. Raises RequestError: 403 for what may not be read, 404."""
    kind = format_of(place.path)
    if kind is None:
        if not os.access(place.path, os.R_OK):
            raise RequestError(403, "forbidden", f"{place.name!r} may not be read by the server")
        raise not_found(f"{place.name!r}: no file that coquina opens")
    return kind


def _is_plain(folder: str, parts: list[str]) -> bool:
    """Whether there is such a path below a folder, without links: it needs no `realpath`."""
    if os.name != "posix":
        # Windows has links of other kinds.
        return False
    for part in parts:
        folder = f"{folder}/{part}"
        try:
            mode = os.lstat(folder).st_mode
        except OSError:
            return False
        if stat.S_ISLNK(mode):
            return False
    return True


class Root:
    """A folder, or a single file, that is served. path: its place, links resolved. single: its name."""

    def __init__(self, path: str) -> None:
        """Raises FileNotFoundError if there is nothing, ValueError for a file that coquina does not open."""
        found = os.path.realpath(path)
        if not os.path.exists(found):
            raise FileNotFoundError(f"{path}: there is no such file or folder")
        self.single: str | None = None
        self.path = found
        self.name = os.path.basename(found) or found
        kind = format_of(found)
        if kind is not None:
            self.single = os.path.basename(found)
            self.path = os.path.dirname(found)
        elif not os.path.isdir(found):
            raise ValueError(f"{path}: no file that coquina opens")

    def find(self, name: str) -> Place:
        """Return the place of a name. Raises RequestError: 400 for what is no name, 404 for nothing."""
        parts = _parts(name)
        if self.single is not None and (not parts or parts[0] != self.single):
            raise not_found(f"{name!r}: there is no such file")
        relative = "/".join(parts)
        if _is_plain(self.path, parts):
            return Place(relative, os.path.join(self.path, *parts), relative)
        real = os.path.realpath(os.path.join(self.path, *parts))
        if os.path.commonpath([self.path, real]) != self.path or not os.path.exists(real):
            raise not_found(f"{relative!r}: there is no such file")
        return self._place(relative, real)

    def named(self, name: str) -> Place:
        """Return the place of a name; of a single file for an empty one. Raises RequestError."""
        return self.find(self.single if not name and self.single is not None else name)

    def file(self, name: str) -> Place:
        """Return the place of what coquina opens. Raises RequestError for folders and other files."""
        place = self.named(name)
        known_format(place)
        return place

    def target(self, name: str) -> Place:
        """Return the place of a file that may be made: its folder must exist within the root."""
        parts = _parts(name)
        if not parts or self.single is not None:
            raise bad_request(f"{name!r}: no name for a new file")
        folder = self.find("/".join(parts[:-1]))
        if not os.path.isdir(folder.path) or format_of(folder.path) is not None:
            raise bad_request(f"{folder.name!r}: no folder")
        path = os.path.join(folder.path, parts[-1])
        if os.path.islink(path) or os.path.isdir(path):
            raise bad_request(f"{name!r}: no name for a new file")
        return self._place("/".join(parts), path)

    def _place(self, name: str, path: str) -> Place:
        inside = os.path.relpath(path, self.path)
        return Place(name, path, "" if inside == "." else inside)

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return what a folder holds that coquina opens, and its folders, by name."""
        if self.single is not None:
            return [_entry(self.find(self.single))]
        place = self.find(name)
        if not os.path.isdir(place.path) or format_of(place.path) is not None:
            raise not_found(f"{place.name!r}: no folder")
        found: list[dict[str, Any]] = []
        with os.scandir(place.path) as entries:
            names = sorted(one.name for one in entries if not one.name.startswith("."))
        for one in names[:ENTRIES_MAX]:
            try:
                below = self.find(f"{place.name}/{one}".lstrip("/"))
            except (RequestError, OSError):
                # A link that leads nowhere, or out of the root.
                continue
            entry = _entry(below)
            if entry["kind"] == "folder" or entry["format"] is not None:
                found.append(entry)
        return found


def _entry(place: Place) -> dict[str, Any]:
    facts = os.stat(place.path)
    kind = format_of(place.path)
    is_folder = kind is None and os.path.isdir(place.path)
    return {
        "name": place.name.rpartition("/")[2],
        "path": place.name,
        "kind": "folder" if is_folder else "file",
        "size": None if is_folder else _size(place.path, facts),
        "modified": facts.st_mtime,
        "format": kind,
    }


def _size(path: str, facts: os.stat_result) -> int:
    if not os.path.isdir(path):
        return facts.st_size
    total = 0
    for folder, _, names in os.walk(path):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in names[:ENTRIES_MAX])
    return total


def _parts(name: str) -> list[str]:
    """Return the parts of a name. Raises RequestError for what could lead elsewhere."""
    if len(name) > NAME_MAX or "\0" in name or "\\" in name or name.startswith("/"):
        raise bad_request(f"{name[:80]!r}: no name of a file")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise bad_request(f"{name[:80]!r}: no name of a file") from None
    parts = [part for part in name.split("/") if part]
    for part in parts:
        if part.startswith(".") or len(os.fsencode(part)) > 255:
            raise bad_request(f"{name[:80]!r}: no name of a file")
    return parts
