"""`from_dask`: a Dask array becomes an `Array`, encoded where its chunks are computed.

In: a Dask array. Out: an array in memory or in a file, which appears when it is complete; or a dataset of an
    HDF5 file is filled. Every stored chunk is encoded once, by the task that computed it.
Memory: of each task its chunk of Dask; who waits has one such chunk at a time, compressed.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from coquina import _core
from coquina.adapters.dask_arrays import dask
from coquina.adapters.dask_parts import ArrayRecipe, DatasetRecipe, Delivery, delivery_to
from coquina.arrays.creation import new_array
from coquina.arrays.descriptions import add_layers, layers_of
from coquina.arrays.new_arrays import written
from coquina.hdf5.places import inside
from coquina.storage_options import Storage, is_cut

if TYPE_CHECKING:
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.adapters.dask_parts import Parcel, Recipe
    from coquina.arrays.array import Array
    from coquina.hdf5.datasets import Dataset
    from coquina.storage_options import Options, StorageOptions

Shape = tuple[int, ...]
#: Chunks of Dask up to this size are stored as they are.
CHUNK_BYTES_MAX = 32 << 20


@overload
def from_dask(
    x: Any,
    path: Path | None = ...,
    *,
    compute: Literal[True] = ...,
    **storage: Unpack[StorageOptions],
) -> Array: ...
@overload
def from_dask(
    x: Any,
    path: Path | None = ...,
    *,
    compute: Literal[False],
    **storage: Unpack[StorageOptions],
) -> Any: ...
def from_dask(
    x: Any,
    path: Path | None = None,
    *,
    compute: bool = True,
    **storage: Unpack[StorageOptions],
) -> Any:
    """Compute a Dask array and store it, compressed by Dask's tasks, in parallel.

    x: a `dask.array.Array` of known shape, computed by Dask's current scheduler: threads, processes or a
        cluster; or an xarray DataArray over one, whose attributes, names of axes and coordinates are kept.
        Its chunks are merged or divided if they are not whole stored chunks.
    path: the file to write; None: in memory. Workers in other processes need access to its folder, where they
        store encoded chunks until these are assembled.
    chunks: elements along each axis of a stored chunk; by default Dask's chunks up to 32 MiB, otherwise parts
        of them; "auto": the rule of `asarray`. The other options are those of `asarray`.
    compute: False: return a `dask.delayed` object, which opens a file for reading. Its encoded chunks are in
        memory until the file is written.

    Returns an `Array`. Each chunk is encoded once, by the task that computed it. The file appears when it is
    complete; if a task fails, there is no file, or the previous one. A killed process leaves hidden files
    that begin with a dot and the name of the file. Memory: a Dask chunk for each task, and one compressed.

    Raises TypeError if `x` is not a Dask array, ValueError for unknown lengths, the errors of tasks, and
    those of `asarray`.
    """
    module = dask()
    layers = layers_of(x)
    x = lazy_items(x)
    _check(module, x)
    if not is_cut(storage):
        storage["chunks"] = stored_chunks(x.chunks, x.dtype.itemsize)
    options = Storage.for_array(from_dask, storage, path).for_engine()
    if not compute:
        recipe, tasks = _delayed(module, x, options)
        finish = partial(_finished, recipe, x.shape, options, layers)
        return module.delayed(finish, pure=False, traverse=False)(tasks)
    target = new_array(x.shape, x.dtype, options)
    with written(target):
        _fill(module, target, x, _recipe(target, options))
        add_layers(target, layers)
    return target


def lazy_items(x: Any) -> Any:
    """Return the Dask array that a DataArray of xarray has its items in; what has no such one as it is."""
    is_of_xarray = type(x).__module__.partition(".")[0] == "xarray"
    return x.data if is_of_xarray and getattr(x, "chunks", None) is not None else x


def fill_dataset(dataset: Dataset, x: Any) -> bool:
    """Fill a dataset of the same shape with a Dask array; return whether that could be done in parallel.

    False also for what only may have such an array in it: a DataArray of xarray.
    """
    x = lazy_items(x)
    module = dask()
    if not isinstance(x, module.array.Array):
        return False
    _check(module, x)
    recipe = _recipe_of_dataset(dataset)
    if recipe is None:
        return False
    _fill(module, dataset, x.astype(dataset.dtype), recipe)
    return True


def stored_chunks(lengths: tuple[tuple[int, ...], ...], itemsize: int) -> Shape:
    """Return chunks to store for an array with these chunks of Dask: these, or parts of them.

    lengths: of Dask's chunks along each axis. itemsize: bytes of an item.
    """
    extents = tuple(max(max(one, default=1), 1) for one in lengths)
    if prod(extents) * itemsize <= CHUNK_BYTES_MAX:
        return extents
    item = np.dtype(f"V{max(itemsize, 1)}")
    parts = new_array(extents, item, {}).chunks
    pairs = zip(lengths, extents, parts, strict=True)
    return tuple(part if len(one) == 1 else _divisor(extent, part) for one, extent, part in pairs)


def _divisor(extent: int, part: int) -> int:
    """Return a length near `part` that divides `extent`; `part` if there is none."""
    count = -(-extent // part)
    return next((extent // n for n in range(count, 2 * count + 1) if extent % n == 0), part)


def _check(module: Any, x: Any) -> None:
    if not isinstance(x, module.array.Array):
        raise TypeError(
            f"from_dask: takes a Dask array, or a DataArray of one, not {type(x).__name__}; "
            "asarray takes all others"
        )
    if any(length != length for length in x.shape):
        raise ValueError(f"from_dask: shape {x.shape} is not known; x.compute_chunk_sizes() finds it out")


def _recipe(target: Array, options: Options) -> ArrayRecipe:
    kept = {
        name: options[name] for name in ("codec", "level", "filters", "lossy", "tuning") if name in options
    }
    return ArrayRecipe(target.dtype, {**kept, "chunks": target.chunks, "blocks": target.blocks})


def _recipe_of_dataset(dataset: Dataset) -> DatasetRecipe | None:
    """Return how chunks are encoded; None where libhdf5 must do it, and where the dataset keeps a bound."""
    can_encode = {code for code, _, _, can in _core.hdf5_filters() if can}
    has_axes_of_items = len(inside(dataset).shape) != dataset.ndim
    if dataset.layout != "chunked" or dataset.access == "whole" or has_axes_of_items:
        return None
    if dataset.lossy is not None:
        return None
    if any(code not in can_encode for code, _, _ in dataset.filters):
        return None
    return DatasetRecipe(
        dataset.dtype,
        dataset.shape,
        dataset.chunks,
        [(code, False, list(values)) for code, _, values in dataset.filters],
        np.asarray(dataset.fillvalue, dataset.dtype).tobytes(),
        [(offset, name) for offset, name in dataset.zones],
        dataset.goal,
        dataset.checksums,
        None if dataset.encoding is None else dataset.encoding.terms,
    )


def _fill(module: Any, target: Any, x: Any, recipe: Recipe) -> None:
    """Let tasks encode all of `x`, and put it into the target."""
    with delivery_to(target, recipe) as delivery:
        starts, tasks = _tasks(module, _aligned(x, target.chunks), delivery)
        for start, parcel in zip(starts, module.compute(*tasks), strict=True):
            delivery.receive(target, parcel, start)


def _tasks(module: Any, x: Any, delivery: Delivery) -> tuple[list[Shape], list[Any]]:
    """Return a task for each chunk of Dask that has items, and where it begins."""
    corners = [[0, *accumulate(lengths)][:-1] for lengths in x.chunks]
    deliver = module.delayed(delivery, pure=False, traverse=False)
    starts: list[Shape] = []
    tasks: list[Any] = []
    parts: npt.NDArray[Any] = np.asarray(x.to_delayed(), object)
    for part, lengths, start in zip(parts.ravel(), product(*x.chunks), product(*corners), strict=True):
        if 0 not in lengths:
            starts.append(start)
            tasks.append(deliver(part, start, lengths))
    return starts, tasks


def _aligned(x: Any, chunks: Shape) -> Any:
    """Return `x` with chunks that are whole stored chunks; those that are stay."""
    lengths: list[tuple[int, ...]] = []
    given: tuple[tuple[int, ...], ...] = x.chunks
    for found, chunk, length in zip(given, chunks, x.shape, strict=True):
        unit = max(chunk, 1)
        edges = list(accumulate(found))
        if any(edge % unit and edge != length for edge in edges):
            whole = max(max(found) // unit, 1) * unit
            edges = [*range(whole, length, whole), length]
            found = tuple(b - a for a, b in pairwise([0, *edges]))
        lengths.append(found)
    return x if tuple(lengths) == given else x.rechunk(tuple(lengths))


def _delayed(module: Any, x: Any, options: Options) -> tuple[ArrayRecipe, list[Any]]:
    """Return the tasks that encode all of `x` and hand it over."""
    names = ("codec", "level", "filters", "chunks", "blocks", "access", "tuning")
    cut = new_array(x.shape, x.dtype, {name: options[name] for name in names if name in options})
    recipe = _recipe(cut, options)
    aligned = _aligned(x, cut.chunks)
    starts, tasks = _tasks(module, aligned, Delivery(recipe, "", None))
    pair = module.delayed(_pair, pure=False)
    return recipe, [pair(start, task) for start, task in zip(starts, tasks, strict=True)]


def _pair(start: Shape, parcel: Parcel) -> tuple[Shape, Parcel]:
    return tuple(start), parcel


def _finished(
    recipe: ArrayRecipe,
    shape: Shape,
    options: Options,
    layers: dict[str, bytes],
    parts: list[tuple[Shape, Parcel]],
) -> Array:
    """Put what tasks have encoded together."""
    cut = {"chunks": recipe.options["chunks"], "blocks": recipe.options["blocks"]}
    target = new_array(shape, recipe.dtype, {**options, **cut})
    delivery = Delivery(recipe, "", None)
    with written(target):
        for start, parcel in parts:
            delivery.receive(target, parcel, start)
        add_layers(target, layers)
    return target


__all__ = ["from_dask"]
