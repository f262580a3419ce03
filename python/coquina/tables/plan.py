"""What a query asks for, before anything is read: conditions, rows, columns, order, and how many.

In: what the methods of tables and selections got. Out: a `Plan`, which says what to scan.
Invariant: a plan never changes. It follows its table: rows that are appended later are within it, unless it
was given a `stop`; conditions that are expressions are the exception, which have the length they were made
with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.expressions import engine
from coquina.expressions.explanation import explanation_of
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call
from coquina.expressions.grammar import ExpressionError
from coquina.tables.access import computed_of, found_of
from coquina.tables.conditions import as_condition, reader_of
from coquina.tables.elsewhere import source_node
from coquina.tables.reading import RowShape, pick, refuse_mapping
from coquina.tables.scanning import all_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Found, Lazy
    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column
    from coquina.tables.reading import Names, Picked
    from coquina.tables.table import Table


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was given: text and the values of its parameters, or bools, lazy or not."""

    given: Any
    params: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """The text, or what the expression shows."""
        if isinstance(self.given, str):
            return self.given
        return explanation_of(self.given.node).formula if isinstance(self.given, Expr) else repr(self.given)


def bound(condition: str | Condition, table: Table) -> Lazy:
    """Return where a condition holds, by the table's columns as these are now."""
    layout, params = table.layout, None
    if not isinstance(condition, str):
        if not isinstance(condition.given, str):
            return engine.lower(_given(condition, table))
        condition, params = condition.given, condition.params
    reader = layout.text_reader
    if reader is not None and reader.columns is layout.columns and not params:
        try:
            return reader.engine.condition(condition)
        except ExpressionError:
            return reader.condition(condition)
    return reader_of(layout).condition(condition, params)


def _given(condition: Condition, table: Table) -> Node:
    """Return a condition that is no text as a node of the table's columns."""
    node = as_node(condition.given)
    if len(node.shape) == 1 and node.shape != (table.nrows,):
        raise ValueError(
            f"a condition of {node.shape[0]} items for {table.nrows} rows: expressions keep the length "
            "that they were made with; text follows the table"
        )
    return as_condition(condition.given, table.layout.columns)


def _node(condition: str | Condition, table: Table) -> Node:
    """Return a condition as a node, which shows what was given."""
    if isinstance(condition, str) or isinstance(condition.given, str):
        return source_node("bool", bound(condition, table), str(condition))
    return _given(condition, table)


@dataclass(frozen=True)
class Plan:
    """Rows of a table: those of `start:stop:step` that meet all conditions, in an order, the first `limit`.

    columns: the names of those that are read where none are asked for; None for all.
    order: names of columns, and whether each is taken from the greatest to the least.
    """

    table: Table
    conditions: tuple[str | Condition, ...] = ()
    start: int | None = None
    stop: int | None = None
    step: int | None = None
    columns: tuple[str, ...] | None = None
    order: tuple[tuple[str, bool], ...] = ()
    limit: int | None = None

    @property
    def span(self) -> range:
        """The rows that are looked at."""
        table = self.table
        nrows = table.layout.nrows
        if self.start is None and self.stop is None and self.step is None:
            return range(nrows)
        return range(*slice(self.start, self.stop, self.step).indices(nrows))

    @property
    def is_all(self) -> bool:
        """Whether these are all rows of the table, in their order."""
        return (
            not (self.conditions or self.order) and self.limit is None and len(self.span) == self.table.nrows
        )

    def scope(self) -> tuple[Lazy | None, range]:
        """Return where all conditions hold, None if there are none, and the rows that are looked at.

        It is computed with what indexes know.
        """
        # Another thread may append rows at any time: the condition must have all that are looked at.
        span = self.span
        return computed_of(self) if self.conditions else None, span

    def condition(self) -> Lazy | None:
        """Return where all conditions hold, as they were given; None if there are none."""
        if not self.conditions:
            return None
        if len(self.conditions) == 1:
            return bound(self.conditions[0], self.table)
        return all_of([bound(one, self.table) for one in self.conditions])

    def node(self) -> Node:
        """Return where all conditions hold, as a node; for people."""
        nodes = [_node(one, self.table) for one in self.conditions]
        return reduce(partial(call, FUNCTIONS["logical_and"]), nodes)

    def where(self, more: str | Condition, start: Any, stop: Any, step: Any) -> Plan:
        """Return the plan of those of these rows that meet one more condition."""
        if self.order:
            raise ValueError("where() comes before order_by()")
        plan = self if self.limit is None else self.bounded()
        if start is not None or stop is not None or step is not None:
            if (
                self.start is not None
                or self.stop is not None
                or self.step is not None
                or self.limit is not None
            ):
                raise ValueError(
                    "start, stop and step have been given: they are rows of the table, and not twice"
                )
            plan = replace(plan, start=_whole(start), stop=_whole(stop), step=_step(step))
        bound(more, self.table)  # Its errors are for whoever wrote it, now.
        conditions = (*plan.conditions, more)
        return Plan(plan.table, conditions, plan.start, plan.stop, plan.step, plan.columns, (), plan.limit)

    def selecting(self, names: Names) -> Plan:
        """Return the plan that reads only these columns."""
        picked = pick(self.table.schema, names)
        return replace(self, columns=tuple([one.path for one in picked]))

    def ordered(self, names: Names, descending: bool | list[bool]) -> Plan:
        """Return the plan with the rows in the order of some columns; rows that are equal keep theirs."""
        refuse_mapping(names)
        keys = [names] if isinstance(names, str) else list(names or ())
        flags = [descending] * len(keys) if isinstance(descending, bool) else list(descending)
        if not keys or len(flags) != len(keys):
            raise ValueError(f"order_by: {len(keys)} columns, and {len(flags)} times whether they descend")
        for one in pick(self.table.schema, keys):
            if one.spec.children or one.spec.shape:
                raise TypeError(f"order_by: {one.path!r} has no single value in a row")
        if self.order and self.limit is not None:
            raise ValueError("order_by() comes before head()")
        plan = self.bounded()
        return replace(plan, order=(*zip(keys, flags, strict=True), *plan.order))

    def first(self, count: int) -> Plan:
        """Return the plan of the first rows of these."""
        count = index(count)
        if count < 0:
            raise ValueError(f"head: {count} is not a number of rows")
        return replace(self, limit=count if self.limit is None else min(count, self.limit))

    def bounded(self) -> Plan:
        """Return a plan of the same rows without a limit, if they have no order. May scan."""
        if self.limit is None or self.order:
            return self
        span = self.span
        if not self.conditions:
            span = span[: self.limit]
        else:
            numbers = self.scan({}, numbers=True).numbers
            assert numbers is not None
            if len(numbers) < self.limit:
                return replace(self, limit=None)
            span = range(span.start, int(numbers[-1]) + 1 if len(numbers) else span.start, span.step)
        return replace(self, start=span.start, stop=span.stop, step=span.step, limit=None)

    def picked(self, names: Names) -> tuple[list[Picked], dict[str, Column]]:
        """Return the fields of the result, and the columns that are read for them."""
        found = self.row_shape(names)
        return found.picked, found.columns

    def row_shape(self, names: Names = None) -> RowShape:
        """Return what the rows of the result are made of."""
        if names is None and self.columns is None:
            return self.table.row_shape
        return RowShape.of(self.table.layout, self.columns if names is None else names)

    @property
    def records(self) -> Any:
        """Whole records as one column, if all columns are wanted and are stored as they are shown."""
        return self.table.records if self.columns is None else None

    def scan(self, columns: dict[str, Column], *, numbers: bool = False) -> Found:
        """Return all of the rows at once, without their order."""
        return found_of(self, columns, numbers=numbers)


def is_condition(rows: Any) -> bool:
    """Whether rows are given by a condition: text, or a lazy array of bool."""
    if isinstance(rows, str):
        return True
    return (
        not isinstance(rows, np.ndarray)
        and getattr(rows, "dtype", None) == np.bool_
        and hasattr(rows, "shape")
    )


def _whole(value: Any) -> int | None:
    return None if value is None else index(value)


def _step(value: Any) -> int | None:
    step = _whole(value)
    if step is not None and step < 1:
        raise ValueError(f"step {step}: rows are looked at from the first to the last")
    return step
