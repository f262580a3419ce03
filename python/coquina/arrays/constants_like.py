"""New arrays of one value that are like others: `zeros_like`, `ones_like`, `full_like`, `empty_like`.

In: an array to be like, and what is to differ from it. Out: what `zeros` and its like make, with the shape
    and dtype of the other, and cut as it is if it is an `Array`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.constants import Shape, empty, full, ones, zeros
from coquina.tuning_options import DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Codec, Filters, Path
    from coquina.arrays.new_arrays import Access, Chunks
    from coquina.lossy import LossyOption
    from coquina.tuning_options import Tuning


def zeros_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    chunks: Chunks = None,
    blocks: tuple[int, ...] | None = None,
    access: Access = "any",
    codec: Codec = DEFAULT_CODEC,
    level: int = DEFAULT_LEVEL,
    filters: Filters | None = None,
    lossy: LossyOption = None,
    path: Path | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    **tuning: Unpack[Tuning],
) -> Array:
    """Return a new array of zeros with the shape and dtype of `x`, cut as it is too if it is an `Array`.

    See `asarray` for the options.
    """
    shape, dtype, chunks, blocks = _like(x, dtype, shape, chunks, blocks, access)
    return zeros(
        shape,
        dtype,
        device=device,
        chunks=chunks,
        blocks=blocks,
        access=access,
        codec=codec,
        level=level,
        filters=filters,
        lossy=lossy,
        path=path,
        contiguous=contiguous,
        overwrite=overwrite,
        checksums=checksums,
        **tuning,
    )


def empty_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    chunks: Chunks = None,
    blocks: tuple[int, ...] | None = None,
    access: Access = "any",
    codec: Codec = DEFAULT_CODEC,
    level: int = DEFAULT_LEVEL,
    filters: Filters | None = None,
    lossy: LossyOption = None,
    path: Path | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    **tuning: Unpack[Tuning],
) -> Array:
    """Return a new array without values in particular with the shape and dtype of `x`.

    It is cut as `x` is too if that is an `Array`. See `asarray` for the options.
    """
    shape, dtype, chunks, blocks = _like(x, dtype, shape, chunks, blocks, access)
    return empty(
        shape,
        dtype,
        device=device,
        chunks=chunks,
        blocks=blocks,
        access=access,
        codec=codec,
        level=level,
        filters=filters,
        lossy=lossy,
        path=path,
        contiguous=contiguous,
        overwrite=overwrite,
        checksums=checksums,
        **tuning,
    )


def ones_like(
    x: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    chunks: Chunks = None,
    blocks: tuple[int, ...] | None = None,
    access: Access = "any",
    codec: Codec = DEFAULT_CODEC,
    level: int = DEFAULT_LEVEL,
    filters: Filters | None = None,
    lossy: LossyOption = None,
    path: Path | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    **tuning: Unpack[Tuning],
) -> Array:
    """Return a new array of ones with the shape and dtype of `x`, cut as it is too if it is an `Array`.

    See `asarray` for the options.
    """
    shape, dtype, chunks, blocks = _like(x, dtype, shape, chunks, blocks, access)
    return ones(
        shape,
        dtype,
        device=device,
        chunks=chunks,
        blocks=blocks,
        access=access,
        codec=codec,
        level=level,
        filters=filters,
        lossy=lossy,
        path=path,
        contiguous=contiguous,
        overwrite=overwrite,
        checksums=checksums,
        **tuning,
    )


def full_like(
    x: Any,
    /,
    fill_value: npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: str | None = None,
    chunks: Chunks = None,
    blocks: tuple[int, ...] | None = None,
    access: Access = "any",
    codec: Codec = DEFAULT_CODEC,
    level: int = DEFAULT_LEVEL,
    filters: Filters | None = None,
    lossy: LossyOption = None,
    path: Path | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    **tuning: Unpack[Tuning],
) -> Array:
    """Return a new array full of a value with the shape and dtype of `x`.

    It is cut as `x` is too if that is an `Array`. See `asarray` for the options.
    """
    shape, dtype, chunks, blocks = _like(x, dtype, shape, chunks, blocks, access)
    return full(
        shape,
        fill_value,
        dtype,
        device=device,
        chunks=chunks,
        blocks=blocks,
        access=access,
        codec=codec,
        level=level,
        filters=filters,
        lossy=lossy,
        path=path,
        contiguous=contiguous,
        overwrite=overwrite,
        checksums=checksums,
        **tuning,
    )


def _like(
    x: Any,
    dtype: npt.DTypeLike | None,
    shape: Shape | None,
    chunks: Chunks,
    blocks: tuple[int, ...] | None,
    access: Access,
) -> tuple[Shape, np.dtype[Any], Chunks, tuple[int, ...] | None]:
    """Return shape and dtype, and how to cut the array."""
    model: Any = x if hasattr(x, "shape") and hasattr(x, "dtype") else np.asarray(x)
    named: Any = model.dtype if dtype is None else dtype
    kind = np.dtype(named)
    wanted: Shape = tuple(model.shape) if shape is None else shape
    is_alike = isinstance(x, Array) and wanted == x.shape and kind.itemsize == x.itemsize
    if is_alike and chunks is None and blocks is None and access == "any":
        chunks, blocks = x.chunks, x.blocks
    return wanted, kind, chunks, blocks
