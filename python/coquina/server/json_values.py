"""Values as JSON has them: NaN and infinities as null, dates as ISO text, large integers as text.

In: NumPy arrays, scalars, values of h5py and of tables. Out: bytes of JSON.
Invariant: every value of every dtype gives valid JSON.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

#: Integers that JavaScript's numbers have exactly.
EXACT_MAX = (1 << 53) - 1
_PLAIN = (bool, str, int, float, np.ndarray, type(None))


def json_bytes(value: Any, *, exact: bool = True) -> bytes:
    """Return a value as JSON. exact: whether integers beyond 2**53 are text, as JavaScript needs them."""
    return json.dumps(
        plain(value, exact=exact), allow_nan=False, ensure_ascii=False, separators=(",", ":")
    ).encode("utf-8", "backslashreplace")


def plain(value: Any, *, exact: bool = True) -> Any:
    """Return a value of any kind as dicts, lists, str, numbers, bool and None."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray):
        return _array(cast("npt.NDArray[Any]", value), exact)
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        return _array(np.asarray(cast("Any", value)), exact)
    if isinstance(value, int):
        return str(value) if exact and abs(value) > EXACT_MAX else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _other(value, exact)


def _other(value: Any, exact: bool) -> Any:
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, np.void):
        if value.dtype.names is None:
            # h5grove takes opaque bytes for text.
            return value.tobytes().hex() if exact else value.tobytes().decode("utf-8", "backslashreplace")
        record: Any = value
        return [plain(record[name], exact=exact) for name in record.dtype.names]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast("Any", value)).decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        given = cast("Mapping[Any, Any]", value)
        return {str(name): plain(one, exact=exact) for name, one in given.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one, exact=exact) for one in cast("Sequence[Any]", value)]
    if isinstance(value, h5py.Empty) or value is np.ma.masked:
        return None
    return plain(value, exact=exact) if isinstance(value, _PLAIN) else str(value)


def _array(values: npt.NDArray[Any], exact: bool) -> Any:
    """Return an array as nested lists; one without axes as its value."""
    if isinstance(values, np.ma.MaskedArray):
        return _masked(values, exact)
    kind = values.dtype.kind
    if kind == "b" or (kind in "iu" and (not exact or values.dtype.itemsize <= 4 or _is_small(values))):
        return values.tolist()
    if kind == "f":
        return _floats(values)
    if kind == "c":
        numbers: Any = values
        if not (exact or values.ndim) and values.dtype.itemsize == 8:
            # By the digits that tell float32 values apart, as h5grove writes a value without axes.
            return [float(str(part)) for part in (numbers.real, numbers.imag)]
        return _floats(np.stack([numbers.real, numbers.imag], axis=-1))
    if kind in "mM":
        return _times(values)
    if kind in "UT":
        return np.asarray(values, object).tolist()
    return _each(values, exact)


def _wide(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.itemsize <= 8:
        return values
    # Numbers beyond those of float64 become infinities.
    with np.errstate(over="ignore"):
        return values.astype("f8")


def _finite(values: npt.NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())


def _is_small(values: npt.NDArray[Any]) -> bool:
    if not values.size:
        return True
    return int(values.min()) >= -EXACT_MAX and int(values.max()) <= EXACT_MAX


def _floats(values: npt.NDArray[Any]) -> Any:
    values = _wide(values)
    if _finite(values):
        return values.tolist()
    return np.where(np.isfinite(values), values.astype(object), cast("Any", None)).tolist()


def _times(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind == "m":
        return _each(values.astype("i8"), exact=True)
    texts = np.datetime_as_string(values).astype(object)
    return np.where(np.isnat(values), cast("Any", None), texts).tolist()


def _masked(values: Any, exact: bool) -> Any:
    if values.dtype.names is not None or not values.ndim:
        return plain(values.tolist(), exact=exact)
    found = _list(_array(np.ma.getdata(values).reshape(-1), exact))
    found[np.ma.getmaskarray(values).reshape(-1)] = None
    flat: list[Any] = found.tolist()
    return _nested(flat, values.shape)


def _list(values: Any) -> Any:
    """Return values for an object array of one axis, whose items may be lists themselves."""
    made = np.empty(len(values), object)
    for at, value in enumerate(values):
        made[at] = value
    return made


def _each(values: npt.NDArray[Any], exact: bool) -> Any:
    """Return an array value by value, for those that NumPy has no lists for."""
    if not values.ndim:
        return _other(values[()] if values.dtype.kind == "V" else values.item(), exact)
    return _nested([plain(one, exact=exact) for one in values.reshape(-1)], values.shape)


def _nested(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """Return a list as nested ones of a shape."""
    if not shape:
        return flat[0]
    for length in reversed(shape[1:]):
        flat = [flat[at : at + length] for at in range(0, len(flat), length)] if length else []
    return flat if all(shape[1:]) else _empty(shape)


def _empty(shape: tuple[int, ...]) -> list[Any]:
    return [] if len(shape) == 1 or not shape[0] else [_empty(shape[1:]) for _ in range(shape[0])]
