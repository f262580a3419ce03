"""Key columns of groups as the engine takes them.

In: a column. Out: what stands in a key for it, and what makes values of the keys of groups.
Invariant: rows without a value are one group, NaN is one of its own; in nullable columns both are one group,
shown as the first of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina import _core
    from coquina.tables.columns import Column
    from coquina.tables.grouping_values import Asked, Masks

_FLOATS = ("f4", "f8", "c8", "c16")


class KeyPart(NamedTuple):
    """What is compared: items or text, as what, and where they are nothing."""

    source: _core.Lazy | tuple[_core.Lazy, _core.Lazy]
    kind: str
    mask: _core.Lazy | None = None


class EngineKey(NamedTuple):
    """What is compared, what is asked of each group beside, and what makes values of what is found."""

    parts: list[KeyPart]
    asked: list[Asked]
    values: Callable[[list[Any], list[Any]], Any]


def engine_key(column: Column, masks: Masks) -> EngineKey | None:
    """Return a key, None if the engine does not group by such."""
    if column.kind in ("nullable", "string"):
        return _with_mask(column, masks)
    (source,) = column.sources()
    if isinstance(source, tuple) or (column.kind != "categorical" and column.nulls() is not None):
        return None
    # The codes of categories tell what is missing themselves.
    kind = "bytes" if column.kind == "categorical" else _kind(column)
    if kind is None:
        return None
    return EngineKey([KeyPart(source, kind)], [], _values_of(column))


def _with_mask(column: Column, masks: Masks) -> EngineKey | None:
    """Return a key of text, or of numbers that can be missing."""
    source = column.sources()[0]
    mask = masks.of(column)
    if column.kind == "string":
        if mask is None:
            return EngineKey([KeyPart(source, "bytes")], [], _values_of(column))
        return EngineKey([KeyPart(source, "bytes", mask), KeyPart(mask, "bool")], [], _values_of(column))
    kind = _kind(column, "number")
    if kind is None or column.dtype.kind in "cmM" or mask is None:
        return None
    if column.dtype.kind == "f":
        # What is missing is NaN for a key; its first row tells which of both it is.
        first: Asked = (mask, "bytes", "first", None)
        return EngineKey([KeyPart(source, kind, mask)], [first], _values_of(column))
    return EngineKey([KeyPart(source, kind, mask), KeyPart(mask, "bool")], [], _values_of(column))


def _values_of(column: Column) -> Callable[[list[Any], list[Any]], Any]:
    def values(parts: list[Any], more: list[Any]) -> Any:
        return column.values([*parts, *more])

    return values


def _kind(column: Column, column_kind: str | None = None) -> str | None:
    """Return as what items are compared; None where the engine cannot."""
    column_kind = column_kind or column.kind
    if column_kind == "bits":
        return "bool"
    if column_kind != "number":
        return "bytes"
    dtype = column.dtype.newbyteorder("=")
    if dtype.kind in "fc":
        return dtype.str[1:] if dtype.str[1:] in _FLOATS else None
    return "bool" if dtype.kind == "b" else "bytes"
