"""The text of saved expressions: that of `expr`, with what python-blosc2 makes of it.

In: the text of a file, hostile for all we know, and operands. Out: a node.
Source: docs/formats/blosc2-stores.md, "Saved expressions".
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from coquina.expressions.functions import as_node, cast_node
from coquina.expressions.text import Reader


class SavedReader(Reader):
    """Reads what python-blosc2 makes of a text that it saves: `x[1:3]` is `x.slice((slice(1, 3, None),))`.

    A cast is part of the expression, however small the items are together.
    """

    def function(self, node: ast.Call, depth: int) -> Any:
        """Read `f(x, y)`."""
        match node:
            case ast.Call(
                func=ast.Name(id="astype"), args=[value, ast.Constant(value=str(name))], keywords=[]
            ):
                try:
                    return cast_node(as_node(self.value(value, depth + 1)), np.dtype(name))
                except TypeError as error:
                    raise self.noted(node, error) from None
            case ast.Call(func=ast.Attribute(value=value, attr="slice"), args=[ast.Tuple(elts=parts)]):
                keys: list[ast.expr] = [_slice_of(part) for part in parts]
                key = ast.copy_location(ast.Tuple(keys, ast.Load()), node)
                return self.part(ast.copy_location(ast.Subscript(value, key, ast.Load()), node), depth)
            case _:
                return super().function(node, depth)


def _slice_of(node: ast.expr) -> ast.expr:
    """Return what stands in brackets for `slice(a, b, c)`."""
    match node:
        case ast.Call(func=ast.Name(id="slice"), args=[lower, upper, step], keywords=[]):
            return ast.copy_location(ast.Slice(*[_none_of(end) for end in (lower, upper, step)]), node)
        case _:
            return node


def _none_of(node: ast.expr) -> ast.expr | None:
    return None if isinstance(node, ast.Constant) and node.value is None else node
