"""Tables and selections as lazy frames of Polars, which scan what a query needs of them.

In: a selection. Out: a `polars.LazyFrame`. Polars says which columns it wants, how many rows and by which
    predicate; the columns alone are decoded, and as much of the predicate as can be said is a condition of
    ours: answered by indexes, and blocks that cannot match are passed over.
Invariant: the rows are those of Polars' own filter, in the order of the table: each batch is filtered by all
    of the predicate.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coquina.adapters.polars_predicates import ColumnType, condition_of
from coquina.tables import arrow
from coquina.tables.arrow_module import pyarrow
from coquina.tables.plan import Condition
from coquina.tables.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.tables.plan import Plan


def scan(rows: Selection) -> Any:
    """Return rows as a `polars.LazyFrame`. Raises ImportError where Polars is not installed."""
    source = Source(rows)
    try:
        plugins = import_module("polars.io.plugins")
    except ImportError as error:
        raise ImportError("scan_polars needs Polars from 1.30 on: pip install polars") from error
    return plugins.register_io_source(source, schema=source.schema(), validate_schema=True, is_pure=True)


@dataclass(frozen=True)
class Source:
    """What Polars calls for batches; it can be pickled if its table can."""

    rows: Selection

    def schema(self) -> Any:
        """Return the columns' names and Polars' dtypes."""
        empty = pyarrow().Table.from_batches([], arrow.reader(self.rows).schema)
        return import_module("polars").from_arrow(empty).schema

    def condition(self, predicate: Any) -> Condition | None:
        """Return what our scan is asked of a predicate; None if nothing."""
        picked, columns = self.rows.plan.picked(None)
        dtypes = self.schema()
        # Conditions name columns by their paths; those within others are parts of structs.
        types = {
            one.name: ColumnType(columns[one.path].kind, dtypes[one.name])
            for one in picked
            if one.name == one.path and not one.spec.children and not one.spec.shape
        }
        found = condition_of(predicate, types)
        return None if found is None else Condition(*found)

    def __call__(
        self, columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        """Yield frames of `columns`, of the rows that `predicate` keeps: the first `n_rows` of these.

        batch_size: how many rows a frame has at most.
        """
        left = n_rows
        names = list(self.rows.columns) if columns is None else columns
        for frame in self._frames(self._plan(predicate, n_rows), names):
            kept = frame if predicate is None else frame.filter(predicate)
            if left is not None:
                kept = kept.head(left)
                left -= len(kept)
            if len(kept):
                yield from kept.iter_slices(batch_size or len(kept))
            if left == 0:
                return

    def _plan(self, predicate: Any, n_rows: int | None) -> Plan:
        plan = self.rows.plan
        if predicate is None:
            return plan if n_rows is None else plan.first(n_rows)
        # Conditions come before an order: what is in one is filtered by Polars alone.
        condition = None if plan.order else self.condition(predicate)
        return plan if condition is None else plan.where(condition, None, None, None)

    def _frames(self, plan: Plan, names: list[str]) -> Iterator[Any]:
        from_arrow = import_module("polars").from_arrow
        for batch in arrow.reader(Selection(plan), names):
            yield from_arrow(batch)


__all__ = ["Source", "scan"]
