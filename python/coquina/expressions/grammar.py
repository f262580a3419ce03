"""What may stand in the text of an expression, and the error for all that may not.

Source: Python's grammar for the names of the parts; NumPy for the functions that operators are.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CoquinaError
from coquina.function_table import REDUCTIONS, STRINGS

if TYPE_CHECKING:
    from collections.abc import Callable

#: Characters of a text, and brackets, calls and operators within each other.
TEXT_MAX = 1 << 14
DEPTH_MAX = 64
#: Bits of the integers that powers and shifts of numbers in the text may give.
BITS_MAX = 1 << 12

_PYTHON: Any = operator
#: Names that need no operand.
CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf, "nan": np.nan}

#: Operators, their functions of items, and Python's of numbers.
BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", _PYTHON.add),
    ast.Sub: ("subtract", _PYTHON.sub),
    ast.Mult: ("multiply", _PYTHON.mul),
    ast.Div: ("divide", _PYTHON.truediv),
    ast.FloorDiv: ("floor_divide", _PYTHON.floordiv),
    ast.Mod: ("remainder", _PYTHON.mod),
    ast.Pow: ("power", _PYTHON.pow),
    ast.BitAnd: ("bitwise_and", _PYTHON.and_),
    ast.BitOr: ("bitwise_or", _PYTHON.or_),
    ast.BitXor: ("bitwise_xor", _PYTHON.xor),
    ast.LShift: ("left_shift", _PYTHON.lshift),
    ast.RShift: ("right_shift", _PYTHON.rshift),
}
UNARY: dict[type, tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("negative", _PYTHON.neg),
    ast.UAdd: ("positive", _PYTHON.pos),
    ast.Invert: ("invert", lambda x: not x if type(x) is bool else _PYTHON.invert(x)),
    ast.Not: ("logical_not", _PYTHON.not_),
}
COMPARISONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("equal", _PYTHON.eq),
    ast.NotEq: ("not_equal", _PYTHON.ne),
    ast.Lt: ("less", _PYTHON.lt),
    ast.LtE: ("less_equal", _PYTHON.le),
    ast.Gt: ("greater", _PYTHON.gt),
    ast.GtE: ("greater_equal", _PYTHON.ge),
}
#: The operators of functions of two operands.
INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
}
#: Functions with options, and the options that they take.
OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([row.name for row in REDUCTIONS] + ["count_nonzero"], ("axis", "keepdims")),
    **dict.fromkeys(("nansum", "nanprod", "nanmean", "nanmin", "nanmax"), ("axis", "keepdims")),
    **dict.fromkeys(("std", "var"), ("axis", "keepdims", "correction")),
    "clip": ("min", "max"),
    "round": ("decimals",),
    "isclose": ("rtol", "atol", "equal_nan"),
    "nan_to_num": ("nan", "posinf", "neginf"),
    "angle": ("deg",),
    "astype": (),
    "reshape": (),
}
#: Functions that may be called as methods, `x.f(y)`: those that NumPy's arrays or Python's strings have.
METHODS = frozenset([*OPTIONS, "conj", "conjugate", *[row.name for row in STRINGS if hasattr(str, row.name)]])


class ExpressionError(CoquinaError, ValueError):
    """The text is no expression, or has what must not stand in one; the message shows where.

    column: of the character, from 0 on. hint: the end of the first line, on what a program can do about it.

    >>> import coquina as cq
    >>> try:
    ...     cq.expr("a +* 2", a=cq.arange(3))
    ... except cq.ExpressionError as error:
    ...     print(error)
    invalid syntax
      a +* 2
         ^
    """

    column: int
    hint: str

    def __init__(self, message: str, text: str = "", column: int = 0, width: int = 1, hint: str = "") -> None:
        """`message` and `hint` about `width` characters of `text` from `column` on."""
        line = text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
        start = max(0, column - 60)
        shown = line[start : start + 100]
        caret = " " * (column - start) + "^" * max(1, min(width, len(shown) - (column - start)))
        super().__init__(f"{message}{hint}\n  {shown}\n  {caret}" if text else message + hint)
        self.column = column
        self.hint = hint


def is_number(value: Any) -> bool:
    """Whether a value is a Python number, with which Python computes."""
    return type(value) in (bool, int, float, complex)


def both(x: Any, y: Any) -> bool:
    """Return the truth of both numbers."""
    return bool(x) and bool(y)


def either(x: Any, y: Any) -> bool:
    """Return the truth of any of both numbers."""
    return bool(x) or bool(y)


def described(node: ast.expr) -> str:
    """Return what a person calls a part of Python that is not taken."""
    names = {
        "Lambda": "lambda",
        "NamedExpr": "':='",
        "ListComp": "a comprehension",
        "SetComp": "a comprehension",
        "DictComp": "a comprehension",
        "GeneratorExp": "a comprehension",
        "JoinedStr": "an f-string",
        "List": "a list",
        "Tuple": "a tuple",
        "Set": "a set",
        "Dict": "a dict",
    }
    kind = type(node).__name__
    return names.get(kind, kind.lower())
