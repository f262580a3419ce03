"""Items of variable length, and references: read and written by h5py, some rows at a time.

In: datasets of h5py whose items are not plain bytes. Out: their items as h5py's objects, without the
conversions that its own indexing makes, so that they can be written as they were read. Sequences of what h5py
has no dtype for (PyTables' times) are arrays of bytes without meaning, and can only be read.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import UnsupportedError
from coquina.hdf5.heaps import SEQUENCE, Heap
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.storing import bytes_array
from coquina.hdf5.untyped import h5py, h5s, h5t

if TYPE_CHECKING:
    from collections.abc import Iterator

    Region = tuple[slice, ...]

_ROWS_BYTES = 4 << 20


def in_order(items: Any, dtype: Any) -> Any:
    """Return items of a dtype as they are meant: sequences that h5py did not swap get their byte order.

    h5py 3.16 reads those of another byte order as they are stored, into arrays of this machine's order.
    """
    inner = h5py.check_vlen_dtype(dtype)
    is_swapped = isinstance(inner, np.dtype) and inner.kind in "iufc" and not cast("Any", inner).isnative
    if is_swapped and _forgets_order():
        for at in np.ndindex(items.shape):
            items[at] = items[at].view(inner)
    return items


@cache
def _forgets_order() -> bool:
    """Whether h5py reads sequences of the other byte order wrongly."""
    swapped = np.dtype(np.int16).newbyteorder("S")
    # No two threads may have files of one name in memory.
    with h5py.File(f"order {id(swapped)}", "w", driver="core", backing_store=False) as scratch:
        made = scratch.create_dataset("x", (1,), h5py.vlen_dtype(swapped))
        made[0] = np.array([1], swapped)
        return int(made[0][0]) != 1


def row_regions(dataset: Any) -> Iterator[Region]:
    """Cut a dataset into runs of rows, whole chunks if it has some."""
    if not dataset.shape:
        yield ()
        return
    row_bytes = prod(dataset.shape[1:]) * dataset.id.get_type().get_size()
    cut = 1 if dataset.chunks is None else dataset.chunks[0]
    step = max(_ROWS_BYTES // max(row_bytes, 1) // cut, 1) * cut
    rest = tuple(slice(0, length) for length in dataset.shape[1:])
    for start in range(0, dataset.shape[0], step):
        yield slice(start, min(start + step, dataset.shape[0])), *rest


def read_items(dataset: Any, region: Region) -> Any:
    """Return the items of a region. Raises UnsupportedError for a datatype that cannot be read here."""
    try:
        dtype = dataset.dtype
    except TypeError as error:
        return _sequences(dataset, region, error)
    shape = tuple(part.stop - part.start for part in region)
    items: Any = np.empty(shape, dtype)
    if items.size:
        dataset.id.read(*_spaces(dataset, region), items)
    return in_order(items, dtype)


def _sequences(dataset: Any, region: Region, error: TypeError) -> Any:
    """Return sequences of what h5py has no dtype for, as arrays of bytes without meaning."""
    tid = dataset.id.get_type()
    places = bytes_array(dataset) if isinstance(tid, h5t.TypeVlenID) and is_fixed(tid.get_super()) else None
    if places is None or places.handle.stats().get("access") == "whole":
        raise UnsupportedError(f"{dataset.name}: {error}") from error
    stored = np.asarray(places[region]).view(SEQUENCE)
    items: Any = np.empty(stored.shape, object)
    size = tid.get_super().get_size()
    for at, raw in zip(
        np.ndindex(stored.shape), Heap(dataset.file).sequences(stored.reshape(-1), size), strict=True
    ):
        items[at] = np.frombuffer(raw, f"V{size}")
    return items


def write_items(dataset: Any, region: Region, items: Any) -> None:
    """Write the items of a region."""
    if items.size:
        dataset.id.write(*_spaces(dataset, region), items)


def _spaces(dataset: Any, region: Region) -> tuple[Any, Any]:
    space = dataset.id.get_space()
    if not region:
        return h5s.ALL, h5s.ALL
    shape = tuple(part.stop - part.start for part in region)
    space.select_hyperslab(tuple(part.start for part in region), shape)
    return h5s.create_simple(shape), space
