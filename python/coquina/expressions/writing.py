"""Expressions as the text that makes them again: the reverse of `text`.

In: a node, and names of its operands. Out: text in the grammar of `expr`, which python-blosc2 reads too.
Invariant: what cannot be said is UnsupportedError, which names it; text never gets longer than can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.arrays.views import View
from coquina.expressions.grammar import INFIX, TEXT_MAX
from coquina.expressions.nodes import Call, Cast, Constant, Leaf
from coquina.expressions.pickling import name_of
from coquina.expressions.reference import postorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.expressions.nodes import Node

_PREFIX = {"invert": "~", "negative": "-"}
#: What python-blosc2 knows by another one of NumPy's names.
_NAMES = {"absolute": "abs", "conjugate": "conj"}


def text_of(node: Node, name: Callable[[Any], str], *, with_casts: bool) -> str:
    """Return the text of a node. name: of an operand. with_casts: say also what follows from the dtypes.

    Raises UnsupportedError for what has no text, ValueError if it is too long.
    """
    texts: dict[int, str] = {}
    for one in postorder(node, boxes=True):
        args = [texts[id(arg)] for arg in one.args]
        text = _written(one, args, name, with_casts)
        if len(text) > TEXT_MAX:
            raise ValueError(f"the text of the expression has more than {TEXT_MAX} characters")
        texts[id(one)] = text
    return texts[id(node)]


def _written(node: Node, args: list[str], name: Callable[[Any], str], with_casts: bool) -> str:
    match node:
        case Leaf():
            return _operand(node.source, name)
        case Constant():
            return _constant(node)
        case Cast():
            return f"astype({args[0]}, {node.dtype.str!r})" if with_casts else args[0]
        case Call() if node.function.name in INFIX:
            return f"({args[0]} {INFIX[node.function.name]} {args[1]})"
        case Call() if node.function.name in _PREFIX:
            return f"({_PREFIX[node.function.name]}{args[0]})"
        case Call():
            name_there = _NAMES.get(node.function.name, node.function.name)
            return f"{name_there}({', '.join(args)})"
        case _:
            raise UnsupportedError(f"{name_of(node)} cannot be written as text; save the result of compute()")


def _operand(source: Any, name: Callable[[Any], str]) -> str:
    """Return the name of an operand, and the key of a part of it."""
    if not isinstance(source, View):
        return name(source)
    ranges, whole = source.ranges(), source.source
    is_plain = len(ranges) == len(whole.shape) and all(
        one is not None and one[0] == axis and one[2] > 0 for axis, one in enumerate(ranges)
    )
    if not is_plain:
        raise UnsupportedError(
            "a view made by other keys than slices cannot be written as text; save a copy of it"
        )
    keys: list[str] = []
    for size, (_, start, step) in zip(source.shape, filter(None, ranges), strict=True):
        keys.append(f"{start}:{start + size * step}" + (f":{step}" if step > 1 else ""))
    return f"{name(whole)}[{', '.join(keys)}]"


def _constant(node: Constant) -> str:
    value: Any = node.value[()]
    if node.dtype.kind not in "biufcSU":
        raise UnsupportedError(f"the constant {value!r} cannot be written as text; save it as an array")
    text = repr(value.item())
    if node.dtype.kind == "c":
        # Python has no text of complex numbers with infinite parts.
        if not np.isfinite(value):
            raise UnsupportedError(f"the constant {value!r} cannot be written as text; save it as an array")
        return text if text.startswith("(") else f"({text})"
    return f"({text})" if text.startswith("-") else text
