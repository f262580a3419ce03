"""Groups by the engine: keys of fixed size, hashed on all threads.

In: a plan, key columns, and aggregates. Out: the columns of the result; None where the engine does not do it:
for text of any length and missing values, rows in an order or with steps, and sums of complex numbers.
Invariant: results are those of `grouping_reference`, sums and what is made of them up to their rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.expressions import engine
from coquina.expressions.functions import cast_node
from coquina.functions.reducing import columns_of, is_kernel_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column
    from coquina.tables.grouping import Wanted
    from coquina.tables.plan import Plan

    #: What the engine reads, what it takes that for, and what makes values of the bytes it gives.
    Operand = tuple[_core.Lazy, str, Callable[[Any], Any]]

_ENDS = ("count", "first", "last", "nunique")
_SMALL = {np.dtype(np.bool_): np.dtype(np.uint8), np.dtype(np.float16): np.dtype(np.float32)}


def group_by_engine(plan: Plan, keys: Sequence[Column], wanted: Sequence[Wanted]) -> list[Any] | None:
    """Return the values of the keys of each group, then those of each aggregate."""
    span = plan.span
    if plan.order or span.step != 1:
        return None
    key_operands = [_key(key) for key in keys]
    operands = [_operand(one, keys[0]) for one in wanted]
    known_keys = [one for one in key_operands if one is not None]
    known = [one for one in operands if one is not None]
    if len(known_keys) < len(keys) or len(known) < len(wanted):
        return None
    node = plan.node()
    _, found_keys, results, _ = _core.group_by(
        None if node is None else engine.lower(node),
        [lazy for lazy, _, _ in known_keys],
        [kind for _, kind, _ in known_keys],
        [(lazy, kind, one.kind) for (lazy, kind, _), one in zip(known, wanted, strict=True)],
        span.start,
        span.stop,
    )
    parts = zip([*known_keys, *known], [*found_keys, *results], strict=True)
    return [values(part) for (_, _, values), part in parts]


def _source(column: Column) -> _core.Lazy | None:
    """Return the only source of a column whose items all are values."""
    if column.shape or column.nulls() is not None or column.kind in ("nullable", "string"):
        # The codes of categories tell what is missing themselves.
        return cast("_core.Lazy", column.sources()[0]) if column.kind == "categorical" else None
    (source,) = column.sources()
    return None if isinstance(source, tuple) else source


def _key(column: Column) -> Operand | None:
    source = _source(column)
    if source is None:
        return None
    kind = "bytes"
    if column.kind == "bits":
        kind = "bool"
    elif column.kind == "number":
        dtype = column.dtype.newbyteorder("=")
        if dtype.kind in "fc" and dtype.str[1:] not in ("f4", "f8", "c8", "c16"):
            return None
        kind = "bool" if dtype.kind == "b" else dtype.str[1:] if dtype.kind in "fc" else "bytes"
    return source, kind, lambda part: column.values([part])


def _operand(one: Wanted, any_key: Column) -> Operand | None:
    if one.kind == "count" and (one.column is None or one.column.nulls() is None):
        source = _source(any_key if one.column is None else one.column)
        return None if source is None else (source, "bytes", lambda part: part.view(np.int64))
    column = one.column
    if column is not None and column.nulls() is not None:
        return None
    if one.node is not None and is_kernel_type(one.node.dtype):
        return _numbers(one.node, one.kind)
    if column is None or one.kind not in _ENDS:
        return None
    source = _source(column)
    if source is None:
        return None
    if one.kind == "nunique":
        return source, "bytes", lambda part: part.view(np.int64)
    return source, "bytes", lambda part: column.values([part])


def _numbers(node: Node, kind: str) -> Operand | None:
    """Return the numbers of a node for an aggregate that they have."""
    dtype = node.dtype.newbyteorder("=")
    if dtype.kind == "c" and kind not in _ENDS:
        return None
    read = _SMALL.get(dtype, dtype)
    name = engine.type_name(read)
    if name is None:
        return None
    out: Any = {"count": np.int64, "nunique": np.int64, "any": np.bool_, "all": np.bool_}.get(kind, read)
    final: np.dtype[Any] = np.dtype(out)
    if kind == "sum":
        out = columns_of("sum", read)[0]
    elif kind in ("mean", "std", "var"):
        out = np.float64
    if kind in ("sum", "mean", "std", "var"):
        final = np.asarray(getattr(np, kind)(np.ones(1, dtype))).dtype
    elif kind in ("min", "max", "first", "last"):
        final = dtype

    def values(part: Any) -> Any:
        with np.errstate(all="ignore"):
            return part.view(out).astype(final, copy=False)

    return engine.lower(cast_node(node, read)), name, values
