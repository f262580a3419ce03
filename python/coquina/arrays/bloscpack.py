"""Bloscpack files: arrays and bytes as small files of compressed chunks.

`pack` and `unpack` are for files, `dumps` and `loads` for bytes in memory, `append` adds to a file, and
`open` gives a `PackFile` that reads only the chunks that a slice needs.

Source: the Bloscpack format, version 3. The `bloscpack` package reads the files, and coquina reads its.
"""

from __future__ import annotations

import json
import os
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.html import facts_html
from coquina.keyword_hints import names_keywords
from coquina.packed_arrays import PackedArray, packed_array, parse_metadata
from coquina.remote import new_path
from coquina.storage_options import encoding_of
from coquina.tuning_options import PACKS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO, Unpack

    import numpy.typing as npt

    from coquina._core import Buffer, Path
    from coquina.remote import RangeReader
    from coquina.storage_options import CodecOptions

CHUNK_SIZE = 1 << 20
_ITEM_BYTES = 8  # of plain bytes: what the Bloscpack package takes too


def pack(
    x: Buffer | Path,
    target: Path | BinaryIO,
    *,
    typesize: int | None = None,
    chunk_size: int = CHUNK_SIZE,
    checksum: str = "adler32",
    offsets: bool = True,
    metadata: bytes | None = None,
    metadata_room: int | None = None,
    overwrite: bool = True,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    **storage: Unpack[CodecOptions],
) -> int:
    """Pack an array, bytes or a file to a Bloscpack file. Returns its size in bytes.

    x: an array of any dtype without objects, any bytes-like object, or a path: `.npy` files are packed as
        arrays, others as bytes.
    target: a path, or a seekable file object opened for writing in binary mode.
    codec, level, filters: see `compress`; by default "blosclz", 7 and "shuffle". The filters are "shuffle",
        "bitshuffle" or "nofilter". The codec "auto" chooses for each chunk, by goal, for_, bandwidth,
        calibrate and profile of `Tuning`.
    typesize: bytes of an element; by default that of the array, or 8 for bytes.
    chunk_size: bytes of a chunk before compression, rounded down to whole elements.
    checksum: "none", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384" or "sha512".
    offsets: store the offsets of the chunks, for partial reads.
    metadata: JSON text to store with plain bytes; arrays store their own. metadata_room: bytes to reserve for
        it, in which `PackFile.set_metadata` changes it; by default ten times its length.
    overwrite: replace an existing file; False: raise FileExistsError. The file appears when it is complete.
    threads: the number of threads; all by default.
    progress: a function that is called with the number of bytes done, about 20 times a second and at the end.

    Raises ValueError for options out of range, OSError. Memory: a few chunks.

    >>> import numpy as np
    >>> import coquina as cq
    >>> size = cq.pack(np.arange(1000), "x.blp", codec="zstd")
    >>> cq.unpack("x.blp")[-2:]
    array([998, 999])
    """
    encoding = encoding_of(pack, storage, base=PACKS)
    data, metadata, item_bytes = _describe(x, metadata)
    typesize = item_bytes if typesize is None else typesize
    return cast(
        "int",
        _core.pack(
            data,
            new_path(target) if isinstance(target, str) else target,
            typesize=typesize,
            chunk_size=_whole_items(chunk_size, item_bytes),
            checksum=checksum,
            offsets=offsets,
            metadata=metadata,
            metadata_room=metadata_room,
            overwrite=overwrite,
            threads=threads,
            progress=progress,
            **encoding,
        ),
    )


def dumps(
    x: Buffer,
    *,
    typesize: int | None = None,
    chunk_size: int = CHUNK_SIZE,
    checksum: str = "adler32",
    offsets: bool = True,
    threads: int | None = None,
    **storage: Unpack[CodecOptions],
) -> bytes:
    """Return what `pack` would write to a file; see there for the options.

    x, typesize, chunk_size, checksum, offsets, threads, and the codec's options: see `pack`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> data = cq.dumps(np.arange(3))
    >>> cq.loads(data)
    array([0, 1, 2])
    """
    encoding = encoding_of(dumps, storage, base=PACKS)
    data, metadata, item_bytes = _describe(x, None)
    return cast(
        "bytes",
        _core.pack(
            data,
            typesize=item_bytes if typesize is None else typesize,
            chunk_size=_whole_items(chunk_size, item_bytes),
            checksum=checksum,
            offsets=offsets,
            metadata=metadata,
            threads=threads,
            **encoding,
        ),
    )


@names_keywords
def unpack(
    source: Path | BinaryIO,
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> npt.NDArray[Any] | bytes:
    """Read a whole Bloscpack file: an array if one was packed, otherwise bytes.

    source: a path, or a seekable file object opened for reading in binary mode. threads: the number of
        threads; all by default. progress: a function that is called with the number of bytes done.

    Raises CorruptError (or TruncatedError) for a damaged file, UnsupportedError, OSError. Memory: the result
    and a few chunks.

    >>> import numpy as np
    >>> import coquina as cq
    >>> size = cq.pack(np.arange(1000), "x.blp")
    >>> cq.unpack("x.blp")[-2:]
    array([998, 999])
    """
    return open(source).read(threads=threads, progress=progress)


@names_keywords
def loads(packed: Buffer, *, threads: int | None = None) -> npt.NDArray[Any] | bytes:
    """Read a Bloscpack file from bytes, such as the result of `dumps`: an array, or bytes.

    packed: the bytes. threads: the number of threads. Raises CorruptError for damaged bytes.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.loads(cq.dumps(np.arange(3)))
    array([0, 1, 2])
    """
    return PackFile(_core.PackReader(packed)).read(threads=threads)


def append(
    path: Path,
    x: Buffer | Path,
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    **storage: Unpack[CodecOptions],
) -> int:
    """Append to the content of a Bloscpack file. Returns its new size in bytes.

    x: for an array an array of the same dtype, which is appended along the first axis (the last one in
        Fortran order) and has equal other axes; for bytes a bytes-like object or the path of a file.
    codec, level, filters: see `pack`; files do not store a goal of tuning.

    Chunk size, typesize, checksum and offsets stay the same (a file of one small chunk gets chunks of 1 MiB).
    The new file replaces the old one when it is complete, so a kill or a full disk leaves the old one. Full
    chunks are copied verbatim.

    Raises ValueError for an array that does not fit, CorruptError for a damaged file, OSError.

    >>> import numpy as np
    >>> import coquina as cq
    >>> size = cq.pack(np.arange(3), "x.blp")
    >>> size = cq.append("x.blp", np.arange(2))
    >>> cq.unpack("x.blp")
    array([0, 1, 2, 0, 1])
    """
    encoding = encoding_of(append, storage, base=PACKS)
    array = open(path).array
    data, metadata, _ = _describe(x, None)
    if array is None:
        metadata = None
    elif isinstance(data, np.ndarray):
        grown, data = array.appended(cast("npt.NDArray[Any]", data))
        metadata = grown.to_json()
    else:
        raise ValueError(f"append: {os.fspath(path)} holds an array; append an array to it")
    return _core.pack_append(
        path,
        data,
        metadata=metadata,
        threads=threads,
        progress=progress,
        **encoding,
    )


def open(source: Path | BinaryIO) -> PackFile:
    """Open a Bloscpack file to read parts of it.

    Reads the header, the metadata and the places of the chunks, but no data.
    Raises CorruptError, TruncatedError, UnsupportedError, OSError.
    """
    found = PackFile(_core.PackReader(source))
    if isinstance(source, str | os.PathLike):
        found.path = os.path.realpath(os.fsdecode(source))
    return found


class PackFile:
    """An open Bloscpack file. `f[a:b]` reads only the chunks that contain the slice.

    array: dtype, shape and order of the array in the file; None for plain bytes.
    metadata: the metadata of plain bytes (parsed JSON), or None.

    >>> import numpy as np
    >>> import coquina as cq
    >>> size = cq.pack(np.arange(1000), "x.blp")
    >>> packed = cq.open("x.blp")
    >>> packed.shape, packed[8:10]
    ((1000,), array([8, 9]))
    """

    def __init__(self, reader: _core.PackReader) -> None:
        """Wrap an open reader; users call `coquina.open`."""
        self._reader = reader
        #: Of a file on this machine; else None.
        self.path: str | None = None
        #: The reader of a file behind a URL, with counts of `requests` and `bytes_read`; else None.
        self.remote: RangeReader | None = None
        self.metadata: Any = None if reader.metadata is None else parse_metadata(reader.metadata)
        self.array: PackedArray | None = packed_array(self.metadata, reader.nbytes)

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self._reader.nbytes

    @property
    def cbytes(self) -> int:
        """Bytes of the chunks as stored."""
        return self._reader.cbytes

    @property
    def chunks_read(self) -> int:
        """How many chunks have been read so far."""
        return self._reader.chunks_read

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The array's dtype, None for plain bytes."""
        return self.array and self.array.dtype

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The array's shape, None for plain bytes."""
        return self.array and self.array.shape

    def info(self) -> dict[str, Any]:
        """Return how the file is stored, as plain values.

        >>> import numpy as np
        >>> import coquina as cq
        >>> size = cq.pack(np.arange(1000), "x.blp")
        >>> cq.open("x.blp").info()["nbytes"]
        8000
        """
        reader, array = self._reader, self.array
        return {
            "nbytes": reader.nbytes,
            "cbytes": reader.cbytes,
            "cratio": reader.nbytes / reader.cbytes,
            "nchunks": reader.nchunks,
            "chunk_size": reader.chunk_size,
            "typesize": reader.typesize,
            "checksum": reader.checksum,
            "offsets": reader.has_offsets,
            "spare_chunks": reader.spare_chunks,
            "dtype": array and str(array.dtype),
            "shape": array and array.shape,
            "order": array and array.order,
            "metadata_room": reader.metadata_room,
            "metadata": self.metadata,
        }

    def set_metadata(self, metadata: Any, *, room: int | None = None) -> bool:
        """Replace the metadata of plain bytes. Returns whether they fitted into the reserved space.

        metadata: an object that JSON can represent. room: bytes to reserve; by default the reserved space of
            the file, or ten times the length of the metadata if that is too small.

        If the metadata do not fit, or another size is requested, a new file replaces the old one; chunks are
        copied verbatim. In the reserved space one write changes them; a power cut may damage them, which
        their checksum detects.

        Raises ValueError for an array, whose metadata describe it, and for a file without a path, LimitError
        for metadata longer than `room`, TypeError for objects that JSON cannot represent, OSError.

        >>> import coquina as cq
        >>> size = cq.pack(b"data" * 100, "run.blp", metadata=b'{"run": 7}', metadata_room=1000)
        >>> cq.open("run.blp").set_metadata({"run": 7, "place": "north"})
        True
        >>> cq.open("run.blp").metadata
        {'run': 7, 'place': 'north'}
        """
        if self.array is not None:
            raise ValueError(
                "set_metadata: the metadata of a packed array cannot be replaced, because they describe it"
            )
        if self.path is None:
            raise ValueError("set_metadata: takes a file that was opened by its path")
        text = json.dumps(metadata, separators=(",", ":")).encode()
        is_in_place = _core.pack_metadata(self.path, text, room=room)
        self._reader = _core.PackReader(self.path)
        self.metadata = parse_metadata(text)
        return is_in_place

    def offsets(self) -> list[int]:
        """Return where each chunk stands in the file.

        >>> import numpy as np
        >>> import coquina as cq
        >>> size = cq.pack(np.arange(1000), "x.blp")
        >>> len(cq.open("x.blp").offsets())
        1
        """
        return self._reader.offsets

    def read(
        self, *, threads: int | None = None, progress: Callable[[int], object] | None = None
    ) -> npt.NDArray[Any] | bytes:
        """Return all of it: the array, or the bytes. Memory: the result and a few chunks.

        threads: how many work; all by default. progress: called with the bytes done so far. Raises
            CorruptError.

        >>> import coquina as cq
        >>> size = cq.pack(b"0123456789", "x.blp")
        >>> cq.open("x.blp").read()
        b'0123456789'
        """
        if self.array is None:
            return self._reader.read(0, self.nbytes, threads=threads, progress=progress)
        data = np.empty(self.nbytes, np.uint8)
        self._reader.read_into(0, data, threads=threads, progress=progress)
        return self.array.from_bytes(data, self.array.shape)

    @names_keywords
    def save(
        self,
        path: Path,
        *,
        header: bytes = b"",
        overwrite: bool = True,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        """Write `header` and the unpacked bytes to a file, with a few chunks in memory.

        path: of the new file. header: bytes to begin with, such as those of an `.npy` file. overwrite:
            replace one
            that is there; else that raises FileExistsError. threads: how many work. progress: called with the
            bytes
            done so far.

        >>> import coquina as cq
        >>> size = cq.pack(b"0123456789", "x.blp")
        >>> cq.open("x.blp").save("x.bin")
        """
        self._reader.write_to(path, header, overwrite=overwrite, threads=threads, progress=progress)

    def __len__(self) -> int:
        """Return the length of the first axis, or the number of bytes."""
        if self.array is None:
            return self.nbytes
        if not self.array.shape:
            raise TypeError("len() of an array without axes")
        return self.array.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Return what NumPy (or `bytes`) returns for the same key.

        An integer or a slice of the first axis reads only the chunks that hold those rows. Other keys, and
        arrays in Fortran order, whose rows lie scattered over the file, read all of it.
        """
        keys = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
        rows = self._rows_of(keys[0]) if keys else None
        if rows is None:
            return cast("Any", self.read())[key]
        start, stop, local = rows
        if self.array is None:
            return cast("Any", self._reader.read(start, stop))[local]
        data = np.empty((stop - start) * self.array.row_bytes, np.uint8)
        self._reader.read_into(start * self.array.row_bytes, data)
        return self.array.from_bytes(data, (stop - start, *self.array.shape[1:]))[(local, *keys[1:])]

    def _rows_of(self, key: Any) -> tuple[int, int, Any] | None:
        """Return the rows that a key needs, and the key into them; None if it may need all."""
        if self.array is not None and (self.array.order != "C" or not self.array.shape):
            return None
        if isinstance(key, slice):
            wanted = range(*key.indices(len(self)))
            if not wanted:
                return 0, 0, slice(None)
            ends = sorted((wanted[0], wanted[-1]))
            return ends[0], ends[1] + 1, slice(None, None, wanted.step)
        if not hasattr(key, "__index__") or isinstance(key, bool | np.bool | np.ndarray):
            return None
        row = index(key)
        if not -len(self) <= row < len(self):
            raise IndexError(f"index {row} is out of bounds for {len(self)} rows")
        return row % len(self), row % len(self) + 1, 0

    def _repr_html_(self) -> str:
        """Return a table of facts, for notebooks."""
        return facts_html(self.info().items())

    def __repr__(self) -> str:
        """Say what it holds and how small it is."""
        what = f"{self.array.dtype} {self.array.shape}" if self.array else f"{self.nbytes} bytes"
        return f"<PackFile {what}, {self.cbytes} bytes packed, {self.nbytes / self.cbytes:.2f}x>"


def _whole_items(chunk_size: int, item_bytes: int) -> int:
    """Round down to whole items, but not to none."""
    return max(chunk_size // item_bytes, 1) * item_bytes if chunk_size > 0 else chunk_size


def _describe(x: Buffer | Path, metadata: bytes | None) -> tuple[Any, bytes | None, int]:
    """Return what to pack (an array, a buffer, or a path), its metadata, and the bytes of an item."""
    if isinstance(x, str | os.PathLike):
        path = os.fspath(x)
        if not path.endswith(".npy"):
            return path, metadata, _ITEM_BYTES
        x = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(x, np.ndarray):
        return x, metadata, _ITEM_BYTES
    array: npt.NDArray[Any] = x
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return array, PackedArray.of(array).to_json(), max(array.dtype.itemsize, 1)
