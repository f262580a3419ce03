"""What is known of the items of each chunk of an array without decoding any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.arrays.array import Array

_KINDS = "biuf"


def chunk_statistics(array: Array) -> npt.NDArray[Any]:
    """Return the least and the greatest item of each chunk, as far as they are known.

    Returns a one-dimensional structured array with a row for each chunk, in C order of the chunks:

    min, max: of the array's dtype. No item of the chunk that is inside the shape is beyond them. Both are NaN
        where all items are.
    has_nan: whether there is a NaN; unless `exact`, whether there may be one.
    exact: whether `min` and `max` are items, and not only limits.
    known: whether anything is known; else the rest of the row is zeros.

    They are kept for booleans, integers and floats of the machine's byte order while chunks are written. Of
    chunks that another program wrote and of those in HDF5 files nothing is known, unless they are one value.
    Raises TypeError if the dtype has no numbers with an order.
    """
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"chunk_statistics: items of {array.dtype} have no order")
    handle, dtype = array.handle, array.dtype
    fields = [("min", dtype), ("max", dtype), ("has_nan", "?"), ("exact", "?"), ("known", "?")]
    rows = np.zeros(handle.stats()["nchunks"], fields)
    for number in range(len(rows)):
        bounds = handle.bounds(number)
        if bounds is not None:
            least, greatest, is_exact, has_nan = bounds
            item = np.frombuffer(least + greatest, dtype)
            rows[number] = (item[0], item[1], has_nan, is_exact, True)
    return rows
