"""Numbers rounded within the bound of a dataset before they are written, perhaps more than once.

In: numbers, and the engine's array of a dataset. Out: numbers within its bound; the array counts the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import asarray
from coquina.tuning_options import DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina._core import ArrayHandle


def rounded(
    handle: ArrayHandle, values: npt.NDArray[Any], chunks: tuple[int, ...], fill: bytes
) -> npt.NDArray[Any]:
    """Return values as near as the bound of an array asks for; items that are `fill` stay."""
    known = handle.lossy()
    if known is None or not values.size:
        return values
    bound, value, _, _ = known
    chunks = tuple(min(one, length) for one, length in zip(chunks, values.shape, strict=True))
    # Fast, as it is not kept; but where sizes are asked for they are those of the usual codec.
    codec, level = (DEFAULT_CODEC, DEFAULT_LEVEL) if bound == "ratio" else ("lz4", 1)
    near = asarray(values, chunks=chunks, codec=codec, level=level, lossy={bound: value, "method": "round"})
    made = near.handle.lossy()
    if made is not None:
        handle.add_loss(made[3])
    items = near[...]
    is_nothing = _raw(values) == np.frombuffer(fill, f"V{values.dtype.itemsize}")
    _raw(items)[is_nothing] = _raw(values)[is_nothing]
    return items


def _raw(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as the bytes that they are: by these NaN equals itself."""
    return np.ascontiguousarray(values).view(f"V{values.dtype.itemsize}")
