"""The end of a dataset that rows are appended to: whole chunks are written, the rest waits in memory.

In: rows, a few or many at a time. Out: chunks, encoded by the engine. `AppendGroup` says when, and flushes.
Invariant: between two flushes space is only added. libhdf5 gives the space of a chunk that is overwritten to
whatever comes next, so chunks that a flush left partly filled are written again within a flush only.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.arrays.regions import chunk_regions
from coquina.arrays.writes import changes_of, wrote
from coquina.casting import items_of
from coquina.hdf5.meanings import is_time64
from coquina.hdf5.places import inside
from coquina.hdf5.times import check_seconds

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.hdf5.datasets import Dataset

Chunk = tuple[tuple[int, ...], bytes]


class AppendBuffer:
    """What was appended to a dataset and is not all flushed.

    rows: how many there are with those that wait. flushed: how many a kill leaves. What can fail comes before
    what changes these: `write_whole` before `take`, all the steps of a flush before `settle`. A flush goes to
    `rows`, or stops at `whole_rows`, where that is more than what is flushed.
    """

    def __init__(self, dataset: Dataset) -> None:
        """Begin with what the dataset has.

        Raises ValueError for a dataset that cannot grow or be written, CorruptError for a damaged goal.
        """
        self.file = _file_of_one_that_grows(dataset)
        self._dataset = dataset
        self._chunk_rows: int = dataset.chunks[0]
        self._row_shape, self._dtype = dataset.shape[1:], dataset.dtype
        self._row_axes = [(0, 1, length) for length in self._row_shape]
        self._rows_max = dataset.maxshape[0]
        self._can_encode = _can_encode(dataset)
        goal = dataset.handle.tuning()
        self._tuner = None if goal is None else _core.ChunkTuner(goal)
        self.rows: int = dataset.shape[0]
        self.flushed = self.rows
        # How many rows libhdf5 takes the dataset to have.
        self._extent = self.rows
        # The rows since the last whole chunk stand in the buffer. Where some of them are flushed, their
        # chunks are in the file ("pinned"), to be written again in a flush only; until then all that comes
        # waits in the buffer.
        self._filled = self.rows % self._chunk_rows
        # Where changes are commits, what is committed is kept aside by itself.
        self._pins = not dataset.file.commits
        self._is_pinned = self._pins and self._filled > 0
        self._is_time = is_time64(inside(dataset).id)
        encoding = dataset.encoding
        self._encoding = None if encoding is None else encoding.terms
        # How many rows of the buffer the steps of a flush have written so far.
        self._written = 0
        self._has_filters = bool(dataset.filters)
        # What is written meanwhile to rows that stand in the buffer is not to be written over.
        self._changes = changes_of(dataset)
        self._seen = self._changes.total
        tail = dataset[self.rows - self._filled :] if self._filled else np.empty((0, *self._row_shape))
        self._buffer = self._new_buffer(self._chunk_rows, tail)

    @property
    def _start(self) -> int:
        """The first row of the buffer; it begins a chunk."""
        return self.rows - self._filled

    @property
    def whole_rows(self) -> int:
        """Where the last whole chunk ends."""
        return self.rows - self.rows % self._chunk_rows

    @property
    def chunk_rows(self) -> int:
        """How many rows are of one chunk."""
        return self._chunk_rows

    @property
    def row_bytes(self) -> int:
        """How many bytes a row takes."""
        return self._dtype.itemsize * prod(self._row_shape)

    @property
    def is_long(self) -> bool:
        """Whether more than a chunk waits."""
        return self._filled > self._chunk_rows

    @property
    def waiting_bytes(self) -> int:
        """How much waits behind a chunk that is partly filled."""
        return self._buffer[: self._filled].nbytes if self._is_pinned else 0

    @property
    def is_to_be_forgotten(self) -> bool:
        """Whether a flush has to take the last chunk out of the file before it writes it again.

        Without filters the same bytes come to the same place, and in SWMR mode the old place is kept.
        """
        is_again = self._is_pinned and self.rows > self.flushed
        return is_again and self._has_filters and not self.file.swmr_mode

    def check_extent(self) -> None:
        """Raise ValueError if somebody else has resized the dataset; see what else was written to it."""
        if self._dataset.shape[0] != self._extent:
            raise ValueError(f"{self._dataset.name!r} was resized during an append session")
        if self._seen != self._changes.total:
            self._seen = self._changes.total
            if self._start < self.flushed:
                rows = self._dataset[self._start : self.flushed]
                _raw(self._buffer)[: len(rows)] = _raw(rows)

    def fitting(self, rows: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return rows as the dataset has them. Raises ValueError or TypeError for others."""
        values = items_of(rows, self._dtype)
        if values.shape == self._row_shape:
            values = values[np.newaxis]
        if not values.ndim or values.shape[1:] != self._row_shape:
            raise ValueError(f"append: shape {values.shape} to rows of shape {self._row_shape}")
        if values.dtype != self._dtype:
            if not np.can_cast(values.dtype, self._dtype, "same_kind"):
                raise TypeError(f"append: items of {values.dtype} to a dataset of {self._dtype}")
            values = values.astype(self._dtype)
        if self._rows_max is not None and self.rows + len(values) > self._rows_max:
            raise ValueError(f"append: {self.rows} + {len(values)} rows; maxshape allows {self._rows_max}")
        if self._is_time:
            check_seconds(values, f"append to {self._dataset.name!r}")
        # Once, as they come: rows that wait are written more than once, and must not move each time.
        return self._dataset.rounded(values)

    def write_whole(self, values: npt.NDArray[Any]) -> None:
        """Write the chunks that `values` complete, or make room for them where nothing may be written."""
        filled = self._filled + len(values)
        if self._is_pinned:
            if filled > len(self._buffer):
                capacity = max(filled, 2 * len(self._buffer))
                self._buffer = self._new_buffer(capacity, self._buffer[: self._filled])
            return
        if filled < self._chunk_rows:
            return
        start, first = self._start, 0
        if self._filled:
            first = self._chunk_rows - self._filled
            _raw(self._buffer)[self._filled : self._chunk_rows] = _raw(values)[:first]
            self._write(start, self._buffer[: self._chunk_rows])
            start += self._chunk_rows
        stop = len(values) - filled % self._chunk_rows
        if first < stop:
            self._write(start, values[first:stop])

    def give_up(self) -> None:
        """Undo `write_whole`: rows that were not taken do not belong to the dataset."""
        if not self._is_pinned:
            self._set_rows(max(self._start, self.flushed))

    def take(self, values: npt.NDArray[Any]) -> None:
        """Add the rows that `write_whole` has seen; those of no whole chunk wait."""
        filled = self._filled + len(values)
        if self._is_pinned or filled < self._chunk_rows:
            _raw(self._buffer)[self._filled : filled] = _raw(values)
            self._filled = filled
        else:
            self._filled = filled % self._chunk_rows
            _raw(self._buffer)[: self._filled] = _raw(values)[len(values) - self._filled :]
        self.rows += len(values)

    def encoded(self) -> list[Chunk] | None:
        """Encode what waits in the last chunk of the file, ahead of time; None if only libhdf5 can."""
        if not self._can_encode:
            return None
        dataset, values = self._dataset, self._buffer[: min(self._filled, self._chunk_rows)]
        rank = len(inside(dataset).shape)
        filters = [(code, False, list(options)) for code, _, options in dataset.filters]
        itemsize = self._dtype.itemsize * prod(dataset.chunks[rank:])
        chunks: list[Chunk] = []
        for region in chunk_regions(values.shape, dataset.chunks):
            part = values[region]
            if part.shape == dataset.chunks:
                items = np.ascontiguousarray(part)
            else:
                items = np.zeros(dataset.chunks, self._dtype)
                items[tuple(slice(0, length) for length in part.shape)] = part
            stored = _core.filter_encode(
                filters,
                dataset.chunks[:rank],
                itemsize,
                items,
                zones=dataset.zones,
                rows=len(part),
                tuner=self._tuner,
                checksums=dataset.checksums,
                encoding=self._encoding,
            )
            at = (self._start, *(one.start for one in region[1:rank]))
            chunks.append((at, stored))
        return chunks

    def forget(self) -> None:
        """Take the last chunk out of the dataset: its space is about to be used for others."""
        self._set_rows(self._start)

    def write_again(self, encoded: list[Chunk] | None) -> None:
        """Write the chunk that was forgotten, with what came since; the dataset is as long as it was."""
        self._written = min(self._filled, self._chunk_rows)
        if encoded is None:
            self._write(self._start, self._buffer[: self._written])
            return
        self._set_rows(self.flushed)
        for at, stored in encoded:
            self._dataset.write_chunk(at, stored)
        self._seen = self._changes.total

    def write_rest(self, stop: int) -> None:
        """Write what waits before row `stop` and was not written yet, and make the dataset that long."""
        if stop == self.flushed:
            return
        self._dataset.note_reached()
        if self._written and self._extent < stop:
            self._grow(min(self._start + self._chunk_rows, stop))
        last = stop - self._start
        if self._written < last:
            self._write(self._start + self._written, self._buffer[self._written : last])

    def write_old(self) -> None:
        """Write what was flushed before of the chunk that was forgotten."""
        self._write(self._start, self._buffer[: self.flushed - self._start])

    def go_back(self) -> None:
        """Give up the rows that a flush that failed had yet to write; all wait on."""
        # Whole chunks that came since the flush before stay: they are not in the buffer any more.
        stop = max(self._start, self.flushed)
        if self._written:
            stop = min(self._start + self._chunk_rows, self.rows)
        self._written = 0
        self._set_rows(min(self._extent, stop))

    def give_back(self) -> None:
        """Leave what was flushed: the rows behind it are given up."""
        self._set_rows(self.flushed)

    def settle(self, stop: int) -> None:
        """Note that the rows before `stop` are flushed; those of its chunk, and behind it, stay."""
        pinned = stop % self._chunk_rows
        first = stop - pinned - self._start
        if first:
            left = self._buffer[first : self._filled]
            if len(self._buffer) > self._chunk_rows:
                self._buffer = self._new_buffer(self._chunk_rows, left)
            else:
                _raw(self._buffer)[: len(left)] = _raw(left)
            self._filled = len(left)
        self._is_pinned = self._pins and pinned > 0
        self._written, self.flushed = 0, stop

    def _new_buffer(self, capacity: int, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        buffer = np.empty((capacity, *self._row_shape), self._dtype)
        _raw(buffer)[: len(rows)] = _raw(rows)
        return buffer

    def _write(self, start: int, values: npt.NDArray[Any]) -> None:
        """Write rows that begin with a chunk, which `start` is the first row of."""
        if start + len(values) > self._extent:
            # The values are all that the last chunk is to have: clearing it first would encode it twice.
            self._grow(start + len(values))
        if values.size:
            # What an assignment comes to; this is the part of an append that takes the longest.
            axes: list[Any] = [(start, 1, len(values)), *self._row_axes]
            with self._dataset.exactly():
                self._dataset.write_selection(axes, None, 0, np.ascontiguousarray(values))
            self._seen = self._changes.total

    def _set_rows(self, rows: int) -> None:
        if self._dataset.shape[0] != rows:
            self._dataset.resize_axes([rows, *self._row_shape])
            self._seen = self._changes.total
        self._extent = rows

    def _grow(self, rows: int) -> None:
        """Make the dataset longer without clearing what stands behind its edge: there the new rows are."""
        h5 = inside(self._dataset)
        h5.id.set_extent((rows, *h5.shape[1:]))
        self._dataset.handle.refresh()
        wrote(self._dataset)
        self._extent, self._seen = rows, self._changes.total


def _can_encode(dataset: Dataset) -> bool:
    known = {code for code, _, _, encodes in _core.hdf5_filters() if encodes}
    # Times are stored as other bytes than those of their seconds; the engine knows which.
    return (
        dataset.access != "whole"
        and not is_time64(inside(dataset).id)
        and all(code in known for code, _, _ in dataset.filters)
    )


def _file_of_one_that_grows(dataset: Dataset) -> Any:
    """Return the h5py file of a dataset that can be appended to. Raises ValueError for another one."""
    h5: Any = inside(dataset)
    if not h5:
        raise ValueError("append: the dataset or its file was closed")
    if not h5.shape or h5.chunks is None or h5.maxshape[0] == h5.shape[0]:
        raise ValueError(f"{dataset.name!r} cannot grow: chunks {h5.chunks}, maxshape {h5.maxshape}")
    file = h5.file
    if file.mode == "r":
        raise ValueError(f"{dataset.name!r} is open for reading only; open it with mode 'r+'")
    return file


def _raw(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return records as bytes without fields: NumPy copies fields one by one."""
    return values if values.dtype.names is None else values.view(f"V{values.dtype.itemsize}")
