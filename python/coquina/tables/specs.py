"""How columns are to be stored, by the dtypes and values that they are given.

In: dtypes and values of NumPy. Out: descriptions of columns, objects taken for what they are one by one.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_masked, is_missing, is_null
from coquina.tables.layout import ColumnSpec
from coquina.tables.time_values import as_times, kind_of_times, zone_of_times
from coquina.tables.value_kinds import are_values, kind_of_values
from coquina.tables.values import TEXT

if TYPE_CHECKING:
    from coquina.tables.layout import Schema


def schema_of(dtype: np.dtype[Any]) -> Schema:
    """Return the columns that the fields of a dtype are. Raises TypeError for one without fields."""
    if dtype.names is None:
        raise TypeError(f"dtype {dtype}: a table needs one with fields")
    return tuple(spec_of(name, dtype[name]) for name in dtype.names)


def spec_of(name: str, dtype: np.dtype[Any]) -> ColumnSpec:
    """Return the column that items of a dtype make; objects are taken for text."""
    base, shape = dtype.subdtype or (dtype, ())
    if base.names is not None:
        if shape:
            raise TypeError(f"column {name!r}: records with axes ({dtype}) are not stored in tables")
        return ColumnSpec(name, base, children=schema_of(base))
    if base.kind == "O":
        return ColumnSpec(name, TEXT, shape, nullable=True)
    if base.kind == "V":
        raise TypeError(f"column {name!r}: bytes without meaning ({dtype}) are not stored in tables")
    return ColumnSpec(name, base, shape)


def column_spec(name: str, values: Any) -> ColumnSpec:
    """Return the column that values make, by what they are: objects are looked at one by one."""
    has_mask = is_masked(values)
    array: Any = values if has_mask else np.asarray(values)
    dtype = cast("np.dtype[Any]", array.dtype)
    if array.ndim > 1:
        dtype = np.dtype((dtype, array.shape[1:]))
    if dtype.kind == "T":
        has_null = hasattr(dtype, "na_object")
        return ColumnSpec(name, TEXT, nullable=has_null or has_mask)
    if dtype.kind != "O":
        spec = spec_of(name, dtype)
        return ColumnSpec(name, spec.dtype, spec.shape, nullable=True) if has_mask else spec
    items = cast("list[Any]", array.reshape(-1).tolist())
    kinds: set[Any] = set(map(type, items)) - {NoneType}
    if kinds <= {str, np.str_}:
        return ColumnSpec(name, TEXT, nullable=any(one is None for one in array))
    there = [one for one in items if not is_missing(one)]
    found_spec = _of_text_or_times(name, there, any(kind.__name__ == "NaTType" for kind in kinds))
    if found_spec is not None:
        return found_spec
    has_null = any(map(is_null, array))
    if array.ndim == 1 and are_values(array):
        return ColumnSpec(name, np.dtype(object), nullable=has_null, values=_kind_of(name, array))
    found = np.asarray([one for one in array if not is_null(one)])
    if found.dtype.kind in "biufcSMm":
        return ColumnSpec(name, found.dtype, nullable=has_null and found.dtype.kind not in "fcMm")
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(
        f"column {name!r}: objects ({names}) are not stored in tables; "
        "numbers, text, dates, datetimes and timedeltas are"
    )


def _of_text_or_times(name: str, values: list[Any], has_nat: bool) -> ColumnSpec | None:
    """Return the column of objects, without those that are missing, if all are text or all are times.

    has_nat: some that are missing are pandas' NaT.
    """
    kinds: set[Any] = {type(one) for one in values}
    if kinds and kinds <= {str, np.str_}:
        return ColumnSpec(name, TEXT, nullable=True)
    letter = kind_of_times(kinds) or ("M" if has_nat and not values else None)
    if letter is None:
        return None
    what = f"column {name!r}"
    dtype = as_times(values, letter, what).dtype
    if np.datetime_data(dtype)[0] != "D":
        # Times of pandas have the unit that suffices, which may not for later rows.
        dtype = np.promote_types(dtype, np.dtype(f"{letter}8[us]"))
    return ColumnSpec(name, dtype, zone=zone_of_times(values, what))


def _kind_of(name: str, values: Any) -> dict[str, Any]:
    try:
        return kind_of_values(values)
    except TypeError as error:
        raise TypeError(f"column {name!r}: {error}") from None
