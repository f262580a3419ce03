"""How the rows of a plan are found: by a scan, or by indexes.

In: a plan. Out: the node of its condition, with the rows in it that indexes gave; or the rows themselves.
An index hands its rows to the scan as one more condition, which is known to be false in most boxes. Where it
answers all of the condition and the rows are few, they are read by their numbers.
Invariant: answers are those of the scan. Nothing of an answer is kept: what indexes know changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from coquina import _core
from coquina._core import RowSet, Term
from coquina.expressions.functions import FUNCTIONS, call
from coquina.expressions.nodes import Engine
from coquina.indexes.access import is_disabled
from coquina.tables.condition_terms import terms_of
from coquina.tables.index_choice import Choice, Pricing, boxes_of, counted, indexes_of, looked_up
from coquina.tables.index_operands import Operands
from coquina.tables.predicates import BOOL
from coquina.tables.scanning import Found, scan
from coquina.tables.taking import taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coquina._core import Tree
    from coquina.expressions.nodes import Node, Region
    from coquina.indexes.index import Index
    from coquina.tables.columns import Column
    from coquina.tables.condition_terms import Terms
    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

    Rows = npt.NDArray[np.int64]

#: So many rows are read by their numbers, more by a scan of the boxes that they are in.
_TAKEN_ROWS = 1 << 13
#: So many open ranges are scanned one by one.
_OPEN_RANGES = 4
_NO_RANGES = np.empty((0, 2), np.int64)
_UNREAD: Any = object()
_NOTHING_KNOWN = Choice(None, False, (), "there is no index")


class KnownTerms:
    """What conditions ask of the indexes of a table: the same until there are other indexes or columns."""

    __slots__ = ("_known", "_useless")

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: _Known | None = None
        # Indexes that could not be asked when last they were wanted.
        self._useless: list[Index] = []

    def terms(self, table: Table, condition: Node) -> Terms | None:
        """Return what a condition asks of indexes that can be asked."""
        indexes = table.indexes
        self._useless = [index for index in self._useless if not index.is_usable]
        while True:
            useful = {name: index for name, index in indexes.items() if index not in self._useless}
            terms = self._terms(table, condition, useful)
            # Only those that are wanted are opened.
            wanted = () if terms is None else indexes_of(terms.tree)
            useless = [index for index in wanted if not index.is_usable]
            if not useless:
                return terms
            self._useless += useless

    def _terms(self, table: Table, condition: Node, indexes: Mapping[str, Index]) -> Terms | None:
        columns = table.layout.columns
        key = (columns, *indexes.values())
        known = self._known
        if known is None or len(key) != len(known.key) or any(map(is_not, key, known.key)):
            known = self._known = _Known(key, Operands(indexes, columns), WeakKeyDictionary())
        if not known.operands:
            return None
        terms = known.terms.get(condition, _UNREAD)
        if terms is _UNREAD:
            terms = known.terms[condition] = terms_of(condition, known.operands)
        return terms

    def tree(self, table: Table, condition: Node) -> Tree | None:
        """Return what a condition asks of indexes that can be asked, as a tree."""
        terms = self.terms(table, condition)
        return None if terms is None else terms.tree


class _Known(NamedTuple):
    key: tuple[object, ...]
    operands: Operands
    terms: WeakKeyDictionary[Node, Terms | None]


@dataclass(frozen=True, slots=True)
class Access:
    """How the rows of a condition are found. rows: those of the table that may meet it; None for all.

    is_whole: whether a row that is known to `rows` meets the condition.
    """

    choice: Choice
    rows: RowSet | None

    @property
    def is_whole(self) -> bool:
        """Whether the condition is to be computed for open rows only."""
        return self.rows is not None and self.rows.is_exact and self.choice.is_whole


def chosen(table: Table, condition: Node) -> Choice:
    """Return how a condition is answered."""
    if is_disabled():
        return Choice(None, False, (), "indexes are not to be used")
    if not table.indexes:
        return _NOTHING_KNOWN
    terms = table.known_terms.terms(table, condition)
    if terms is None:
        # Of a file that is far away all of a column may have to be read to know the reason.
        indexes = () if table.remote is not None else tuple(table.indexes.values())
        unused = [f"{index.name}: {index.reason}" for index in indexes if index.reason]
        return Choice(None, False, (), "; ".join(["no index knows what is asked", *unused]))
    return Pricing(table, condition, terms).chosen()


def access_of(table: Table, condition: Node, choice: Choice | None = None) -> Access:
    """Return how a condition is answered, with the rows that indexes gave. choice: if that is known."""
    choice = choice or chosen(table, condition)
    if choice.tree is None:
        return Access(choice, None)
    return Access(choice, looked_up(choice.tree, table.nrows, choice.found).clip(0, table.nrows))


def rows_node(rows: RowSet, table: Table) -> Node:
    """Return where a row is in a set, or may be."""
    count = table.nrows
    chunk_rows, block_rows = boxes_of(table)

    def lazy() -> _core.Lazy:
        return rows.lazy(count, chunk_rows, block_rows)

    return Engine("rows of indexes", lazy, partial(_read, rows), (count,), BOOL)


def _read(rows: RowSet, region: Region) -> npt.NDArray[np.bool_]:
    start, stop = region[0].start, region[0].stop
    part = rows.clip(start, stop)
    flags = np.zeros(stop - start, np.bool_)
    flags[part.rows - start] = True
    for first, last in (part.open - start).tolist():
        flags[first:last] = True
    return flags


def with_rows(table: Table, condition: Node, access: Access) -> Node:
    """Return a condition with the rows in it that indexes gave."""
    if access.rows is None:
        return condition
    found = rows_node(access.rows, table)
    if not access.rows.is_exact or access.rows.open_ranges:
        return call(FUNCTIONS["logical_and"], found, condition)
    for rest in access.choice.rest:
        found = call(FUNCTIONS["logical_and"], found, rest)
    return found


def node_of(plan: Plan) -> Node | None:
    """Return the condition of a plan as it is best computed."""
    condition = plan.condition()
    if condition is None:
        return None
    return with_rows(plan.table, condition, access_of(plan.table, condition))


def found_of(plan: Plan, columns: dict[str, Column], *, numbers: bool, choice: Choice | None = None) -> Found:
    """Return all of the rows of a plan at once, without their order. choice: how, if that is known."""
    condition = plan.condition()
    if condition is not None:
        choice = choice or chosen(plan.table, condition)
    if condition is None or choice is None or choice.tree is None:
        return scan(condition, columns, plan.span, numbers=numbers, limit=plan.limit)
    if not columns and not numbers and (count := _count(plan, choice)) is not None:
        return Found(count, {})
    rows, node = rows_or_node(plan, condition, choice)
    if rows is not None:
        return Found(len(rows), taken(plan.table, columns, rows), rows if numbers else None)
    return scan(node, columns, plan.span, numbers=numbers, limit=plan.limit)


def rows_or_node(
    plan: Plan, condition: Node | None, choice: Choice | None = None
) -> tuple[Rows | None, Node | None]:
    """Return the rows of a plan by their numbers, in order, where these are known and few; else the node of
    its condition with what indexes know. choice: how it is answered, if that is known.
    """
    if condition is None:
        return None, None
    access = access_of(plan.table, condition, choice)
    if access.rows is not None:
        access = replace(access, rows=access.rows.strided(plan.span))
    rows = sure_rows(plan, condition, access)
    if rows is None and access.rows is not None and not (len(access.rows) or access.rows.open_ranges):
        rows = access.rows.rows
    if rows is None:
        return None, with_rows(plan.table, condition, access)
    rows = rows if plan.limit is None else rows[: plan.limit]
    if len(rows) <= _TAKEN_ROWS:
        return rows, None
    return None, rows_node(RowSet(rows, _NO_RANGES), plan.table)


def sure_rows(plan: Plan, condition: Node, access: Access) -> Rows | None:
    """Return the rows of a plan by their numbers, in order; None where a scan has to find them."""
    if not access.is_whole or access.rows is None or access.rows.open_ranges > _OPEN_RANGES:
        return None
    rows, span = access.rows.known(), plan.span
    for start, stop in access.rows.open.tolist():
        first = start + (span.start - start) % span.step
        if first >= stop:
            continue
        found = scan(condition, {}, range(first, stop, span.step), numbers=True).numbers
        if found is not None and len(found):
            rows = np.concatenate([rows, found]) if not len(rows) or rows[-1] < found[0] else _or(rows, found)
    return rows


def _or(rows: Rows, more: Rows) -> Rows:
    return (RowSet(rows, _NO_RANGES) | RowSet(more, _NO_RANGES)).rows


def _count(plan: Plan, choice: Choice) -> int | None:
    """Return how many rows meet a condition, if an index knows the number."""
    tree = choice.tree
    if not isinstance(tree, Term) or not choice.is_whole or len(plan.span) != plan.table.nrows:
        return None
    count = counted(tree, choice.found)
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
    "rows_or_node",
    "with_rows",
]
