"""How a Bloscpack file says that its bytes are an array.

In: an array, or the JSON text of a file. Out: a `PackedArray` with dtype, shape and order.
Source: docs/formats/bloscpack.md, "NumPy arrays". Literals are parsed, never evaluated.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CorruptError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class PackedArray:
    """Dtype, shape and memory order ("C" or "F") of an array whose bytes lie in a file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str

    @classmethod
    def of(cls, x: npt.NDArray[Any]) -> PackedArray:
        """Describe an array that is contiguous in C or Fortran order."""
        if x.dtype.hasobject:
            raise ValueError(f"dtype {x.dtype}: objects are references, which cannot be packed")
        return cls(x.dtype, x.shape, "C" if x.flags.c_contiguous else "F")

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def row_bytes(self) -> int:
        """Bytes of one step along the first axis, in C order."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    def from_bytes(self, data: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Return `data` as an array of this dtype and order."""
        if data.size == 0:
            return np.empty(shape, self.dtype)
        return data.view(self.dtype).reshape(shape, order="F" if self.order == "F" else "C")

    def appended(self, x: npt.NDArray[Any]) -> tuple[PackedArray, npt.NDArray[Any]]:
        """Return the description with `x` behind, and `x` as its bytes are to follow.

        Raises ValueError if the dtype, or any axis but the one that grows, differs.
        """
        axis = 0 if self.order == "C" else len(self.shape) - 1
        if not self.shape or x.ndim != len(self.shape) or x.dtype != self.dtype:
            raise ValueError(f"append: an array of {x.dtype} {x.shape} to one of {self.dtype} {self.shape}")
        shape = list(self.shape)
        shape[axis] += x.shape[axis]
        if any(a != b for i, (a, b) in enumerate(zip(x.shape, self.shape, strict=True)) if i != axis):
            raise ValueError(f"append: shape {x.shape} to {self.shape} along axis {axis}")
        ordered = np.ascontiguousarray(x) if self.order == "C" else np.asfortranarray(x)
        return PackedArray(self.dtype, tuple(shape), self.order), ordered

    def to_json(self) -> bytes:
        """Return the metadata text."""
        descr = repr(np.lib.format.dtype_to_descr(self.dtype))
        text = {"dtype": descr, "shape": self.shape, "order": self.order, "container": "numpy"}
        return json.dumps(text, separators=(",", ":")).encode()


def parse_metadata(text: bytes) -> Any:
    """Return the value of a metadata text. Raises CorruptError if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"metadata: not JSON: {error}") from error


def packed_array(metadata: Any, nbytes: int) -> PackedArray | None:
    """Return what metadata say of an array of `nbytes` bytes, None if they speak of something else.

    Raises CorruptError if they contradict themselves, UnsupportedError for objects.
    """
    if not isinstance(metadata, dict):
        return None
    fields = cast("dict[str, Any]", metadata)
    if fields.get("container") != "numpy":
        return None
    try:
        dtype = _dtype(fields["dtype"])
        shape = tuple(index(n) for n in fields["shape"])
        order = fields["order"]
    except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise CorruptError(f"metadata: not an array's: {error!r}") from error
    if dtype.hasobject:
        raise UnsupportedError(f"dtype {dtype}: objects are not read, since reading them could run code")
    if order not in ("C", "F") or any(n < 0 for n in shape) or prod(shape) * dtype.itemsize != nbytes:
        raise CorruptError(f"metadata: shape {shape} of {dtype} in order {order!r} are not {nbytes} bytes")
    return PackedArray(dtype, shape, order)


def _dtype(stored: Any) -> np.dtype[Any]:
    """Parse a Python literal of a dtype, or what early versions wrote: a bare string, or nested lists."""
    if isinstance(stored, str) and stored[:1] in ("'", '"', "["):
        stored = ast.literal_eval(stored)
    return np.lib.format.descr_to_dtype(_tuples(stored))


def _tuples(descr: Any) -> Any:
    """JSON has no tuples: each field of a list of fields is one."""
    if not isinstance(descr, list):
        return descr
    fields: list[tuple[Any, ...]] = []
    for field in cast("list[list[Any]]", descr):
        name, kind, *shape = field
        fields.append((name, _tuples(kind), *(tuple(n) for n in shape)))
    return fields
