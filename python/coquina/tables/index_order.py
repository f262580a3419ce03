"""Rows in the order of a column that has an index: the first few without a scan, all of them without a sort.

In: a plan with an order. Out: row numbers.
What the index knows nothing of is scanned, and the first rows of both are put in order by their values.
Invariant: rows, and their order, are those of `ordering`, which does all that no index helps with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import Both, RowSet, Term
from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, call
from coquina.indexes.access import is_disabled, is_forced
from coquina.indexes.ordered_runs import ASKED_MOST, FirstRows, first_rows
from coquina.indexes.places import DAMAGE
from coquina.tables import ordering
from coquina.tables.access import boxes_of, chooser_of, chosen, found_of
from coquina.tables.scanning import all_of, scan

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina._core import IndexChoice, Lazy
    from coquina.indexes.index import Index
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

    Rows = npt.NDArray[np.int64]

#: Kinds of indexes that have rows in order, and kinds of columns whose keys are in the order of the values.
_KINDS = ("full", "partial")
_COLUMN_KINDS = ("number", "bits", "enum", "time", "datetime", "nullable", "string")
#: An index gives the first rows if they are not more than one of so many.
_FEW_OF = 64


def ordered_rows(plan: Plan) -> Rows:
    """Return the numbers of a plan's rows in their order, as many as it wants."""
    return _ordered(plan)[0]


def how_ordered(plan: Plan) -> str:
    """Say how a plan's rows get their order; empty without one. It is tried: that may not be known before."""
    return _ordered(plan)[1] if plan.order else ""


def _ordered(plan: Plan) -> tuple[Rows, str]:
    """Return the rows, and how they were found, for people."""
    condition = plan.condition()
    index = index_of_order(plan)
    keys = None if index is None or condition is None else _keys(plan.table, condition, index)
    is_walked = keys is not None and plan.limit is not None
    if condition is not None and not is_walked:
        choice = chosen(plan.table, condition)
        if not choice.is_scan:
            return _of_few(plan, choice), "sorted"
    found = None if index is None else _by_index(plan, index, keys)
    if index is not None and found is not None:
        return found, f"index {index.name}"
    return ordering.ordered_rows(plan), "sorted" if plan.limit is None else "sorted, the first rows only"


def index_of_order(plan: Plan) -> Index | None:
    """Return the index that gives a plan's rows in order, if what is open does not weigh more."""
    table = plan.table
    if not plan.order or is_disabled() or table.index_store.is_empty:
        return None
    name = plan.order[0][0]
    if table.layout.columns[name].kind not in _COLUMN_KINDS:
        return None
    found = [
        index
        for index in table.index_store.indexes.values()
        if index.column == name and not index.is_expression and index.kind in _KINDS
    ]
    known = [index for index in found if index.is_usable]
    best = min(known, key=lambda index: (index.unindexed_rows, len(index.runs)), default=None)
    if best is None or (4 * best.unindexed_rows > table.nrows and not is_forced()):
        return None
    return best


def _of_few(plan: Plan, choice: IndexChoice) -> Rows:
    """Return the rows of a plan whose condition is answered by an index: there are not many."""
    columns = [plan.table.layout.columns[name] for name, _ in plan.order]
    unordered = replace(plan, order=(), limit=None)
    found = found_of(unordered, {one.name: one for one in columns}, numbers=True, choice=choice)
    assert found.numbers is not None
    order = ordering.argsort(
        columns, [found.values[one.name] for one in columns], [flag for _, flag in plan.order]
    )
    return found.numbers[order[: plan.limit]]


def _by_index(plan: Plan, index: Index, keys: tuple[int, int] | None = None) -> Rows | None:
    try:
        if plan.limit is not None and (plan.limit * _FEW_OF <= plan.table.nrows or is_forced()):
            return _first(plan, index, keys)
        return _all(plan, index)
    except DAMAGE:
        # What an index has is not what it should be: the values themselves tell.
        return None


def _first(plan: Plan, index: Index, keys: tuple[int, int] | None) -> Rows | None:
    count = min(plan.limit or 0, len(plan.span))
    if not count:
        return np.empty(0, np.int64)
    if not plan.conditions and len(plan.span) == plan.table.nrows:
        rows = rows_at(plan, range(count))
        if rows is not None:
            return rows
    asked_most = plan.table.nrows if is_forced() else ASKED_MOST
    accept = _accepting(plan)
    is_descending, is_tied = plan.order[0][1], len(plan.order) > 1
    rows = first_rows(index, FirstRows(count, is_descending, is_tied, accept, asked_most, keys))
    if rows is None:
        return None
    parts = [rows]
    for start, stop in index.open_ranges().tolist():
        span = _clipped(plan.span, start, stop)
        part = replace(plan, start=span.start, stop=span.stop, step=span.step)
        parts.append(ordering.ordered_rows(part))
    return _sorted(plan, np.unique(np.concatenate(parts)))[:count]


def rows_at(plan: Plan, span: range) -> Rows | None:
    """Return the rows at places of an order without conditions; None if no index has all of it as one run."""
    index = index_of_order(plan)
    if index is None or len(plan.order) != 1 or plan.order[0][1]:
        return None
    try:
        rows = index.rows_at(span[0], span[-1] + 1)
    except DAMAGE:
        return None
    return None if rows is None else rows[:: span.step]


def extreme(plan: Plan, name: str, path: str) -> Any:
    """Return the least or the greatest ("min", "max") of a column in all rows; None if no index knows it."""
    column = plan.table.layout.columns.get(path)
    if column is None or plan.conditions or not plan.is_all or column.shape or column.dtype.kind == "c":
        return None
    asked = replace(plan, order=((path, name == "max"),), limit=1)
    index = index_of_order(asked)
    if index is None or (column.dtype.kind in "fmM" and _has_missing(column, index)):
        # What is missing may be NaN, which is a number here.
        return None
    rows = _by_index(asked, index)
    if rows is None or not len(rows):
        return None
    values: Any = column.read(rows)
    if isinstance(values, np.ma.MaskedArray):
        masked = cast("Any", values)
        return None if np.ma.getmaskarray(masked)[0] else masked.data[0]
    # Text is str and bytes, as it is where it is looked for.
    return values.tolist()[0] if column.text_kind else values[0]


def _has_missing(column: Column, index: Index) -> bool:
    """Whether there may be a row without a value, or with NaN."""
    if any(one.missing for one in index.runs) or not index.unindexed_rows:
        return any(one.missing for one in index.runs)
    if column.kind != "number" or column.dtype.kind != "f":
        return True
    is_nan = call(FUNCTIONS["isnan"], column.node())
    is_nan = engine.lower(is_nan)
    found = [scan(is_nan, {}, range(*pair), numbers=True).numbers for pair in index.open_ranges().tolist()]
    return any(rows is None or len(rows) for rows in found)


def _sorted(plan: Plan, rows: Rows) -> Rows:
    """Return a few rows, given in the order of the table, in that of a plan."""
    columns = [plan.table.layout.columns[name] for name, _ in plan.order]
    flags = [is_descending for _, is_descending in plan.order]
    return rows[ordering.argsort(columns, [column.read(rows) for column in columns], flags)]


def _clipped(span: range, start: int, stop: int) -> range:
    """Return the part of a span that is in `start:stop`."""
    low, high = (max(0, -(-(end - span.start) // span.step)) for end in (start, stop))
    return span[low:high]


def _accepting(plan: Plan) -> Callable[[Rows], npt.NDArray[np.bool_]] | None:
    """Return what tells which rows are a plan's; None if all are."""
    table, span, condition = plan.table, plan.span, plan.condition()
    if condition is None and len(span) == table.nrows:
        return None

    def accept(rows: Rows) -> npt.NDArray[np.bool_]:
        is_in = (rows >= span.start) & (rows <= span[-1]) & ((rows - span.start) % span.step == 0)
        if condition is None or not is_in.any():
            return is_in
        some = RowSet(np.unique(rows[is_in]), np.empty((0, 2), np.int64))
        rows_of = some.lazy(table.nrows, *boxes_of(table))
        found = scan(all_of([rows_of, condition]), {}, span, numbers=True).numbers
        return np.isin(rows, np.empty(0, np.int64) if found is None else found)

    return accept


def _keys(table: Table, condition: Lazy, index: Index) -> tuple[int, int] | None:
    """Return the least and the greatest key that rows of a condition have, if it asks for a range of them."""
    tree = chooser_of(table, table.indexes).terms(condition)
    for part in tree.parts if isinstance(tree, Both) else [tree]:
        if isinstance(part, Term) and part.index is index and part.missing is False:
            keys = part.maybe
            return (int(keys.low[0]), int(keys.high[-1])) if len(keys.low) else None
    return None


def _all(plan: Plan, index: Index) -> Rows | None:
    """Return all rows in order, where one run has them; None where they are to be sorted."""
    if plan.conditions or len(plan.order) != 1 or len(plan.span) < plan.table.nrows:
        return None
    runs = index.in_order(window=1 << 20)
    if runs is None or len(runs) != 1 or index.unindexed_rows:
        return None
    rows = np.concatenate([np.empty(0, np.int64), *runs[0]])
    missing = index.missing_rows()
    if len(rows) + len(missing) != plan.table.nrows:
        return None
    name, is_descending = plan.order[0]
    if is_descending:
        rows = _backwards(rows, plan.table.layout.columns[name])
    rows = np.concatenate([rows, missing])
    return rows if plan.limit is None else rows[: plan.limit]


def _backwards(rows: Rows, column: Column) -> Rows:
    """Return rows from the greatest value to the least; equal ones stay in their order."""
    values: Any = np.ma.getdata(column.read(slice(None)))[rows]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))[::-1]
    if not len(rows):
        return rows
    lengths = np.append(len(rows), starts[:-1]) - starts
    # Where each group of equals starts now, less where it started before.
    moved = starts - (np.cumsum(lengths) - lengths)
    return rows[np.repeat(moved, lengths) + np.arange(len(rows))]
