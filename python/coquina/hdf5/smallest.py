"""The filter that makes small chunks smallest, where only bytes count: Blosc2, or a plain compressor.

In: how a dataset is to be stored, tuned for size, and its items. Out: the same, perhaps by another filter.
Why: a stored chunk of Blosc2 begins with some 200 bytes of headers, which small chunks do not save again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.hdf5.chunk_growth import SMALL_BYTES
from coquina.hdf5.filters import ChunkShape, pipeline
from coquina.storage_options import Storage
from coquina.tuning_options import only_bytes_count

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of chunks that are tried, spread over all.
_TRIED_BYTES = 1 << 20
#: Tried in this order; of filters that are equally good the first is taken. Every libhdf5 has gzip.
_PLAIN = (
    Storage(filter="none"),
    Storage(filter="gzip", level=9),
    Storage(filter="gzip", level=9, filters="nofilter"),
    Storage(filter="zstd", level=19),
    Storage(filter="zstd", level=19, filters="nofilter"),
)


@dataclass(frozen=True, slots=True)
class Items:
    """What is stored in chunks. values: something to slice, of the shape; dtype: of its bytes."""

    values: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def is_open(storage: Storage) -> bool:
    """Whether only bytes count, and nothing that was asked for needs Blosc2."""
    needs_blosc2 = storage.checksums or storage.zones or storage.blocks is not None
    is_named = storage.filter is not None
    return only_bytes_count(storage.tuning) and not (is_named or needs_blosc2) and storage.lossy is None


def smallest(storage: Storage, cut: ChunkShape, items: Items) -> Storage:
    """Return how chunks are to be stored. Chunks of 64 KiB or more, and those without items, stay Blosc2's.

    cut: of the chunks, and of Blosc2's blocks.
    """
    if not 0 < cut.chunk_bytes < SMALL_BYTES or 0 in items.shape:
        return storage
    assert storage.tuning is not None
    tuner = _core.ChunkTuner(storage.tuning)
    best, least = storage, 0
    tried = list(_tried(cut, items))
    for candidate in (storage, *(_by(storage, plain) for plain in _PLAIN)):
        slots = [(code, may_skip, list(values)) for code, may_skip, values in pipeline(candidate, cut)]
        nbytes = 0
        for chunk in tried:
            stored = _core.filter_encode(
                slots,
                cut.chunks,
                cut.itemsize,
                chunk,
                tuner=tuner if candidate is storage else None,
                checksums=storage.checksums is not False,
            )
            nbytes += len(stored)
        if candidate is storage or nbytes < least:
            best, least = candidate, nbytes
    return best


def _by(storage: Storage, plain: Storage) -> Storage:
    """Return how a dataset is stored by a plain filter, in all else as it was asked for."""
    return replace(
        storage, tuning=None, codec=None, filter=plain.filter, level=plain.level, filters=plain.filters
    )


def _tried(cut: ChunkShape, items: Items) -> Iterator[np.ndarray[Any, Any]]:
    """Yield some whole chunks as they will be stored; what no item fills is zero."""
    counts = [-(-length // chunk) for length, chunk in zip(items.shape, cut.chunks, strict=True)]
    most = max(1, _TRIED_BYTES // cut.chunk_bytes)
    total = int(np.prod(counts, dtype=np.float64))
    step = max(1, -(-total // most))
    for number in range(0, total, step):
        at = np.unravel_index(number, counts)
        start = [int(cell) * chunk for cell, chunk in zip(at, cut.chunks, strict=True)]
        ends = zip(start, cut.chunks, items.shape, strict=True)
        region = tuple(slice(first, min(first + chunk, end)) for first, chunk, end in ends)
        part = np.asarray(items.values[region], items.dtype.base)
        whole = np.zeros((*cut.chunks, *part.shape[len(cut.chunks) :]), part.dtype)
        whole[tuple(map(slice, part.shape))] = part
        yield np.frombuffer(whole.tobytes(), "u1")
