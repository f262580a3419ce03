"""The one walk of all queries: rows where a condition is true, and their values, straight from the blocks.

In: a condition as a node, columns, a range of rows. Out: `Found`; a window of rows at a time where a result
would be large. The engine computes the condition block by block on all threads, skips blocks that cannot
match, and decodes the columns only where rows matched.
Invariant: results are those of a plain loop over all rows, for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.expressions import engine
from coquina.tables.reading import row_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Source
    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch

#: What a window of rows takes in memory, about.
WINDOW_BYTES = 64 << 20
_ROWS_MIN = 1 << 14


@dataclass(slots=True)
class Found:
    """What a scan found: how many rows matched, their values by column, and where they are if asked for."""

    matched: int
    values: Batch
    numbers: npt.NDArray[np.int64] | None = None
    report: dict[str, int] = field(default_factory=dict[str, int])


def scan(
    condition: Node | None,
    columns: dict[str, Column],
    span: range,
    *,
    numbers: bool = False,
    limit: int | None = None,
) -> Found:
    """Return the rows of `span` where `condition` is true, at most the first `limit`."""
    if not span or limit == 0 or (condition is None and not columns and not numbers):
        count = 0 if not span else len(span) if limit is None else min(limit, len(span))
        return nothing(columns, numbers=numbers) if columns or numbers else Found(count, {})
    sources: list[Source] = []
    ends: list[int] = []
    for column in columns.values():
        sources += column.sources()
        ends.append(len(sources))
    matched, parts, found, report = _core.scan(
        None if condition is None else engine.lower(condition),
        sources,
        span.start,
        span[-1] + 1,
        span.step,
        numbers=numbers,
        limit=limit,
    )
    values: Batch = {}
    at = 0
    for (path, column), end in zip(columns.items(), ends, strict=True):
        values[path] = column.values(parts[at:end])
        at = end
    return Found(matched, values, None if found is None else cast("Any", found).view(np.int64), report)


def nothing(columns: dict[str, Column], *, numbers: bool) -> Found:
    """Return no rows."""
    values = {path: column.read(slice(0, 0)) for path, column in columns.items()}
    return Found(0, values, np.empty(0, np.int64) if numbers else None)


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


def fold(condition: Node | None, node: Node, name: str, span: range) -> tuple[bytes, int, dict[str, int]]:
    """Fold the values of a node, in the rows of `span` where `condition` is true."""
    kind = engine.type_name(node.dtype) or node.dtype.name
    return _core.scan_fold(
        None if condition is None else engine.lower(condition),
        engine.lower(node),
        kind,
        name,
        span.start,
        span[-1] + 1 if span else span.start,
        span.step,
    )
