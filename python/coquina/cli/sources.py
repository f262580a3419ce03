"""What an argument names, as something with a shape, a dtype and slices.

In: FILE.npy, FILE.npz:NAME, FILE.b2nd, FILE.blp, FILE.h5:/path, images and folders of them, plain bytes with
--dtype and --shape. Out: arrays, of which nothing is read before it is asked for, where the format allows
that.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.cli import hdf5_paths, images, inputs, store_paths, tables
from coquina.cli.image_files import EXTENSIONS
from coquina.hdf5.netcdf_groups import is_bare_dimension
from coquina.hdf5.quantization import is_container

if TYPE_CHECKING:
    import argparse
    from contextlib import ExitStack

#: What has items.
TAKES = (
    f"{inputs.FORMATS}, .npy and .npz, images, and plain bytes: {', '.join(inputs.PLAIN)}, or with --dtype"
)


def load(options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return something with a shape, a dtype and slices; what must be closed goes to `stack`."""
    place = hdf5_paths.place(options.file)
    if place is not None:
        found = stack.enter_context(hdf5_paths.opened(place))
        if place.path == "/" and len(names := datasets_of(found.h5)) == 1:
            found = found[names[0]]
        if not isinstance(found, coquina.Array):
            hint = f"`coquina ls {place.file}` lists what there is; write {place.file}:/path"
            raise ValueError(f"{options.file} is not a dataset of numbers or fixed strings; {hint}")
        return found
    if (place := store_paths.place(options.file)) is not None:
        found = stack.enter_context(store_paths.opened(place))
        if place.path == "/" and store_paths.is_group(found):
            found = store_paths.only_one(found)
        if not isinstance(found, coquina.Array):
            hint = f"`coquina ls {place.file}` lists what there is; write {place.file}:/path"
            raise ValueError(f"{options.file} is not an array; {hint}")
        return found
    if images.is_image(options.file) or images.files_in(options.file):
        return images.load(options.file, stack)
    path, member = _archive(options.file)
    extension = Path(path).suffix
    if extension == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if extension == ".npz":
        return _member(path, member)
    if extension in (".blp", ".b2nd", ".b2frame") or inputs.is_url(path) or inputs.is_known(path):
        file = inputs.opened(path)
        if isinstance(file, coquina.Array | coquina.Expr):
            return file
        if isinstance(file, coquina.PackFile):
            content = file.read(threads=options.threads)
            return _items(content, options) if isinstance(content, bytes) else content
        raise ValueError(f"{path} holds plain chunks, not an array; `coquina info {path}` describes them")
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"{path}: a folder without images; expected a file, or a folder of {', '.join(EXTENSIONS)}"
        )
    if options.dtype is None and not path.lower().endswith(inputs.PLAIN):
        # Bytes of what has a format of its own are no items: an archive would become an array of its bytes.
        raise inputs.unknown(path, TAKES)
    return _items(np.memmap(path, np.uint8, "r") if os.path.getsize(path) else b"", options)


def part(source: Any, key: Any) -> Any:
    """Return a part of an array; of arrays of ours a view, of which items are read when they are wanted."""
    is_lazy = isinstance(source, coquina.Array) and not isinstance(key, str)
    return source.view(key) if is_lazy else source[key]


def archived(text: str) -> Any:
    """Return the array that `FILE.npz:NAME` is, or the only one of `FILE.npz`."""
    return _member(*_archive(text))


def _archive(text: str) -> tuple[str, str]:
    """Return the path of an archive, and the name of an array in it; an empty one for none."""
    path, _, member = text.partition(".npz:")
    return (f"{path}.npz" if member else path), member


def _member(path: str, member: str) -> Any:
    """Return an array of an archive: the one of this name, or the only one."""
    with np.load(path, allow_pickle=False) as archive:
        names = [member] if member else list(archive)
        if len(names) != 1 or names[0] not in archive:
            known = ", ".join(f"{path}:{name}" for name in archive)
            file = f"{path}:{member}" if member else path
            what = f"there is no array {member!r}" if member else f"the file has {len(archive.files)} arrays"
            raise ValueError(f"{file}: {what}; choose one: {known}")
        return archive[names[0]]


def _items(content: Any, options: argparse.Namespace) -> np.ndarray[Any, Any]:
    """Return plain bytes as what the options say they are."""
    dtype: np.dtype[Any] = np.dtype(options.dtype or np.uint8)
    nbytes = len(content)
    if dtype.itemsize == 0 or nbytes % dtype.itemsize:
        raise ValueError(
            f"{options.file}: {nbytes} bytes are not a whole number of {dtype}; give another --dtype"
        )
    items: np.ndarray[Any, Any] = np.frombuffer(content, dtype)
    if options.shape and math.prod(options.shape) != items.size:
        raise ValueError(f"{options.file}: {items.size} items of {dtype} do not make --shape {options.shape}")
    return items.reshape(options.shape) if options.shape else items


def datasets_of(top: Any) -> list[str]:
    """Return the names of the datasets in a file of h5py: not hidden ones, nor what only tells of others."""
    found: list[str] = []

    def look(name: str, h5: Any) -> None:
        is_dataset = not hasattr(h5, "keys") and hasattr(h5, "shape")
        if is_dataset and not tables.is_hidden(name) and not is_container(h5) and not is_bare_dimension(h5):
            found.append(name)

    top.visititems(look)
    return found
