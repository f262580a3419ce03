"""Values of metadata as msgpack: what python-blosc2 writes and reads.

In: None, bool, int, float, complex, str, bytes, list, tuple, dict, set, and NumPy scalars and arrays,
nested. Out: bytes, and the values back; NumPy scalars come back as plain ones.
Source: docs/formats/b2nd.md, "Metadata values". Extension codes of objects that refer to other files or
hold code are refused. Invariant: hostile bytes give CorruptError or UnsupportedError, and no memory beyond
a few times their length.
"""

from __future__ import annotations

import struct
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import msgpack
from coquina._core import CorruptError, UnsupportedError
from coquina.dtypes import known_dtype
from coquina.msgpack import Ext

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

_TUPLE = "__tuple__"
_COMPLEX, _SET, _ARRAY = 44, 45, 46
#: Extensions that this package reads in no file: frames, and references to other data or to code.
_REFUSED = {42: "an array within the value", 43: "a reference or an expression"}
_DEPTH_MAX = 16


def pack(value: Any) -> bytes:
    """Return the bytes of a value. Raises TypeError for what cannot be stored, ValueError for too deep."""
    return msgpack.pack(value, _encode)


def _encode(value: Any) -> Any:
    """Say in other words what msgpack does not know."""
    if isinstance(value, tuple):
        return [_TUPLE, *cast("tuple[Any, ...]", value)]
    if isinstance(value, np.ndarray):
        return Ext(_ARRAY, pack(_array_payload(cast("npt.NDArray[Any]", value))))
    if isinstance(value, complex | np.complexfloating):
        number = complex(cast("complex", value))
        return Ext(_COMPLEX, struct.pack(">dd", number.real, number.imag))
    if isinstance(value, set | frozenset):
        return Ext(_SET, pack(list(cast("set[Any]", value))))
    for kind, plain in (
        (np.bool_, bool),
        (np.integer, int),
        (np.floating, float),
        (bool, bool),
        (int, int),
        (float, float),
        (str, str),
        (bytes, bytes),
        (dict, dict),
        (list, list),
    ):
        if isinstance(value, kind):
            return cast("Any", plain)(value)
    raise TypeError(f"metadata: a value of type {type(value).__name__} cannot be stored")


def _array_payload(array: npt.NDArray[Any]) -> dict[str, Any]:
    if array.dtype.hasobject:
        raise TypeError("metadata: an array of objects cannot be stored")
    dtype = {"str": array.dtype.str} if array.dtype.fields is None else {"descr": array.dtype.descr}
    return {"dtype": dtype, "shape": list(array.shape), "data": array.tobytes()}


def unpack(content: bytes) -> Any:
    """Return the value of some bytes. Raises CorruptError, UnsupportedError for what is refused."""
    return _unpack(content, 0)


def unpack_all(content: bytes) -> list[Any]:
    """Return the values that stand one behind the other in some bytes; raises as `unpack`."""
    return _read(partial(msgpack.unpack_all, content, partial(_decode, 0), _decode_list))


def _unpack(content: bytes, depth: int) -> Any:
    if depth > _DEPTH_MAX:
        raise CorruptError(f"metadata: values nested more than {_DEPTH_MAX} times")
    return _read(partial(msgpack.unpack, content, partial(_decode, depth), _decode_list))


def _read(reader: Callable[[], Any]) -> Any:
    try:
        # The lengths that msgpack accepts are bounded by that of the bytes.
        return reader()
    except (ValueError, TypeError, LookupError, struct.error, RecursionError) as error:
        raise CorruptError(f"metadata: not a msgpack value: {error!r}") from error


def _decode_list(items: list[Any]) -> Any:
    return tuple(items[1:]) if items and isinstance(items[0], str) and items[0] == _TUPLE else items


def _decode(depth: int, code: int, data: bytes) -> Any:
    if code == _COMPLEX:
        return complex(*struct.unpack(">dd", data))
    if code == _SET:
        return set(_unpack(data, depth + 1))
    if code == _ARRAY:
        return _array(_unpack(data, depth + 1))
    what = _REFUSED.get(code, "of a kind that this version does not know")
    raise UnsupportedError(f"metadata: extension {code}, {what}, is not read")


def _array(payload: Any) -> npt.NDArray[Any]:
    if not isinstance(payload, dict):
        raise ValueError("an array that is not a map")
    fields = cast("dict[str, Any]", payload)
    shape = tuple(fields["shape"])
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"an array of shape {shape}")
    if "values" in fields:
        values = list(fields["values"])
        items: npt.NDArray[Any] = np.empty(len(values), object)
        items[:] = values
        return items.reshape(shape)
    dtype = dtype_of(fields["dtype"])
    data = fields["data"]
    if dtype.hasobject or not isinstance(data, bytes) or prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"an array of shape {shape} of {dtype}")
    return np.frombuffer(data, dtype).reshape(shape).copy() if data else np.empty(shape, dtype)


def dtype_of(described: Any) -> np.dtype[Any]:
    """Return the dtype that a map with "str" or "descr" describes. Raises ValueError, TypeError, KeyError."""
    if "str" in described:
        return known_dtype(str(described["str"]))
    return np.lib.format.descr_to_dtype(_tuples(described["descr"]))


def _tuples(descr: Any) -> Any:
    """Each field of a list of fields is a tuple, which msgpack has only by a convention that not all keep."""
    if not isinstance(descr, list):
        # NumPy would take more texts than files have, and runs a parser on some.
        return known_dtype(descr).str if isinstance(descr, str) else descr
    fields: list[tuple[Any, ...]] = []
    for field in cast("list[Any]", descr):
        title_and_name, kind, *shape = field
        name = (
            tuple(cast("list[Any]", title_and_name)) if isinstance(title_and_name, list) else title_and_name
        )
        fields.append((name, _tuples(kind), *(tuple(n) for n in shape)))
    return fields
