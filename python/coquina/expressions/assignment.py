"""Operators in place: `a += b` on arrays, views and expressions.

In: what is changed, a function, an operand. Out: what the name means from then on: the same array or view
    with new items, or another expression.
Source: NumPy: the result is cast to the dtype by the rule "same_kind", and has the shape.
Invariant: every item is computed of the items that were there before.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.arrays.array import Array
from coquina.arrays.operands import as_numpy
from coquina.arrays.regions import boxes
from coquina.arrays.results import EAGER_BYTES
from coquina.arrays.views import View
from coquina.expressions import engine
from coquina.expressions.arithmetic import is_foreign, matmul
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, Function, as_node, call, cast_items, cast_node
from coquina.expressions.nodes import Leaf, Node
from coquina.expressions.reference import postorder


def in_place(name: str, x: Any, y: Any) -> Any:
    """Do what `x = function(x, y)` means where `x` is changed."""
    if is_foreign(y):
        return NotImplemented
    return update(FUNCTIONS[name], x, y)


def matmul_in_place(x: Any, y: Any) -> Any:
    """Put `x @ y` in the place of the items."""
    product = matmul(x, y)
    return product if product is NotImplemented else assign_same(x, product, "matmul")


def update(function: Function, x: Any, y: Any) -> Any:
    """Do `x = function(x, y)` in place."""
    node = call(function, x, y)
    _check(node, x, function.name)
    return _assign(x, node)


def assign_same(x: Any, value: Any, name: str) -> Any:
    """Put a computed value of the same shape in the place of the items; `name` is what computed it."""
    node = as_node(value)
    _check(node, x, name)
    return _assign(x, node)


def _check(node: Node, x: Any, name: str) -> None:
    if not np.can_cast(node.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {node.dtype!r} to {x.dtype!r} with casting rule "
            "'same_kind'"
        )
    if node.shape != x.shape:
        sides = [str(shape).replace(" ", "") for shape in (x.shape, node.shape)]
        raise ValueError(
            f"non-broadcastable output operand with shape {sides[0]} doesn't match the broadcast shape "
            f"{sides[1]}"
        )


def _assign(x: Any, node: Node) -> Any:
    if isinstance(x, Expr):
        return Expr(cast_node(node, x.dtype))
    if isinstance(x, Array) and x.mode == "r":
        raise ValueError("output array is read-only: it was opened for reading")
    if x.nbytes <= EAGER_BYTES or not isinstance(x, Array):
        with np.errstate(all="ignore"):
            values = cast_items(as_numpy(Expr(node)), x.dtype)
        if isinstance(x, (Array, View)):
            x[...] = values
        return x
    if not _is_aligned(node, x):
        # Its items stand elsewhere in the operands too.
        node = Leaf(Expr(node).compute())
    node = cast_node(node, x.dtype)
    with ExitStack() as stack:
        # A transaction that is open already takes these changes too, and HDF5 has none.
        with suppress(ValueError, UnsupportedError):
            stack.enter_context(x.transaction())
        for region in boxes(x.shape, x.chunks, x.itemsize):
            x[region] = engine.read(node, region)
    return x


def _is_aligned(node: Node, x: Array) -> bool:
    """Whether each item depends on no other item of `x` than itself, as far as one can see."""
    return all(
        isinstance(one.source, np.ndarray) or (isinstance(one.source, Array) and one.shape == x.shape)
        if isinstance(one, Leaf)
        else type(one).__name__ in ("Constant", "Cast", "Call")
        for one in postorder(node)
    )
