"""How one array should be stored: the shapes and the pipeline that suit a request, by trials.

In: an array, and what is asked. Out: a `Recommendation`.
Memory: some blocks from places all over the array, at most 32 MiB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import ArrayBase
from coquina.dtypes import dtype_text
from coquina.tuning import samples, shapes, ways
from coquina.tuning.patterns import uses
from coquina.tuning.recommendation import Recommendation

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from coquina.lossy import Lossy
    from coquina.tuning.patterns import AccessOption, Shape
    from coquina.tuning.samples import Place
    from coquina.tuning_options import Terms, TuningInfo


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, checked as far as that is possible without data.

    is_plain: only ways that HDF5's filter for Blosc2 can be told of. terms: those of `wanted`, perhaps with a
        profile. observer: gets the places that are looked at, and the shape of their blocks.
    """

    wanted: TuningInfo
    access: AccessOption
    lossy: Lossy | None
    chunks: Shape | None
    blocks: Shape | None
    threads: int | None
    is_plain: bool = False
    terms: Terms | None = None
    observer: Callable[[list[Place], Shape], None] | None = None


def of_array(
    x: Any,
    request: Request,
    name: str,
    source: Callable[[], AbstractContextManager[Any]],
    current: tuple[Shape, Shape] | None = None,
) -> Recommendation:
    """Return how an array should be stored. current: how it is cut now, if it is known and no `Array`."""
    shape, dtype = _checked(x, name or "tune")
    asked = uses(shape, request.access)
    cuts = shapes.cuts(
        shape,
        dtype.itemsize,
        asked,
        given=(request.chunks, request.blocks),
        current=current or _current(x),
        bandwidth=request.wanted.bandwidth,
    )
    places = samples.places(x, *cuts[0].key, request.lossy)
    if request.observer is not None:
        request.observer(places, cuts[0].blocks)
    choice = ways.choose(
        places,
        dtype,
        cuts[0].blocks,
        request.terms or request.wanted.terms,
        is_plain=request.is_plain,
        threads=request.threads,
    )
    return Recommendation(
        name=name,
        shape=shape,
        dtype=dtype,
        wanted=request.wanted,
        uses=tuple(asked),
        cuts=tuple(cuts),
        choice=choice,
        sample_bytes=sum(place.items.nbytes for place in places),
        places=len(places),
        lossy=request.lossy,
        threads=request.threads,
        source=source,
    )


def _checked(x: Any, name: str) -> tuple[Shape, np.dtype[Any]]:
    """Return shape and dtype of what has items that an array can have; else raise TypeError or ValueError."""
    shape, dtype = tuple(int(length) for length in x.shape), np.dtype(x.dtype)
    try:
        dtype_text(dtype)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    if 0 in shape:
        raise ValueError(
            f"{name}: {dtype} of shape {shape}: the array is empty, so there is nothing to measure"
        )
    return shape, dtype


def kept_cut(request: Request, x: Any) -> Request:
    """Return a request for an array that stays cut as it is: a column of a table."""
    return replace(request, access="any", chunks=tuple(x.chunks), blocks=tuple(x.blocks))


def refuse_cut(request: Request, what: str) -> None:
    """Raise ValueError for chunks and blocks where there are several arrays."""
    if request.chunks is not None or request.blocks is not None:
        raise ValueError(f"chunks and blocks are for one array, and this is {what}; use access=")


def _current(x: Any) -> tuple[Shape, Shape] | None:
    """Return how an array of this package is cut now."""
    is_cut = isinstance(x, ArrayBase) and x.shape
    return (x.chunks, x.blocks) if is_cut else None
