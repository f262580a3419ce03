"""What all handles of one table have in common: rows that wait, the lock, and the indexes.

In: a layout. Out: the state of the table that it stores, for one handle or, in a directory that is opened for
    writing more than once, for several.
Invariant: rows are appended in the order in which they came, by whichever handle.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakSet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coquina.indexes.store import IndexStore
    from coquina.tables.layout import Layout
    from coquina.tables.table import Table


class TableState:
    """The state of an open table.

    waiting: rows that are not handed over to the layout yet, waiting_rows of them. pending: how many rows
    there are with those that are not written; 0 if all are. row: the dtype of rows that are appended as they
    are, None if there is none, False before that is known.
    """

    __slots__ = (
        "__weakref__",
        "handles",
        "index_store",
        "layout",
        "lock",
        "pending",
        "row",
        "waiting",
        "waiting_rows",
    )

    def __init__(self, layout: Layout) -> None:
        """Nothing waits."""
        self.layout = layout
        self.lock = threading.RLock()
        self.index_store: IndexStore | None = None
        self.pending = 0
        self.waiting: list[npt.NDArray[Any]] = []
        self.waiting_rows = 0
        self.row: np.dtype[Any] | Literal[False] | None = False
        self.handles: WeakSet[Table] = WeakSet()

    def is_last(self, table: Table) -> bool:
        """Whether all other handles have been closed."""
        return all(one is table or one.is_closed for one in self.handles)
