"""How an expression is computed, in words: its tree, and what the engine says of it.

In: a node. Out: text that can be read, and HTML for notebooks. Nothing is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.info import human
from coquina.expressions import engine
from coquina.expressions.grammar import INFIX
from coquina.expressions.nodes import Blockwise, Boxes, Call, Cast, Constant, Leaf, Node
from coquina.expressions.reference import postorder
from coquina.html import facts_html, text_html
from coquina.quoting import quoted_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMULA_MAX = 60  # characters
_LINES_MAX = 200


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `explain` returns; printing it shows all.

    formula: the expression in one line, cut off if it is long. tree: a line for each node. facts: what the
    engine says.
    """

    formula: str
    tree: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        """The tree, and then the facts."""
        facts = [f"{name}: {value}" for name, value in self.facts.items()]
        return quoted_lines("\n".join([self.tree, *facts]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the text as it is, for notebooks."""
        return text_html(self)


def explanation_of(node: Node) -> Explanation:
    """Explain a node."""
    return Explanation(_formula(node), "\n".join(_lines(node)), engine.explain(node))


def _label(node: Node, names: dict[int, str]) -> str:
    match node:
        case Leaf():
            return names[id(node.source)]
        case Constant():
            return _value(node)
        case Cast():
            return f"astype {node.dtype}"
        case Call():
            return node.function.name
        case Blockwise():
            return f"function {node.name} (per block, Python)"
        case Boxes():
            return node.name
        case _:
            return type(node).__name__


def _value(node: Constant) -> str:
    text = str(node.value[()]) if node.dtype.kind != "U" else repr(str(node.value))
    return text if len(text) <= 30 else text[:27] + "..."


def _names(order: list[Node]) -> dict[int, str]:
    """Name the operands: x0, x1, ..."""
    names: dict[int, str] = {}
    for node in order:
        if isinstance(node, Leaf):
            names.setdefault(id(node.source), f"x{len(names)}")
    return names


def _formula(node: Node) -> str:
    """Return the expression in one line. Parts are cut off where they grow long: shared ones grow fast."""
    order = postorder(node, boxes=True)
    names = _names(order)
    texts: dict[int, str] = {}
    for one in order:
        args = [texts[id(arg)] for arg in one.args]
        texts[id(one)] = _cut(_written(one, args, names))
    text = texts[id(node)]
    return text[1:-1] if text.startswith("(") and text.endswith(")") and isinstance(node, Call) else text


def _written(node: Node, args: list[str], names: dict[int, str]) -> str:
    if isinstance(node, Cast):
        return args[0]
    if isinstance(node, Call) and node.function.name in INFIX:
        return f"({args[0]} {INFIX[node.function.name]} {args[1]})"
    if isinstance(node, Call) and node.function.name == "negative":
        return f"-{args[0]}"
    label = node.name if isinstance(node, Blockwise) else _label(node, names)
    return f"{label}({', '.join(args)})" if args else label


def _cut(text: str) -> str:
    return text if len(text) <= _FORMULA_MAX else text[: _FORMULA_MAX - 3] + "..."


def _lines(node: Node) -> Iterator[str]:
    """Yield the lines of the tree. What is used twice is shown once, and referred to by its number."""
    order = postorder(node, boxes=True)
    names = _names(order)
    uses: dict[int, int] = {}
    for one in order:
        for arg in one.args:
            uses[id(arg)] = uses.get(id(arg), 0) + 1
    numbers: dict[int, int] = {}
    waiting: list[tuple[Node, int]] = [(node, 0)]
    count = 0
    while waiting:
        one, depth = waiting.pop()
        count += 1
        if count > _LINES_MAX:
            yield "..."
            return
        indent = "  " * min(depth, 40)
        if id(one) in numbers:
            yield f"{indent}#{numbers[id(one)]} again"
            continue
        mark = ""
        if uses.get(id(one), 0) > 1 and one.args:
            numbers[id(one)] = len(numbers) + 1
            mark = f"#{numbers[id(one)]} "
        yield f"{indent}{mark}{_label(one, names)}{_described(one)}"
        waiting += [(arg, depth + 1) for arg in reversed(one.args)]


def _described(node: Node) -> str:
    if isinstance(node, Constant):
        return f": {node.dtype}"
    text = f": {node.dtype} {node.shape}"
    if isinstance(node, Leaf):
        source: Any = node.source
        where = getattr(source, "path", None)
        chunks = getattr(source, "chunks", None)
        kind = "NumPy array" if isinstance(source, np.ndarray) else type(source).__name__
        text += f", {kind}"
        text += f", chunks {chunks}" if chunks is not None else ""
        text += f", {where!r}" if isinstance(where, str) else ""
    return text


def summary_html(node: Node) -> str:
    """Return a table of facts of an expression."""
    size = int(np.prod(node.shape, dtype=object)) * node.dtype.itemsize
    operands = [one for one in postorder(node, boxes=True) if isinstance(one, Leaf)]
    facts = {
        "expression": _formula(node),
        "shape": str(node.shape),
        "dtype": str(node.dtype),
        "size": f"{human(size)}, when it is computed",
        "operands": str(len({id(one.source) for one in operands})),
    }
    return facts_html(facts.items())
