"""New arrays from data: `asarray`, copies, iterators of slabs, and what all of them are made with.

In: anything that NumPy makes an array of, anything array-like that gives slices, or slabs one after
another. Out: an `Array` in memory or in a file. A file appears under its name when it is complete; what
failed leaves nothing.
Memory: sources in memory are not copied where their bytes lie as ours; others are read in boxes of some 64
    MiB.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.descriptions import add_layers, as_stored, layers_of
from coquina.arrays.new_arrays import DEFAULTS, fill_boxes, make, written
from coquina.arrays.operators import Operators
from coquina.arrays.regions import BOX_BYTES
from coquina.providers import Provider
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays import similarity
    from coquina.lossy import Lossy
    from coquina.storage_options import Options, StorageOptions
else:
    similarity = Provider("similarity")

#: Make an `Array` as `make` does.
new_array = partial(make, Array)


def asarray(
    obj: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    path: Path | None = None,
    threads: int | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Convert the input to a compressed array.

    obj: a scalar, list, buffer, NumPy array, or object with `__array__` or DLPack; an expression, which is
        computed; or an object with `shape`, `dtype` and slices, such as an h5py or Zarr array, which is read
        in parts of about 64 MiB.
    dtype: of the result; by default that of `obj`, including its byte order. Objects raise TypeError.
    device: "cpu", the only device.
    copy: None: return an `Array` unchanged if it has this dtype and these options. True: always make a copy.
        False: never copy; raise ValueError if a copy is needed.
    chunks, blocks: elements along each axis of a chunk, the unit of storage, and of a block, the unit of
        decoding. None or "auto": the default rule, which depends on `access`.
    access: the expected reads: "any", "rows" (`a[i]`), "columns" (`a[..., j]`), or the shape of a box.
    codec, level, filters: see `compress`. A codec with a parameter is a pair, such as ("zfp_accuracy", -3).
        The codec "auto" chooses for each chunk, by the keywords of `Tuning`: goal, for_, and others.
    lossy: the allowed error, now and in later writes: a `Lossy`, or a mapping of its keywords, such as
        {"max_error": 0.01}. None: exact.
    path: the file to write; None: in memory. contiguous: True: one file. False: a directory with a file for
        each chunk.
    overwrite: replace an existing file; otherwise FileExistsError is raised.
    checksums: store a checksum for each chunk of a file, which detects flipped bits.
    threads: the number of threads; all by default.

    Returns an `Array`. Attributes of the source are copied to `attrs`, with the names of its axes and the
    coordinates of a DataArray. Values of packed variables (`scale_factor`) are stored unchanged.

    Raises ValueError for options out of range and for attributes that cannot be stored, LimitError for more
    elements than the format can hold.

    >>> import numpy as np
    >>> import coquina as cq
    >>> a = cq.asarray(np.arange(1_000_000), codec="zstd", path="a.b2nd", overwrite=True)
    >>> a.shape, a.nbytes, a.cbytes < a.nbytes
    ((1000000,), 8000000, True)
    >>> a[10:13]
    array([10, 11, 12])
    >>> b = cq.asarray([[1.5, 2.5], [3.5, 4.5]], dtype="float32")
    >>> b.mean(axis=0)
    array([2.5, 3.5], dtype=float32)
    """
    if isinstance(dtype, str) and not {".", "/"}.isdisjoint(dtype):
        raise TypeError(f"dtype {dtype!r}: looks like a file; did you mean path={dtype!r}?")
    given = storage.get("lossy")
    if given is not None and (lossy := similarity.wanted(given)) is not None:
        return _alike(obj, dtype, lossy, path, {**storage, "threads": threads})
    options = Storage.for_array(asarray, storage, path, device).for_engine()
    if not isinstance(obj, np.ndarray):
        if isinstance(obj, Array):
            is_same = dtype is None or obj.dtype == dtype
            if is_same and not copy and storage.get("chunks") is None and options == DEFAULTS:
                return obj
        if copy is False:
            raise ValueError(f"copy=False: the items of {type(obj).__name__} are copied into new chunks")
        if is_sliced(obj):
            wanted: Any = obj.dtype if dtype is None else dtype
            with as_stored(obj):
                return _from_boxes(obj, np.dtype(wanted), options, threads, layers_of(obj))
        if not hasattr(obj, "__array__") and hasattr(obj, "__dlpack__"):
            obj = np.from_dlpack(cast("Any", obj))
    elif copy is False:
        raise ValueError("copy=False: the items of a NumPy array are copied into new chunks")
    layers = {} if isinstance(obj, np.ndarray) else layers_of(obj)
    with as_stored(obj):
        array: npt.NDArray[Any] = (
            np.asarray(obj, dtype) if isinstance(obj, np.ndarray) else np.asarray(obj, dtype, order="C")
        )
    if layers or (array.nbytes > BOX_BYTES and not array.flags.c_contiguous):
        return _from_boxes(array, array.dtype, options, threads, layers)
    array = np.asarray(array, order="C")
    return new_array(array.shape, array.dtype, options, array, threads=threads)


def _alike(
    obj: Any, dtype: npt.DTypeLike | None, lossy: Lossy, path: Path | None, options: dict[str, Any]
) -> Array:
    """Return an array whose images are as similar to those of `obj` as is wanted."""
    coding: dict[str, Any] = {
        name: options[name] for name in ("codec", "level", "filters") if name in options
    }
    source = obj if is_sliced(obj) else np.asarray(obj, dtype)

    def trial(image: Any, bound: Lossy) -> npt.NDArray[Any]:
        return asarray(image, lossy=bound, **coding)[...]

    def write(bound: Lossy) -> Array:
        options["lossy"] = bound
        found = asarray(obj, dtype, path=path, **options)
        # A further bound takes its place.
        options["overwrite"] = options.get("overwrite", False) or path is not None
        return found

    return similarity.alike(source, lossy, trial, write)


def is_sliced(x: Any) -> bool:
    """Whether `x` is read in slices: it has a shape and a dtype, and its items are not in memory."""
    if isinstance(x, Operators):  # arrays, views, expressions
        return len(x.shape) > 0
    return (
        isinstance(getattr(x, "dtype", None), np.dtype)
        and isinstance(getattr(x, "shape", None), tuple)
        and len(x.shape) > 0
        and hasattr(x, "__getitem__")
        and not (hasattr(x, "__array_interface__") or hasattr(x, "__dlpack__") or hasattr(x, "iloc"))
    )


def _from_boxes(
    x: Any, dtype: np.dtype[Any], options: Options, threads: int | None, layers: Mapping[str, bytes]
) -> Array:
    """Copy `x` box by box. layers: its metadata."""
    array = new_array(tuple(int(size) for size in x.shape), dtype, options)
    with written(array):
        fill_boxes(array, lambda region: x[region], threads)
        add_layers(array, layers)
    return array


def from_slabs(
    slabs: Iterable[npt.ArrayLike],
    dtype: npt.DTypeLike | None = None,
    *,
    path: Path | None = None,
    threads: int | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array from slabs that are joined along the first axis; their number need not be known.

    slabs: an iterable of arrays with the same shape except along the first axis; at least one, which may have
        length 0. Later slabs must be castable to the dtype of the first one by the rule "same_kind".
    dtype: of the result; by default that of the first slab.
    path: the file to write; None: in memory. threads: the number of threads; all by default. The options of
        storage are those of `asarray`.

    Raises ValueError or TypeError for a slab that does not fit; no file is left then. Memory: a row of chunks
    and one slab. A file is committed once, at the end.

    >>> import numpy as np
    >>> import coquina as cq
    >>> slabs = (np.full((2, 3), number) for number in range(3))
    >>> cq.from_slabs(slabs, "i4")[::2]
    array([[0, 0, 0],
           [1, 1, 1],
           [2, 2, 2]], dtype=int32)
    """
    options = Storage.for_array(from_slabs, storage, path).for_engine()
    arrays = (np.asarray(slab) for slab in slabs)
    first = next(arrays, None)
    if first is None or not first.ndim:
        raise ValueError("from_slabs: needs at least one slab, of one axis or more")
    wanted = np.dtype(first.dtype if dtype is None else dtype)
    array = new_array((0, *first.shape[1:]), wanted, options)
    with written(array):
        for rows in _whole_chunks(_chain(first, arrays), array):
            array.append(rows, threads=threads)
    return array


def _chain(first: npt.NDArray[Any], rest: Iterator[npt.NDArray[Any]]) -> Iterator[npt.NDArray[Any]]:
    yield first
    yield from rest


def _whole_chunks(slabs: Iterator[npt.NDArray[Any]], array: Array) -> Iterator[npt.NDArray[Any]]:
    """Yield the rows of the slabs in pieces that end where chunks do, so that no chunk is written twice."""
    unit = max(array.chunks[0], 1)
    row_bytes = max(array.itemsize * int(np.prod(array.shape[1:], dtype=object)), 1)
    # Chunks of few bytes are worked on together, so that there is something to do for all threads.
    unit *= max(1, min(BOX_BYTES, 1 << 40) // (unit * row_bytes))
    # A copy, for whoever makes the slabs may make them all in one place.
    gathered = np.empty((unit, *array.shape[1:]), array.dtype)
    rows = 0
    for slab in slabs:
        if slab.ndim != array.ndim or slab.shape[1:] != array.shape[1:]:
            raise ValueError(f"from_slabs: a slab of shape {slab.shape} after ones of (n, {array.shape[1:]})")
        at = 0
        while at < len(slab):
            count = min(unit - rows, len(slab) - at)
            np.copyto(gathered[rows : rows + count], slab[at : at + count], casting="same_kind")
            rows, at = rows + count, at + count
            if rows == unit:
                yield gathered
                rows = 0
    if rows:
        yield gathered[:rows]


def filled(
    shape: Any,
    dtype: np.dtype[Any],
    options: Options,
    fill: str | bytes,
) -> Array:
    """Return an array of one value, under its name."""
    lengths = (int(shape),) if hasattr(shape, "__index__") else tuple(int(size) for size in shape)
    if any(size < 0 for size in lengths):
        raise ValueError("negative dimensions are not allowed")
    array = new_array(lengths, dtype, options, fill=fill)
    array.handle.publish()
    return array
