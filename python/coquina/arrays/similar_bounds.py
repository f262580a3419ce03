"""The bound of a writer that sees all items before it writes: for a similarity of images, the least PSNR.

In: the items, a bound, the chunks they will be written in, and how. Out: a bound that the engine knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coquina.arrays import similarity
from coquina.arrays.creation import asarray

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.lossy import Lossy


def bound_on(x: Any, lossy: Lossy, chunks: tuple[int, ...], **coding: Any) -> Lossy:
    """Return the bound by which items are written in these chunks.

    coding: codec, level and filters, where they say how numbers are kept within a bound. Raises ValueError
    for a similarity of items that are no images, or not finite, and for one that is not reached.
    """
    if lossy.ssim is None:
        return lossy

    def encode(items: Any, cut: tuple[int, ...], bound: Lossy) -> npt.NDArray[Any]:
        return asarray(items, chunks=cut, lossy=bound, **coding)[...]

    return similarity.bound_of(x, lossy, chunks, encode)


def rounded_bound(x: Any, lossy: Lossy, chunks: tuple[int, ...]) -> Lossy:
    """Return the bound by which items are rounded that a dataset of HDF5 gets."""
    bound = bound_on(x, replace(lossy, method="round"), chunks, codec="lz4", level=1)
    return replace(bound, method=lossy.method)
