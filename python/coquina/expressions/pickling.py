"""Expressions as steps that can be pickled: operands, constants, and functions by their names.

In: a node. Out: a list of steps, each of which may refer to earlier ones; and the node again.
Invariant: what is used twice is one step, and one node again; nothing that is unpickled is run but functions
of items, by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from coquina.expressions.functions import FUNCTIONS, STRUCTURED, call
from coquina.expressions.nodes import Blockwise, Boxes, Call, Cast, Constant, Leaf
from coquina.expressions.reference import postorder

if TYPE_CHECKING:
    from coquina.expressions.nodes import Node

Step = tuple[Any, ...]


def steps_of(node: Node) -> list[Step]:
    """Return the steps that make a node. Raises TypeError for what is made by a function of Python's."""
    numbers: dict[int, int] = {}
    steps: list[Step] = []
    for one in postorder(node, boxes=True):
        args = [numbers[id(arg)] for arg in one.args]
        numbers[id(one)] = len(steps)
        match one:
            case Leaf():
                steps.append(("operand", one.source))
            case Constant():
                steps.append(("constant", one.value))
            case Cast():
                steps.append(("cast", args[0], one.dtype))
            case Call() if one.function.name in FUNCTIONS or one.function.name in STRUCTURED:
                steps.append(("call", one.function.name, args))
            case _:
                raise TypeError(f"{name_of(one)} cannot be pickled; pickle the result of compute()")
    return steps


def node_of(steps: list[Step]) -> Node:
    """Return the node that steps make."""
    nodes: list[Node] = []
    for step in steps:
        match step[0]:
            case "operand":
                nodes.append(Leaf(step[1]))
            case "constant":
                nodes.append(Constant(step[1]))
            case "cast":
                nodes.append(Cast(nodes[cast("int", step[1])], step[2]))
            case _:
                nodes.append(call(FUNCTIONS[step[1]], *[nodes[number] for number in step[2]]))
    return nodes[-1]


def name_of(node: Node) -> str:
    """Return what to call a node that is more than functions of items."""
    if isinstance(node, Blockwise | Boxes):
        return f"{node.name!r} in an expression"
    return f"{node.function.name!r} in an expression" if isinstance(node, Call) else type(node).__name__
