"""New datasets: their datatype, shape, chunks and filters, and the items that go into them.

In: what `Group.create_dataset` was given. Out: a dataset of h5py without a name; who made it fills it and
then gives it the name, so that no reader finds half of it.
Invariant: it can be made where no filter plugin is present, and is what the plugins would have made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.creation import is_sliced
from coquina.hdf5 import checksums, chunk_encoding
from coquina.hdf5.describing import default_cut
from coquina.hdf5.filters import ChunkShape, as_set, encoding_of, pipeline
from coquina.hdf5.h5py_keys import DatasetShapeError
from coquina.hdf5.item_types import stored_dtype
from coquina.hdf5.smallest import Items, is_open, smallest
from coquina.hdf5.untyped import h5d, h5o, h5p, h5py, h5s, h5t, h5z

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.storage_options import Storage

Shape = tuple[int, ...]


def check(storage: Storage) -> None:
    """Raise ValueError for methods that datasets do not have, and for filters that cannot be tuned."""
    if storage.tuning is not None and not storage.is_blosc2_alone:
        named = "fletcher32" if storage.compressor == "blosc2" else f"filter {storage.filter!r}"
        raise ValueError(f"{named}: codec='auto' is for chunks whose only filter is 'blosc2'")
    if storage.lossy is not None and storage.lossy.method not in (None, "round"):
        raise ValueError(f"method {storage.lossy.method!r}: HDF5 datasets take 'round' only")


@dataclass(frozen=True, slots=True)
class Content:
    """What a new dataset holds. values: something to slice, of the whole shape; None for none.

    dtype: of an element, as h5py understands it; it may have axes of its own, which `shape` does not list.
    """

    shape: Shape
    dtype: np.dtype[Any]
    values: Any


def content(shape: Any, dtype: npt.DTypeLike | None, data: Any) -> Content:
    """Return what a new dataset is to hold. Raises TypeError or ValueError for what does not fit together."""
    wanted: Any = None if dtype is None else np.dtype(dtype)
    if shape is not None:
        shape = cast(
            "Shape", (index(shape),) if hasattr(shape, "__index__") else tuple(index(n) for n in shape)
        )
    if data is None:
        if shape is None:
            raise TypeError("create_dataset: needs a shape or data")
        return Content(shape, np.dtype(np.float32) if wanted is None else wanted, None)
    if not is_sliced(data):
        # Strings and the like stay objects, and are none of ours.
        plain = None if wanted is None or wanted.kind == "O" else wanted.base
        data = cast("Any", np.asarray(data, plain, order="C"))
    if wanted is None:
        wanted = np.dtype(data.dtype)
    axes = wanted.shape
    found = tuple(data.shape[: len(data.shape) - len(axes)])
    if axes and tuple(data.shape[len(found) :]) != axes:
        raise ValueError(f"create_dataset: data of shape {data.shape} for elements of {wanted}")
    if shape is not None and shape != found:
        if not isinstance(data, np.ndarray) or prod(found) != prod(shape):
            raise ValueError(f"create_dataset: data of shape {found} for shape {shape}")
        data = cast("Any", data).reshape((*shape, *axes))
        found = shape
    return Content(found, wanted, data)


def datatype(dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]] | None:
    """Return the HDF5 datatype of a dtype, and the dtype of its bytes; None if no `Array` can have its items.

    Raises TypeError for a dtype that HDF5 has nothing for.
    """
    if dtype.kind in "OU" or dtype.itemsize == 0:
        return None
    try:
        tid = h5t.py_create(dtype, logical=True)
    except TypeError as error:
        hint = "; store the integers, or mark it by h5py.opaque_dtype" if dtype.kind in "mM" else ""
        raise TypeError(f"dtype {dtype}: HDF5 has no datatype for it{hint}") from error
    stored = stored_dtype(tid)
    return None if stored is None else (tid, stored)


def create(location: Any, made: Content, tid: Any, storage: Storage) -> tuple[Any, Shape | None]:
    """Return a new dataset of h5py in the file of `location`, and the blocks of its chunks, if it has any.

    It has neither a name nor items yet.
    """
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    if storage.fillvalue is not None:
        plist.set_fill_value(_fill_value(storage.fillvalue, made.dtype))
    limits = _limits(made.shape, storage.maxshape)
    blocks = _set_chunks(plist, made, limits, storage)
    if blocks is None:
        _check_plain(storage, made.shape)
    space = h5s.create_simple(made.shape, limits) if made.shape else h5s.create(h5s.SCALAR)
    did = h5d.create(location.id, None, tid, space, plist)
    if blocks is not None:
        typesize = made.dtype.base.itemsize
        chunks = ChunkShape((), made.dtype.itemsize, typesize, 0, made.dtype)
        if (encoding := encoding_of(storage, chunks)) is not None:
            chunk_encoding.put(did, encoding)
    if storage.checksums is False and blocks is not None and storage.compressor == "blosc2":
        checksums.forgo(did)
    return h5py.Dataset(did), blocks


def _fill_value(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    fill: npt.NDArray[Any] = np.asarray(value, dtype)
    # h5py takes the bytes of a string for the address of one, unless it is an object.
    return np.array(fill[()], h5py.string_dtype("ascii")) if dtype.kind == "S" else fill


def link(group: Any, name: str | bytes, dataset: Any) -> None:
    """Give a dataset, or any object of h5py, a name; groups on the way are made."""
    name = name.encode() if isinstance(name, str) else name
    h5o.link(dataset.id, group.id, name, lcpl=_link_properties())


@cache
def _link_properties() -> Any:
    plist = h5p.create(h5p.LINK_CREATE)
    plist.set_create_intermediate_group(True)
    plist.set_char_encoding(h5t.CSET_UTF8)
    return plist


def first_missing(group: Any, name: str) -> str:
    """Return how much of a path, from its front on, leads to something that is not there yet.

    All of it, if nothing is missing.
    """
    return missing(group, name) or name


def missing(group: Any, name: str) -> str | None:
    """Return the same; None if nothing is missing."""
    root = "/" if name.startswith("/") else ""
    parts = list(filter(None, name.split("/")))
    if not parts or "." in parts:
        return None if name in group else name
    links = group.id.links
    for count in range(1, len(parts) + 1):
        path = root + "/".join(parts[:count])
        try:
            is_there = links.exists(path.encode())
        except (KeyError, ValueError, OSError, RuntimeError):
            is_there = False
        if not is_there:
            return path
    # A link may lead to nothing.
    return None if name in group else name


def _limits(shape: Shape, maxshape: Any) -> tuple[int, ...]:
    if maxshape is None:
        return shape
    if maxshape is True:
        maxshape = (None,) * len(shape)
    elif isinstance(maxshape, int):
        maxshape = (maxshape,)
    if len(maxshape) != len(shape):
        raise ValueError(f"maxshape {maxshape}: the shape is {shape}")
    for length, most in zip(shape, maxshape, strict=True):
        if most is not None and most < length:
            raise ValueError(f"maxshape {maxshape}: less than the shape {shape}")
    return tuple(h5s.UNLIMITED if most is None else most for most in maxshape)


def _set_chunks(plist: Any, made: Content, limits: tuple[int, ...], storage: Storage) -> Shape | None:
    """Choose chunks and filters, and return the blocks.

    None for a dataset that has no items and never will, or no axes.
    """
    if not made.shape or 0 in limits:
        return None
    if storage.chunks is False:
        _check_contiguous(made, limits, storage)
        return None
    shape, blocks = _cut(made, limits, storage)
    plist.set_chunk(shape.chunks)
    for slot in pipeline(storage, shape):
        flags = h5z.FLAG_OPTIONAL if slot[1] else h5z.FLAG_MANDATORY
        plist.set_filter(slot[0], flags, as_set(slot))
    return blocks


def _cut(made: Content, limits: tuple[int, ...], storage: Storage) -> tuple[ChunkShape, Shape]:
    """Return chunks, and the blocks in them. Raises ValueError for chunks that do not fit."""
    itemsize = made.dtype.itemsize
    given = storage.chunk_lengths
    chunks, blocks = default_cut(made.shape, itemsize, given, storage.block_lengths)
    # An axis without items gets a chunk as if it were endless; HDF5 wants none beyond what is fixed.
    most = [chunk if end == h5s.UNLIMITED else end for chunk, end in zip(chunks, limits, strict=True)]
    fitting = tuple(map(min, chunks, most))
    if given is not None and fitting != chunks:
        raise ValueError(f"chunks {given}: larger than a shape that cannot grow beyond {limits}")
    blocks = tuple(map(min, blocks, fitting))
    shape = ChunkShape(fitting, itemsize, made.dtype.base.itemsize, prod(blocks) * itemsize, made.dtype)
    return shape, blocks


def smallest_storage(made: Content, stored: np.dtype[Any], storage: Storage) -> Storage:
    """Return how a dataset that is tuned for size is to be stored: small chunks perhaps by a plain filter.

    stored: the dtype of its bytes. All else stays as it was asked for.
    """
    limits = _limits(made.shape, storage.maxshape)
    is_lazy = made.values is None or hasattr(made.values, "__dask_graph__")
    if is_lazy or not made.shape or 0 in limits or storage.chunks is False or not is_open(storage):
        return storage
    shape, _ = _cut(made, limits, storage)
    return smallest(storage, shape, Items(made.values, made.shape, stored))


def _check_contiguous(made: Content, limits: tuple[int, ...], storage: Storage) -> None:
    """Raise TypeError for what only chunks can have."""
    if limits != made.shape:
        raise DatasetShapeError("chunks=False: a contiguous dataset cannot grow; leave out maxshape")
    asked = {"codec": storage.codec, "blocks": storage.blocks, "codec='auto'": storage.tuning}
    names = [name for name, value in asked.items() if value is not None]
    if names or storage.compressor not in ("blosc2", "none"):
        named = ", ".join(names) or repr(storage.filter)
        raise TypeError(f"chunks=False: a contiguous dataset has no filters; leave out {named}")


def _check_plain(storage: Storage, shape: Shape) -> None:
    """Raise TypeError if chunks were asked for where there can be none."""
    is_asked = storage.fletcher32 or storage.lossy is not None
    is_asked = is_asked or not (isinstance(storage.chunks, bool) or storage.chunks in (None, "auto"))
    if is_asked or (storage.maxshape and not shape):
        what = (
            "chunks=False: a contiguous dataset" if storage.chunks is False else f"a dataset of shape {shape}"
        )
        raise TypeError(f"{what} cannot have chunks, filters or a maxshape")
