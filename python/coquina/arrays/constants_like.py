"""New arrays of one value that are like others: `zeros_like`, `ones_like`, `full_like`, `empty_like`.

In: an array to be like, and what is to differ from it. Out: what `zeros` and its like make, with the shape
    and dtype of the other, and cut as it is if it is an `Array`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.constants import Shape, empty, full, ones, zeros
from coquina.keyword_hints import check_keywords
from coquina.storage_options import StorageOptions, is_cut

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path


def zeros_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of zeros with the shape and dtype of `x`, cut as it is too if it is an `Array`.

    See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.zeros_like(cq.ones(3, dtype="i4"))[:]
    array([0, 0, 0], dtype=int32)
    """
    shape, dtype, storage = _like(zeros_like, x, dtype, shape, storage)
    return zeros(shape, dtype, device=device, path=path, **storage)


def empty_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array without values in particular with the shape and dtype of `x`.

    It is cut as `x` is too if that is an `Array`. See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.empty_like(cq.zeros((2, 3))).shape
    (2, 3)
    """
    shape, dtype, storage = _like(empty_like, x, dtype, shape, storage)
    return empty(shape, dtype, device=device, path=path, **storage)


def ones_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of ones with the shape and dtype of `x`, cut as it is too if it is an `Array`.

    See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.ones_like(cq.zeros(3))[:]
    array([1., 1., 1.])
    """
    shape, dtype, storage = _like(ones_like, x, dtype, shape, storage)
    return ones(shape, dtype, device=device, path=path, **storage)


def full_like(
    x: Any,
    /,
    fill_value: npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array full of a value with the shape and dtype of `x`.

    It is cut as `x` is too if that is an `Array`. See `asarray` for the options.

    >>> import coquina as cq
    >>> cq.full_like(cq.zeros(3), 7)[:]
    array([7., 7., 7.])
    """
    shape, dtype, storage = _like(full_like, x, dtype, shape, storage)
    return full(shape, fill_value, dtype, device=device, path=path, **storage)


def _like(
    writer: Callable[..., Array],
    x: Any,
    dtype: npt.DTypeLike | None,
    shape: Shape | None,
    storage: StorageOptions,
) -> tuple[Shape, np.dtype[Any], StorageOptions]:
    """Return shape and dtype, and the options with how to cut the array."""
    check_keywords(writer, storage, StorageOptions)
    model: Any = x if hasattr(x, "shape") and hasattr(x, "dtype") else np.asarray(x)
    named: Any = model.dtype if dtype is None else dtype
    kind = np.dtype(named)
    wanted: Shape = tuple(model.shape) if shape is None else shape
    is_alike = isinstance(x, Array) and wanted == x.shape and kind.itemsize == x.itemsize
    if is_alike and not is_cut(storage):
        storage = {**storage, "chunks": x.chunks, "blocks": x.blocks}
    return wanted, kind, storage
