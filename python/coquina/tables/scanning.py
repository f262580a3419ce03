"""The one walk of all queries: rows where a condition is true, and their values, straight from the blocks.

In: a condition, columns, a range of rows. Out: `Found`; a window of rows at a time where a result
would be large. The engine computes the condition block by block on all threads, skips blocks that cannot
match, and decodes the columns only where rows matched.
Invariant: results are those of a plain loop over all rows, for any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina import _core
from coquina._core import ColumnReader
from coquina.expressions import engine
from coquina.tables.reading import ColumnSet, row_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coquina._core import Found, Lazy
    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column

#: What a window of rows takes in memory, about.
WINDOW_BYTES = 64 << 20
_ROWS_MIN = 1 << 14


def scan(
    condition: Lazy | None,
    columns: dict[str, Column],
    span: range,
    *,
    numbers: bool = False,
    limit: int | None = None,
) -> Found:
    """Return the rows of `span` where `condition` is true, at most the first `limit`."""
    reader = columns.reader if isinstance(columns, ColumnSet) else ColumnReader(columns)
    return reader.scan(condition, span, numbers=numbers, limit=limit)


def nothing(columns: dict[str, Column], *, numbers: bool) -> Found:
    """Return no rows."""
    return ColumnReader(columns).nothing(numbers=numbers)


def all_of(conditions: Sequence[Lazy | None]) -> Lazy | None:
    """Return where all of some conditions hold; None if there are none."""
    given = [one for one in conditions if one is not None]
    return _core.all_of(given, min([one.shape[0] for one in given])) if given else None


def windows(
    span: range, columns: Sequence[Column], most: int | None = None, first: int | None = None
) -> Iterator[range]:
    """Yield parts of a range of rows whose values in `columns` take some memory, and no more.

    most: rows of a window at most. first: those of the first window, if no more may be wanted; each of
    the others is twice as long as the one before.
    """
    rows = max(_ROWS_MIN, WINDOW_BYTES // row_bytes(columns))
    if most is not None:
        rows = min(rows, max(1, most))
    at, size = 0, rows if first is None else max(1, min(first, rows))
    while at < len(span):
        yield span[at : at + size]
        at, size = at + size, min(2 * size, rows)


def before(span: range, row: int) -> range:
    """Return the part of a range of rows, which ascend, that is before a row."""
    return span[: len(range(span.start, min(span.stop, row), span.step))]


def fold(condition: Lazy | None, node: Node, name: str, span: range) -> tuple[bytes, int, dict[str, int]]:
    """Fold the values of a node, in the rows of `span` where `condition` is true."""
    kind = engine.type_name(node.dtype) or node.dtype.name
    return _core.scan_fold(
        condition,
        engine.lower(node),
        kind,
        name,
        span.start,
        span[-1] + 1 if span else span.start,
        span.step,
    )
