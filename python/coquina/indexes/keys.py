"""Keys: unsigned numbers of 64 bits in the order of the values that they are made of, by the engine.

In: dtypes of values. Out: the kinds of their keys.
Source: docs/formats/indexes.md, "Keys".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.expressions.engine import type_name


class UnorderedError(TypeError):
    """Values of a dtype have no keys: they have no order, or take more than 8 bytes."""


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return how keys of values of a dtype are made: a number's type, "time", "S", "U" or "text".

    Raises UnorderedError, a TypeError, for what has no order, and says what to do instead.
    """
    if dtype.kind in "mM":
        return "time"
    if dtype.kind in "SU":
        return dtype.kind
    if dtype.kind == "T":
        return "text"
    if dtype == np.float16:
        return "float32"
    name = type_name(dtype)
    if name is None or dtype.kind == "c":
        what = "complex numbers have no order: index abs(x) or real(x)" if dtype.kind == "c" else str(dtype)
        raise UnorderedError(f"{what} cannot be indexed; numbers of up to 8 bytes, times and text can")
    return name
