"""The dtypes, constants and functions of dtypes that the Array API standard names.

In: NumPy dtypes, and arrays, of which only the dtype is looked at. Out: NumPy dtypes.
Source: the Array API standard 2024.12, "Data types", "Data type functions", "Constants".
Invariant: dtypes are instances of `numpy.dtype`, so that one equals, and hashes as, the `dtype` of an array.
"""

from __future__ import annotations

import builtins
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

Kind = str | np.dtype[Any] | tuple[str | np.dtype[Any], ...]


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """The limits of a floating dtype; of a complex one, those of its parts.

    bits: of a number. eps: from 1.0 to the next number. max, min: the largest and the most negative number.
    smallest_normal: the smallest positive number with all its digits. dtype: of a real number.

    >>> import coquina as cq
    >>> cq.finfo("float32").bits
    32
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """The limits of an integer dtype. bits: of a number. max, min: the largest and the smallest number.

    >>> import coquina as cq
    >>> cq.iinfo("int16").max
    32767
    """

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatInfo:
    """Return the limits of a floating or complex dtype, or of that of an array.

    Raises ValueError for other dtypes.

    >>> import coquina as cq
    >>> cq.finfo("float32").eps
    1.1920928955078125e-07
    """
    limits = np.finfo(_dtype_of(type))
    return FloatInfo(
        bits=limits.bits,
        eps=float(limits.eps),
        max=float(limits.max),
        min=float(limits.min),
        smallest_normal=float(limits.smallest_normal),
        dtype=np.dtype(limits.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Return the limits of an integer dtype, or of that of an array. Raises ValueError for other dtypes.

    >>> import coquina as cq
    >>> cq.iinfo("int8").min
    -128
    """
    limits = np.iinfo(_dtype_of(type))
    return IntegerInfo(
        bits=limits.bits, max=int(limits.max), min=int(limits.min), dtype=np.dtype(limits.dtype)
    )


def can_cast(from_: Any, to: npt.DTypeLike, /) -> builtins.bool:
    """Whether a dtype, or that of an array, is cast to another without loss (NumPy's rule "safe").

    >>> import coquina as cq
    >>> cq.can_cast("int32", "float64")
    True
    """
    return builtins.bool(np.can_cast(_dtype_of(from_), to))


def isdtype(dtype: npt.DTypeLike, kind: Kind) -> builtins.bool:
    """Whether a dtype is `kind`: another dtype, the name of a kind, or any of a tuple of these.

    Kinds: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating",
    "numeric". Raises ValueError for other names.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.isdtype(np.dtype("int8"), "integral")
    True
    """
    kinds: Any = kind
    return builtins.bool(np.isdtype(np.dtype(dtype), kinds))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that a function of these arrays, dtypes and Python scalars computes with.

    Python scalars are weak, as in NumPy: of any kind that the dtypes have, they change nothing.

    Raises ValueError without any, TypeError for what has no dtype in common.

    >>> import coquina as cq
    >>> cq.result_type("int32", "float32")
    dtype('float64')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is required")
    return np.result_type(*_dtypes_of(arrays_and_dtypes))


def _dtypes_of(arrays_and_dtypes: Iterable[Any]) -> list[Any]:
    return [_dtype_of(given) for given in arrays_and_dtypes]


def _dtype_of(given: Any) -> Any:
    """Return the dtype of an array, which is not read; leave dtypes, their names and scalars alone."""
    dtype: Any = getattr(given, "dtype", None)
    # The scalar types of NumPy have a descriptor of this name.
    return cast("Any", dtype) if isinstance(dtype, np.dtype) else given


__all__ = [
    "FloatInfo",
    "IntegerInfo",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "e",
    "finfo",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "nan",
    "newaxis",
    "pi",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
