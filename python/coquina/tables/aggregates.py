"""Numbers that say something of a column in many rows: sums, means, extremes, variances.

In: a plan, and a column or an expression of columns. Out: a NumPy scalar of the dtype that NumPy's function
gives; for columns whose values have axes an array of these. NumPy has no mean of dates: it is a date.
The engine folds them, block by block on all threads, without an array of them; sums of spans of time and of
the widest floats are NumPy's, in memory. Nulls are left out; NaN is a number, as in NumPy. The least and the
greatest of all rows may be known to an index.
Invariant: results do not depend on threads.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina import _core
from coquina.expressions import engine
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.functions.reducing import columns_of, is_kernel_type
from coquina.tables.access import boxes_of
from coquina.tables.column_conditions import values_of
from coquina.tables.conditions import reader_of
from coquina.tables.grouping_values import Masks, Wanted, asked, by_place, result_dtype
from coquina.tables.index_order import extreme, ordered_rows
from coquina.tables.scanning import all_of, fold, scan

if TYPE_CHECKING:
    from coquina._core import Lazy
    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column
    from coquina.tables.plan import Plan

_FLOAT16 = np.dtype(np.float16)
_EXACT_BYTES = 8


def aggregate(plan: Plan, name: str, what: Any, ddof: float = 0) -> Any:
    """Return the aggregate `name`: "sum", "mean", "min", "max", "std" or "var"."""
    if name in ("min", "max") and isinstance(what, str):
        found = extreme(plan, name, what)
        if found is not None:
            return found
    # Before the operand, which then has the rows that are looked at.
    condition, span = _rows_of(plan)
    column, node = operand(plan, what)
    rows = _Rows(condition, span, name, ddof)
    if column is None or not column.shape:
        return rows.of(column, node)
    if column.is_nullable:
        raise TypeError("values with axes of their own that can be missing are not aggregated")
    parts = [column.element(index) for index in np.ndindex(column.shape)]
    return np.array([rows.of(part, _numbers_of(part)) for part in parts]).reshape(column.shape)


def _rows_of(plan: Plan) -> tuple[Lazy | None, range]:
    """Return where the rows of a plan are, and which ones are looked at."""
    if plan.order and plan.limit is not None:
        rows = _core.RowSet(np.sort(ordered_rows(plan)), np.empty((0, 2), np.int64))
        count = plan.table.layout.nrows
        return rows.lazy(count, *boxes_of(plan.table)), range(count)
    plan = plan.bounded()
    return plan.scope()


class _Rows(NamedTuple):
    """The rows of an aggregate: where they are, and which ones are looked at."""

    condition: Lazy | None
    span: range
    name: str
    ddof: float

    def of(self, column: Column | None, node: Node | None) -> Any:
        """Return what the values of a column, or numbers, come to."""
        name, span, ddof = self.name, self.span, self.ddof
        is_by_place = column is not None and by_place(name, column)
        if node is not None and _is_foldable(node) and not is_by_place:
            nulls = None if column is None else column.nulls()
            there = None if nulls is None else engine.lower(call(FUNCTIONS["logical_not"], nulls))
            return _by_engine(all_of([self.condition, there]), node, name, span, ddof)
        if column is not None and column.text_kind and name not in ("min", "max"):
            raise TypeError(f"{name}: {column.name!r} is text")
        dtype = column.dtype if node is None and column is not None else cast("Any", node).dtype
        is_date = dtype.kind == "M"
        if is_date and column is not None and name not in ("min", "max", "mean"):
            raise TypeError(f"{name}: {column.name!r} has times, of which there are min, max and mean")
        if not is_date and (name not in ("min", "max") or (dtype.kind in "fc" and not is_by_place)):
            return self._by_numpy(column, node)
        one = asked(Wanted(name, column, node, name), Masks())
        _, found = _core.group_by(self.condition, span, [], one.asks)
        values = one.values(found)
        if not len(values) or (isinstance(values, np.ma.MaskedArray) and cast("Any", values).mask.all()):
            if name == "mean":
                warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=5)
                return np.full(1, "NaT", dtype)[0]
            raise _no_values(name)
        return values.tolist()[0] if dtype.kind in "SUT" else values[0]

    def _by_numpy(self, column: Column | None, node: Node | None) -> Any:
        """Return what NumPy makes of all values, in memory: of spans of time, and of the widest floats."""
        read = {} if column is None else {column.name: column}
        found = scan(self.condition, read, self.span, numbers=column is None)
        values = Expr(cast("Any", node))[found.numbers] if column is None else found.values[column.name]
        if isinstance(values, np.ma.MaskedArray):
            values = cast("Any", values).compressed()
        if not len(values) and self.name in ("min", "max"):
            raise _no_values(self.name)
        options = {"ddof": self.ddof} if self.name in ("std", "var") else {}
        return getattr(np, self.name)(values, **options)


def operand(plan: Plan, what: Any) -> tuple[Column | None, Node | None]:
    """Return the column that is meant, and the node of the numbers; no node where there are no numbers."""
    columns = plan.table.layout.columns
    if isinstance(what, str):
        column = columns.get(what)
        if column is None:
            return None, reader_of(plan.table.layout).expression(what)
        return column, _numbers_of(column)
    node = as_node(what)
    if node.shape != (plan.table.nrows,):
        raise ValueError(f"an expression of shape {node.shape} for {plan.table.nrows} rows")
    return None, node


def _numbers_of(column: Column) -> Node | None:
    """Return the numbers of a column; None for axes, text and times."""
    if column.shape or column.dtype.kind not in "biufc":
        return None
    # Where there is no value, nothing is asked of what stands there.
    return values_of(column) if column.kind == "categorical" else column.raw()


def _is_foldable(node: Node) -> bool:
    return node.dtype.kind in "biufc" and is_kernel_type(node.dtype)


def _by_engine(condition: Lazy | None, node: Node, name: str, span: range, ddof: float) -> Any:
    dtype = result_dtype(name, node.dtype)
    if node.dtype == _FLOAT16:
        node = cast_node(node, np.dtype(np.float32))
    node = cast_node(node, node.dtype.newbyteorder("="))
    if name in ("std", "var"):
        return _spread(condition, node, name, span, ddof, dtype)
    kind = name
    if name == "mean":
        is_wide_integer = node.dtype.kind in "iu" and node.dtype.itemsize >= _EXACT_BYTES
        kind = "mean" if is_wide_integer else "sum"
    folded, count, _ = fold(condition, node, kind, span)
    if name in ("min", "max") and not count:
        raise _no_values(name)
    value = np.frombuffer(folded, columns_of(kind, node.dtype)[0], 1)[0]
    with np.errstate(all="ignore"):
        if name != "mean":
            return value.astype(dtype)
        if not count:
            warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=5)
        return np.true_divide(value, count).astype(dtype) if count else dtype.type(np.nan)


def _spread(condition: Lazy | None, node: Node, name: str, span: range, ddof: float, dtype: Any) -> Any:
    if node.dtype.kind == "c":
        parts = [
            _spread(condition, call(FUNCTIONS[part], node), "var", span, ddof, dtype)
            for part in ("real", "imag")
        ]
        variance = np.add(*parts)
    else:
        wide = node if node.dtype.kind == "f" else cast_node(node, np.dtype(np.float64))
        folded, count, _ = fold(condition, wide, "moments", span)
        squares = np.frombuffer(folded, np.float64, len(folded) // 8)[2]
        variance = _over(squares, count, ddof)
    return (np.sqrt(variance) if name == "std" else variance).astype(dtype)


def _over(squares: Any, count: int, ddof: float) -> Any:
    """Return squares of distances over the count less `ddof`. Warns as NumPy does for too few."""
    if ddof >= count:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=7)
    with np.errstate(all="ignore"):
        return np.true_divide(squares, max(count - ddof, 0))


def _no_values(name: str) -> ValueError:
    return ValueError(
        f"{name}: there are no values, and so no {'least' if name == 'min' else 'greatest'} one"
    )
