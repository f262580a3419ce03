"""Rows read in the order of a column: some places of it, or one row after the other.

In: a plan with an order, and places in it. Out: a structured array, or records.
Invariant: the order is that of `order_by`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import Found
from coquina.tables.index_order import index_of_order, ordered_rows, rows_at
from coquina.tables.reading import records
from coquina.tables.scanning import windows
from coquina.tables.sorting import sorted_pieces
from coquina.tables.taking import take, take_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan
    from coquina.tables.reading import Names

    Rows = npt.NDArray[np.int64]

#: Rows at places up to one of so many of the table are found without sorting all of it.
_FEW_OF = 64
#: So many rows come before all are sorted: by an index a few and then some more, else at once by one scan.
_AT_ONCE = (1 << 6, 1 << 10)


def read_sorted(plan: Plan, names: Names, places: slice) -> npt.NDArray[Any]:
    """Return the rows at some places of a plan's order; of one column if it is given by its name."""
    shape = plan.row_shape(names)
    rows = _rows(plan, _span(plan, places))
    if shape.records is not None:
        # All columns of a record lie in one place: it is decoded once, not once for each of them.
        return take(shape.records, rows)[""]
    values = take_rows(plan.table, shape.columns, rows)
    if isinstance(names, str) and not shape.picked[0].spec.children:
        return values[names]
    found = records(shape, values, len(rows))
    return found[shape.picked[0].name] if isinstance(names, str) else found


def iterate_sorted(plan: Plan, places: slice) -> Iterator[Any]:
    """Iterate over the rows at some places of a plan's order."""
    span = _span(plan, places)
    shape = plan.row_shape()
    whole = plan.records
    read = shape.columns if whole is None else {"": whole}
    backwards = _taken(read, _rows(plan, span)) if span.step < 0 else None
    for found in backwards or _found(plan, read, span):
        yield from (found.values[""] if whole is not None else records(shape, found.values, found.matched))


def _span(plan: Plan, places: slice) -> range:
    return range(*places.indices(len(plan.span)))


def _rows(plan: Plan, span: range) -> Rows:
    """Return the rows at some places of the order, which may be walked backwards."""
    if span.step < 0:
        return _rows(plan, span[::-1])[::-1]
    rows = _few(plan, span)
    return ordered_rows(plan)[span.start : span.stop : span.step] if rows is None else rows


def _few(plan: Plan, span: range) -> Rows | None:
    """Return the rows at some places, if they are the first ones, or few and known to an index; else None."""
    if not span:
        return np.empty(0, np.int64)
    most = max(_AT_ONCE[-1], plan.table.nrows // _FEW_OF)
    rows = rows_at(plan, span) if span[-1] - span[0] < most else None
    if rows is None and span[-1] < most:
        rows = ordered_rows(plan.first(span[-1] + 1))[span.start :: span.step]
    return rows


def _found(plan: Plan, columns: dict[str, Column], span: range) -> Iterator[Found]:
    for stop in _firsts(plan):
        some = span[: max(0, -(-(stop - span.start) // span.step))]
        rows = _few(plan, some)
        assert rows is not None
        yield from _taken(columns, rows)
        span = span[len(some) :]
    rows = _few(plan, span)
    if rows is not None:
        yield from _taken(columns, rows)
        return
    at = 0
    for found in sorted_pieces(plan, columns):
        # Places of this piece that are within.
        first = max(0, -(-(at - span.start) // span.step)) if span else 0
        part = span[first : max(first, -(-(at + found.matched - span.start) // span.step))]
        if part:
            chosen = slice(part.start - at, part[-1] + 1 - at, span.step)
            yield Found(len(part), {name: values[chosen] for name, values in found.values.items()})
        at += found.matched
        if span and at > span[-1]:
            return


def _firsts(plan: Plan) -> tuple[int, ...]:
    """Return up to which places rows come before all are sorted; without an index not of small tables."""
    if index_of_order(plan) is not None:
        return _AT_ONCE
    return _AT_ONCE[-1:] if plan.table.nrows >= _FEW_OF * _AT_ONCE[-1] else ()


def _taken(columns: dict[str, Column], rows: Rows) -> Iterator[Found]:
    for window in windows(range(len(rows)), list(columns.values())):
        part = rows[window.start : window.stop]
        yield Found(len(part), take(columns, part))
