"""How a condition is answered by indexes, or why by a scan: what the engine is told of the table to choose.

In: what a condition asks of indexes, and the table. Out: `IndexChoice`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina import _core
from coquina.expressions import engine
from coquina.indexes.access import is_forced

if TYPE_CHECKING:
    from coquina._core import ConditionTerms, IndexChoice
    from coquina.expressions.nodes import Node
    from coquina.tables.table import Table

#: What asking what a scan would pass over costs, for each box of the table, and in any case.
_SURVEYED_BYTES, _SURVEY_BYTES = 1 << 10, 1 << 17
#: Estimates are in blocks of an index: rows of so few are looked up to learn how many they are.
_LOOKED_UP_ROWS = 1 << 15


def choice_of(table: Table, condition: Node, terms: ConditionTerms) -> IndexChoice:
    """Return how a condition is answered. terms: what it asks of indexes."""
    terrain = (
        table.nrows,
        max(1, boxes_of(table)[1]),
        # Zone maps of what can be written are not asked.
        None if table.layout.is_writable else _core.survey,
        is_forced(),
        _SURVEYED_BYTES,
        _SURVEY_BYTES,
        _LOOKED_UP_ROWS,
    )
    return _core.index_choice(terms, engine.lower(condition), terrain)


def boxes_of(table: Table) -> tuple[int, int]:
    """Return the rows of a chunk and of a block of the table, by its first column."""
    for column in table.layout.columns.values():
        for part in column.stored[-1:] if column.kind != "string" else column.stored[:1]:
            return int(part.array.chunks[0]), int(part.array.blocks[0])
    return 1, 1


__all__ = ["boxes_of", "choice_of"]
