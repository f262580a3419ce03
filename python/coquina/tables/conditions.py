"""Conditions on rows as text: `"(price > 10) & (sym == 'A')"`.

In: text, hostile for all we know, columns by their paths, and parameters. Out: a bool for each row, a node.
Source: Python's grammar as `coquina.expr` reads it, and what PyTables' conditions add to it.
Invariant: nothing of the text is run, no variables of the caller are looked at. A comparison with what is
    missing is false, and truth is of two values: `not` makes it true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.expressions.nodes import Constant, Node
from coquina.tables.column import Column
from coquina.tables.condition_reader import ConditionReader
from coquina.tables.condition_templates import Templates
from coquina.tables.condition_values import Masked, as_truth, lowered
from coquina.tables.predicates import filled

if TYPE_CHECKING:
    from collections.abc import Mapping


_F8 = np.dtype(np.float64)
#: Parameters that are what they are.
_LASTING = frozenset((bool, int, float, str, bytes))
_KNOWN_MAX = 64


class KnownConditions:
    """The nodes of texts that were read: the same until the table has other columns, or other rows."""

    __slots__ = ("_known", "_templates")

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: tuple[object, int, dict[Any, Node]] = (None, 0, {})
        self._templates = Templates({})

    def node(self, text: str, columns: Mapping[str, Column], params: Mapping[str, Any] | None) -> Node:
        """Return `condition` of these."""
        key = _key_of(text, params) if params else text
        if key is None:
            return condition(text, columns, params)
        rows = len(next(iter(columns.values()))) if columns else 0
        known = self._known
        if known[0] is not columns or known[1] != rows:
            if known[0] is not columns:
                self._templates = Templates(columns)
            known = self._known = (columns, rows, {})
        node = known[2].get(key)
        if node is None:
            node = condition(text, columns, params) if params else self._read(text, columns)
            if len(known[2]) >= _KNOWN_MAX:
                known[2].clear()
            known[2][key] = node
        return node

    def _read(self, text: str, columns: Mapping[str, Column]) -> Node:
        """Return the condition of a text without parameters."""
        known = self._templates.node(text)
        if known is not None:
            return as_condition(known, columns)
        node = condition(text, columns)
        self._templates.told(text)
        return node


def _key_of(text: str, params: Mapping[str, Any]) -> Any:
    """Return what tells conditions apart; None where parameters are something that can change."""
    if any(type(value) not in _LASTING for value in params.values()):
        return None
    # 1, 1.0 and True are equal, as are the two zeros, and are not the same.
    return text, *[(name, type(value), repr(value)) for name, value in params.items()]


def condition(text: str, columns: Mapping[str, Column], params: Mapping[str, Any] | None = None) -> Node:
    """Return the condition that `text` says, a bool for each row.

    text: names of columns (`info.x` for nested ones, `col("my name")` for any, `pos[0]` for one of several
        values), constants, Python's operators (`&`, `|`, `~` and `and`, `or`, `not`; comparisons chain),
        NumPy's functions of items, `x in (1, 2)`, `x is null`, `startswith(s, "a")`.
    params: values by name: numbers, strings, dates, arrays of one item for each row, lists for `in`.

    Raises ExpressionError, a ValueError, for what is no condition; TypeError and ValueError for values that
    do not fit, with a note of the place.
    """
    reader = ConditionReader(_text(text), dict(columns), dict(params or {}))
    return as_condition(reader.read(), columns)


def expression(text: str, columns: Mapping[str, Column], params: Mapping[str, Any] | None = None) -> Node:
    """Return the values that `text` says, one for each row: NaN where one is missing."""
    value = ConditionReader(_text(text), dict(columns), dict(params or {})).read()
    count = rows_of(columns)
    if isinstance(value, Column):
        value.check_scalar()
        return value.node()
    if isinstance(value, Masked):
        if value.node.dtype.kind == "b":
            return as_truth(value)
        node = cast_node(value.node, _F8) if value.node.dtype.kind in "iu" else value.node
        missing = np.array("NaT" if node.dtype.kind in "mM" else np.nan, node.dtype)
        return call(FUNCTIONS["where"], value.nulls, missing, node)
    node = as_node(value)
    return filled(node.value[()], count) if isinstance(node, Constant) else _of_rows(node, count)


def as_condition(value: Any, columns: Mapping[str, Column]) -> Node:
    """Return a value, an expression or an array of bool as a condition. Raises TypeError and ValueError."""
    count = rows_of(columns)
    if isinstance(value, Column):
        value.check_scalar()
        if value.dtype != np.bool_:
            raise TypeError(f"{value.described()} is no condition: {value.name} > 0 would be one")
    if isinstance(value, bool | np.bool_):
        return filled(bool(cast("Any", value)), count)
    node = lowered(value)
    node = as_truth(node) if isinstance(node, Masked) else as_node(node)
    if node.dtype != np.bool_:
        raise TypeError(f"a condition gives bool for each row, not {node.dtype}")
    return filled(bool(node.value), count) if isinstance(node, Constant) else _of_rows(node, count)


def rows_of(columns: Mapping[str, Column]) -> int:
    """Return how many rows the columns have; 0 if there are none."""
    return min([len(column) for column in columns.values()], default=0)


def _of_rows(node: Node, count: int) -> Node:
    if node.shape != (count,):
        raise ValueError(f"shape {node.shape}, where one value for each of {count} rows is wanted")
    return node


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a condition is text, not a {type(text).__name__}")
    return text
