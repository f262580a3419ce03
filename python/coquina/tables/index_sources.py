"""What is indexed of a table: columns of each kind, and expressions of columns.

In: names of columns and texts of expressions. Out: `IndexSource` objects, which follow their table.
Invariant: a source asks the table for its columns whenever it is asked: columns are renamed and made anew.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.expressions import engine
from coquina.expressions.functions import cast_node
from coquina.indexes.freshness import freshness_of
from coquina.indexes.keys import kind_of
from coquina.indexes.source import IndexSource
from coquina.tables.category_columns import CategoricalColumn
from coquina.tables.column import Column
from coquina.tables.conditions import reader_of
from coquina.tables.layout import no_column

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.expressions.nodes import Node
    from coquina.indexes.source import Source
    from coquina.tables.layout import Layout

_F2, _F4 = np.dtype(np.float16), np.dtype(np.float32)


def index_source(layout: Layout, text: str, writer_id: int) -> IndexSource:
    """Return what an index of a column, of one of its values (`pos[0]`) or of an expression is of.

    writer_id: of the table. Raises KeyError for anything but a column, ExpressionError for what is
    no expression, TypeError for values that have no order.
    """
    value = _value(layout, text)
    if isinstance(value, Column):
        value.check_scalar()
        return _of_column(layout, text, value, writer_id)
    return _of_expression(layout, text, writer_id)


def _value(layout: Layout, text: str) -> Any:
    """Return the column of a name, or what an expression is read as."""
    found = layout.columns.get(text)
    if found is not None:
        return found
    if any(path.startswith(f"{text}/") for path in layout.columns):
        names = ", ".join(path for path in layout.columns if path.startswith(f"{text}/"))
        raise TypeError(f"{text!r} is several columns: index one of {names}")
    if text.isidentifier():
        raise no_column(text, layout.columns)
    return reader_of(layout).column(text)


def _of_column(layout: Layout, text: str, column: Column, writer_id: int) -> IndexSource:
    paths = (text,) if text in layout.columns else _named(layout, text)
    dtype = column.stored[0].dtype_out if isinstance(column, CategoricalColumn) else column.dtype
    arrays = partial(_arrays, layout, text)
    return IndexSource(
        name=text,
        kind=kind_of(dtype),
        dtype=dtype,
        count=lambda: layout.nrows,
        lazies=lambda: _lazies(_value(layout, text)),
        missing=lambda: _missing(_value(layout, text)),
        fingerprinted=lambda: _value(layout, text).sources(),
        arrays=arrays,
        columns=paths,
        freshness=lambda kept: freshness_of(writer_id, arrays, kept),
    )


def _of_expression(layout: Layout, text: str, writer_id: int) -> IndexSource:
    paths = _named(layout, text)
    node = reader_of(layout).expression(text)
    arrays = partial(_arrays_of, layout, paths)
    return IndexSource(
        name=text,
        kind=kind_of(node.dtype),
        dtype=node.dtype,
        count=lambda: layout.nrows,
        lazies=lambda: engine.lower(_widened(reader_of(layout).expression(text))),
        missing=lambda: None,
        fingerprinted=lambda: [engine.lower(_widened(reader_of(layout).expression(text)))],
        arrays=arrays,
        columns=paths,
        freshness=lambda kept: freshness_of(writer_id, arrays, kept),
        is_expression=True,
    )


def _lazies(column: Column) -> Source:
    """Return what keys are made of."""
    if isinstance(column, CategoricalColumn) or column.kind in ("string", "datetime") or column.text_kind:
        return column.sources()[0]
    return engine.lower(_widened(column.raw()))


def _widened(node: Node) -> Node:
    """Return a node of numbers that the engine has."""
    return cast_node(node, _F4) if node.dtype == _F2 else node


def _missing(column: Column) -> Any:
    nulls = column.nulls()
    return None if nulls is None else engine.lower(nulls)


def _arrays(layout: Layout, text: str) -> list[Array]:
    return [part.array for part in _value(layout, text).stored]


def _arrays_of(layout: Layout, paths: tuple[str, ...]) -> list[Array]:
    found: dict[int, Array] = {}
    for path in paths:
        for part in layout.columns[path].stored:
            found[id(part.array)] = part.array
    return list(found.values())


def _named(layout: Layout, text: str) -> tuple[str, ...]:
    """Return the columns that a text may speak of: those all names of which are in it."""
    return tuple([path for path in layout.columns if all(name in text for name in path.split("/"))])
