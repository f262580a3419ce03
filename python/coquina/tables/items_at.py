"""Conditions in a few rows here and there, without the blocks of rows around them.

In: a node with an item for each row, and row numbers. Out: the items of these rows.
Invariant: items are those that the engine computes. Functions that it may round otherwise than NumPy are left
    to it, and so is all that it reads in a way of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.expressions.functions import cast_items
from coquina.expressions.nodes import Call, Cast, Constant, Leaf
from coquina.expressions.reference import postorder

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.nodes import Node

_COMPARED = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGICAL = ("logical_and", "logical_or", "logical_not", "logical_xor", "isnan", "isnat", "isfinite", "isinf")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "invert")
#: Of one correct result, whoever computes it.
_EXACT = frozenset([*_COMPARED, *_LOGICAL, *_BITS, "add", "subtract", "multiply", "negative", "where"])


def items_at(node: Node, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any] | None:
    """Return the items of some rows, in any order; None where the engine has to compute them."""
    order = postorder(node)
    if not all(_is_known(one) for one in order):
        return None
    found: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for one in order:
            found[id(one)] = _items(one, rows, [found[id(arg)] for arg in one.args])
    return np.broadcast_to(found[id(node)], rows.shape)


def _is_known(node: Node) -> bool:
    if isinstance(node, Call):
        return node.function.name in _EXACT
    return isinstance(node, Leaf | Constant | Cast)


def _items(node: Node, rows: npt.NDArray[np.int64], args: list[Any]) -> Any:
    match node:
        case Leaf():
            return node.source[rows if node.shape else ...]
        case Constant():
            return node.value
        case Cast():
            return cast_items(args[0], node.dtype)
        case Call():
            return node.function.apply(*args)
        case _:
            raise TypeError(f"{type(node).__name__}: not a node that is read by rows")
