"""Groups by plain NumPy, a window of rows at a time: for keys that the engine does not hash, and as its
judge.

In: a plan, key columns, and aggregates. Out: the columns of the result. Memory: a window, and the groups.
Invariant: groups stand in the order of their first rows; NaN is one group, and what is missing is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.expressions.expression import Expr
from coquina.tables.gathering import pieces
from coquina.tables.grouping_states import state_of
from coquina.tables.ordering import split_missing
from coquina.tables.reading import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.grouping import Wanted
    from coquina.tables.plan import Plan

    Integers = npt.NDArray[np.int64]


def group_by_windows(plan: Plan, keys: Sequence[Column], wanted: Sequence[Wanted]) -> list[Any]:
    """Return the values of the keys of each group, then those of each aggregate."""
    computed = {one.name: Expr(one.node) for one in wanted if one.node is not None and one.column is None}
    columns = {one.name: one for one in [*keys, *[one.column for one in wanted if one.column is not None]]}
    numbers: dict[Any, int] = {}
    found_keys: list[list[Any]] = [[] for _ in keys]
    states = [state_of(one.kind) for one in wanted]
    for found in pieces(plan, columns, numbers=bool(computed)):
        values = [found.values[key.name] for key in keys]
        first, inverse = _local_groups(values)
        groups = np.empty(len(first), np.int64)
        new: list[int] = []
        for at, labels in enumerate(zip(*[_labels(key[first]) for key in values], strict=True)):
            known = len(numbers)
            groups[at] = numbers.setdefault(labels, known)
            if len(numbers) > known:
                new.append(int(first[at]))
        for key, parts in zip(values, found_keys, strict=True):
            parts.append(key[new])
        for one, state in zip(wanted, states, strict=True):
            column = one.column
            if column is not None:
                part = found.values[column.name]
            else:
                part = computed[one.name][found.numbers] if one.node is not None else None
            state.add(groups[inverse], part, len(numbers))
    made = [joined(parts, key) for parts, key in zip(found_keys, keys, strict=True)]
    return [*made, *[state.result(_dtype(one)) for one, state in zip(wanted, states, strict=True)]]


def _dtype(one: Wanted) -> np.dtype[Any]:
    if one.column is not None:
        return one.column.dtype
    return one.node.dtype if one.node is not None else np.dtype(np.int64)


def _local_groups(keys: list[Any]) -> tuple[Integers, Integers]:
    """Return the first row of each group of a window, in order, and for each row the number of its group."""
    codes: Any = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        values, missing = split_missing(key)
        _, inverse = np.unique(values, return_inverse=True)
        if missing is not None:
            inverse = np.where(missing, -1, inverse)
        pairs = codes * (len(inverse) + 1) + inverse + 1
        _, codes = np.unique(pairs, return_inverse=True)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return first[order], places[inverse]


def _labels(key: Any) -> list[Any]:
    """Return values as what is equal for equal groups: None where there is none."""
    _, missing = split_missing(key)
    listed = np.ma.getdata(key)
    if listed.dtype.kind in "mM":
        listed = listed.view(np.int64)
    labels = listed.tolist()
    if missing is not None:
        labels = [None if gone else label for label, gone in zip(labels, missing, strict=True)]
    return labels
