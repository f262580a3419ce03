"""`quality`: how far the items of one array are from those of another: errors, PSNR, SSIM.

In: two arrays of one shape, of any kind, which are read in boxes of some megabytes. Out: a `Quality`.
Source of the structural similarity: Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error
visibility to structural similarity", 2004; windows and constants as scikit-image has them by default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.operands import source_of
from coquina.arrays.regions import boxes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.arrays.regions import Region

#: Boxes in which arrays are compared.
_BOX_BYTES = 8 << 20
#: Sides of the windows of SSIM, and its constants.
WINDOW = 7
_K1, _K2 = 0.01, 0.03


@dataclass(frozen=True, slots=True)
class Quality:
    """The result of `quality`: the differences between an array and the original.

    max_error, mean_error, rmse: the greatest error, the mean error, and the root mean square error. NaN
        equals NaN, and an infinity equals itself; if only one of two values is finite, the error is infinite.
        Values that are not finite in either array are left out of the means.
    psnr: peak signal-to-noise ratio in decibels, 20 log10(data_range / rmse); infinite without errors.
    ssim: mean structural similarity of the images (the last two axes); None if an image has fewer than 7
        elements along an axis, and for complex numbers. NaN if an image has values that are not finite.
    data_range: the peak: as given, or the range of the original.

    >>> import numpy as np
    >>> import coquina as cq
    >>> found = cq.quality(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    >>> found.max_error, found.mean_error
    (0.5, 0.25)
    """

    max_error: float
    mean_error: float
    rmse: float
    psnr: float
    ssim: float | None
    data_range: float


def quality(x: Any, y: Any, /, *, data_range: float | None = None) -> Quality:
    """Compare an array with the original: errors, PSNR and structural similarity.

    x: the original. y: the other array. Both are arrays of numbers of one shape, with at least one element:
        compressed, NumPy, lazy, or datasets.
    data_range: the peak of PSNR and SSIM, such as 65535 for 16-bit images; by default the range of the finite
        values of `x`.

    Returns a `Quality`. SSIM is the mean over all windows of 7 by 7 elements with equal weights within an
    image, with the sample covariance, K1 = 0.01 and K2 = 0.03, and the mean over all images. Computed in
    float64 or complex128. Memory: about 100 MiB. Raises ValueError for different shapes, TypeError for values
    that are not numbers.

    >>> import numpy as np
    >>> import coquina as cq
    >>> x = np.linspace(0, 1, 1000)
    >>> a = cq.asarray(x, lossy={"max_error": 1e-3})
    >>> cq.quality(x, a).max_error <= 1e-3
    True
    """
    first, second = source_of(x), source_of(y)
    if tuple(first.shape) != tuple(second.shape):
        raise ValueError(f"quality: shapes {tuple(first.shape)} and {tuple(second.shape)}")
    for source in (first, second):
        if source.dtype.kind not in "biufc":
            raise TypeError(f"quality: items of {source.dtype}; takes numbers")
    if 0 in first.shape:
        raise ValueError(f"quality: shape {tuple(first.shape)} has no items")
    if data_range is not None and not data_range > 0:
        raise ValueError(f"data_range {data_range}: takes a number above 0")
    totals = _Totals()
    for region in _regions(first):
        totals.add(_items(first, region), _items(second, region))
    peak = totals.data_range if data_range is None else float(data_range)
    rmse = totals.rmse
    psnr = (
        math.inf if rmse == 0 else 20 * math.log10(peak / rmse) if peak > 0 and rmse < math.inf else -math.inf
    )
    return Quality(totals.max_error, totals.mean_error, rmse, psnr, _similarity(first, second, peak), peak)


def _regions(source: Any) -> Iterator[Region]:
    """Yield the boxes in which an array is read."""
    shape: tuple[int, ...] = tuple(source.shape)
    if not shape:
        yield ()
        return
    chunks: Any = getattr(source, "chunks", None)
    is_cut = isinstance(chunks, tuple) and len(cast("tuple[Any, ...]", chunks)) == len(shape)
    cut = cast("tuple[int, ...]", chunks) if is_cut else (1,) * len(shape)
    yield from boxes(shape, cut, 8, _BOX_BYTES)


def _items(source: Any, region: Region) -> npt.NDArray[Any]:
    """Return items in the widest type of their kind."""
    items = np.asarray(source[region])
    return items.astype(np.complex128 if items.dtype.kind == "c" else np.float64)


class _Totals:
    """What adds up over boxes."""

    def __init__(self) -> None:
        self.max_error = 0.0
        self._sum = 0.0
        self._squares = 0.0
        self._count = 0
        self._least, self._greatest = math.inf, -math.inf

    def add(self, x: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        """Take the items of a box."""
        finite = np.isfinite(x)
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        if not finite.all() or not np.isfinite(y).all():
            if not (is_same | (finite & np.isfinite(y))).all():
                self.max_error = math.inf
                self._sum = self._squares = math.inf
            both = finite & np.isfinite(y)
            x, y = x[both], y[both]
        if x.size == 0:
            return
        with np.errstate(over="ignore"):
            off = np.abs(y - x).astype(np.float64, copy=False)
            self.max_error = max(self.max_error, float(off.max()))
            self._sum += float(off.sum())
            self._squares += float(np.square(off).sum())
        self._count += x.size
        parts = x.view(np.float64) if x.dtype.kind == "c" else x
        self._least = min(self._least, float(parts.min()))
        self._greatest = max(self._greatest, float(parts.max()))

    @property
    def mean_error(self) -> float:
        """The mean distance."""
        return self._sum / max(self._count, 1)

    @property
    def rmse(self) -> float:
        """The root of the mean square distance."""
        return math.sqrt(self._squares / max(self._count, 1))

    @property
    def data_range(self) -> float:
        """The distance of the least and the greatest finite item of the original."""
        return max(self._greatest - self._least, 0.0) if self._count else 0.0


def _similarity(x: Any, y: Any, peak: float) -> float | None:
    """Return the mean structural similarity of the images that the last two axes are."""
    shape: tuple[int, ...] = tuple(x.shape)
    if len(shape) < 2 or min(shape[-2:]) < WINDOW or "c" in x.dtype.kind + y.dtype.kind:
        return None
    rows, columns = shape[-2:]
    # Bands of images: a window needs the rows below its first one too.
    band = max(_BOX_BYTES // (8 * columns), 4 * WINDOW)
    totals: list[float] = []
    for outer in np.ndindex(*shape[:-2]):
        for start in range(0, rows - WINDOW + 1, band):
            stop = min(start + band + WINDOW - 1, rows)
            region = (*outer, slice(start, stop), slice(0, columns))
            totals.append(_window_sum(_items(x, region), _items(y, region), peak))
    windows = math.prod(shape[:-2]) * (rows - WINDOW + 1) * (columns - WINDOW + 1)
    return math.fsum(totals) / windows if all(map(math.isfinite, totals)) else math.nan


def _window_sum(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], peak: float) -> float:
    """Return the sum of the similarities of all windows of two images."""
    # Sums of squares of large numbers with a small spread would lose that spread: numbers around 0 do not.
    middle = float(x.mean())
    if not math.isfinite(middle):
        return math.nan
    count = WINDOW * WINDOW
    x, y = x - middle, y - middle
    mean_x, mean_y = _sums(x) / count, _sums(y) / count
    scale = count / (count - 1)
    variance_x = scale * (_sums(x * x) / count - mean_x * mean_x)
    variance_y = scale * (_sums(y * y) / count - mean_y * mean_y)
    covariance = scale * (_sums(x * y) / count - mean_x * mean_y)
    mean_x, mean_y = mean_x + middle, mean_y + middle
    one, two = (_K1 * peak) ** 2, (_K2 * peak) ** 2
    above = (2 * mean_x * mean_y + one) * (2 * covariance + two)
    below = (mean_x**2 + mean_y**2 + one) * (variance_x + variance_y + two)
    # Two images of one value have neither errors nor a range: they are alike.
    alike = np.divide(above, below, out=np.ones_like(above), where=below != 0)
    return float(alike.sum())


def _sums(image: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums over all windows that lie within an image."""
    rows, columns = (length - WINDOW + 1 for length in image.shape)
    down = image[:rows].copy()
    for at in range(1, WINDOW):
        down += image[at : at + rows]
    total = down[:, :columns].copy()
    for at in range(1, WINDOW):
        total += down[:, at : at + columns]
    return total


__all__ = ["Quality", "quality"]
