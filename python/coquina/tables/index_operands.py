"""What the indexes of a table know the values of, as the engine finds it again in the programs of conditions.

In: indexes and the table's columns. Out: `IndexOperands`, which tells what a condition asks of the indexes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina._core import IndexOperands
from coquina.expressions import engine
from coquina.tables.conditions import reader_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Lazy
    from coquina.indexes.index import Index
    from coquina.tables.column import Column, QueryColumn
    from coquina.tables.layout import Layout

#: Kinds of indexes, the most useful first.
_KINDS = ("full", "pytables", "partial", "light", "zones")
#: Kinds of columns whose values are computed of what is stored, for operators otherwise than for texts.
_COMPUTED = frozenset(("bits", "time"))


def operands_of(indexes: Mapping[str, Index], layout: Layout) -> IndexOperands:
    """Return what these indexes know, of those for one column the most useful."""
    return IndexOperands([_given(index, layout) for index in sorted(indexes.values(), key=_rank)])


def _given(index: Index, layout: Layout) -> tuple[Any, ...]:
    """Return an index as the engine takes it."""
    kind, column = index.source.kind, layout.columns.get(index.column)
    reader = reader_of(layout)
    if column is None and not index.source.is_expression:
        # One of the values that a column has in each row.
        column = reader.column(index.column)
    if column is None:
        return index, kind, None, reader.engine.expression(index.column), None, None
    known = column.query_column()
    values = engine.lower(column.raw()) if column.kind in _COMPUTED else None
    return index, kind, known, None, values, _mask(column, known)


def _mask(column: Column, known: QueryColumn) -> Lazy | None:
    nulls = column.nulls() if known[4] is not None else None
    return None if nulls is None else engine.lower(nulls)


def _rank(index: Index) -> int:
    return _KINDS.index(index.kind) if index.kind in _KINDS else len(_KINDS)


__all__ = ["operands_of"]
