"""Rows in the order of columns, all of them with all of their columns, in memory that is bounded.

In: a plan with an order. Out: its rows, some at a time. The engine sorts; what does not fit into memory waits
in a file.
Invariant: the order is that of `ordering.argsort`: rows that are equal keep theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.tables.ordering import MEMORY_LIMIT, sorted_rows
from coquina.tables.reading import row_bytes
from coquina.tables.scanning import WINDOW_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina._core import Found
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan

_ROWS_MIN = 256


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
    rows = sorted_rows(plan, columns, numbers=numbers, memory_limit=memory_limit, folder=folder)
    most = max(_ROWS_MIN, min(WINDOW_BYTES, memory_limit // 8) // row_bytes(list(columns.values())))
    while (found := rows.next(most)) is not None:
        yield found
