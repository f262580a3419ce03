"""Whether what an index knows of its arrays is still so: nobody wrote to them since, but its owner.

In: arrays, what was kept beside an index, and a number for who tells the index of its changes. Out: yes; or
    no, until fingerprints are compared; or that it cannot be known.
Source: docs/formats/indexes.md, "Freshness".
Invariant: yes is said only if no write went past the owner since the last comparison, or since the index was
    saved. It costs a look at a few numbers, and at the time of a file.
"""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING, Any, cast

from coquina.arrays.writes import changes_of
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.places import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coquina.arrays.array import Array
    from coquina.hdf5.sessions import Session
    from coquina.indexes.source import Freshness

    Arrays = Callable[[], Sequence[Array]]

#: Two writes within this time may give a file the same time of modification.
_RACY_NS = 50_000_000
#: A file that changes more often while it is open for reading is not looked through again.
_LOOKS_MAX = 4
_STAMP_BACK_NS = 20_000_000


def freshness_of(writer_id: int, arrays: Arrays, kept: dict[str, Any]) -> Freshness:
    """Return the freshness of arrays for an index whose writer notifies it of changes.

    writer_id: see `changes.written_by`. arrays: returns the arrays that the values are made of.
    kept: the result of `stamp` when the index was saved; empty for an index that has just been made.
    """
    found = arrays()
    if found and all(isinstance(one, Dataset) for one in found):
        return Hdf5Freshness(writer_id, arrays, kept)
    return FilesFreshness(writer_id, arrays, kept)


class Hdf5Freshness:
    """Of datasets of one HDF5 file. reason: why it is not known; for people."""

    def __init__(self, writer_id: int, arrays: Arrays, kept: dict[str, Any]) -> None:
        """See `freshness_of`."""
        token = kept.get("token")
        self.reason = ""
        self._writer_id = writer_id
        self._arrays = arrays
        self._token = token if isinstance(token, int) and 0 < token < 1 << 63 else 0
        # How often others had written to each dataset when all was right, and when somebody had begun to
        # compare fingerprints.
        self._known: dict[int, int] | None = None
        self._seen: dict[int, int] | None = None
        self._read = _Looks()
        if not kept:
            # What is about to be made will be of values as they are now, or later.
            self.check()

    def check(self) -> bool | None:
        """Return True if nothing was written since, but by the owner; False if fingerprints have to tell,
        after which `verified` is called; None if nothing can be known.
        """
        session, places = self._locations()
        if session is None:
            return None
        if not session.is_writable:
            is_fresh = session.is_fresh(self._token, tuple(places))
            answer = True if is_fresh else self._read.check(session.modified_ns())
            self.reason = "" if answer else self._read.reason
            return answer
        self.reason = session.why_raw()
        if self.reason:
            return None
        others = {place: session.changes(place).by_others(self._writer_id) for place in places}
        if self._known is None and session.is_fresh(self._token, tuple(places)):
            self._known = others
        known = self._known
        if known is not None and all(
            known[place] == count if place in known else count == 0 and session.changes(place).total > 0
            for place, count in others.items()
        ):
            return True
        self.reason = "something was written past the table, or the file was not closed by its last writer"
        if self._seen is None:
            self._seen = others
        return False

    def verified(self) -> None:
        """What fingerprints do not confirm is forgotten: what is left was right when `check` was called."""
        self._read.verified()
        if self._seen is not None:
            self._known, self._seen = self._seen, None

    @property
    def is_stamped(self) -> bool:
        """Whether what `stamp` returned last still holds for the next who opens the file."""
        session, places = self._locations()
        return session is not None and session.is_fresh(self._token, tuple(places))

    def stamp(self) -> dict[str, Any]:
        """Return what is to be kept beside the index, which is saved as it is now; as JSON has it."""
        session, places = self._locations()
        if session is None or not session.is_writable or session.why_raw():
            return {}
        if not session.is_fresh(self._token, tuple(places)):
            session.forget(self._token)
            self._token = secrets.randbits(62) + 1
            session.note(self._token, tuple(places))
            if self.check() is not True:
                session.forget(self._token)
                return {}
        return {"token": self._token}

    def _locations(self) -> tuple[Session | None, list[int]]:
        """Return the session of the datasets, and their places; no session if there is none for all."""
        given = self._arrays()
        datasets = [one for one in given if isinstance(one, Dataset)]
        found = [one.location for one in datasets]
        sessions = {id(session) for session, _ in found}
        if len(sessions) != 1 or len(found) < len(given):
            self.reason = "the values are not in datasets of one file"
        elif any(one.layout == "virtual" or is_external(one) for one in datasets):
            self.reason = "the values are those of other files"
        else:
            return found[0][0], [place for _, place in found]
        return None, []


class FilesFreshness:
    """Of arrays in memory, or in files of their own. reason: why it is not known; for people."""

    def __init__(self, writer_id: int, arrays: Arrays, kept: dict[str, Any]) -> None:
        """See `freshness_of`."""
        files = kept.get("files")
        self.reason = ""
        self._writer_id = writer_id
        self._arrays = arrays
        self._kept: dict[str, Any] = cast("dict[str, Any]", files) if isinstance(files, dict) else {}
        self._known: list[_Look] | None = None
        self._seen: list[_Look] | None = None
        self._seen_at = 0
        if not kept:
            self.check()

    def check(self) -> bool | None:
        """As `Hdf5Freshness.check`."""
        arrays = self._arrays()
        now = time.time_ns()
        looks = [_Look.at(one, self._writer_id) for one in arrays]
        if not looks or any(one.is_folder for one in looks):
            self.reason = "the values are where nobody can see whether they were changed"
            return None
        if self._known is None and all(self._is_kept(one) for one in looks):
            self._known = looks
        known = self._known
        if known is not None and len(known) == len(looks) and all(map(_Look.is_as, looks, known)):
            # The owner's own changes have given files another time.
            self._known, self.reason = looks, ""
            return True
        self.reason = "something was written past the table"
        if self._seen is None:
            self._seen, self._seen_at = looks, now
        return False

    def verified(self) -> None:
        """As `Hdf5Freshness.verified`."""
        if self._seen is not None:
            # A file that was changed a moment ago may be changed again without another time.
            is_settled = all(one.is_settled(self._seen_at) for one in self._seen)
            self._known, self._seen = (self._seen if is_settled else None), None

    @property
    def is_stamped(self) -> bool:
        """As `Hdf5Freshness.is_stamped`."""
        return all(self._is_kept(_Look.at(one, self._writer_id)) for one in self._arrays())

    def stamp(self) -> dict[str, Any]:
        """As `Hdf5Freshness.stamp`; files get a time that no write to come has."""
        if self.check() is not True:
            return {}
        kept: dict[str, Any] = {}
        for array in self._arrays():
            look = _Look.at(array, self._writer_id)
            if look.path is None:
                continue
            found = _stamped(look)
            if found is None:
                return {}
            kept[os.path.basename(look.path)] = [*found, look.state]
        self._kept = kept
        self._known = [_Look.at(one, self._writer_id) for one in self._arrays()]
        return {"files": kept}

    def _is_kept(self, look: _Look) -> bool:
        """Whether a file is as it was when the index was saved."""
        if look.path is None:
            return False
        kept: Any = self._kept.get(os.path.basename(look.path))
        # What is open may be of an older commit than the file. Old indexes do not say of which they are.
        found = [look.size, look.modified_ns]
        return kept in (found, [*found, look.state])


class _Look:
    """How an array is found: the file's size and time, and how often it was changed here."""

    __slots__ = ("is_folder", "is_writable", "modified_ns", "others", "path", "size", "state", "total")

    def __init__(
        self, path: str | None, others: int, total: int, is_writable: bool, state: str | None
    ) -> None:
        self.path = path
        self.state = state
        self.others = others
        self.total = total
        self.is_writable = is_writable
        self.size = self.modified_ns = 0
        self.is_folder = False
        if path is not None:
            try:
                found = os.stat(path)
            except OSError:
                # Nothing is the same as a file that is not there.
                self.modified_ns = -time.time_ns()
                return
            self.size, self.modified_ns = found.st_size, found.st_mtime_ns
            self.is_folder = os.path.isdir(path)

    @classmethod
    def at(cls, array: Array, writer_id: int) -> _Look:
        """Look at an array."""
        changes = changes_of(array)
        # The counts first: a write that comes between makes the next look differ from this one.
        others, total = changes.by_others(writer_id), changes.total
        return cls(array.path, others, total, array.mode != "r", _state_of(array))

    def is_as(self, before: _Look) -> bool:
        """Whether nobody else has written since."""
        if self.path != before.path or self.others != before.others:
            return False
        is_same = (self.size, self.modified_ns) == (before.size, before.modified_ns)
        return is_same or self.total > before.total

    def is_settled(self, now: int) -> bool:
        """Whether a write to come gives the file another time; of one that we write we see all others."""
        return self.path is None or self.is_writable or abs(now - self.modified_ns) > _RACY_NS


def _state_of(array: Array) -> str | None:
    """Return what tells the commit of a file that is shown from others."""
    found: Any = getattr(array.handle, "state_sum", None)
    return None if found is None else f"{found:016x}"


class _Looks:
    """The times of modification of a file that is open for reading, at which fingerprints were compared."""

    def __init__(self) -> None:
        self.reason = ""
        self._verified: int | None = None
        self._is_verified = False
        self._seen: tuple[int | None, int] | None = None
        self._times: set[int | None] = set()

    def check(self, modified_ns: int | None) -> bool | None:
        if self._is_verified and self._verified == modified_ns:
            return True
        if modified_ns not in self._times and len(self._times) >= _LOOKS_MAX:
            self.reason = "another program changes the file"
            return None
        self.reason = "the file was not closed by one who keeps the index"
        if self._seen is None:
            self._seen = (modified_ns, time.time_ns())
        return False

    def verified(self) -> None:
        if self._seen is None:
            return
        (modified_ns, at), self._seen = self._seen, None
        self._times.add(modified_ns)
        # A file that was changed a moment ago may be changed again without another time.
        self._is_verified = modified_ns is None or abs(at - modified_ns) > _RACY_NS
        self._verified = modified_ns


def is_external(dataset: Dataset) -> bool:
    """Whether the items are in files that HDF5 calls external."""
    return dataset.layout == "contiguous" and inside(dataset).external is not None


def _stamped(look: _Look) -> tuple[int, int] | None:
    """Give a file a time that no write to come has, if it has not; return its size and time."""
    path = cast("str", look.path)
    now = time.time_ns()
    if now - look.modified_ns > _RACY_NS or _stamps.get(path) == look.modified_ns:
        return look.size, look.modified_ns
    at = ((now - _STAMP_BACK_NS) // 1000 | 1) * 1000
    try:
        found = os.stat(path)
        if (found.st_size, found.st_mtime_ns) != (look.size, look.modified_ns):
            return None
        os.utime(path, ns=(found.st_atime_ns, at))
        is_set = os.stat(path).st_mtime_ns == at
    except OSError:
        return None
    _stamps[path] = at
    return (look.size, at) if is_set else None


#: The times that files were given here.
_stamps: dict[str, int] = {}
