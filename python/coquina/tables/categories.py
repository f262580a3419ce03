"""Categories that grow: values that are none yet become some, and codes get wider when they run out.

In: values for a column of categories. Out: the column, with categories for all of them.
Invariant: a category is stored before any code of it, and keeps its code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_missing
from coquina.tables.column_encodings import make_codes, put_categories
from coquina.tables.columns import CategoricalColumn, Column, Stored
from coquina.tables.stored_columns import StoredColumn
from coquina.tables.values import TEXT, Coded, Utf8

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.homes import Home

_ROWS = 1 << 20


def new_values(column: Column, values: Any) -> list[Any]:
    """Return those of some values that are no categories of a column yet, each once, in their order.

    Of values that have categories, all those count. Raises ValueError if the column's are ordered, and the
    new ones do not simply come behind them.
    """
    if not isinstance(column, CategoricalColumn):
        return []
    known = set(column.categories.tolist())
    given = _distinct(column, values)
    new = [one for one in given if one not in known and not is_missing(one)]
    if new and column.ordered:
        if not isinstance(values, Coded):
            raise ValueError(f"{column.described()}: {new[0]!r} is not one of its ordered categories")
        places = {one: at for at, one in enumerate([*column.categories.tolist(), *new])}
        order = [places[one] for one in given]
        if order != sorted(order):
            raise ValueError(f"{column.described()}: the categories {given} come in another order")
    return new


def _distinct(column: CategoricalColumn, values: Any) -> list[Any]:
    if isinstance(values, Coded):
        values = values.categories
    elif isinstance(values, np.ma.MaskedArray):
        values = cast("Any", values).compressed()
    elif isinstance(values, Utf8):
        values = values.tolist()
    is_text = column.text_kind is not None
    array: Any = values
    if isinstance(values, np.ndarray) and array.dtype.kind != "O":
        if not is_text and array.dtype.kind in "biufmM" and array.dtype != column.dtype:
            array = array.astype(column.dtype)
        values = array.tolist()
    found = dict.fromkeys(cast("Any", values))
    return list(dict.fromkeys(one.decode() if isinstance(one, bytes) and is_text else one for one in found))


def fits(home: Home, column: StoredColumn, new: list[Any]) -> bool:
    """Whether more categories are put behind those that are there, and nothing is moved for them."""
    known = cast("CategoricalColumn", column.column)
    if known.text_kind and not home.takes_texts(f"{column.path}/categories", new):
        return False
    return _are_wide(column, len(new))


def _are_wide(column: StoredColumn, count: int) -> bool:
    """Whether the codes can tell so many more categories."""
    codes, known = column.arrays[0], cast("CategoricalColumn", column.column).categories
    return len(known) + count <= np.iinfo(codes.dtype).max


def widen(home: Home, column: StoredColumn, count: int, storage: Storage) -> StoredColumn:
    """Return a column whose codes can tell so many more categories: if need be they are written again."""
    if _are_wide(column, count):
        return column
    known = cast("CategoricalColumn", column.column)
    old, path = column.arrays[0], f"{column.path}/codes"
    new = make_codes(home, f"{path}~", column.spec, len(known.categories) + count, storage)
    for start in range(0, old.shape[0], _ROWS):
        new.append(old[start : start + _ROWS].astype(new.dtype))
    home.remove(path)
    home.move(f"{path}~", path)
    return _of(column, known, known.categories.tolist(), new)


def extended(home: Home, column: StoredColumn, new: list[Any], storage: Storage) -> StoredColumn:
    """Return a column with more categories."""
    known = cast("CategoricalColumn", column.column)
    categories = [*known.categories.tolist(), *new]
    put_categories(home, column.path, column.spec, categories, storage)
    return _of(column, known, categories, column.arrays[0])


def _of(column: StoredColumn, old: CategoricalColumn, categories: list[Any], codes: Array) -> StoredColumn:
    shown: Any = TEXT if old.text_kind else old.dtype
    values: Any = np.array(categories, shown)
    made = CategoricalColumn(old.name, Stored(codes, codes.dtype), values, old.ordered)
    listed = tuple(values) if values.dtype.kind in "mM" else tuple(values.tolist())
    return StoredColumn(column.path, replace(column.spec, categories=listed), made, [codes])
