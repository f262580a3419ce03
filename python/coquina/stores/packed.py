"""Arrays whose bytes are the chunks of a frame, as `save_array`, `save_tensor` and `pack_array2` write them.

In: an open frame. Out: an array in memory, compressed.
Source: docs/formats/blosc2-stores.md, "Packed arrays".
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.arrays.creation import asarray
from coquina.attrs import Attrs
from coquina.msgpack_values import dtype_of
from coquina.stores.metadata import list_of, variable

if TYPE_CHECKING:
    from coquina._core import FrameHandle
    from coquina.arrays.array import Array

LAYER = "__pack_tensor__"


def packed_array(frame: FrameHandle) -> Array:
    """Return the array that a frame is. Raises UnsupportedError for objects, CorruptError."""
    said = list_of(variable(frame, LAYER))
    if said is None or len(said) != 3:
        raise CorruptError(f"{LAYER}: {said!r} is not a kind, shape and dtype")
    dtype, shape = _dtype(said[2]), list_of(said[1])
    if shape is None or not all(type(size) is int and size >= 0 for size in shape):
        raise CorruptError(f"{LAYER}: shape {shape}")
    if dtype.hasobject:
        raise UnsupportedError(f"dtype {dtype}: objects are not read, since reading them could run code")
    stats = frame.stats()
    if prod(shape) * dtype.itemsize != stats["nbytes"]:
        raise CorruptError(f"{LAYER}: shape {shape} of {dtype}: the frame has {stats['nbytes']} bytes")
    content = b"".join([frame.chunk(number) for number in range(stats["nchunks"])])
    if len(content) != stats["nbytes"]:
        raise CorruptError(f"the chunks have {len(content)} bytes, and not {stats['nbytes']}")
    array = asarray(np.frombuffer(content, dtype).reshape(shape) if content else np.empty(shape, dtype))
    array.attrs.update({name: value for name, value in Attrs(frame).items() if name != LAYER})
    return array


def _dtype(described: Any) -> np.dtype[Any]:
    try:
        return dtype_of({"str" if isinstance(described, str) else "descr": described})
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise CorruptError(f"{LAYER}: no dtype: {error}") from None
