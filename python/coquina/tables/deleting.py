"""Rows that are taken out of a table: those behind them move down, a window at a time.

In: which rows, as numbers, a range, or a plan. Out: how many were deleted.
Memory: a window of rows. HDF5 has no undo: a program that is killed meanwhile leaves rows moved but not yet
cut off, so that some stand there twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.tables.access import chosen, found_of
from coquina.tables.gathering import row_numbers
from coquina.tables.scanning import scan, windows
from coquina.tables.writing import rows_of_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

    Integers = npt.NDArray[np.int64]
    #: The numbers of the deleted rows in a window, in order.
    Deleted = Callable[[range], Integers]


def delete_key(table: Table, key: Any) -> int:
    """Delete the rows that a key names, any that NumPy takes."""
    return delete_rows(table, np.unique(rows_of_key(table, key)))


def delete_plan(plan: Plan) -> int:
    """Delete the rows of a plan."""
    plan = plan.bounded()
    if plan.order or not plan.conditions:
        return delete_rows(plan.table, np.sort(row_numbers(plan)))

    span = plan.span
    condition = plan.condition()
    choice = chosen(plan.table, condition) if condition is not None else None
    if choice is not None and not choice.is_scan:
        # There are not many, or they would be looked for otherwise.
        rows = found_of(plan, {}, numbers=True, choice=choice).numbers
        return delete_rows(plan.table, np.empty(0, np.int64) if rows is None else rows)

    def deleted(window: range) -> Integers:
        first, last = max(window.start, span.start), min(window.stop, span.stop)
        # The next row of the span at or behind the first of the window.
        first += (span.start - first) % span.step
        part = replace(plan, start=min(first, last), stop=last, step=span.step)
        # Rows behind the window that is in work are where they were: one condition holds for all.
        found = scan(condition, {}, part.span, numbers=True).numbers
        return np.empty(0, np.int64) if found is None else found

    with plan.table.notify_indexes(None, [(span.start, plan.table.nrows)]):
        return _delete(plan.table, deleted, span.start)


def delete_rows(table: Table, rows: Integers) -> int:
    """Delete rows by their numbers, which are in order and different."""
    if not len(rows):
        return 0
    if int(rows[-1]) - int(rows[0]) + 1 == len(rows) and int(rows[-1]) + 1 == table.nrows:
        table.set_rows(int(rows[0]))
        return len(rows)

    def deleted(window: range) -> Integers:
        first, last = np.searchsorted(rows, [window.start, window.stop])
        return rows[first:last]

    with table.notify_indexes(None, [(int(rows[0]), table.nrows)]):
        return _delete(table, deleted, int(rows[0]))


def _delete(table: Table, deleted: Deleted, first: int) -> int:
    nrows = table.nrows
    by_layout = getattr(table.layout, "delete", None)
    if by_layout is not None:
        # It knows better ways, for text above all.
        parts = [deleted(window) for window in windows(range(first, nrows), [])]
        by_layout(np.concatenate(parts) if parts else np.empty(0, np.int64))
        return nrows - table.nrows
    at = first
    columns = table.layout.columns
    for window in windows(range(first, nrows), list(columns.values())):
        gone = deleted(window)
        if not len(gone) and at == window.start:
            at = window.stop
            continue
        keep = np.ones(len(window), bool)
        keep[gone - window.start] = False
        count = int(np.count_nonzero(keep))
        if count:
            found = scan(None, table.layout.columns, window)
            table.layout.write(at, {path: values[keep] for path, values in found.values.items()})
        at += count
    table.layout.resize(at)
    return nrows - at
