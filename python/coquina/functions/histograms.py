"""Histograms and counts of arrays of any size.

In: arrays, expressions, views, datasets, NumPy arrays. Out: NumPy arrays, as NumPy's functions of the same
    names give them; `digitize` is lazy for all but small arrays.
Memory: boxes of some 16 MiB, one after another, and the counts. Weights are summed box by box, so that their
    sums differ from NumPy's in the last bits.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.regions import boxes
from coquina.arrays.results import is_tiny, stored
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.nodes import Boxes
from coquina.functions import lines
from coquina.functions.lines import chunks_of, nbytes_of
from coquina.functions.quantiles import Quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region
    from coquina.expressions.expression import Expr

__all__ = ["bincount", "digitize", "histogram", "histogram_bin_edges"]

Range = tuple[Any, Any] | None
_ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")


def histogram(
    a: Any, bins: Any = 10, range: Range = None, density: bool | None = None, weights: Any = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Count the elements in each bin, as `np.histogram`. Returns the counts and the edges of the bins.

    bins: the number of bins of equal width, their edges, or the name of an estimator, see
        `histogram_bin_edges`.
    range: lower and upper end; by default those of the elements, which needs another pass. Elements outside
        are not counted. density: return the density, whose integral is 1.
    weights: the weight of each element, in the shape of `a`.

    Raises ValueError for bins that do not increase, and for a range or elements that are not finite.

    >>> import coquina as cq
    >>> counts, edges = cq.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    >>> counts[:], edges[:]
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    source, heavy = source_of(a), None if weights is None else source_of(weights)
    if _is_whole(source, bins):
        whole = None if heavy is None else as_numpy(heavy)
        return np.histogram(as_numpy(source), bins, range, density=density, weights=whole)
    bins, range = _bins(source, bins, range, heavy)
    total: Any = 0
    for region, items in _parts(source):
        share = None if heavy is None else heavy[region].ravel()
        total = total + np.histogram(items, bins, range, weights=share)[0]
    edges = np.histogram_bin_edges(np.empty(0, _countable(source.dtype)), bins, range)
    if density:
        return total / np.diff(edges).astype(float) / total.sum(), edges
    return total, edges


def histogram_bin_edges(a: Any, bins: Any = 10, range: Range = None, weights: Any = None) -> npt.NDArray[Any]:
    """Return the edges that the bins of a histogram have, as `np.histogram_bin_edges` does.

    bins: as in `histogram`. The estimators "auto", "doane", "fd", "rice", "scott", "sqrt" and "sturges" take
    some passes over the items, and round otherwise than NumPy does; "stone" needs all items in memory.

    >>> import coquina as cq
    >>> cq.histogram_bin_edges([0.0, 10.0], bins=2)[:]
    array([ 0.,  5., 10.])
    """
    source = source_of(a)
    if _is_whole(source, bins):
        return np.histogram_bin_edges(as_numpy(source), bins, range, weights)
    bins, range = _bins(source, bins, range, None if weights is None else source_of(weights))
    return np.histogram_bin_edges(np.empty(0, _countable(source.dtype)), bins, range)


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> npt.NDArray[Any]:
    """Return how often each integer from 0 on is in the 1-d `x`, as `np.bincount` does.

    weights: the sums of these instead. minlength: give zeros for integers below it that are not there.
    Raises ValueError for negative integers, TypeError for other items.

    >>> import coquina as cq
    >>> cq.bincount([0, 1, 1, 3])[:]
    array([1, 2, 0, 1])
    """
    source, heavy = source_of(x), None if weights is None else source_of(weights)
    if nbytes_of(source) <= lines.WORK_BYTES:
        return np.bincount(as_numpy(source), None if heavy is None else as_numpy(heavy), minlength)
    if len(source.shape) != 1 or (heavy is not None and heavy.shape != source.shape):
        raise ValueError("bincount: items and weights need one axis, of the same length")
    total = np.zeros(minlength, np.intp if heavy is None else np.float64)
    for region, items in _parts(source):
        counts = np.bincount(items, None if heavy is None else heavy[region], len(total))
        counts[: len(total)] += total
        total = counts
    return total


def digitize(x: Any, bins: Any, right: bool = False) -> Array | Expr:
    """Return the number of the bin that each item falls into, as `np.digitize` does; int64.

    bins: edges that rise or fall, which fit in memory. right: bins include their right edge, not the left.
    Lazy for all but small arrays. Raises ValueError for other edges, TypeError for complex items.

    >>> import coquina as cq
    >>> cq.digitize([0.5, 2.5], [0, 1, 2, 3])[:]
    array([1, 3])
    """
    source, edges = source_of(x), as_numpy(bins)
    # NumPy's objections come at once.
    np.digitize(_nothing(source.dtype), edges, right)
    if is_tiny(source) or not source.shape:
        return stored(np.asarray(np.digitize(as_numpy(source), edges, right), np.int64))

    def read(region: Region) -> npt.NDArray[Any]:
        return np.asarray(np.digitize(np.asarray(source[region]), edges, right), np.int64)

    return Expr(Boxes("digitize", read, source.shape, np.dtype(np.int64), args=(as_node(x),)))


class _Statistics(NamedTuple):
    """Of the items within a range: how many, the least and the largest."""

    total: int
    least: Any
    largest: Any


def _is_whole(source: Any, bins: Any) -> bool:
    """Whether NumPy is given all items."""
    return nbytes_of(source) <= lines.WORK_BYTES or (isinstance(bins, str) and bins not in _ESTIMATORS)


def _nothing(dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    return np.empty(0, dtype)


def _countable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that NumPy counts items as: it takes bools for integers."""
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _parts(source: Any, range: Range = None) -> Iterator[tuple[Region, npt.NDArray[Any]]]:
    """Yield all items in boxes, or those within a range."""
    for region in boxes(
        source.shape, chunks_of(source), source.dtype.itemsize, max(lines.WORK_BYTES // 4, 1)
    ):
        items = np.asarray(source[region]).ravel().astype(_countable(source.dtype), copy=False)
        yield region, items if range is None else items[(items >= range[0]) & (items <= range[1])]


def _bins(source: Any, bins: Any, range: Range, heavy: Any) -> tuple[Any, Range]:
    """Return `bins` as a number or as edges, and the range of a number of bins."""
    if heavy is not None and heavy.shape != source.shape:
        raise ValueError(f"weights of shape {heavy.shape} for items of {source.shape}")
    # NumPy's objections come before items are read.
    nothing = np.empty(0, _countable(source.dtype))
    np.histogram_bin_edges(nothing, bins, range, None if heavy is None else nothing)
    if not isinstance(bins, str) and np.ndim(bins):
        return np.asarray(bins), range
    found = None
    if range is None:
        found = _statistics(source, None)
        range = (found.least, found.largest)
        np.histogram_bin_edges(nothing, 1, range)
    if not isinstance(bins, str):
        return bins, range
    if range[0] == range[1]:
        range = (range[0] - 0.5, range[1] + 0.5)
    found = found or _statistics(source, range)
    if not found.total:
        return 1, range
    width = _width(source, bins, range, found)
    if source.dtype.kind in "biu" and 0 < width < 1:
        width = 1
    return (ceil(_difference(*range) / width) if width else 1), range


def _statistics(source: Any, range: Range) -> _Statistics:
    count, ends = 0, cast("list[Any]", [])
    for _, items in _parts(source, range):
        if len(items):
            count += len(items)
            ends += [items.min(), items.max()]
    both = np.array(ends, _countable(source.dtype))
    return _Statistics(count, *((both.min(), both.max()) if len(both) else (None, None)))


def _difference(low: Any, high: Any) -> Any:
    """Return `high - low`, which may be too large for the type of both."""
    if np.result_type(low, high).kind in "iu":
        return int(high) - int(low)
    return high - low


def _width(source: Any, name: str, range: tuple[Any, Any], found: _Statistics) -> Any:
    """Return the width of bins by an estimator; 0 if there should be one bin."""
    count, spread = found.total, _difference(found.least, found.largest)
    if name == "sqrt":
        return spread / np.sqrt(count)
    if name == "sturges":
        return spread / (np.log2(count) + 1.0)
    if name == "rice":
        return spread / (2.0 * count ** (1.0 / 3))
    if name == "fd":
        return _freedman_diaconis(source, range, count)
    if name == "auto":
        freedman = max(_freedman_diaconis(source, range, count), spread / np.sqrt(count) / 2)
        return min(freedman, spread / (np.log2(count) + 1.0))
    mean = _moment(source, range, count, 0.0, 1)
    sigma = np.sqrt(_moment(source, range, count, mean, 2))
    if name == "scott":
        return (24.0 * np.pi**0.5 / count) ** (1.0 / 3.0) * sigma
    if count <= 2 or not sigma > 0:
        return 0.0
    skewness = _moment(source, range, count, mean, 3) / sigma**3
    expected = np.sqrt(6.0 * (count - 2) / ((count + 1.0) * (count + 3)))
    return spread / (1.0 + np.log2(count) + np.log2(1.0 + abs(skewness) / expected))


def _freedman_diaconis(source: Any, range: tuple[Any, Any], count: int) -> Any:
    def pieces() -> Iterator[npt.NDArray[Any]]:
        return (items for _, items in _parts(source, range))

    quartiles = Quantiles([75, 25], "linear", skips_nan=False, percent=True)
    high, low = quartiles.of_line(pieces, _countable(source.dtype))
    return 2.0 * (high - low) * count ** (-1.0 / 3.0)


def _moment(source: Any, range: tuple[Any, Any], count: int, mean: Any, power: int) -> Any:
    """Return the mean of a power of how far items within a range are from `mean`."""
    sums = [np.sum((items.astype(np.float64) - mean) ** power) for _, items in _parts(source, range)]
    return np.sum(sums) / count
