"""Arrays of other libraries and other dtypes: `from_dlpack` and `astype`.

Source: the Array API standard 2024.12, "Data interchange" and "Data type functions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.creation import asarray
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import is_tiny, stored
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node, cast_items, cast_node
from coquina.storage_options import check_device

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.expression import Expr


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Return a compressed array with the items of an array of any library that speaks DLPack.

    copy: None: an `Array` is returned as it is. True: never. False: always; anything else is ValueError, for
    items are copied into chunks. Raises BufferError for items that `x` does not give away.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.from_dlpack(np.arange(3))[:]
    array([0, 1, 2])
    """
    check_device(device)
    if isinstance(x, Array):
        return asarray(x, copy=copy)
    if copy is False:
        raise ValueError(f"copy=False: the items of {type(x).__name__} are copied into new chunks")
    return asarray(np.from_dlpack(x))


def astype(x: Any, dtype: npt.DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Array | Expr:
    """Return `x` with another dtype, cast as `ndarray.astype` casts: lazy unless it is tiny.

    copy: False: an array of this dtype is returned as it is.

    >>> import coquina as cq
    >>> cq.astype([1.7, 2.2], "i4")[:]
    array([1, 2], dtype=int32)
    """
    check_device(device)
    kind: np.dtype[Any] = np.dtype(dtype)
    source = source_of(x)
    if not copy and source.dtype == kind and not isinstance(source, np.ndarray):
        return source
    if is_tiny(source):
        with np.errstate(all="ignore"):
            return stored(cast_items(as_numpy(source), kind))
    return Expr(cast_node(as_node(source), kind))


__all__ = ["astype", "from_dlpack"]
