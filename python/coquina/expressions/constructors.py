"""Functions of expression text that make arrays of constants: `arange(10)`, `zeros((2, 3))`, `full(3, 1.5)`.

In: the name of a function and constants. Out: an array, with NumPy's values and dtypes.
Invariant: the text may come from a file, so what it makes has at most `BYTES_MAX` bytes.
"""

from __future__ import annotations

from math import ceil, prod
from typing import Any, cast

import numpy as np

from coquina.arrays.methods import namespace

#: Bytes of an array that a text makes.
BYTES_MAX = 1 << 27

#: Functions that make arrays, and the options that they take in a text.
CONSTRUCTORS: dict[str, tuple[str, ...]] = {
    "arange": ("start", "stop", "step", "dtype"),
    "linspace": ("start", "stop", "num", "endpoint", "dtype"),
    "zeros": ("shape", "dtype"),
    "ones": ("shape", "dtype"),
    "full": ("shape", "fill_value", "dtype"),
    "eye": ("n_rows", "n_cols", "k", "dtype"),
}


def construct(name: str, values: list[Any], options: dict[str, Any]) -> Any:
    """Return the array that `name(*values, **options)` makes.

    Raises ValueError for too many bytes, TypeError for arguments that the function does not take.
    """
    arguments = dict(zip(CONSTRUCTORS[name], values, strict=False))
    if len(values) > len(CONSTRUCTORS[name]) or arguments.keys() & options.keys():
        raise TypeError(f"{name} takes {', '.join(CONSTRUCTORS[name])}, each once")
    arguments |= options
    if name == "arange" and arguments.get("stop") is None:
        arguments |= {"start": 0, "stop": arguments.get("start")}
    nbytes = _count(name, arguments) * max(1, np.dtype(arguments.get("dtype") or "f8").itemsize)
    if nbytes > BYTES_MAX:
        raise ValueError(f"{name}: {nbytes} bytes, and a text makes at most {BYTES_MAX}")
    places = [arguments.pop(one) for one in CONSTRUCTORS[name][: _PLACED[name]] if one in arguments]
    return getattr(namespace(), name)(*places, **arguments)


#: How many arguments are given by their place.
_PLACED = {"arange": 2, "linspace": 2, "zeros": 1, "ones": 1, "full": 2, "eye": 2}


def _count(name: str, arguments: dict[str, Any]) -> int:
    """Return how many elements there will be."""
    if name == "linspace":
        return arguments.get("num", 50)
    if name == "arange":
        width = arguments["stop"] - arguments.get("start", 0)
        return ceil(abs(width / arguments.get("step", 1)))
    if name == "eye":
        rows = arguments.get("n_rows", 0)
        return rows * (arguments.get("n_cols") or rows)
    shape = arguments.get("shape", ())
    return prod(cast("tuple[int, ...]", shape)) if isinstance(shape, tuple) else shape
