"""How new arrays are made: options, handles of the engine, and items written in boxes.

In: how an array is to be stored, and the class that it is to have. Out: an array of that class. A file
appears under its name when it is complete; what failed leaves nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from coquina import _core
from coquina.arrays.regions import boxes
from coquina.casting import is_masked, mask_of
from coquina.dtypes import dtype_text
from coquina.indexing import lower
from coquina.storage_options import Chunks, Options, Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region

A = TypeVar("A", bound="Array")

#: Texts of dtypes that many arrays have.
TEXTS: dict[np.dtype[Any], str] = {
    dtype: dtype_text(dtype) for dtype in map(np.dtype, ("?", *"bhilqBHILQefdFD"))
}

#: The options of arrays of which nothing else is said.
DEFAULTS: Options = Storage().for_engine()


def usual_options(path: Path | None, chunks: Chunks = None) -> Options:
    """Return the options of a result that nobody said more of, in memory or in the file `path`."""
    return Storage(chunks=chunks, path=path).for_engine()


def make(
    of: Callable[[_core.ArrayHandle, np.dtype[Any]], A],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    options: Options,
    values: npt.NDArray[Any] | None = None,
    *,
    fill: str | bytes = "zeros",
    threads: int | None = None,
) -> A:
    """Return an array of `values`, or of `fill`; then a file gets its name by `handle.publish()`.

    of: what is made of the engine's handle and the dtype: the class of arrays.
    """
    text = TEXTS.get(dtype) or dtype_text(dtype)
    if "lossy" in options:
        return _make_lossy(of, shape, dtype, options, values, fill, threads)
    if values is None:
        handle = _core.create_array(shape, text, dtype.itemsize, fill=fill, **options)
    else:
        handle = _core.create_array(shape, text, dtype.itemsize, values, threads=threads, **options)
    return of(handle, dtype)


def _make_lossy(
    of: Callable[[_core.ArrayHandle, np.dtype[Any]], A],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    options: Options,
    values: npt.NDArray[Any] | None,
    fill: str | bytes,
    threads: int | None,
) -> A:
    """Return what `make` does, of which something may be lost."""
    exact = {name: value for name, value in options.items() if name != "lossy"}
    array = make(of, shape, dtype, exact, fill=fill)
    try:
        array.handle.set_lossy(options["lossy"].terms)
    except BaseException:
        array.close()
        raise
    if values is not None:
        with written(array):
            if 0 not in shape:
                axes = list(lower((), shape).axes)
                array.write_selection(axes, None, 0, values, threads=threads)
    return array


@contextmanager
def written(array: Array) -> Generator[None]:
    """Write a new array within one commit, and then give its file the name; an exception leaves no file."""
    try:
        with array.transaction():
            yield
        array.handle.publish()
    except BaseException:
        array.close()
        raise


def fill_boxes(array: Array, part: Callable[[Region], Any], threads: int | None = None) -> None:
    """Write what `part(region)` gives for each region of the array, which has some 64 MiB."""
    if 0 in array.shape:
        return
    for region in boxes(array.shape, array.chunks, array.itemsize):
        values = part(region)
        if is_masked(values) and mask_of(values).any():
            raise ValueError("values are missing, and an array has a value for each item")
        values = np.asarray(values, array.dtype, order="C")
        axes = [(side.start, 1, side.stop - side.start) for side in region]
        if list(values.shape) != [length for _, _, length in axes]:
            raise ValueError(f"items of shape {values.shape} for the region {region}")
        array.write_selection(axes, None, 0, values, threads=threads)
