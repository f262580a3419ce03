"""Items that differ: of arrays, of columns and of attributes, with where they are and by how much.

In: parts of two sources, and tolerances. Out: masks of what differs, and `Difference`, which sums parts up.
Invariant: NaN equals NaN, NaT equals NaT, and what is missing equals what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

_NUMBERS = "biufc"
_FIRST = 5


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far numbers may be from each other: at most `atol + rtol * abs(b)`, as in `numpy.isclose`."""

    rtol: float = 0.0
    atol: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether numbers must be equal."""
        return not self.rtol and not self.atol


EXACT = Tolerance()


@dataclass(slots=True)
class Difference:
    """What differs in items of the same shape. first: some places with both values, in order."""

    count: int = 0
    total: int = 0
    first: list[tuple[tuple[int, ...], Any, Any]] = field(
        default_factory=list[tuple[tuple[int, ...], Any, Any]]
    )
    largest: tuple[float, tuple[int, ...]] | None = None

    def add(self, start: tuple[int, ...], a: Any, b: Any, tolerance: Tolerance) -> None:
        """Count a part of both that begins at `start`."""
        self.total += a.size
        mask = differing(a, b, tolerance)
        found = int(np.count_nonzero(mask))
        if not found:
            return
        self.count += found
        flat = np.flatnonzero(mask)
        for at in cast("list[int]", flat[: _FIRST - len(self.first)].tolist()):
            place = _moved((0,) * a.ndim, np.unravel_index(at, a.shape))
            self.first.append((_moved(start, place), a[place], b[place]))
        if a.dtype.kind in _NUMBERS and b.dtype.kind in _NUMBERS:
            gaps = _distance(np.ravel(a)[flat], np.ravel(b)[flat])
            at = int(np.argmax(np.where(np.isnan(gaps), np.inf, gaps)))
            if self.largest is None or not gaps[at] <= self.largest[0]:
                self.largest = float(gaps[at]), _moved(start, np.unravel_index(flat[at], a.shape))


def _moved(start: tuple[int, ...], place: Any) -> tuple[int, ...]:
    return tuple(int(low) + int(at) for low, at in zip(start, place, strict=True))


def are_comparable(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Whether values of two dtypes can be equal: numbers with numbers, text with text, records by fields."""
    if a.names is not None or b.names is not None:
        return a.names == b.names and all(are_comparable(a[name], b[name]) for name in a.names or ())
    families = (_NUMBERS, "m", "M", "SUTO", "V")
    return any(a.base.kind in one and b.base.kind in one for one in families) and a.shape == b.shape


def differing(a: Any, b: Any, tolerance: Tolerance = EXACT) -> Any:
    """Return which items of two arrays of one shape differ, as truth values of that shape."""
    if np.ma.isMaskedArray(a) or np.ma.isMaskedArray(b):
        missing, other = np.ma.getmaskarray(a), np.ma.getmaskarray(b)
        if missing.dtype.names is None and other.dtype.names is None:
            values = differing(np.ma.getdata(a), np.ma.getdata(b), tolerance)
            return (missing != other) | (values & ~missing & ~other)
        a, b = np.ma.getdata(a), np.ma.getdata(b)
    if not are_comparable(a.dtype, b.dtype):
        return np.ones(a.shape, bool)
    if a.dtype.names is not None:
        found = np.zeros(a.shape, bool)
        for name in a.dtype.names:
            field = differing(a[name], b[name], tolerance)
            found |= field.reshape((*a.shape, -1)).any(axis=-1)
        return found
    kinds = a.dtype.kind + b.dtype.kind
    if a.dtype.kind in _NUMBERS:
        return _numbers_differ(a, b, tolerance)
    if kinds in ("mm", "MM"):
        return (a != b) & ~(np.isnat(a) & np.isnat(b))
    if kinds in ("SS", "UU", "VV"):
        return a != b
    pairs = zip(a.astype(object).flat, b.astype(object).flat, strict=True)
    return np.fromiter((not are_same(*pair, tolerance) for pair in pairs), bool, a.size).reshape(a.shape)


def _numbers_differ(a: Any, b: Any, tolerance: Tolerance) -> Any:
    found = a != b
    if not found.any():
        return found
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        found &= ~(np.isnan(a) & np.isnan(b))
    if not tolerance.is_exact:
        with np.errstate(all="ignore"):
            bound = tolerance.atol + tolerance.rtol * np.abs(b.astype("c16" if b.dtype.kind == "c" else "f8"))
            found &= ~((_distance(a, b) <= bound) & np.isfinite(a) & np.isfinite(b))
    return found


def _distance(a: Any, b: Any) -> Any:
    """Return how far numbers are from each other, without overflows."""
    wide = np.result_type(a, b)
    if wide.kind in "iu":
        # The difference of the greater and the lesser one, modulo 2**64, is right for all integers.
        high, low = np.maximum(a, b).astype(wide), np.minimum(a, b).astype(wide)
        return (high.astype("u8") - low.astype("u8")).astype("f8")
    kind = "c16" if wide.kind == "c" else "f8"
    with np.errstate(all="ignore"):
        return np.abs(a.astype(kind) - b.astype(kind))


def are_same(a: Any, b: Any, tolerance: Tolerance = EXACT) -> bool:
    """Whether two values are equal: of attributes, and items that are objects."""
    if a is None or b is None or type(a).__name__ == "Empty" or type(b).__name__ == "Empty":
        return type(a) is type(b)
    if isinstance(a, bytes) != isinstance(b, bytes) and isinstance(a, bytes | str):
        a, b = (one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one for one in (a, b))
    if isinstance(a, str) and isinstance(b, str):
        return str(a) == str(b)
    if isinstance(a, dict) and isinstance(b, dict):
        one, other = cast("dict[Any, Any]", a), cast("dict[Any, Any]", b)
        return one.keys() == other.keys() and all(are_same(one[key], other[key], tolerance) for key in one)
    try:
        values, others = np.asarray(a), np.asarray(b)
    except ValueError:  # lists of lists of several lengths
        return bool(a == b)
    if values.shape != others.shape:
        return False
    if values.dtype.kind == "O" and not values.shape:
        return bool(a == b)
    return not differing(values, others, tolerance).any()
