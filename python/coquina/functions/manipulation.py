"""Functions that move items, under the names of the Array API standard and NumPy's: axes, places along them.

In: arrays of any kind. Out: a small compressed array at once, else a lazy expression that reads what is asked
    of it.
Source: the standard, 2024.12, "Manipulation functions"; NumPy decides results and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from coquina.arrays.operands import source_of
from coquina.functions.layouts import gathered, rearranged, repeated
from coquina.functions.reshaping import ravel, reshape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.expressions.nodes import Region
    from coquina.functions.layouts import Indices, Places

Axes = int | tuple[int, ...]


def broadcast_to(x: Any, /, shape: int | tuple[int, ...]) -> Array | Expr:
    """Return `x` with axes of length 1, and new ones in front, repeated up to `shape`.

    >>> import coquina as cq
    >>> cq.broadcast_to([1, 2], (2, 2))[:]
    array([[1, 2],
           [1, 2]])
    """
    return rearranged("broadcast_to", x, lambda values: np.broadcast_to(values, shape))


def broadcast_arrays(*arrays: Any) -> tuple[Array | Expr, ...]:
    """Return all arrays in the one shape that they broadcast to.

    >>> import coquina as cq
    >>> [part.shape for part in cq.broadcast_arrays([1, 2], [[3], [4]])]
    [(2, 2), (2, 2)]
    """
    sources = [source_of(x) for x in arrays]
    shape = np.broadcast_shapes(*[source.shape for source in sources])
    return tuple([broadcast_to(source, shape) for source in sources])


def broadcast_shapes(*shapes: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to. Raises ValueError if there is none.

    >>> import coquina as cq
    >>> cq.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return np.broadcast_shapes(*shapes)


def expand_dims(x: Any, /, axis: Axes) -> Array | Expr:
    """Return `x` with new axes of length 1, at these places of the result.

    >>> import coquina as cq
    >>> cq.expand_dims([1, 2], axis=0).shape
    (1, 2)
    """
    source = source_of(x)
    places = (axis,) if not isinstance(axis, (tuple, list)) else tuple(axis)
    ndim = len(places) + len(source.shape)
    new = normalize_axis_tuple(places, ndim)
    key = tuple([None if axis in new else slice(None) for axis in range(ndim)])
    return rearranged("expand_dims", source, lambda values: values[key])


def squeeze(x: Any, /, axis: Axes | None = None) -> Array | Expr:
    """Return `x` without these axes, which have length 1; without all such axes for None.

    >>> import coquina as cq
    >>> cq.squeeze(cq.zeros((1, 3)), axis=0).shape
    (3,)
    """
    return rearranged("squeeze", x, lambda values: np.squeeze(values, axis))


def flip(x: Any, /, *, axis: Axes | None = None) -> Array | Expr:
    """Return `x` backwards along these axes; all for None.

    >>> import coquina as cq
    >>> cq.flip([1, 2, 3])[:]
    array([3, 2, 1])
    """
    return rearranged("flip", x, lambda values: np.flip(values, axis))


def flipud(x: Any, /) -> Array | Expr:
    """Return `x` backwards along the first axis.

    >>> import coquina as cq
    >>> cq.flipud([[1, 2], [3, 4]])[:]
    array([[3, 4],
           [1, 2]])
    """
    return rearranged("flipud", x, np.flipud)


def fliplr(x: Any, /) -> Array | Expr:
    """Return `x` backwards along the second axis.

    >>> import coquina as cq
    >>> cq.fliplr([[1, 2], [3, 4]])[:]
    array([[2, 1],
           [4, 3]])
    """
    return rearranged("fliplr", x, np.fliplr)


def rot90(x: Any, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array | Expr:
    """Return `x` turned `k` times by 90 degrees, from the first of two axes towards the second.

    >>> import coquina as cq
    >>> cq.rot90([[1, 2], [3, 4]])[:]
    array([[2, 4],
           [1, 3]])
    """
    return rearranged("rot90", x, lambda values: np.rot90(values, k, axes))


def moveaxis(x: Any, source: Axes, destination: Axes, /) -> Array | Expr:
    """Return `x` with the axes `source` at the places `destination`, and the others in their order.

    >>> import coquina as cq
    >>> cq.moveaxis(cq.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return rearranged("moveaxis", x, lambda values: np.moveaxis(values, source, destination))


def rollaxis(x: Any, /, axis: int, start: int = 0) -> Array | Expr:
    """Return `x` with one axis moved in front of the axis `start`.

    >>> import coquina as cq
    >>> cq.rollaxis(cq.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return rearranged("rollaxis", x, lambda values: np.rollaxis(values, axis, start))


def swapaxes(x: Any, /, axis1: int, axis2: int) -> Array | Expr:
    """Return `x` with two axes exchanged.

    axis1, axis2: which two. Raises IndexError for an axis that there is not.

    >>> import coquina as cq
    >>> cq.swapaxes(cq.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    return rearranged("swapaxes", x, lambda values: np.swapaxes(values, axis1, axis2))


def permute_dims(x: Any, /, axes: Sequence[int] | None = None) -> Array | Expr:
    """Return `x` with its axes in this order; reversed for None.

    >>> import coquina as cq
    >>> cq.permute_dims(cq.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return rearranged("permute_dims", x, lambda values: np.transpose(values, axes))


transpose = permute_dims


def matrix_transpose(x: Any, /) -> Array | Expr:
    """Return `x` with its last two axes exchanged. Raises ValueError if there are less.

    >>> import coquina as cq
    >>> cq.matrix_transpose([[1, 2], [3, 4]])[:]
    array([[1, 3],
           [2, 4]])
    """
    return rearranged("matrix_transpose", x, np.matrix_transpose)


def atleast_1d(*arrays: Any) -> Any:
    """Return each array with at least one axis; a tuple unless there is one.

    >>> import coquina as cq
    >>> cq.atleast_1d(5)[:]
    array([5])
    """
    return _each("atleast_1d", 1, arrays)


def atleast_2d(*arrays: Any) -> Any:
    """Return each array with at least two axes, new ones in front; a tuple unless there is one.

    >>> import coquina as cq
    >>> cq.atleast_2d([1, 2]).shape
    (1, 2)
    """
    return _each("atleast_2d", 2, arrays)


def atleast_3d(*arrays: Any) -> Any:
    """Return each array with at least three axes, new ones around or behind; a tuple unless there is one.

    >>> import coquina as cq
    >>> cq.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _each("atleast_3d", 3, arrays)


def _each(name: str, count: int, arrays: tuple[Any, ...]) -> Any:
    changed = tuple(
        [rearranged(name, x, lambda values: values[_new_axes(values.ndim, count)]) for x in arrays]
    )
    return changed[0] if len(changed) == 1 else changed


def _new_axes(ndim: int, count: int) -> tuple[Any, ...]:
    """Return the key that adds the axes that are missing, where NumPy adds them."""
    if count == 3 and ndim:
        return (*(None,) * (2 - ndim), *(slice(None),) * ndim, *(None,) * (ndim < 3))
    return (*(None,) * (count - ndim), ...)


def roll(x: Any, /, shift: Axes, *, axis: Axes | None = None) -> Array | Expr:
    """Return `x` with its items moved `shift` places along `axis`, from the end to the beginning.

    axis: several with a shift for each, or one for all. None: the flat array is rolled.

    Raises IndexError for an axis that there is not, ValueError for other than a shift for each.

    >>> import coquina as cq
    >>> cq.roll([1, 2, 3], 1)[:]
    array([3, 1, 2])
    """
    source = source_of(x)
    if axis is None:
        return reshape(roll(ravel(source), shift, axis=0), source.shape)
    axes = normalize_axis_tuple(axis, len(source.shape), allow_duplicate=True)
    pairs = np.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = [0] * len(source.shape)
    for distance, number in pairs:
        shifts[number] += int(distance)
    places = [
        repeated(-distance, size) if size and distance % size else None
        for distance, size in zip(shifts, source.shape, strict=True)
    ]
    return gathered("roll", source, source.shape, places)


PadMode = Literal["constant", "edge", "reflect", "symmetric", "wrap"]


def pad(x: Any, pad_width: Any, mode: PadMode = "constant", *, constant_values: Any = 0) -> Array | Expr:
    """Return `x` with additional elements around it.

    pad_width: the numbers before and after each axis: one number, a pair for all axes, or a pair for each
        axis.
    mode: "constant": `constant_values`, given like `pad_width`. "edge": the outermost elements. "reflect":
        mirrored at the outermost elements. "symmetric": mirrored, including them. "wrap": repeated from the
        other end.

    Raises ValueError for another mode or negative numbers.

    >>> import coquina as cq
    >>> cq.pad([1, 2], 1)[:]
    array([0, 1, 2, 0])
    """
    source = source_of(x)
    ndim = len(source.shape)
    widths = np.asarray(pad_width)
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    around: list[list[int]] = np.broadcast_to(widths, (ndim, 2)).tolist()
    shape = tuple([size + before + after for size, (before, after) in zip(source.shape, around, strict=True)])
    if mode not in _MODES:
        raise ValueError(f"pad: mode {mode!r}, where one of {', '.join(map(repr, _MODES))} is needed")
    places: list[Places | None] = []
    for axis, (size, (before, after)) in enumerate(zip(source.shape, around, strict=True)):
        if not size and before + after and mode != "constant":
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        places.append(_padded(mode, before, size) if before + after else None)
    constants = np.broadcast_to(np.asarray(constant_values), (ndim, 2))

    def fill(region: Region, out: npt.NDArray[Any]) -> None:
        # Later axes win in the corners, as in NumPy.
        for axis, (part, (before, _)) in enumerate(zip(region, around, strict=True)):
            items = np.moveaxis(out, axis, 0)
            items[: max(0, before - part.start)] = constants[axis, 0]
            items[max(0, before + source.shape[axis] - part.start) :] = constants[axis, 1]

    return gathered("pad", source, shape, places, fill=fill if mode == "constant" else None)


def _padded(mode: PadMode, before: int, size: int) -> Places:
    find = _MODES[mode]
    return lambda start, stop: find(np.arange(start - before, stop - before), size)


def _mirrored(places: Indices, size: int, period: int) -> Indices:
    around = places % max(period, 1)
    return np.where(around < size, around, period - around - (period == 2 * size))


_MODES: dict[str, Callable[[Indices, int], Indices]] = {
    "constant": lambda places, size: np.where(places < size, np.maximum(places, -1), -1),
    "edge": lambda places, size: np.clip(places, 0, size - 1),
    "reflect": lambda places, size: _mirrored(places, size, 2 * size - 2),
    "symmetric": lambda places, size: _mirrored(places, size, 2 * size),
    "wrap": lambda places, size: places % size,
}


__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "pad",
    "permute_dims",
    "ravel",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "squeeze",
    "swapaxes",
    "transpose",
]
