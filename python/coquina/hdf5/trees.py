"""Walks over all objects and links below a group, in the order in which they were made where that is known.

In: a group of h5py. Out: `Entry`: groups before what is in them, each object once; further names of an object
are entries of their own. Names are bytes, as HDF5 has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from coquina._core import UnsupportedError
from coquina.hdf5.untyped import h5, h5f, h5l, h5o, h5p, h5py, h5t

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["group", "dataset", "type", "again", "soft", "external"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An object, or a link.

    path: from the top of the walk on, which is `/`. kind: "again" for a further name of an object.
    object: of h5py, None for links. to: of a soft link its path, of an external one file and path, of a
    further name the first one. is_utf8: how the name is marked.
    """

    path: bytes
    kind: Kind
    object: Any = None
    to: Any = None
    is_utf8: bool = False

    @property
    def name(self) -> str:
        """The path, for people."""
        return self.path.decode("utf-8", "backslashreplace")


class Walk:
    """A walk; it can be made several times, and always goes the same way.

    paths: the first path of each object that was met so far, by its place in the file.
    """

    def __init__(self, top: Any) -> None:
        """`top` is a group, or a dataset, which then is the only thing in a group `/`."""
        self.top = top
        self.paths: dict[int, bytes] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Yield all entries but the top itself."""
        if not isinstance(self.top, h5py.Group):
            name = b"/" + self.top.name.encode("utf-8", "surrogateescape").rpartition(b"/")[2]
            self.paths[address(self.top)] = name
            yield Entry(name, "dataset", self.top, None, is_utf8=True)
            return
        self.paths[address(self.top)] = b"/"
        seen = {address(self.top): b"/"}
        left = [_members(self.top, b"/")]
        while left:
            entry = next(left[-1], None)
            if entry is None:
                left.pop()
                continue
            if entry.object is None:
                yield entry
                continue
            place = address(entry.object)
            if place in seen:
                yield Entry(entry.path, "again", entry.object, seen[place], entry.is_utf8)
                continue
            self.paths[place] = seen[place] = entry.path
            yield entry
            if entry.kind == "group":
                left.append(_members(entry.object, entry.path))


def group_plist(group: Any) -> Any:
    """Return the properties for a group like this one.

    Not those that libhdf5 tells: they hold the number of links too, and a group that is made with them is
    believed to have so many.
    """
    old, new = group.id.get_create_plist(), h5p.create(h5p.GROUP_CREATE)
    new.set_link_creation_order(old.get_link_creation_order())
    new.set_attr_creation_order(old.get_attr_creation_order())
    new.set_attr_phase_change(*old.get_attr_phase_change())
    new.set_obj_track_times(old.get_obj_track_times())
    return new


def address(object: Any) -> int:
    """Return where the object stands in its file."""
    return h5o.get_info(object.id).addr


def _members(group: Any, path: bytes) -> Iterator[Entry]:
    links = group.id.links
    names: list[bytes] = []
    is_tracked = group.id.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
    links.iterate(names.append, idx_type=h5.INDEX_CRT_ORDER if is_tracked else h5.INDEX_NAME)
    for name in names:
        full = path.rstrip(b"/") + b"/" + name
        info = links.get_info(name)
        kind, is_utf8 = info.type, info.cset == h5t.CSET_UTF8
        if kind == h5l.TYPE_SOFT:
            yield Entry(full, "soft", None, links.get_val(name), is_utf8)
        elif kind == h5l.TYPE_EXTERNAL:
            yield Entry(full, "external", None, links.get_val(name), is_utf8)
        elif kind == h5l.TYPE_HARD:
            yield _object(opened(group, name), full, is_utf8)
        else:
            raise UnsupportedError(
                f"{full!r}: a link of kind {kind}, which only the program that wrote it can follow"
            )


def opened(group: Any, name: bytes, access: Any = None) -> Any:
    """Return the identifier of an object in a group of h5py. access: by what links are followed.

    libhdf5 refuses to open a dataset with raw items in other files again with another prefix for their names;
    the one that is open is the same dataset.
    """
    try:
        return h5o.open(group.id, name, access)
    except KeyError as error:
        if "prefix of already open dataset" not in str(error):
            raise
        place = h5o.get_info(group.id, name).addr
        for oid in h5f.get_obj_ids(group.file.id, types=h5f.OBJ_DATASET):
            if h5o.get_info(oid).addr == place:
                return oid
        raise


def _object(found: Any, path: bytes, is_utf8: bool) -> Entry:
    if isinstance(found, h5py.h5g.GroupID):
        return Entry(path, "group", h5py.Group(found), None, is_utf8)
    if isinstance(found, h5py.h5d.DatasetID):
        return Entry(path, "dataset", h5py.Dataset(found), None, is_utf8)
    return Entry(path, "type", h5py.Datatype(found), None, is_utf8)
