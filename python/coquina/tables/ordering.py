"""Rows in the order of columns: all of them, or the first few without sorting the others.

In: a plan. Out: row numbers, or rows that the engine has sorted. For the first few a window of the columns
that are sorted by is in memory.
Invariant: rows that are equal keep their order; what is missing, and NaN, comes last either way.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import ColumnReader, SortedRows, UnsupportedError, lazy_memory, order_of, text_ranks
from coquina.expressions import engine
from coquina.tables.reading import joined
from coquina.tables.scanning import all_of, scan, windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import QueryColumn
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan

    Integers = npt.NDArray[np.int64]

#: Rows of the first window in which the first few are looked for; each other one is four times as long.
_FIRST_ROWS = 1 << 16
#: What sorting takes where nothing else is said.
MEMORY_LIMIT = 1 << 30
#: Of fewer texts NumPy finds the order as quickly.
_RANKED_TEXTS = 1 << 10
#: The same of numbers, and the types of those that the engine orders. Single bytes NumPy counts.
_ORDERED_NUMBERS = 1 << 14
_NUMBERS = ("int32", "int64", "uint32", "uint64", "float32", "float64")


def ordered_rows(plan: Plan) -> Integers:
    """Return the numbers of a plan's rows in their order, as many as it wants."""
    if plan.limit is not None:
        columns = [plan.table.layout.columns[name] for name, _ in plan.order]
        return _first(plan, columns, [is_descending for _, is_descending in plan.order], plan.limit)
    found = sorted_rows(plan, {}, numbers=True).next(sys.maxsize)
    return np.empty(0, np.int64) if found is None or found.numbers is None else found.numbers


def sorted_rows(
    plan: Plan,
    columns: dict[str, Column],
    *,
    numbers: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    folder: str | None = None,
) -> SortedRows:
    """Return a plan's rows in its order, with values of columns: the engine has read and sorted them.

    folder: where rows wait if they take more than `memory_limit`; that of temporary files if None.
    """
    if memory_limit < 1:
        raise ValueError(f"memory_limit={memory_limit}: takes 1 byte or more")
    known = plan.table.layout.columns
    condition, span = plan.scope()
    return SortedRows(
        ColumnReader(columns),
        condition,
        span,
        [(_sort_key(known[name]), is_descending) for name, is_descending in plan.order],
        numbers=numbers,
        memory_limit=memory_limit,
        folder=tempfile.gettempdir() if folder is None else folder,
    )


def _sort_key(column: Column) -> QueryColumn:
    """Return a column as the engine sorts by it; one that it has no type for by the ranks of its values."""
    try:
        return column.query_column()
    except UnsupportedError:
        values, missing = split_missing(column.read(slice(None)))
        ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
        mask = None if missing is None else lazy_memory(np.asarray(missing))
        return column.name, "numbers", "int64", [lazy_memory(ranks)], mask, None


def _first(plan: Plan, columns: list[Column], flags: list[bool], count: int) -> Integers:
    numbers: Integers = np.empty(0, np.int64)
    keys: list[Any] = [joined([], column) for column in columns]
    keyed = {column.name: column for column in columns}
    condition, span = plan.scope()
    found_where = condition
    for window in _growing(span if count else span[:0], columns):
        found = scan(found_where, keyed, window, numbers=True)
        if not found.matched or found.numbers is None:
            continue
        numbers = np.concatenate([numbers, found.numbers])
        news = [found.values[column.name] for column in columns]
        keys = [
            joined([key, new] if len(key) else [new], column)
            for key, new, column in zip(keys, news, columns, strict=True)
        ]
        some = _candidates(keys[0], flags[0], count)
        if some is not None:
            numbers, keys = numbers[some], [key[some] for key in keys]
        best = argsort(columns, keys, flags)[:count]
        numbers, keys = numbers[best], [key[best] for key in keys]
        better = _no_worse(columns[0], keys[0][-1], flags[0], is_strict=len(columns) == 1)
        if len(numbers) == count and better is not None:
            found_where = all_of([condition, engine.lower(better)])
    return numbers


def _growing(span: range, columns: Sequence[Column]) -> Iterator[range]:
    """Yield windows, small ones first: what they have makes it needless to look at most of the others."""
    rows = _FIRST_ROWS
    for part in windows(span, columns):
        while part:
            yield part[:rows]
            part, rows = part[rows:], 4 * rows


def _no_worse(column: Column, last: Any, is_descending: bool, *, is_strict: bool) -> Node | None:
    """Return where a key comes before that of the last candidate, or also where it is the same.

    Rows behind it with the same key come after it, if there are no other keys. The engine passes over blocks
    that have none. None for keys that are not plain numbers.
    """
    if column.kind != "number" or column.is_nullable or column.dtype.kind not in "iuf" or last != last:
        return None
    op = "greater" if is_descending else "less"
    return column.compared(op if is_strict else f"{op}_equal", last)


def _candidates(key: Any, is_descending: bool, count: int) -> npt.NDArray[np.intp] | None:
    """Return the places of what can be among the first `count` by this key; None for all."""
    if (
        len(key) <= 4 * count
        or not count
        or isinstance(key, np.ma.MaskedArray)
        or key.dtype.kind not in "iuf"
    ):
        return None
    values, missing = split_missing(key)
    there = values if missing is None else values[~missing]
    if len(there) <= count:
        return None
    at = len(there) - count if is_descending else count - 1
    last = np.partition(there, at)[at]
    is_first = values >= last if is_descending else values <= last
    return np.flatnonzero(is_first if missing is None else is_first & ~missing)


def argsort(columns: Sequence[Column], keys: Sequence[Any], flags: Sequence[bool]) -> npt.NDArray[np.intp]:
    """Return the places of the rows in the order of keys, values of columns; the first weighs most."""
    order: Any = None
    for column, key, is_descending in zip(reversed(columns), reversed(keys), reversed(flags), strict=True):
        values, missing = split_missing(_ranked(column, key))
        places = _stable(values if order is None else values[order], is_descending)
        order = places if order is None else order[places]
        if missing is not None:
            order = order[np.argsort(missing[order], kind="stable")]
    return order


def _ranked(column: Column, key: Any) -> Any:
    """Return what values are sorted by: ordered categories by their places, as conditions compare them."""
    if not getattr(column, "ordered", False):
        return _ranks_of(key) if key.dtype.kind in "SU" else key
    codes: Any = column.encode(key)[0]
    return np.ma.MaskedArray(codes, codes < 0)


def _ranks_of(texts: Any) -> Any:
    """Return the ranks of texts of one length, masked where these are."""
    if isinstance(texts, np.ma.MaskedArray):
        masked = cast("Any", texts)
        return np.ma.MaskedArray(_ranks_of(masked.data), np.ma.getmaskarray(masked))
    width = texts.itemsize
    if len(texts) < _RANKED_TEXTS or not width:
        return texts
    # The greatest byte of a character first: then bytes are in the order of characters.
    plain = np.ascontiguousarray(texts, texts.dtype.newbyteorder(">"))
    return text_ranks(np.arange(len(texts) + 1, dtype=np.int64) * width, plain.view(np.uint8))


def _stable(values: Any, is_descending: bool) -> npt.NDArray[np.intp]:
    if not is_descending:
        return _ascending(values)
    # Backwards, so that rows that are equal come out in their order.
    return (len(values) - 1 - _ascending(values[::-1]))[::-1]


def _ascending(values: Any) -> npt.NDArray[np.intp]:
    """Return the places of values that are all there, as `np.argsort` does that is stable."""
    if len(values) < _ORDERED_NUMBERS or values.dtype.name not in _NUMBERS:
        return np.argsort(values, kind="stable")
    numbers = np.require(values, values.dtype.newbyteorder("="), ("C_CONTIGUOUS", "ALIGNED"))
    return order_of(numbers, numbers.dtype.name, numbers.itemsize)


def split_missing(key: Any) -> tuple[Any, Any]:
    """Return values that can be sorted, and where they are missing; None if nowhere."""
    if isinstance(key, np.ma.MaskedArray):
        masked = cast("Any", key)
        mask = np.ma.getmaskarray(masked)
        values, inner = split_missing(masked.data)
        missing: Any = mask if inner is None else mask | inner
        # What stands behind the mask must not move the rows.
        if values.dtype.kind != "T":
            values = cast("Any", np).where(missing, values[:1], values)
        return values, missing
    if key.dtype.kind == "f" or key.dtype.kind == "c":
        return _filled(key, np.isnan(key), 0)
    if key.dtype.kind in "mM":
        return _filled(key.view(np.int64), np.isnat(key), 0)
    if key.dtype.kind == "T" and hasattr(key.dtype, "na_object"):
        missing = np.array([one is key.dtype.na_object for one in key], bool)
        plain = np.where(missing, "", key.astype(object)).astype(np.dtypes.StringDType())
        return plain, missing if missing.any() else None
    return key, None


def _filled(values: Any, missing: npt.NDArray[np.bool_], other: Any) -> tuple[Any, Any]:
    if not missing.any():
        return values, None
    return cast("Any", np).where(missing, other, values), missing
