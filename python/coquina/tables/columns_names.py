"""What the attributes of a columns table say: the order of its columns, and how new ones are stored.

In: a home. Out: names, checked.
Source: anndata, on-disk format, "dataframes"; docs/formats/columns.md.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.storage_options import Storage
from coquina.tables.column_storage import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coquina.tables.homes import Home

_TYPE, _VERSION = "encoding-type", "encoding-version"
_DATAFRAME = ("dataframe", "0.2.0")
_ORDER, _INDEX, _STORAGE, _TITLE = "column-order", "_index", "coquina", "title"


def is_columns(place: Any) -> bool:
    """Whether a group, of ours or of h5py's, or a home is marked as a table of columns."""
    return text(place.attrs.get(_TYPE)) == _DATAFRAME[0] and _ORDER in place.attrs


def check_table(home: Home) -> None:
    """Raise UnsupportedError if a home is not a table of columns."""
    if not is_columns(home):
        found = home.attrs.get(_TYPE)
        what = "it is a group" if found is None else f"its encoding is {found!r}"
        raise UnsupportedError(f"{home.name}: not a table of columns; {what}")


def put_table(home: Home, storage: Storage, title: str) -> None:
    """Mark a home as a table of columns."""
    home.put_marks("", dict(zip((_TYPE, _VERSION), _DATAFRAME, strict=True)))
    home.attrs[_STORAGE] = json.dumps(to_json(storage))
    if title:
        home.attrs[_TITLE] = title


def storage_of(home: Home, rows: int) -> Storage:
    """Return how new columns are stored; by the number of rows if nothing says it."""
    try:
        stored = json.loads(text(home.attrs.get(_STORAGE)) or "null")
    except (ValueError, RecursionError):
        stored = None
    return from_json(stored, rows)


def order_of(home: Home) -> tuple[list[str], str | None]:
    """Return the columns in order, and the one that pandas takes for the index."""
    order: Any = home.attrs.get(_ORDER)
    order = [] if order is None else np.asarray(order).reshape(-1).tolist()
    # A path from the root on would lead out of the table.
    names = [name for name in map(text, order) if name and not name.startswith("/")]
    return list(dict.fromkeys(names)), text(home.attrs.get(_INDEX))


def names_of(home: Home) -> list[str]:
    """Return all columns in order; an index of its own is the first."""
    order, index = order_of(home)
    return order if index is None or index in order or home.kind(index) is None else [index, *order]


def put_order(home: Home, order: Sequence[str], index: str | None) -> None:
    """Say which columns there are, and which one pandas is to take for the index."""
    home.put_marks("", {_ORDER: list(order)})
    home.attrs[_INDEX] = order[0] if index is None else index


def check_name(name: str, taken: Sequence[str]) -> None:
    """Raise ValueError for a name that a column cannot have."""
    if not name or name in (".", "..", _INDEX) or "/" in name or "\0" in name:
        raise ValueError(f"a column cannot be called {name!r}: no '/', not '.', not {_INDEX!r}, not empty")
    if name in taken:
        raise ValueError(f"there is a column {name!r} already")


def text(value: Any) -> str | None:
    """Return an attribute as text, None if it is none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, str) else None
