"""Calls of functions of items, as nodes.

In: a function and operands: arrays, expressions, views, datasets, Python and NumPy scalars, lists. Out: a
    node with the shape and the dtype of NumPy's result.
Source: NumPy's promotion (NEP 50) and broadcasting, with its errors.
Invariant: the arguments of a call have exactly the dtypes that its loop takes; casts are nodes of their own.
"""

from __future__ import annotations

import operator
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.operands import source_of
from coquina.expressions.nodes import Call, Cast, Constant, Leaf, Node, Shape
from coquina.expressions.table import FUNCTIONS, WEAK_TYPES, Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from coquina.expressions.table import Operand

_POWER, _WHERE = FUNCTIONS["power"], FUNCTIONS["where"]
# A negative exponent of integers is an error, which loops of the engine do not find.
_CHECKED_POWER = Function("power", np.power, None, 2, _POWER.resolve)

# What compares equally if a Python integer lies above, or below, all values of the other operand's dtype: the
# comparison with the largest, or smallest, of these.
_BEYOND = {
    "less": ("less_equal", "less"),
    "less_equal": ("less_equal", "less"),
    "greater": ("greater", "greater_equal"),
    "greater_equal": ("greater", "greater_equal"),
    "equal": ("greater", "less"),
    "not_equal": ("less_equal", "greater_equal"),
}
_MIRRORED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that all of these broadcast to. Raises ValueError in the words of NumPy's ufuncs."""
    given = tuple(shapes)
    found: Shape = given[0] if given else ()
    for shape in given[1:]:
        if shape == found or not shape:
            continue
        longer, shorter = (shape, found) if len(shape) > len(found) else (found, shape)
        out = list(longer)
        for axis, size in enumerate(shorter, len(longer) - len(shorter)):
            if out[axis] == 1:
                out[axis] = size
            elif size not in (1, out[axis]):
                listed = " ".join([str(one).replace(" ", "") for one in given])
                raise ValueError(f"operands could not be broadcast together with shapes {listed} ")
        found = tuple(out)
    return found


def as_node(x: Any) -> Node:
    """Return the node of an operand. What has no axes and is in memory becomes a constant, copied now."""
    if isinstance(x, Node):
        return x
    node = getattr(x, "node", None)
    if isinstance(node, Node):
        return node
    source = source_of(x)
    if source.dtype.hasobject:
        raise TypeError(f"operands of {type(x).__name__}: expressions do not take Python objects")
    if source.shape == () and isinstance(source, np.ndarray):
        return Constant(np.array(cast("npt.NDArray[Any]", source)))
    return Leaf(source)


def cast_node(node: Node, dtype: np.dtype[Any]) -> Node:
    """Return a node of `dtype`: the node itself if it has it, a constant for a constant."""
    if node.dtype == dtype:
        return node
    if isinstance(node, Constant):
        with np.errstate(all="ignore"):
            return Constant(cast_items(node.value, dtype))
    return Cast(node, dtype)


def cast_items(items: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return items as NumPy casts them; of complex numbers the real parts, without a warning."""
    if items.dtype.kind == "c" and dtype.kind in "iuf":
        items = cast("Any", items).real
    return items.astype(dtype, copy=False)


def types_of(operands: Iterable[Any], nodes: Iterable[Node | None]) -> tuple[Operand, ...]:
    """Return the dtypes of operands, or the types of those that are Python numbers and have no node."""
    pairs = zip(operands, nodes, strict=True)
    kinds: list[Any] = [type(x) if node is None else node.dtype for x, node in pairs]
    return tuple(kinds)


def call(function: Function, *operands: Any) -> Node:
    """Return the node of `function` of the operands. Raises what NumPy raises."""
    nodes = [x if isinstance(x, Node) else None if type(x) in WEAK_TYPES else as_node(x) for x in operands]
    types = types_of(operands, nodes)
    if (
        types[0] not in WEAK_TYPES
        and cast("np.dtype[Any]", types[0]).kind == "V"
        and function.name in STRUCTURED
    ):
        function = STRUCTURED[function.name]
    loop = function.resolve(types)
    if any(dtype.hasobject for dtype in loop):
        raise TypeError(f"{function.name}: expressions do not take Python objects")
    if function.name in _BEYOND:
        beyond = _beyond(function, operands, loop)
        if beyond is not None:
            return call(*beyond)
    args = tuple(
        [
            Constant(_weak(x, dtype, function)) if node is None else cast_node(node, dtype)
            for x, node, dtype in zip(operands, nodes, loop, strict=False)
        ]
    )
    if function is _POWER and loop[1].kind == "i":
        function = _power_of(args[1])
    if all(isinstance(arg, Constant) for arg in args):
        with np.errstate(all="ignore"):
            value = function.apply(*[cast("Constant", arg).value for arg in args])
        return Constant(np.asarray(value, loop[-1]))
    return Call(function, args, broadcast_shapes([arg.shape for arg in args]), loop[-1])


def _weak(value: complex, dtype: np.dtype[Any], function: Function) -> npt.NDArray[Any]:
    """Return a Python number as an array of one item. Raises OverflowError for integers out of range."""
    if function is _WHERE:
        # It is not a ufunc: what is out of range wraps around.
        return quietly(np.asarray(value).astype, dtype)
    return quietly(np.asarray, value, dtype)


def _power_of(exponent: Node) -> Function:
    if not isinstance(exponent, Constant):
        return _CHECKED_POWER
    if exponent.value < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return _POWER


def _beyond(function: Function, operands: tuple[Any, ...], loop: tuple[np.dtype[Any], ...]) -> Any:
    """Return a call to make instead, if a Python integer is out of the range of the other operand."""
    for place, x in enumerate(operands):
        if type(x) is int and loop[place].kind in "iu":
            limits = np.iinfo(loop[place])
            if limits.min <= x <= limits.max:
                continue
            is_below = x < 0
            name = function.name if place == 1 else _MIRRORED[function.name]
            limit = limits.min if is_below else limits.max
            return FUNCTIONS[_BEYOND[name][is_below]], operands[1 - place], loop[place].type(limit)
    return None


def _resolve_equal(types: tuple[Operand, ...]) -> tuple[np.dtype[Any], ...]:
    """Type `==` of structured items, which is not a ufunc's."""
    dtypes = tuple(map(np.dtype, types))
    found = np.empty(1, dtypes[0]) == np.empty(1, dtypes[1])
    if found.shape != (1,):
        raise TypeError(f"items of {dtypes[0]} and {dtypes[1]} cannot be compared")
    return (*dtypes, np.dtype(np.bool_))


#: What `==` and `!=` mean for structured items.
STRUCTURED = {
    "equal": Function("equal", operator.eq, None, 2, _resolve_equal),
    "not_equal": Function("not_equal", operator.ne, None, 2, _resolve_equal),
}


# NumPy keeps what it does about overflows and the like in the context.
_QUIET = copy_context()
_QUIET.run(np.seterr, all="ignore")


def quietly(apply: Callable[..., Any], *values: Any) -> Any:
    """Return `apply(*values)`, computed without warnings of overflows, divisions by zero, and the like."""
    return _QUIET.copy().run(apply, *values)


_WITH_POWERS = {2: FUNCTIONS["square"], 0.5: FUNCTIONS["sqrt"], -1: FUNCTIONS["reciprocal"]}


def power_function(dtype: np.dtype[Any], exponent: float) -> Function | None:
    """Return what NumPy computes instead of a power of arrays of `dtype`, None if it does not."""
    function = _WITH_POWERS.get(exponent)
    is_square = exponent == 2 and type(exponent) is int
    return function if dtype.kind in "fc" or (dtype.kind in "biu" and is_square) else None


__all__ = [
    "FUNCTIONS",
    "WEAK_TYPES",
    "Function",
    "as_node",
    "broadcast_shapes",
    "call",
    "cast_items",
    "cast_node",
    "power_function",
    "quietly",
    "types_of",
]
