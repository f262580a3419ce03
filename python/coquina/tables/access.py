"""How the rows of a plan are found: by a scan, or by indexes; the engine chooses.

In: a plan. Out: its rows; or its condition, with the rows in it that indexes gave.
An index hands its rows to the scan as a condition that is known to be false in most boxes.
Invariant: answers are those of the scan. Nothing of an answer is kept: what indexes know changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from coquina._core import Found, IndexChoice, IndexChooser
from coquina.expressions import engine
from coquina.indexes.access import is_disabled, is_forced
from coquina.tables.conditions import reader_of
from coquina.tables.scanning import nothing, scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Lazy, RowSet, TableRows
    from coquina.indexes.index import Index
    from coquina.tables.column import Column, QueryColumn
    from coquina.tables.layout import Layout
    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

#: What asking zone maps costs, for each box of the table, and in any case; and of how few rows are looked up
#: to learn how many they are: estimates are in blocks of an index.
COSTS: tuple[int, int, int] = (1 << 10, 1 << 17, 1 << 15)
#: Kinds of indexes, the most useful first.
_KINDS = ("full", "pytables", "partial", "light", "zones")
#: Kinds of columns whose values are computed of what is stored, for operators otherwise than for texts.
_COMPUTED = frozenset(("bits", "time"))
_NO_INDEX = IndexChoice.scan("there is no index")
_NOT_TO_BE_USED = IndexChoice.scan("indexes are not to be used")


class Access(NamedTuple):
    """How the rows of a condition are found. rows: those of the table that may meet it; None for all.

    condition: what is to be computed.
    """

    choice: IndexChoice
    rows: RowSet | None
    condition: Lazy

    @property
    def is_whole(self) -> bool:
        """Whether the condition is to be computed for open rows only."""
        return self.rows is not None and self.rows.is_exact and self.choice.is_whole


class ChooserOf(NamedTuple):
    """What chooses among the indexes of a table, as long as these and its columns are the same."""

    columns: object
    indexes: Mapping[str, Any]
    chooser: IndexChooser

    def is_of(self, columns: object, indexes: Mapping[str, Any]) -> bool:
        """Whether it is of these."""
        if columns is not self.columns:
            return False
        return self.indexes is indexes or [*map(id, self.indexes.values())] == [*map(id, indexes.values())]


def chooser_of(table: Table, indexes: Mapping[str, Any]) -> IndexChooser:
    """Return what chooses among some indexes, all that a table has."""
    layout, known = table.layout, table.chooser
    if known is not None and known.is_of(layout.columns, indexes):
        return known.chooser
    given = [_given(index, layout) for index in sorted(indexes.values(), key=_rank)]
    table.chooser = ChooserOf(layout.columns, indexes, IndexChooser(given))
    return table.chooser.chooser


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


def chosen(table: Table, condition: Lazy) -> IndexChoice:
    """Return how a condition is answered."""
    layout = table.layout
    indexes = table.index_store.indexes if layout.their_indexes == {} else table.indexes
    if not indexes:
        return _NO_INDEX
    if is_disabled():
        return _NOT_TO_BE_USED
    return chooser_of(table, indexes).choose(condition, rows_of(table), (is_forced(), *COSTS))


def rows_of(table: Table) -> TableRows:
    """Return how many rows a table has, how they are walked over, and whether zone maps can change."""
    return table.nrows, *boxes_of(table), table.layout.is_writable


def boxes_of(table: Table) -> tuple[int, int]:
    """Return the rows of a chunk and of a block of the table, by its first column."""
    for column in table.layout.columns.values():
        for part in column.stored[-1:] if column.kind != "string" else column.stored[:1]:
            return max(1, int(part.array.chunks[0])), max(1, int(part.array.blocks[0]))
    return 1, 1


def access_of(table: Table, condition: Lazy, choice: IndexChoice | None = None) -> Access:
    """Return how a condition is answered, with the rows that indexes gave. choice: if that is known."""
    choice = choice or chosen(table, condition)
    # Other threads may have appended rows since the condition was bound.
    count = condition.shape[0]
    rows = None if choice.is_scan else choice.rows(count)
    if rows is not None:
        condition = choice.condition(condition, rows, (count, *rows_of(table)[1:]))
    return Access(choice, rows, condition)


def computed_of(plan: Plan) -> Lazy | None:
    """Return the condition of a plan as it is best computed; None if it has none."""
    condition = plan.condition()
    return None if condition is None else access_of(plan.table, condition).condition


def found_of(
    plan: Plan, columns: dict[str, Any], *, numbers: bool, choice: IndexChoice | None = None
) -> Found:
    """Return all of the rows of a plan at once, without their order. choice: how, if that is known."""
    span, condition = plan.span, plan.condition()
    if condition is not None:
        choice = choice or chosen(plan.table, condition)
    if condition is None or choice is None or choice.is_scan:
        return scan(condition, columns, span, numbers=numbers, limit=plan.limit)
    if not columns and not numbers and len(span) == plan.table.nrows:
        count = choice.count()
        if count is not None:
            return Found(count if plan.limit is None else min(plan.limit, count), {})
    access = access_of(plan.table, condition, choice)
    if access.rows is not None and not (len(access.rows) or access.rows.open_ranges):
        return nothing(columns, numbers=numbers)
    return scan(access.condition, columns, span, numbers=numbers, limit=plan.limit)


__all__ = ["Access", "access_of", "boxes_of", "chosen", "computed_of", "found_of"]
