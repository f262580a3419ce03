"""What a condition asks of indexes: terms, and how they are combined.

In: the node of a condition, and what indexes know the values of. Out: a tree of terms.
A term is all that is asked of one operand: comparisons, values among others, text that begins so, missing
values, and what of these is combined by and, or and not.
Invariant: rows that meet the condition meet the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import KeyRanges, Wanted
from coquina.expressions.functions import cast_items, quietly
from coquina.expressions.nodes import Call, Cast, Constant, Engine
from coquina.expressions.reference import postorder
from coquina.indexes.keys import key_max, keys_of
from coquina.tables.predicates import MIRRORED
from coquina.tables.term_ranges import COMPARISONS, among_texts, compared, text_keys, text_of
from coquina.tables.term_trees import Both, Either, Term, Terms, both, either, negated

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from coquina.expressions.nodes import Asked, Node
    from coquina.tables.index_operands import Operand, Operands
    from coquina.tables.term_trees import Tree

_AND = frozenset(("logical_and", "bitwise_and"))
_OR = frozenset(("logical_or", "bitwise_or"))
_NOT = frozenset(("logical_not", "invert"))
_NOTHING = KeyRanges.of()
_TRUE = Wanted.exactly(KeyRanges.of((1, 1)))
_BOTH_TRUTHS = np.array([False, True])


def terms_of(condition: Node, operands: Operands) -> Terms | None:
    """Return what a condition asks of indexes; None if that is nothing that they answer."""
    order = postorder(condition)
    reader = _Reader(operands, operands.tokens(order))
    for node in order:
        if node.dtype == np.bool_:
            reader.trees[id(node)] = reader.tree(node)
    tree = reader.trees[id(condition)]
    if tree is None:
        return None
    sides: list[tuple[Node, Tree | None]] = []
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        is_and = isinstance(node, Call) and node.function.name in _AND and node.dtype == np.bool_
        if is_and:
            waiting += reversed(node.args)
        else:
            sides.append((node, reader.trees.get(id(node))))
    return Terms(tree, tuple(sides))


class _Reader:
    """Reads the nodes of one condition; `trees`: what was made of those before."""

    def __init__(self, operands: Operands, tokens: dict[int, int | None]) -> None:
        self.operands = operands
        self.tokens = tokens
        self.trees: dict[int, Tree | None] = {}

    def tree(self, node: Node) -> Tree | None:
        """Return what a node of bools asks."""
        role, operand = self.operands.role(self.tokens[id(node)])
        if operand is not None and role == "values":
            return Term(operand, _TRUE)
        if operand is not None and role == "mask":
            return Term(operand, Wanted(_NOTHING, _NOTHING, False, True))
        if isinstance(node, Engine):
            return None if node.asks is None else self._asked(node.asks)
        if isinstance(node, Constant):
            return bool(node.value)
        if not isinstance(node, Call):
            return None
        name, args = node.function.name, node.args
        trees = [self.trees.get(id(arg)) for arg in args]
        if name in _AND:
            return both(trees)
        if name in _OR:
            return either(trees)
        if name in _NOT:
            return negated(trees[0])
        if name in COMPARISONS:
            return self._compared(name, args[0], args[1])
        return self._missing(args[0]) if name in ("isnan", "isnat") else None

    def _compared(self, op: str, left: Node, right: Node) -> Tree | None:
        if isinstance(left, Constant):
            op, left, right = MIRRORED[op], right, left
        if not isinstance(right, Constant):
            return None
        constant = right.value.astype(right.dtype.newbyteorder("="))
        casts: list[np.dtype[Any]] = []
        while True:
            role, operand = self.operands.role(self.tokens[id(left)])
            if operand is not None and role == "values":
                dtype = left.dtype.newbyteorder("=")
                wanted = compared(op, operand.kind, dtype, casts, constant)
                return None if wanted is None else Term(operand, wanted)
            if isinstance(left, Engine):
                return self._compared_codes(op, left.asks, casts, constant)
            if not isinstance(left, Cast):
                return self._compared_truth(op, left, casts, constant)
            casts.insert(0, left.dtype.newbyteorder("="))
            left = left.arg

    def _compared_truth(
        self, op: str, node: Node, casts: list[np.dtype[Any]], constant: npt.NDArray[Any]
    ) -> Tree | None:
        """Return what a comparison of a condition itself with a constant asks: `(x > 5) == True`."""
        if node.dtype != np.bool_:
            return None
        if_false, if_true = _decided(op, _BOTH_TRUTHS, casts, constant).tolist()
        if if_false == if_true:
            return if_true
        tree = self.trees.get(id(node))
        return tree if if_true else negated(tree)

    def _compared_codes(
        self, op: str, asks: Asked | None, casts: list[np.dtype[Any]], constant: npt.NDArray[Any]
    ) -> Tree | None:
        """Return what a comparison of numbers that stand for codes asks."""
        if asks is None or asks.what != "lookup":
            return None
        table, other = asks.detail
        decided = _decided(op, np.append(table, other), casts, constant)
        return self._of_codes(asks, decided[:-1], bool(decided[-1]))

    def _missing(self, node: Node) -> Tree | None:
        """Return what `isnan` and `isnat` ask."""
        while isinstance(node, Cast) and node.dtype.kind == node.arg.dtype.kind == "f":
            node = node.arg
        role, operand = self.operands.role(self.tokens[id(node)])
        if operand is None or role != "values" or node.dtype.kind not in "fmM":
            return None
        return Term(operand, Wanted.exactly(_NOTHING, nan=True))

    def _asked(self, asks: Asked) -> Tree | None:
        if asks.what == "constant":
            return bool(asks.detail)
        if asks.what == "lookup":
            table, other = asks.detail
            return self._of_codes(asks, table, bool(other))
        role, operand = self.operands.of_parts(asks.parts)
        if operand is None:
            return None
        if asks.what == "among" and role == "values":
            return Term(operand, _among(operand, asks.detail))
        if role != "text":
            return None
        if asks.what == "among texts":
            texts = [text_of(one, operand.kind) for one in asks.detail]
            known = [one for one in texts if one is not None]
            return Term(operand, among_texts(known, operand.width)) if len(known) == len(texts) else None
        op, constant = asks.detail
        text = text_of(constant, operand.kind)
        if text is None or not (op in COMPARISONS or op == "startswith"):
            return None
        return Term(operand, text_keys(op, text, operand.width))

    def _of_codes(self, asks: Asked, decided: npt.NDArray[np.bool_], other: bool) -> Tree | None:
        """Return what asks for the codes that are decided so, and for all others if `other`."""
        role, operand = self.operands.of_parts(asks.parts)
        if operand is None or role != "codes":
            return None
        limits = np.iinfo(operand.kind)
        known = min(len(decided), int(limits.max) + 1)
        codes = np.flatnonzero(decided[:known]).astype(operand.kind)
        keys = KeyRanges.points(keys_of(codes, operand.kind)[0])
        if other:
            zero = int(keys_of(np.zeros(1, operand.kind), operand.kind)[0][0])
            keys |= KeyRanges.of((0, zero - 1), (zero + known, key_max(operand.kind)))
        return Term(operand, Wanted.exactly(keys, null=other))


def _decided(
    op: str, values: npt.NDArray[Any], casts: Iterable[np.dtype[Any]], constant: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Return how values compare with a constant, after they were cast."""
    for one in casts:
        values = quietly(cast_items, values, one)
    return quietly(getattr(np, op), values, constant)


def _among(operand: Operand, values: npt.NDArray[Any]) -> Wanted:
    keys, missing = keys_of(values, operand.kind)
    # NaT is a number among those that times are stored as; NaN is equal to nothing.
    nan = operand.kind == "time" and values.dtype.kind == "i" and bool(missing.any())
    return Wanted.exactly(KeyRanges.points(keys[~missing]), nan=nan)


__all__ = ["Both", "Either", "Term", "Terms", "terms_of"]
