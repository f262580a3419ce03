"""Numbers that say something of a column in many rows: sums, means, extremes, variances.

In: a plan, and a column or an expression of columns. Out: a NumPy scalar of the dtype that NumPy's function
gives; for columns whose values have axes an array of these.
Numbers are folded by the engine, block by block on all threads, without an array of them. Other values are
folded by NumPy, a window of rows at a time. Nulls are left out; NaN is a number, as in NumPy. The least and
the greatest of all rows may be known to an index.
Invariant: results do not depend on threads.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.expressions import engine
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.functions.reducing import columns_of, is_kernel_type
from coquina.tables.conditions import reader_of
from coquina.tables.gathering import pieces
from coquina.tables.index_order import extreme
from coquina.tables.scanning import all_of, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

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
    column, node = operand(plan, what)
    if node is None or not _is_foldable(node) or (plan.order and plan.limit is not None):
        return _by_windows(plan, name, column, node, ddof)
    plan = plan.bounded()
    condition = plan.computed()
    nulls = None if column is None else column.nulls()
    if nulls is not None:
        condition = all_of([condition, engine.lower(call(FUNCTIONS["logical_not"], nulls))])
    return _by_engine(condition, node, name, plan.span, ddof)


def operand(plan: Plan, what: Any) -> tuple[Column | None, Node | None]:
    """Return the column that is meant, and the node of the numbers; no node where there are no numbers."""
    columns = plan.table.layout.columns
    if isinstance(what, str):
        column = columns.get(what)
        if column is None:
            return None, reader_of(plan.table.layout).expression(what)
        if column.shape or column.dtype.kind not in "biufc" or column.kind == "categorical":
            return column, None
        # Where there is no value, nothing is asked of what stands there.
        return column, column.raw()
    node = as_node(what)
    if node.shape != (plan.table.nrows,):
        raise ValueError(f"an expression of shape {node.shape} for {plan.table.nrows} rows")
    return None, node


def _is_foldable(node: Node) -> bool:
    return node.dtype.kind in "biufc" and is_kernel_type(node.dtype)


def _result(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that NumPy's function gives."""
    return np.asarray(getattr(np, name)(np.ones(1, dtype))).dtype


def _by_engine(condition: Lazy | None, node: Node, name: str, span: range, ddof: float) -> Any:
    dtype = _result(name, node.dtype)
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
            warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=4)
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
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=5)
    with np.errstate(all="ignore"):
        return np.true_divide(squares, max(count - ddof, 0))


def _by_windows(plan: Plan, name: str, column: Column | None, node: Node | None, ddof: float) -> Any:
    total: Any = None
    count = 0
    if name in ("sum", "mean", "std", "var") and column is not None and column.dtype.kind in "SUTO":
        raise TypeError(f"{name}: {column.name!r} is text")
    for values in _values(plan, column, node):
        part = _part(values, name)
        with np.errstate(all="ignore"):
            total = part if total is None else _merged(total, count, part, len(values), name)
        count += len(values)
    if total is None:
        if name in ("min", "max"):
            raise _no_values(name)
        kind = column.dtype if column is not None else cast("Any", node).dtype
        shape = column.shape if column is not None else ()
        return getattr(np, name)(np.empty((0, *shape), kind), axis=0)
    if name == "mean":
        return (
            np.asarray(total / count, np.float64)[()] if np.asarray(total).dtype == object else total / count
        )
    if name in ("std", "var"):
        variance = _over(total[1], count, ddof)
        return np.sqrt(variance) if name == "std" else variance
    return total


def _values(plan: Plan, column: Column | None, node: Node | None) -> Iterator[npt.NDArray[Any]]:
    """Yield the values that are there, a window at a time; never none."""
    if column is not None:
        for found in pieces(plan, {column.name: column}):
            values = present(found.values[column.name])
            if len(values):
                yield values
        return
    computed = Expr(cast("Any", node))
    for found in pieces(plan, {}, numbers=True):
        if found.matched:
            yield computed[found.numbers]


def present(values: Any) -> npt.NDArray[Any]:
    """Return the values that are not missing."""
    if isinstance(values, np.ma.MaskedArray):
        masked = cast("Any", values)
        if masked.ndim > 1:
            raise TypeError("values with axes of their own that can be missing are not aggregated")
        return masked.compressed()
    if values.dtype.kind in "TO":
        missing = np.array([one is None for one in values.tolist()], bool)
        return values[~missing] if missing.any() else values
    return values


def _part(values: Any, name: str) -> Any:
    """Return what one window gives: for variances the mean and the squares of the distances from it."""
    with np.errstate(all="ignore"):
        if name in ("min", "max"):
            if values.dtype.kind not in "SUTO":
                return getattr(np, name)(values, axis=0)
            return (min if name == "min" else max)(values.tolist())
        if name in ("std", "var"):
            mean = np.mean(values, axis=0)
            return mean, np.sum(np.square(np.abs(values - mean)), axis=0)
        if name == "mean" and values.dtype.kind in "iu" and values.dtype.itemsize >= _EXACT_BYTES:
            return _exact_sum(values)
        return np.sum(values, axis=0)


def _exact_sum(values: Any) -> Any:
    """Return the sum of integers of 64 bits as Python's, for a mean: NumPy's would wrap around."""
    high, low = np.sum(values >> 32, axis=0), np.sum(values & 0xFFFFFFFF, axis=0)
    return high.astype(object) * 2**32 + low.astype(object)


def _merged(total: Any, count: int, part: Any, more: int, name: str) -> Any:
    if name in ("min", "max"):
        if isinstance(total, str | bytes):
            return (min if name == "min" else max)(total, part)
        return (np.minimum if name == "min" else np.maximum)(total, part)
    if name in ("std", "var"):
        apart = part[0] - total[0]
        squares = total[1] + part[1] + np.square(np.abs(apart)) * (count * more / (count + more))
        return total[0] + apart * (more / (count + more)), squares
    return total + part


def _no_values(name: str) -> ValueError:
    return ValueError(
        f"{name}: there are no values, and so no {'least' if name == 'min' else 'greatest'} one"
    )
