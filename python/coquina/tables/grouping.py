"""Rows grouped by the values of columns, and what is wanted of each group.

In: a plan, names of key columns, and aggregates. Out: a structured array with a row for each group, in the
order in which the groups first appear; keys first, then the aggregates.
Keys are hashed by the engine on all threads; memory: the groups. Text that is aggregated is so by Python, a
window of rows at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.tables.aggregates import operand
from coquina.tables.grouping_engine import group_by_engine
from coquina.tables.grouping_reference import group_by_windows
from coquina.tables.reading import plain, refuse_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan

#: What can be asked of a group.
AGGREGATES = ("count", "sum", "mean", "min", "max", "std", "var", "first", "last", "any", "all", "nunique")


class Wanted(NamedTuple):
    """An aggregate: what it is called in the result, and of which column, or which numbers, it is what."""

    name: str
    column: Column | None
    node: Node | None
    kind: str


class Groups:
    """Rows grouped by the values of columns; `agg` computes."""

    def __init__(self, plan: Plan, keys: str | Sequence[str]) -> None:
        """Made by `group_by` of tables and selections."""
        refuse_mapping(keys)
        names = [keys] if isinstance(keys, str) else list(keys)
        if not names:
            raise ValueError("group_by: no columns")
        self._plan = plan
        self._keys = names
        for name in names:
            if name not in plan.table.layout.columns:
                raise KeyError(f"group_by: there is no column {name!r}")
            if plan.table.layout.columns[name].shape:
                raise TypeError(f"group_by: {name!r} has no single value in a row")

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, which says how `agg` is called."""
            text = f"groups have no attribute {name!r}; use agg({{'price': ['mean', 'max']}}, rows='count')"
            raise AttributeError(text, name=name, obj=self)

    def agg(
        self, spec: Mapping[str, str | Sequence[str]] | None = None, /, **named: str | tuple[str, str]
    ) -> npt.NDArray[Any]:
        """Return a row for each group, in the order of their first rows: its keys, then the aggregates.

        spec: by column one or several of count, sum, mean, min, max, std, var, first, last, any, all,
            nunique; they are called `column_mean` and the like.
        named: by the name in the result the same as `(column, aggregate)`, or "count" for rows.

        Columns may be expressions of columns, as text. Nulls do not count. Variances are those of NumPy,
        with the count as divisor.
        """
        wanted = [self._wanted(f"{column}_{kind}", column, kind) for column, kind in _pairs(spec)]
        for name, one in named.items():
            column, kind = (None, one) if isinstance(one, str) else one
            wanted.append(self._wanted(name, column, kind))
        names = [*self._keys, *[one.name for one in wanted]]
        if len(set(names)) < len(names):
            raise ValueError(f"agg: names {names}: one is there twice")
        plan = self._plan.bounded()
        keys = [plan.table.layout.columns[name] for name in self._keys]
        columns = group_by_engine(plan, keys, wanted)
        if columns is None:
            columns = group_by_windows(plan, keys, wanted)
        return _assembled(names, columns)

    def count(self) -> npt.NDArray[Any]:
        """Return how many rows each group has."""
        return self.agg(count="count")

    def _wanted(self, name: str, column: str | None, kind: str) -> Wanted:
        if kind not in AGGREGATES:
            raise ValueError(f"agg: {kind!r}: takes {', '.join(AGGREGATES)}")
        if column is None:
            if kind != "count":
                raise ValueError(f"agg: {name}={kind!r}: of which column? ({name}=(column, {kind!r}))")
            return Wanted(name, None, None, kind)
        found, node = operand(self._plan, column)
        return Wanted(name, found, node, kind)


def _pairs(spec: Mapping[str, str | Sequence[str]] | None) -> list[tuple[str, str]]:
    if isinstance(spec, str):
        raise TypeError(
            f"agg: {spec!r} of which column? takes {{column: {spec!r}}}, or name=(column, {spec!r})"
        )
    made: list[tuple[str, str]] = []
    for column, kinds in (spec or {}).items():
        made += [(column, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return made


def _assembled(names: list[str], columns: list[Any]) -> npt.NDArray[Any]:
    plains = [plain(column) for column in columns]
    dtype = np.dtype([(name, column.dtype) for name, column in zip(names, plains, strict=True)])
    out: npt.NDArray[Any] = np.empty(len(plains[0]), dtype)
    is_masked = any(isinstance(column, np.ma.MaskedArray) for column in plains)
    mask: Any = np.zeros(len(out), np.ma.make_mask_descr(dtype)) if is_masked else None
    for name, column in zip(names, plains, strict=True):
        out[name] = np.ma.getdata(column)
        if mask is not None:
            mask[name] = np.ma.getmaskarray(column)
    return out if mask is None else cast("Any", np.ma.MaskedArray(out, mask))
