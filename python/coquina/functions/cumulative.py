"""Cumulative sums and products of arrays of any size.

In: arrays, expressions, views, datasets, NumPy arrays. Out: compressed arrays, in memory or in a file.
Source: the Python array API standard, 2024.12, `cumulative_sum` and `cumulative_prod`; NumPy's `cumsum` and
    its like, which also decide the dtype.
Invariant: items are added one after another along the axis, as NumPy does, so that the bits are NumPy's,
    wherever the array is cut into boxes. (Complex products NumPy itself rounds in more than one way.)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import new_array
from coquina.arrays.new_arrays import written
from coquina.arrays.operands import as_numpy, source_of
from coquina.functions import lines
from coquina.functions.lines import (
    axis_of,
    chunks_of,
    line_regions,
    nbytes_of,
    new_at,
    put,
    result,
    row_regions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "nancumprod", "nancumsum"]


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
    path: Path | None = None,
) -> Array:
    """Return the sums of all items up to each one along `axis`, which is needed for more than one axis.

    dtype: of the sums; by default that of `x`, or the default integer for smaller ones.
    include_initial: begin with a zero, so that the axis is longer by one.
    path: the file to write; in memory, compressed, if None.

    Raises ValueError if there are several axes and none is named. Memory: some 64 MiB at a time.

    >>> import coquina as cq
    >>> cq.cumulative_sum([2, 3, 4], include_initial=True)[:]
    array([0, 2, 5, 9])
    """
    return _cumulative(x, _one_axis(x, axis, "cumulative_sum"), dtype, path, _Sum(starts=include_initial))


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
    path: Path | None = None,
) -> Array:
    """Return the products of all items up to each one along `axis`, as `cumulative_sum` does the sums.

    >>> import coquina as cq
    >>> cq.cumulative_prod([2, 3, 4])[:]
    array([ 2,  6, 24])
    """
    return _cumulative(
        x, _one_axis(x, axis, "cumulative_prod"), dtype, path, _Product(starts=include_initial)
    )


def cumsum(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, *, path: Path | None = None
) -> Array:
    """Return the sums of all items up to each one along `axis`, or of all items in C order if it is None.

    a: what `asarray` takes. axis: along which; None for all items in C order. dtype: of the sums or products;
        by
        default as `numpy.cumsum` has it. path: the file to write; in memory if None.

    Returns an `Array` with the shape of `a`. Raises IndexError for an axis that there is not.

    >>> import coquina as cq
    >>> cq.cumsum([[1, 2], [3, 4]], axis=0)[:]
    array([[1, 2],
           [4, 6]])
    """
    return _cumulative(a, axis, dtype, path, _Sum())


def cumprod(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, *, path: Path | None = None
) -> Array:
    """Return the products of all items up to each one along `axis`, or of all in C order if it is None.

    a: what `asarray` takes. axis: along which; None for all items in C order. dtype: of the sums or products;
        by
        default as `numpy.cumprod` has it. path: the file to write; in memory if None.

    Returns an `Array` with the shape of `a`. Raises IndexError for an axis that there is not.

    >>> import coquina as cq
    >>> cq.cumprod([2, 3, 4])[:]
    array([ 2,  6, 24])
    """
    return _cumulative(a, axis, dtype, path, _Product())


def nancumsum(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, *, path: Path | None = None
) -> Array:
    """Return what `cumsum` does, with zero for NaN.

    a: what `asarray` takes. axis: along which; None for all items in C order. dtype: of the sums or products;
        by
        default as `numpy.nancumsum` has it. path: the file to write; in memory if None.

    Returns an `Array` with the shape of `a`. Raises IndexError for an axis that there is not.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nancumsum([2, np.nan, 4])[:]
    array([2., 2., 6.])
    """
    return _cumulative(a, axis, dtype, path, _Sum(skips_nan=True))


def nancumprod(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, *, path: Path | None = None
) -> Array:
    """Return what `cumprod` does, with one for NaN.

    a: what `asarray` takes. axis: along which; None for all items in C order. dtype: of the sums or products;
        by
        default as `numpy.nancumprod` has it. path: the file to write; in memory if None.

    Returns an `Array` with the shape of `a`. Raises IndexError for an axis that there is not.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nancumprod([2, np.nan, 4])[:]
    array([2., 2., 8.])
    """
    return _cumulative(a, axis, dtype, path, _Product(skips_nan=True))


@dataclass(frozen=True, slots=True)
class _Sum:
    """What is accumulated. skips_nan: NaN does not count. starts: the result begins with `initial`."""

    skips_nan: bool = False
    starts: bool = False
    ufunc = np.add
    initial = 0

    def dtype(self, dtype: np.dtype[Any], wanted: npt.DTypeLike | None) -> np.dtype[Any]:
        """Return the dtype of the result. Raises what NumPy raises for what cannot be accumulated."""
        return self._whole(np.ones(1, dtype), wanted).dtype

    def _whole(self, items: npt.NDArray[Any], wanted: npt.DTypeLike | None) -> npt.NDArray[Any]:
        return np.cumsum(items, dtype=wanted)

    def over(
        self, items: npt.NDArray[Any], axis: int, dtype: np.dtype[Any], carry: npt.NDArray[Any] | None
    ) -> npt.NDArray[Any]:
        """Accumulate items along an axis, going on from the last items before them."""
        if self.skips_nan and items.dtype.kind in "fc":
            items = np.where(np.isnan(items), items.dtype.type(self.initial), items)
        # The cast makes a copy, whose first items can be changed.
        values = items.astype(dtype)
        if carry is not None:
            first = (slice(None),) * axis + (slice(0, 1),)
            values[first] = self.ufunc(carry, values[first])
        return self.ufunc.accumulate(values, axis=axis, dtype=dtype.type)


class _Product(_Sum):
    __slots__ = ()
    ufunc = np.multiply
    initial = 1

    def _whole(self, items: npt.NDArray[Any], wanted: npt.DTypeLike | None) -> npt.NDArray[Any]:
        return np.cumprod(items, dtype=wanted)


def _one_axis(x: Any, axis: int | None, name: str) -> int:
    ndim = len(source_of(x).shape)
    if axis is None and ndim > 1:
        raise ValueError(f"{name}: an axis has to be named for an array of {ndim} axes")
    if not ndim:
        raise ValueError(f"{name}: an array without axes")
    return axis_of(0 if axis is None else axis, ndim)


def _cumulative(
    x: Any, axis: int | None, dtype: npt.DTypeLike | None, path: Path | None, what: _Sum
) -> Array:
    source = source_of(x)
    wanted = what.dtype(source.dtype, dtype)
    axis = None if axis is None else axis_of(axis, len(source.shape))
    if nbytes_of(source) <= lines.WORK_BYTES:
        return result(_whole(as_numpy(source), axis, wanted, what), path)
    shape = list(source.shape) if axis is not None else [prod(source.shape)]
    shape[axis or 0] += what.starts
    out = new_array(tuple(shape), wanted, new_at(path))
    with written(out):
        if axis is None:
            _flat(source, out, what)
        else:
            _along(source, axis, out, what)
    return out


def _whole(items: npt.NDArray[Any], axis: int | None, dtype: np.dtype[Any], what: _Sum) -> npt.NDArray[Any]:
    if axis is None:
        return what.over(items.ravel(), 0, dtype, None)
    values = what.over(items, axis, dtype, None)
    return (
        np.concatenate([_initial(values.shape, axis, dtype, what), values], axis) if what.starts else values
    )


def _initial(shape: tuple[int, ...], axis: int, dtype: np.dtype[Any], what: _Sum) -> npt.NDArray[Any]:
    return np.full([1 if at == axis else size for at, size in enumerate(shape)], what.initial, dtype)


def _flat(source: Any, out: Array, what: _Sum) -> None:
    carry, start = None, 0
    for region in row_regions(source, lines.WORK_BYTES):
        values = what.over(np.asarray(source[region]).ravel(), 0, out.dtype, carry)
        put(out, (slice(start, start + len(values)),), values)
        carry, start = values[-1:], start + len(values)


def _along(source: Any, axis: int, out: Array, what: _Sum) -> None:
    """Write boxes of whole chunks of `out`, one after another along the axis."""
    for across, cuts in _columns(source, axis, out):
        carry = None
        for start, stop in cuts:
            # The box of the result begins one item later if the first item is the initial one.
            low, high = max(start - what.starts, 0), stop - what.starts
            at = (*across[:axis], slice(low, high), *across[axis + 1 :])
            values = what.over(source[at], axis, out.dtype, carry)
            carry = values[(slice(None),) * axis + (slice(-1, None),)] if high > low else carry
            if start == 0 and what.starts:
                values = np.concatenate([_initial(values.shape, axis, out.dtype, what), values], axis)
            put(out, (*across[:axis], slice(start, stop), *across[axis + 1 :]), values)


def _columns(source: Any, axis: int, out: Array) -> Iterator[tuple[tuple[slice, ...], list[tuple[int, int]]]]:
    """Yield regions that are whole along the axis, and where to cut them so that each part fits."""
    item_bytes = max(source.dtype.itemsize, out.itemsize)
    chunks, length = chunks_of(out), out.shape[axis]
    across = prod(chunks) // chunks[axis] * item_bytes
    if across * length <= lines.WORK_BYTES:
        budget, step = lines.WORK_BYTES, length
    else:
        budget, step = across * length, max(lines.WORK_BYTES // (across * chunks[axis]), 1) * chunks[axis]
    for region in line_regions(out, (axis,), budget, item_bytes):
        yield region, [(start, min(start + step, length)) for start in range(0, length, max(step, 1))]
