"""Ranges of an index' keys that comparisons ask for.

In: a comparison with a constant, or constants. Out: `Wanted`: keys, and what of the rows that have none.
Source: NumPy's comparisons. Where operands are cast, a boundary is looked for by the comparison itself, which
    holds up to a key, or from a key on.
Invariant: rows that meet the condition are among those that are wanted.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import KeyRanges, Wanted
from coquina.expressions.functions import cast_items, quietly
from coquina.indexes.keys import PREFIX_BYTES, key_max, key_of, keys_of, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    Keys = npt.NDArray[np.uint64]
    Holds = Callable[[Keys], npt.NDArray[np.bool_]]

_NAT = np.iinfo(np.int64).min
_NOTHING = KeyRanges.of()
#: Comparisons by the order of values, and whether they hold for smaller values.
_IS_BELOW = {"less": True, "less_equal": True, "greater": False, "greater_equal": False}
COMPARISONS = frozenset((*_IS_BELOW, "equal", "not_equal"))
#: Keys that are tried at once where a boundary is looked for.
_TRIED = 256


@cache
def domain_of(kind: str) -> tuple[int, int]:
    """Return the least and the greatest key that values of a kind have."""
    if kind in ("float32", "float64"):
        low, high = keys_of(np.array([-np.inf, np.inf], kind), kind)[0].tolist()
        return low, high
    return (1 if kind == "time" else 0), key_max(kind)


def is_monotone(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether a cast keeps the order of values."""
    if source.kind == "f":
        return target.kind == "f"
    return source.kind in "biu" and (target.kind == "f" or np.can_cast(source, target, "safe"))


def compared(
    op: str, kind: str, dtype: np.dtype[Any], casts: Sequence[np.dtype[Any]], constant: npt.NDArray[Any]
) -> Wanted | None:
    """Return what a comparison of a value with a constant asks for.

    kind: of the keys. dtype: of the value, as the condition sees it; casts: what it is cast to before it is
    compared. None where the order of values is not kept.
    """
    steps = [dtype, *casts]
    if not all(is_monotone(one, other) for one, other in pairwise(steps)):
        return None
    if op == "not_equal":
        found = compared("equal", kind, dtype, casts, constant)
        return None if found is None else ~found
    is_time = kind == "time"
    nan = is_time and dtype.kind == "i" and bool(getattr(np, op)(_NAT, constant))
    if _is_nan(constant):
        return Wanted.exactly(_NOTHING, nan=nan)
    low, high = domain_of(kind)
    if not casts and constant.dtype == dtype:
        found = _ranges_at(op, key_of(constant, kind), low, high)
    else:
        found = _searched(op, kind, dtype, casts, constant)
    return Wanted.exactly(found, nan=nan)


def _is_nan(value: npt.NDArray[Any]) -> bool:
    """Whether a constant is NaN or NaT."""
    kind = value.dtype.kind
    return bool(np.isnan(value)) if kind == "f" else kind in "mM" and bool(np.isnat(value))


def _ranges_at(op: str, key: int, low: int, high: int) -> KeyRanges:
    """Return the keys that compare so with one."""
    first, last = {
        "equal": (key, key),
        "less": (low, key - 1),
        "less_equal": (low, key),
        "greater": (key + 1, high),
        "greater_equal": (key, high),
    }[op]
    return KeyRanges.of((max(first, low), min(last, high)))


def _searched(
    op: str, kind: str, dtype: np.dtype[Any], casts: Sequence[np.dtype[Any]], constant: npt.NDArray[Any]
) -> KeyRanges:
    """Return the keys of values that compare so with a constant, after they were cast."""
    if op == "equal":
        most = _searched("less_equal", kind, dtype, casts, constant)
        return most & _searched("greater_equal", kind, dtype, casts, constant)
    compare, is_below = getattr(np, op), _IS_BELOW[op]

    def is_low(keys: Keys) -> npt.NDArray[np.bool_]:
        values = values_of(keys, kind, dtype)
        for cast in casts:
            values = cast_items(values, cast)
        return compare(values, constant) == is_below

    low, high = domain_of(kind)
    end = quietly(_boundary, is_low, _guess(kind, constant, low, high), low, high)
    return KeyRanges.of((low, end - 1)) if is_below else KeyRanges.of((end, high))


def _guess(kind: str, constant: npt.NDArray[Any], low: int, high: int) -> int:
    """Return the key of a value that is near to a constant."""
    if kind == "bool":
        return int(bool(constant))
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        near: npt.NDArray[Any] = np.asarray(constant, dtype)
        return int(keys_of(near.reshape(1), kind)[0][0])
    if constant.dtype.kind == "f" and np.isinf(constant):
        return high if constant > 0 else low
    limits = np.iinfo(dtype)
    whole = min(max(int(constant), int(limits.min)), int(limits.max))
    return int(keys_of(np.array([whole], dtype), kind)[0][0])


def _boundary(is_low: Holds, guess: int, low: int, high: int) -> int:
    """Return the first key, from `low` on, that is not low; `high + 1` if there is none."""
    near = np.array([one for one in range(guess - 2, guess + 3) if low <= one <= high], np.uint64)
    found = is_low(near)
    count = int(np.count_nonzero(found))
    if 0 < count < len(near):
        return int(near[count])
    # Everything up to `first` is low, nothing from `last` on is.
    first, last = (int(near[-1]), high + 1) if count else (low - 1, int(near[0]))
    while last - first > 1:
        step = max(1, (last - first) // _TRIED)
        tried = range(first + step, last, step)
        count = int(np.count_nonzero(is_low(np.array(tried, np.uint64))))
        first, last = (
            tried[count - 1] if count else first,
            tried[count] if count < len(tried) else last,
        )
    return last


def text_keys(op: str, constant: bytes, width: int) -> Wanted:
    """Return what asks for text that compares so with a constant, or starts with it.

    constant: as UTF-8. width: bytes of a text at most; 0 for any number. "S" and "U": zeros at the end of
    the constant do not count, and were removed.
    """
    key = int.from_bytes(constant[:PREFIX_BYTES].ljust(PREFIX_BYTES, b"\0"), "big")
    if op == "startswith":
        return _starting(constant, key, width)
    if op == "not_equal":
        return ~text_keys("equal", constant, width)
    below, above = KeyRanges.of((0, key - 1)), KeyRanges.of((key + 1, key_max("text")))
    base = _NOTHING if op == "equal" else below if _IS_BELOW[op] else above
    here = _at_key(op, constant, width)
    if here is False:
        return Wanted.exactly(base)
    more = base | KeyRanges.of((key, key))
    return Wanted.exactly(more) if here else Wanted(base, more, False, None)


def _at_key(op: str, constant: bytes, width: int) -> bool | None:
    """Whether texts that begin as a constant does, as far as keys go, compare so with it; None: some."""
    is_short = len(constant) <= PREFIX_BYTES
    if 0 < width <= PREFIX_BYTES:
        # The key is all of the text: it is the constant, or the beginning of it.
        return op in (("equal", "less_equal", "greater_equal") if is_short else ("less", "less_equal"))
    if is_short and b"\0" not in constant:
        # It is the constant, or goes on.
        return {"less": False, "greater_equal": True}.get(op)
    return None


def _starting(constant: bytes, key: int, width: int) -> Wanted:
    if len(constant) > PREFIX_BYTES:
        return (
            Wanted.exactly(_NOTHING)
            if 0 < width < len(constant)
            else Wanted(_NOTHING, KeyRanges.of((key, key)), False, None)
        )
    rest = (1 << 8 * (PREFIX_BYTES - len(constant))) - 1
    found = KeyRanges.of((key, key | rest))
    return Wanted.exactly(found) if b"\0" not in constant else Wanted(_NOTHING, found, False, None)


def among_texts(constants: Iterable[bytes], width: int) -> Wanted:
    """Return what asks for text that is one of these."""
    raw = [one for one in constants if not 0 < width < len(one)]
    parts = b"".join([one[:PREFIX_BYTES].ljust(PREFIX_BYTES, b"\0") for one in raw])
    found = KeyRanges.points(np.frombuffer(parts, ">u8").astype(np.uint64))
    if not found or 0 < width <= PREFIX_BYTES:
        return Wanted.exactly(found)
    return Wanted(_NOTHING, found, False, None)


def text_of(constant: str | bytes, kind: str) -> bytes | None:
    """Return a constant as its keys are made: UTF-8, or the bytes of "S"; None where that is not clear."""
    if isinstance(constant, str):
        try:
            constant = constant.encode()
        except UnicodeEncodeError:
            return None
    return constant.rstrip(b"\0") if kind in ("S", "U") else constant
