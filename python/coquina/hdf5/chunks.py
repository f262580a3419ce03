"""Stored chunks of HDF5 datasets: where they are, their bytes, and writing them as they are.

In: coordinates of items. Out: what stands in the file, filters not undone. Checks are those of PyTables:
chunks are named by the coordinates of their first item, which must lie inside of the shape.
Traps: libhdf5 keeps the old filter mask of a chunk that is overwritten with as many bytes, and, right after a
chunk was written with a mask, reads it without one; see docs/formats/hdf5-filters.md. Both are undone here.
Where one axis is endless and not the first, libhdf5 2.0 lists chunks with wrong coordinates; the bridge
knows the right ones.
libhdf5 walks over all chunks to find one. So the second question lists them, and the list answers as long as
nobody but this package can have changed the dataset (`Hdf5Library.version`).
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from coquina import _core
from coquina._core import UnsupportedError
from coquina.hdf5.untyped import h5f, h5i

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from coquina._core import Buffer, ChunkRows, Hdf5Library

Coordinates = tuple[int, ...]


class ChunkInfo(NamedTuple):
    """Where a chunk is stored.

    start: coordinates of its first item. filter_mask: bit i is set if filter i was skipped. offset, size: of
    its bytes in the file. All but `start` are None for a chunk that was never written.

    >>> import numpy as np
    >>> import coquina as cq
    >>> f = cq.hdf5.File.in_memory()
    >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
    >>> d.chunk_info([5]).start
    (4,)
    """

    start: Coordinates
    filter_mask: int | None
    offset: int | None
    size: int | None


def _view(buffer: Buffer) -> memoryview:
    return memoryview(cast("Any", buffer)).cast("B")


def coordinates(coords: Iterable[int]) -> Coordinates:
    """Return the coordinates of an item as a tuple. Raises TypeError for what is none.

    A single number is refused: h5py takes it for that of a chunk, and here it would be that of an item.
    """
    try:
        return tuple(index(at) for at in coords)
    except TypeError:
        raise TypeError(
            f"coordinates {coords!r}: give those of an item, an integer for each axis, such as (0,) or (0, 0)"
            "; chunk_iter() lists all chunks"
        ) from None


def may_be_mixed_up(maxshape: tuple[int | None, ...]) -> bool:
    """Whether libhdf5 may find the entry of another chunk: one axis is endless, and it is not the first."""
    return maxshape.count(None) == 1 and maxshape[0] is not None


class StoredChunks:
    """The chunks of one dataset of h5py."""

    __slots__ = ("_chunks", "_h5", "_has_sums", "_is_fixed", "_known", "_library", "_seen", "_written")

    def __init__(self, h5: Any, library: Hdf5Library, chunks: Coordinates, *, has_sums: bool) -> None:
        """Made by a dataset; no chunks for one that has none. has_sums: whether they can have checksums."""
        self._has_sums = has_sums
        self._h5 = h5
        self._library = library
        self._chunks = chunks or None
        intent = h5i.get_file_id(h5.id).get_intent()
        self._is_fixed = not intent & (h5f.ACC_RDWR | h5f.ACC_SWMR_READ | h5f.ACC_SWMR_WRITE)
        # The version of which chunks were asked for, and the chunks of a version.
        self._seen: int | None = None
        self._known: tuple[int, ChunkRows] | None = None
        # Those that were written since then: all others are where they were.
        self._written: set[Coordinates] = set()

    def forget(self) -> None:
        """Ask libhdf5 again: the dataset shows another state of the file."""
        self._seen, self._known = None, None

    def info(self, coords: Iterable[int]) -> ChunkInfo:
        """Return where the chunk is that holds the item at `coords`."""
        return self._entry(self._start(coords, is_first=False))

    def read(self, coords: Iterable[int], out: Buffer | None) -> bytes | memoryview:
        """Return the bytes of the chunk whose first item is at `coords`, or put them into `out`."""
        start = self._start(coords)
        if out is None:
            found = self._library.read_chunk(start)
            if found is None:
                raise self._missing(start)
            return found[0]
        view = _view(out)
        stored = self._library.read_chunk_into(start, view)
        if stored is None:
            raise self._missing(start)
        return view[: stored[0]]

    def write(
        self, coords: Iterable[int], data: Buffer, filter_mask: int, wrote: Callable[[], object]
    ) -> None:
        """Store `data` as the chunk whose first item is at `coords`.

        wrote: counts a change; it is called whether or not the write succeeds.
        """
        start = self._start(coords)
        before = self._version
        try:
            self._put(start, data, filter_mask)
        finally:
            wrote()
            # A chunk without a mask is counted by the bridge too.
            if before is not None and self._version == before + (1 if filter_mask else 2):
                self._move_on(before, start)

    def _move_on(self, version: int, start: Coordinates) -> None:
        """Note that since `version` only this chunk was written: others are where they were."""
        after = self._version
        if after is not None and self._seen == version:
            self._seen = after
        if after is not None and self._known is not None and self._known[0] == version:
            self._known = after, self._known[1]
            self._written.add(start)

    def _put(self, start: Coordinates, data: Buffer, filter_mask: int) -> None:
        if filter_mask == 0:
            # Checksums say where a chunk belongs, and it may come from elsewhere.
            self._library.write_chunk(start, _core.filter_place(data, start) if self._has_sums else data)
            return
        content = bytes(_view(data))
        if self._entry(start).size == len(content):
            # Another number of bytes makes libhdf5 write down the mask.
            self._h5.id.write_direct_chunk(start, content + b"\0", filter_mask)
        self._h5.id.write_direct_chunk(start, content, filter_mask)
        # libhdf5 keeps what it last looked up, without the mask, until it looks for another chunk.
        self._library.read_chunk(self._other(start))

    def all(self) -> Iterator[ChunkInfo]:
        """Yield all stored chunks that lie inside of the shape, in C order."""
        self._check_chunked()
        shape = self._h5.id.shape
        for start, address, size, mask in self._rows():
            # The index of a file that another program writes may be ahead of the shape.
            if all(at < length for at, length in zip(start, shape, strict=True)):
                yield ChunkInfo(start, mask, address, size)

    @property
    def _version(self) -> int | None:
        """Another number after each change; None where there may be changes that nobody counts."""
        return 0 if self._is_fixed else self._library.version

    def _rows(self) -> ChunkRows:
        """Return all stored chunks."""
        # Before the chunks: what changes them meanwhile makes it another version.
        version = self._version
        if self._known is not None and self._known[0] == version and not self._written:
            return self._known[1]
        rows = self._library.chunk_rows()
        if version is not None:
            self._seen, self._known, self._written = version, (version, rows), set()
        return rows

    def _entry(self, start: Coordinates) -> ChunkInfo:
        version = self._version
        known = self._known
        if known is not None and known[0] == version and start not in self._written:
            return _info(start, known[1])
        if may_be_mixed_up(self._h5.maxshape) or (version is not None and version == self._seen):
            return _info(start, self._rows())
        self._seen = version
        stored = self._h5.id.get_chunk_info_by_coord(start)
        if stored.byte_offset is None:
            return ChunkInfo(start, None, None, None)
        return ChunkInfo(start, stored.filter_mask, stored.byte_offset, stored.size)

    def _other(self, start: Coordinates) -> Coordinates:
        """Return where another chunk begins: one inside of the shape, if there is one."""
        chunks, shape = self._check_chunked(), self._h5.id.shape
        for axis, (at, chunk, length) in enumerate(zip(start, chunks, shape, strict=True)):
            if length > chunk:
                return (*start[:axis], 0 if at else chunk, *start[axis + 1 :])
        # To ask for what is outside of the shape is harmless where there is one chunk only.
        return (chunks[0], *start[1:])

    def _missing(self, start: Coordinates) -> KeyError:
        return KeyError(f"{self._h5.name}: the chunk at {start} was never written")

    def _check_chunked(self) -> Coordinates:
        if self._chunks is None:
            raise UnsupportedError(f"{self._h5.name}: is not chunked")
        return self._chunks

    def _start(self, coords: Iterable[int], *, is_first: bool = True) -> Coordinates:
        """Return where the chunk begins that `coords` lie in. ValueError if that is not where they are."""
        # As the file has it now; of a dataset of h5py, these are slow to ask for.
        chunks, shape = self._check_chunked(), self._h5.id.shape
        given = coordinates(coords)
        if len(given) != len(shape):
            axes = "1 axis" if len(shape) == 1 else f"{len(shape)} axes"
            raise ValueError(f"coordinates {given}: {self._h5.name} has {axes}; give an integer for each")
        if any(not 0 <= at < length for at, length in zip(given, shape, strict=True)):
            raise IndexError(f"coordinates {given}: outside of the shape {shape} of {self._h5.name}")
        start = tuple(at - at % chunk for at, chunk in zip(given, chunks, strict=True))
        if is_first and start != given:
            raise ValueError(f"coordinates {given}: no chunk of {chunks} begins there, but at {start}")
        return start


def _info(start: Coordinates, rows: ChunkRows) -> ChunkInfo:
    found = rows.find(start)
    if found is None:
        return ChunkInfo(start, None, None, None)
    offset, size, filter_mask = found
    return ChunkInfo(start, filter_mask, offset, size)
