"""Bytes in values that are no part of them, as zeros: what stands there may be from anywhere in memory.

In: arrays. Out: the same values, with zeros behind the ten bytes of long doubles, and between fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

#: Of a long double; those of 64 bits of precision have some that are not used.
_USED_BYTES = 10 if np.finfo(np.longdouble).nmant == 63 else np.dtype(np.longdouble).itemsize


def without_padding(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values; a copy if they have padding."""
    if not _has_padding(values.dtype):
        return values
    copy = np.zeros(values.shape, values.dtype)
    _copy(values, copy)
    return copy


def _has_padding(dtype: np.dtype[Any]) -> bool:
    dtype = dtype.base
    if dtype.names is None:
        return dtype.char in "gG" and np.dtype(np.longdouble).itemsize > _USED_BYTES
    fields = [dtype[name] for name in dtype.names]
    return sum(one.itemsize for one in fields) < dtype.itemsize or any(map(_has_padding, fields))


def _copy(values: Any, copy: Any) -> None:
    if values.dtype.names is not None:
        for name in values.dtype.names:
            _copy(values[name], copy[name])
    elif values.dtype.char == "G":
        _copy(values.real, copy.real)
        _copy(values.imag, copy.imag)
    elif values.dtype.char == "g":
        used = slice(0, _USED_BYTES) if values.dtype.isnative else slice(-_USED_BYTES, None)
        copy[..., None].view(np.uint8)[..., used] = values[..., None].view(np.uint8)[..., used]
    else:
        copy[...] = values
