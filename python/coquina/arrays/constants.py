"""New arrays of one value: `zeros`, `ones`, `full`, `empty`, `nans`.

In: a shape, the dtype (float64 if none is given), and the options of `asarray`. Out:
    an `Array` that takes next to no space: zeros, NaNs and "empty" are marks in the index, and of any other
    value each chunk stores one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.creation import filled, new_array
from coquina.arrays.new_arrays import fill_boxes, written
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.storage_options import StorageOptions

Shape = int | tuple[int, ...]


def zeros(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of zeros.

    shape: an int or a tuple. dtype: float64 by default. path: the file to write; None: in memory. device and
        the options of storage: see `asarray`. Repeated values take no space.

    >>> import coquina as cq
    >>> a = cq.zeros((10_000, 10_000))
    >>> a.nbytes, a.cbytes < 1000
    (800000000, True)
    """
    options = Storage.for_array(zeros, storage, path, device).for_engine()
    return filled(shape, np.dtype(dtype), options, "zeros")


def empty(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array without values in particular; they read as zeros until they are written.

    See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.empty((2, 3)).shape
    (2, 3)
    """
    options = Storage.for_array(empty, storage, path, device).for_engine()
    return filled(shape, np.dtype(dtype), options, "uninit")


def ones(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of ones. See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.ones((2, 2), dtype="int8")[:]
    array([[1, 1],
           [1, 1]], dtype=int8)
    """
    options = Storage.for_array(ones, storage, path, device).for_engine()
    return filled(shape, np.dtype(dtype), options, _item(1, np.dtype(dtype)))


def nans(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of NaNs, of a floating or complex dtype. See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.nans(2)[:]
    array([nan, nan])
    """
    options = Storage.for_array(nans, storage, path, device).for_engine()
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.kind not in "fc":
        raise TypeError(f"nans: dtype {kind} has no NaN")
    is_native = kind.str in ("<f4", "<f8")
    return filled(shape, kind, options, "nans" if is_native else _item(np.nan, kind))


def full(
    shape: Shape,
    fill_value: npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array full of a value.

    fill_value: one item, or an array that broadcasts to `shape`. dtype: that of the value by default.
    See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.full(3, 1.5)[:]
    array([1.5, 1.5, 1.5])
    """
    options = Storage.for_array(full, storage, path, device).for_engine()
    value: npt.NDArray[Any] = np.asarray(fill_value)
    kind = value.dtype if dtype is None else np.dtype(dtype)
    if not value.ndim:
        return filled(shape, kind, options, _item(fill_value, kind))
    array = new_array((shape,) if isinstance(shape, int) else tuple(shape), kind, options)
    everything = np.broadcast_to(value, array.shape)
    with written(array):
        fill_boxes(array, lambda region: everything[region])
    return array


def _item(value: Any, dtype: np.dtype[Any]) -> str | bytes:
    """Return the bytes of an item, or the name of the value that takes no space."""
    item: npt.NDArray[Any] = np.empty((), dtype)
    item[()] = value
    stored = item.tobytes()
    return stored if any(stored) else "zeros"
