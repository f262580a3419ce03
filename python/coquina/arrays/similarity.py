"""Arrays of images that stay alike: the least PSNR is searched that gives each a structural similarity.

In: images, which the last two axes of an array are; what encodes one image, and what writes all of them,
    within a bound. Out: the written array.
Invariant: the similarity is that of what was written, measured image by image; a search that cannot reach it
    is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from coquina.arrays.comparison import WINDOW, quality
from coquina.lossy import Lossy, lossy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.lossy import LossyOption

_T = TypeVar("_T")
#: Decibels: where the search begins and ends, and how exact it is.
_LEAST, _MOST, _STEP = 10.0, 160.0, 0.5


def wanted(option: LossyOption) -> Lossy | None:
    """Return what an option asks for if that is a similarity; None for other bounds."""
    lossy = lossy_of(option)
    return lossy if lossy is not None and lossy.ssim is not None else None


def alike(
    x: Any, target: Lossy, trial: Callable[[Any, Lossy], Any], write: Callable[[Lossy], Array]
) -> Array:
    """Return the array that `write` makes, each image of which is as similar to the original as is wanted.

    x: what is written. trial: what an image is after it was encoded within a bound.
    Raises ValueError for items that are no images, or not finite, and where the similarity cannot be reached.
    """

    def written(bound: Lossy) -> Array | None:
        made = write(bound)
        if _is_alike(x, made, target):
            return made
        made.close()
        return None

    return _first(x, target, trial, written)


def bound_of(
    x: Any, target: Lossy, chunks: tuple[int, ...], encode: Callable[[Any, tuple[int, ...], Lossy], Any]
) -> Lossy:
    """Return the least PSNR by which each image is as similar to the original as is wanted.

    x: what will be written in these chunks. encode: what items are after they were encoded in chunks within a
    bound. Images are read in turns, with the others of their chunks. Raises ValueError as `alike` does.
    """

    def checked(bound: Lossy) -> Lossy | None:
        parts = (x[region] for region in _regions(x.shape, chunks))
        return bound if all(_is_alike(part, encode(part, chunks, bound), target) for part in parts) else None

    return _first(x, target, lambda image, bound: encode(image, chunks[-2:], bound), checked)


def _first(
    x: Any, target: Lossy, trial: Callable[[Any, Lossy], Any], tried: Callable[[Lossy], _T | None]
) -> _T:
    """Return what `tried` gives, for the least PSNR at which it finds all images similar enough."""
    _check(x)
    psnr = _searched(x, target, trial)
    while psnr <= _MOST:
        # A chunk of several images, or of a part of one, has a peak of its own.
        if (found := tried(_bound(psnr, target))) is not None:
            return found
        psnr += 2 * _STEP
    raise ValueError(f"lossy: ssim {target.ssim} cannot be reached")


def _is_alike(x: Any, found: Any, target: Lossy) -> bool:
    """Return whether each image was found similar enough."""
    return all(_similarity(image, found[at]) >= _least(target) for at, image in _images(x))


def _regions(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Yield the images that share chunks."""
    leading = list(zip(shape[:-2], chunks, strict=False))
    for number in np.ndindex(*(-(-length // chunk) for length, chunk in leading)):
        yield tuple(
            slice(at * chunk, (at + 1) * chunk) for at, (_, chunk) in zip(number, leading, strict=True)
        )


def _check(x: Any) -> None:
    """Raise ValueError for what is no images."""
    shape: tuple[int, ...] = tuple(x.shape)
    if len(shape) < 2 or min(shape[-2:]) < WINDOW or x.dtype.kind not in "biuf" or 0 in shape:
        raise ValueError(
            f"lossy: ssim is of images, the last two axes, of {WINDOW} by {WINDOW} numbers and more; "
            f"shape {shape}, {x.dtype}"
        )


def _searched(x: Any, target: Lossy, trial: Callable[[Any, Lossy], Any]) -> float:
    """Return the least PSNR, in steps, at which each image is similar enough when it is encoded alone."""
    psnr = _LEAST
    for _, image in _images(x):

        def is_enough(decibels: float, image: Any = image) -> bool:
            return _similarity(image, trial(image, _bound(decibels, target))) >= _least(target)

        if is_enough(psnr):
            continue
        low, psnr = psnr, _MOST
        while psnr - low > _STEP:
            middle = (low + psnr) / 2
            if is_enough(middle):
                psnr = middle
            else:
                low = middle
    return psnr


def _images(x: Any) -> Iterator[tuple[tuple[int, ...], npt.NDArray[Any]]]:
    for at in np.ndindex(*tuple(x.shape)[:-2]):
        yield at, np.asarray(x[at])


def _similarity(image: npt.NDArray[Any], other: Any) -> float:
    found = quality(image, np.asarray(other)).ssim
    if found is None or found != found:
        raise ValueError("lossy: ssim: an image has items that are not finite")
    return found


def _bound(psnr: float, target: Lossy) -> Lossy:
    return Lossy(psnr=psnr, method=target.method)


def _least(target: Lossy) -> float:
    return 1.0 if target.ssim is None else target.ssim
