"""Copies of arrays: cut and encoded as options say, or as the array is that is copied.

In: an array, and what is to differ. Out: another one, in memory or in a file, with its items and metadata.
Invariant: what a codec with a parameter has lost is not lost once more where chunks can be taken over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.arrays.new_arrays import A, fill_boxes, make, written
from coquina.tuning_options import AUTO, DEFAULT_LEVEL, known_terms, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from coquina._core import ArrayHandle, Codec, Filters
    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tuning_options import Base


def encoding_of_copy(
    array: Array,
    codec: Codec | None,
    level: int | None,
    filters: Filters | None,
    tuning: Mapping[str, Any],
    like: Base | None = None,
) -> tuple[dict[str, Any], bool]:
    """Return how to encode a copy of an array, and whether its chunks may be taken over as they are stored.

    None for what is to be as in the array, or as in `like`, for arrays that are stored in other ways. Chunks
    are taken over that have a codec with a parameter, which may lose something.
    """
    info = array.info
    is_like = codec is None and level is None and filters is None and not tuning
    if is_like and (known := known_terms(info.tuning)) is not None:
        codec, tuning = AUTO, words_of(known)
    if codec == AUTO:
        level = DEFAULT_LEVEL if level is None else level
        return {"codec": AUTO, "level": level, "filters": filters, **tuning}, False
    if like is not None:
        encoding = {"codec": codec or like.codec, "level": like.level if level is None else level}
        return {**encoding, "filters": like.filters if filters is None else filters, **tuning}, False
    # Filters go with a codec that has a parameter: what suits one does not suit the other.
    keeps_filters = codec is None or (isinstance(codec, str) and info.codec_parameter is None)
    encoding = {
        "codec": info.codec_option if codec is None else codec,
        "level": info.level if level is None else level,
        "filters": info.filters if filters is None and keeps_filters else filters,
        **tuning,
    }
    return encoding, is_like and info.codec_parameter is not None and info.lossy is None


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
