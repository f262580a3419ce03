"""How the rows of a plan are found: by a scan, or by indexes.

In: a plan. Out: the node of its condition, with the rows in it that indexes gave; or the rows themselves.
An index hands its rows to the scan as a condition that is known to be false in most boxes.
Invariant: answers are those of the scan. Nothing of an answer is kept: what indexes know changes.
"""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from coquina._core import IndexChoice
from coquina.expressions import engine
from coquina.indexes.access import is_disabled
from coquina.tables.elsewhere import source_node
from coquina.tables.index_choice import boxes_of, choice_of
from coquina.tables.index_operands import operands_of
from coquina.tables.scanning import Found, nothing, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coquina._core import ConditionTerms, IndexOperands, RowSet
    from coquina.expressions.nodes import Node
    from coquina.indexes.index import Index
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

_UNREAD: Any = object()
_NOTHING_KNOWN = IndexChoice.scan("there is no index")


class KnownTerms:
    """What conditions ask of the indexes of a table: the same until there are other indexes or columns."""

    __slots__ = ("_known", "_useless")

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: _Known | None = None
        # Indexes that could not be asked when last they were wanted.
        self._useless: list[Index] = []

    def terms(self, table: Table, condition: Node, indexes: Mapping[str, Index]) -> ConditionTerms | None:
        """Return what a condition asks of the table's indexes, without those that are known to be useless."""
        if self._useless:
            self._useless = [index for index in self._useless if not index.is_usable]
        if self._useless:
            indexes = {name: index for name, index in indexes.items() if index not in self._useless}
        columns = table.layout.columns
        key = (columns, *indexes.values())
        known = self._known
        if known is None or len(key) != len(known.key) or any(map(is_not, key, known.key)):
            known = self._known = _Known(key, operands_of(indexes, table.layout), WeakKeyDictionary())
        if known.operands.is_empty:
            return None
        terms = known.terms.get(condition, _UNREAD)
        if terms is _UNREAD:
            terms = known.terms[condition] = known.operands.terms(engine.lower(condition))
        return terms

    def useless(self, indexes: Iterable[Index]) -> None:
        """Leave indexes out that cannot be asked, until they can."""
        self._useless += indexes


class _Known(NamedTuple):
    key: tuple[object, ...]
    operands: IndexOperands
    terms: WeakKeyDictionary[Node, ConditionTerms | None]


class Access(NamedTuple):
    """How the rows of a condition are found. rows: those of the table that may meet it; None for all."""

    choice: IndexChoice
    rows: RowSet | None

    @property
    def is_whole(self) -> bool:
        """Whether the condition is to be computed for open rows only."""
        return self.rows is not None and self.rows.is_exact and self.choice.is_whole


def chosen(table: Table, condition: Node) -> IndexChoice:
    """Return how a condition is answered."""
    indexes = table.indexes
    if not indexes:
        return _NOTHING_KNOWN
    if is_disabled():
        return IndexChoice.scan("indexes are not to be used")
    # Only those that are wanted are opened: whether they can be asked is seen then.
    while (terms := table.known_terms.terms(table, condition, indexes)) is not None:
        choice = choice_of(table, condition, terms)
        if not choice.useless:
            return choice
        table.known_terms.useless(choice.useless)
    # Of a file that is far away all of a column may have to be read to know the reason.
    asked = () if table.remote is not None else tuple(indexes.values())
    unused = [f"{index.name}: {index.reason}" for index in asked if index.reason]
    return IndexChoice.scan("; ".join(["no index knows what is asked", *unused]))


def access_of(table: Table, condition: Node, choice: IndexChoice | None = None) -> Access:
    """Return how a condition is answered, with the rows that indexes gave. choice: if that is known."""
    choice = choice or chosen(table, condition)
    return Access(choice, None if choice.is_scan else choice.rows(table.nrows))


def rows_node(rows: RowSet, table: Table) -> Node:
    """Return where a row is in a set, or may be."""
    return source_node("bool", rows.lazy(table.nrows, *boxes_of(table)), "rows of indexes")


def with_rows(table: Table, condition: Node, access: Access) -> Node:
    """Return a condition with the rows in it that indexes gave."""
    if access.rows is None:
        return condition
    boxes = (table.nrows, *boxes_of(table))
    found = access.rows.condition(boxes, engine.lower(condition), access.choice.rest)
    return source_node("bool", found, "rows of indexes")


def node_of(plan: Plan) -> Node | None:
    """Return the condition of a plan as it is best computed."""
    condition = plan.condition()
    if condition is None:
        return None
    return with_rows(plan.table, condition, access_of(plan.table, condition))


def found_of(
    plan: Plan, columns: dict[str, Column], *, numbers: bool, choice: IndexChoice | None = None
) -> Found:
    """Return all of the rows of a plan at once, without their order. choice: how, if that is known."""
    condition = plan.condition()
    if condition is not None:
        choice = choice or chosen(plan.table, condition)
    if condition is None or choice is None or choice.is_scan:
        return scan(condition, columns, plan.span, numbers=numbers, limit=plan.limit)
    if not columns and not numbers and (count := _count(plan, choice)) is not None:
        return Found(count, {})
    access = access_of(plan.table, condition, choice)
    if access.rows is not None and not (len(access.rows) or access.rows.open_ranges):
        return nothing(columns, numbers=numbers)
    node = with_rows(plan.table, condition, access)
    return scan(node, columns, plan.span, numbers=numbers, limit=plan.limit)


def _count(plan: Plan, choice: IndexChoice) -> int | None:
    """Return how many rows meet a condition, if an index knows the number."""
    count = choice.count() if len(plan.span) == plan.table.nrows else None
    return count if count is None or plan.limit is None else min(plan.limit, count)


def boxes_with(rows: RowSet, table: Table) -> tuple[int, int]:
    """Return in how many boxes of the table there are rows of a set, and how many boxes there are."""
    size = max(1, boxes_of(table)[1])
    return rows.boxes(size), -(-table.nrows // size)


__all__ = [
    "Access",
    "KnownTerms",
    "access_of",
    "boxes_with",
    "chosen",
    "found_of",
    "node_of",
    "with_rows",
]
