"""Conditions on one column, as operators and methods ask for them: the engine binds them as it does texts.

In: a column, an operator and constants, or values for each row. Out: a node of bool, one for each row; the
values themselves as an operand.
Invariant: a condition is what the same text gives; columns that the engine has no types for are NumPy's.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import QueryColumns, UnsupportedError
from coquina.casting import is_array, is_masked, mask_of
from coquina.expressions import engine
from coquina.expressions.grammar import INFIX, ExpressionError
from coquina.expressions.nodes import Boxes, Node
from coquina.tables.elsewhere import computed, source_node
from coquina.tables.predicates import plain_text
from coquina.tables.query_params import query_params

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    import numpy.typing as npt

    from coquina.expressions.nodes import Region
    from coquina.tables.column import Column

    Read = Callable[[slice], Any]

MATCHES = ("startswith", "endswith", "contains")
_BOOL = np.dtype(np.bool_)


def compared(column: Column, op: str, value: Any) -> Node:
    """Return where values compare so with a constant, or with a column, a node or an array of rows."""
    if isinstance(value, Node) and value.shape and value.dtype.kind in "SUT":
        return _by_numpy(op, column, partial(_compared, op), partial(_read_rows, value))
    try:
        return _bound(f"column {INFIX[op]} value", column, value)
    except UnsupportedError:
        return _by_numpy(op, column, partial(_compared, op), _reader_of(value))


def among(column: Column, values: Iterable[Any]) -> Node:
    """Return where the value is one of these."""
    given: Any = values if is_array(values) else _uniform(list(values))
    try:
        return _bound("column in value", column, given)
    except UnsupportedError:
        return _by_numpy("isin", column, _among, lambda rows: given)


def matching(column: Column, op: str, text: Any) -> Node:
    """Return where text starts with, ends with or contains another."""
    return _bound(f"{op}(column, value)", column, text)


def is_null(column: Column) -> Node:
    """Return where there is no value; NaN and NaT are none."""
    try:
        return _bound("column is null", column, 0)
    except UnsupportedError:
        return _by_numpy("is null", column, lambda values, _: _nulls_of(values), lambda rows: None)


def values_of(column: Column) -> Node:
    """Return values as an operand, which means nothing where one is missing. Raises TypeError for text."""
    try:
        with _without_place():
            known = column.query_column()
            read = QueryColumns([known], computed).expression("column", {"column": ("column", known)})
            return source_node(read.type_name, read.lazy())
    except UnsupportedError:
        return Boxes("values", lambda region: _plain(column.read(region[0])), (len(column),), column.dtype)


def _bound(text: str, column: Column, value: Any) -> Node:
    known = column.query_column()
    # By a parameter: no name of a column is another's here. Rows are those of the columns.
    params = {"column": ("column", known), **query_params({"value": value})}
    with _without_place():
        return source_node("bool", QueryColumns([known], computed).condition(text, params), text)


@contextmanager
def _without_place() -> Generator[None]:
    """Raise errors without a note of their place in the text, which nobody wrote."""
    try:
        yield
    except ExpressionError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    except (TypeError, ValueError) as error:
        raise type(error)(str(error)) from None


def _by_numpy(name: str, column: Column, apply: Callable[[Any, Any], Any], other: Read) -> Node:
    """Return a condition that NumPy computes of the values of rows, and of what `other` gives for them."""

    def read(region: Region) -> npt.NDArray[Any]:
        return np.asarray(apply(column.read(region[0]), other(region[0])), _BOOL)

    return Boxes(name, read, (len(column),), _BOOL)


def _reader_of(value: Any) -> Read:
    if isinstance(value, Node):
        return partial(_read_rows, value)
    if hasattr(value, "query_column"):
        return value.read
    return (lambda rows: value[rows]) if is_array(value) and value.ndim else lambda rows: value


def _read_rows(node: Node, rows: slice) -> npt.NDArray[Any]:
    return engine.read(node, (rows,), 1)


def _uniform(values: list[Any]) -> Any:
    """Return times of NumPy's of one unit as an array: one by one each takes some microseconds."""
    is_times = {type(one) for one in values} in ({np.datetime64}, {np.timedelta64})
    return np.array(values) if is_times and len({one.dtype for one in values}) == 1 else values


def _compared(op: str, left: Any, right: Any) -> Any:
    (left, left_nulls), (right, right_nulls) = _without_nulls(left), _without_nulls(right)
    return getattr(np, op)(left, right) & ~left_nulls & ~right_nulls


def _among(values: Any, constants: Any) -> Any:
    values, nulls = _without_nulls(values)
    return np.isin(values, constants) & ~nulls


def _without_nulls(values: Any) -> tuple[Any, Any]:
    """Return values, text as one of one type, and where they are missing."""
    nulls: Any = False
    if is_masked(values):
        values, nulls = values.data, mask_of(values)
    if is_array(values) and values.ndim and values.dtype.kind in "STO":
        values, missing = plain_text(values)
        nulls = missing | nulls
    return values, nulls


def _nulls_of(values: Any) -> Any:
    values, nulls = _without_nulls(values)
    return nulls | (values != values)


def _plain(values: Any) -> Any:
    return values.data if is_masked(values) else values
