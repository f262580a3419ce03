"""New arrays of numbers in a row, `arange` and `linspace`, and of any items, `fromiter` and `frombuffer`.

In: as NumPy's functions of these names, and the options of `asarray`. Out: an `Array` with exactly NumPy's
values, made box by box, so that it may be larger than memory.
"""

from __future__ import annotations

from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.creation import asarray, from_slabs, new_array
from coquina.arrays.new_arrays import fill_boxes, written
from coquina.arrays.regions import BOX_BYTES
from coquina.keyword_hints import check_keywords
from coquina.storage_options import Storage, StorageOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Buffer, Path
    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region
    from coquina.storage_options import Options

#: Fewer items are made by NumPy at once.
_AT_ONCE = BOX_BYTES // 8


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return evenly spaced numbers in the half-open interval [`start`, `stop`), with the given `step`.

    start, stop, step: numbers, dates (datetime64) or durations, as in `numpy.arange`. dtype: of the result.
        device, path and the options of storage: see `asarray`.

    >>> import coquina as cq
    >>> cq.arange(2, 10, 3)[:]
    array([2, 5, 8])
    """
    if stop is None:
        start, stop = start * 0 + 0, start  # 0, not -0.0
    options = Storage.for_array(arange, storage, path, device).for_engine()
    length = _length(start, stop, step)
    if length <= _AT_ONCE:
        return new_from(np.arange(start, stop, step, dtype=dtype), options)
    # The first two items say all, as in NumPy: item i is the first one and i times their difference.
    kind: np.dtype[Any] = np.result_type(start, stop, step) if dtype is None else np.dtype(dtype)
    wide: np.dtype[Any] = np.dtype("f4") if kind == np.float16 else kind
    two: npt.NDArray[Any] = (
        np.arange(start, start + 2 * step, step, dtype=dtype)[:2].astype(kind).astype(wide)
    )
    first, difference = two[0], two[1] - two[0]
    steps: npt.DTypeLike = np.int64 if kind.kind in "mM" else wide

    def part(region: Region) -> npt.NDArray[Any]:
        return cast("npt.NDArray[Any]", first + _places(region, steps) * difference).astype(kind)

    return made((length,), kind, options, part)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of `num` numbers at equal distances from `start` to `stop`, with it if `endpoint`.

    As `numpy.linspace` for numbers. See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.linspace(0, 1, 5)[:]
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    options = Storage.for_array(linspace, storage, path, device).for_engine()
    if num <= _AT_ONCE:
        return new_from(np.linspace(start, stop, num, endpoint, dtype=dtype), options)
    wide: np.dtype[Any] = np.result_type(start, stop, float(num))
    kind: np.dtype[Any] = wide if dtype is None else np.dtype(dtype)
    first: Any = wide.type(start)
    width: Any = wide.type(stop) - first
    divisions = num - 1 if endpoint else num
    step = width / divisions

    def part(region: Region) -> npt.NDArray[Any]:
        places = _places(region, wide)
        items: Any = (places * step if step != 0 else places / divisions * width) + first
        if endpoint and region[0].stop == num:
            items[-1] = stop
        if kind.kind in "iu":
            items = np.floor(items)
        return items.astype(kind)

    return made((num,), kind, options, part)


def fromiter(
    iterable: Iterable[Any],
    dtype: npt.DTypeLike,
    count: int = -1,
    *,
    path: Path | None = None,
    threads: int | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of one axis with the items of `iterable`, or the first `count` of them.

    Raises ValueError if there are fewer. See `asarray` for the options. Memory: a row of chunks.

    >>> import coquina as cq
    >>> cq.fromiter((n * n for n in range(4)), "i8")[:]
    array([0, 1, 4, 9])
    """
    check_keywords(fromiter, storage, StorageOptions)
    kind = np.dtype(dtype)
    return from_slabs(
        _pieces(iter(iterable), kind, count),
        kind,
        path=path,
        threads=threads,
        **storage,
    )


def frombuffer(
    buffer: Buffer,
    dtype: npt.DTypeLike = float,
    count: int = -1,
    offset: int = 0,
    *,
    path: Path | None = None,
    threads: int | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of one axis with the items of a buffer, from byte `offset` on.

    See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.frombuffer(bytes([1, 0, 2, 0]), "<i2")[:]
    array([1, 2], dtype=int16)
    """
    check_keywords(frombuffer, storage, StorageOptions)
    return asarray(
        np.frombuffer(cast("Any", buffer), dtype, count, offset),
        path=path,
        threads=threads,
        **storage,
    )


def new_from(items: npt.NDArray[Any], options: Options) -> Array:
    """Return an array of a NumPy array that is in C order."""
    return new_array(items.shape, items.dtype, options, items)


def made(
    shape: tuple[int, ...], dtype: np.dtype[Any], options: Options, part: Callable[[Region], Any]
) -> Array:
    """Return an array of what `part` gives for each region."""
    array = new_array(shape, dtype, options)
    with written(array):
        fill_boxes(array, part)
    return array


def _places(region: Region, dtype: npt.DTypeLike) -> Any:
    """Return the numbers of the items of a region."""
    return cast("Any", np.arange(region[0].start, region[0].stop)).astype(dtype)


def _length(start: Any, stop: Any, step: Any) -> int:
    """Return how many items `numpy.arange` makes."""
    if isinstance(start, str | np.datetime64) or isinstance(stop, np.timedelta64):
        return 0  # Dates have rules of their own; that many days no computer has memory for.
    return max(0, ceil((stop - start) / step)) if step else 0


def _pieces(items: Iterator[Any], dtype: np.dtype[Any], count: int) -> Iterator[npt.NDArray[Any]]:
    unit = max(1, (1 << 20) // max(dtype.itemsize, 1))
    left = count
    yield np.empty(0, dtype)
    while left:
        wanted = unit if left < 0 else min(unit, left)
        piece = np.fromiter(islice(items, wanted), dtype)
        if left > 0:
            left -= len(piece)
            if len(piece) < wanted:
                raise ValueError(f"fromiter: {count} items wanted, {left} are missing")
        yield piece
        if len(piece) < wanted:
            return
