"""Keys of values in plain NumPy: the judge of those that the engine makes.

In: values of one kind. Out: keys, and which values have none: NaN, NaT, what is masked or None.
Source: docs/formats/indexes.md, "Keys".
Invariant: of two values that compare as less the keys are less, or equal where a kind is not exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_masked, mask_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Keys = npt.NDArray[np.uint64]
    Bools = npt.NDArray[np.bool_]

#: Bytes of a text that are its key.
PREFIX_BYTES = 8
_NAT = np.iinfo(np.int64).min


def keys_of(values: Any, kind: str) -> tuple[Keys, Bools]:
    """Return the keys of values, and which of them have none; theirs mean nothing.

    values: an array of the kind's dtype (or one that casts to it), masked or not; text also as a list of str,
        bytes and None.
    """
    mask = mask_of(values) if is_masked(values) else None
    given: Any = values if mask is None else values.data
    if kind in ("S", "U", "text"):
        keys, missing = _prefixes(given, kind)
    else:
        keys, missing = _numbers(np.asarray(given), kind)
    return keys, missing if mask is None else missing | mask


def _numbers(values: npt.NDArray[Any], kind: str) -> tuple[Keys, Bools]:
    nothing = np.zeros(len(values), np.bool_)
    if kind == "bool":
        return values.astype(np.bool_).astype(np.uint64), nothing
    if kind == "time":
        items = values.view(np.int64) if values.dtype.kind in "mM" else values.astype(np.int64, copy=False)
        return _signed(items), items == _NAT
    dtype = np.dtype(kind)
    items = np.ascontiguousarray(values, dtype)
    if dtype.kind == "u":
        return items.astype(np.uint64), nothing
    if dtype.kind == "i":
        return _signed(items), nothing
    sign: Any = np.dtype(f"u{dtype.itemsize}").type(1 << (8 * dtype.itemsize - 1))
    # The two zeros are equal: their sum is the positive one.
    with np.errstate(invalid="ignore"):
        bits: npt.NDArray[Any] = (items + dtype.type(0)).view(f"u{dtype.itemsize}")
    found: npt.NDArray[Any] = np.where(bits & sign, ~bits, bits ^ sign)
    return found.astype(np.uint64), np.isnan(items)


def _signed(items: npt.NDArray[Any]) -> Keys:
    unsigned: Any = np.ascontiguousarray(items).view(f"u{items.dtype.itemsize}")
    return (unsigned ^ unsigned.dtype.type(1 << (8 * items.dtype.itemsize - 1))).astype(np.uint64)


def _prefixes(values: Any, kind: str) -> tuple[Keys, Bools]:
    is_listed = isinstance(values, list)
    if kind == "S" and not is_listed and values.dtype.kind == "S":
        items: Any = np.ascontiguousarray(values, f"S{PREFIX_BYTES}")
        return items.view(">u8").astype(np.uint64), np.zeros(len(items), np.bool_)
    texts: list[Any] = cast("list[Any]", values) if is_listed else values.tolist()
    missing = np.array([one is None or one != one for one in texts], np.bool_)
    raw = [b"" if is_none else prefix_of(one) for one, is_none in zip(texts, missing, strict=True)]
    joined = b"".join([one.ljust(PREFIX_BYTES, b"\0") for one in raw])
    return np.frombuffer(joined, ">u8").astype(np.uint64), missing


def prefix_of(text: str | bytes) -> bytes:
    """Return the bytes of a text that its key is made of, without padding."""
    raw = text if isinstance(text, bytes) else text[:PREFIX_BYTES].encode("utf-8", "surrogatepass")
    return raw[:PREFIX_BYTES]
