"""Rows in the order of columns, all of them with all of their columns, in memory that is bounded.

In: a plan with an order. Out: its rows, some at a time.
How: the rows are read once, as many at a time as the limit lets be in memory; each lot is sorted, and waits
    on disk unless it is the only one. Of each lot some rows are remembered, evenly spaced: all of these in
    order tell where to cut, so that the rows between two cuts, of all lots together, fit: they are read,
    sorted and given out. So each row is read once, written once, and read once again, however small the
    limit.
Source: the cuts are the splitting step of "parallel sorting by regular sampling" (Shi and Schaeffer, 1992).
Invariant: the order is that of `ordering.argsort`: rows that are equal keep theirs, since the lots do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coquina._core import Found
from coquina.tables.ordering import argsort, ranked
from coquina.tables.reading import TEXT_BYTES, joined, row_bytes
from coquina.tables.scanning import WINDOW_BYTES, scan
from coquina.tables.spilling import Spill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch
    from coquina.tables.plan import Plan
    from coquina.tables.spilling import Spilled

    Places = npt.NDArray[np.intp]

#: What sorting takes where nothing else is said.
MEMORY_LIMIT = 1 << 30
#: Of a row beside its values: its place in orders, its number, and what compares keys.
_ORDER_BYTES = 48
#: Values are there twice while they are put in order.
_COPIES = 2
_ROWS_MIN = 256
#: Numbers of rows are carried as a column of this name.
_NUMBERS = "\0rows"


class _Lot(NamedTuple):
    """Rows that were read together, sorted, on disk; and the keys of every so many of them."""

    kept: Spilled
    rows: int
    sample: list[Any]


class _Sort:
    """What is sorted by what, and how much of it at a time.

    carried: the columns that are read, keys too. rows: of a lot. step: of so many rows of a lot one is
    remembered.
    """

    def __init__(self, plan: Plan, columns: dict[str, Column], memory_limit: int) -> None:
        if memory_limit < 1:
            raise ValueError(f"memory_limit={memory_limit}: takes 1 byte or more")
        known = plan.table.layout.columns
        self.keys = [known[name] for name, _ in plan.order]
        self.flags = [is_descending for _, is_descending in plan.order]
        self.carried = {**columns, **{key.name: key for key in self.keys}}
        count = len(plan.span)
        cost = _COPIES * (_bytes(list(self.carried.values())) + _bytes(self.keys)) + _ORDER_BYTES
        # So many that neither the lots are too many, nor what is remembered of them.
        self.rows = max(_ROWS_MIN, round(count ** (2 / 3)), memory_limit // cost)
        self.step = max(1, self.rows * self.rows // (4 * max(count, 1)))

    def order(self, rows: Batch) -> Places:
        """Return the order of rows."""
        return argsort(self.keys, [rows[key.name] for key in self.keys], self.flags)

    def order_of(self, parts: Sequence[list[Any]]) -> Places:
        """Return the order of rows whose keys come in parts."""
        return argsort(self.keys, self.joined_keys(parts), self.flags)

    def joined_keys(self, parts: Sequence[list[Any]]) -> list[Any]:
        """Return keys that come in parts, which follow each other."""
        return [joined([part[at] for part in parts], key) for at, key in enumerate(self.keys)]

    def joined(self, name: str, parts: list[Any]) -> Any:
        """Return the values of a column that come in parts."""
        return joined(parts, self.carried.get(name, self.keys[0]))


def sorted_in_memory(plan: Plan, columns: dict[str, Column], shown: dict[str, Any]) -> Iterator[Batch] | None:
    """Return the rows of a plan in its order, some at a time; None if they exceed the memory limit.

    columns: those that are read. shown: the same as other columns, whose values have a method `take`.
    """
    sort = _Sort(plan, columns, MEMORY_LIMIT)
    condition, span = plan.scope()
    if len(span) > sort.rows:
        return None
    keys = {f"{_NUMBERS}{key.name}": ranked(key) for key in sort.keys}
    found = scan(condition, {**shown, **keys}, span)
    order = argsort(sort.keys, [found.values[name] for name in keys], sort.flags)
    most = max(_ROWS_MIN, WINDOW_BYTES // row_bytes(list(columns.values())))
    return (
        {name: found.values[name].take(order[at : at + most]) for name in shown}
        for at in range(0, len(order), most)
    )


def sorted_pieces(
    plan: Plan,
    columns: dict[str, Column],
    *,
    numbers: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    folder: str | None = None,
) -> Iterator[Found]:
    """Yield the rows of a plan in its order, some at a time; never none.

    folder: where rows wait if they take more than `memory_limit`; that of temporary files if None.

    Memory: about `memory_limit`, or what n^(2/3) of n rows take if that is more. Disk, if the rows take more
    than the limit: as many bytes as they have when they are not compressed.
    """
    sort = _Sort(plan, columns, memory_limit)
    wanted = [*columns, _NUMBERS] if numbers else list(columns)
    most = max(_ROWS_MIN, min(WINDOW_BYTES, memory_limit // 8) // row_bytes(list(columns.values())))
    for rows in _blocks(plan, sort, folder, numbers):
        order = sort.order(rows)
        for at in range(0, len(order), most):
            some = order[at : at + most]
            values = {name: rows[name][some] for name in wanted}
            yield Found(len(some), values, values.pop(_NUMBERS, None))


def _bytes(columns: Sequence[Column]) -> int:
    """Return what a row of columns takes, about; of text what it does on average."""
    total = row_bytes(columns)
    for column in columns:
        if column.kind == "string" and len(column):
            total += max(0, len(column.stored[1]) // len(column) - TEXT_BYTES // 2)
    return total


def _blocks(plan: Plan, sort: _Sort, folder: str | None, numbers: bool) -> Iterator[Batch]:
    """Yield rows in blocks, all rows of one before all of the next; in them they have no order yet."""
    lots = _lots(plan, sort, numbers)
    first = next(lots, None)
    if first is None:
        return
    second = next(lots, None)
    if second is None:
        yield first
        return
    spill = Spill(folder)
    try:
        kept = [_spilled(spill, sort, first), _spilled(spill, sort, second)]
        del first, second
        kept += [_spilled(spill, sort, lot) for lot in lots]
        starts = [0] * len(kept)
        for ends in _cuts(spill, sort, kept):
            if ends != starts:
                yield _between(spill, sort, kept, starts, ends)
            starts = ends
    finally:
        spill.close()


def _lots(plan: Plan, sort: _Sort, numbers: bool) -> Iterator[Batch]:
    """Yield the rows of a plan in the order of the table, as many at a time as are sorted at once."""
    condition, span = plan.scope()
    # Where few of the rows match, those that did wait for more.
    size = sort.rows if condition is None else sort.rows // 2
    waiting: list[Batch] = []
    count = 0
    for at in range(0, len(span), size):
        found = scan(condition, sort.carried, span[at : at + size], numbers=numbers)
        if not found.matched:
            continue
        if count + found.matched > size:
            yield _together(sort, waiting)
            waiting, count = [], 0
        waiting.append({**found.values, _NUMBERS: found.numbers} if numbers else found.values)
        count += found.matched
    if waiting:
        yield _together(sort, waiting)


def _together(sort: _Sort, parts: list[Batch]) -> Batch:
    """Return rows that came in parts."""
    if len(parts) == 1:
        return parts[0]
    return {name: sort.joined(name, [part.pop(name) for part in parts]) for name in list(parts[0])}


def _spilled(spill: Spill, sort: _Sort, rows: Batch) -> _Lot:
    """Write rows to disk in their order."""
    order = sort.order(rows)
    kept = {name: spill.put(values[order]) for name, values in rows.items()}
    return _Lot(kept, len(order), [rows[key.name][order[:: sort.step]] for key in sort.keys])


def _cuts(spill: Spill, sort: _Sort, lots: list[_Lot]) -> Iterator[list[int]]:
    """Yield how many rows of each lot come before a cut; rows between two cuts are as many as fit."""
    samples = [lot.sample for lot in lots]
    counts = [len(sample[0]) for sample in samples]
    owners = np.repeat(np.arange(len(lots)), counts)
    keys = sort.joined_keys(samples)
    order = argsort(sort.keys, keys, sort.flags)
    # Between two cuts lie so many of these, and up to `step` rows of each lot beside them.
    apart = max(1, sort.rows // (2 * sort.step))
    seen = np.zeros(len(lots), np.int64)
    for at in range(apart, len(order), apart):
        seen += np.bincount(owners[order[at - apart : at]], minlength=len(lots))
        cut = int(order[at])
        key = [one[cut : cut + 1] for one in keys]
        ends = [_end(spill, sort, lot, int(count), key) for lot, count in zip(lots, seen, strict=True)]
        owner = int(owners[cut])
        yield [
            int(seen[owner]) * sort.step if at == owner else end[at > owner] for at, end in enumerate(ends)
        ]
    yield [lot.rows for lot in lots]


def _end(spill: Spill, sort: _Sort, lot: _Lot, seen: int, key: list[Any]) -> tuple[int, int]:
    """Return how many rows of a lot come before a cut: `seen` of those that are remembered do.

    The first number is for a lot before the one that the row behind the cut is in, the second for one after
    it: rows that are equal to that row, whose keys are `key`, are before the cut, or behind it.
    """
    start, stop = max(0, (seen - 1) * sort.step + 1), min(lot.rows, seen * sort.step)
    if start >= stop:
        return stop, stop
    keys = [spill.get(lot.kept[one.name], start, stop) for one in sort.keys]
    after = np.flatnonzero(sort.order_of([keys, key]) == stop - start)[0]
    before = np.flatnonzero(sort.order_of([key, keys]) == 0)[0]
    return start + int(after), start + int(before)


def _between(spill: Spill, sort: _Sort, lots: list[_Lot], starts: list[int], stops: list[int]) -> Batch:
    """Return the rows between two cuts, of all lots."""
    ranges = [one for one in zip(lots, starts, stops, strict=True) if one[1] < one[2]]
    return {
        name: sort.joined(name, [spill.get(lot.kept[name], start, stop) for lot, start, stop in ranges])
        for name in lots[0].kept
    }
