"""Append sessions: rows at the end of an HDF5 dataset, so that a killed program leaves what was flushed last.

In: rows, a few or many at a time. Out: whole chunks, encoded by the engine, and a flush now and then.

libhdf5 has no commits; three rules stand in for them. Between two flushes none of the file's metadata is
written: libhdf5 is told to keep it in memory. Between two flushes space is only added: libhdf5 gives the
space of a chunk that is overwritten to whatever comes next, so chunks that a flush left partly filled are
written again in a flush only. And that flush has two steps: first the file forgets those chunks, then it
gets them anew. So a kill leaves no rows that are not those which were appended.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from coquina import _core
from coquina.array_regions import chunk_regions
from coquina.hdf5.untyped import h5o

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.hdf5.datasets import Dataset


_WAITING_BYTES_MAX = 64 << 20
_Chunk = tuple[tuple[int, ...], bytes]


class AppendSession:
    """Rows that are appended to a dataset, kept from flush to flush; `Dataset.appending` begins one.

    rows: how many the dataset has with what was appended. flushed: how many of them a kill leaves.
    Rows can be read, here and elsewhere, once they are flushed; until then their place may hold anything.
    Threads may share a session. While it lasts, change nothing else in the file.

    What is promised if the program is killed, as tested with `kill -9` and each kind of chunk index (libhdf5
    itself promises less):

    - Between flushes: the dataset holds exactly what it held after the last flush, `flushed` rows.
    - Within a flush: usually what it held before it or after it. But for about a millisecond the rows of
      chunks that an earlier flush left partly filled may be missing, new rows may read as the fill value, and
      an index may be half written; `coquina recover` saves the rest, and tells. In SWMR mode
      (`file.h5.swmr_mode = True`) old chunks stay, and libhdf5 orders what it writes: nothing flushed is
      lost, and h5py's `swmr=True` reads it.
    - A file of HDF5 1.10 or later (`libver="v110"`, `"latest"` and the like) says that it is open for
      writing, and is refused when it is opened again: `coquina recover` makes a copy that is not.
    - With the power cut, the same for `durable` sessions, as far as the disk tells the truth.

    Behind chunks that a flush left partly filled all rows wait in memory for the next one. There is one
    without being asked for if they are more than 64 MiB. Flushing at whole chunks makes none of them wait,
    and is the safest and cheapest. Memory, besides: one chunk along the first axis, times those along the
    others, and some 40 bytes of index for each chunk appended.
    """

    def __init__(self, dataset: Dataset, flush_every: int | None = None, durable: bool = False) -> None:
        """Begin. A new file that has no name yet gets it now: who would find it after a kill?

        flush_every: flush in the `append` that makes it so many rows since the last flush; None flushes where
        you say so, and at the end. durable: each flush waits for the disk. Raises ValueError for a dataset
        that cannot grow or be written.
        """
        if flush_every is not None and flush_every < 1:
            raise ValueError(f"flush_every: {flush_every} is not a number of rows")
        self._file = _file_of_one_that_grows(dataset)
        self._descriptor = _descriptor(self._file) if durable else None
        self._dataset = dataset
        self._flush_every = flush_every
        self._lock = threading.RLock()
        self._chunk_rows: int = dataset.chunks[0]
        self._row_shape, self._dtype = dataset.shape[1:], dataset.dtype
        self._row_axes = [(0, 1, length) for length in self._row_shape]
        self._rows_max = dataset.maxshape[0]
        self.rows: int = dataset.shape[0]
        self.flushed = self.rows
        # How many rows libhdf5 takes the dataset to have.
        self._extent = self.rows
        # The rows since the last whole chunk stand in the buffer. Where some of them are flushed, their
        # chunks are in the file, to be written again in a flush only; until then all that comes waits in the
        # buffer.
        self._filled = self.rows % self._chunk_rows
        self._is_pinned = self._filled > 0
        self._has_filters = bool(dataset.filters)
        tail = dataset[self.rows - self._filled :] if self._filled else np.empty((0, *self._row_shape))
        self._buffer = self._new_buffer(self._chunk_rows, tail)
        self._evictions: _Evictions | None = _Evictions.off(self._file)
        try:
            # What was changed before is part of the first state that a kill leaves.
            dataset.file.publish()
            self._flush_file(self.rows)
        except BaseException:
            self._evictions.release()
            raise

    def append(self, rows: npt.ArrayLike) -> None:
        """Add rows: an array with the axes of the dataset, or one row, with an axis less.

        Whole chunks are written, the rest waits in memory; flushes where `flush_every` rows have gathered.
        Raises ValueError or TypeError for rows that do not fit: none of them is added then. Raises OSError
        if the disk is full: `rows` tells how many were added, and when there is room again, `flush` and
        `append` go on.
        """
        with self._lock:
            self._check_open()
            self._take(self._fitting(rows))
            if self._flush_every is not None and self.rows - self.flushed >= self._flush_every:
                self._flush(self.rows)

    def flush(self) -> None:
        """Write all rows so far, and all metadata: once it returns, a kill does not take them back.

        `durable` sessions wait for the disk too, so that not even a power cut does.
        """
        with self._lock:
            self._check_open()
            if self.rows > self.flushed:
                self._flush(self.rows)

    def close(self) -> None:
        """Flush, and let libhdf5 write metadata when it likes again."""
        with self._lock:
            if self._evictions is None:
                return
            try:
                self.flush()
            finally:
                self._evictions.release()
                self._evictions = None

    def __enter__(self) -> AppendSession:
        """Return the session; it is closed at the end of the `with` block, however that ends."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it: what was appended until then stays."""
        self.close()

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"<AppendSession of {self._dataset.name!r}, {self.rows} rows, {self.flushed} flushed>"

    def _check_open(self) -> None:
        if self._evictions is None:
            raise ValueError("the append session is closed")
        if not self._file.id.valid:
            lost = self.rows - self.flushed
            raise ValueError(f"the file was closed within an append session; {lost} rows are lost")

    def _fitting(self, rows: npt.ArrayLike) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = np.asarray(rows)
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
        return values

    def _take(self, values: npt.NDArray[Any]) -> None:
        """Add rows to those that wait; write the chunks that are whole."""
        if self._is_pinned:
            self._wait(values)
            return
        taken = 0
        while taken < len(values):
            left = len(values) - taken
            if not self._filled and left >= self._chunk_rows:
                count = left - left % self._chunk_rows
                self._write(self.rows, values[taken : taken + count])
            else:
                count = min(left, self._chunk_rows - self._filled)
                self._buffer[self._filled : self._filled + count] = values[taken : taken + count]
                if self._filled + count == self._chunk_rows:
                    self._write(self.rows - self._filled, self._buffer)
                self._filled = (self._filled + count) % self._chunk_rows
            self.rows += count
            taken += count

    def _wait(self, values: npt.NDArray[Any]) -> None:
        """Add rows behind chunks that are not to be written before the next flush."""
        filled = self._filled + len(values)
        if filled > len(self._buffer):
            self._buffer = self._new_buffer(max(filled, 2 * len(self._buffer)), self._buffer[: self._filled])
        self._buffer[self._filled : filled] = values
        self._filled = filled
        self.rows += len(values)
        if filled > self._chunk_rows and self._buffer[:filled].nbytes > _WAITING_BYTES_MAX:
            self._flush(self.rows - self.rows % self._chunk_rows)

    def _new_buffer(self, capacity: int, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        buffer = np.empty((capacity, *self._row_shape), self._dtype)
        buffer[: len(rows)] = rows
        return buffer

    def _flush(self, stop: int) -> None:
        """Write all metadata, and the rows before `stop`: all of them, or those of whole chunks."""
        pending = self._buffer[: self._filled]
        first = start = self.rows - len(pending)
        if self._is_pinned:
            start = min(first + self._chunk_rows, stop)
            self._write_again(first, pending[: start - first])
        if start < stop:
            self._write(start, pending[start - first : stop - first])
        self._flush_file(stop)
        left = pending[stop - stop % self._chunk_rows - first :]
        self._buffer = self._new_buffer(self._chunk_rows, left)
        self._filled, self._is_pinned = len(left), stop % self._chunk_rows > 0

    def _write_again(self, start: int, values: npt.NDArray[Any]) -> None:
        """Write the rows from `start` on, of which the file has `flushed` ones, with more behind them."""
        if not self._has_filters or self._file.swmr_mode:
            # The same bytes come to the same place; or the old place is kept.
            self._write(start, values)
            return
        encoded = self._encoded(start, values)
        before = self.flushed - start
        # The space of these chunks is about to be used for others: the file must not refer to them any more.
        self._set_rows(start)
        self._flush_file(start)
        try:
            self._write(start, values, encoded)
            self._flush_file(start + len(values))
        except BaseException:
            # If the disk is full, there is room for the chunks that were there.
            if before > 0:
                with suppress(Exception):
                    self._write(start, values[:before])
                    self._flush_file(start + before)
            raise

    def _write(self, start: int, values: npt.NDArray[Any], encoded: list[_Chunk] | None = None) -> None:
        """Write rows that begin with a chunk, which `start` is the first row of."""
        if self._dataset.shape[0] != self._extent:
            raise ValueError(f"{self._dataset.name!r} was resized within an append session")
        stop = start + len(values)
        if stop > self._extent:
            self._set_rows(stop)
        try:
            if encoded is not None:
                for at, stored in encoded:
                    self._dataset.write_chunk(at, stored)
            elif values.size:
                # What an assignment comes to; this is the part of an append that takes the longest.
                axes: list[Any] = [(start, 1, len(values)), *self._row_axes]
                self._dataset.write_selection(axes, None, 0, np.ascontiguousarray(values))
        except BaseException:
            # Rows that were not written do not belong to the dataset.
            with suppress(Exception):
                self._set_rows(max(start, self.flushed))
            raise

    def _set_rows(self, rows: int) -> None:
        if self._dataset.shape[0] != rows:
            self._dataset.resize_axes([rows, *self._row_shape])
        self._extent = rows

    def _encoded(self, start: int, values: npt.NDArray[Any]) -> list[_Chunk] | None:
        """Encode rows ahead of time; None if only libhdf5 can."""
        dataset = self._dataset
        known = {code for code, _, _, encodes in _core.hdf5_filters() if encodes}
        if dataset.gear == "whole" or any(code not in known for code, _, _ in dataset.filters):
            return None
        rank = len(dataset.h5.shape)
        filters = [(code, False, list(options)) for code, _, options in dataset.filters]
        itemsize = self._dtype.itemsize * prod(dataset.chunks[rank:])
        chunks: list[_Chunk] = []
        for region in chunk_regions(values.shape, dataset.chunks):
            items = np.zeros(dataset.chunks, self._dtype)
            part = values[region]
            items[tuple(slice(0, length) for length in part.shape)] = part
            at = (start, *(one.start for one in region[1:rank]))
            stored = _core.filter_encode(filters, dataset.chunks[:rank], itemsize, items)
            chunks.append((at, stored))
        return chunks

    def _flush_file(self, rows: int) -> None:
        """Write all metadata; from then on a kill leaves so many rows."""
        self._file.flush()
        if self._descriptor is not None:
            # H5Fflush hands all to the system; it does not wait for the disk.
            os.fsync(self._descriptor)
        self.flushed = rows


class _Evictions:
    """Keeps libhdf5 from writing the metadata of a file outside of flushes, while anybody holds it."""

    # What is counted is state of libhdf5: one for each file that the process has open, by whatever handles.
    _lock = threading.Lock()
    _all: ClassVar[WeakValueDictionary[int, _Evictions]] = WeakValueDictionary()

    def __init__(self, file: Any) -> None:
        self._file = file
        self._holders = 0
        self._before = file.id.get_mdc_config()
        config = file.id.get_mdc_config()
        # libhdf5 takes the first only with the others: a cache that is resized evicts.
        config.evictions_enabled = False
        config.incr_mode = config.decr_mode = config.flash_incr_mode = 0
        file.id.set_mdc_config(config)

    @classmethod
    def off(cls, file: Any) -> _Evictions:
        """Hold what keeps the metadata of `file` in memory."""
        number: int = h5o.get_info(file.id).fileno
        with cls._lock:
            found = cls._all.get(number)
            if found is None:
                found = cls._all[number] = cls(file)
            found._holders += 1
            return found

    def release(self) -> None:
        """Let it go. The last one restores what was before."""
        with self._lock:
            self._holders -= 1
            if not self._holders and self._file.id.valid:
                self._file.id.set_mdc_config(self._before)


def _file_of_one_that_grows(dataset: Dataset) -> Any:
    """Return the h5py file of a dataset that can be appended to. Raises ValueError for another one."""
    h5: Any = dataset.h5
    if not h5.shape or h5.chunks is None or h5.maxshape[0] == h5.shape[0]:
        raise ValueError(f"{dataset.name!r} cannot grow: chunks {h5.chunks}, maxshape {h5.maxshape}")
    file = h5.file
    if file.mode == "r":
        raise ValueError(f"{dataset.name!r} is open for reading only")
    return file


def _descriptor(file: Any) -> int:
    if file.driver != "sec2":
        raise ValueError(f"durable: driver {file.driver!r} has no descriptor that could be synced")
    return file.id.get_vfd_handle()
