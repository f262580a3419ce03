"""Values of a selection: read within the limits, and decoded as CF says it.

In: objects and selections. Out: NumPy arrays, or parts of them one after another.
Invariant: what would be too large is refused before anything is read.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.bloscpack import PackFile
from coquina.expressions.expression import Expr
from coquina.server.costs import bytes_decoded, items_computed
from coquina.server.describing import fill_value, scalar
from coquina.server.failures import bad_request, too_large
from coquina.server.objects import is_scattered
from coquina.server.selections import Selected, selected, thinned

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.server.limits import Limits
    from coquina.server.objects import Found

#: Bytes of a part, where values are read in parts.
_PART_BYTES = 32 << 20
#: What an item of variable length is taken to have.
_OBJECT_BYTES = 64
#: Values of one answer that is text: each is an object of Python meanwhile.
TEXT_VALUES_MAX = 1 << 22
#: Values of a picture, which are float64 and colours meanwhile.
PICTURE_VALUES_MAX = 1 << 24
_TEXTS = ("json", "csv")
#: What is drawn of complex numbers.
PARTS = ("abs", "phase", "real", "imag")


def chosen(found: Found, selection: str | None, most: int | None = None) -> Selected:
    """Return what a selection is of an object, with at most `most` values. Raises RequestError."""
    shape = found.shape
    if shape is None:
        raise bad_request(f"{found.path}: an empty dataset, which has no values")
    picked = selected(selection, shape)
    return picked if most is None else thinned(picked, most)


def read(found: Found, picked: Selected, limits: Limits, *, is_decoded: bool = False) -> npt.NDArray[Any]:
    """Return the values of a selection. Raises RequestError with status 413 beyond the limits.

    is_decoded: whether they will be decoded, and take as much as float64 does.
    """
    nbytes = picked.size * max(itemsize(found), 8 if is_decoded else 0)
    if nbytes > limits.result_bytes:
        raise too_large(
            f"{found.path}: {nbytes} bytes are asked for, and at most {limits.result_bytes} are sent at once"
        )
    check_decoded(found, picked, limits)
    return found.read(picked.key)


def check_text(found: Found, picked: Selected, wanted: str) -> None:
    """Raise RequestError with status 413 for more values than are sent as text."""
    dtype = found.dtype
    count = picked.size * max(1, len(dtype.names or ()) if dtype is not None else 1)
    if wanted in _TEXTS and count > TEXT_VALUES_MAX:
        raise too_large(f"{found.path}: {count} values, and at most {TEXT_VALUES_MAX} are sent as {wanted}")


def check_picture(found: Found, picked: Selected, wanted: str) -> None:
    """Raise RequestError with status 413 for a picture of more values than are drawn at once."""
    if wanted == "png" and picked.size > PICTURE_VALUES_MAX:
        raise too_large(f"{found.path}: {picked.size} values, and pictures have at most {PICTURE_VALUES_MAX}")


def check_decoded(found: Found, picked: Selected, limits: Limits) -> None:
    """Raise RequestError with status 413 for a selection that touches too many blocks."""
    node = found.node
    if not picked.size:
        return
    if isinstance(node, Array):
        decoded, held = node.blocks_touched(picked.key) * prod(node.blocks or (1,)) * node.itemsize, 0
    elif isinstance(node, Expr):
        items = items_computed(node.node, picked)
        if items > limits.work:
            raise too_large(f"{found.path}: {items} items would be computed, and {limits.work} may be")
        decoded, held = bytes_decoded(node.node, picked), 0
    elif isinstance(node, PackFile):
        decoded, held = _unpacked_bytes(node, picked)
    elif found.dtype is None and found.kind == "array" and isinstance(getattr(node, "nbytes", None), int):
        # Values of any length are all held until they are sent; each is taken to be as long as the others.
        decoded = held = node.nbytes * picked.size // max(1, len(node))
    else:
        return
    for nbytes, most in ((decoded, limits.decoded_bytes), (held, limits.result_bytes)):
        if nbytes > most:
            raise too_large(f"{found.path}: {nbytes} bytes would be decoded, and at most {most} are at once")


def _unpacked_bytes(node: PackFile, picked: Selected) -> tuple[int, int]:
    """Return how many bytes of a packed file a read decodes, and how many of them at the same time."""
    if is_scattered(node) or not picked.key:
        return node.nbytes, node.nbytes
    row_bytes = 1 if node.array is None else node.array.row_bytes
    rows = picked.key[0]
    if isinstance(rows, int):
        return row_bytes, row_bytes
    # Rows between those that are asked for are unpacked with them.
    return row_bytes * len(range(len(node))[rows]) * abs(rows.step or 1), row_bytes * abs(rows.step or 1)


def itemsize(found: Found) -> int:
    """Return the bytes of an item; an estimate where items have any length."""
    dtype = found.dtype
    return _OBJECT_BYTES if dtype is None or dtype.kind in "OT" else dtype.itemsize


def parts(found: Found, picked: Selected, limits: Limits) -> Iterator[npt.NDArray[Any]]:
    """Iterate over the values of a selection in parts of some megabytes, in C order."""
    check_decoded(found, picked, limits)
    for part in cut(picked, max(1, _PART_BYTES // max(1, itemsize(found)))):
        yield found.read(part.key)


def cut(picked: Selected, most: int) -> Iterator[Selected]:
    """Cut a selection along its first axis that has some length, so that a part has at most `most` values."""
    at = next((at for at, length in enumerate(picked.shape) if length > 1), None)
    if picked.size <= most or at is None:
        yield picked
        return
    axis, length = picked.kept[at], picked.shape[at]
    whole = picked.key[axis]
    assert isinstance(whole, slice)
    step, rows = whole.step or 1, max(1, most // (picked.size // length))
    for first in range(0, length, rows):
        count = min(rows, length - first)
        start = whole.start + first * step
        stop = start + count * step
        key, shape = list(picked.key), list(picked.shape)
        key[axis], shape[at] = slice(start, None if stop < 0 else stop, step), count
        yield from cut(Selected(tuple(key), tuple(shape), picked.kept, picked.steps), most)


def decoded(found: Found, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as they are meant: scaled, with NaN for what is missing.

    Source: CF Conventions 1.11, section 2.5.1 and 8.1. Values that are no numbers, and values without any of
    these attributes, stay what they are.
    """
    if values.dtype.kind not in "iuf":
        return values
    attrs = found.attrs
    scale, offset, fill = (
        _number(scalar(attrs, "scale_factor")),
        _number(scalar(attrs, "add_offset")),
        _number(fill_value(found)),
    )
    if scale is None and offset is None and fill is None:
        return values
    wide = np.dtype("f4" if values.dtype.kind == "f" and values.dtype.itemsize <= 4 else "f8")
    made = values.astype(wide)
    if scale is not None:
        made *= wide.type(scale)
    if offset is not None:
        made += wide.type(offset)
    if fill is not None:
        made[is_fill(values, fill)] = np.nan
    return made


def part_of(values: npt.NDArray[Any], part: str) -> npt.NDArray[Any]:
    """Return a part of complex numbers, others as they are. Raises RequestError for what is no part."""
    if part not in PARTS:
        raise bad_request(f"part {part[:40]!r}: takes one of {', '.join(PARTS)}")
    if values.dtype.kind != "c":
        return values
    if part == "abs":
        return np.abs(values)
    numbers: Any = values
    if part == "phase":
        return np.angle(numbers)
    return numbers.real if part == "real" else numbers.imag


def is_fill(values: npt.NDArray[Any], fill: float | int) -> npt.NDArray[np.bool_]:
    """Return which values are the one that stands for none."""
    if values.dtype.kind not in "iuf":
        return np.zeros(values.shape, np.bool_)
    try:
        same = values.dtype.type(fill)
    except (OverflowError, ValueError):
        return np.zeros(values.shape, np.bool_)
    return np.isnan(values) if same != same else values == same


def _number(value: Any) -> float | int | None:
    if isinstance(value, np.number):
        return cast("Any", value).item()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def fill_number(found: Found) -> float | int | None:
    """Return the number that stands for no value; None if there is none."""
    return _number(fill_value(found))
