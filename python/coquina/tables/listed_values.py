"""Many values that stand behind `in`, as one array: those of one type need no look at each.

In: a list, a set, a tuple or an array. Out: an array of the same values; None where they differ in type.
Invariant: no value becomes another one.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

_PYTHON = {
    int: "i8",
    float: "f8",
    complex: "c16",
    bool: "?",
    datetime: "M8[us]",
    date: "M8[D]",
    timedelta: "m8[us]",
}


def listed(values: Iterable[Any]) -> Any:
    """Return values that can be looked at more than once: an array as it is, anything else as a list."""
    return values if is_array(values) or isinstance(values, list) else list(values)


def texts_in(values: Iterable[Any]) -> list[Any]:
    """Return values as a list, of which the items of arrays are Python's."""
    found: Any = listed(values)
    return found.tolist() if is_array(found) else found


def types_in(values: Any) -> set[type[Any]]:
    """Return the types of values; none of an array, which are numbers, times or text of NumPy."""
    return set() if is_array(values) and values.dtype.kind not in "OT" else set(map(type, values))


def uniform(values: Any) -> npt.NDArray[Any] | None:
    """Return numbers or times of one type as an array of one axis; None for others."""
    if is_array(values):
        return values.reshape(-1) if values.dtype.kind in "biufcmM" else None
    types = types_in(values)
    if len(types) != 1:
        return None
    found: Any = types.pop()
    items: list[Any] = list(values)
    dtype: Any = _PYTHON.get(found)
    if found is datetime and any(one.tzinfo is not None for one in items):
        return None
    if dtype is None and issubclass(found, np.datetime64 | np.timedelta64):
        dtypes: list[Any] = list({one.dtype for one in items})
        dtype = dtypes[0] if len(dtypes) == 1 else None
    elif dtype is None and issubclass(found, np.number | np.bool_):
        dtype = np.dtype(cast("Any", found))
    try:
        return None if dtype is None else np.array(items, dtype)
    except OverflowError:
        return None
