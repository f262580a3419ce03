"""Who writes to an HDF5 file while it is open, and whether anybody did since it was closed by us.

In: a file that h5py has open. Out: counts of changes by dataset, whether h5py's own objects were handed out,
    and a stamp that says, as long as it is the file's time of modification, for which notes nothing that
    they depend on was written after them.
Source: docs/formats/indexes.md, "Freshness".
Invariant: a note is told to be fresh only if each write to the places it names was counted, and none came
    after it; whoever does not write through us changes the time of modification.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from coquina.changes import Changes
from coquina.hdf5.describing import place_of
from coquina.hdf5.open_files import OpenFile
from coquina.hdf5.untyped import h5f, h5fd
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import DatasetVersion, SoleWriter

#: The group of the indexes of a table that is a group, in it.
GROUP = "_p_coquina"
#: Before the name of a table or dataset: the group of its indexes, beside it.
HIDDEN = "_p_coquina_"
#: The attribute of a table of columns that says how many rows it has.
ROWS = "coquina_rows"
#: Attributes of the root group: the time, and what is fresh as long as the file has it.
STAMP, FRESH = "_p_coquina_stamp", "_p_coquina_fresh"
_NOTES_MAX = 2000
#: The stamp lies so far back that no clock of a file system gives it to a write to come.
_BACK_NS = 20_000_000

Places = tuple[int, ...]


class DatasetChanges(Changes):
    """The changes of one dataset, told to the engine too.

    version: what the engine asks whether blocks that it decoded are still those of the file; None where
    others may write to it.
    """

    __slots__ = ("version",)

    def __init__(self, writer: SoleWriter | None) -> None:
        """There were none. writer: of the file, if only this package writes to it."""
        super().__init__()
        self.version: DatasetVersion | None = None if writer is None else writer.dataset()

    def happened(self) -> None:
        """Count a change."""
        super().happened()
        if self.version is not None:
            self.version.count()


class Session:
    """What happened to a file since it was opened; all our objects for the file share it.

    is_writable: whether the file can be changed in this process.
    """

    _all: ClassVar[WeakValueDictionary[int, Session]] = WeakValueDictionary()

    def __init__(self, h5: Any, number: int, opened_ns: int | None, raw: str) -> None:
        """Of a file of h5py with this number. opened_ns: when it was modified before, if it was there."""
        self.is_writable: bool = h5.mode != "r"
        found = OpenFile.at(number)
        self._writer = None if found is None else found.writer
        self._raw = ""
        self._note_raw(raw)
        self._h5 = h5
        self._files: list[Any] = []
        self._opened_ns = opened_ns
        self._changes: dict[int, DatasetChanges] = {}
        # Notes that were made in this session, with the changes of their places that they have seen.
        self._made: dict[int, dict[int, int]] = {}
        # Those of the sessions before.
        self._found: dict[int, Places] | None = None
        self._found_ns = 0
        self._forgotten: set[int] = set()

    @lazy_property
    def _descriptor(self) -> int | None:
        """That of the file. Asked for when needed: libhdf5 takes longer to tell it than to open the file."""
        return _descriptor_of(self._open)

    @classmethod
    def of(cls, h5: Any, opened_ns: int | None = None, raw: str = "") -> Session:
        """Return the session of a file of h5py. raw: why somebody else may write to it too."""
        number = place_of(h5.id)[0]
        found = cls._all.get(number)
        if found is None:
            found = cls._all[number] = cls(h5, number, opened_ns, raw)
        else:
            found._note_raw(raw)
        return found

    @classmethod
    def at(cls, node: Any) -> tuple[Session, int]:
        """Return the session of an object of h5py's file, and the object's place in the file."""
        number, place = place_of(node.id)
        found = cls._all.get(number)
        # A file that an external link led to is nobody's `File`.
        return found or cls.of(node.file, raw="the file was opened by a link"), place

    @property
    def raw(self) -> str:
        """Why writes may have gone past us; empty if none can have."""
        return self._raw

    def _note_raw(self, why: str) -> None:
        if not why or not self.is_writable:
            return
        self._raw = self._raw or why
        if self._writer is not None:
            self._writer.end()

    def changes(self, place: int) -> DatasetChanges:
        """Return the changes of the dataset at a place."""
        return self._changes.get(place) or self._changes.setdefault(place, DatasetChanges(self._writer))

    @property
    def has_sole_writer(self) -> bool:
        """Whether the file lies over a file object of ours, so that only this package writes to it."""
        return self._writer is not None

    def enter(self, h5: Any) -> None:
        """Note that this is one of our files."""
        self._files = [one for one in self._files if one.id.valid] + [h5]

    @property
    def is_ours(self) -> bool:
        """Whether we opened the file."""
        return bool(self._files)

    @property
    def _open(self) -> Any:
        """The file of h5py; a closed one, if all are."""
        return next((one for one in self._files if one.id.valid), self._h5)

    def hand_out(self) -> None:
        """Note that somebody gets an object of h5py."""
        self._note_raw("h5py's own object was asked for (`.h5`), and may write")

    def why_raw(self) -> str:
        """Return why there may have been writes past us in this session; empty if there were none."""
        if self.is_writable and not self.raw:
            ours = {one.id.id: one for one in self._files or [self._h5] if one.id.valid}
            if not ours:
                return "the file is closed"
            if h5f.get_obj_count(next(iter(ours.values())).id, h5f.OBJ_FILE) > len(ours):
                self._note_raw("the file is open a second time, by h5py")
        return self.raw

    def modified_ns(self) -> int | None:
        """Return the time of modification; None of what is not a file on a disk."""
        return None if self._descriptor is None else os.fstat(self._descriptor).st_mtime_ns

    def note(self, token: int, places: Places) -> None:
        """Keep that what is known under `token` is of these datasets as they are now."""
        self._made[token] = {place: self.changes(place).total for place in places}

    def forget(self, token: int) -> None:
        """Keep that nothing is known any more under a token."""
        self._made.pop(token, None)
        self._forgotten.add(token)

    def is_fresh(self, token: int, places: Places) -> bool:
        """Whether nothing was written to these datasets since the note was made."""
        made = self._made.get(token)
        if made is not None:
            return set(made) == set(places) and self._is_unchanged(made)
        found = self._notes_found().get(token)
        if found is None or set(found) != set(places) or token in self._forgotten:
            return False
        if self.is_writable:
            return self._opened_ns == self._found_ns and self._is_unchanged(dict.fromkeys(found, 0))
        return self.modified_ns() == self._found_ns

    def all_changed(self) -> None:
        """Keep that datasets came into the file in a way that is not counted by place."""
        for changes in list(self._changes.values()):
            changes.happened()
        self._found = {}

    def _is_unchanged(self, seen: Mapping[int, int]) -> bool:
        return all(self.changes(place).total == total for place, total in seen.items())

    def _notes_found(self) -> dict[int, Places]:
        if self._found is None:
            self._found, self._found_ns = _read(self._open)
        return self._found

    def closing(self) -> Stamp | None:
        """Write the stamp; the file is closed right after that. Return what the time is to be set by."""
        h5 = self._open
        if not self.is_writable or not h5.id.valid or self._descriptor is None:
            return None
        if self.why_raw() or sum(one.id.valid for one in self._files) > 1:
            return None
        notes = self._notes_left() if self._made or STAMP in h5.attrs else {}
        if not notes:
            return None
        at = ((time.time_ns() - _BACK_NS) // 1000 | 1) * 1000
        try:
            _write(h5, at, notes)
        except (OSError, RuntimeError, ValueError, KeyError):
            return None
        return Stamp(self._descriptor, at)

    def _notes_left(self) -> dict[int, Places]:
        """Return the notes that are still right."""
        notes: dict[int, Places] = {}
        if self._opened_ns is not None and self._opened_ns == self._note_ns():
            found = self._notes_found().items()
            notes = {token: places for token, places in found if token not in self._forgotten}
            notes = {
                token: places
                for token, places in notes.items()
                if self._is_unchanged(dict.fromkeys(places, 0))
            }
        notes.update({token: tuple(seen) for token, seen in self._made.items() if self._is_unchanged(seen)})
        return dict(list(notes.items())[-_NOTES_MAX:])

    def _note_ns(self) -> int:
        self._notes_found()
        return self._found_ns


class Stamp:
    """The time that a file gets once it is closed; odd microseconds, which no coarser clock gives."""

    def __init__(self, descriptor: int, at: int) -> None:
        """For the file of a descriptor, which may be closed meanwhile."""
        self._descriptor = os.dup(descriptor)
        self._at = at

    def set(self) -> None:
        """Set it, after the disk has what was written: a power cut must not leave the time alone."""
        try:
            os.fsync(self._descriptor)
            os.utime(self._descriptor, ns=(os.fstat(self._descriptor).st_atime_ns, self._at))
        except OSError:
            # It is another time then, and what was noted is looked at anew.
            return

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def _descriptor_of(h5: Any) -> int | None:
    """Return the descriptor of a file that is one on a disk, where its time can be set by that."""
    if os.utime not in os.supports_fd:
        return None
    found = OpenFile.of(h5)
    if found is not None:
        # The time of a file that is not at the commit that is read says nothing of it.
        return found.journaled.fileno() if found.is_writable and found.journaled is not None else None
    if h5.id.get_access_plist().get_driver() != h5fd.SEC2:
        return None
    return h5.id.get_vfd_handle()


def _read(h5: Any) -> tuple[dict[int, Places], int]:
    """Return the notes of the last session, and its stamp; none from what is no stamp."""
    try:
        at, pairs = int(h5.attrs[STAMP]), np.asarray(h5.attrs[FRESH], np.uint64)
    except (KeyError, TypeError, ValueError, OSError, RuntimeError):
        return {}, 0
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        return {}, 0
    notes: dict[int, Places] = {}
    for token, place in pairs.tolist():
        notes[token] = (*notes.get(token, ()), place)
    return notes, at


def _write(h5: Any, at: int, notes: Mapping[int, Places]) -> None:
    pairs = [(token, place) for token, places in notes.items() for place in places]
    h5.attrs[FRESH] = np.array(pairs, np.uint64).reshape(-1, 2)
    h5.attrs[STAMP] = np.int64(at)
