"""Aggregates of groups as the engine takes them, and the values that it finds.

In: what is wanted of a column or of numbers. Out: what is asked of the engine, and what makes values of that.
Invariant: what is missing does not count; a group without values has a sum of 0, and no mean.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, call, cast_node
from coquina.tables.category_columns import CategoricalColumn
from coquina.tables.column_conditions import values_of
from coquina.tables.reading import plain
from coquina.tables.string_columns import texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina import _core
    from coquina.expressions.nodes import Node
    from coquina.tables.column import QueryColumn
    from coquina.tables.columns import Column

    #: The name of an aggregate, what its values are, and their column, as `_core.group_by` takes them.
    Ask = tuple[str, str, QueryColumn | None]
    #: What is found of a column: the type of numbers, items or text, and where there is no value.
    Found = tuple[str | None, Any, Any]

#: What complex numbers, and those that the engine has no type for, are computed in.
_COMPUTED = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


class Wanted(NamedTuple):
    """An aggregate: what it is called in the result, and of which column, or which numbers, it is what."""

    name: str
    column: Column | None
    node: Node | None
    kind: str


class Asked(NamedTuple):
    """What is asked of the engine for an aggregate, and what makes values of what it finds."""

    asks: list[Ask]
    values: Callable[[list[Found]], Any]


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


def asked(one: Wanted, masks: Masks) -> Asked:
    """Return what to ask for an aggregate. Raises TypeError for one that the values do not have."""
    column, node, mask = one.column, one.node, masks.of(one.column)
    if one.kind == "count" or (column is not None and _is_by_row(one.kind, column)):
        rows = None if mask is None else ("", "numbers", "bool", [mask], mask, None)
        read = None if one.kind == "count" or column is None else column.read
        return Asked([(one.kind, "rows", rows)], partial(_of_rows, read))
    if column is not None and by_place(one.kind, column):
        codes = column.stored[0]
        places = ("", "numbers", codes.dtype.newbyteorder("=").name, [codes.lazy()], mask, None)
        return Asked([(one.kind, "numbers", places)], partial(_of_places, column))
    if column is not None and node is None and one.kind in ("first", "last", "nunique"):
        if column.kind == "string":
            return Asked([(one.kind, "texts", column.query_column())], _counts)
        (source,) = column.sources()
        assert not isinstance(source, tuple)
        values = _counts if one.kind == "nunique" else partial(_of_items, column)
        return Asked([(one.kind, "items", ("", "bytes", "", [source], mask, None))], values)
    if column is not None and column.text_kind:
        return _of_text(one.kind, column.query_column(), mask, column.dtype, column.name)
    if node is None:
        node = values_of(cast("Column", column))
    if node.dtype.kind in "SU":
        known = "bytes" if node.dtype.kind == "S" else "points"
        return _of_text(
            one.kind, ("", known, "", [engine.lower(node)], mask, None), mask, node.dtype, one.name
        )
    return _of_numbers(one.kind, node, mask)


def by_place(kind: str, column: Column) -> bool:
    """Whether the least and the greatest are those of places: of ordered categories, as in conditions."""
    return kind in ("min", "max") and isinstance(column, CategoricalColumn) and column.ordered


def _is_by_row(kind: str, column: Column) -> bool:
    """Whether a value is read of the row that the engine finds."""
    return kind in ("first", "last") and column.kind in ("string", "values")


def _of_rows(read: Any, found: list[Found]) -> Any:
    _, items, mask = found[0]
    rows = items.view(np.int64)
    return rows if read is None else masked(read(rows), mask)


def _counts(found: list[Found]) -> Any:
    return found[0][1].view(np.int64)


def _of_items(column: Column, found: list[Found]) -> Any:
    _, items, mask = found[0]
    return masked(column.values([items]), mask)


def _of_places(column: Column, found: list[Found]) -> Any:
    name, items, mask = found[0]
    return masked(column.values([items.view(name).astype(column.stored[0].dtype)]), mask)


def _of_text(kind: str, column: QueryColumn, mask: Any, dtype: np.dtype[Any], name: str) -> Asked:
    """Return what to ask for the least or the greatest text, or of its items."""
    if kind in ("first", "last", "nunique"):
        items: QueryColumn = ("", "bytes", "", column[3], mask, None)
        return Asked([(kind, "items", items)], _counts if kind == "nunique" else partial(_viewed, dtype))
    known: QueryColumn = (*column[:4], mask, column[5])
    if kind in ("any", "all"):
        # Text is true that has a letter.
        return Asked([("max" if kind == "any" else "min", "texts", known)], partial(_are_true, kind == "all"))
    if kind not in ("min", "max"):
        raise TypeError(f"{kind}: {name!r} is text")
    return Asked([(kind, "texts", known)], partial(_texts, dtype))


def _are_true(of_none: bool, found: list[Found]) -> Any:
    _, (offsets, _), mask = found[0]
    truths = np.diff(offsets) > 0
    if mask is not None:
        truths[mask.view(np.bool_)] = of_none
    return truths


def _viewed(dtype: np.dtype[Any], found: list[Found]) -> Any:
    return masked(found[0][1].view(dtype.newbyteorder("=")), found[0][2])


def _texts(dtype: np.dtype[Any], found: list[Found]) -> Any:
    _, (offsets, data), mask = found[0]
    if dtype.kind == "S":
        raw, ends = data.tobytes(), offsets.tolist()
        values: Any = np.array([raw[a:b] for a, b in pairwise(ends)], dtype)
    else:
        values = texts_of(offsets, data, None)
        values = values.astype(dtype) if dtype.kind == "U" else values
    return masked(values, mask)


def _of_numbers(kind: str, node: Node, mask: Any) -> Asked:
    """Return what to ask for numbers, truth values and times."""
    dtype = node.dtype.newbyteorder("=")
    final = result_dtype(kind, dtype)
    if dtype.kind in "mM":
        return _of_times(kind, node, mask, final)
    read = np.dtype(np.float32) if dtype == np.float16 else dtype
    if dtype.kind == "c" or engine.type_name(read) is None:
        # Means and variances are of that precision too.
        read = _COMPUTED[dtype.kind]
        final = result_dtype(kind, read) if kind in ("mean", "std", "var") else final
    source = engine.lower(cast_node(node, read))
    column = ("", "numbers", cast("str", engine.type_name(read)), [source], mask, None)
    return Asked([(kind, "numbers", column)], partial(_numbers, final))


def _of_times(kind: str, node: Node, mask: Any, final: np.dtype[Any]) -> Asked:
    """Return what to ask for times. The engine computes with their counts, where NaT is one as others."""
    source = [engine.lower(node)]
    if kind in ("min", "max", "first", "last", "nunique"):
        times: QueryColumn = ("", "times", node.dtype.name, source, mask, None)
        return Asked([(kind, "numbers", times)], partial(_numbers, final))
    asks: list[Ask] = [(kind, "numbers", ("", "numbers", "int64", source, mask, None))]
    if kind in ("any", "all"):
        return Asked(asks, partial(_numbers, final))
    nats = engine.lower(call(FUNCTIONS["isnat"], node))
    asks.append(("any", "numbers", ("", "numbers", "bool", [nats], mask, None)))
    return Asked(asks, partial(_times, final))


def result_dtype(kind: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that NumPy's function gives for items. Raises TypeError where there is none."""
    fixed: Any = {"count": np.int64, "nunique": np.int64, "any": np.bool_, "all": np.bool_}.get(kind)
    if fixed is not None:
        return np.dtype(fixed)
    if kind in ("min", "max", "first", "last"):
        return dtype
    if dtype.kind in "mM" and kind == "mean":
        return dtype  # NumPy has a mean of spans of time, and none of dates.
    try:
        return np.asarray(getattr(np, kind)(np.ones(1, dtype))).dtype
    except TypeError as error:
        raise TypeError(f"{kind}: there is none of {dtype}; there are min, max and mean") from error


def _numbers(final: np.dtype[Any], found: list[Found]) -> Any:
    name, items, mask = found[0]
    items = items.view(name)
    with np.errstate(all="ignore"):
        return masked(items if items.dtype == final else items.astype(final), mask)


def _times(final: np.dtype[Any], found: list[Found]) -> Any:
    (name, items, mask), (_, is_nat, _) = found
    with np.errstate(invalid="ignore"):  # of groups without values
        values = items.view(name).astype(np.int64).view(final)
    values[is_nat.view(np.bool_)] = "NaT"
    return masked(values, mask)


def masked(values: Any, mask: Any) -> Any:
    """Return values of groups, masked where the group had none. mask: of the engine, or None."""
    if mask is None:
        return values
    return cast("Any", np.ma).MaskedArray(plain(np.ma.getdata(values)), mask.view(np.bool_))
