"""Conditions on rows as text: `"(price > 10) & (sym == 'A')"`.

In: text, hostile for all we know, columns by their paths, and parameters. Out: a bool for each row, a node.
Source: Python's grammar as the engine reads it, NumPy's functions, and what PyTables' conditions add to it.
Invariant: nothing of the text is run, no variables of the caller are looked at. A comparison with what is
    missing is false, and truth is of two values: `not` makes it true.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import QueryColumns, UnsupportedError
from coquina.expressions import engine
from coquina.expressions.functions import as_node
from coquina.expressions.grammar import ExpressionError
from coquina.expressions.nodes import Constant, Node
from coquina.expressions.text import Reader
from coquina.tables.column import Column
from coquina.tables.elsewhere import computed, source_node
from coquina.tables.predicates import filled, where_valid, with_nan
from coquina.tables.query_params import query_params

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Lazy
    from coquina.tables.layout import Layout


#: Text in quotes, which stays as it is, or a column that is compared with null.
_IS_NULL = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.])(?P<name>[^\W\d][\w.]*)\s+is\s+(?P<negated>not\s+)?null\b"""
)


class TextReader:
    """Reads texts about some columns."""

    __slots__ = ("_bound", "columns", "engine")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """columns: by their paths."""
        self.columns = columns
        self._bound: list[Column] = []
        given: list[Any] = []
        for column in columns.values():
            try:
                given.append(column.query_column())
            except UnsupportedError:
                continue
            self._bound.append(column)
        #: The columns that the engine has types for, as it knows them.
        self.engine = QueryColumns(given, computed)

    def condition(self, text: str, params: Mapping[str, Any] | None = None) -> Lazy:
        """Return where a text holds: the same until there are other rows, unless `params` can change."""
        try:
            return self.engine.condition(text, query_params(params) if params else None)
        except ExpressionError as error:
            plain, missing = self._without_nulls(text)
            if missing:
                return self.condition(plain, {**(params or {}), **missing})
            return engine.lower(as_condition(self._by_numpy(text, params, error), self.columns))

    def expression(self, text: str, params: Mapping[str, Any] | None = None) -> Node:
        """Return the values that a text says: NaN where one is missing."""
        try:
            read = self.engine.expression(text, query_params(params) if params else None)
        except ExpressionError as error:
            return as_node(self._by_numpy(text, params, error))
        if read.column is not None:
            column = self._column(*read.column)
            column.check_scalar()
            return column.node()
        node, nulls = source_node(read.type_name, read.lazy(), text), read.nulls()
        return node if nulls is None else with_nan(node, source_node("bool", nulls))

    def column(self, text: str) -> Column | None:
        """Return the column, or the one of several values of its rows, that a text names; None for others."""
        found = self.engine.expression(text).column
        return None if found is None else self._column(*found)

    def _column(self, number: int, element: list[int]) -> Column:
        column = self._bound[number]
        return column.element(tuple(element)) if element else column

    def _without_nulls(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return a text without `x is null` of columns that the engine has no type for, and bools instead.

        They are parameters, by the names that the text has then.
        """
        unknown = {name for name, column in self.columns.items() if column not in self._bound}
        missing: dict[str, Any] = {}

        def named(found: re.Match[str]) -> str:
            name = found["name"]
            if name not in unknown:
                return found[0]
            column = self.columns[name]
            word = f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_is_null_"
            missing[word] = engine.read(column.is_null(), (slice(0, len(column)),), 1)
            return f"(~{word})" if found["negated"] else f"({word})"

        return _IS_NULL.sub(named, text), missing

    def _by_numpy(self, text: str, params: Mapping[str, Any] | None, error: ExpressionError) -> Any:
        """Return what a text says of columns that the engine has no type for; raises `error` for others."""
        if len(self._bound) == len(self.columns):
            raise error
        words = set(re.findall(r"\w+", text))
        operands = {name: column.array() for name, column in self.columns.items() if name in words}
        if all(self.columns[name] in self._bound for name in operands):
            raise error
        return Reader(text, operands | dict(params or {})).read()


def reader_of(layout: Layout) -> TextReader:
    """Return what reads texts about a table's columns: the same until there are other ones."""
    reader = layout.text_reader
    if reader is None or reader.columns is not layout.columns:
        reader = layout.text_reader = TextReader(layout.columns)
    return reader


def condition(text: str, columns: Mapping[str, Column], params: Mapping[str, Any] | None = None) -> Node:
    """Return the condition that `text` says, a bool for each row.

    text: names of columns (`info.x` for nested ones, `col("my name")` for any, `pos[0]` for one of several
        values), constants, Python's operators (`&`, `|`, `~` and `and`, `or`, `not`; comparisons chain),
        NumPy's functions of items, `x in (1, 2)`, `x is null`, `startswith(s, "a")`.
    params: values by name: numbers, strings, dates, arrays of one item for each row, lists for `in`.

    Raises ExpressionError, a ValueError, for what is no condition; TypeError and ValueError for values that
    do not fit, with a note of the place.
    """
    return source_node("bool", TextReader(columns).condition(text, params), text)


def expression(text: str, columns: Mapping[str, Column], params: Mapping[str, Any] | None = None) -> Node:
    """Return the values that `text` says, one for each row: NaN where one is missing."""
    return TextReader(columns).expression(text, params)


def as_condition(value: Any, columns: Mapping[str, Column]) -> Node:
    """Return a value, an expression or an array of bool as a condition. Raises TypeError and ValueError."""
    count = rows_of(columns)
    if isinstance(value, Column):
        value.check_scalar()
        if value.dtype != np.bool_:
            raise TypeError(f"{value.described()} is no condition; compare it with a value")
        return where_valid(value.raw(), value.nulls())
    if isinstance(value, bool | np.bool_):
        return filled(bool(cast("Any", value)), count)
    node = as_node(value)
    if node.dtype != np.bool_:
        raise TypeError(f"a condition gives bool for each row, not {node.dtype}")
    if isinstance(node, Constant):
        return filled(bool(node.value), count)
    if node.shape != (count,):
        raise ValueError(f"shape {node.shape}, where one value for each of {count} rows is wanted")
    return node


def rows_of(columns: Mapping[str, Column]) -> int:
    """Return how many rows the columns have; 0 if there are none."""
    return min([len(column) for column in columns.values()], default=0)
