"""What a scan means, by plain NumPy: the judge of `scanning`.

In: a condition, columns, and a range of rows. Out: the values of the rows where the condition is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import ColumnReader
from coquina.expressions import reference
from coquina.tables.reading import joined

if TYPE_CHECKING:
    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column

_ROWS = 1 << 16


def scan(
    condition: Node | None, columns: list[Column], span: range, limit: int | None = None
) -> tuple[Any, list[Any]]:
    """Return the numbers of the first `limit` rows that match, and their values in each column."""
    numbers: list[Any] = []
    parts: list[list[Any]] = [[] for _ in columns]
    left = len(span) if limit is None else limit
    for at in range(0, len(span), _ROWS):
        rows = span[at : at + _ROWS]
        if not left:
            break
        found = np.arange(rows.start, rows.stop, rows.step)
        inside = slice(rows.start, rows[-1] + 1)
        if condition is not None:
            mask = reference.read(condition, (inside,))
            found = found[mask[:: rows.step]]
        found = found[:left]
        left -= len(found)
        numbers.append(found)
        for column, values in zip(columns, parts, strict=True):
            values.append(column.read(inside)[found - rows.start])
    rows_found = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
    return rows_found, [joined(values, column) for values, column in zip(parts, columns, strict=True)]


def reader_of(*sources: Any) -> ColumnReader:
    """Return what reads sources of the engine, numbered, as they are gathered."""
    return ColumnReader({str(number): _Part(source) for number, source in enumerate(sources)})


class _Part:
    def __init__(self, source: Any) -> None:
        self._source = source

    def sources(self) -> list[Any]:
        return [self._source]

    def values(self, parts: Any) -> Any:
        (part,) = parts
        return part

    def read(self, rows: slice) -> Any:
        assert (rows.start, rows.stop) == (0, 0)
        is_text = isinstance(self._source, tuple)
        return (np.zeros(1, np.int64), np.empty(0, np.uint8)) if is_text else np.empty(0, np.uint8)
