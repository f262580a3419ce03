"""Functions that the engine has no kernels for, computed by NumPy for conditions: letters, halves, times.

In: the name of a function, numbers and text of Python's, and sources of the engine with their types. Out: a
source and its type, which for text is "U" and its width. Items of half precision are single in the engine.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.methods import namespace
from coquina.expressions import engine
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.expressions.nodes import Constant, Engine, Node
from coquina.tables.predicates import filled

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina._core import Lazy
    from coquina.expressions.nodes import Region

_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def computed(name: str, operands: list[Any]) -> tuple[str, Lazy]:
    """Return what a function gives for each row. Raises what NumPy raises."""
    nodes: list[Any] = [_operand(one) for one in operands]
    (count,) = next(node.shape for node in nodes if isinstance(node, Node))
    node = call(FUNCTIONS[name], *nodes) if name in FUNCTIONS else _reduced(name, *nodes)
    if isinstance(node, Constant):
        node = filled(node.value[()], count)
    dtype = node.dtype.newbyteorder("=")
    if dtype.kind == "U":
        return f"U{dtype.itemsize // 4}", engine.lower(node)
    return dtype.name, engine.lower(cast_node(node, _SINGLE) if dtype == _HALF else node)


def _operand(given: Any) -> Any:
    if not isinstance(given, tuple):
        return given
    type_name, lazy = cast("tuple[str, Lazy]", given)
    return source_node(type_name, lazy)


def source_node(type_name: str, lazy: Lazy, name: str = "values") -> Node:
    """Return a source of the engine as a node, which `explain` calls so."""
    dtype = np.dtype(type_name)
    held = _SINGLE if dtype == _HALF else dtype
    node = Engine(name, lambda: lazy, partial(_read, lazy, held), tuple(lazy.shape), held)
    return cast_node(node, dtype) if held != dtype else node


def _reduced(name: str, node: Node, correction: float | None = None) -> Node:
    """Return what a function of all rows gives."""
    options = {} if correction is None else {"correction": correction}
    return as_node(getattr(namespace(), name)(Expr(node), **options))


def _read(lazy: Lazy, dtype: np.dtype[Any], region: Region) -> npt.NDArray[Any]:
    out: npt.NDArray[Any] = np.empty([axis.stop - axis.start for axis in region], dtype)
    if out.size:
        lazy.read([axis.start for axis in region], list(out.shape), out, 1)
    return out


__all__ = ["computed", "source_node"]
