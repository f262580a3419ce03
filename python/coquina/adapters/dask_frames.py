"""Tables and selections as Dask DataFrames: a partition is a range of rows, and reads the columns it needs.

In: a selection. Out: a `dask.dataframe.DataFrame` made by `from_map`, whose optimizer passes columns on.
Invariant: the partitions together are the rows of the selection, in the order of the table.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from coquina.folder_members import TABLE
from coquina.lazy_property import lazy_property
from coquina.tables.selection import Selection

if TYPE_CHECKING:
    from coquina.tables.plan import Plan

#: Bytes of rows in a partition where no number of rows is given: what Dask recommends.
PARTITION_BYTES = 1 << 27


def to_dask(rows: Selection, partition_rows: int | None) -> Any:
    """Return rows as a Dask DataFrame; see `Table.to_dask`."""
    try:
        frames = import_module("dask.dataframe")
    except ImportError as error:
        raise ImportError("to_dask needs Dask's DataFrames: pip install 'dask[dataframe]'") from error
    plan = rows.plan
    if plan.order or (plan.step or 1) != 1:
        raise ValueError("to_dask: rows in the order of the table: sort the DataFrame, without step")
    plan = plan.bounded()
    span = plan.span
    each = partition_rows or _default_rows(plan)
    if each < 1:
        raise ValueError(f"to_dask: {partition_rows} rows in a partition: at least 1")
    edges = [*range(span.start, max(span.stop, span.start + 1), each), max(span.stop, span.start)]
    part = Part(plan, uuid4().hex)
    # Without conditions the index is that of the rows, and Dask knows which partition has which.
    divisions = None if plan.conditions else (*edges[:-1], max(edges[-1] - 1, edges[0]))
    return frames.from_map(
        part, edges[:-1], edges[1:], meta=part(0, 0), divisions=divisions, label="coquina-table"
    )


def _default_rows(plan: Plan) -> int:
    """Return how many rows have about `PARTITION_BYTES`: whole chunks of the table."""
    wanted = PARTITION_BYTES // max(plan.row_shape().dtype.itemsize, 1)
    chunk = int(plan.table.layout.info().get("chunk_rows") or 1)
    return max(wanted // chunk, 1) * chunk


@dataclass(frozen=True)
class Part:
    """What Dask calls for a partition. It can be pickled if its table can: then it reopens by its path."""

    plan: Plan
    unique: str

    def __call__(self, start: int, stop: int, columns: list[str] | None = None) -> Any:
        """Return the rows from `start` to `stop` that meet the conditions, as a DataFrame of pandas."""
        rows = Selection(replace(self.plan, start=start, stop=stop))
        frame = rows.to_pandas(columns)
        frame.index = rows.row_numbers() if self.plan.conditions else frame.index + start
        return frame

    @lazy_property
    def token(self) -> Any:
        """What tells these rows from others: the state of the file, or the call that made them."""
        plan, table = self.plan, self.plan.table
        path = table.path or ""
        # Every commit to a table in a directory changes this file.
        path = os.path.join(path, TABLE) if os.path.isdir(path) else path
        texts = [one if isinstance(one, str) else one.given for one in plan.conditions]
        if not os.path.isfile(path) or not all(isinstance(text, str) for text in texts):
            return self.unique
        found = os.stat(path)
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, table.nrows)
        conditions = [repr(one) for one in plan.conditions]
        return path, table.name, state, conditions, plan.columns, plan.start, plan.stop

    def __dask_tokenize__(self) -> Any:
        """Return the token."""
        return self.token


__all__ = ["to_dask"]
