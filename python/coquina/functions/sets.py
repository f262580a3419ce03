"""Distinct items, and which items are among others, of arrays of any size.

In: arrays, expressions, views, datasets, NumPy arrays. Out: compressed arrays in memory, sorted.
Source: the Python array API standard, 2024.12, "set functions"; NumPy's `unique` and `isin`. The standard
    takes every NaN for another value, `unique` takes all for one unless told otherwise.
Memory: some 256 MiB; distinct items that do not fit are found by sorting (`runs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from coquina.arrays.creation import new_array
from coquina.arrays.new_arrays import written
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.regions import boxes
from coquina.arrays.results import is_tiny, stored
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.nodes import Boxes, Region
from coquina.functions import lines
from coquina.functions.lines import Column, growing, nbytes_of, new_at, put, result, row_regions
from coquina.functions.runs import piece_items, sorted_blocks
from coquina.functions.sorting import search

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr

__all__ = [
    "UniqueAllResult",
    "UniqueCountsResult",
    "UniqueInverseResult",
    "isin",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

_NAN_KINDS = "fcmM"


class UniqueAllResult(NamedTuple):
    """The distinct items, where each is first, which of them each item is, and how often they are there.

    >>> import coquina as cq
    >>> cq.unique_all([3, 1, 3]).counts[:]
    array([1, 2])
    """

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The distinct items, and how often they are there.

    >>> import coquina as cq
    >>> cq.unique_counts([3, 1, 3]).values[:]
    array([1, 3])
    """

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The distinct items, and which of them each item is.

    >>> import coquina as cq
    >>> cq.unique_inverse([3, 1, 3]).inverse_indices[:]
    array([1, 0, 1])
    """

    values: Array
    inverse_indices: Array


def unique_all(x: Any, /) -> UniqueAllResult:
    """Return the distinct items of `x`, sorted, and all that is to be known of them.

    values: the items, of the dtype of `x`, NaNs last and each on its own. indices: the first index of each
    in the items in C order. inverse_indices: in the shape of `x`, which of the values each item is.
    counts: how often each is there. Indices and counts are int64.

    >>> import coquina as cq
    >>> cq.unique_all([3, 1, 3]).indices[:]
    array([1, 0])
    """
    return UniqueAllResult(*_found(x, _Wanted(index=True, inverse=True, counts=True)))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Return the distinct items of `x`, sorted, and how often each is there, as `unique_all` does.

    >>> import coquina as cq
    >>> cq.unique_counts([3, 1, 3]).counts[:]
    array([1, 2])
    """
    return UniqueCountsResult(*_found(x, _Wanted(counts=True)))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Return the distinct items of `x`, sorted, and which of them each item is, as `unique_all` does.

    >>> import coquina as cq
    >>> cq.unique_inverse([3, 1, 3]).inverse_indices[:]
    array([1, 0, 1])
    """
    return UniqueInverseResult(*_found(x, _Wanted(inverse=True)))


def unique_values(x: Any, /) -> Array:
    """Return the distinct items of `x`, sorted; NaNs last and each on its own.

    >>> import coquina as cq
    >>> cq.unique_values([3, 1, 3])[:]
    array([1, 3])
    """
    return _found(x, _Wanted())[0]


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Array | tuple[Array, ...]:
    """Return the sorted distinct elements of `ar`, as `np.unique`.

    return_index, return_inverse, return_counts: also return the first positions, the inverse and the counts,
        in this order; see `unique_all`.
    axis: compare the parts along an axis instead of elements; the array is then read as a whole.
    equal_nan: treat all NaNs as equal. sorted: has no effect; the result is always sorted.

    >>> import coquina as cq
    >>> cq.unique([3, 1, 3])[:]
    array([1, 3])
    """
    if axis is not None:
        found: Any = np.unique(
            as_numpy(ar),
            return_index,
            return_inverse,
            return_counts,
            axis,
            equal_nan=equal_nan,
            sorted=sorted,
        )
        if not isinstance(found, tuple):
            return stored(found)
        return tuple([stored(part) for part in cast("tuple[npt.NDArray[Any], ...]", found)])
    arrays = _found(ar, _Wanted(return_index, return_inverse, return_counts, equal_nan))
    return arrays if return_index or return_inverse or return_counts else arrays[0]


def isin(
    x1: Any,
    x2: Any,
    /,
    *,
    invert: bool = False,
    assume_unique: bool = False,
    kind: Literal["sort", "table"] | None = None,
) -> Array | Expr:
    """Return for each item of `x1` whether it is among those of `x2`, whose distinct items fit in memory.

    invert: whether it is not. assume_unique, kind: as in NumPy, where they save time; not needed.
    Lazy for all but small arrays.

    >>> import coquina as cq
    >>> cq.isin([1, 2, 3], [1, 3])[:]
    array([ True, False,  True])
    """
    del kind
    source, among = source_of(x1), source_of(x2)
    if nbytes_of(among) > lines.WORK_BYTES and not assume_unique:
        among = unique_values(among)
    known = as_numpy(among)
    if is_tiny(source) or not source.shape:
        return result(np.isin(as_numpy(source), known, invert=invert))

    def read(region: Region) -> npt.NDArray[Any]:
        return np.isin(source[region], known, invert=invert)

    chunks = getattr(source, "chunks", None)
    return Expr(Boxes("isin", read, source.shape, np.dtype(np.bool_), args=(as_node(x1),), chunks=chunks))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to give besides the values, and whether all NaNs are one of them."""

    index: bool = False
    inverse: bool = False
    counts: bool = False
    equal_nan: bool = False


class _Groups(NamedTuple):
    """Distinct items in order, the number of the first of each, and how many there are."""

    values: npt.NDArray[Any]
    firsts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def _found(x: Any, wanted: _Wanted) -> tuple[Array, *tuple[Array, ...]]:
    source = source_of(x)
    if nbytes_of(source) <= lines.WORK_BYTES or not source.shape:
        # With counts NumPy compares items, without them it hashes their bytes, which NaTs and complex NaNs
        # have one or several of, whatever `equal_nan` says.
        compares = wanted.counts or source.dtype.kind in "cmM"
        found: Any = np.unique(
            as_numpy(source), wanted.index, wanted.inverse, compares, equal_nan=wanted.equal_nan
        )
        arrays = cast("tuple[npt.NDArray[Any], ...]", found if isinstance(found, tuple) else (found,))
        others = arrays[1:] if wanted.counts == compares else arrays[1:-1]
        # NumPy gives indices as large as a pointer.
        return (stored(arrays[0]), *[stored(other.astype(np.int64, copy=False)) for other in others])
    groups = _gathered(source, wanted.equal_nan)
    if groups is None:
        values, firsts, counts = _by_sorting(source, wanted)
    else:
        values, firsts, counts = map(stored, groups)
    inverse = (_inverse(source, values, wanted.equal_nan),) if wanted.inverse else ()
    return (
        values,
        *((firsts,) if wanted.index else ()),
        *inverse,
        *((counts,) if wanted.counts else ()),
    )


def _groups(values: npt.NDArray[Any], numbers: npt.NDArray[np.int64], equal_nan: bool) -> _Groups:
    """Group sorted items, the numbers of equal ones rising."""
    starts = np.flatnonzero(_changes(values, equal_nan))
    return _Groups(values[starts], numbers[starts], np.diff(starts, append=len(values)))


def _changes(values: npt.NDArray[Any], equal_nan: bool) -> npt.NDArray[np.bool_]:
    """Return for each of sorted items whether it is another than the one before."""
    changes = np.ones(len(values), np.bool_)
    if len(values) > 1:
        changes[1:] = values[1:] != values[:-1]
        if equal_nan and values.dtype.kind in _NAN_KINDS:
            isnan = np.isnan(values)
            changes[1:] &= ~(isnan[1:] & isnan[:-1])
    return changes


def _merged(first: _Groups, second: _Groups, equal_nan: bool) -> _Groups:
    """Join two groupings; the items of the second come later."""
    values, firsts, counts = map(np.concatenate, zip(first, second, strict=True))
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(_changes(values[order], equal_nan))
    if not len(starts):
        return first
    return _Groups(values[order][starts], firsts[order][starts], np.add.reduceat(counts[order], starts))


def _gathered(source: Any, equal_nan: bool) -> _Groups | None:
    """Return the groups of all items, or None if these become too many."""
    groups: _Groups | None = None
    # Items, their order and their numbers are in memory at once.
    budget = max(lines.WORK_BYTES // 4, 1)
    start = 0
    for region in row_regions(source, budget):
        items = np.asarray(source[region]).ravel()
        order = np.argsort(items, kind="stable")
        part = _groups(items[order], order.astype(np.int64, copy=False) + start, equal_nan)
        start += len(items)
        groups = part if groups is None else _merged(groups, part, equal_nan)
        if groups.values.nbytes + groups.firsts.nbytes + groups.counts.nbytes > lines.WORK_BYTES // 2:
            return None
    # Joining makes the byte order that of the machine.
    return None if groups is None else groups._replace(values=groups.values.astype(source.dtype, copy=False))


def _by_sorting(source: Any, wanted: _Wanted) -> tuple[Array, Array, Array]:
    """Return values, first numbers and counts, found in the order of the sorted items."""
    numbers = np.dtype(np.int64)
    with growing(source.dtype) as values, growing(numbers) as firsts, growing(numbers) as counts:
        columns = (values, firsts, counts)
        last: _Groups | None = None
        for groups in _sorted_groups(source, wanted):
            if last is not None:
                pair = np.concatenate([last.values, groups.values[:1]])
                if _changes(pair, wanted.equal_nan)[1]:
                    _push(columns, last)
                else:
                    # The last items of a block and the first of the next are equal.
                    groups.counts[0] += last.counts[0]
                    groups.values[0], groups.firsts[0] = last.values[0], last.firsts[0]
            _push(columns, _Groups(*[column[:-1] for column in groups]))
            last = _Groups(*[column[-1:].copy() for column in groups])
        if last is not None:
            _push(columns, last)
    return values.array, firsts.array, counts.array


def _push(columns: tuple[Column, Column, Column], groups: _Groups) -> None:
    for column, part in zip(columns, groups, strict=True):
        column.push(part)


def _sorted_groups(source: Any, wanted: _Wanted) -> Iterator[_Groups]:
    # Values, numbers and counts of a block are in memory at once, and as much is gathered.
    budget = max(lines.WORK_BYTES // 4, 1)
    items = piece_items(source.dtype, budget, numbered=wanted.index)
    regions = row_regions(source, items * source.dtype.itemsize)
    pieces = (np.asarray(source[region]).ravel() for region in regions)
    blocks = sorted_blocks(pieces, prod(source.shape), source.dtype, budget, numbered=wanted.index)
    for values, numbers in blocks:
        yield _groups(values, numbers if wanted.index else np.zeros(len(values), np.int64), wanted.equal_nan)


def _inverse(source: Any, values: Array, equal_nan: bool) -> Array:
    """Return which of the values each item is."""
    out = new_array(source.shape, np.dtype(np.int64), new_at(None))
    known = values[...] if nbytes_of(values) <= lines.WORK_BYTES else None
    nan = _least_nan(source.dtype)
    nans = 0
    if nan is not None and not equal_nan:
        # NaNs that are values of their own are numbered as they come, in C order.
        regions = row_regions(source, lines.WORK_BYTES, 8 + source.dtype.itemsize)
    else:
        regions = boxes(source.shape, out.chunks, 8 + source.dtype.itemsize, lines.WORK_BYTES)
    with written(out):
        for region in regions:
            items = np.asarray(source[region])
            found = search(values, items, "left") if known is None else np.searchsorted(known, items)
            if nan is not None and (isnan := np.isnan(items)).any():
                found[isnan] = search(values, nan, "left")[0]
                if not equal_nan:
                    count = int(np.count_nonzero(isnan))
                    found[isnan] += np.arange(nans, nans + count)
                    nans += count
            put(out, region, found)
    return out


def _least_nan(dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Return the NaN or NaT that is sorted before all others; None for dtypes without one."""
    if dtype.kind not in _NAN_KINDS:
        return None
    return np.array(
        [complex(-np.inf, np.nan) if dtype.kind == "c" else "NaT" if dtype.kind in "mM" else np.nan], dtype
    )
