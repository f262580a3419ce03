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
    """Make a function of NumPy arrays one of compressed arrays and expressions, block by block.

    function: gets the blocks of its operands, NumPy arrays of one shape that it must not write to, and
        Python numbers and strings as they were given; returns as many items as a block has. Blocks may be
        any boxes, and items may be asked for more than once: it should look at items one by one.
    dtype: what it returns. If it is not given, the function is called once more, for blocks of one item
        that is 1 (zero for what is no number): what that call returns says the dtype.
    order: "threads" runs it in several threads at a time, which share Python's lock, but not while NumPy
        works on items. "order" runs it in one thread: chunk after chunk, and within a chunk block after
        block, both in C order. Reductions that keep some axes go along these first.
    name: in `explain()` and in errors; the function's own by default.

    Use it as a decorator, with brackets or without, or call it. What is returned gives an array in memory
    if the operands and the result are small, else an expression. Errors of the function are raised as they
    are; a block of another shape raises ValueError, one of a dtype that is not cast to `dtype` (to the same
    kind) TypeError. NumPy's warnings of overflows and the like are off while it runs.

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
