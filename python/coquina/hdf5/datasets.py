"""`Dataset`: a dataset of an HDF5 file as an array, past libhdf5's filter pipeline.

In: a dataset that h5py has open. Out: an `Array`: all keys of NumPy, decoded and encoded on all cores. What
has no items (name, attributes, growing) is h5py's work.
Invariant: values are those that h5py reads, whichever way the chunks come.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.arrays.array import Array
from coquina.arrays.copies import copy_of, storage_of_copy
from coquina.arrays.descriptions import add_layers, layers_of
from coquina.arrays.fields import field_names, write_fields
from coquina.casting import items_of
from coquina.hdf5 import (
    checksums,
    chunk_encoding,
    policy_attributes,
    quantization,
    rounding,
    tuning_attribute,
)
from coquina.hdf5.appending import AppendSession
from coquina.hdf5.chunks import ChunkInfo, StoredChunks
from coquina.hdf5.dataset_info import DatasetInfo, described
from coquina.hdf5.describing import describe
from coquina.hdf5.filters import is_blosc2_alone
from coquina.hdf5.fixed_attributes import mark_indexes_stale
from coquina.hdf5.h5py_keys import DatasetIndexError, DatasetShapeError, is_region, plain_key
from coquina.hdf5.h5py_members import Member
from coquina.hdf5.places import Placed
from coquina.hdf5.sessions import Session
from coquina.hdf5.untyped import h5py
from coquina.providers import Provider
from coquina.storage_options import Storage, is_cut
from coquina.tuning_options import DATASETS, info_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Buffer, Hdf5Library, Path
    from coquina.changes import Changes
    from coquina.hdf5 import files as hdf5_files
    from coquina.hdf5.appending import AppendSession
    from coquina.hdf5.chunk_encoding import ChunkEncoding
    from coquina.hdf5.describing import AccessPath, Facts, Zones
    from coquina.hdf5.nodes import Nodes
    from coquina.lossy import Lossy, LossyInfo
    from coquina.remote import RangeReader
    from coquina.storage_options import StorageOptions
    from coquina.tuning_options import Terms, TuningInfo
else:
    hdf5_files = Provider("hdf5_files")


#: Of a name of metadata in an array.
NAME_BYTES_MAX = 31


class Dataset(Placed, Array):
    """A dataset of an HDF5 file. It is an `Array`, with h5py's attributes and methods in addition.

    Its axes are those of the dataset, followed by those of an array datatype. It shares the file with h5py
    (`h5`). Threads may share it. Changes are committed by `File.flush` or `File.transaction`.

    access: the access path to chunks: "direct" (without libhdf5 and its lock), "fetched" (libhdf5 reads
        stored chunks in batches) or "whole" (libhdf5 reads and decodes); see `access_reason`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> f = cq.hdf5.File.in_memory()
    >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
    >>> d[2:8:3], d.sum(), d.chunks
    (array([2, 5]), np.int64(45), (4,))
    """

    __slots__ = (
        "_chunks",
        "_facts",
        "_h5",
        "_is_closed",
        "_library",
        "_nodes",
        "_where",
        "zones",
    )
    _chunks: StoredChunks | None
    _facts: Facts
    _h5: Any
    _library: Hdf5Library
    _nodes: Nodes
    _where: tuple[Session, int]
    _is_closed: bool
    zones: Zones

    def __new__(
        cls,
        h5: Any,
        facts: Facts | None = None,
        nodes: Nodes | None = None,
        *,
        access: AccessPath | None = None,
        blocks: tuple[int, ...] | None = None,
        zones: Zones = (),
    ) -> Dataset:
        """Made by a file, a group or `fast`; or for an identifier of h5py's low-level interface."""
        if facts is None or nodes is None:
            h5 = h5py.Dataset(h5)
            return hdf5_files.nodes_for(h5).array(h5)
        where = Session.at(h5) if nodes.session.has_sole_writer else None
        version = None if where is None else where[0].changes(where[1]).version
        library = facts.library_of(h5, policy_attributes, version)
        facts = facts.with_edges_of(library)
        self = super().__new__(cls, facts.open(library, access, blocks, zones), facts.dtype)
        self._library = library
        self._chunks = None
        self._facts = facts
        self._h5 = h5
        self._nodes = nodes
        self._is_closed = False
        if where is not None:
            self._where = where
        self.zones = tuple(zones)
        return self

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None for one that is only in memory."""
        return self._nodes.path_of(self._h5)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its file."""
        return self._is_closed or not self._h5

    @property
    def remote(self) -> RangeReader | None:
        """The reader of a file behind a URL, with counts of `requests` and `bytes_read`; else None."""
        return self._facts.remote

    @property
    def layout(self) -> str:
        """How the items are stored: "chunked", "contiguous", "compact" or "virtual"."""
        return self._facts.layout

    dims = Member("Labels and scales of the axes; `make_scale` makes a dataset a scale.")
    make_scale = Member("Make it a scale of axes, under a name: `make_scale(name)`.")
    is_scale = Member("Whether it is a scale of axes.")
    asstr = Member("A view of byte strings that reads them as str: `asstr(encoding, errors)[key]`.")
    iter_chunks = Member("Iterate over the keys of the chunks that a selection touches: `iter_chunks(key)`.")
    regionref = Member("References to parts, by `regionref[key]`.")
    is_virtual = Member("Whether its items are those of other datasets.")
    virtual_sources = Member("The parts of other datasets that a virtual one is made of.")
    external = Member("Files that hold its items outside of the HDF5 file: names, offsets, sizes; or None.")
    compression = Member("What h5py calls its filter: 'gzip', 'lzf', 'szip'; None for others. See `filters`.")
    filter_ids = Member("The ids of its filters, in the order of writing.")
    filter_names = Member("The names of its filters in the file, in the order of writing.")
    _filters = Member("The filters and their parameters as h5py keeps them, for programs that look there.")
    compression_opts = Member("The parameters of that filter.")
    shuffle = Member("Whether HDF5's shuffle comes before the filter.")
    fletcher32 = Member("Whether chunks have HDF5's checksum.")
    scaleoffset = Member("The parameter of HDF5's scale-offset; None without.")

    @property
    def maxshape(self) -> tuple[int | None, ...]:
        """Maximum length of each axis; None for unlimited."""
        return (*self._facts.maxshape, *self.shape[self._facts.rank :])

    @property
    def fillvalue(self) -> Any:
        """What items are that were never written."""
        return np.frombuffer(self._facts.fill, self.dtype)[0]

    @property
    def filters(self) -> list[tuple[int, str, tuple[int, ...]]]:
        """Id, name and parameters of each HDF5 filter, in the order of writing."""
        return [(code, name, values) for code, name, _, values in self._facts.filters]

    @property
    def encoding(self) -> ChunkEncoding | None:
        """How chunks are encoded that are written, where the parameters of Blosc2's filter cannot say it.

        None where they say it. Raises CorruptError for a damaged attribute: the dataset can be read then.
        """
        return chunk_encoding.of_dataset(self._h5)

    @property
    def checksums(self) -> bool:
        """Whether chunks that are written get checksums: if Blosc2 is their only filter, unless refused."""
        return is_blosc2_alone(one[0] for one in self._facts.filters) and checksums.are_wanted(self._h5.id)

    @property
    def access(self) -> str:
        """How chunks are accessed: "direct", "fetched" or "whole"."""
        return self.handle.stats().get("access") or self._facts.access

    @property
    def access_reason(self) -> str | None:
        """Why the access path is not a faster one; None for "direct"."""
        if self._facts.reason is None and self.access != "direct":
            return "what was read directly was not right, and what libhdf5 read was"
        return self._facts.reason

    @property
    def cbytes(self) -> int:
        """Bytes that the items take in the file."""
        return self._h5.id.get_storage_size()

    @property
    def info(self) -> DatasetInfo:
        """How it is stored."""
        return DatasetInfo.of(self)

    @property
    def durable(self) -> bool:
        """False: libhdf5 says when it hands over to the system, and nothing waits for the disk."""
        return False

    @durable.setter
    def durable(self, durable: bool) -> None:
        if durable:
            raise UnsupportedError(
                "datasets have no commits of their own; pass durable= to `appending` or `File.flush`"
            )

    @property
    def lossy(self) -> LossyInfo | None:
        """The bound on what is lost, and what was reached; None if all is kept exactly."""
        return quantization.state(self._h5)

    def set_error_bound(self, lossy: Lossy) -> None:
        """Put a new dataset under a bound. Raises ValueError for items that cannot have one."""
        self.handle.set_lossy(lossy.terms)
        quantization.put(self._h5, lossy)

    def rounded(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values as near as the bound asks for: for who writes them by `exactly`, perhaps often."""
        return rounding.rounded(self.handle, values, self.chunks, self._facts.fill)

    def note_reached(self) -> None:
        """Let the attributes say what was lost so far."""
        self.handle.write_loss()

    @contextmanager
    def exactly(self) -> Generator[None]:
        """Write what is rounded already: it stays as it is within the block."""
        if self.handle.lossy() is None:
            yield
            return
        self.handle.set_exact(True)
        try:
            yield
        finally:
            self.handle.set_exact(False)

    @property
    def goal(self) -> Terms | None:
        """What chunks are tuned for, as the engine takes it. Raises CorruptError as `tuning` does."""
        filters = [code for code, _, _, _ in self._facts.filters]
        chunk_encoding.check(self._h5)
        is_tunable = self.layout == "chunked" and is_blosc2_alone(filters)
        return tuning_attribute.read(self._h5) if is_tunable else None

    @property
    def tuning(self) -> TuningInfo | None:
        """What chunks are tuned for; None where all are encoded in the same way.

        Raises CorruptError where the attribute is damaged: the dataset can be read then, not written.
        """
        return info_of(self.goal)

    @property
    def tuning_name(self) -> str:
        """What stands behind the name of the filter: "auto", and for what; nothing where all are alike."""
        try:
            found = self.tuning
        except CorruptError:
            return " auto (damaged)"
        return "" if found is None else f" auto ({found})"

    def tune(self, terms: Terms) -> None:
        """Tune a new dataset. Raises ValueError or UnsupportedError for chunks that cannot be."""
        self.handle.set_tuning(terms)

    def _getitem_general(self, key: Any) -> Any:
        """Read by keys of h5py's too."""
        if is_region(key):
            return self._h5[key]
        try:
            return super()._getitem_general(plain_key(key, self.shape))
        except IndexError as error:
            raise DatasetIndexError(str(error)) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign as NumPy does. Raises what NumPy raises, ValueError if open for reading only."""
        key = plain_key(key, self.shape)
        if self.dtype.names is not None and (names := field_names(key)) is not None:
            write_fields(self, names, value, nullcontext())
            return
        if self.dtype.kind == "S":
            value = _encoded(value)
        try:
            super().__setitem__(key, value)
        except IndexError as error:
            raise DatasetIndexError(str(error)) from None
        except ValueError as error:
            # Others, CorruptError for one, say more than that a shape is wrong.
            if type(error) is not ValueError or not self.handle.is_writable:
                raise
            raise DatasetShapeError(str(error)) from None

    def astype(self, dtype: npt.DTypeLike, *, casting: Any = "unsafe", copy: bool = True) -> Any:
        """Return the elements as another dtype; as `StringDType` ("T"), return h5py's view, read by key.

        Raises TypeError if the rule `casting` does not allow it.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=[b"foo", b"bar"])
        >>> d.astype("T")[1]
        'bar'
        """
        if np.dtype(dtype).kind == "T":
            return self._h5.astype(dtype)
        return super().astype(dtype, casting=casting, copy=copy)

    def with_zones(self, zones: Zones) -> Dataset:
        """Return the dataset, opened so that chunks get a zone map of `zones` when they are written.

        zones: offset in an item and type name ("int32") of numbers, little-endian, and of bytes of a fixed
        width ("S16"); the least and the greatest of each block are kept in the chunk, of texts as far as
        their first eight bytes, for conditions to skip it. Without effect on datasets of more than one axis,
        and on those whose only filter is not Blosc2. Raises ValueError for what is neither in an item.
        """
        facts = describe(self._h5) or self._facts
        return type(self)(self._h5, facts, self._nodes, zones=zones)

    def resize(
        self, shape: int | tuple[int, ...], axis: int | None = None, *, threads: int | None = None
    ) -> None:
        """Change the shape of the dataset, or the length of one axis. New elements have the fill value.

        shape: the new shape, or the new length if `axis` is given. axis: the axis to change. threads: the
            number of threads. Raises ValueError if `maxshape` does not allow the shape, UnsupportedError if
            the dataset is not chunked.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.resize(12, axis=0)
        >>> d.shape
        (12,)
        """
        if axis is not None:
            if not isinstance(shape, int) or not -self.ndim <= axis < self.ndim:
                raise ValueError(f"resize: length {shape} of axis {axis} of {self.ndim}")
            lengths = list(self.shape)
            lengths[axis] = shape
            new = tuple(lengths)
        else:
            new = (shape,) if isinstance(shape, int) else tuple(shape)
            if len(new) == self._facts.rank:
                new = (*new, *self.shape[self._facts.rank :])
        self._check_shape(new)
        super().resize(new, threads=threads)

    def _shared_changes(self) -> Changes:
        changes = getattr(self, "_changes", None)
        if changes is None:
            session, place = self.location
            changes = self._changes = session.changes(place)
        return changes

    @property
    def location(self) -> tuple[Session, int]:
        """The session of its file, and its place in the file; for those who ask whether it was changed."""
        found = getattr(self, "_where", None)
        if found is None:
            found = self._where = Session.at(self._h5)
        return found

    def _wrote(self) -> None:
        changes = self._shared_changes()
        changes.happened()
        if not changes.is_told and self.dtype.names is not None and self.handle.is_writable:
            # Tables tell before they change rows; this is for who writes to their records.
            mark_indexes_stale(self._h5)
            changes.is_told = True

    def shortened(self, rows: int) -> Dataset:
        """Return the first `rows` rows as a dataset of its own, to be read only."""
        lengths = (rows, *self._facts.shape[1:])
        return Dataset(self._h5, replace(self._facts, shape=lengths, is_writable=False), self._nodes)

    def truncate(self, size: int) -> None:
        """Change the length of the first unlimited axis, or of axis 0; it may also grow.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.truncate(3)
        >>> d[:]
        array([0, 1, 2])
        """
        axis = self.maxshape.index(None) if None in self.maxshape else 0
        self.resize(size, axis)

    def len(self) -> int:
        """Return the length of the first axis; `len(dataset)` cannot be more than 2**63 - 1.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.len()
        10
        """
        return len(self)

    def read_direct(self, dest: npt.NDArray[Any], source_sel: Any = None, dest_sel: Any = None) -> None:
        """Read into an array: `dest[dest_sel] = dataset[source_sel]`, all of either without a key.

        Raises TypeError, as h5py does, for shapes that do not go together.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> out = np.zeros(3, int)
        >>> d.read_direct(out, np.s_[2:5])
        >>> out
        array([2, 3, 4])
        """
        try:
            dest[... if dest_sel is None else dest_sel] = self[... if source_sel is None else source_sel]
        except ValueError as error:
            raise TypeError(f"read_direct: {error}") from None

    def write_direct(self, source: npt.NDArray[Any], source_sel: Any = None, dest_sel: Any = None) -> None:
        """Write from an array: `dataset[dest_sel] = source[source_sel]`, all of either without a key.

        Raises TypeError, as h5py does, for shapes that do not go together.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.write_direct(np.array([7, 8]), dest_sel=np.s_[:2])
        >>> d[:3]
        array([7, 8, 2])
        """
        try:
            self[... if dest_sel is None else dest_sel] = source[... if source_sel is None else source_sel]
        except ValueError as error:
            raise TypeError(f"write_direct: {error}") from None

    def append(self, y: npt.ArrayLike, axis: int = 0, *, threads: int | None = None) -> None:
        """Append the elements of `y` along `axis`.

        y: an array with the same lengths as the dataset along all other axes. threads: the number of threads.
            Raises ValueError or TypeError for an array that does not fit or a dataset that cannot grow. For
            many small appends use `appending`. See `Array.append`.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.append([10, 11])
        >>> d.shape
        (12,)
        """
        values = items_of(y, self.dtype)
        if values.ndim == self.ndim and -self.ndim <= axis < self.ndim:
            lengths = list(self.shape)
            lengths[axis] += values.shape[axis]
            self._check_shape(tuple(lengths))
        super().append(values, axis, threads=threads)

    def appending(self, flush_every: int | None = None, *, durable: bool = False) -> AppendSession:
        """Return a context manager that gathers appended rows into chunks and commits them on `flush`.

        flush_every: commit whenever this number of rows has been gathered. durable: commits wait for the
            disk. A killed process leaves the rows of the last commit. Memory: rows wait until they fill a
            chunk.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> with d.appending(flush_every=100) as session:
        ...     session.append([10, 11])
        >>> d.shape
        (12,)
        """
        return AppendSession(self, flush_every, durable)

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if self.layout != "chunked":
            raise UnsupportedError(f"{self.name}: {self.layout}; only chunked datasets can be resized")
        if len(shape) != self.ndim or any(length < 0 for length in shape):
            raise ValueError(f"shape {shape}: the dataset has {self.ndim} axes")
        for length, most in zip(shape, self.maxshape, strict=True):
            if most is not None and length > most:
                pairs = zip(shape, self.maxshape, strict=True)
                wider = tuple(None if one is None or n > one else one for n, one in pairs)
                raise DatasetShapeError(
                    f"shape {shape} exceeds the maxshape {self.maxshape} of {self.name}; "
                    f"a dataset grows that is created with maxshape={wider}"
                )
        if shape[self._facts.rank :] != self.shape[self._facts.rank :]:
            raise ValueError(f"shape {shape}: the last axes of {self.shape} belong to the dtype")

    def chunk_info(self, coords: Iterable[int]) -> ChunkInfo:
        """Return the location of the stored chunk that contains the element at `coords`.

        coords: an index for each axis. Returns a `ChunkInfo`. The second call lists all chunks; later calls
            are answered from that list, as long as the dataset changes only by `write_chunk`. In files that
            others may write to (SWMR, or after `h5` was used) libhdf5 is asked each time.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.chunk_info([5]).start
        (4,)
        """
        return self._stored().info(coords)

    def read_chunk(self, coords: Iterable[int], out: Buffer | None = None) -> bytes | memoryview:
        """Return the stored bytes of the chunk that begins at `coords`; into `out` if that is given.

        Raises ValueError if no chunk begins there (or `out` is too small), IndexError outside of the shape,
        KeyError for a chunk that was never written. `chunk_info` tells its size and its filter mask.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> len(d.read_chunk([4])) > 0
        True
        """
        return self._stored().read(coords, out)

    def write_chunk(self, coords: Iterable[int], data: Buffer, filter_mask: int = 0) -> None:
        """Store `data` as the chunk that begins at `coords`; its filters have run, but those of the mask.

        Raises ValueError if no chunk begins there, IndexError outside of the shape: grow it first.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.write_chunk([0], d.read_chunk([4]))
        >>> d[:4]
        array([4, 5, 6, 7])
        """
        if not self.handle.is_writable:
            raise ValueError(f"{self.name}: the file is open for reading only; open it with mode 'r+'")
        self._stored().write(coords, data, filter_mask, self._wrote)

    def chunk_iter(self) -> Iterator[ChunkInfo]:
        """Iterate over the stored chunks, in C order.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> [info.start for info in d.chunk_iter()]
        [(0,), (4,), (8,)]
        """
        return self._stored().all()

    def _stored(self) -> StoredChunks:
        known = self._chunks
        if known is None:
            facts, has_sums = self._facts, is_blosc2_alone(one[0] for one in self._facts.filters)
            chunks = facts.chunks[: facts.rank]
            known = self._chunks = StoredChunks(self._h5, self._library, chunks, has_sums=has_sums)
        return known

    def flush(self) -> None:
        """Commit all that was written to the file, by whichever dataset or table. See `File.flush`.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.flush()
        """
        self.file.commit()

    def refresh(self) -> bool:
        """See what others wrote: a program that writes with SWMR, or h5py here; whether the shape changed.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.refresh()
        False
        """
        if not self.handle.is_writable:
            self._h5.id.refresh()
        if self._chunks is not None:
            self._chunks.forget()
        is_other = self.handle.refresh()
        if is_other:
            self._wrote()
        return is_other

    def close(self) -> None:
        """Let go of the dataset; the file stays open.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.close()
        >>> d.is_closed
        True
        """
        super().close()
        self._is_closed = True

    @contextmanager
    def transaction(self) -> Generator[Array]:
        """Raise UnsupportedError: HDF5 cannot undo changes.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     d = f.create_dataset("x", data=[1, 2, 3])
        ...     with f.transaction():
        ...         d[0] = 5
        ...     print(d[:])
        [5 2 3]
        """
        raise UnsupportedError("datasets have no transactions; use `File.transaction` or `appending`")
        yield self

    def compact(self) -> None:
        """Raise UnsupportedError: HDF5 files get smaller by being copied.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> try:
        ...     d.compact()
        ... except cq.UnsupportedError as error:
        ...     print(error)
        HDF5 files cannot be compacted in place; `coquina repack` writes a compact copy
        """
        raise UnsupportedError(
            "HDF5 files cannot be compacted in place; `coquina repack` writes a compact copy"
        )

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Encode the items again into a new array file (not HDF5).

        path: of the new file. overwrite: replace one that is there; else that raises FileExistsError.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.save("a.b2nd", overwrite=True)
        >>> cq.open("a.b2nd")[:3]
        array([0, 1, 2])
        """
        self.copy(path=path, overwrite=overwrite).close()

    def to_bytes(self) -> bytes:
        """Encode the items again, and return the bytes of an array file (not HDF5).

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> cq.from_bytes(d.to_bytes())[:3]
        array([0, 1, 2])
        """
        return self.copy().to_bytes()

    def copy(
        self,
        *,
        path: Path | None = None,
        threads: int | None = None,
        **storage: Unpack[StorageOptions],
    ) -> Array:
        """Return a copy as an array in memory or in a file that is not HDF5 (see `Group.copy` for that).

        chunks: those of the dataset by default, if it has some. Attributes, names of axes and coordinates are
        copied, as `asarray` does; references, and what tells HDF5 and NetCDF of the file, are not.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
        >>> d.copy(codec="lz4")[-1]
        np.int64(9)
        """
        layers = layers_of(self)
        wanted = Storage.for_array(Dataset.copy, storage, path)
        if not is_cut(storage) and self.layout == "chunked":
            wanted = replace(wanted, chunks=self.chunks)
        copy = copy_of(Array, self, storage_of_copy(self, wanted, DATASETS)[0], threads=threads)
        with copy.transaction():
            add_layers(copy, layers)
        return copy

    __copy__ = copy

    def __repr__(self) -> str:
        """Say name, shape, dtype, how it is stored, and where it is."""
        if self.is_closed:
            return "<Dataset, closed>"
        pipeline = " + ".join(described(name, values) for _, name, values in self.filters) or "no filters"
        how = f"chunks {self.chunks}" if self.layout == "chunked" else self.layout
        pipeline += self.tuning_name
        return f"<Dataset {self.name!r} {self.shape} {self.dtype}, {how}, {pipeline}, {self.path!r}>"

    def __reduce__(self) -> tuple[Callable[..., Array], tuple[Any, ...]]:
        """Pickle by path and name: it reopens for reading."""
        return self._nodes.pickled(self, "; pickle a copy()")


def _encoded(value: Any) -> Any:
    """Return text as bytes, in UTF-8; NumPy writes no other text than ASCII to byte strings."""
    if isinstance(value, bytes | np.bytes_):
        return value
    items: Any = np.asarray(value)
    if items.dtype.kind == "T" or (
        items.dtype.kind == "O" and all(isinstance(one, str) for one in items.flat)
    ):
        items = np.array(items.tolist(), np.str_)
    return np.strings.encode(items, "utf-8") if items.dtype.kind == "U" else value
