"""Fourier transforms: the `fft` extension of the Array API standard, with NumPy as the engine.

In: arrays of any kind. Out: a compressed array, in memory or at `path`; the shifts are lazy where they are
    not small. Memory: transforms along one axis go slab by slab, those along several axis after axis.
Source: the standard, 2024.12, "Fourier transform functions"; float32 gives complex64, as NumPy does.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from coquina.arrays.creation import asarray
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.functions.manipulation import roll
from coquina.functions.slabs import along_axis, is_slab
from coquina.storage_options import check_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr

Norm = Literal["backward", "ortho", "forward"]

#: Of most results; steps between are no larger.
_COMPLEX_BYTES = 16


def fft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the discrete Fourier transform along an axis.

    n: the length that is transformed: items are cut off, or zeros added. norm: which of the transform and its
    inverse divides by the length, "ortho" for its root by both. path: the file to write.

    >>> import coquina as cq
    >>> cq.fft.fft([1, 0, 0, 0])[:]
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transformed(np.fft.fft, x, n, axis, norm, path)


def ifft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the inverse of `fft`.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import coquina as cq
    >>> cq.fft.ifft([1, 1, 1, 1])[:].real
    array([1., 0., 0., 0.])
    """
    return _transformed(np.fft.ifft, x, n, axis, norm, path)


def rfft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the first half of the `fft` of real numbers; the other half mirrors it.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import coquina as cq
    >>> cq.fft.rfft([1.0, 1.0, 1.0, 1.0])[:].real
    array([4., 0., 0.])
    """
    return _transformed(np.fft.rfft, x, n, axis, norm, path)


def irfft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the inverse of `rfft`. n: the length of the result, by default the even one.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import coquina as cq
    >>> cq.fft.irfft([4, 0, 0])[:]
    array([1., 1., 1., 1.])
    """
    return _transformed(np.fft.irfft, x, n, axis, norm, path)


def hfft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the `fft`, which is real, of what its first half mirrors. n: the length of the result.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import coquina as cq
    >>> cq.fft.hfft([1, 2, 1])[:]
    array([ 6.,  0., -2.,  0.])
    """
    return _transformed(np.fft.hfft, x, n, axis, norm, path)


def ihfft(
    x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", path: Path | None = None
) -> Array:
    """Return the inverse of `hfft`: the first half of what gives these real numbers.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import coquina as cq
    >>> cq.fft.ihfft([1.0, 1.0, 1.0, 1.0])[:].real
    array([1., 0., 0.])
    """
    return _transformed(np.fft.ihfft, x, n, axis, norm, path)


def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    path: Path | None = None,
) -> Array:
    """Return the Fourier transform along several axes, all by default. s: the lengths along them.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.fft.fftn(np.ones((2, 2)))[:].real
    array([[4., 0.],
           [0., 0.]])
    """
    steps = _cooked(x, s, axes)
    small = _at_once(np.fft.fftn, x, steps, norm, path)
    return _transformed_axes(fft, steps, x, norm, path) if small is None else small


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    path: Path | None = None,
) -> Array:
    """Return the inverse of `fftn`.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.fft.ifftn(np.ones((2, 2)))[:].real
    array([[1., 0.],
           [0., 0.]])
    """
    steps = _cooked(x, s, axes)
    small = _at_once(np.fft.ifftn, x, steps, norm, path)
    return _transformed_axes(ifft, steps, x, norm, path) if small is None else small


def rfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    path: Path | None = None,
) -> Array:
    """Return the `fftn` of real numbers: of the last of the axes the first half.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.fft.rfftn(np.ones((2, 2)))[:].real
    array([[4., 0.],
           [0., 0.]])
    """
    steps = _cooked(x, s, axes)
    if (small := _at_once(np.fft.rfftn, x, steps, norm, path)) is not None:
        return small
    *others, (length, axis) = steps
    half = rfft(x, n=length, axis=axis, norm=norm, path=None if others else path)
    return _transformed_axes(fft, others, half, norm, path) if others else half


def irfftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    path: Path | None = None,
) -> Array:
    """Return the inverse of `rfftn`. s: lengths of the result; the last is the even one by default.

    x: what `asarray` takes. n, s: the lengths that are transformed. axis, axes: along which. norm: see `fft`.
    path: the file to write; in memory if None. Returns an `Array`; raises ValueError for lengths below 1.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.fft.irfftn(np.ones((2, 2)))[:]
    array([[1., 0.],
           [0., 0.]])
    """
    steps = _cooked(x, s, axes)
    if s is None and steps:
        length, axis = steps[-1]
        steps[-1] = (2 * (length - 1), axis)
    if (small := _at_once(np.fft.irfftn, x, steps, norm, path)) is not None:
        return small
    *others, (length, axis) = steps
    for its_length, its_axis in others:
        x = ifft(x, n=its_length, axis=its_axis, norm=norm)
    return irfft(x, n=length, axis=axis, norm=norm, path=path)


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array:
    """Return the frequencies of the items of an `fft` of length `n`, for samples at distance `d`.

    n: the length. d: the distance of samples. dtype: float64 by default. device: "cpu". Returns an `Array`.

    >>> import coquina as cq
    >>> cq.fft.fftfreq(4)[:]
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device(device)
    return stored(np.fft.fftfreq(n, d).astype(dtype or np.float64, copy=False))


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array:
    """Return the frequencies of the items of an `rfft` of length `n`, for samples at distance `d`.

    n: the length. d: the distance of samples. dtype: float64 by default. device: "cpu". Returns an `Array`.

    >>> import coquina as cq
    >>> cq.fft.rfftfreq(4)[:]
    array([0.  , 0.25, 0.5 ])
    """
    check_device(device)
    return stored(np.fft.rfftfreq(n, d).astype(dtype or np.float64, copy=False))


def fftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Array | Expr:
    """Return `x` with frequency 0 moved to the middle of these axes, all by default.

    >>> import coquina as cq
    >>> cq.fft.fftshift([0, 1, -2, -1])[:]
    array([-2, -1,  0,  1])
    """
    return _shifted(x, axes, 1)


def ifftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Array | Expr:
    """Return the inverse of `fftshift`.

    x: what `asarray` takes. axes: along which; all by default.

    >>> import coquina as cq
    >>> cq.fft.ifftshift([-2, -1, 0, 1])[:]
    array([ 0,  1, -2, -1])
    """
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: int | Sequence[int] | None, sign: int) -> Array | Expr:
    source = source_of(x)
    ndim = len(source.shape)
    chosen = tuple(range(ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    chosen = normalize_axis_tuple(chosen, ndim, allow_duplicate=True)
    return roll(source, tuple([sign * (source.shape[axis] // 2) for axis in chosen]), axis=chosen)


def _transformed(
    function: Callable[..., npt.NDArray[Any]], x: Any, n: int | None, axis: int, norm: Norm, path: Path | None
) -> Array:
    """Return a transform along one axis."""
    source = source_of(x)
    ndim = len(source.shape)
    axis = normalize_axis_index(index(axis), ndim) - ndim
    shape = list(source.shape)
    # A short line of zeros tells dtype and errors.
    probe = function(np.zeros(min(shape[axis], 2), source.dtype), None if n is None else min(n, 2), -1, norm)
    if function in (np.fft.irfft, np.fft.hfft):
        shape[axis] = 2 * (shape[axis] - 1) if n is None else n
    else:
        shape[axis] = shape[axis] if n is None else n
        if function in (np.fft.rfft, np.fft.ihfft):
            shape[axis] = shape[axis] // 2 + 1

    def call(items: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return function(items, n, axis, norm)

    return along_axis(call, [source], axis, tuple(shape), probe.dtype, path)


def _cooked(x: Any, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return the lengths and axes of transforms along several axes, checked."""
    shape = source_of(x).shape
    ndim = len(shape)
    if axes is None:
        axes = range(ndim) if s is None else range(-len(s), 0)
    if s is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    places = [normalize_axis_index(index(axis), ndim) for axis in axes]
    # As in NumPy, -1 leaves the length as it is.
    lengths = [-1] * len(places) if s is None else [index(length) for length in s]
    return [(shape[at] if length == -1 else length, at) for length, at in zip(lengths, places, strict=True)]


def _at_once(
    function: Callable[..., npt.NDArray[Any]],
    x: Any,
    steps: list[tuple[int, int]],
    norm: Norm,
    path: Path | None,
) -> Array | None:
    """Return the transform along several axes by NumPy if all of it is small; else None."""
    source = source_of(x)
    shape = list(source.shape)
    for length, axis in steps:
        shape[axis] = max(shape[axis], length)
    if steps and not is_slab(prod(shape) * _COMPLEX_BYTES):
        return None
    values = function(as_numpy(source), [length for length, _ in steps], [axis for _, axis in steps], norm)
    return stored(values) if path is None else asarray(values, path=path)


def _transformed_axes(
    transform: Callable[..., Array], steps: list[tuple[int, int]], x: Any, norm: Norm, path: Path | None
) -> Array:
    """Return the transform along several axes, the last one first."""
    for number, (length, axis) in enumerate(reversed(steps)):
        x = transform(x, n=length, axis=axis, norm=norm, path=path if number == len(steps) - 1 else None)
    return x


__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
