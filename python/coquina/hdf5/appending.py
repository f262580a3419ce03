"""Append sessions: rows at the end of HDF5 datasets, so that a killed program leaves what was flushed last.

In: rows, a few or many at a time. Out: whole chunks, and a flush now and then, one for all datasets.

libhdf5 has no commits; three rules stand in for them. Between two flushes none of the file's metadata is
written: libhdf5 is told to keep it in memory. Between two flushes space is only added (see
`append_buffers.py`): chunks that a flush left partly filled are written again in a flush only. And that flush
has two steps: first the file forgets those chunks, then it gets them anew. So a kill leaves no rows that are
not those which were appended.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from coquina.hdf5.append_buffers import AppendBuffer
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5o
from coquina.locks import NodeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina.hdf5.datasets import Dataset


_WAITING_BYTES_MAX = 64 << 20


class AppendGroup:
    """Rows that are appended to several datasets of one file, with one flush for all of them.

    lengths: how many rows each dataset has with what was appended. flushed: how many of them a kill leaves.
    buffer_bytes: what makes a flush come by itself; may be changed.
    The guarantees are those of `AppendSession`, for all datasets together: between two flushes a kill leaves
    each as long as the last flush did. Within a flush the datasets may differ in what they hold of the rows
    that it writes.
    """

    def __init__(
        self, datasets: Sequence[Dataset], buffer_bytes: int | None = 1 << 20, durable: bool = False
    ) -> None:
        """Begin. A new file that has no name yet gets it now: who would find it after a kill?

        buffer_bytes: flush in the `append` that makes it more bytes since the last flush. The rows of one
            dataset (of several, if they are cut and filled alike) are then flushed up to the last whole
            chunk; those of the chunk behind it wait on, and are flushed by `flush`, at the end, or when they
            alone are more than `buffer_bytes` and than half a chunk. So a kill takes back that much at most,
            and less than a chunk behind an `append` that filled some. None flushes where you say so, when
            more than 64 MiB wait behind chunks that a flush left partly filled, and at the end. A flush
            writes those chunks again.
        durable: each flush waits for the disk.

        Raises ValueError for datasets that cannot grow or be written, or that are not of one file.
        """
        self._buffers = [AppendBuffer(dataset) for dataset in datasets]
        if not datasets:
            raise ValueError("append: no datasets are given")
        self._file = self._buffers[0].file
        if any(buffer.file != self._file for buffer in self._buffers):
            raise ValueError("append: the datasets must be in one file")
        if len({inside(dataset) for dataset in datasets}) < len(datasets):
            raise ValueError("append: a dataset is given twice")
        self._owner = datasets[0].file
        self._durable = durable
        if durable:
            _check_durable(self._owner, self._file)
        self.buffer_bytes = buffer_bytes
        self._gathered_bytes = 0
        self._lock = NodeLock()
        self._is_open = True
        # Where changes are commits, metadata may be written at any time.
        self._evictions = None if self._owner.commits else _Evictions.off(self._file)
        try:
            # What was changed before is part of the first state that a kill leaves.
            self._owner.publish()
            self._flush_file()
        except BaseException:
            self._release()
            raise

    @property
    def lengths(self) -> tuple[int, ...]:
        """The rows of each dataset, with those that were appended."""
        return tuple(buffer.rows for buffer in self._buffers)

    @property
    def flushed(self) -> tuple[int, ...]:
        """The rows of each dataset that a kill leaves."""
        return tuple(buffer.flushed for buffer in self._buffers)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or the file."""
        return not self._is_open or not self._file.id.valid

    def append(self, parts: Sequence[npt.ArrayLike]) -> None:
        """Add rows to each dataset: an array with its axes, or one row, with an axis less.

        Whole chunks are written, from where `parts` have them; the rest waits in memory. Flushes where more
        than `buffer_bytes` have gathered. Raises ValueError or TypeError for parts that do not fit, OSError
        if the disk is full: then no dataset gets any row, or (where it was a flush that failed) all get
        theirs; `lengths` tell. When there is room again, `flush` and `append` go on.
        """
        with self._lock:
            self._check_open()
            if len(parts) != len(self._buffers):
                raise ValueError(f"append: {len(parts)} parts to {len(self._buffers)} datasets")
            self._take([buffer.fitting(rows) for buffer, rows in zip(self._buffers, parts, strict=True)])
            if self._is_due():
                self._flush_some()

    def flush(self) -> None:
        """Write all rows so far, and all metadata: once it returns, a kill does not take them back.

        `durable` groups wait for the disk too, so that not even a power cut does. Raises OSError if the disk
        is full: a kill then leaves what the flush before left, and of some datasets whole chunks behind it.
        """
        with self._lock:
            self._check_open()
            if self.lengths != self.flushed:
                self._flush(list(self.lengths))

    def close(self) -> None:
        """Flush, and let libhdf5 write metadata when it likes again.

        Raises OSError if the disk is full: rows that were not flushed are given up then, all of them.
        """
        with self._lock:
            if not self._is_open:
                return
            try:
                # A sync that failed may have closed the file, after all was flushed.
                if self._file.id.valid or self.lengths != self.flushed:
                    self.flush()
            except BaseException:
                if self._owner.commits:
                    # Whole chunks are in the file, the rest is only here: no commit is to have a part.
                    _try_each([buffer.give_back for buffer in self._buffers])
                raise
            finally:
                self._is_open = False
                self._release()

    def give_up(self) -> None:
        """Forget the rows that were not flushed, and be closed."""
        with self._lock:
            _try_each([buffer.give_back for buffer in self._buffers])
            self._is_open = False
            self._release()

    def __enter__(self) -> AppendGroup:
        """Return the group; it is closed at the end of the `with` block, however that ends."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it: what was appended until then stays."""
        self.close()

    def __repr__(self) -> str:
        """Say how much there is."""
        if self.is_closed:
            return "<AppendGroup, closed>"
        return f"<AppendGroup of {len(self._buffers)} datasets, {self.lengths} rows, {self.flushed} flushed>"

    def _release(self) -> None:
        if self._evictions is not None:
            self._evictions.release()
            self._evictions = None

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError("the append session is closed")
        if not self._file.id.valid:
            lost = sum(buffer.rows - buffer.flushed for buffer in self._buffers)
            raise ValueError(f"the file was closed during an append session; {lost} rows are lost")

    def _take(self, parts: list[npt.NDArray[Any]]) -> None:
        """Add rows to those that wait; write the chunks that are whole."""
        for buffer in self._buffers:
            buffer.check_extent()
        try:
            for buffer, values in zip(self._buffers, parts, strict=True):
                buffer.write_whole(values)
        except BaseException:
            _try_each([buffer.give_up for buffer in self._buffers])
            raise
        for buffer, values in zip(self._buffers, parts, strict=True):
            buffer.take(values)
            self._gathered_bytes += values.nbytes

    def _is_due(self) -> bool:
        if self.buffer_bytes is not None:
            return self._gathered_bytes > self.buffer_bytes
        return sum(buffer.waiting_bytes for buffer in self._buffers if buffer.is_long) > _WAITING_BYTES_MAX

    def _flush_some(self) -> None:
        """Flush whole chunks; or all, where there are none and what waits is worth a chunk written twice."""
        first = self._buffers[0]
        is_alike = len({(buffer.rows, buffer.flushed, buffer.chunk_rows) for buffer in self._buffers}) == 1
        if is_alike and first.whole_rows > first.flushed:
            self._flush([buffer.whole_rows for buffer in self._buffers])
            return
        chunk_bytes = sum(buffer.row_bytes * buffer.chunk_rows for buffer in self._buffers)
        if self.buffer_bytes is None or 2 * self._gathered_bytes > chunk_bytes:
            self._flush(list(self.lengths))

    def _flush(self, stops: list[int]) -> None:
        """Flush the rows of each dataset before that of `stops`."""
        for buffer in self._buffers:
            buffer.check_extent()
        again = [buffer for buffer in self._buffers if buffer.is_to_be_forgotten]
        encoded = [buffer.encoded() for buffer in again]
        is_kept = not again
        try:
            if again:
                self._forget(again)
                for buffer, chunks in zip(again, encoded, strict=True):
                    buffer.write_again(chunks)
                if any(buffer.is_long for buffer in self._buffers):
                    # What comes now takes its time; a kill in it leaves all rows of the last flush.
                    self._flush_file()
                    is_kept = True
            for buffer, stop in zip(self._buffers, stops, strict=True):
                buffer.write_rest(stop)
            self._flush_file()
        except BaseException:
            _try_each([buffer.go_back for buffer in self._buffers])
            if not is_kept:
                with suppress(Exception):
                    self._restore(again)
            raise
        for buffer, stop in zip(self._buffers, stops, strict=True):
            buffer.settle(stop)
        self._gathered_bytes = sum(
            buffer.row_bytes * (buffer.rows - buffer.flushed) for buffer in self._buffers
        )

    def _forget(self, again: list[AppendBuffer]) -> None:
        """Take chunks out of the file: it must not refer to them when their space is used for others."""
        for buffer in again:
            buffer.forget()
        self._flush_file()

    def _restore(self, again: list[AppendBuffer]) -> None:
        """Make the file what the last flush left: if the disk is full, there is room for what was there."""
        for buffer in again:
            buffer.forget()
        _try_each([buffer.write_old for buffer in again])
        self._flush_file()

    def _flush_file(self) -> None:
        """Write all metadata; one commit, where there are some."""
        self._owner.commit(durable=self._durable)


class AppendSession:
    """Appends rows to a dataset in chunks, with explicit commits; returned by `Dataset.appending`.

    rows: the length of the dataset including the appended rows. flushed: the length that a killed process
        leaves.

    Rows can be read after they are flushed. Threads may share a session. Do not change the file in other ways
    while a session is open. If the process is killed, the following holds:

    - The dataset has the rows of the last flush, because a flush is a commit of the file.
    - In a file opened with `journal=False` libhdf5 writes in place. A kill within a flush may then lose the
      rows of chunks that an earlier flush left partly filled; `coquina recover` saves the others. In SWMR
      mode (`file.h5.swmr_mode = True`) nothing that was flushed is lost.
    - With `durable` the same holds for a power cut.

    After a flush that left a chunk partly filled, rows wait in memory for the next flush, which happens on
    its own at 64 MiB. Flushing at whole chunks avoids that. Memory: one row of chunks, and 40 bytes for each
    appended chunk.

    >>> import numpy as np
    >>> import coquina as cq
    >>> f = cq.hdf5.File.in_memory()
    >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
    >>> with d.appending(flush_every=2) as session:
    ...     session.append([10, 11, 12])
    >>> d.shape
    (13,)
    """

    def __init__(self, dataset: Dataset, flush_every: int | None = None, durable: bool = False) -> None:
        """Begin. A new file that has no name yet gets it now: who would find it after a kill?

        flush_every: flush in the `append` that makes it so many rows since the last flush; None flushes where
        you say so, and at the end. durable: each flush waits for the disk. Raises ValueError for a dataset
        that cannot grow or be written.
        """
        if flush_every is not None and flush_every < 1:
            raise ValueError(f"flush_every: {flush_every} is not a number of rows")
        self._name = dataset.name
        self._flush_every = flush_every
        self._lock = NodeLock()
        self._group = AppendGroup([dataset], None, durable)

    @property
    def rows(self) -> int:
        """How many rows the dataset has with what was appended."""
        return self._group.lengths[0]

    @property
    def flushed(self) -> int:
        """How many rows a kill leaves."""
        return self._group.flushed[0]

    def append(self, rows: npt.ArrayLike) -> None:
        """Append rows: an array with the axes of the dataset, or a single row.

        rows: the rows. Whole chunks are written, others wait in memory. Flushes after `flush_every` rows.
            Raises ValueError or TypeError for rows that do not fit, without appending any; OSError if the
            disk is full: the attribute `rows` tells whether the rows were appended, and `flush` and `append`
            can be called again.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> with d.appending() as session:
        ...     session.append([10])
        >>> d[-1]
        np.int64(10)
        """
        with self._lock:
            self._group.append([rows])
            if self._flush_every is not None and self.rows - self.flushed >= self._flush_every:
                self._group.flush()

    def flush(self) -> None:
        """Commit all rows: a killed process no longer loses them. With `durable`, wait for the disk.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> with d.appending() as session:
        ...     session.append([10])
        ...     session.flush()
        """
        self._group.flush()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or the file."""
        return self._group.is_closed

    def close(self) -> None:
        """Flush, and end the session.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> session = d.appending()
        >>> session.close()
        """
        self._group.close()

    def __enter__(self) -> AppendSession:
        """Return the session; it is closed at the end of the `with` block, however that ends."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it: what was appended until then stays."""
        self.close()

    def __repr__(self) -> str:
        """Say how much there is."""
        if self._group.is_closed:
            return "<AppendSession, closed>"
        return f"<AppendSession of {self._name!r}, {self.rows} rows, {self.flushed} flushed>"


class _Evictions:
    """Keeps libhdf5 from writing the metadata of a file outside of flushes, while anybody holds it."""

    # What is counted is state of libhdf5: one for each file that the process has open, by whatever handles.
    _lock = NodeLock()
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


def _try_each(steps: list[Callable[[], None]]) -> None:
    """Take each step, also where another one fails: an exception is on its way already."""
    for step in steps:
        with suppress(Exception):
            step()


def _check_durable(owner: Any, file: Any) -> None:
    if not owner.commits and file.driver != "sec2":
        raise ValueError(f"durable: driver {file.driver!r} cannot be synced to the disk")
