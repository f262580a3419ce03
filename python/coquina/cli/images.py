"""Images as arrays, and arrays as images: files, pages of TIFF files, and folders of numbered files.

In: a file, or a folder of files that go by the numbers in their names. Out: an array (rows, columns), with an
    axis of 3 or 4 colours behind and one of images in front where there are such; images are decoded as they
    are asked for. Written are the same: stacks as pages of .tif, or as a file each where a name has `%04d` in
    it.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.regions import boxes
from coquina.cli.image_files import EXTENSIONS, TIFF, Pages, is_colour, opened, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager, ExitStack
    from typing import BinaryIO

    import numpy.typing as npt

    Frame = npt.NDArray[Any]

_NUMBERED = re.compile(r"%0?\d*d")


class Stack:
    """Images of one shape, one behind another, each decoded when a slice asks for it."""

    def __init__(self, path: str, pages: Pages) -> None:
        """The images of a file or a folder. Decodes the first."""
        first = pages.frame(0)
        self._path = path
        self._pages = pages
        self.shape: tuple[int, ...] = (pages.total, *first.shape)
        self.dtype: np.dtype[Any] = first.dtype

    def __getitem__(self, key: Any) -> Frame:
        """Return what NumPy's basic keys pick. Raises ValueError for an image unlike the first."""
        keys: tuple[Any, ...] = cast("Any", key) if isinstance(key, tuple) else (key,)
        first, rest = (slice(None), keys) if keys[0] is Ellipsis else (keys[0], keys[1:])
        if not isinstance(first, slice):
            return self._frame(range(self.shape[0])[cast("int", first)])[rest]
        numbers: range = range(self.shape[0])[cast("slice", first)]
        found = [self._frame(number)[rest] for number in numbers]
        return np.stack(found) if found else np.empty((0, *self.shape[1:]), self.dtype)[(slice(None), *rest)]

    def __len__(self) -> int:
        """Return how many images there are."""
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Frame:
        """Return all images."""
        return self[:].astype(dtype or self.dtype, copy=False)

    def _frame(self, number: int) -> Frame:
        frame = self._pages.frame(number)
        if frame.shape != self.shape[1:] or frame.dtype != self.dtype:
            raise ValueError(
                f"{self._path}: image {number} is {frame.dtype} {frame.shape}, the first {self.dtype} "
                f"{self.shape[1:]}; a stack has images of one kind"
            )
        return frame


def is_image(path: str) -> bool:
    """Whether a name is that of an image, or of images by a pattern such as `frames/%04d.png`."""
    return path.lower().endswith(EXTENSIONS)


def files_in(path: str) -> list[str]:
    """Return the images in a folder, by the numbers in their names; none if it has none, or is no folder."""
    if not os.path.isdir(path):
        return []
    names = [name for name in os.listdir(path) if is_image(name) and not name.startswith(".")]
    return [os.path.join(path, name) for name in sorted(names, key=_numbers)]


def _numbers(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what names are sorted by: 9 before 10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdecimal() else -1, part) for part in parts], name


def load(path: str, stack: ExitStack) -> Any:
    """Return the image or the images of a file or a folder; what must be closed goes to `stack`.

    Raises ImportError without Pillow, ValueError for images that could not be had as they are.
    """
    files = files_in(path)
    if files:

        def frame(number: int) -> Frame:
            return _only(files[number])

        return Stack(path, Pages(len(files), frame))
    found = opened(path, stack)
    if not isinstance(found, Pages):
        return found
    return found.frame(0) if found.total == 1 else Stack(path, found)


def _only(path: str) -> Frame:
    """Return the one image of a file."""
    with ExitStack() as stack:
        found = opened(path, stack)
        if isinstance(found, Pages):
            if found.total > 1:
                raise ValueError(f"{path}: {found.total} images; in a folder each file must hold one")
            found = found.frame(0)
    return found


def save(
    path: str, source: Any, new_file: Callable[[str], AbstractContextManager[BinaryIO]], *, overwrite: bool
) -> list[str]:
    """Write an array as an image or a stack of them; return the names of the files.

    new_file: opens a file that gets its name when it is complete. Raises ValueError for shapes and dtypes
    that are no images, FileExistsError unless `overwrite`.
    """
    shape, extension = tuple(source.shape), os.path.splitext(path)[1].lower()
    axes = len(shape) - is_colour(shape, source.dtype)
    if axes not in (2, 3) or 0 in shape:
        raise ValueError(
            f"{path}: shape {shape}; images are (rows, columns), or (images, rows, columns), perhaps with an "
            "axis of 3 or 4 colours behind"
        )
    frames = _frames(source) if axes == 3 else iter([np.asarray(source)])
    numbers = _NUMBERED.findall(os.path.basename(path))
    if len(numbers) > 1:
        raise ValueError(f"{path}: {' and '.join(numbers)}; use one number in a file name")
    if numbers:
        return _save_each(path, frames, shape[0] if axes == 3 else 1, new_file, overwrite=overwrite)
    if axes == 3 and extension not in TIFF:
        raise ValueError(
            f"{path}: {shape[0]} images; a pattern such as %04d{extension} makes a file of each, .tif one"
        )
    with new_file(path) as file:
        write(file, frames, extension, prod(shape) * source.dtype.itemsize)
    return [path]


def _save_each(
    path: str,
    frames: Iterator[Frame],
    count: int,
    new_file: Callable[[str], AbstractContextManager[BinaryIO]],
    *,
    overwrite: bool,
) -> list[str]:
    """Write a file for each image, by its number."""
    names = [_named(path, number) for number in range(count)]
    there = next((one for one in names if os.path.exists(one)), None)
    if there is not None and not overwrite:
        raise FileExistsError(f"{there} exists; --force replaces it")
    for one, frame in zip(names, frames, strict=True):
        with new_file(one) as file:
            write(file, [frame], os.path.splitext(one)[1].lower(), frame.nbytes)
    return names


def _named(path: str, number: int) -> str:
    """Return the name of an image of a stack."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _NUMBERED.sub(lambda found: found[0] % number, name, count=1))


def _frames(source: Any) -> Iterator[Frame]:
    """Yield the images of a stack; whole chunks are decoded at a time."""
    frame_bytes = prod(source.shape[1:]) * source.dtype.itemsize
    for box in boxes(source.shape[:1], getattr(source, "chunks", source.shape)[:1], frame_bytes):
        yield from np.asarray(source[box])
