"""Copies all that is below a group into a new file, datasets stored as a request says.

In: a walk, and an open new file. Out: the same objects and links, each object once, in the same order. What
is not stored otherwise libhdf5 copies, chunks as they are; references are set at the end, when all is there.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from coquina.hdf5 import chunk_encoding
from coquina.hdf5 import exact_attributes as attributes
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.planning import Plan, plan
from coquina.hdf5.storing import copy_chunks, copy_items, make, nbytes_of, slots_of, smallest_plan
from coquina.hdf5.targets import Targets
from coquina.hdf5.trees import Walk, address, group_plist
from coquina.hdf5.tuning_attribute import is_stated
from coquina.hdf5.untyped import h5d, h5g, h5o, h5p, h5py, h5t
from coquina.hdf5.variable_items import read_items, row_regions, write_items
from coquina.tuning_options import only_bytes_count

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from coquina.hdf5.chunk_encoding import ChunkEncoding
    from coquina.hdf5.planning import CopyRequest
    from coquina.hdf5.trees import Entry
    from coquina.lossy import LossyInfo
    from coquina.tuning_options import Terms

#: libhdf5's name for it is H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG.
_MERGE_NAMED_TYPES = 0x40
#: Named datatypes wait here for their place, if something needs them before.
_WAITING = b".coquina-datatypes"


@dataclass(frozen=True, slots=True)
class Copied:
    """A dataset of a copy.

    nbytes: of its items. before, after: bytes that they took and take. how: "copied" as they were stored,
    "chunks" with some encoded again, "encoded". reason: why it is not stored as it was asked for.
    """

    name: str
    nbytes: int
    before: int
    after: int
    how: str
    reason: str | None


class TreeCopy:
    """A copy that is being made."""

    def __init__(
        self, old: Walk, new: Any, request: CopyRequest, threads: int | None, done: Callable[[int], object]
    ) -> None:
        """`new` is an empty file of h5py."""
        self._old = old
        self._new = new
        self._request = request
        self._threads = threads
        self._done = done
        self._types: dict[int, bytes] = {}
        self._pointing: list[tuple[Any, bytes]] = []
        self.datasets: list[Copied] = []
        #: Datasets that lose something, with what they lost; their attributes say nothing of it yet.
        self.bounds: dict[str, LossyInfo] = {}
        #: Datasets that were encoded again, with what they are tuned for, which their attributes are to say.
        self.goals: dict[str, Terms | None] = {}
        #: Datasets whose chunks got checksums, or lost them, which their attributes are to say.
        self.sums: dict[str, bool] = {}
        #: Datasets that are, or were, encoded as parameters do not say, with what attributes are to say.
        self.encodings: dict[str, ChunkEncoding | None] = {}

    def make(self) -> None:
        """Copy everything."""
        for _ in self._old:
            pass  # From now on the walk knows which datatypes have names in the tree.
        if isinstance(self._old.top, h5py.Group):
            self._attributes(self._old.top, self._new, b"/")
        for entry in self._old:
            self._copy(entry)
        if _WAITING in self._new:
            self._new.id.unlink(_WAITING)
        targets = Targets(self._old, Walk(self._new))
        for source, path in self._pointing:
            target = self._at(path)
            attributes.point(source, target, targets)
            if isinstance(source, h5py.Dataset) and attributes.refers(source.id.get_type()):
                for region in row_regions(source):
                    write_items(target, region, targets.pointed(read_items(source, region)))

    def _copy(self, entry: Entry) -> None:
        names, link = self._new.id.links, _link_plist(entry)
        if entry.kind == "soft":
            names.create_soft(entry.path, entry.to, lcpl=link)
        elif entry.kind == "external":
            names.create_external(entry.path, *entry.to, lcpl=link)
        elif entry.kind == "again":
            names.create_hard(entry.path, self._new.id, entry.to, lcpl=link)
        elif entry.kind == "group":
            plist = group_plist(entry.object)
            made = h5py.Group(h5g.create(self._new.id, entry.path, lcpl=link, gcpl=plist))
            self._attributes(entry.object, made, entry.path)
            _copy_comment(entry.object, made)
        elif entry.kind == "type":
            waiting = self._type_path(entry.object.id)
            names.create_hard(entry.path, self._new.id, waiting, lcpl=link)
            self._types[address(entry.object)] = entry.path
            if attributes.any_type(entry.object, attributes.refers):
                self._pointing.append((entry.object, entry.path))
        else:
            self._copy_dataset(entry, link)

    def _copy_dataset(self, entry: Entry, link: Any) -> None:
        source = entry.object
        planned = plan(source, entry.name, self._request)
        if planned.how == "copied" and not has_far_fill(source):
            self._copy_whole(source, entry.path, link)
            self._done(nbytes_of(source))
        elif planned.how == "copied":
            self._copy_variable(source, entry.path, link)
        else:
            planned = self._store_smaller(source, planned, (self._new, entry.path, link))
        after = self._stored_bytes(entry.path)
        before = source.id.get_storage_size()
        row = Copied(entry.name, nbytes_of(source), before, after, planned.how, planned.reason)
        self.datasets.append(row)

    def _store_smaller(self, source: Any, planned: Plan, place: tuple[Any, bytes, Any]) -> Plan:
        """Store a dataset as planned; where only bytes count and it would be larger, copy it as it is stored.

        Returns what was done in the end.
        """
        if not _only_bytes_count(planned):
            self._store(source, planned, place)
            return planned
        if self._request.may_be_plain:
            planned = smallest_plan(source, planned)
            if (planned.chunks, planned.filters) == (source.chunks, slots_of(source)):
                self._copy_whole(source, place[1], place[2])
                return Plan("copied", "no filter that was tried makes it smaller")
        # Tried in another file: what is deleted from the new one would leave a gap there.
        with self._trial(source, planned) as trial:
            after, before = trial.id.get_storage_size(), source.id.get_storage_size()
            if after <= before:
                self._store(source, planned, place, trial)
                return planned
        self._copy_whole(source, place[1], place[2])
        return Plan("copied", f"it would take {after} bytes instead of {before}")

    @contextmanager
    def _trial(self, source: Any, planned: Plan) -> Generator[Any]:
        """Give a copy of the items of a dataset, stored as planned, in a file without a name.

        Nothing is left of it, also if the process is killed.
        """
        folder = os.path.dirname(os.path.abspath(self._new.file.filename))
        with TemporaryFile(dir=folder) as scratch, h5py.File(scratch, "w") as file:
            made = make((file, b"items", None), source, planned, source.id.get_type().copy())
            copy_items(source, made, planned, self._threads, self._done)
            yield made

    def _stored_bytes(self, path: bytes) -> int:
        return self._at(path).id.get_storage_size()

    def _copy_whole(self, source: Any, path: bytes, link: Any) -> None:
        """Copy a dataset as it is stored."""
        options = h5p.create(h5p.OBJECT_COPY)
        if source.id.get_type().committed() or attributes.any_type(source, _is_named):
            for tid in (source.id.get_type(), *attributes.types(source)):
                self._datatype(tid)
            options.set_copy_object(_MERGE_NAMED_TYPES)
        h5o.copy(source.id, b".", self._new.id, path, copypl=options, lcpl=link)
        if attributes.any_type(source, attributes.refers) or attributes.refers(source.id.get_type()):
            self._pointing.append((source, path))

    def _copy_variable(self, source: Any, path: bytes, link: Any) -> None:
        """Copy a dataset of items of variable length by its items."""
        tid, plist = self._datatype(source.id.get_type()), source.id.get_create_plist()
        made = h5d.create(self._new.id, path, tid, source.id.get_space(), plist, lcpl=link)
        target = h5py.Dataset(made)
        self._attributes(source, target, path)
        _copy_comment(source, target)
        if attributes.refers(source.id.get_type()):
            self._pointing.append((source, path))
        elif source.shape is not None and source.id.get_storage_size():
            for region in row_regions(source):
                write_items(target, region, read_items(source, region))
        self._done(nbytes_of(source))

    def _store(self, source: Any, planned: Plan, place: tuple[Any, bytes, Any], trial: Any = None) -> None:
        """Copy a dataset and store it as planned. trial: has its chunks already.

        It gets its name at once: to ask for the name of one without makes libhdf5 search the whole file.
        """
        target = make(place, source, planned, self._datatype(source.id.get_type()))
        self._attributes(source, target, place[1])
        _copy_comment(source, target)
        if planned.how == "chunks" and slots_of(target) == slots_of(source):
            copy_chunks(source, target, self._done)
        else:
            name = place[1].decode(errors="surrogateescape")
            if trial is not None:
                copy_chunks(trial, target, lambda done: None)
            elif (known := copy_items(source, target, planned, self._threads, self._done)) is not None:
                self.bounds[name] = known
            if planned.how == "encoded" and (planned.tuning is not None or is_stated(source)):
                self.goals[name] = planned.tuning
            if planned.how == "encoded" and (planned.encoding or chunk_encoding.is_stated(source.id)):
                self.encodings[name] = planned.encoding
            if planned.checksums is not None:
                self.sums[name] = planned.checksums

    def _attributes(self, source: Any, target: Any, path: bytes) -> None:
        if attributes.copy(source, target, self._datatype):
            self._pointing.append((source, path))

    def _datatype(self, tid: Any) -> Any:
        """Return the new file's datatype for one of the old file: of the same name, if it has one."""
        if not tid.committed() or h5o.get_info(tid).addr not in self._old.paths:
            return tid
        return h5t.open(self._new.id, self._type_path(tid))

    def _type_path(self, tid: Any) -> bytes:
        """Return where the new file has a named datatype of the old one; it is copied if need be."""
        place = h5o.get_info(tid).addr
        if place not in self._types:
            if _WAITING not in self._new:
                h5g.create(self._new.id, _WAITING)
            path = _WAITING + b"/%d" % place
            h5o.copy(tid, b".", self._new.id, path)
            self._types[place] = path
        return self._types[place]

    def _at(self, path: bytes) -> Any:
        return self._new[path]


def has_far_fill(dataset: Any) -> bool:
    """Whether the fill value is of variable length: libhdf5 copies the place of it, and not what is there."""
    if is_fixed(dataset.id.get_type()):
        return False
    return dataset.id.get_create_plist().fill_value_defined() == h5d.FILL_VALUE_USER_DEFINED


def _only_bytes_count(planned: Plan) -> bool:
    """Whether a dataset is tuned for size alone, with all its items kept and no checksums asked for."""
    is_exact = planned.lossy is None and planned.checksums is None
    return is_exact and only_bytes_count(planned.tuning)


def _is_named(tid: Any) -> bool:
    return tid.committed()


def _link_plist(entry: Entry) -> Any:
    plist = h5p.create(h5p.LINK_CREATE)
    plist.set_char_encoding(h5t.CSET_UTF8 if entry.is_utf8 else h5t.CSET_ASCII)
    return plist


def _copy_comment(source: Any, target: Any) -> None:
    comment = h5o.get_comment(source.id, b".")
    if comment:
        h5o.set_comment(target.id, comment)
