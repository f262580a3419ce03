"""What reading a part of an expression costs: items that are computed, and bytes that operands decode.

In: expressions and selections. Out: numbers, for limits; nothing is read.
Invariant: nothing costs more than what is told here, but for blocks that reach beyond an array's shape.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

from coquina.arrays.array import Array
from coquina.arrays.views import View
from coquina.expressions.nodes import Leaf, Node
from coquina.expressions.reference import postorder, region_of

if TYPE_CHECKING:
    from coquina.server.selections import Selected


def cost_of(node: Node) -> int:
    """Return how many items are computed, or read, for all of a node."""
    total = 0
    for one in postorder(node, boxes=True):
        total += prod(one.shape)
        source = one.source if isinstance(one, Leaf) else None
        if isinstance(source, View):
            inner = getattr(cast("Any", source).source, "node", None)
            total += cost_of(inner) if isinstance(inner, Node) else 0
    return total


def items_computed(node: Node, picked: Selected) -> int:
    """Return how many items are computed for a selection of a node."""
    return -(-cost_of(node) * picked.size // max(1, prod(node.shape)))


def bytes_decoded(node: Node, picked: Selected) -> int:
    """Return how many bytes of operands are decoded for a selection of a node."""
    region = tuple([_span(one) for one in picked.key])
    # Operands of what is no function of items are read as a whole.
    by_items = {id(one) for one in postorder(node)}
    total = 0
    for one in postorder(node, boxes=True):
        if not isinstance(one, Leaf):
            continue
        if id(one) in by_items:
            total += _of_leaf(one, region_of(one.shape, node.shape, region))
        else:
            total += prod(one.shape) * one.dtype.itemsize
    return total


def _of_leaf(leaf: Leaf, region: tuple[slice, ...]) -> int:
    source: Any = leaf.source
    if isinstance(source, Array):
        return source.blocks_touched(region) * prod(source.blocks or (1,)) * source.itemsize
    return prod([one.stop - one.start for one in region]) * leaf.dtype.itemsize


def _span(one: int | slice) -> slice:
    """Return what a member of a key selects, forward, as a slice."""
    if isinstance(one, int):
        return slice(one, one + 1, 1)
    step = one.step or 1
    if step > 0:
        return slice(one.start, one.stop, step)
    numbers = range(one.start, -1 if one.stop is None else one.stop, step)
    return slice(numbers[-1], one.start + 1, -step) if numbers else slice(0, 0, 1)
