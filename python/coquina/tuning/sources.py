"""What advice is asked for: arrays, tables and files, opened where they are named by a path.

In: a path, `FILE.h5:/path`, or what is open already. Out: something with a shape, a dtype and slices; a
table; a group or dataset of an HDF5 file.
Memory: nothing is read here but what NumPy or h5py read of headers.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.bloscpack import PackFile
from coquina.arrays.creation import is_sliced
from coquina.arrays.frames import Frame
from coquina.arrays.opening import open as open_file
from coquina.folder_members import TABLE, has_member
from coquina.hdf5_names import place

if TYPE_CHECKING:
    from collections.abc import Generator

    import numpy.typing as npt

    from coquina._core import Path


class PackedBytes:
    """The plain bytes of a Bloscpack file as an array."""

    def __init__(self, file: PackFile) -> None:
        """The content of an open file."""
        self._file = file
        self.shape = (file.nbytes,)
        self.dtype = np.dtype(np.uint8)

    def __getitem__(self, key: tuple[slice, ...]) -> npt.NDArray[np.uint8]:
        """Return some bytes."""
        return np.frombuffer(self._file[key[0]], np.uint8)


@contextmanager
def opened(path: Path) -> Generator[Any]:
    """Open what a path names, to read.

    Raises FileNotFoundError, KeyError for what is not in an HDF5 file, UnsupportedError for other formats.
    """
    text = os.fsdecode(path)
    found = place(text)
    if found is not None:
        with open_file(found.file) as file:
            yield file if found.path == "/" else file[found.path]
        return
    if has_member(text, TABLE):
        from coquina.tables.opening import open_table

        with open_table(text) as table:
            yield table
        return
    if text.endswith(".npy"):
        yield np.load(text, mmap_mode="r", allow_pickle=False)
        return
    content: Any = open_file(text)
    try:
        yield as_source(content, text)
    finally:
        if hasattr(content, "close"):
            content.close()


def as_source(x: Any, name: str = "") -> Any:
    """Return something with a shape, a dtype and slices; tables and groups as they are.

    Raises ValueError for frames, which are chunks without a shape, TypeError for anything but an array.
    """
    if isinstance(x, Frame):
        raise ValueError(f"{name or 'tune'}: a frame of plain chunks, not an array, so it has no shape")
    if isinstance(x, PackFile):
        return PackedBytes(x) if x.array is None else x
    if _is_numpy(x) or is_sliced(x) or is_table(x) or is_group(x):
        return x
    if not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
        return np.from_dlpack(x)
    array: npt.NDArray[Any] = np.asarray(x)
    return array


def _is_numpy(x: object) -> bool:
    return isinstance(x, np.ndarray)


def is_table(x: Any) -> bool:
    """Whether this is a table; nothing of tables is imported to know it."""
    return type(x).__module__ == "coquina.tables.table"


def is_dataset(x: Any) -> bool:
    """Whether this is a dataset of HDF5 that was opened by this package."""
    return type(x).__module__ == "coquina.hdf5.datasets"


def is_group(x: Any) -> bool:
    """Whether this is a group or a file of HDF5 that was opened by this package."""
    return type(x).__module__ in ("coquina.hdf5.groups", "coquina.hdf5.files")
