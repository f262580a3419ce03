"""`Array`: a compressed n-dimensional array that is indexed as NumPy's are.

In: keys and values as NumPy takes them. Out: NumPy arrays and scalars. What is not touched is neither read
nor decoded. Arrays are made by the functions of `creation` and `sequences`, and opened by `opening`.
Invariant: a handle has no state of its own in Python, so threads may share it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina import _core
from coquina.arrays import writes
from coquina.arrays.copies import copy_of, storage_of_copy
from coquina.arrays.fields import Fields, field_names, read_field, write_fields
from coquina.arrays.html import array_html
from coquina.arrays.indexer import Indexer
from coquina.arrays.info import ArrayInfo, Damage, ratio
from coquina.arrays.operators import Operators
from coquina.arrays.regions import boxes, chunk_regions
from coquina.arrays.views import View, view_of
from coquina.attrs import Attrs, Meta
from coquina.casting import items_of
from coquina.changes import Changes, changes_at, is_watched
from coquina.foreign_attributes import ARRAYS, no_attribute
from coquina.indexing import Selection, lower, lower_outer, lower_vector
from coquina.memory import check_memory
from coquina.providers import Provider
from coquina.remote import RangeReader, new_path
from coquina.storage_options import Storage, is_cut
from coquina.tuning_options import info_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays import opening, similar_bounds
    from coquina.lossy import LossyInfo
    from coquina.storage_options import StorageOptions
    from coquina.tables import array_layout
    from coquina.tuning_options import TuningInfo
else:
    opening, array_layout = map(Provider, ("opening", "array_tables"))
    similar_bounds = Provider("similar_bounds")

_ROWS_BYTES = 4 << 20  # read at a time by iteration


class Array(Operators, _core.ArrayBase):
    """A compressed n-dimensional array, in memory or in a file.

    `a[key]` reads and `a[key] = values` writes, for every key that NumPy supports. Results are NumPy arrays
    and scalars; only the blocks that the key touches are decoded. `a.oindex[...]` selects along each axis
    separately, `a.vindex[...]` points; `a.view(key)` is lazy. Operators and functions return expressions.

    shape: elements along each axis. dtype: their NumPy dtype. chunks, blocks: elements along each axis of a
        chunk, the unit of storage, and of a block, the unit of decoding.

    Threads may share an array. A write is one commit: readers see all of it or nothing. Indexing raises
    IndexError for keys out of range, CorruptError for damaged chunks. Memory: the result, and a block for
    each thread.

    >>> import numpy as np
    >>> import coquina as cq
    >>> a = cq.asarray(np.arange(12).reshape(3, 4), chunks=(2, 4))
    >>> a.shape, a.dtype, a.chunks
    ((3, 4), dtype('int64'), (2, 4))
    >>> a[1:, ::-2]
    array([[ 7,  5],
           [11,  9]])
    >>> (a * 2).sum(axis=0)
    array([24, 30, 36, 42])
    """

    __slots__ = ("__weakref__", "_changes")
    _changes: Changes

    itemsize = _core.ArrayBase.typesize

    @property
    def cbytes(self) -> int:
        """Bytes of the chunks as stored."""
        return int(self.handle.stats()["cbytes"])

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one; infinite where nothing needs to be stored."""
        return ratio(int(self.handle.stats()["nbytes"]), self.cbytes)

    @property
    def path(self) -> str | None:
        """The absolute path of the file or directory; None in memory."""
        return self.handle.path

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, so that it can no longer be read; what is only in memory never is."""
        return self.handle.is_closed

    @property
    def remote(self) -> RangeReader | None:
        """The reader of an array behind a URL, with counts of `requests` and `bytes_read`; else None."""
        return self.handle.remote

    @property
    def mode(self) -> Literal["r", "a"]:
        """Whether it can be read ("r") or also changed ("a")."""
        return "a" if self.handle.is_writable else "r"

    @property
    def info(self) -> ArrayInfo:
        """How it is stored."""
        return ArrayInfo.of(self)

    @property
    def lossy(self) -> LossyInfo | None:
        """What may be lost of the items, and what was; None where they are kept exactly.

        Raises CorruptError where the file says something of it that is damaged; it can be read, not written.
        """
        from coquina.lossy import lossy_info

        return lossy_info(self.handle)

    @property
    def tuning(self) -> TuningInfo | None:
        """What chunks are tuned for; None where all are encoded in the same way.

        Raises CorruptError where the file says something of it that is damaged; it can be read, not written.
        """
        return info_of(self.handle.tuning())

    def encodings(self) -> dict[str, int]:
        """Return the number of chunks of each encoding, such as {"lz4 + bitshuffle": 12, "special": 1}.

        Special chunks have one value and no data. The headers of all chunks are read.

        >>> import coquina as cq
        >>> a = cq.arange(10, dtype="i4")
        >>> a.encodings()
        {'zstd + shuffle': 1}
        """
        return self.handle.encodings()

    @property
    def attrs(self) -> Attrs:
        """Metadata by name, a mapping that can be changed; python-blosc2 calls it `vlmeta`."""
        return Attrs(self.handle)

    @property
    def meta(self) -> Meta:
        """The fixed metadata that the array was made with, by name; a mapping that cannot be changed."""
        return Meta(self.handle)

    @property
    def fields(self) -> Fields:
        """The fields of a structured dtype: a mapping from names to lazy views. Empty for other dtypes."""
        return Fields(self)

    @property
    def durable(self) -> bool:
        """Whether a commit waits until the disk has it, so that not even a power cut can take it back."""
        return self.handle.durable

    @durable.setter
    def durable(self, durable: bool) -> None:
        self.handle.set_durable(durable)

    @property
    def cache_bytes(self) -> int:
        """How many bytes of decoded blocks are kept for reads to come; 0 for none."""
        return self.handle.cache_bytes

    @cache_bytes.setter
    def cache_bytes(self, cache_bytes: int) -> None:
        self.handle.set_cache_bytes(cache_bytes)

    def _getitem_general(self, key: Any) -> Any:
        """Read what the compiled `__getitem__` leaves to Python: arrays, names, and large results."""
        if self.dtype.names is not None and (names := field_names(key)) is not None:
            return read_field(self, names) if isinstance(names, str) else self[...][names]
        selection = lower(key, self.shape)
        items = self.get_selection(selection)
        return items[()] if selection.is_scalar else items

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for names of other libraries it says what to write here."""
            owner = f"{type(self).__name__!r} object"
            raise AttributeError(no_attribute(owner, name, ARRAYS), name=name, obj=self)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Assign as NumPy does; one commit. Raises what NumPy raises, ValueError if open for reading only."""
        if self.dtype.names is not None and (names := field_names(key)) is not None:
            write_fields(self, names, value)
            return
        self.assign(lower, key, value)

    def assign(self, resolve: Callable[[Any, tuple[int, ...]], Selection], key: Any, value: Any) -> None:
        """Write `value` to the items of a key as NumPy does; `resolve` says what it means in a shape.

        >>> import coquina as cq
        >>> from coquina.indexing import lower
        >>> a = cq.zeros(3)
        >>> a.assign(lower, 1, 7.0)
        >>> a[:]
        array([0., 7., 0.])
        """
        writes.assign(self, resolve, key, value)

    def set_selection(
        self, selection: Selection, values: npt.NDArray[Any], shape: tuple[int, ...] | None = None
    ) -> bool:
        """Write values, or one item, to a lowered key; False, and nothing, if the shape is not `shape`.

        >>> import numpy as np
        >>> import coquina as cq
        >>> from coquina.indexing import lower
        >>> a = cq.zeros(4)
        >>> a.set_selection(lower(np.s_[1:3], a.shape), np.array([5.0, 6.0]))
        True
        >>> a[:]
        array([0., 5., 6., 0.])
        """
        return writes.put(self, selection, values, shape)

    def write_selection(self, *arguments: Any, **options: Any) -> bool:
        """Write values to the items of a selection, or to bytes of them; what assignments come to.

        >>> import coquina as cq
        >>> a = cq.zeros(4)
        >>> a[1:3] = 7
        >>> a[:]
        array([0., 7., 7., 0.])
        """
        try:
            return super().write_selection(*arguments, **options)
        finally:
            self._wrote()

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make an axis longer by `len` with `values`; what `append` comes to."""
        try:
            super().append_items(axis, len, values, threads)
        finally:
            self._wrote()

    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None:
        """Give the array another shape; what `resize` comes to."""
        try:
            super().resize_axes(shape, threads)
        finally:
            self._wrote()

    def _wrote(self) -> None:
        """Count a change, if anybody asks for those of this array."""
        if hasattr(self, "_changes") or is_watched(self.handle.path):
            self._shared_changes().happened()

    def _shared_changes(self) -> Changes:
        """Return the changes of what is stored: of all arrays that show it."""
        if not hasattr(self, "_changes"):
            self._changes = changes_at(self.handle.path)
        return self._changes

    def get_selection(self, selection: Selection) -> npt.NDArray[Any]:
        """Return the items of a lowered key, in its shape.

        >>> import numpy as np
        >>> import coquina as cq
        >>> from coquina.indexing import lower
        >>> a = cq.arange(10)
        >>> a.get_selection(lower(np.s_[2:8:3], a.shape))
        array([2, 5])
        """
        check_memory(selection.size * self.typesize, "the selection")
        out: npt.NDArray[Any] = np.empty(selection.raw_shape, self.dtype)
        if out.size:
            self.read_selection(list(selection.axes), selection.points, selection.points_at, out)
        return out.reshape(selection.shape)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of the fields of records, for interpreters that complete `array["`."""
        return list(self.dtype.names or ())

    def view(self, key: Any) -> View:
        """Return `a[key]` as a lazy `View`, which is read when it is indexed or computed with.

        key: any key of NumPy, or the name of a field.

        >>> import numpy as np
        >>> import coquina as cq
        >>> a = cq.arange(10)
        >>> v = a.view(np.s_[2:8:2])
        >>> v.shape, v[1]
        ((3,), np.int64(4))
        """
        if isinstance(key, str) and self.dtype.names is not None:
            return self.fields[key]
        return view_of(self, key)

    def create_index(
        self,
        column: str | None = None,
        *,
        kind: Literal["full", "partial", "light", "zones"] = "full",
        memory_limit: int = 1 << 30,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Create an index of a 1-d array, for conditions on `as_table(a)`.

        column: a field of an array of records, or an expression of its fields; None for the elements.
        kind, memory_limit, name, progress: see `Table.create_index`.

        The index is stored with the array: in its HDF5 file, in the directory `<file>.index` next to a frame,
        or in memory. Returns an `Index`. Raises ValueError for another number of axes, an array open for
        reading, and an existing index.

        >>> import coquina as cq
        >>> a = cq.asarray([3, 1, 4, 1, 5, 9, 2, 6])
        >>> a.create_index()["kind"]
        'full'
        >>> cq.as_table(a).where("value > 4").row_numbers()
        array([4, 5, 7])
        """
        options = {"kind": kind, "memory_limit": memory_limit, "name": name, "progress": progress}
        return array_layout.create_index(self, column, **options)

    @property
    def oindex(self) -> Indexer:
        """Orthogonal indexing: `a.oindex[rows, columns]`, an index, list or mask for each axis on its own."""
        return Indexer(self, lower_outer)

    @property
    def vindex(self) -> Indexer:
        """Point-wise indexing: `a.vindex[rows, columns]` takes one item for each pair."""
        return Indexer(self, lower_vector)

    def blocks_touched(self, key: Any) -> int:
        """Return the number of blocks that `a[key]` decodes.

        >>> import numpy as np
        >>> import coquina as cq
        >>> a = cq.zeros((100, 100), chunks=(50, 50), blocks=(10, 50))
        >>> a.blocks_touched(np.s_[0])
        2
        """
        if self.dtype.names is not None and field_names(key) is not None:
            key = ...
        selection = lower(key, self.shape)
        if not selection.size:
            return 0
        return self.blocks_of_selection(list(selection.axes), selection.points, selection.points_at)

    def iterchunks(self) -> Iterator[tuple[tuple[slice, ...], npt.NDArray[Any]]]:
        """Iterate over the chunks in C order: pairs of a region (a tuple of slices) and its items.

        >>> import coquina as cq
        >>> a = cq.arange(5, chunks=4)
        >>> [items.tolist() for region, items in a.iterchunks()]
        [[0, 1, 2, 3], [4]]
        """
        for region in chunk_regions(self.shape, self.chunks):
            yield region, self[region]

    def resize(self, shape: int | tuple[int, ...], *, threads: int | None = None) -> None:
        """Change the shape, in one commit. New elements are zero.

        shape: with the same number of axes. threads: the number of threads. Raises ValueError for another
            number of axes, LimitError for more elements than the format can hold.

        >>> import coquina as cq
        >>> a = cq.asarray([[1, 2], [3, 4]])
        >>> a.resize((3, 2))
        >>> a[:]
        array([[1, 2],
               [3, 4],
               [0, 0]])
        """
        new = (shape,) if isinstance(shape, int) else tuple(shape)
        if len(new) != self.ndim or any(length < 0 for length in new):
            raise ValueError(f"resize: shape {new} of an array of {self.ndim} axes")
        self.resize_axes(list(new), threads)

    def append(self, y: npt.ArrayLike, axis: int = 0, *, threads: int | None = None) -> None:
        """Append the elements of `y` along `axis`, in one commit.

        y: an array with the same lengths along all other axes; castable by the rule "same_kind". axis: an
            int.
        threads: the number of threads. Raises ValueError or TypeError for an array that does not fit,
            IndexError for an axis out of range.

        >>> import coquina as cq
        >>> a = cq.asarray([[1, 2], [3, 4]])
        >>> a.append([[5, 6]])
        >>> a.shape
        (3, 2)
        """
        values = items_of(y, self.dtype)
        if not -self.ndim <= axis < self.ndim:
            raise IndexError(f"append: axis {axis} of an array of {self.ndim} axes")
        axis %= self.ndim
        wanted = list(self.shape)
        if values.ndim == self.ndim:
            wanted[axis] = values.shape[axis]
        if values.shape != tuple(wanted):
            what = f"append: shape {values.shape} does not fit {self.shape} along axis {axis}"
            if values.ndim == self.ndim - 1:
                what += "; a single item needs that axis too: y[np.newaxis]"
            raise ValueError(what)
        if values.size and not np.can_cast(values.dtype, self.dtype, "same_kind"):
            raise TypeError(f"append: cannot cast {values.dtype} to {self.dtype} safely; use y.astype(...)")
        values = np.asarray(values, self.dtype, order="C")
        self.append_items(axis, values.shape[axis], values, threads)

    @contextmanager
    def transaction(self) -> Generator[Array]:
        """Return a context manager that makes all changes within it one commit. An exception undoes them.

        >>> import coquina as cq
        >>> a = cq.zeros(4)
        >>> with a.transaction():
        ...     a[0] = 1
        ...     a[3] = 2
        >>> a[:]
        array([1., 0., 0., 2.])
        """
        self.handle.begin()
        try:
            yield self
        except BaseException:
            self.handle.rollback()
            self._wrote()
            raise
        try:
            self.handle.commit()
        finally:
            self._wrote()

    def compact(self) -> None:
        """Release the space of old versions of chunks in the file (`info.dead_bytes`).

        >>> import coquina as cq
        >>> a = cq.zeros(3, path="a.b2nd", overwrite=True)
        >>> a.compact()
        >>> a.info.dead_bytes
        0
        """
        self.handle.compact()
        self._wrote()

    def refresh(self) -> bool:
        """Show the newest commit of the file; return whether there was a newer one.

        >>> import coquina as cq
        >>> a = cq.zeros(3, path="a.b2nd", overwrite=True)
        >>> with cq.open("a.b2nd") as reader:
        ...     a.append([1.0])
        ...     changed = reader.refresh()
        ...     print(reader.shape)
        (4,)
        """
        is_newer = self.handle.refresh()
        if is_newer:
            self._wrote()
        return is_newer

    def close(self) -> None:
        """Let go of the file. Reading and writing fail from then on.

        >>> import coquina as cq
        >>> a = cq.zeros(3, path="a.b2nd", overwrite=True)
        >>> a.close()
        >>> a
        <Array, closed>
        """
        self.handle.close()

    def verify(self, *, threads: int | None = None) -> list[Damage]:
        """Read and verify every chunk. Returns a list of the damaged chunks, with their regions.

        >>> import coquina as cq
        >>> a = cq.arange(3, path="a.b2nd", overwrite=True)
        >>> a.verify()
        []
        """
        return [Damage.of(*damage) for damage in self.handle.verify(threads=threads)]

    def repair(self, path: Path, *, overwrite: bool = False, threads: int | None = None) -> list[Damage]:
        """Copy the undamaged chunks to a new file. Damaged regions become NaN, or zeros.

        path: of the new file. overwrite: replace an existing file. threads: the number of threads; all by
            default.

        Returns a list of `Damage`, one for each chunk that does not decode. Raises FileExistsError, OSError.

        >>> import coquina as cq
        >>> a = cq.arange(3, path="a.b2nd", overwrite=True)
        >>> a.repair("good.b2nd", overwrite=True)
        []
        """
        nans = self.dtype in ("<f4", "<f8")
        lost = self.handle.repair(path, overwrite=overwrite, nans=nans, threads=threads)
        return [Damage.of(*damage) for damage in lost]

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the array to a new file. Chunks are copied verbatim.

        path: of the new file, which appears when it is complete. overwrite: replace an existing file;
            otherwise FileExistsError is raised.

        >>> import coquina as cq
        >>> cq.arange(3).save("a.b2nd", overwrite=True)
        >>> cq.open("a.b2nd")[:]
        array([0, 1, 2])
        """
        self.handle.save(new_path(path), overwrite=overwrite)

    def to_bytes(self) -> bytes:
        """Return the array as the bytes of a file. Chunks are copied verbatim.

        >>> import coquina as cq
        >>> data = cq.arange(1000).to_bytes()
        >>> cq.from_bytes(data)[-2:]
        array([998, 999])
        """
        return self.handle.to_bytes()

    def copy(
        self,
        *,
        path: Path | None = None,
        threads: int | None = None,
        **storage: Unpack[StorageOptions],
    ) -> Array:
        """Return a copy, in memory or in a file, with other chunks or another codec if requested.

        path: the file to write; None: in memory. threads: the number of threads; all by default.
        chunks: by default those of this array; "auto" applies the default rule. codec, level, filters: by
            default those of this array, including its tuning. lossy: an error bound for the copy; by default
            the copy is exact, unless its codec or filters are lossy.

        Returns an `Array` with the same attrs. Chunks are copied verbatim if the options allow it. Memory:
        about 64 MiB, or one chunk; chunks that are copied verbatim into memory take their size.

        >>> import coquina as cq
        >>> a = cq.arange(10, codec="lz4")
        >>> a.copy(codec="zstd", level=9).info.codec
        'zstd'
        """
        if not is_cut(storage):
            storage = cast("StorageOptions", {**storage, "chunks": self.chunks, "blocks": self.blocks})
        wanted = Storage.for_array(Array.copy, storage, path)
        new, keeps_chunks = storage_of_copy(self, wanted)
        is_cut_alike = (wanted.chunks, wanted.blocks) == (self.chunks, self.blocks)
        # What its codec has lost it would lose once more.
        keeps_chunks = keeps_chunks and is_cut_alike and wanted.lossy is None
        if (lossy := new.lossy) is not None and lossy.ssim is not None:
            cut = new.chunks if isinstance(new.chunks, tuple) else self.chunks
            coding = {"codec": new.codec, "level": new.level, "filters": new.filters}
            new = replace(new, lossy=similar_bounds.bound_on(self, lossy, cut, **coding), chunks=cut)
        return copy_of(Array, self, new, threads=threads, keeps_chunks=keeps_chunks)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first axis; some rows are read at a time."""
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        row_bytes = prod(self.shape[1:]) * self.typesize
        steps = boxes(self.shape[:1], self.chunks[:1], row_bytes, _ROWS_BYTES)
        return (row for box in steps for row in self[box])

    def __repr__(self) -> str:
        """Say shape, dtype, how it is cut, and where it is."""
        if self.is_closed:
            return f"<{type(self).__name__}, closed>"
        place = "in memory" if self.path is None else repr(self.path)
        if (remote := self.remote) is not None:
            place = f"{remote.url!r}, {remote.requests} requests, {remote.bytes_read} bytes"
        return f"<Array {self.shape} {self.dtype}, chunks {self.chunks}, blocks {self.blocks}, {place}>"

    def _repr_html_(self) -> str:
        """Return a table of facts and a picture of the chunks and blocks, for notebooks."""
        return array_html(self)

    def __reduce__(self) -> tuple[Callable[..., Array], tuple[Any, ...]]:
        """Pickle: an array in a file by its path (it reopens for reading), one in memory by its content."""
        if self.path is not None or self.remote is not None:
            return opening.reopen, (self.path or self.remote, self.handle.offset)
        return opening.restore, (self.to_bytes(), self.mode)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        """Return a copy in memory."""
        return self.copy()

    def __enter__(self) -> Array:
        """Return the array; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()
