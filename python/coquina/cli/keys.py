"""Keys of arrays as text, in NumPy's notation: `[3:5, ::-1]`, `[..., 0]`, `[[1, 4], 2]`, `['name']`.

In: text from the command line. Out: what stands between the brackets, as Python has it. Parsed as a
literal; names and calls are refused, so nothing is run.
"""

from __future__ import annotations

import argparse
import ast
import os
from typing import Any

_LENGTH_MAX = 100_000


def key(text: str) -> Any:
    """Return the key that `text` is, with or without the outer brackets."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]") and _is_one_pair(inner)):
        inner = f"[{inner}]"
    if len(inner) > _LENGTH_MAX:
        raise argparse.ArgumentTypeError(f"a key of {len(inner)} characters: at most {_LENGTH_MAX}")
    if not inner[1:-1].strip():
        return ()
    try:
        tree = ast.parse(f"x{inner}", mode="eval").body
        if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name):
            raise ValueError
        return _built(tree.slice)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a key: {_advice(inner[1:-1].strip())}") from None


def _advice(text: str) -> str:
    """Return what to write instead of a text that is no key."""
    if text.startswith("/"):
        return f"what is in a file is written FILE:{text}"
    if text.isidentifier():
        return f"a column or field needs quotes: \"['{text}']\""
    return "write '[3:5, ::-1]' or '[..., 0]'"


def split(text: str) -> tuple[str, Any]:
    """Return a name without the key in brackets that may follow it, and that key; None for none.

    A file may have brackets in its name: what is there is no key.
    """
    name, bracket, rest = text.partition("[")
    if not name or not bracket or not rest.endswith("]") or os.path.lexists(text):
        return text, None
    return name, key(f"[{rest}")


def _is_one_pair(text: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if not depth:
            return place == len(text) - 1
    return False


def _built(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_built(part) for part in node.elts)
    if isinstance(node, ast.Slice):
        return slice(
            *(None if part is None else _built(part) for part in (node.lower, node.upper, node.step))
        )
    if isinstance(node, ast.Name) and node.id in ("newaxis", "None"):
        return None
    return ast.literal_eval(node)
