"""How the items of a dataset get into another one, and what is stored of a dataset.

In: datasets of h5py, of two files, and a `Plan`. Out: the same items. They travel as bytes without meaning,
so every datatype of fixed size is copied to the bit. Memory: some boxes of whole chunks, `BOX_BYTES` each.
Invariant: chunks that are not stored stay so, unless a new chunk has items of stored ones too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.arrays.array import Array
from coquina.arrays.regions import boxes
from coquina.hdf5 import filters as slots
from coquina.hdf5.describing import describe, describe_bytes, filters_of
from coquina.hdf5.smallest import Items, smallest
from coquina.hdf5.untyped import h5d, h5z
from coquina.indexing import lower
from coquina.lossy import lossy_info
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coquina.hdf5.describing import Facts
    from coquina.hdf5.filters import Slot
    from coquina.hdf5.planning import Plan
    from coquina.lossy import LossyInfo

BOX_BYTES = 64 << 20
#: Where a box of whole chunks of both sides would be larger than this, chunks are decoded several times.
_UNIT_BYTES_MAX = 256 << 20

Shape = tuple[int, ...]
Region = tuple[slice, ...]


def slots_of(dataset: Any) -> tuple[Slot, ...]:
    """Return the filters of a dataset as they would be set."""
    rows = filters_of(dataset.id.get_create_plist())
    return tuple((code, may_skip, values) for code, _, may_skip, values in rows)


def itemsize_of(dataset: Any) -> int:
    """Return the bytes of an item."""
    return dataset.id.get_type().get_size()


def nbytes_of(dataset: Any) -> int:
    """Return the bytes of the items of a dataset."""
    return 0 if dataset.shape is None else prod(dataset.shape) * itemsize_of(dataset)


def stored_rows(dataset: Any) -> list[tuple[Shape, int, int, int]]:
    """Return the stored chunks that lie inside of the shape."""
    rows = _core.Hdf5Library(dataset).chunk_table()
    return sorted(row for row in rows if all(map(int.__lt__, row[0], dataset.shape)))


def make(place: tuple[Any, bytes | None, Any], dataset: Any, planned: Plan, tid: Any) -> Any:
    """Return a dataset without items like `dataset`, but stored as planned.

    place: a group, a name there or None, and the properties of the link.
    """
    plist = dataset.id.get_create_plist()
    plist.remove_filter(h5z.FILTER_ALL)
    if planned.how == "encoded":
        # Forgets that filters leave chunks at the edges alone, where they do.
        plist.set_layout(h5d.CONTIGUOUS)
        # Else libhdf5 would write all chunks now, and again when they are filled.
        plist.set_alloc_time(h5d.ALLOC_TIME_INCR)
    plist.set_chunk(planned.chunks)
    for slot in planned.filters:
        flags = h5z.FLAG_OPTIONAL if slot[1] else h5z.FLAG_MANDATORY
        plist.set_filter(slot[0], flags, slots.as_set(slot))
    location, name, link = place
    made = h5d.create(location.id, name, tid, dataset.id.get_space(), plist, lcpl=link)
    return type(dataset)(made)


def bytes_array(dataset: Any, planned: Plan | None = None) -> Array:
    """Return the items of a dataset as an array of bytes without meaning.

    planned: how chunks to come are stored; None for as the dataset says.
    """
    return _opened(dataset, describe_bytes(dataset), planned)


def smallest_plan(dataset: Any, planned: Plan) -> Plan:
    """Return the plan of a dataset that is tuned for size, or one by a plain filter if that is smaller."""
    ((_, _, values),) = planned.filters
    itemsize = itemsize_of(dataset)
    block_bytes = prod(planned.blocks or planned.chunks) * itemsize
    cut = slots.ChunkShape(planned.chunks, itemsize, values[2], block_bytes)
    array = bytes_array(dataset)
    tuned = Storage(tuning=planned.tuning, codec=None)
    best = smallest(tuned, cut, Items(array, dataset.shape, array.dtype))
    if best is tuned:
        return planned
    return replace(planned, filters=tuple(slots.pipeline(best, cut)), blocks=None, tuning=None)


def copy_chunks(source: Any, target: Any, done: Callable[[int], object]) -> None:
    """Copy stored chunks as they are; those that skipped filters are encoded, so that none does."""
    old, new = _core.Hdf5Library(source), _core.Hdf5Library(target)
    filters = [(code, may_skip, list(values)) for code, may_skip, values in slots_of(source)]
    itemsize = itemsize_of(source)
    for start, _, _, mask in stored_rows(source):
        found = old.read_chunk(start)
        if found is None:
            continue
        stored = found[0]
        if mask:
            plain = _core.filter_decode(filters, source.chunks, itemsize, mask, stored)
            stored = _core.filter_encode(filters, source.chunks, itemsize, plain)
        new.write_chunk(start, stored)
        done(itemsize * prod(part.stop - part.start for part in _region(start, source.shape, source.chunks)))


def numbers_array(dataset: Any, planned: Plan | None = None) -> Array:
    """Return the items of a dataset as an array of the numbers that they are; see `bytes_array`."""
    described = describe(dataset)
    assert described is not None
    return _opened(dataset, described, planned)


def _opened(dataset: Any, facts: Facts, planned: Plan | None) -> Array:
    blocks = None
    if planned is not None:
        blocks, has_sums = planned.blocks, planned.checksums
        has_sums = facts.checksums if has_sums is None else has_sums
        facts = replace(facts, checksums=has_sums, own_encoding=planned.encoding)
    return Array(facts.open(facts.library_of(dataset), blocks=blocks), facts.dtype)


def copy_items(
    source: Any, target: Any, planned: Plan, threads: int | None, done: Callable[[int], object]
) -> LossyInfo | None:
    """Copy the items of a dataset, and return what was lost; None if nothing may be.

    Chunks that are not stored stay so.
    """
    if planned.lossy is None:
        old, new = bytes_array(source), bytes_array(target, planned)
    else:
        old, new = numbers_array(source), numbers_array(target, planned)
        new.handle.set_lossy(planned.lossy.terms)
    if planned.tuning is not None:
        new.handle.set_tuning(planned.tuning)
    for region in regions(source, target):
        items = read(old, region, threads)
        new.write_selection(list(lower(region, new.shape).axes), None, 0, items, threads=threads)
        done(items.nbytes)
    return None if planned.lossy is None else lossy_info(new.handle)


def read(array: Array, region: Region, threads: int | None) -> np.ndarray[Any, Any]:
    """Return the items of a region."""
    selection = lower(region, array.shape)
    items: np.ndarray[Any, Any] = np.empty(selection.shape, array.dtype)
    array.read_selection(list(selection.axes), None, 0, items, threads=threads)
    return items


def regions(source: Any, target: Any) -> Iterator[Region]:
    """Yield regions of whole chunks of `target` that cover all which is stored of both."""
    shape, itemsize = source.shape, itemsize_of(source)
    if 0 in shape:
        return
    chunks = target.chunks or shape
    unit = chunks
    if source.chunks is not None:
        if _is_sparse(source):
            cells = _touched(source, chunks)
            if target.chunks is not None:
                cells |= _touched(target, chunks)
            for cell in sorted(cells):
                yield _region(tuple(at * cut for at, cut in zip(cell, chunks, strict=True)), shape, chunks)
            return
        unit = tuple(-(-max(old, new) // new) * new for old, new in zip(source.chunks, chunks, strict=True))
        if prod(unit) * itemsize > _UNIT_BYTES_MAX:
            unit = chunks
    if target.chunks is None and source.chunks is None:
        unit = (1,) * len(shape)
    yield from boxes(shape, unit, itemsize, BOX_BYTES)


def _is_sparse(dataset: Any) -> bool:
    """Whether some chunks of a dataset are not stored."""
    if dataset.chunks is None:
        return False
    counts = (-(-length // cut) for length, cut in zip(dataset.shape, dataset.chunks, strict=True))
    return len(stored_rows(dataset)) < prod(counts)


def _touched(dataset: Any, chunks: Shape) -> set[Shape]:
    """Return the cells of a grid of `chunks` in which something of a dataset is stored."""
    cells: set[Shape] = set()
    for start, _, _, _ in stored_rows(dataset):
        region = _region(start, dataset.shape, dataset.chunks)
        spans = (
            range(part.start // cut, -(-part.stop // cut)) for part, cut in zip(region, chunks, strict=True)
        )
        cells.update(product(*spans))
    return cells


def _region(start: Shape, shape: Shape, chunks: Shape) -> Region:
    ends = zip(start, chunks, shape, strict=True)
    return tuple(slice(at, min(at + cut, end)) for at, cut, end in ends)
