"""Arrays as the bodies of answers: raw bytes, NPY, CSV, TIFF, PNG and JSON.

In: NumPy arrays. Out: `Encoded`: bytes, their media type, and the name of a download.
Invariant: raw bytes are in C order and little-endian. Formats that cannot hold the values are refused.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from csv import writer as csv_writer
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.server.failures import RequestError, bad_request
from coquina.server.json_values import json_bytes, plain
from coquina.server.padding import without_padding

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

FORMATS = ("json", "bin", "npy", "csv", "tiff", "png")


@dataclass(frozen=True, slots=True)
class Encoded:
    """The body of an answer.

    content: bytes, maybe those of an array. filename: of a download; None for what is shown.
    """

    content: bytes | memoryview
    media_type: str
    filename: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


def encoded(values: npt.NDArray[Any], wanted: str, *, exact: bool = True) -> Encoded:
    """Return values in a format; exact: see `json_values.json_bytes`. Raises RequestError.

    "bin" takes values of a fixed length, and formats but "json" numbers and truth values; "npy" and "csv"
    take text, times and records too where they need not be as h5grove has them (`exact`).
    """
    if wanted == "json":
        return Encoded(json_bytes(values, exact=exact), "application/json")
    if wanted == "bin":
        if values.dtype.hasobject or values.dtype.kind == "T":
            raise _unsupported(wanted, "values of variable length")
        return Encoded(bytes_of(little(values)), "application/octet-stream")
    if wanted not in FORMATS:
        raise bad_request(f"format {wanted[:40]!r}: takes one of {', '.join(FORMATS)}")
    if exact and wanted == "csv":
        return Encoded(table_csv(values), "text/csv", "data.csv")
    if exact and wanted == "npy":
        return Encoded(npy(_fixed(values)), "application/octet-stream", "data.npy")
    if values.dtype.kind not in "biufc":
        raise _unsupported(wanted, "values that are not numbers")
    if wanted == "npy":
        return Encoded(npy(values), "application/octet-stream", "data.npy")
    if not values.ndim:
        raise _unsupported(wanted, "a single value")
    if wanted == "csv":
        return Encoded(csv(values), "text/csv", "data.csv")
    if wanted == "tiff" and not values.size:
        raise _unsupported(wanted, "arrays without values")
    if wanted == "tiff":
        return Encoded(tiff(values), "image/tiff", "data.tiff")
    raise bad_request("format 'png': takes a slice of two axes, by /slice/")


def _unsupported(wanted: str, what: str) -> RequestError:
    return RequestError(400, "unsupported", f"format {wanted!r} has no {what}")


def little(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values in C order, with the least byte first."""
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(values.shape)


def bytes_of(values: npt.NDArray[Any]) -> bytes | memoryview:
    """Return the bytes of values in C order: those of the array itself where it can be, padding as zeros."""
    if not values.nbytes:
        return b""
    return np.ascontiguousarray(without_padding(values)).reshape(-1).view(np.uint8).data


def npy(values: npt.NDArray[Any]) -> bytes:
    """Return an NPY file."""
    with io.BytesIO() as file:
        np.save(file, without_padding(values), allow_pickle=False)
        return file.getvalue()


def _fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values without objects, text as Unicode of a fixed width. Raises RequestError for others."""
    if values.dtype.kind == "T" or (values.dtype.kind == "O" and _are_text(values)):
        return np.asarray(values.tolist(), "U").reshape(values.shape)
    if values.dtype.hasobject:
        raise _unsupported("npy", "values of variable length")
    return values


def _are_text(values: npt.NDArray[Any]) -> bool:
    return all(isinstance(one, str) for one in values.reshape(-1))


def table_csv(values: npt.NDArray[Any]) -> bytes:
    """Return rows of values of any kind, each in its fewest digits. Raises RequestError beyond two axes."""
    if values.ndim > 2:
        raise _unsupported("csv", f"{values.ndim} axes")
    rows = np.atleast_1d(values)
    if values.dtype.kind in "biufcmM":
        rows = rows if rows.ndim == 2 else rows[:, None]
        return "".join(f"{','.join(row)}\n" for row in rows.astype("U").tolist()).encode()
    with io.StringIO(newline="") as file:
        # A record is a row already, and an axis of other values is a column.
        is_column = rows.ndim == 1 and values.dtype.names is None
        csv_writer(file, lineterminator="\n").writerows(plain(rows[:, None] if is_column else rows))
        return file.getvalue().encode("utf-8", "backslashreplace")


def csv(values: npt.NDArray[Any]) -> bytes:
    """Return rows of numbers, as `numpy.savetxt` writes them. Raises RequestError beyond two axes."""
    if values.ndim > 2:
        raise _unsupported("csv", f"{values.ndim} axes")
    with io.BytesIO() as file:
        np.savetxt(file, values, delimiter=",")
        return file.getvalue()


def tiff(values: npt.NDArray[Any]) -> bytes:
    """Return a TIFF file. Raises ImportError without tifffile."""
    import tifffile

    if values.dtype.kind == "b":
        values = values.astype("u1")
    with io.BytesIO() as file:
        write: Any = tifffile.imwrite  # pyright: ignore[reportUnknownMemberType]
        write(file, values, photometric="minisblack")
        return file.getvalue()


@dataclass(frozen=True, slots=True)
class Colours:
    """How numbers become colours. low, high: of the scale; None for the least and greatest value.

    scale: one of `SCALES`. stops: colours at equal distances, in place of those of `cmap`.
    """

    cmap: str = "viridis"
    low: float | None = None
    high: float | None = None
    scale: str = "linear"
    stops: tuple[tuple[int, ...], ...] = ()


#: How numbers are spread over colours; what has no place on a scale becomes NaN.
SCALES: dict[str, Callable[[Any], Any]] = {
    "linear": np.asarray,
    "log": lambda values: np.log10(np.where(values > 0, values, np.nan)),
    "symlog": lambda values: np.sign(values) * np.log1p(np.abs(values)),
    "sqrt": lambda values: np.sqrt(np.where(values >= 0, values, np.nan)),
}


def stops_of(text: str) -> tuple[tuple[int, ...], ...]:
    """Return colours from text such as "440154-fde725". Raises RequestError for what is none."""
    parts = text.split("-") if text else []
    if len(parts) == 1 or len(parts) > 256 or not all(_COLOUR.fullmatch(part) for part in parts):
        raise bad_request(f"stops {text[:40]!r}: takes 2 to 256 colours of six hexadecimal digits")
    return tuple(tuple(bytes.fromhex(part)) for part in parts)


_COLOUR = re.compile("[0-9a-fA-F]{6}")


def png(values: npt.NDArray[Any], colours: Colours) -> Encoded:
    """Return a picture of two axes, or of three whose last one has 3 or 4 colours.

    Colours that are no bytes are fractions of 1, or of their largest.
    """
    if values.dtype.kind not in "biuf" or not values.size:
        raise _not_drawn()
    if values.ndim == 3 and values.shape[2] in (3, 4):
        return _file(_pixels(values), 2 if values.shape[2] == 3 else 6)
    if values.ndim != 2:
        raise _not_drawn()
    grey = _levels(values, colours)
    return _file(_colour_table(colours)[grey], 6)


def _not_drawn() -> RequestError:
    return bad_request("format 'png': takes numbers of two axes, or of three colours")


def _pixels(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    if values.dtype == np.uint8:
        return values
    numbers = np.nan_to_num(values.astype("f8"), nan=0, posinf=0, neginf=0)
    return np.rint(np.clip(numbers / max(1.0, numbers.max()), 0, 1) * 255).astype(np.uint8)


def _levels(values: npt.NDArray[Any], colours: Colours) -> npt.NDArray[np.uint16]:
    """Return numbers 0 to 255 of a scale, and 256 for what is no number."""
    spread = SCALES[colours.scale]
    with np.errstate(all="ignore"):
        numbers = spread(values.astype("f8"))
        ends = [
            None if end is None else float(spread(np.float64(end))) for end in (colours.low, colours.high)
        ]
    good = np.isfinite(numbers)
    low, high = _ends(numbers[good], ends)
    scaled = np.zeros(numbers.shape)
    if high > low:
        np.clip((numbers - low) / (high - low) * 255, 0, 255, out=scaled, where=good)
    return np.where(good, np.rint(np.where(good, scaled, 0)), 256).astype(np.uint16)


def _ends(good: npt.NDArray[Any], ends: list[float | None]) -> tuple[float, float]:
    """Return the ends of a scale: those that are given, or else of the values."""
    low, high = (end if end is not None and np.isfinite(end) else None for end in ends)
    low = low if low is not None else float(good.min()) if good.size else 0.0
    high = high if high is not None else float(good.max()) if good.size else 0.0
    return low, high


#: Colours at equal distances of a scale, by the names that people know them by.
_STOPS = {
    "grey": ((0, 0, 0), (255, 255, 255)),
    "viridis": ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)),
    "magma": ((0, 0, 4), (81, 18, 124), (183, 55, 121), (252, 137, 97), (252, 253, 191)),
    "coolwarm": ((59, 76, 192), (141, 176, 254), (221, 221, 221), (244, 152, 122), (180, 4, 38)),
}


def _colour_table(colours: Colours) -> npt.NDArray[np.uint8]:
    """Return 256 colours, and one without any for what is no number."""
    stops = np.array(colours.stops or _STOPS.get(colours.cmap.lower(), _STOPS["viridis"]), "f8")
    at = np.linspace(0, len(stops) - 1, 256)
    table = np.zeros((257, 4), np.uint8)
    for part in range(3):
        table[:256, part] = np.rint(np.interp(at, np.arange(len(stops)), stops[:, part]))
    table[:256, 3] = 255
    return table


def _file(pixels: npt.NDArray[np.uint8], kind: int) -> Encoded:
    """Return a PNG file of bytes of colours. Source: PNG specification, third edition, sections 5 and 11."""
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels, np.uint8).reshape(height, -1)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(filtered.tobytes(), 4)),
        (b"IEND", b""),
    ]
    made = b"\x89PNG\r\n\x1a\n"
    for name, body in parts:
        made += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return Encoded(made, "image/png")
