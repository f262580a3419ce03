"""PyTables' times of 8 bytes ("time64"), which are float64 seconds to their users.

In: stored integers, the higher 4 bytes of which are seconds, the lower ones microseconds.
Out: seconds, and back.
Source: docs/formats/pytables-nodes.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def shown_seconds(items: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the float64 seconds of PyTables' time64, given as int64."""
    return (items >> 32).astype(np.float64) + 1e-6 * items.astype(np.int32).astype(np.float64)


def stored_seconds(seconds: npt.NDArray[Any], place: str) -> npt.NDArray[np.int64]:
    """Return seconds as they are stored. Raises ValueError, naming `place`, for what 32 bits cannot count."""
    check_seconds(seconds, place)
    whole = np.trunc(seconds)
    micros = np.rint((seconds - whole) * 1e6).astype(np.int64)
    return (whole.astype(np.int64) << 32) | (micros & 0xFFFFFFFF)


def check_seconds(seconds: npt.NDArray[Any], place: str) -> None:
    """Raise ValueError, naming `place`, for seconds that 32 bits cannot count, NaN among them."""
    whole = np.trunc(seconds)
    wrong = ~((whole >= -(2.0**31)) & (whole < 2.0**31))
    if wrong.any():
        raise ValueError(f"{place}: {seconds[wrong].flat[0]} seconds do not fit 32 bits")
