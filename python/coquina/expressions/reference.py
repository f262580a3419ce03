"""What an expression is, computed by plain NumPy: the meaning that all other ways are held against.

In: a node and a region of it. Out: the items, a NumPy array of the region's shape and the node's dtype.
Invariant: only the parts of the leaves that the region needs are read, each once; nothing is warned of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.expressions.functions import cast_items
from coquina.expressions.nodes import Blockwise, Boxes, Call, Cast, Constant, Leaf, Node, Region, Shape

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


def read(node: Node, region: Region) -> npt.NDArray[Any]:
    """Return the items of a region: slices within the shape, with steps of 1, one for each axis."""
    order = postorder(node)
    last_use = {id(arg): at for at, one in enumerate(order) for arg in operands_of(one)}
    found: dict[int, npt.NDArray[Any]] = {}
    with np.errstate(all="ignore"):
        for at, one in enumerate(order):
            args = [found[id(arg)] for arg in operands_of(one)]
            part = region_of(one.shape, node.shape, region)
            items = np.asarray(_items(one, part, args))
            if items.dtype != one.dtype:
                raise TypeError(f"items of {items.dtype} where {one.dtype} was said")
            found[id(one)] = items
            for arg in operands_of(one):
                if last_use[id(arg)] == at:
                    found.pop(id(arg), None)
    result = found[id(node)]
    shape = tuple([part.stop - part.start for part in region])
    return result if result.shape == shape else np.broadcast_to(result, shape).copy()


def _items(node: Node, region: Region, args: list[npt.NDArray[Any]]) -> Any:
    match node:
        case Leaf():
            return node.source[region if node.shape else ...]
        case Constant():
            return node.value
        case Cast():
            return cast_items(args[0], node.dtype)
        case Call():
            return node.function.apply(*args)
        case Blockwise():
            return block_items(node.name, node.call, node.dtype, region, *args)
        case Boxes():
            return node.read(region)
        case _:
            raise TypeError(f"{type(node).__name__}: this node cannot be computed")


def block_items(
    name: str, call: Callable[..., Any], dtype: np.dtype[Any], region: Region, *blocks: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return what a function of the user's gives for the blocks of a region, which it may not write to.

    Raises ValueError for another shape, and TypeError for a dtype that is not cast to the promised one.
    """
    shape = tuple([part.stop - part.start for part in region])
    items = np.asarray(call(*[np.broadcast_to(block, shape) for block in blocks]))
    if items.shape == shape and items.dtype == dtype:
        return items
    place = ", ".join([f"{part.start}:{part.stop}" for part in region])
    if items.shape != shape:
        raise ValueError(f"function {name} gave shape {items.shape} for the block [{place}] of shape {shape}")
    # Strings that are too long would be cut off, which is of the same kind for NumPy.
    if not np.can_cast(items.dtype, dtype, "safe" if items.dtype.kind in "SU" else "same_kind"):
        raise TypeError(
            f"function {name} gave {items.dtype} for the block [{place}], where {dtype} is wanted: it is not "
            "cast to that; dtype= says what the function gives"
        )
    return items.astype(dtype)


def operands_of(node: Node) -> tuple[Node, ...]:
    """Return the nodes that are computed before `node`; what is read in boxes reads its own."""
    return () if isinstance(node, Boxes) else node.args


def postorder(
    node: Node, *, boxes: bool = False, args_of: Callable[[Node], tuple[Node, ...]] = operands_of
) -> list[Node]:
    """Return the nodes that `node` is computed of, each once and after its operands, and last `node`.

    boxes: with those that `Boxes` read. args_of: which nodes of those that a node is computed of are wanted.
    """
    order: list[Node] = []
    seen: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(node, False)]
    while waiting:
        one, has_operands = waiting.pop()
        if has_operands:
            order.append(one)
        elif id(one) not in seen:
            seen.add(id(one))
            args = one.args if boxes else args_of(one)
            if not args:
                order.append(one)
                continue
            waiting.append((one, True))
            waiting += [(arg, False) for arg in reversed(args) if id(arg) not in seen]
    return order


def region_of(shape: Shape, whole: Shape, region: Region) -> Region:
    """Return the region of an operand of `shape` that is needed for a region of `whole`, its broadcast."""
    skipped = len(whole) - len(shape)
    return tuple(
        [
            slice(0, 1) if size == 1 and whole[axis] != 1 else cast("Any", region)[axis]
            for axis, size in enumerate(shape, skipped)
        ]
    )
