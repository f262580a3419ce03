"""What the operators of arrays, views and expressions do: `a + b`, `a @ b`.

In: the name of a function of items, and operands. Out: an array or an expression, or NotImplemented where the
    other operand is to be asked first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.arrays.methods import namespace
from coquina.arrays.operands import SCALAR_TYPES
from coquina.arrays.operators import Operators
from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS, power_function


def unary(name: str, x: Any) -> Any:
    """Return the function of an array of ours."""
    return evaluate(FUNCTIONS[name], x)


def binary(name: str, x: Any, y: Any) -> Any:
    """Return the function of an array of ours and of what was given."""
    if type(y) not in SCALAR_TYPES and is_foreign(y):
        return NotImplemented
    return evaluate(FUNCTIONS[name], x, y)


def reflected(name: str, x: Any, y: Any) -> Any:
    """Return the function of what was given and of an array of ours."""
    return NotImplemented if is_foreign(x) else evaluate(FUNCTIONS[name], x, y)


def power(x: Any, y: Any) -> Any:
    """Return `x ** y`; of some numbers `y` it is another function."""
    if type(y) in (int, float) and (function := power_function(x.dtype, y)) is not None:
        return evaluate(function, x)
    return binary("power", x, y)


def matmul(x: Any, y: Any) -> Any:
    """Return `x @ y` for an array of ours and what was given."""
    return NotImplemented if is_foreign(y) else namespace().matmul(x, y)


def reflected_matmul(x: Any, y: Any) -> Any:
    """Return `x @ y` for what was given and an array of ours."""
    return NotImplemented if is_foreign(x) else namespace().matmul(x, y)


def is_foreign(x: Any) -> bool:
    """Whether `x` wants to be asked first: it has operators for arrays of its own."""
    if type(x) in SCALAR_TYPES or isinstance(x, (Operators, np.ndarray, np.generic)):
        return False
    return getattr(x, "__array_ufunc__", 0) is None or getattr(x, "__array_priority__", 0) > 0
