"""Copies of arrays: cut and encoded as options say, or as the array is that is copied.

In: an array, and what is to differ. Out: another one, in memory or in a file, with its items and metadata.
Invariant: what a codec with a parameter has lost is not lost once more where chunks can be taken over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coquina.arrays.new_arrays import A, fill_boxes, make, written
from coquina.tuning_options import known_terms

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    from coquina._core import ArrayHandle
    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tuning_options import Base


def storage_of_copy(array: Array, storage: Storage, like: Base | None = None) -> tuple[Storage, bool]:
    """Return how to store a copy of an array, and whether its chunks may be taken over as they are stored.

    What `storage` leaves open of the encoding is as in the array, or as in `like`, for arrays that are stored
    in other ways. Chunks are taken over that have a codec with a parameter, which may lose something.
    """
    if storage.tuning is not None:
        return storage, False
    codec, level, filters = storage.codec, storage.level, storage.filters
    info = array.info
    is_like = codec is None and level is None and filters is None
    if is_like and (terms := known_terms(info.tuning)) is not None:
        return replace(storage, tuning=terms), False
    if like is not None:
        return replace(storage, **storage.encoding(like)), False
    # Filters go with a codec that has a parameter: what suits one does not suit the other.
    keeps_filters = codec is None or (isinstance(codec, str) and info.codec_parameter is None)
    storage = replace(
        storage,
        codec=info.codec_option if codec is None else codec,
        level=info.level if level is None else level,
        filters=info.filters if filters is None and keeps_filters else filters,
    )
    return storage, is_like and info.codec_parameter is not None and info.lossy is None


def copy_of(
    of: Callable[[ArrayHandle, np.dtype[Any]], A],
    array: Array,
    storage: Storage,
    *,
    threads: int | None = None,
    keeps_chunks: bool = False,
) -> A:
    """Return a copy of an array with other options; `Array.copy` is what users call.

    of: the class of the copy. keeps_chunks: take the chunks over as they are stored, which the options must
    allow.
    """
    options = storage.for_engine()
    copy = make(of, array.shape, array.dtype, options)
    with written(copy):
        if keeps_chunks:
            copy.handle.adopt([0] * len(array.shape), array.handle)
        else:
            fill_boxes(copy, lambda region: array[region], threads)
        for name in array.handle.layer_names():
            copy.handle.set_layer(name, array.handle.layer(name))
    return copy
