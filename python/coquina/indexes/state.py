"""What is stored of an index, opened: its spans, runs and zones; read, extended, and written.

In: a place for arrays, metadata, and what is indexed. Out: runs to be asked, and which of them own what.
Source: docs/formats/indexes.md.
Invariant: metadata are written when all that they name is; what they do not name is removed then. A kill at
    any point leaves what they named before, or after.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coquina._core import CorruptError, CurrentIndex, IndexZones, Spans
from coquina.indexes import units
from coquina.indexes.metadata import PREFIX, Metadata
from coquina.indexes.places import reading
from coquina.indexes.runs import Sorting, open_run, write_run
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.indexes.places import Place
    from coquina.indexes.runs import Run
    from coquina.indexes.source import IndexSource

    Numbers = npt.NDArray[np.uint64]

#: As many runs of one tier are sorted anew as one; the next tier's are so many times as long.
TIER_RUNS = 8
#: A run is young if the others have so many times as many rows.
_OLDER_ROWS = 2
#: Rows of a run of kind "partial"; of more, where there would be more runs than that.
_PARTIAL_SPANS, _PARTIAL_RUNS_MAX = 16, 512
#: Items as they are stored.
_SPAN_DTYPE = np.dtype([("fingerprint", "<u8"), ("run", "<i4"), ("rows", "<i4")])
_ZONE_DTYPE = np.dtype([("low", "<u8"), ("high", "<u8"), ("missing", "<u8")])
_STORAGE = Storage("zstd", 5, "shuffle", chunks=(1 << 12,), blocks=(1 << 12,), fletcher32=True)


class IndexState:
    """An index as it is stored."""

    def __init__(self, place: Place, key: str, meta: Metadata, source: IndexSource) -> None:
        """Of metadata, which name no arrays yet; `load` reads those that they do."""
        self.place = place
        self.key = key
        self.meta = replace(meta, runs=[*meta.runs])
        self.source = source
        self.freshness = source.freshness(meta.stamp)
        self.spans = Spans(None, units.SPAN_ROWS)
        self.zones = IndexZones(None, units.ZONE_ROWS, units.SPAN_ROWS)
        # What the array has that metadata name.
        self._stored = (0, b"")
        self.runs: list[Run] = []

    @classmethod
    def load(cls, place: Place, key: str, meta: Metadata, source: IndexSource) -> IndexState:
        """Open all that metadata name. Raises CorruptError, also for what is not there."""
        if meta.key_kind != source.kind:
            raise CorruptError(f"made of {meta.key_kind}, and {source.name!r} is {source.kind} now")
        made = cls(place, key, meta, source)
        made.spans = Spans(made._read("spans", meta.spans, _SPAN_DTYPE), units.SPAN_ROWS)
        made._stored = (meta.spans, made.spans.bytes())
        zones = made._read("zones", meta.zones, _ZONE_DTYPE)
        made.zones = IndexZones(zones, units.ZONE_ROWS, units.SPAN_ROWS)
        made.runs = [open_run(place, key, one, meta.block_entries) for one in meta.runs]
        made.now(made.spans.stop)
        return made

    def metadata(self) -> Metadata:
        """Return a copy of what is said of it."""
        return replace(self.meta, runs=[*self.meta.runs])

    def now(self, nrows: int) -> Now:
        """Return what can be asked of `nrows` rows until spans change.

        Raises CorruptError for spans of runs that there are not.
        """
        runs = [(run.number, run.rows, run.core) for run in self.runs]
        zones = self.zones if self.meta.kind == "zones" else None
        return Now(self, CurrentIndex(runs, self.meta.bucket_rows, zones, self.spans, nrows))

    def verify(self) -> bool:
        """Forget the spans whose values have other fingerprints now; return whether there are some."""
        return self.spans.verify(self.source.fingerprinted())

    def extend(self, nrows: int, sorting: Sorting, *, whole: bool = False) -> bool:
        """Index the spans of `nrows` rows that are open; all, if `whole`. Return whether there were some."""
        self.spans.resized(nrows)
        if self.meta.kind == "zones":
            wanted = self.spans.wanted({0} if whole else set(), nrows)
            if len(wanted):
                ranges, source = self.spans.ranges(wanted, nrows), self.source
                self.zones.compute(
                    source.lazies(), source.kind, source.missing(), ranges, progress=sorting.progress
                )
                self.spans.own(wanted, 0, nrows, source.fingerprinted())
            return bool(len(wanted))
        absorbed = {run.number for run in self.runs} if whole else self._absorbed(nrows)
        wanted = self.spans.wanted(absorbed, nrows)
        if self.meta.kind != "partial" and self.spans.rows > _OLDER_ROWS * units.SPAN_ROWS * len(wanted):
            # It is merged before long: the fastest codec takes half the time, and a tenth more space.
            sorting = replace(sorting, codec="lz4")
        for part in self._parts(wanted):
            number = self._number()
            ranges = self.spans.ranges(part, nrows)
            self.meta.runs.append(write_run(self.place, self.key, number, self.source, ranges, sorting))
            self.spans.own(part, number, nrows, self.source.fingerprinted())
        return bool(len(wanted))

    def _parts(self, spans: Numbers) -> Iterator[Numbers]:
        """Yield the spans of each run that is to be made."""
        if self.meta.kind != "partial" or not len(spans):
            yield from [spans] if len(spans) else []
            return
        count = max(_PARTIAL_SPANS, -(-len(spans) // _PARTIAL_RUNS_MAX))
        for at in range(0, len(spans), count):
            yield spans[at : at + count]

    def _absorbed(self, nrows: int) -> set[int]:
        """Return the runs that are sorted anew with what is open: where there would be many of one length."""
        if self.meta.kind == "partial":
            return set()
        owned = self.spans.rows_of()
        left = dict(sorted(owned.items(), key=lambda one: one[1]))
        new = len(self.spans.wanted(set(), nrows)) * units.SPAN_ROWS
        found: set[int] = set()
        while new:
            tier = _tier(new)
            alike = [number for number, rows in left.items() if _tier(rows) == tier]
            if len(alike) < TIER_RUNS - 1:
                break
            smaller = [number for number, rows in left.items() if _tier(rows) <= tier]
            new += sum(left.pop(number) for number in smaller)
            found.update(smaller)
        return found

    def save(self, nrows: int) -> None:
        """Write what has changed, metadata last; remove what is not named any more."""
        owned = self.spans.rows_of()
        meta = self.meta
        meta.runs = [run for run in meta.runs if run[0] in owned]
        meta.rows = nrows
        spans = self.spans.bytes()
        if (meta.spans, spans) != self._stored:
            meta.spans = self._write("spans", spans, _SPAN_DTYPE)
        meta.zones = self._write("zones", self.zones.bytes(), _ZONE_DTYPE) if meta.kind == "zones" else 0
        flush(self.place)
        meta.stamp = self.freshness.stamp()
        self.place.attrs[PREFIX + self.key] = meta.text()
        flush(self.place)
        self._stored = (meta.spans, spans)
        sweep(self.place, self.key, meta)

    def rename(self, name: str, source: IndexSource) -> None:
        """Give the index another name, and what it is of; its arrays stay as they are."""
        self.source = source
        self.meta.name, self.meta.column = name, source.name
        self.place.attrs[PREFIX + self.key] = self.meta.text()
        self.freshness = source.freshness(self.meta.stamp)

    def nbytes(self) -> int:
        """Return what all of it takes, compressed but for short lists."""
        return sum(run.nbytes for run in self.runs) + len(self.spans.bytes()) + len(self.zones.bytes())

    def _number(self) -> int:
        """Return a number that nothing has, also not what a killed program left."""
        number = self.meta.next
        taken = {
            name for group in ("runs", "spans", "zones") for name in self.place.names(f"{self.key}/{group}")
        }
        while str(number) in taken:
            number += 1
        self.meta.next = number + 1
        return number

    def _write(self, group: str, items: bytes, dtype: np.dtype[Any]) -> int:
        """Store a list anew; return its number."""
        if not items:
            return 0
        number = self._number()
        array = self.place.create(f"{self.key}/{group}/{number}", dtype, _STORAGE, zoned=False)
        # Frames have no fields: there the items are bytes.
        array.append(np.frombuffer(items, array.dtype))
        return number

    def _read(self, group: str, number: int, dtype: np.dtype[Any]) -> bytes | None:
        if not number:
            return None
        where = f"{self.key}/{group}/{number}"
        with reading(where):
            array = self.place.array(where, zoned=False)
        if array.typesize != dtype.itemsize or len(array.shape) != 1:
            raise CorruptError(f"{where}: {array.dtype} of shape {array.shape}")
        with reading(where):
            return np.ascontiguousarray(array[...]).tobytes()


class Now(NamedTuple):
    """What can be asked as long as nothing changes, and what it is of."""

    state: IndexState
    core: CurrentIndex


def _tier(rows: int) -> int:
    """Return which tier a run of so many rows is of."""
    return max(0, (max(rows, 1) // units.SPAN_ROWS).bit_length() - 1) // (TIER_RUNS.bit_length() - 1)


def folder_of(place: Place) -> str | None:
    """Return the folder that a place is in; None if it is in memory."""
    path: Any = getattr(place, "path", None) if place.file is None else place.file.path
    return None if path is None else os.path.dirname(os.path.abspath(path))


def flush(place: Place) -> None:
    """Write what HDF5 has in memory."""
    if place.file is not None:
        place.file.flush()


def sweep(place: Place, key: str, meta: Metadata) -> None:
    """Remove the arrays of an index that its metadata do not name."""
    named = {"spans": {str(meta.spans)}, "zones": {str(meta.zones)}}
    named["runs"] = {str(run[0]) for run in meta.runs}
    gone = [
        f"{key}/{group}/{name}"
        for group, names in named.items()
        for name in place.names(f"{key}/{group}")
        if name not in names
    ]
    for path in gone:
        place.remove(path)
    if gone:
        flush(place)
