"""Aggregates of groups as the engine takes them.

In: what is wanted of a column or of numbers. Out: what is asked of the engine, and what makes values of that.
Invariant: what is missing does not count; a group without values has a sum of 0, and no mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.expressions import engine
from coquina.expressions.functions import cast_node
from coquina.functions.reducing import columns_of, is_kernel_type
from coquina.tables.reading import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina import _core
    from coquina.expressions.nodes import Node
    from coquina.tables.columns import Column
    from coquina.tables.grouping import Wanted

    #: A source, what its items are taken for, the name of an aggregate, and where there is no value.
    Asked = tuple[_core.Lazy, str, str, _core.Lazy | None]

_ENDS = ("count", "first", "last", "nunique")
#: What also groups without values have.
_TOTALS = ("count", "nunique", "sum", "any", "all")
_SMALL = {np.dtype(np.bool_): np.dtype(np.uint8), np.dtype(np.float16): np.dtype(np.float32)}


class EngineValue(NamedTuple):
    """What is asked of the engine, and what makes values of what is found."""

    asked: list[Asked]
    values: Callable[[list[Any]], Any]


class Masks:
    """Where columns have no value, each as one source."""

    def __init__(self) -> None:
        """Those of no columns."""
        self._known: dict[str, tuple[Column, _core.Lazy]] = {}

    def of(self, column: Column | None) -> _core.Lazy | None:
        """Return the mask of a column; None if it always has a value."""
        if column is None:
            return None
        if column.name not in self._known:
            nulls = column.nulls()
            if nulls is None:
                return None
            self._known[column.name] = column, engine.lower(nulls)
        return self._known[column.name][1]


def engine_value(one: Wanted, any_key: Column, masks: Masks) -> EngineValue | None:
    """Return what to ask for an aggregate, None if the engine does not have it."""
    column, mask = one.column, masks.of(one.column)
    if one.kind == "count":
        source = mask if mask is not None else _rows(any_key)
        return EngineValue([(source, "bytes", "count", mask)], _of_first(_counts))
    found = _operand(one, column)
    if found is None:
        return None
    source, type_name, values = found
    asked: list[Asked] = [(source, type_name, one.kind, mask)]
    if mask is None or one.kind in _TOTALS:
        return EngineValue(asked, _of_first(values))
    asked.append((mask, "bytes", "count", mask))

    def masked(parts: list[Any]) -> Any:
        return _masked(values(parts[0]), _counts(parts[1]) == 0)

    return EngineValue(asked, masked)


def _of_first(values: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    def of_first(parts: list[Any]) -> Any:
        return values(parts[0])

    return of_first


def _counts(part: Any) -> Any:
    return part.view(np.int64)


def _masked(values: Any, empty: Any) -> Any:
    """Return values of groups, masked where the group had none."""
    return cast("Any", np.ma).MaskedArray(plain(np.ma.getdata(values)), empty) if empty.any() else values


def _rows(column: Column) -> _core.Lazy:
    """Return a source with an item for each row."""
    source = column.sources()[0]
    return source[0] if isinstance(source, tuple) else source


def _operand(one: Wanted, column: Column | None) -> tuple[_core.Lazy, str, Callable[[Any], Any]] | None:
    """Return a source, what its items are, and what makes values of what is found."""
    if one.node is not None and is_kernel_type(one.node.dtype):
        return _numbers(one.node, one.kind)
    if column is None or column.shape or column.kind in ("nullable", "string") or one.kind not in _ENDS:
        return None
    (source,) = column.sources()
    if isinstance(source, tuple):
        return None
    if one.kind == "nunique":
        return source, "bytes", _counts

    def values(part: Any) -> Any:
        return column.values([part])

    return source, "bytes", values


def _numbers(node: Node, kind: str) -> tuple[_core.Lazy, str, Callable[[Any], Any]] | None:
    """Return the numbers of a node for an aggregate that they have."""
    dtype = node.dtype.newbyteorder("=")
    if dtype.kind == "c" and kind not in _ENDS:
        return None
    read = _SMALL.get(dtype, dtype)
    name = engine.type_name(read)
    if name is None:
        return None
    out: Any = {"nunique": np.int64, "any": np.bool_, "all": np.bool_}.get(kind, read)
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
