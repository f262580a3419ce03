"""`tune`: how an array, a table or a file should be stored, for what it is to be good for.

In: data, a goal, and how they will be read. Out: a `Recommendation`, or a `FileRecommendation` with one for
each array that is stored.
Memory: some blocks from places all over an array, at most 32 MiB of each, read once; one array at a time.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from coquina.keyword_hints import names_keywords
from coquina.lossy import lossy_of
from coquina.tuning.arrays import Request, of_array
from coquina.tuning.sources import as_source, is_group, is_table, opened
from coquina.tuning_options import info_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from coquina._core import Path
    from coquina.lossy import LossyOption
    from coquina.tuning.files import FileRecommendation
    from coquina.tuning.patterns import AccessOption, Shape
    from coquina.tuning.recommendation import Recommendation
    from coquina.tuning_options import For, Goal, ProfileOption

Lengths = tuple[int, ...] | int | Literal["auto"] | None


@names_keywords
def tune(
    x: Any,
    goal: Goal = "balanced",
    *,
    for_: For = "both",
    access: AccessOption = "any",
    bandwidth: float | None = None,
    calibrate: bool = False,
    profile: ProfileOption | None = None,
    lossy: LossyOption = None,
    chunks: Lengths = None,
    blocks: Lengths = None,
    threads: int | None = None,
) -> Any:
    """Recommend codec, filters and chunks for data. Nothing is stored.

    x: the data, as for `asarray`, of which some blocks are read; a table; or the path of a `.b2nd`, `.npy`,
        Bloscpack or HDF5 file, of a table's directory, or `FILE.h5:/path`. All arrays of an HDF5 file, a
        group or a table are examined, one by one.
    goal, for_, bandwidth, calibrate, profile: see `Tuning`.
    access: the expected reads, which decide the shapes of chunks and blocks: "any" for the default rule,
        "whole", "rows" (`a[i]`), "columns" (`a[..., j]`), "planes" (an index of each axis in turn),
        "planes:0" (of one axis), "series:0" (lines along an axis), "points", "boxes:30,90,90" or a tuple of
        lengths; or a mapping of these to numbers of reads: `{"planes:0": 1, "series:0": 1000}`.
    lossy: an error bound, as for `asarray`; in files it applies to floating-point datasets.
    chunks, blocks: elements along each axis, if they are fixed; arrays only. "auto": they are not.
    threads: the number of threads.

    Returns a `Recommendation`, or for tables, groups and HDF5 files a `FileRecommendation`, with `explain()`
    and `apply()`. The codec is chosen by trials, with times from a table, so that it is the same on every
    machine (except with `calibrate`). Shapes are chosen by counting the blocks and chunks that reads touch;
    the default stays unless another shape is 10 % better.

    Raises ValueError for options out of range and for arrays without elements, TypeError for objects, and the
    errors of `open`. Memory: at most 32 MiB for each array, but at least one block.

    >>> import numpy as np
    >>> import coquina as cq
    >>> found = cq.tune(np.arange(100_000), goal="balanced")
    >>> a = found.apply(path="a.b2nd", overwrite=True)
    >>> a.shape
    (100000,)
    """
    words: dict[str, Any] = {"goal": goal, "for_": for_, "calibrate": calibrate}
    words |= {} if bandwidth is None else {"bandwidth": bandwidth}
    words |= {} if profile is None else {"profile": profile}
    terms = terms_of(words)
    wanted = info_of(terms)
    assert wanted is not None
    bound = lossy_of(lossy)
    request = Request(wanted, access, bound, _lengths(chunks), _lengths(blocks), threads, terms=terms)
    if isinstance(x, str | os.PathLike):
        path = cast("Path", x)
        with opened(path) as found:
            return advice_of(found, request, os.fsdecode(path), partial(opened, path))
    source = as_source(x)
    # What was given is copied as it was: `asarray` may keep more of it than was needed to look at it.
    return advice_of(source, request, "", lambda: nullcontext(x))


def advice_of(
    x: Any, request: Request, name: str, source: Callable[[], AbstractContextManager[Any]]
) -> Recommendation | FileRecommendation:
    """Return how an array, or what is in a table or a group, should be stored. source: opens it anew."""
    if is_table(x):
        from coquina.tuning.tables import of_table

        return of_table(x, request, name, source)
    if is_group(x):
        from coquina.tuning.datasets import of_group

        return of_group(x, request)
    return of_array(x, request, name, source)


def _lengths(lengths: Lengths) -> Shape | None:
    if lengths is None or lengths == "auto":
        return None
    return (lengths,) if isinstance(lengths, int) else tuple(lengths)


__all__ = ["tune"]
