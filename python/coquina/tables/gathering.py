"""The rows of a plan, in pieces of bounded memory or all at once, in the order that it wants.

In: a plan, and columns. Out: values by column, and the rows' numbers. Rows in an order are read by their
numbers; all others come out of scans.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import Found
from coquina.memory import check_memory
from coquina.tables.access import found_of
from coquina.tables.index_order import ordered_rows
from coquina.tables.reading import Rows, joined, records, row_bytes
from coquina.tables.scanning import scan, windows
from coquina.tables.sorting import sorted_pieces
from coquina.tables.taking import take

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch
    from coquina.tables.plan import Plan
    from coquina.tables.reading import RowShape

#: What is scanned at a time to fill a structured array: threads have enough of it, and caches not too much.
_FILLED_BYTES = 8 << 20


def whole(plan: Plan, columns: dict[str, Column], *, numbers: bool = False) -> Found:
    """Return all rows of a plan at once."""
    if not plan.order:
        return found_of(plan, columns, numbers=numbers)
    rows = ordered_rows(plan)
    return Found(len(rows), take(columns, rows), rows)


def all_records(plan: Plan, shape: RowShape) -> npt.NDArray[Any]:
    """Return all rows of a plan as a structured array."""
    if not (plan.order or plan.conditions):
        span = plan.span if plan.limit is None else plan.span[: plan.limit]
        rows = _filled_rows(shape.columns, len(span))
        if len(span) > rows:
            return _filled(span, rows, shape)
    found = whole(plan, shape.columns) if plan.order else found_of(plan, shape.columns, numbers=False)
    return records(shape, found.values, found.matched)


def _filled(span: range, rows: int, shape: RowShape) -> npt.NDArray[Any]:
    """Return rows of a table; what is decoded goes into the array while it is in the cache."""
    columns, count = shape.columns, len(span)
    check_memory(count * shape.dtype.itemsize, "the rows")
    made = Rows(shape, count)
    at = 0
    # Ends of blocks are ends of windows, so that none is decoded twice.
    size = rows - span.start % rows if span.step == 1 else rows
    while at < count:
        part = span[at : at + size]
        made.put(at, len(part), scan(None, columns, part).values)
        at, size = at + len(part), rows
    return made.result()


def _filled_rows(columns: dict[str, Column], count: int) -> int:
    """Return how many rows are scanned at a time to fill an array of `count`: whole blocks of all columns."""
    rows = max(1, _FILLED_BYTES // row_bytes(list(columns.values())))
    blocks = {part.array.blocks[0] for column in columns.values() for part in column.stored}
    largest = max([block for block in blocks if block < count], default=1)
    return -(-rows // largest) * largest


def pieces(
    plan: Plan, columns: dict[str, Column], *, numbers: bool = False, first: int | None = None
) -> Iterator[Found]:
    """Yield the rows of a plan, as many at a time as take some memory; never none.

    first: so many rows are looked at before others, if who asks may want no more.
    """
    if plan.order and plan.limit is None:
        yield from sorted_pieces(plan, columns, numbers=numbers)
        return
    if plan.order:
        rows = ordered_rows(plan)
        for window in windows(range(len(rows)), list(columns.values())):
            part = rows[window.start : window.stop]
            yield Found(len(part), take(columns, part), part)
        return
    condition, span = plan.scope()
    left = plan.limit
    # A limit is met by the first rows; conditions that match few rows should not be asked for few at a time.
    most = left if left is not None and condition is None else None
    for window in windows(span, list(columns.values()), most, first):
        if left == 0:
            return
        found = scan(condition, columns, window, numbers=numbers, limit=left)
        if left is not None:
            left -= found.matched
        if found.matched:
            yield found


def cut(plan: Plan, columns: dict[str, Column], rows: int | None) -> Iterator[tuple[int, Batch]]:
    """Yield the rows of a plan, `rows` at a time, the last ones fewer; as `pieces` does if that is None."""
    if rows is None:
        yield from ((found.matched, found.values) for found in pieces(plan, columns))
        return
    if rows < 1:
        raise ValueError(f"{rows} is not a number of rows")
    waiting: list[Batch] = []
    count = 0
    for found in pieces(plan, columns, first=rows):
        waiting.append(found.values)
        count += found.matched
        if count < rows:
            continue
        values = {path: joined([one[path] for one in waiting], column) for path, column in columns.items()}
        at = 0
        while count - at >= rows:
            yield rows, {path: one[at : at + rows] for path, one in values.items()}
            at += rows
        count -= at
        waiting = [{path: one[at:] for path, one in values.items()}] if count else []
    if count:
        yield (
            count,
            {path: joined([one[path] for one in waiting], column) for path, column in columns.items()},
        )


def sliced(plan: Plan, columns: dict[str, Column], rows: int) -> Iterator[tuple[int, Batch]]:
    """Yield the rows of a plan as soon as some are found, `rows` at a time at most."""
    for found in pieces(plan, columns, first=rows):
        for at in range(0, found.matched, rows):
            count = min(rows, found.matched - at)
            yield count, {path: values[at : at + count] for path, values in found.values.items()}


def row_numbers(plan: Plan) -> npt.NDArray[np.int64]:
    """Return the numbers of a plan's rows."""
    if plan.order:
        return ordered_rows(plan)
    found = plan.scan({}, numbers=True).numbers
    return np.empty(0, np.int64) if found is None else found


def count_of(plan: Plan) -> int:
    """Return how many rows a plan has."""
    return replace(plan, order=()).scan({}).matched
