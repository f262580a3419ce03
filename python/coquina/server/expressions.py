"""Expressions of arrays of a file, computed here: text is read by coquina's own grammar, and never run.

In: text, and the paths of operands. Out: values of a selection of the result.
Invariant: what an expression costs is counted before it is computed: items of each operator, and bytes of
results. What costs more than the limits is refused; what takes too long is given up.
"""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.views import View
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.nodes import Node
from coquina.expressions.text import Reader
from coquina.server.costs import cost_of, items_computed
from coquina.server.failures import RequestError, bad_request, not_found, too_large
from coquina.server.objects import Found, find, parts_of
from coquina.server.values import cut

if TYPE_CHECKING:
    import ast

    import numpy.typing as npt

    from coquina.server.limits import Limits
    from coquina.server.opened_files import OpenedFile
    from coquina.server.selections import Selected

OPERANDS_MAX = 64
#: Items that are computed before the clock is looked at.
_PART_ITEMS = 1 << 21
_ITEM_BYTES = 16


class Budget:
    """What one request may still cost, in items; and until when."""

    def __init__(self, limits: Limits) -> None:
        """All of the limits."""
        self.left = limits.work
        self.result_bytes = limits.result_bytes
        self._seconds = limits.seconds
        self._until = time.monotonic() + limits.seconds

    def spend(self, items: int) -> None:
        """Count items. Raises RequestError, 413, for too many; 408 for too late."""
        if items > self.left:
            raise too_large(f"the expression computes {items} items, and {self.left} may be")
        self.left -= items
        self.check_time()

    def check_time(self) -> None:
        """Raise RequestError with status 408 if it took too long."""
        if time.monotonic() > self._until:
            raise RequestError(408, "time", f"the expression takes more than {self._seconds:g} seconds")


class BoundedReader(Reader):
    """A reader of text that counts what reductions cost, which are computed as they are read."""

    def __init__(self, text: str, operands: dict[str, Any], budget: Budget) -> None:
        """The reader of a text."""
        super().__init__(text, operands)
        self._budget = budget
        self._values: dict[int, Any] = {}

    def value(self, node: ast.expr, depth: int) -> Any:
        """Return the value of a part, which is made once."""
        if id(node) not in self._values:
            self._values[id(node)] = super().value(node, depth)
        return self._values[id(node)]

    def with_options(self, node: ast.Call, name: str, depth: int) -> Any:
        """Read a function that takes options, if what it computes is not too much."""
        if node.args:
            operand = self.value(node.args[0], depth + 1)
            if isinstance(operand, Node):
                self._budget.spend(cost_of(operand))
                kept = self._kept(node, operand)
                if kept * _ITEM_BYTES > self._budget.result_bytes:
                    raise too_large(f"{name}: a result of {kept} items")
        found = super().with_options(node, name, depth)
        self._budget.check_time()
        return found

    def _kept(self, node: ast.Call, operand: Node) -> int:
        """Return how many items a reduction of this operand has at most."""
        axes = [one.value for one in node.keywords if one.arg == "axis"] or node.args[1:2]
        axis = self.literal(axes[0], 0) if axes else None
        if type(axis) is not int or not -len(operand.shape) <= axis < len(operand.shape):
            return 0 if axis is None else prod(operand.shape)
        return prod(operand.shape) // max(1, operand.shape[axis])


def operands_of(file: OpenedFile, text: str | None) -> dict[str, Any]:
    """Return the operands that a text lists: `name:path,name:path`. Raises RequestError."""
    found: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part:
            continue
        name, colon, path = part.partition(":")
        if not colon or not name.isidentifier():
            raise bad_request(f"operands: {part[:80]!r} is not a NAME:PATH")
        found[name] = _operand(file, path)
        if len(found) > OPERANDS_MAX:
            raise too_large(f"more than {OPERANDS_MAX} operands")
    return found


def _operand(file: OpenedFile, path: str) -> Any:
    """Return an array, an expression, or a column of a table, whose path is below that of the table."""
    *above, name = parts_of(path) or [""]
    if name:
        try:
            table = find(file, "/".join(above))
        except RequestError:
            table = None
        if table is not None and table.kind == "table":
            if name not in table.node.columns:
                raise not_found(f"{path[:80]}: there is no such column")
            return table.node[name]
    node = find(file, path).node
    if not isinstance(node, Array | Expr | View):
        raise bad_request(f"{path[:80] or '/'}: nothing that is computed with")
    return node


def expression(file: OpenedFile, text: str, operands: str | None, budget: Budget) -> Found:
    """Return the expression that a text says. Raises ExpressionError, RequestError."""
    value = BoundedReader(text, operands_of(file, operands), budget).read()
    return Found(file, "/", "expression", Expr(value if isinstance(value, Node) else as_node(value)))


def computed(found: Found, picked: Selected, budget: Budget) -> npt.NDArray[Any]:
    """Return the values of a selection of an expression, within a budget."""
    expr: Expr = found.node
    nbytes = picked.size * expr.dtype.itemsize
    if nbytes > budget.result_bytes:
        raise too_large(
            f"the result takes {nbytes} bytes, and at most {budget.result_bytes} are sent at once"
        )
    budget.spend(items_computed(expr.node, picked))
    out = np.empty(picked.shape, expr.dtype)
    at = 0
    flat = out.reshape(-1)
    for part in cut(picked, _PART_ITEMS):
        values = np.asarray(expr[part.key]).reshape(-1)
        # Parts come in C order, each one box of the rows that are left.
        flat[at : at + values.size] = values
        at += values.size
        budget.check_time()
    return out
