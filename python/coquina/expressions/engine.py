"""Lowers a tree of nodes to the engine, which computes boxes of it in threads, without the GIL.

Calls for which the engine has a kernel become one program; so do casts and constants. Any other call is made
by NumPy on boxes, under the GIL: what it gives is an operand of the program. `explain` tells which is which,
and with COQUINA_STRICT=1 the latter raises UnsupportedError.
Invariant: results equal those of `reference`, to the bit but for the functions that are no arithmetic.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.arrays.array import Array
from coquina.arrays.fields import FieldSource
from coquina.arrays.views import View
from coquina.arrays.writes import wrote
from coquina.expressions.functions import cast_items, quietly
from coquina.expressions.nodes import Blockwise, Boxes, Call, Cast, Constant, Engine, Leaf
from coquina.expressions.reference import block_items, postorder, region_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node, Region, Shape

#: The dtypes of the kernels, by any byte order.
_TYPES: dict[np.dtype[Any], str] = {
    np.dtype(kind): np.dtype(kind).name for kind in ("?", *"bhiqBHIQfdFD", *"lL")
}


def type_name(dtype: np.dtype[Any]) -> str | None:
    """Return the engine's name of a dtype; None if it has no kernels for it."""
    return _TYPES.get(dtype) or _TYPES.get(dtype.newbyteorder("="))


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that items have in the engine: numbers are in the machine's byte order."""
    return dtype.newbyteorder("=") if type_name(dtype) else dtype


def read(node: Node, region: Region, threads: int | None = None) -> npt.NDArray[Any]:
    """Return the items of a region. Memory: the result, and per thread what a block needs."""
    start = [part.start for part in region]
    shape = [part.stop - part.start for part in region]
    return _read_box(node, start, shape, 1 if is_ordered(node) else threads)


def store(node: Node, array: Array, threads: int | None = None) -> None:
    """Fill a new array, of the node's shape and dtype. Memory: per thread what a chunk needs."""
    if not prod(node.shape):
        return
    lazy = lower(node)
    if native(node.dtype) != node.dtype:
        # The engine's numbers are in the machine's byte order, those of the array are not.
        chunks, blocks = lazy.walk
        read_box = partial(_read_box, node, threads=1)
        lazy = _core.lazy_function(read_box, list(node.shape), node.dtype.itemsize, chunks, blocks)
    try:
        lazy.write_to(array, 1 if is_ordered(node) else threads)
    finally:
        wrote(array)


def lower(node: Node) -> _core.Lazy:
    """Return the node as the engine computes it. Raises ValueError for an operand that was resized."""
    if isinstance(node, Leaf) and not node.grows and tuple(node.source.shape) != node.shape:
        raise ValueError(f"an operand of shape {node.shape} has been resized: to {tuple(node.source.shape)}")
    if node.lowered is None:
        node.lowered = _lowered(node)
    return node.lowered


def is_ordered(node: Node) -> bool:
    """Whether some function of the user's wants its blocks one after the other."""
    return any(isinstance(one, Blockwise) and one.is_ordered for one in postorder(node, boxes=True))


def explain(node: Node) -> dict[str, Any]:
    """Say how a node is computed: the walk, the program, what NumPy or a user's function does."""
    lazy = lower(node)
    chunks, blocks = lazy.walk
    slow: list[str] = []
    for one in reversed(postorder(node)):
        if isinstance(one, Blockwise):
            slow.append(f"function {one.name} (per block, Python)")
        elif _is_by_numpy(one):
            slow.append(explain_name(one))
    return {"chunks": tuple(chunks), "blocks": tuple(blocks), "by_numpy": slow, **lazy.report()}


def _is_native(node: Node) -> bool:
    """Whether the engine has a kernel for a call or a cast."""
    name = type_name(node.dtype)
    args = [type_name(arg.dtype) for arg in node.args]
    if name is None or not node.dtype.isnative or None in args:
        return False
    if isinstance(node, Call):
        kernel = node.function.kernel
        return kernel is not None and _core.has_kernel(kernel, args) == name  # type: ignore[arg-type]
    return isinstance(node, Cast)


def _is_by_numpy(node: Node) -> bool:
    """Whether a node is computed by NumPy, or by a function of the user's."""
    return isinstance(node, Blockwise) or (isinstance(node, Call | Cast) and not _is_native(node))


def _args_by_numpy(node: Node) -> tuple[Node, ...]:
    """Return what a node is computed of if NumPy does it, else nothing."""
    return node.args if _is_by_numpy(node) else ()


def _args_in_program(node: Node) -> tuple[Node, ...]:
    """Return what a node is computed of if a program does it, else nothing."""
    return node.args if isinstance(node, Call | Cast) and _is_native(node) else ()


def _lowered(node: Node) -> _core.Lazy:
    if isinstance(node, Leaf):
        return _lower_leaf(node)
    if isinstance(node, Engine):
        return node.lazy()
    if isinstance(node, Boxes):
        chunks = node.chunks or _core.default_walk(list(node.shape), node.dtype.itemsize)[0]
        return _function(node.shape, node.dtype, node.read, list(chunks), list(chunks))
    is_constant = isinstance(node, Constant) and type_name(node.dtype) is not None
    if is_constant or (isinstance(node, Call | Cast) and _is_native(node)):
        program = _Program()
        program.add_all(node)
        return _core.lazy_program(program.nodes, program.inputs, list(node.shape), grows=program.grows)
    return _lower_call(node)


def _lower_leaf(node: Leaf) -> _core.Lazy:
    source: Any = node.source
    dtype, offset = node.dtype, 0
    if isinstance(source, View) and (whole := source.whole) is not None:
        source, offset = whole.place if isinstance(whole, FieldSource) else (whole, 0)
    if isinstance(source, Array):
        number_bytes = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        swapped = 1 if dtype.isnative or type_name(dtype) is None else number_bytes
        return _core.lazy_array(source, offset, dtype.itemsize, swapped)
    if isinstance(source, np.ndarray) and dtype.isnative:
        values = cast("npt.NDArray[Any]", source)
        if values.flags.c_contiguous:
            return _core.lazy_memory(values)
    chunks, blocks = _core.default_walk(list(node.shape), dtype.itemsize)
    return _function(node.shape, dtype, cast("Callable[[Region], Any]", source.__getitem__), chunks, blocks)


def _function(
    full: Shape,
    dtype: np.dtype[Any],
    part: Callable[[Region], Any],
    chunks: list[int],
    blocks: list[int],
) -> _core.Lazy:
    """Return a source of boxes that Python gives: numbers in the machine's byte order."""
    # What is called must not hold the node: the node's lazy form lives as long as the node.
    dtype = native(dtype)

    def read_box(start: tuple[int, ...], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        region = tuple([slice(at, at + count) for at, count in zip(start, shape, strict=True)])
        values = np.asarray(part(region))
        if values.shape != shape:
            raise ValueError(f"a function gave shape {values.shape} for a box of shape {shape}")
        return np.ascontiguousarray(values, dtype).reshape(shape)

    return _core.lazy_function(read_box, list(full), dtype.itemsize, chunks, blocks)


def _lower_call(node: Node) -> _core.Lazy:
    """Return what NumPy or functions of the user's compute for each box: a node, and those below it."""
    order = postorder(node, args_of=_args_by_numpy)
    is_made = {id(one): _is_by_numpy(one) for one in order}
    slow = [one for one in order if is_made[id(one)] and not isinstance(one, Blockwise)]
    if slow and _core.is_strict():
        raise _core.UnsupportedError(f"{explain_name(slow[-1])}: has no kernel, and COQUINA_STRICT is set")
    full, dtype = node.shape, node.dtype
    given = [one for one in order if not is_made[id(one)] and not isinstance(one, Constant)]
    whole = [one for one in given if one.shape == full]
    chunks, blocks = lower(whole[0]).walk if whole else _core.default_walk(list(full), dtype.itemsize)
    steps = _Steps(order, is_made)
    return _function(full, dtype, steps.items, chunks, blocks)


def explain_name(node: Node) -> str:
    """Return what to call a node in a sentence."""
    dtypes = ", ".join(str(arg.dtype) for arg in node.args)
    return f"{node.function.name if isinstance(node, Call) else f'astype {node.dtype}'} of {dtypes}"


def _read_box(
    node: Node, start: Sequence[int], shape: Sequence[int], threads: int | None
) -> npt.NDArray[Any]:
    dtype = native(node.dtype)
    out: npt.NDArray[Any] = np.empty(shape, dtype)
    if out.size:
        lower(node).read(list(start), list(shape), out, threads)
    return out if dtype == node.dtype else out.astype(node.dtype)


class _Steps:
    """What NumPy and functions of the user's make of a box, one step after the other."""

    # The root is not held: what is lowered lives as long as it.
    def __init__(self, order: list[Node], is_made: dict[int, bool]) -> None:
        self._shape = order[-1].shape
        places = {id(one): at for at, one in enumerate(order)}
        last_use = {id(arg): at for at, one in enumerate(order) for arg in one.args if is_made[id(one)]}
        self._steps: list[tuple[Shape, Callable[..., Any], list[int], list[int]]] = []
        for at, one in enumerate(order):
            args = [places[id(arg)] for arg in one.args] if is_made[id(one)] else []
            done = [arg for arg in set(args) if last_use[id(order[arg])] == at]
            self._steps.append((one.shape, _step_of(one, is_made[id(one)]), args, done))

    def items(self, region: Region) -> npt.NDArray[Any]:
        """Return the items of a region."""
        return quietly(self._items, region)

    def _items(self, region: Region) -> npt.NDArray[Any]:
        found: dict[int, Any] = {}
        for at, (shape, step, args, done) in enumerate(self._steps):
            found[at] = step(region_of(shape, self._shape, region), *[found[arg] for arg in args])
            for arg in done:
                del found[arg]
        return found[len(self._steps) - 1]


def _step_of(node: Node, is_made: bool) -> Callable[..., Any]:
    """Return the function of a region, and of the arguments' items there, that gives the items of a node."""
    if isinstance(node, Constant):
        return partial(_itself, node.value)
    if not is_made:

        def given(region: Region) -> npt.NDArray[Any]:
            shape = [axis.stop - axis.start for axis in region]
            return _read_box(node, [axis.start for axis in region], shape, 1)

        return given
    dtype = node.dtype
    if isinstance(node, Blockwise):
        return partial(block_items, node.name, node.call, dtype)
    call = _call_of(node)

    def step(region: Region, *args: npt.NDArray[Any]) -> npt.NDArray[Any]:
        shape = tuple([axis.stop - axis.start for axis in region])
        return np.broadcast_to(np.asarray(call(*args), dtype), shape)

    return step


def _itself(value: npt.NDArray[Any], _region: Region) -> npt.NDArray[Any]:
    return value


def _call_of(node: Node) -> Callable[..., Any]:
    if isinstance(node, Call):
        return node.function.apply
    return partial(cast_items, dtype=node.dtype)


class _Program:
    """The nodes of one program, and its operands."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.inputs: list[_core.Lazy] = []
        self.grows = False
        self._numbers: dict[int, int] = {}
        self._operands: dict[tuple[int, Shape], int] = {}

    def add_all(self, node: Node) -> None:
        """Add a node and what it needs."""
        for one in postorder(node, args_of=_args_in_program):
            self._numbers[id(one)] = len(self.nodes)
            self.nodes.append(self._made(one, [self._numbers[id(arg)] for arg in _args_in_program(one)]))

    def _made(self, node: Node, args: list[int]) -> tuple[Any, ...]:
        name = type_name(node.dtype)
        if isinstance(node, Constant) and name is not None:
            return "constant", name, node.value.astype(node.dtype.newbyteorder("=")).tobytes()
        if isinstance(node, Cast) and args:
            return "cast", args[0], name
        if isinstance(node, Call) and args:
            return "call", node.function.kernel, args
        # One array that is used twice is read once, unless it was resized between the two.
        key = (id(node.source if isinstance(node, Leaf) else node), node.shape)
        operand = self._operands.get(key)
        if operand is None:
            self.inputs.append(lower(node))
            self.grows = self.grows or (isinstance(node, Leaf) and node.grows)
            operand = self._operands[key] = len(self.inputs) - 1
        return "load", operand, name
