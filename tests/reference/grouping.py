"""Groups by plain NumPy, a window of rows at a time: the judge of those by the engine.

In: a plan, names of key columns, and aggregates. Out: the columns of the result. Memory: a window, and the
groups.
Invariant: groups stand in the order of their first rows; NaN is one group, and what is missing is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.expressions.expression import Expr
from coquina.tables.gathering import pieces
from coquina.tables.ordering import argsort, split_missing
from coquina.tables.reading import joined, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.grouping_values import Wanted
    from coquina.tables.plan import Plan

    Integers = npt.NDArray[np.int64]


def group_by_windows(plan: Plan, names: Sequence[str], wanted: Sequence[Wanted]) -> list[Any]:
    """Return the values of the keys of each group, then those of each aggregate."""
    plan = plan.bounded()
    keys = [plan.table.layout.columns[name] for name in names]
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


class _Rows(NamedTuple):
    """Rows by their groups.

    groups: of each row. order: sorts the rows by group. named: the groups that there are. starts: where each
    of them begins in that order. more: how many rows it has.
    """

    groups: Integers
    order: npt.NDArray[np.intp]
    named: Integers
    starts: npt.NDArray[np.intp]
    more: npt.NDArray[np.intp]

    @classmethod
    def of(cls, groups: Integers) -> _Rows:
        """Sort rows by the numbers of their groups."""
        order = np.argsort(groups, kind="stable")
        named = groups[order]
        starts = np.flatnonzero(np.diff(named, prepend=-1))
        return cls(groups, order, named[starts], starts, np.diff(starts, append=len(groups)))


class State:
    """One aggregate of all groups so far. `counts`: values of each group, without those that are missing."""

    def __init__(self, kind: str) -> None:
        """Made by `state_of`."""
        self.kind = kind
        self.counts: Integers = np.zeros(0, np.int64)

    def add(self, groups: Integers, values: Any, ngroups: int) -> None:
        """Take rows; `values` is None where rows are counted."""
        if values is not None:
            groups, values = _present(groups, values)
        old = _grown(self.counts, ngroups, 0)
        rows = _Rows.of(groups)
        with np.errstate(all="ignore"):
            if values is not None and len(groups):
                self._take(rows, values, old)
        self.counts = old.copy()
        self.counts[rows.named] += rows.more

    def _take(self, rows: _Rows, values: Any, old: Integers) -> None:
        """Take the values of rows. old: how many values each group had before."""

    def result(self, dtype: np.dtype[Any]) -> Any:
        """Return the aggregates, of values of `dtype`."""
        del dtype
        return self.counts


class _Merged(State):
    """Aggregates of which two make one: sums, extremes, truth, first and last values."""

    total: Any = None

    def _take(self, rows: _Rows, values: Any, old: Integers) -> None:
        named = rows.named
        part = self._part(rows, values)
        self.total = part[:0].copy() if self.total is None else self.total
        self.total = _grown(self.total, len(old), part[0])
        was = old[named] > 0
        self.total[named[~was]] = part[~was]
        here, there = self.total[named[was]], part[was]
        self.total[named[was]] = self._both(here, there)

    def _part(self, rows: _Rows, values: Any) -> Any:
        kind, order, starts = self.kind, rows.order, rows.starts
        if kind in ("min", "max") and values.dtype.kind in "SUTO":
            ordered = argsort([rows.groups, values], [False, kind == "max"])
            return plain(values[ordered[starts]])
        if kind in ("first", "last"):
            ends = np.append(starts[1:], len(order)) - 1
            return plain(values[order[starts if kind == "first" else ends]])
        if kind in ("any", "all"):
            values = values.astype(bool)
        elif kind == "sum":
            values = values.astype(np.sum(np.ones(1, values.dtype)).dtype)
        return _UFUNCS[kind].reduceat(values[order], starts)

    def _both(self, here: Any, there: Any) -> Any:
        if self.kind in ("first", "last"):
            return here if self.kind == "first" else there
        if here.dtype.kind in "SUO":
            is_better = there < here if self.kind == "min" else there > here
            return cast("Any", np.where(is_better, there, here))
        return _UFUNCS[self.kind](here, there)

    def result(self, dtype: np.dtype[Any]) -> Any:
        empty = self.counts == 0
        if self.total is None:
            made = np.zeros(1, object if dtype.kind == "T" else dtype)
            if self.kind in ("sum", "any", "all"):
                made = np.atleast_1d(getattr(np, self.kind)(made[:0].astype(dtype)))
            self.total = made[:0]
        total = _grown(self.total, len(self.counts), self.total[0] if len(self.total) else 0)
        if not empty.any():
            return total
        if self.kind in ("sum", "any", "all"):
            total[empty] = self.kind == "all"
            return total
        return cast("Any", np.ma.MaskedArray(total, empty))


class _Moments(State):
    """Means, and sums of the squares of the distances from them."""

    def __init__(self, kind: str) -> None:
        """Made by `state_of`."""
        super().__init__(kind)
        self.means: Any = np.zeros(0)
        self.squares: Any = np.zeros(0)

    def _take(self, rows: _Rows, values: Any, old: Integers) -> None:
        named, starts, more = rows.named, rows.starts, rows.more
        values = values[rows.order].astype(complex if values.dtype.kind == "c" else float)
        means = np.add.reduceat(values, starts) / more
        apart = np.abs(values - np.repeat(means, more)) ** 2
        squares = np.add.reduceat(apart, starts)
        self.means = _grown(self.means.astype(values.dtype), len(old), 0)
        self.squares = _grown(self.squares, len(old), 0)
        before = old[named]
        gap = means - self.means[named]
        self.means[named] += gap * (more / (before + more))
        self.squares[named] += squares + np.abs(gap) ** 2 * (before * more / (before + more))

    def result(self, dtype: np.dtype[Any]) -> Any:
        empty = self.counts == 0
        found = _grown(self.means if self.kind == "mean" else self.squares, len(self.counts), 0)
        if self.kind != "mean":
            found = found / np.maximum(self.counts, 1)
        if self.kind == "std":
            found = np.sqrt(found)
        return np.ma.MaskedArray(found, empty) if empty.any() else found


class _Different(State):
    """How many different values there are."""

    def __init__(self, kind: str) -> None:
        """Made by `state_of`."""
        super().__init__(kind)
        self.seen: list[set[Any]] = []

    def _take(self, rows: _Rows, values: Any, old: Integers) -> None:
        self.seen += [set[Any]() for _ in range(len(old) - len(self.seen))]
        plains, missing = split_missing(values)
        labels = plains.tolist()
        if missing is not None:
            labels = [None if gone else label for label, gone in zip(labels, missing, strict=True)]
        for group, label in zip(rows.groups.tolist(), labels, strict=True):
            self.seen[int(group)].add(label)

    def result(self, dtype: np.dtype[Any]) -> Any:
        del dtype
        return _grown(np.array([len(one) for one in self.seen], np.int64), len(self.counts), 0)


_UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def state_of(kind: str) -> State:
    """Return the state of an aggregate without rows."""
    if kind == "count":
        return State(kind)
    if kind == "nunique":
        return _Different(kind)
    return _Moments(kind) if kind in ("mean", "std", "var") else _Merged(kind)


def _present(groups: Integers, values: Any) -> tuple[Integers, Any]:
    """Leave out what is missing, but not NaN, which is a number."""
    if isinstance(values, np.ma.MaskedArray):
        masked = cast("Any", values)
        keep = ~np.ma.getmaskarray(masked)
        return groups[keep], masked.data[keep]
    if values.dtype.kind in "TO":
        _, missing = split_missing(values)
        if missing is not None:
            return groups[~missing], values[~missing]
    return groups, values


def _grown(values: Any, count: int, fill: Any) -> Any:
    """Return an array with `count` items, the new ones `fill`."""
    if len(values) >= count:
        return values
    made = np.empty(count, values.dtype)
    made[: len(values)] = values
    made[len(values) :] = fill
    return made
