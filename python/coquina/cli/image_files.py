"""One image file, or the pages of one: decoded and encoded by Pillow, TIFF by tifffile where there is one.

In: a path of a TIFF, PNG or JPEG 2000 file. Out: how many images it has and what decodes each; or a file of
    images that come one by one. What is written is compressed without loss.
Invariant: numbers come and go as they are. Where Pillow would cut them down to 8 bits they are refused.
"""

from __future__ import annotations

import importlib
import logging
import os
import struct
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np

from coquina._core import CorruptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import ExitStack

    import numpy.typing as npt

    Frame = npt.NDArray[Any]

TIFF = (".tif", ".tiff")
JPEG2000 = (".jp2", ".j2k")
#: What is read and written, by the ends of names.
EXTENSIONS = (*TIFF, ".png", *JPEG2000)

#: Pillow's modes whose items are numbers as they are stored.
_MODES = ("1", "L", "LA", "I", "I;16", "I;16B", "I;16L", "F", "RGB", "RGBA")
_FORMATS = {".tif": "TIFF", ".tiff": "TIFF", ".png": "PNG", ".jp2": "JPEG2000", ".j2k": "JPEG2000"}
#: What Pillow writes of each format: dtypes of grey images; colours are of 8 bits.
_GREYS = {"TIFF": ("u1", "u2", "i4", "f4", "b1"), "PNG": ("u1", "u2", "b1"), "JPEG2000": ("u1", "u2")}
#: What Pillow and tifffile raise of files that are cut or damaged.
_DAMAGE = (SyntaxError, OSError, EOFError, ValueError, LookupError, RuntimeError, struct.error, zlib.error)
_COLOUR_AXES = (3, 4)
_BITS_PER_SAMPLE = 258
_BIG_BYTES = 3 << 30  # offsets of a plain TIFF file have 32 bits


class Pages(NamedTuple):
    """The images of a file: how many, and what decodes one."""

    total: int
    frame: Callable[[int], Frame]


def pillow() -> Any:
    """Return Pillow's module of images. Raises ImportError that says how to get it."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError(
            "images are read and written by Pillow, which is not installed: pip install 'coquina[images]'"
        ) from None


def tifffile() -> Any:
    """Return tifffile; None if it is not installed."""
    try:
        found = importlib.import_module("tifffile")
    except ImportError:
        return None
    # What it would say of damage on the standard error; it raises errors of it, too.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())
    return found


def opened(path: str, stack: ExitStack) -> Pages | Frame:
    """Return the images of a file, or all of them as one array; what must be closed goes to `stack`.

    Raises ImportError without Pillow, ValueError for images that could not be had as they are.
    """
    if path.lower().endswith(TIFF) and (tiff := tifffile()) is not None:
        return _by_tifffile(tiff, path, stack)
    return _by_pillow(path, stack)


def _by_tifffile(tiff: Any, path: str, stack: ExitStack) -> Pages | Frame:
    try:
        file = stack.enter_context(tiff.TiffFile(path))
        series = file.series[0]
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except tiff.TiffFileError as error:
        raise CorruptError(f"{path}: cannot read the TIFF file: {error}") from None
    except IndexError:
        raise CorruptError(f"{path}: cannot read the TIFF file: its offset of an image is wrong") from None
    except _DAMAGE as error:
        raise CorruptError(f"{path}: a damaged TIFF file: {error}") from None
    if len(file.series) > 1:
        shapes = ", ".join(str(one.shape) for one in file.series[:5])
        raise ValueError(
            f"{path}: images of {len(file.series)} kinds, of shapes {shapes}; takes files of one"
        )
    pages, count = series.pages, len(series.pages)
    is_stack = series.dataoffset is None and series.shape == (count, *pages[0].shape)
    if count > 1 and is_stack:

        def frame(number: int) -> Frame:
            try:
                return pages[number].asarray()
            except _DAMAGE as error:
                raise CorruptError(f"{path}: image {number} is cut or damaged: {error}") from None

        return Pages(count, frame)
    try:
        return cast("Frame", series.asarray())
    except _DAMAGE as error:
        raise CorruptError(f"{path}: the image is cut or damaged: {error}") from None


def _by_pillow(path: str, stack: ExitStack) -> Pages:
    image_module = pillow()
    too_large = image_module.DecompressionBombError
    try:
        image = stack.enter_context(image_module.open(path))
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except image_module.UnidentifiedImageError:
        raise CorruptError(f"{path}: {_why_no_image(path)}") from None
    except too_large as error:
        raise ValueError(f"{path}: {error}") from None
    except _DAMAGE as error:
        raise CorruptError(f"{path}: a damaged image: {error}") from None
    depth, channels = _depth(path, image)
    if depth > 8 and channels > 1:
        other = "; pip install tifffile, which keeps them" if image.format == "TIFF" else ""
        raise ValueError(f"{path}: {channels} channels of {depth} bits, of which Pillow keeps 8{other}")

    def frame(number: int) -> Frame:
        try:
            image.seek(number)
            return _pixels(path, image)
        except too_large as error:
            raise ValueError(f"{path}: image {number}: {error}") from None
        except _DAMAGE as error:
            raise CorruptError(f"{path}: image {number} is cut or damaged: {error}") from None

    return Pages(getattr(image, "n_frames", 1), frame)


def _why_no_image(path: str) -> str:
    """Return the error for a file that Pillow does not know: what it is, if it is not an image."""
    kind = os.path.splitext(path)[1].removeprefix(".").upper()
    if not os.path.getsize(path):
        return "an empty file, not an image"
    return f"no image: it does not begin as {kind} files do, nor as other images that Pillow reads"


def _pixels(path: str, image: Any) -> Frame:
    """Return the numbers of the image that Pillow stands at."""
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode not in _MODES:
        raise ValueError(f"{path}: pixels of kind {image.mode}; takes grey and RGB images")
    return np.asarray(image)


def _depth(path: str, image: Any) -> tuple[int, int]:
    """Return the bits and the number of channels that a file says it has; (8, 1) where these do no harm."""
    if image.format == "TIFF":
        bits: Any = image.tag_v2.get(_BITS_PER_SAMPLE, (8,))
        return max(bits), len(bits)
    with open(path, "rb") as file:
        head = file.read(1 << 12)
    if image.format == "PNG" and len(head) > 25:
        # IHDR: depth, then the kind of colour, of which 0 is grey and 3 a palette.
        return head[24], 1 if head[25] in (0, 3) else 3
    if image.format == "JPEG2000":
        return _depth_of_codestream(head)
    return 8, 1


def _depth_of_codestream(head: bytes) -> tuple[int, int]:
    """Return what the marker SIZ of a JPEG 2000 code-stream says: ISO/IEC 15444-1, A.5.1."""
    at = head.find(b"\xff\x4f\xff\x51")
    count = int.from_bytes(head[at + 40 : at + 42], "big")
    depths = head[at + 42 : at + 42 + 3 * count : 3]
    if at < 0 or not depths:
        return 8, 1
    return max((depth & 0x7F) + 1 for depth in depths), count


def is_colour(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether the last axis of an array is one of colours."""
    return len(shape) > 2 and shape[-1] in _COLOUR_AXES and dtype.kind == "u" and dtype.itemsize <= 2


def write(file: BinaryIO, frames: Iterable[Frame], extension: str, nbytes: int) -> None:
    """Write images of one shape as a file, compressed without loss: several as pages, in TIFF alone.

    nbytes: of all of them. Raises ImportError without Pillow, ValueError for a dtype that the format has not.
    """
    name = _FORMATS[extension]
    if name == "TIFF" and (tiff := tifffile()) is not None:
        # Files that are opened by number have no name, and it wants one.
        handle = tiff.FileHandle(file, name="image.tif")
        with tiff.TiffWriter(handle, bigtiff=nbytes > _BIG_BYTES) as writer:
            for frame in frames:
                kind = "rgb" if is_colour(frame.shape, frame.dtype) else "minisblack"
                writer.write(frame, photometric=kind, compression="zlib", metadata=None)
        return
    images = (_image(frame, name) for frame in frames)
    if name != "TIFF":
        next(images).save(file, name)
        return
    pillow()
    plugin = importlib.import_module("PIL.TiffImagePlugin")
    with plugin.AppendingTiffWriter(file) as pages:
        for image in images:
            image.save(pages, name, compression="tiff_adobe_deflate")
            pages.newFrame()


def _image(frame: Frame, name: str) -> Any:
    """Return an image of Pillow's."""
    kinds = ("u1",) if is_colour(frame.shape, frame.dtype) else _GREYS[name]
    if frame.dtype.str[1:] not in kinds:
        known = ", ".join(str(np.dtype(kind)) for kind in kinds)
        other = "; pip install tifffile, which writes all" if name == "TIFF" else "; .tif has more"
        raise ValueError(f"images of {frame.dtype}, shape {frame.shape}: {name} takes {known} here{other}")
    native = frame.astype(frame.dtype.newbyteorder("="), copy=False)
    return pillow().fromarray(np.ascontiguousarray(native))
