"""Attributes as the command shows them: their values in JSON, and short ones for people.

In: attributes of an array, a table, a group, of h5py too. Out: values by name; lines that line up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import CoquinaError
from coquina.arrays.aligning import aligned
from coquina.cli.table_text import values_json
from coquina.cli.terminal import cell
from coquina.hdf5.references import described
from coquina.hdf5.untyped import h5py
from coquina.tables.user_attributes import user_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A value is no longer on a line, and an array of more items is told of by its shape.
_WIDTH = 60
_ITEMS = 8


def values(attrs: Mapping[str, Any], h5: Any = None) -> dict[str, Any]:
    """Return the values by name; of one that cannot be read, why.

    h5: the object of h5py that has them, so that references are told by the paths that they refer to.
    """
    found: dict[str, Any] = {}
    for name in attrs:
        try:
            value = attrs[name]
            if isinstance(value, h5py.Empty):
                # Without items: PyTables has empty text so.
                value = "" if value.dtype.kind in "SO" else None
            found[name] = value if h5 is None else described(value, h5)
        except (CoquinaError, OSError, TypeError, ValueError, RuntimeError) as error:
            found[name] = f"({error})"
    return found


def of_table(table: Any) -> dict[str, Any]:
    """Return the attributes that people gave a table, and not those that say how it is stored."""
    return user_attributes(table)


def document(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as JSON has them."""
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        inner = cast("dict[Any, Any]", value)
        return {str(key): _plain(one) for key, one in inner.items()}
    if not isinstance(value, np.ndarray):
        return values_json(value)
    array = cast("Any", value)
    if array.dtype.names is not None:
        return str(array)
    return [_plain(one) for one in array.ravel()] if array.dtype.kind == "O" else values_json(array)


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return a line for each attribute: its name and its value."""
    return aligned([[cell(name), _short(value)] for name, value in found.items()]) if found else []


def _short(value: Any) -> str:
    """Return a value on one line; an array of many items as dtype and shape."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, np.ndarray) and np.size(cast("Any", value)) > _ITEMS:
        array = cast("Any", value)
        return f"{array.dtype} {array.shape}"
    value = cast("Any", value)
    text = repr(str(value)) if isinstance(value, str) else " ".join(str(value).split())
    return cell(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}...")
