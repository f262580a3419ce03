"""Medians, quantiles and percentiles of arrays of any size, exact.

In: arrays, expressions, views, datasets, NumPy arrays. Out: NumPy arrays and scalars, as NumPy's functions
    of the same names give them.
Source: R. J. Hyndman and Y. Fan, Sample quantiles in statistical packages, The American Statistician 50
    (1996) for the methods; NumPy for their names, their arithmetic and what becomes of NaN.
Memory: lines along the axes that fit are given to NumPy, some 64 MiB at a time; of those that do not, the
    items at the ranks that a quantile needs are selected in a few passes (`selection`).
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.regions import boxes
from coquina.functions import lines
from coquina.functions.lines import chunks_of, line_regions, nbytes_of
from coquina.functions.selection import select
from coquina.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.arrays.regions import Region
    from coquina.functions.selection import Pieces, Ranks

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

Axis = int | tuple[int, ...] | None
Method = Literal[
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]


def median(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return the median along `axis`, one or several (of all items, if None), as `np.median` does.

    A NaN among the items makes it NaN. Raises AxisError for an axis that is not there.

    >>> import coquina as cq
    >>> cq.median([1, 3, 2, 10])
    np.float64(2.5)
    """
    return _reduced(a, axis, keepdims, np.median, _median_of_line)


def nanmedian(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return the median of the items that are not NaN, as `median` does; NaN, and a warning, if none are.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nanmedian([1, np.nan, 3])
    np.float64(2.0)
    """
    return _reduced(a, axis, keepdims, np.nanmedian, partial(_median_of_line, skips_nan=True))


def quantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return the quantiles `q`, from 0 to 1, along `axis`, one or several (of all items, if None).

    The axes of `q` stand before those that are left of `a`. method: how to interpolate between items, by the
    names of `np.quantile`. weights: of the items, in their shape, or one axis for `axis`; only for
    "inverted_cdf", and lines have to fit in memory. A NaN among the items makes the quantile NaN.

    Raises ValueError for `q` or a method that is not there, TypeError for complex numbers.

    >>> import coquina as cq
    >>> cq.quantile([1, 2, 3, 4, 5], [0.25, 0.5])
    array([2., 3.])
    """
    wanted = Quantiles(q, method, skips_nan=False)
    return _reduced(a, axis, keepdims, wanted.whole, wanted.of_line, weights)


def nanquantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return the quantiles of the items that are not NaN, as `quantile` does; NaN if there are none.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nanquantile([1, np.nan, 3], 0.5)
    np.float64(2.0)
    """
    wanted = Quantiles(q, method, skips_nan=True)
    return _reduced(a, axis, keepdims, wanted.whole, wanted.of_line, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return the quantiles of `q` in percent, from 0 to 100, as `quantile` does.

    >>> import coquina as cq
    >>> cq.percentile([1, 2, 3, 4, 5], 25)
    np.float64(2.0)
    """
    wanted = Quantiles(q, method, skips_nan=False, percent=True)
    return _reduced(a, axis, keepdims, wanted.whole, wanted.of_line, weights)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return the quantiles of `q` in percent of the items that are not NaN, as `nanquantile` does.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.nanpercentile([1, np.nan, 3], 50)
    np.float64(2.0)
    """
    wanted = Quantiles(q, method, skips_nan=True, percent=True)
    return _reduced(a, axis, keepdims, wanted.whole, wanted.of_line, weights)


def _reduced(
    a: Any,
    axis: Axis,
    keepdims: bool,
    whole: Callable[..., Any],
    of_line: Callable[[Pieces, np.dtype[Any]], Any],
    weights: Any = None,
) -> Any:
    """Return what `whole`, a function of NumPy, gives, by `of_line` for lines that are too long."""
    source = source_of(a)
    shape: tuple[int, ...] = source.shape
    axes = (
        tuple(range(len(shape)))
        if axis is None
        else np.lib.array_utils.normalize_axis_tuple(axis, len(shape), "axis")
    )
    fits = prod([shape[at] for at in axes]) * source.dtype.itemsize <= lines.WORK_BYTES
    if nbytes_of(source) <= lines.WORK_BYTES or (weights is not None and not fits):
        return whole(as_numpy(source), axis=axis, keepdims=keepdims, **_weighted(weights, ...))
    # NumPy's objections to the dtype or the options come before anything is read.
    dtype = np.asarray(whole(np.zeros((2, 1), source.dtype), axis=0, keepdims=False)).dtype
    out: npt.NDArray[Any] | None = None
    regions = line_regions(source, axes, lines.WORK_BYTES) if fits else _single_lines(shape, axes)
    for region in regions:
        if fits:
            part = region if weights is not None and source_of(weights).shape == shape else ...
            found = whole(np.asarray(source[region]), axis=axes, keepdims=True, **_weighted(weights, part))
        else:
            found = np.asarray(of_line(_pieces(source, region), source.dtype))
            found = found.reshape(found.shape + (1,) * len(shape))
        if out is None:
            lead = found.shape[: found.ndim - len(shape)]
            whole_shape = (*lead, *[1 if at in axes else size for at, size in enumerate(shape)])
            check_memory(prod(whole_shape) * found.dtype.itemsize, "the result")
            # NumPy's scalars have no byte order, and those of NaN may have another dtype than arrays.
            out = np.empty(whole_shape, dtype if len(axes) < len(shape) else found.dtype)
        out[(..., *[slice(None) if at in axes else part for at, part in enumerate(region)])] = found
    assert out is not None, "an array that does not fit has lines"
    if not keepdims:
        out = out.squeeze(tuple([at - len(shape) for at in axes]))
    return out[()]


def _weighted(weights: Any, part: Any) -> dict[str, Any]:
    return (
        {} if weights is None else {"weights": as_numpy(weights) if part is ... else source_of(weights)[part]}
    )


def _single_lines(shape: tuple[int, ...], axes: tuple[int, ...]) -> Iterator[Region]:
    for index in np.ndindex(*[1 if at in axes else size for at, size in enumerate(shape)]):
        yield tuple(
            [
                slice(0, size) if at in axes else slice(place, place + 1)
                for at, (place, size) in enumerate(zip(index, shape, strict=True))
            ]
        )


def _pieces(source: Any, region: Region) -> Pieces:
    """Return what gives the items of a region in pieces."""
    shape = tuple([part.stop - part.start for part in region])
    chunks = tuple([min(chunk, size) for chunk, size in zip(chunks_of(source), shape, strict=True)])

    def pieces() -> Iterator[npt.NDArray[Any]]:
        for box in boxes(shape, chunks, source.dtype.itemsize, max(lines.WORK_BYTES // 4, 1)):
            moved = zip(box, region, strict=True)
            at = tuple([slice(own.start + line.start, own.stop + line.start) for own, line in moved])
            yield np.asarray(source[at]).ravel()

    return pieces


def _nans(dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    return np.full(2, "NaT" if dtype.kind in "mM" else np.nan, dtype)


def _median_of_line(pieces: Pieces, dtype: np.dtype[Any], *, skips_nan: bool = False) -> Any:
    def ranks(count: int, nans: int) -> Ranks:
        if not count or (nans and not skips_nan):
            return np.empty(0, np.int64)
        return np.unique(np.array([(count - 1) // 2, count // 2], np.int64))

    items = select(pieces, dtype, ranks, lines.WORK_BYTES).items
    if not len(items):
        return (np.nanmedian if skips_nan else np.median)(_nans(dtype))
    return np.mean(items)


def is_numpys(value: Any) -> bool:
    """Whether NumPy made an array or a number."""
    return isinstance(value, np.ndarray | np.generic)


class Quantiles:
    """Which quantiles are wanted, and how they lie between items."""

    def __init__(self, q: Any, method: Method, *, skips_nan: bool, percent: bool = False) -> None:
        """`percent`: `q` goes to 100, not to 1."""
        # NumPy's own function is given them: arrays of ours would come back here.
        self._q = as_numpy(q) if hasattr(q, "__array_ufunc__") and not is_numpys(q) else q
        self._method: Method = method
        self._skips_nan = skips_nan
        self._percent = percent

    def whole(self, a: npt.NDArray[Any], **options: Any) -> Any:
        """Return the quantiles of what fits."""
        names = ("nanquantile", "nanpercentile") if self._skips_nan else ("quantile", "percentile")
        function = getattr(np, names[self._percent])
        shape = np.shape(self._q)
        if len(shape) < 2:
            return function(a, self._q, method=self._method, **options)
        # NumPy confuses the axes where `q` has several of them.
        found = function(a, np.ravel(self._q), method=self._method, **options)
        return found.reshape(shape + found.shape[1:])

    def of_line(self, pieces: Pieces, dtype: np.dtype[Any]) -> Any:
        """Return the quantiles of a line that does not fit."""
        q = np.true_divide(self._q, 100) if self._percent else np.asarray(self._q)
        places: list[_Places] = []

        def ranks(count: int, nans: int) -> Ranks:
            if not count or (nans and not self._skips_nan):
                return np.empty(0, np.int64)
            places.append(places_of(np.asarray(q), self._method, count))
            return np.unique(np.concatenate([places[0].previous, places[0].following], axis=None))

        count, items = select(pieces, dtype, ranks, lines.WORK_BYTES)
        if not places:
            return self.whole(_nans(dtype))
        wanted = ranks(count, 0)
        previous, following, gamma = places[0]
        low = items[np.searchsorted(wanted, previous)]
        if gamma is None:
            return low
        high = items[np.searchsorted(wanted, following)]
        # As NumPy: quantiles that are Python's numbers do not make float32 wider.
        share: Any = float(gamma) if type(self._q) in (int, float) else gamma
        step = high - low
        below: npt.NDArray[Any] = low + step * share
        above: npt.NDArray[Any] = high - step * (1 - share)
        return np.where(gamma >= 0.5, above, below)


class _Places(NamedTuple):
    """The ranks of the items before and after each quantile, and how far it is between (None: on it)."""

    previous: npt.NDArray[np.int64]
    following: npt.NDArray[np.int64]
    gamma: npt.NDArray[Any] | None


#: Hyndman and Fan's alpha and beta of the methods that differ only by these.
_ALPHA_BETA: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def places_of(q: npt.NDArray[Any], method: Method, count: int) -> _Places:
    """Return where the quantiles `q` of `count` sorted items are."""
    last: npt.NDArray[Any] = np.asarray((count - 1) * q)
    if method in ("inverted_cdf", "closest_observation"):
        exact = np.asarray(count * q - 1 - (0.5 if method == "closest_observation" else 0))
        floor = np.floor(exact)
        stays = exact == floor
        if method == "closest_observation":
            stays &= floor % 2 == 1
        return _on_items(np.maximum(np.where(stays, floor, floor + 1), 0))
    if method in ("lower", "higher", "nearest"):
        rounds = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}[method]
        return _on_items(rounds(last))
    if method == "linear":
        if last.dtype.kind in "iu":
            return _on_items(last)
        exact = last
    elif method == "midpoint":
        exact = np.asarray(0.5 * (np.floor(last) + np.ceil(last)))
    elif method == "averaged_inverted_cdf":
        exact = np.asarray(count * q - 1)
    else:
        alpha, beta = _ALPHA_BETA[method]
        exact = np.asarray(count * q + (alpha + q * (1 - alpha - beta)) - 1)
    floor = np.floor(exact)
    # Beyond the last item NumPy counts from the end, which goes into its arithmetic of `gamma`.
    floor = np.where(exact >= count - 1, -1, np.where(exact < 0, 0, floor))
    following = np.where((exact >= count - 1) | (exact < 0), floor, floor + 1)
    gamma = exact - floor
    if method == "averaged_inverted_cdf":
        gamma = np.where(gamma == 0, 0.5, 1.0)
    elif method == "midpoint":
        gamma = np.where(exact % 1 == 0, 0.0, 0.5)
    ends = [np.where(place < 0, count - 1, place).astype(np.int64) for place in (floor, following)]
    return _Places(ends[0], ends[1], np.asarray(gamma, exact.dtype))


def _on_items(ranks: npt.NDArray[Any]) -> _Places:
    found = np.asarray(ranks).astype(np.int64)
    return _Places(found, found, None)
