"""How new arrays are made: options, handles of the engine, and items written in boxes.

In: how an array is to be stored, and the class that it is to have. Out: an array of that class. A file
appears under its name when it is complete; what failed leaves nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from coquina import _core
from coquina.arrays.regions import boxes
from coquina.dtypes import dtype_text
from coquina.indexing import lower
from coquina.remote import new_path
from coquina.tuning_options import AUTO, DEFAULT_CODEC, DEFAULT_LEVEL, tuned

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    import numpy.typing as npt

    from coquina._core import Codec, Filters, Path
    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region
    from coquina.lossy import LossyOption

A = TypeVar("A", bound="Array")

#: True is "auto", as h5py has it, and False is for HDF5 datasets.
Chunks = tuple[int, ...] | int | bool | Literal["auto"] | None
Access = str | tuple[int, ...]

#: Texts of dtypes that many arrays have.
TEXTS: dict[np.dtype[Any], str] = {
    dtype: dtype_text(dtype) for dtype in map(np.dtype, ("?", *"bhilqBHILQefdFD"))
}

Options = dict[str, Any]

#: The options of arrays of which nothing else is said.
DEFAULTS: Options = {"codec": DEFAULT_CODEC, "level": DEFAULT_LEVEL, "filters": None}


def options_of(
    chunks: Chunks,
    blocks: tuple[int, ...] | None,
    access: Access,
    codec: Codec,
    level: int,
    filters: Filters | None,
    path: Path | None,
    contiguous: bool,
    overwrite: bool,
    checksums: bool,
    device: str | None = None,
    *,
    lossy: LossyOption = None,
    tuning: Mapping[str, Any] | None = None,
) -> Options:
    """Return the options that all new arrays have, as the engine takes them."""
    if device is not None:
        check_device(device)
    terms = None
    if codec == AUTO or tuning:
        codec, level, filters, terms = tuned(codec, level, filters, tuning or {})
    options: Options = {"codec": codec, "level": level, "filters": filters}
    if terms is not None:
        options["tuning"] = terms
    if chunks is False:
        raise ValueError("chunks=False: arrays are stored in chunks; chunks=shape makes one of all items")
    if chunks is not None and chunks is not True and chunks != "auto":
        options["chunks"] = (chunks,) if isinstance(chunks, int) else chunks
    if blocks is not None:
        options["blocks"] = (blocks,) if isinstance(blocks, int) else blocks
    if access != "any":
        options["access"] = access
    if lossy is not None:
        from coquina.lossy import lossy_of

        options["lossy"] = lossy_of(lossy)
    if path is not None:
        place = new_path(path)
        _refuse_hdf5_name(place)
        options.update(
            path=place,
            contiguous=contiguous,
            overwrite=overwrite,
            checksums=checksums,
        )
    return options


def usual_options(path: Path | None, chunks: Chunks = None) -> Options:
    """Return the options of a result that nobody said more of, in memory or in the file `path`."""
    return options_of(
        chunks, None, "any", DEFAULT_CODEC, DEFAULT_LEVEL, None, path,
        contiguous=True, overwrite=False, checksums=True,
    )  # fmt: skip


def _refuse_hdf5_name(path: str) -> None:
    """Raise ValueError for the name of an HDF5 file: what is written is a frame, and might replace one."""
    if path.lower().endswith((".h5", ".hdf5", ".nc")):
        raise ValueError(
            f"{path}: arrays are written as Blosc2 frames (.b2nd); open(path, 'w') makes HDF5 files"
        )


def check_device(device: object) -> None:
    """Raise ValueError for a device that is not there."""
    if device is not None and device != "cpu":
        raise ValueError(f"device {device!r}: the only one is 'cpu'")


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
        selection = lower(region, array.shape)
        values = np.asarray(part(region), array.dtype, order="C")
        if values.shape != selection.shape:
            raise ValueError(f"items of shape {values.shape} where {selection.shape} were asked for")
        array.write_selection(list(selection.axes), None, 0, values, threads=threads)
