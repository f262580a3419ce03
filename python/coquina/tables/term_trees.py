"""Trees of what is asked of indexes: terms, joined by and and or.

In: what is asked of single operands. Out: trees, combined and negated.
Invariant: rows that meet a condition meet its tree. What is not understood is `None`: of an `and` the other
    sides stay, an `or` with it is not understood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coquina.tables.index_operands import Operand

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coquina._core import Wanted
    from coquina.expressions.nodes import Node


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """What is asked of one operand."""

    operand: Operand
    wanted: Wanted

    @property
    def missing(self) -> bool | None:
        """Whether rows without a key meet it; None: some may."""
        operand = self.operand
        return self.wanted.missing(can_be_nan=operand.can_be_nan, can_be_null=operand.can_be_null)

    @property
    def is_whole(self) -> bool:
        """Whether it is told by keys alone which rows meet it."""
        return self.missing is not None and self.wanted.is_sharp


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """What meets all of the parts; `is_whole`: there are no others, that were not understood."""

    parts: tuple[Tree, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """What meets any of the parts."""

    parts: tuple[Tree, ...]


Tree = Term | Both | Either | bool


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


def both(trees: Sequence[Tree | None]) -> Tree | None:
    """Return what meets all of these."""
    parts: list[Tree] = []
    is_whole = True
    for tree in trees:
        if tree is False:
            return False
        if isinstance(tree, Both):
            parts += tree.parts
            is_whole &= tree.is_whole
        elif tree is None:
            is_whole = False
        elif tree is not True:
            parts.append(tree)
    if not parts:
        return True if is_whole else None
    merged = _merged(parts, is_and=True)
    return merged[0] if len(merged) == 1 and is_whole else Both(tuple(merged), is_whole)


def either(trees: Sequence[Tree | None]) -> Tree | None:
    """Return what meets any of these."""
    parts: list[Tree] = []
    for tree in trees:
        if tree is True or tree is None:
            return tree
        if isinstance(tree, Either):
            parts += tree.parts
        elif tree is not False:
            parts.append(tree)
    if not parts:
        return False
    merged = _merged(parts, is_and=False)
    return merged[0] if len(merged) == 1 else Either(tuple(merged))


def _merged(parts: Iterable[Tree], *, is_and: bool) -> list[Tree]:
    """Return parts of which those of one operand are one term."""
    terms: dict[Operand, Wanted] = {}
    others: list[Tree] = []
    for part in parts:
        if not isinstance(part, Term):
            others.append(part)
            continue
        known = terms.get(part.operand)
        if known is not None:
            terms[part.operand] = known & part.wanted if is_and else known | part.wanted
        else:
            terms[part.operand] = part.wanted
    return [*[Term(operand, wanted) for operand, wanted in terms.items()], *others]


def negated(tree: Tree | None) -> Tree | None:
    """Return what does not meet this."""
    match tree:
        case None:
            return None
        case bool():
            return not tree
        case Term():
            return Term(tree.operand, ~tree.wanted)
        case Both():
            return either([negated(part) for part in tree.parts]) if tree.is_whole else None
        case Either():
            return both([negated(part) for part in tree.parts])
