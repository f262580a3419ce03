"""Rows grouped by the values of columns, and what is wanted of each group.

In: a plan, names of key columns, and aggregates. Out: a structured array with a row for each group, in the
order in which the groups first appear; keys first, then the aggregates.
Keys are hashed by the engine on all threads; memory: the groups, and of text whose least, greatest or
different values are wanted all of these. Rows in an order are gathered first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.tables.aggregates import operand
from coquina.tables.grouping_values import Masks, Wanted, asked
from coquina.tables.index_order import ordered_rows
from coquina.tables.layout import no_column
from coquina.tables.reading import masked_rows, plain, refuse_mapping
from coquina.tables.scanning import before

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.column import QueryColumn
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan

#: What can be asked of a group.
AGGREGATES = ("count", "sum", "mean", "min", "max", "std", "var", "first", "last", "any", "all", "nunique")


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
                raise no_column(name, plan.table.layout.columns, "group_by: ")
            if plan.table.layout.columns[name].shape:
                raise TypeError(f"group_by: {name!r} has no single value in a row")

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, which says how `agg` is called."""
            text = (
                f"groups have no attribute {name!r}; use agg({{'price': ['mean', 'max']}}, rows='count'), "
                f"which computes {', '.join(AGGREGATES)}"
            )
            raise AttributeError(text, name=name, obj=self)

    def __getitem__(self, column: Any) -> Any:
        """Raise TypeError, which says how pandas' `groupby("sym")["price"].mean()` is written."""
        raise TypeError(
            f"groups: columns are named in the call: mean({column!r}), or agg({{{column!r}: 'mean'}})"
        )

    def agg(
        self, spec: Mapping[str, str | Sequence[str]] | None = None, /, **named: str | tuple[str, str]
    ) -> npt.NDArray[Any]:
        """Return a row for each group, in the order of their first rows: its keys, then the aggregates.

        spec: by column one or several of count, sum, mean, min, max, std, var, first, last, any, all,
            nunique; they are called `column_mean` and the like.
        named: by the name in the result the same as `(column, aggregate)`, or "count" for rows.

        Columns may be expressions of columns, as text. Nulls do not count. Variances are those of NumPy,
        with the count as divisor; times have none, and their means are times.
        """
        wanted = [self._wanted(f"{column}_{kind}", column, kind) for column, kind in _pairs(spec)]
        for name, one in named.items():
            column, kind = (None, one) if isinstance(one, str) else one
            wanted.append(self._wanted(name, column, kind))
        names = [*self._keys, *[one.name for one in wanted]]
        if len(set(names)) < len(names):
            raise ValueError(f"agg: names {names}: one is there twice")
        return _assembled(names, grouped(self._plan, self._keys, wanted))

    def count(self) -> npt.NDArray[Any]:
        """Return how many rows each group has."""
        return self.agg(count="count")

    def sum(self, *columns: str) -> npt.NDArray[Any]:
        """Return the sums of columns of each group, as `agg({column: "sum"})` does."""
        return self._each("sum", columns)

    def mean(self, *columns: str) -> npt.NDArray[Any]:
        """Return the means of columns of each group, as `agg({column: "mean"})` does."""
        return self._each("mean", columns)

    def min(self, *columns: str) -> npt.NDArray[Any]:
        """Return the least values of columns of each group, as `agg({column: "min"})` does."""
        return self._each("min", columns)

    def max(self, *columns: str) -> npt.NDArray[Any]:
        """Return the greatest values of columns of each group, as `agg({column: "max"})` does."""
        return self._each("max", columns)

    def _each(self, kind: str, columns: tuple[str, ...]) -> npt.NDArray[Any]:
        if not columns:
            raise TypeError(f"{kind}: of which columns? takes {kind}('price'), or agg({{'price': {kind!r}}})")
        return self.agg(dict.fromkeys(columns, kind))

    def _wanted(self, name: str, column: str | None, kind: str) -> Wanted:
        if kind not in AGGREGATES:
            raise ValueError(f"agg: {kind!r}: takes {', '.join(AGGREGATES)}")
        if column is None:
            if kind != "count":
                raise ValueError(f"agg: {name}={kind!r}: of which column? ({name}=(column, {kind!r}))")
            return Wanted(name, None, None, kind)
        found, node = operand(self._plan, column)
        if found is not None and kind != "count":
            found.check_scalar()
        return Wanted(name, found, node, kind)


def grouped(plan: Plan, names: Sequence[str], wanted: Sequence[Wanted]) -> list[Any]:
    """Return the values of the keys of each group, then those of each aggregate."""
    plan = plan.bounded()
    keys = [plan.table.layout.columns[name] for name in names]
    known, masks = [_key(key) for key in keys], Masks()
    asks = [asked(one, masks) for one in wanted]
    rows = ordered_rows(plan) if plan.order else None
    condition, span = (None, plan.span) if plan.order else plan.scope()
    for node in [one.node for one in wanted if one.node is not None]:
        # What is computed has the rows that there were when it was asked for.
        span = before(span, node.shape[0])
        rows = rows[rows < node.shape[0]] if rows is not None else None
    found_keys, found = _core.group_by(
        condition,
        span,
        [column for column, _ in known],
        [ask for one in asks for ask in one.asks],
        rows,
    )
    left = iter(found)
    made: list[Any] = []
    for (_, labels), key, (_, values, mask) in zip(known, keys, found_keys, strict=True):
        if labels is not None:
            made.append(labels[values.view(np.int64)])
        else:
            made.append(key.values([values] if mask is None else [values, mask]))
    made += [one.values([next(left) for _ in one.asks]) for one in asks]
    return made


def _key(column: Column) -> tuple[QueryColumn, Any]:
    """Return a key as the engine compares it; its different values, where it compares their places."""
    try:
        return column.query_column(), None
    except _core.UnsupportedError:
        labels, places = np.unique(column.read(slice(None)), return_inverse=True)
        lazy = _core.lazy_memory(places.astype(np.int64))
        return (column.name, "numbers", "int64", [lazy], None, None), labels


def _pairs(spec: Mapping[str, str | Sequence[str]] | None) -> list[tuple[str, str]]:
    if isinstance(spec, str):
        raise TypeError(
            f"agg: {spec!r} of which column? takes {{column: {spec!r}}}, or name=(column, {spec!r})"
        )
    given: Any = {} if spec is None else spec
    if not isinstance(given, Mapping):
        forms = "{'price': 'mean'} or mean=('price', 'mean')"
        raise TypeError(f"agg: takes {forms}, not {type(given).__name__}")
    made: list[tuple[str, str]] = []
    for column, kinds in cast("Mapping[str, str | Sequence[str]]", given).items():
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
    return out if mask is None else masked_rows.MaskedRows(out, mask)
