"""What a condition asks of indexes: terms, and how they are combined.

In: the node of a condition, and what indexes know the values of. Out: a tree of terms; the engine makes it.
A term is all that is asked of one operand: comparisons, values among others, text that begins so, missing
values, and what of these is combined by and, or and not.
Invariant: rows that meet the condition meet the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import Both, Term, condition_trees
from coquina.expressions.engine import type_name
from coquina.expressions.nodes import Call, Cast, Constant, Engine
from coquina.expressions.reference import postorder

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina._core import Tree
    from coquina.expressions.nodes import Asked, Node
    from coquina.tables.index_operands import Operand, Operands

_AND = frozenset(("logical_and", "bitwise_and"))
_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """What a condition asks of indexes: a tree; and what each side of its `and` asks, for itself."""

    tree: Tree
    sides: tuple[tuple[Node, Tree | None], ...]

    def rest(self, looked_up: Tree) -> list[Node]:
        """Return the sides that have to be computed of rows that were looked up, by a part of the tree."""
        parts = looked_up.parts if isinstance(looked_up, Both) else (looked_up,)
        operands = {part.operand for part in parts if isinstance(part, Term)}
        rest: list[Node] = []
        for node, tree in self.sides:
            is_term = isinstance(tree, Term) and tree.is_whole and tree.operand in operands
            if not (is_term or tree is True or any(tree is part for part in parts)):
                rest.append(node)
        return rest


def terms_of(condition: Node, operands: Operands) -> Terms | None:
    """Return what a condition asks of indexes; None if that is nothing that they answer."""
    order = postorder(condition)
    places = {id(node): at for at, node in enumerate(order)}
    told = _Told(operands, operands.tokens(order), places)
    nodes = [told.node(node) for node in order]
    sides = _sides(condition)
    tree, *parts = condition_trees(nodes, told.operands, [places[id(node)] for node in (condition, *sides)])
    return None if tree is None else Terms(tree, tuple(zip(sides, parts, strict=True)))


def _sides(condition: Node) -> list[Node]:
    """Return what a condition is the `and` of."""
    sides: list[Node] = []
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.function.name in _AND and node.dtype == np.bool_:
            waiting += reversed(node.args)
        else:
            sides.append(node)
    return sides


class _Told:
    """Tells the engine of nodes; `operands`: what it was told that they have, by number."""

    def __init__(self, known: Operands, tokens: dict[int, int | None], places: dict[int, int]) -> None:
        self.operands: list[Operand] = []
        self._numbers: dict[Operand, int] = {}
        self._known = known
        self._tokens = tokens
        self._places = places

    def node(self, node: Node) -> tuple[Any, ...]:
        """Return a node as the engine takes it."""
        role, operand = self._known.role(self._tokens[id(node)])
        is_truth = node.dtype == np.bool_
        if operand is not None and role == "values":
            return "values", self._number(operand), _name(node.dtype)
        if operand is not None and role == "mask" and is_truth:
            return "mask", self._number(operand)
        match node:
            case Constant():
                name = _name(node.dtype)
                return "constant", name, _raw(node.value) if name else b""
            case Cast():
                return "cast", self._places[id(node.arg)], _name(node.dtype)
            case Call():
                args = [self._places[id(arg)] for arg in node.args]
                return "call", node.function.name, args, is_truth
            case Engine():
                told = None if node.asks is None else self._asked(node.asks, node.dtype)
                return ("other", False) if told is None else told
            case _:
                return "other", is_truth

    def _number(self, operand: Operand) -> int:
        number = self._numbers.setdefault(operand, len(self.operands))
        if number == len(self.operands):
            self.operands.append(operand)
        return number

    def _asked(self, asks: Asked, dtype: np.dtype[Any]) -> tuple[Any, ...] | None:
        """Return what is asked of an operand; None for what indexes do not know."""
        if asks.what == "constant":
            return ("known", bool(asks.detail)) if dtype == np.bool_ else None
        role, operand = self._known.of_parts(asks.parts)
        if operand is None:
            return None
        number = self._number(operand)
        if asks.what == "lookup" and role == "codes":
            table, other = asks.detail
            return "lookup", number, _name(table.dtype), _raw(table), _raw(other)
        if asks.what == "among" and role == "values":
            return "among", number, _name(asks.detail.dtype), _raw(asks.detail)
        if role != "text":
            return None
        try:
            if asks.what == "among texts":
                return "among texts", number, [_text(one) for one in asks.detail]
            op, text = asks.detail
            return "matches", number, op, _text(text)
        except UnicodeEncodeError:
            # Halves of characters have no keys.
            return None


def _name(dtype: np.dtype[Any]) -> str:
    """Return a type by NumPy's name; "" for one that keys are not made of."""
    name = type_name(dtype)
    return dtype.name if name is None and dtype.kind in "fmM" else name or ""


def _raw(values: npt.NDArray[Any]) -> bytes:
    """Return items in the machine's byte order; those of half precision in single precision."""
    dtype = values.dtype.newbyteorder("=")
    return values.astype(_SINGLE if dtype == _HALF else dtype).tobytes()


def _text(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


__all__ = ["Terms", "terms_of"]
