"""The open nodes of a file: groups and datasets, each made when it is first asked for.

In: objects of h5py. Out: our objects for them, the same one for the same node while anybody holds it.
Invariant: at most `NODES_MAX` nodes are kept that nobody else holds, however many a walk visits.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from coquina._core import UnsupportedError
from coquina.hdf5.damage import told
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.describing import describe, describe_new, place_of
from coquina.hdf5.external import (
    ExternalDataset,
    check_dataset,
    check_linked,
    complete,
    complete_sources,
    file_name,
    has_journal,
)
from coquina.hdf5.file_facts import FileFacts
from coquina.hdf5.groups import Group
from coquina.hdf5.open_files import OpenFile, link_access
from coquina.hdf5.places import inside
from coquina.hdf5.trees import opened
from coquina.hdf5.untyped import h5a, h5d, h5fd, h5g, h5l, h5py, h5t
from coquina.locks import NodeLock
from coquina.providers import Provider

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from coquina.hdf5.describing import Zones
    from coquina.hdf5.files import File
    from coquina.hdf5.sessions import Session
    from coquina.remote import RangeReader
    from coquina.tables import opening as table_opening
    from coquina.tables import vlarrays as variable_arrays
    from coquina.tables.table import Table
else:
    table_opening, variable_arrays = map(Provider, ("table_opening", "variable_arrays"))

NODES_MAX = 256


class Nodes:
    """The nodes of one file that are open."""

    def __init__(self, file: File, session: Session, *, follows: bool = True) -> None:
        """Made by a file. follows: whether it has files read that are not beside it; see `external`."""
        self.file = file
        self._follows = follows
        #: The files that share these nodes, each a handle of the one that is open, by their `id`.
        self.handles: WeakValueDictionary[int, File] = WeakValueDictionary()
        self.session = session
        #: What is below h5py, if the file was opened by a path.
        self.open_file: OpenFile | None = None
        self._lock = NodeLock()
        # By the place of the node's header, which is the same for all of its names, and not used again while
        # the node is open.
        self._alive: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
        self._recent: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self._held: dict[int, Any] = {}
        self._file_facts: FileFacts | None = None
        # The file of h5py that was asked last for libhdf5's number of it, and that number.
        self._numbered: tuple[Any, int] = None, 0

    def named(self, group: Any, name: Any, access: Any = None) -> Any:
        """Return our node for what has this name in a group of h5py, or what a reference refers to.

        access: by what links are followed; see `open_files.link_access`.

        It is what `node(group[name])` is, with fewer questions to libhdf5. Raises KeyError.
        """
        if not isinstance(name, str):
            return self.node(group[name])
        access = link_access() if access is None else access
        with told(group, name):
            # Without its list of properties an external link would be opened by this file's own driver.
            oid = opened(group, name.encode(), access)
            if not isinstance(oid, h5d.DatasetID | h5g.GroupID):
                return self.node(group[name])
            place = place_of(oid)
            found = self._found(place, oid)
            if found is None:
                h5 = self._h5(oid)
                self._check_linked(h5, place)
                if self._is_linked(group, place) and has_journal(path := file_name(oid)):
                    # libhdf5 has the file open as long as there is an object of it.
                    del oid, h5
                    complete(path)
                    h5 = self._h5(oid := opened(group, name.encode(), access))
                    place = place_of(oid)
                return self._new(h5, place)
        self._keep(place, found)
        return found

    def _check_linked(self, h5: Any, place: tuple[int, int]) -> None:
        """Raise UnsupportedError where an external link led elsewhere, and is not to be followed."""
        if not self._follows and not self._is_own(place):
            check_linked(inside(self.file), h5)

    def _is_own(self, place: tuple[int, int]) -> bool:
        """Whether a place is in this file itself."""
        own = inside(self.file)
        asked, number = self._numbered
        if asked is not own:
            number = place_of(own.id)[0]
            self._numbered = own, number
        return place[0] == number

    def _is_linked(self, group: Any, place: tuple[int, int]) -> bool:
        """Whether a place is in another file than the group whose link led there."""
        if group is inside(self.file):
            return not self._is_own(place)
        return place[0] != place_of(group.id)[0]

    def _h5(self, oid: Any) -> Any:
        """Return h5py's object of a group or a dataset of this file, or of one that a link leads to."""
        if isinstance(oid, h5g.GroupID):
            return h5py.Group(oid)
        return h5py.Dataset(oid, readonly=not self.session.is_writable)

    def node(self, h5: Any) -> Any:
        """Return our node for an object of h5py; that object itself where we have none."""
        if not isinstance(h5, h5py.Group | h5py.Dataset):
            return h5
        place = place_of(h5.id)
        found = self._found(place, h5.id)
        if found is None:
            self._check_linked(h5, place)
            return self._new(h5, place)
        self._keep(place, found)
        return found

    def new_dataset(
        self, h5: Any, stored: np.dtype[Any], blocks: tuple[int, ...] | None, zones: Zones
    ) -> Dataset:
        """Return our node for a dataset of h5py that was just made: nothing of it needs to be asked for.

        stored: the dtype of its bytes.
        """
        place = place_of(h5.id)
        facts = describe_new(h5, stored, place[1], self._facts_of(h5.id, place))
        dataset = Dataset(h5, facts, self, blocks=blocks, zones=zones)
        self._keep(place, dataset)
        return dataset

    def _found(self, place: tuple[int, int], oid: Any) -> Any:
        """Return the node that is open for this place, if it shows what is there."""
        with self._lock:
            found = self._alive.get(place)
        if found is not None and is_table(found) and found.is_closed:
            found = next(iter(found.handles), found)
        return None if found is None or not _is_current(found, oid) else found

    def _new(self, h5: Any, place: tuple[int, int]) -> Any:
        found = self._made(h5, place)
        if found is not h5:
            self._keep(place, found)
        return found

    def array(self, h5: Any) -> Any:
        """Return a dataset as an array, whether or not it is a table; h5py's own where we have none."""
        if not isinstance(h5, h5py.Dataset):
            raise TypeError(f"{h5.name}: a group, not a dataset")
        found = self.node(h5)
        return found if isinstance(found, Dataset) or found is h5 else self._array(h5)

    def adopt(self, table: Table) -> None:
        """Give out this table for its place from now on."""
        self._keep(place_of(inside(table).id), table)

    def place_of_link(self, group: Any, name: Any) -> tuple[int, int] | None:
        """Return the place of the node that a hard link of a group of h5py leads to; None for other links."""
        with suppress(KeyError, RuntimeError, TypeError, AttributeError):
            name = name if isinstance(name, bytes) else name.encode()
            link = group.id.links.get_info(name)
            return (place_of(group.id)[0], link.u) if link.type == h5l.TYPE_HARD else None
        return None

    def forget(self, place: tuple[int, int] | None) -> None:
        """Keep a node no longer whose link was removed: libhdf5 frees its space once nobody holds it."""
        if place is not None:
            with self._lock:
                self._recent.pop(place, None)

    def hold(self, node: Any, is_held: bool) -> None:
        """Keep a node until the file is closed, or no longer."""
        with self._lock:
            if is_held:
                self._held[id(node)] = node
            else:
                self._held.pop(id(node), None)

    def _keep(self, place: tuple[int, int], node: Any) -> None:
        with self._lock:
            self._alive[place] = self._recent[place] = node
            self._recent.move_to_end(place)
            while len(self._recent) > NODES_MAX:
                self._recent.popitem(last=False)

    def file_of(self, h5: Any) -> File:
        """Return the file that an object of h5py is in: another one, if an external link led there."""
        return self.file if h5.file == inside(self.file) else self.file.of(h5.file)

    def path_of(self, h5: Any) -> str | None:
        """Return the path of that file, None if it is only in memory."""
        return self.file_of(h5).path

    def where_of(self, h5: Any) -> str | RangeReader | None:
        """Return where the file is, for whoever opens it anew; None if it is only in memory."""
        file = self.file_of(h5)
        return file.path or file.remote

    def pickled(self, node: Any, advice: str = "") -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what a pickle of a node is: where it is, by path and name, so that it reopens for reading.

        advice: what the error says to do instead, if there is no such place.
        """
        where = self.where_of(inside(node))
        if where is None or node.name is None:
            raise TypeError(f"a node without a name, or of a file in memory, cannot be pickled{advice}")
        return reopen, (type(self.file), where, node.name)

    def flush(self) -> None:
        """Hand rows that wait in memory over to the file."""
        with self._lock:
            waiting = list(self._held.values())
        for node in waiting:
            node.flush()

    def reopen(self, reopen: Callable[[], Any], session: Callable[[], Session]) -> None:
        """Show what the file holds once `reopen` has opened it anew and returned h5py's file: another commit.

        Groups and tables stay what they are, as long as there is something of their name. Rows that wait in
        memory are given up, and datasets are closed.
        """
        with self._lock:
            nodes = [(node, inside(node).name) for node in self._alive.values()]
            self._alive.clear()
            self._recent.clear()
            self._held.clear()
            self._file_facts = None
        for node, _ in nodes:
            if isinstance(node, Dataset):
                node.close()
        h5 = reopen()
        self.session = session()
        for handle in list(self.handles.values()):
            handle.show(h5)
        for node, name in nodes:
            if not isinstance(node, Dataset):
                self._show(node, name, h5)

    def _show(self, node: Any, name: str | None, h5: Any) -> None:
        """Have a group or a table show what has its name now; it is closed if there is none."""
        found = None if name is None or name not in h5 else h5[name]
        if is_table(node):
            layout = None if found is None else self._layout(found)
            node.show(layout)
            if found is None or layout is None:
                return
        elif found is not None and isinstance(found, h5py.Group) and id(node) not in self.handles:
            node.show(found)
        else:
            return
        self._keep(place_of(found.id), node)

    def _layout(self, h5: Any) -> Any:
        try:
            return table_opening.layout_of(Group(h5, self) if isinstance(h5, h5py.Group) else self.array(h5))
        except UnsupportedError:
            return None

    def close(self) -> None:
        """Close all datasets that are still held."""
        with self._lock:
            nodes = list(self._alive.values())
        # Tables first: they may have rows left to write.
        for node in nodes:
            if is_table(node):
                for handle in list(node.handles):
                    handle.close()
        with self._lock:
            self._recent.clear()
            self._alive.clear()
            self._held.clear()
        for node in nodes:
            if isinstance(node, Dataset):
                node.close()

    def _made(self, h5: Any, place: tuple[int, int]) -> Any:
        found = Group(h5, self) if isinstance(h5, h5py.Group) else self._array(h5, place)
        if found is h5 or not _may_be_table(found, h5):
            return found
        return table_opening.table_at(found) or found

    def _array(self, h5: Any, place: tuple[int, int] | None = None) -> Any:
        plist = h5.id.get_create_plist()
        if not self._follows:
            try:
                check_dataset(h5, plist)
            except UnsupportedError as error:
                return ExternalDataset(h5, self, error)
        place = place or place_of(h5.id)
        facts = describe(h5, place, self._facts_of(h5.id, place), plist)
        if facts is not None:
            if facts.access == "whole":
                complete_sources(h5)
            return Dataset(h5, facts, self)
        found = self._variable(h5)
        return h5 if found is None else found

    def _facts_of(self, did: Any, place: tuple[int, int]) -> FileFacts:
        """Return what is known of the file of a dataset at a place; of ours it is asked once."""
        known, number = self._file_facts, place[0]
        own = inside(self.file).id
        # SWMR may begin while the file is open.
        if known is not None and known.number == number and own.valid and known.intent == own.get_intent():
            return known
        if not own.valid or not self._is_own(place):
            return FileFacts.of(did, number)
        found = self._file_facts = FileFacts.of_file(own, number, self.open_file)
        return found

    def _variable(self, h5: Any) -> Any:
        if not isinstance(h5.id.get_type(), h5t.TypeVlenID):
            return None
        return variable_arrays.vlarray(h5, self)


def _may_be_table(found: Any, h5: Any) -> bool:
    """Whether it is worth while to import what knows tables."""
    if isinstance(h5, h5py.Group):
        return bool(h5a.exists(h5.id, b"encoding-type"))
    if not isinstance(found, Dataset) or found.ndim != 1:
        return False
    # Records of a real and an imaginary part are taken for numbers.
    is_complex = found.dtype.kind == "c" and isinstance(h5.id.get_type(), h5t.TypeCompoundID)
    return (is_complex or found.dtype.names is not None) and bool(h5a.exists(h5.id, b"CLASS"))


def is_table(node: Any) -> bool:
    """Whether a node is a table."""
    return hasattr(node, "layout") and hasattr(node, "is_closed") and not isinstance(node, Dataset)


def _is_current(node: Any, oid: Any) -> bool:
    """Whether an open node still shows what is there: another handle may have given it another shape."""
    if is_table(node):
        return not node.is_closed
    if not isinstance(node, Dataset):
        return True
    if node.is_closed:
        return False
    shape = oid.shape
    return node.shape[: len(shape)] == shape


def reopen(file: type[File], where: str | RangeReader, name: str) -> Any:
    """Open what a pickle refers to, for reading."""
    return file(where)[name]


def path_of_file(file: Any) -> str | None:
    """Return the absolute path of a file of h5py, None if it is not simply a file."""
    found = OpenFile.of(file)
    if found is not None:
        return found.path
    if file.id.get_access_plist().get_driver() != h5fd.SEC2:
        return None
    return os.path.abspath(os.fsdecode(file.id.name))
