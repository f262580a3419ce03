"""Parameters of conditions as the engine takes them.

In: values by their names: numbers, text, times, lists, arrays, columns and expressions. Out: numbers and text
of Python's as they are, and tuples that say what else is.
Invariant: no value becomes another one.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.casting import is_array, is_listed, is_of_pandas
from coquina.expressions import engine
from coquina.expressions.functions import as_node, cast_node
from coquina.expressions.nodes import Node
from coquina.tables.column_arrays import operand_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Values that the engine takes as they are.
_PLAIN = frozenset((bool, int, float, complex, str, bytes))
_LISTED = _PLAIN | {type(None)}
_SINGLE = np.dtype(np.float32)


def query_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of names as the engine takes them. Raises TypeError and UnsupportedError."""
    return {name: value if type(value) in _PLAIN else _param(value, name) for name, value in params.items()}


def _param(value: Any, name: str) -> Any:
    if type(value) in _PLAIN:
        return value
    if is_of_pandas(value):
        value = value.to_numpy()
    if is_listed(value):
        if _LISTED.issuperset(map(type, value)):
            return "list", list(value)
        return "list", [None if one is None else _param(one, name) for one in value]
    value = operand_of(value)
    if hasattr(value, "query_column"):
        return "column", value.query_column()
    if isinstance(value, np.str_ | np.bytes_ | np.bool_):
        return cast("Any", value).item()
    if isinstance(value, datetime):
        value = np.datetime64(value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value, "us")
    elif isinstance(value, date):
        value = np.datetime64(value, "D")
    elif isinstance(value, timedelta):
        value = np.timedelta64(value, "us")
    if isinstance(value, Node):
        return _rows(value)
    if isinstance(value, np.generic) or (is_array(value) and not value.ndim):
        return _number(np.asarray(cast("Any", value)))
    if is_array(value) and value.dtype.kind in "OT":
        return _param(np.array(value.tolist()) if value.dtype.kind == "T" else value.tolist(), name)
    if is_array(value) and value.ndim == 1:
        return _array(value, name)
    node = as_node(value)
    raise ValueError(f"{name!r} has shape {node.shape}: one value, or one for each row")


def _number(value: Any) -> Any:
    if value.dtype.kind in "SU":
        return value.item()
    items = value.astype(value.dtype.newbyteorder("="))
    if items.dtype.kind in "mM":
        if np.datetime_data(items.dtype)[0] == "generic":
            if not np.isnat(items):
                raise TypeError(f"{value!r} has no unit")
            items = items.astype(f"{items.dtype.kind}8[s]")
        return "time", items.dtype.name, int(items.astype(np.int64))
    if items.dtype == np.float16:
        items = items.astype(_SINGLE)
    return "number", items.dtype.name, items.tobytes()


def _array(values: Any, name: str) -> Any:
    if values.dtype.kind not in "biufcmMSU":
        raise TypeError(f"{name!r} is an array of {values.dtype}, which conditions do not take")
    items = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if items.dtype.kind in "SU":
        kind = "bytes" if items.dtype.kind == "S" else "points"
        return "column", (name, kind, "", [_core.lazy_memory(items)], None, None)
    name = items.dtype.name
    if items.dtype == np.float16:
        items = items.astype(_SINGLE)
    return "rows", name, _core.lazy_memory(items.view(np.int64) if items.dtype.kind in "mM" else items)


def _rows(node: Node) -> Any:
    dtype = node.dtype.newbyteorder("=")
    if len(node.shape) != 1 or dtype.kind not in "biufcmM":
        raise TypeError(f"a parameter of {dtype}, shape {node.shape}, which conditions do not take")
    lazy = engine.lower(cast_node(node, _SINGLE) if dtype == np.float16 else node)
    return "rows", dtype.name, lazy


__all__ = ["query_params"]
