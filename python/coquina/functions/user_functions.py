"""Functions of the user's own, which Python runs on blocks of arrays.

In: a function of NumPy arrays of one shape that gives one of that shape. Out: a function of arrays,
    expressions, views and NumPy arrays, which broadcast; it returns an array where all is small, else an
    expression.
Invariant: the result is what the function gives for the whole NumPy arrays, if it looks at items one by one.
"""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from coquina.arrays.operands import SCALAR_TYPES
from coquina.arrays.results import is_tiny, stored
from coquina.expressions import reference
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node, broadcast_shapes
from coquina.expressions.nodes import Blockwise, Node
from coquina.functions.tracing import is_traced, lifted

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr

    Order = Literal["threads", "order"]
    BlockFunction = Callable[..., Array | Expr]


@overload
def vectorize(
    function: Callable[..., Any],
    *,
    dtype: npt.DTypeLike | None = None,
    order: Order = "threads",
    name: str | None = None,
) -> BlockFunction: ...
@overload
def vectorize(
    function: None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    order: Order = "threads",
    name: str | None = None,
) -> Callable[[Callable[..., Any]], BlockFunction]: ...
def vectorize(
    function: Callable[..., Any] | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    order: Order = "threads",
    name: str | None = None,
) -> Any:
    """Turn a function of NumPy arrays into a function of compressed arrays and expressions, block by block.

    function: takes the blocks of its operands, NumPy arrays of one shape that it must not change, and Python
        numbers and strings unchanged; returns an array of that shape. Blocks may be any boxes, and elements
        may be requested more than once, so the function should be elementwise.
    dtype: of the result. By default the function is called once with blocks of one element (1, or 0 for
        values that are not numbers), and the dtype of that result is used.
    order: "threads": several threads at the same time; NumPy releases the GIL in its loops. "order": one
        thread, chunk after chunk and block after block, in C order. Reductions that keep some axes go along
        these first.
    name: shown by `explain()` and errors; by default the name of the function.

    Use it as a decorator, with or without arguments, or call it. The result of the new function is an array
    in memory if operands and result are small, otherwise an expression. Errors of the function are raised
    unchanged; a block of another shape raises ValueError, one whose dtype cannot be cast to `dtype` by the
    rule "same_kind" TypeError. NumPy's warnings about overflows and the like are off while it runs.

    >>> import coquina as cq, numpy as np
    >>> @cq.vectorize
    ... def clamped(x, top):
    ...     return np.where(x > top, top, x)
    >>> clamped(cq.arange(5), 3)[...]
    array([0, 1, 2, 3, 3])
    """
    if order not in ("threads", "order"):
        raise ValueError(f"order {order!r}: takes 'threads' or 'order'")
    promised = None if dtype is None else _checked(np.dtype(dtype), "dtype")

    def made(function: Callable[..., Any]) -> BlockFunction:
        if not callable(cast("Any", function)):
            raise TypeError(f"vectorize takes a function, not a {type(function).__name__}")
        title = name or getattr(function, "__name__", type(function).__name__)

        def call(*operands: Any) -> Array | Expr:
            if any(map(is_traced, operands)):
                return lifted(call)(*operands)
            return _called(function, title, operands, promised, is_ordered=order == "order")

        update_wrapper(call, function)
        call.__name__ = title
        return call

    return made if function is None else made(function)


def _called(
    function: Callable[..., Any],
    name: str,
    operands: tuple[Any, ...],
    dtype: np.dtype[Any] | None,
    *,
    is_ordered: bool,
) -> Array | Expr:
    """Return the function of operands: computed if all is small, else an expression."""
    # Numbers and strings of Python stay what they are: NumPy promotes them otherwise than arrays of them.
    nodes = tuple([as_node(x) for x in operands if type(x) not in SCALAR_TYPES])
    if not nodes:
        raise TypeError(f"function {name} takes arrays, and got none")
    on_blocks = function if len(nodes) == len(operands) else _with_scalars(function, operands)
    shape = broadcast_shapes([node.shape for node in nodes])
    if dtype is None:
        dtype = _found_dtype(name, on_blocks, nodes, len(shape))
    node = Blockwise(on_blocks, nodes, shape, dtype, name=name, is_ordered=is_ordered)
    if not is_tiny(*nodes, node):
        return Expr(node)
    if 0 in shape:
        return stored(np.empty(shape, dtype))
    return stored(reference.read(node, tuple([slice(0, size) for size in shape])))


def _with_scalars(function: Callable[..., Any], operands: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a function of the blocks alone, which puts the scalars in their places."""
    scalars = [x if type(x) in SCALAR_TYPES else None for x in operands]

    def call(*blocks: Any) -> Any:
        left = iter(blocks)
        return function(*[next(left) if x is None else x for x in scalars])

    return call


def _found_dtype(name: str, call: Callable[..., Any], nodes: tuple[Node, ...], ndim: int) -> np.dtype[Any]:
    """Return the dtype of what a function gives for blocks of one item."""
    shape = (1,) * ndim
    makers = [np.ones if node.dtype.kind in "biufc" else np.zeros for node in nodes]
    blocks = [make(shape, node.dtype) for make, node in zip(makers, nodes, strict=True)]
    try:
        with np.errstate(all="ignore"):
            items = np.asarray(call(*blocks))
    except Exception as error:
        error.add_note(f"function {name} was called for one item, to find its dtype; dtype= says it")
        raise
    if items.shape != shape:
        raise ValueError(f"function {name} gave shape {items.shape} for a block of shape {shape}")
    return _checked(items.dtype, f"function {name}")


def _checked(dtype: np.dtype[Any], what: str) -> np.dtype[Any]:
    if dtype.hasobject:
        raise TypeError(f"{what}: {dtype}: expressions do not take Python objects")
    return dtype


__all__ = ["vectorize"]
