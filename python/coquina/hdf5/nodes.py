"""The open nodes of a file: groups and datasets, each made when it is first asked for.

In: objects of h5py. Out: our objects for them, the same one for the same node while anybody holds it.
Invariant: at most `NODES_MAX` nodes are kept that nobody else holds, however many a walk visits.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from coquina.hdf5.datasets import Dataset
from coquina.hdf5.describing import describe, place_of
from coquina.hdf5.untyped import h5fd, h5py

if TYPE_CHECKING:
    from coquina.hdf5.files import File

NODES_MAX = 256


class Nodes:
    """The nodes of one file that are open."""

    def __init__(self, file: File) -> None:
        """Made by a file."""
        self._file = file
        self._lock = Lock()
        # By the place of the node's header, which is the same for all of its names, and not used again while
        # the node is open.
        self._alive: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
        self._recent: OrderedDict[tuple[int, int], Any] = OrderedDict()

    def node(self, h5: Any, blocks: tuple[int, ...] | None = None) -> Any:
        """Return our node for an object of h5py; that object itself where we have none.

        blocks: of a dataset that is new.
        """
        if not isinstance(h5, h5py.Group | h5py.Dataset):
            return h5
        place = place_of(h5.id)
        with self._lock:
            found = self._alive.get(place)
        if found is None or not _is_current(found, h5):
            found = self._made(h5, blocks)
            if found is h5:
                return h5
        with self._lock:
            self._alive[place] = self._recent[place] = found
            self._recent.move_to_end(place)
            while len(self._recent) > NODES_MAX:
                self._recent.popitem(last=False)
        return found

    def file_of(self, h5: Any) -> File:
        """Return the file that an object of h5py is in: another one, if an external link led there."""
        from coquina.hdf5.files import File

        return self._file if h5.file == self._file.h5.file else File.of(h5.file)

    def path_of(self, h5: Any) -> str | None:
        """Return the path of that file, None if it is only in memory."""
        return self.file_of(h5).path

    def close(self) -> None:
        """Close all datasets that are still held."""
        with self._lock:
            nodes = list(self._alive.values())
            self._recent.clear()
            self._alive.clear()
        for node in nodes:
            if isinstance(node, Dataset):
                node.close()

    def _made(self, h5: Any, blocks: tuple[int, ...] | None) -> Any:
        from coquina.hdf5.groups import Group

        if isinstance(h5, h5py.Group):
            return Group(h5, self)
        facts = describe(h5)
        return h5 if facts is None else Dataset(h5, facts, self, blocks=blocks)


def _is_current(node: Any, h5: Any) -> bool:
    """Whether an open node still shows what is there: another handle may have given it another shape."""
    if not isinstance(node, Dataset):
        return True
    return not node.is_closed and node.shape[: len(h5.shape)] == h5.shape


def path_of_file(file: Any) -> str | None:
    """Return the absolute path of a file of h5py, None if it is not simply a file."""
    if file.id.get_access_plist().get_driver() != h5fd.SEC2:
        return None
    return os.path.abspath(os.fsdecode(file.id.name))
