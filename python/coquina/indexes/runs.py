"""A run of an index: keys and rows, sorted, of some spans of rows; as it is stored, and opened.

In: a place for arrays, and what the index' metadata say of the run. Out: rows with keys in ranges.
Source: docs/formats/indexes.md, "Runs".
Invariant: a run never changes. Spans that it no longer owns are filtered out by who asks.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.indexes.places import reading
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.indexes.places import Place
    from coquina.indexes.source import IndexSource

    Rows = npt.NDArray[np.int64]
    Progress = Callable[[int, int], None]

#: Chunks are single blocks: one key takes a whole chunk, since that has a checksum.
_STORAGE = Storage("zstd", 1, "shuffle", chunks=(1 << 12,), blocks=(1 << 12,), fletcher32=True)
#: What is read at once, when a run is opened.
_SUMMARY_STORAGE = Storage("zstd", 5, "shuffle", chunks=(1 << 14,), blocks=(1 << 14,), fletcher32=True)
#: What sorting takes for each row, at most: beyond the limit a file is used.
_PAIR_BYTES = 26


@dataclass
class Run:
    """A run that is open.

    number: its name among the runs of its index, and in the spans that it owns. entries: rows with a key.
    missing: rows (buckets) without one. rows: how many rows it was made of. core: the engine's `IndexRun`.
    nbytes: what it takes, compressed.
    """

    number: int
    entries: int
    missing: int
    rows: int
    core: _core.IndexRun
    nbytes: int = 0


@dataclass(frozen=True)
class Sorting:
    """How runs are made: see `IndexSort`. folder: where files may be made that do not fit in memory.

    codec: of keys and rows.
    """

    bucket_rows: int
    block_entries: int
    memory_limit: int
    folder: str | None = None
    progress: Progress | None = None
    codec: str = "zstd"


def write_run(
    place: Place, path: str, number: int, source: IndexSource, ranges: Rows, sorting: Sorting
) -> list[int]:
    """Sort the rows of some ranges and store them; return what metadata say of the run."""
    total = int((ranges[:, 1] - ranges[:, 0]).sum())
    is_large = total * _PAIR_BYTES > sorting.memory_limit
    with tempfile.TemporaryDirectory(
        prefix=".coquina-sort-", dir=sorting.folder if is_large else None
    ) as folder:
        sort = _core.IndexSort(
            source.lazies(),
            source.kind,
            source.missing(),
            [(int(start), int(stop)) for start, stop in ranges.tolist()],
            memory_limit=sorting.memory_limit,
            folder=os.fspath(folder),
            bucket_rows=sorting.bucket_rows,
            block_entries=sorting.block_entries,
            progress=sorting.progress,
        )
        gone: Rows = np.asarray(sort.missing)
        missing = gone if sorting.bucket_rows == 1 else _different(gone // sorting.bucket_rows)
        is_wide = int(ranges[-1, 1]) > 1 << 32
        where, storage = f"{path}/runs/{number}", replace(_STORAGE, codec=sorting.codec)
        offsets = place.create(f"{where}/offsets", "<u2", storage, zoned=False)
        rows = place.create(f"{where}/rows", "<u8" if is_wide else "<u4", storage, zoned=False)
        first, shifts = _written(place, sort, offsets, rows, missing)
        for name, values in (("first", first), ("shifts", shifts)):
            array = place.create(f"{where}/{name}", values.dtype, _SUMMARY_STORAGE, zoned=False)
            array.append(values)
    return [number, int(sort.entries), len(missing), total]


def _different(numbers: Rows) -> Rows:
    """Return numbers in order without repeats."""
    return numbers[np.append(True, numbers[1:] != numbers[:-1])] if len(numbers) else numbers


def _written(
    place: Place, sort: Any, offsets: Array, rows: Array, missing: Rows
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Store all entries; return what is kept in memory of each block."""
    first, shifts = [np.empty(0, "<u8")], [np.empty(0, "u1")]
    appender = place.appender([offsets, rows])
    try:
        while (part := sort.next()) is not None:
            appender.append([part[0], part[1].astype(rows.dtype, copy=False)])
            first.append(part[2])
            shifts.append(part[3])
        if len(missing):
            appender.append([np.empty(0, offsets.dtype), missing.astype(rows.dtype)])
    finally:
        appender.close()
    return np.concatenate(first).astype("<u8"), np.concatenate(shifts)


def open_run(place: Place, path: str, described: list[int], block_entries: int) -> Run:
    """Return a stored run. Raises CorruptError, also for what is not there."""
    number, entries, missing, total = described
    where = f"{path}/runs/{number}"
    names = {"offsets": "u2", "rows": None, "first": "u8", "shifts": "u1"}
    with reading(where):
        arrays = {name: place.array(f"{where}/{name}", zoned=False) for name in names}
    for name, wanted in names.items():
        dtype = arrays[name].dtype
        if dtype.kind != "u" or len(arrays[name].shape) != 1 or (wanted and dtype != np.dtype(f"<{wanted}")):
            raise _core.CorruptError(f"{where}/{name}: {dtype} of shape {arrays[name].shape}")
    rows = arrays["rows"]
    if rows.dtype.itemsize not in (4, 8):
        raise _core.CorruptError(f"{where}/rows: numbers of {rows.dtype.itemsize} bytes")
    with reading(where):
        first, shifts = arrays["first"][...], arrays["shifts"][...]
    core = _core.IndexRun(
        _core.lazy_array(arrays["offsets"], 0, 2),
        _core.lazy_array(rows, 0, rows.dtype.itemsize),
        np.ascontiguousarray(first, np.uint64),
        np.ascontiguousarray(shifts, np.uint8),
        entries,
        missing,
        block_entries,
    )
    nbytes = sum(int(array.cbytes) for array in arrays.values())
    return Run(number, entries, missing, total, core, nbytes=nbytes)


def in_order(
    core: _core.CurrentIndex, run: int, window: int, *, descending: bool, keys: list[int] | None
) -> Iterator[Rows]:
    """Yield the rows that a run owns in the order of their keys, some at a time.

    keys: the least and the greatest; a few more rows beside them may be there.
    """
    start, stop = core.places(run, keys)
    for at in range(0, stop - start, window):
        if descending:
            rows = core.rows_at(run, max(start, stop - at - window), stop - at)[::-1]
        else:
            rows = core.rows_at(run, start + at, min(start + at + window, stop))
        if len(rows):
            yield rows
