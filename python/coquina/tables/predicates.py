"""Nodes that conditions and columns are made of: one value for all rows, truth values, values or NaN.

In: constants, and nodes of values and of bool. Out: nodes of one value for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, call, cast_node
from coquina.expressions.nodes import Engine, Leaf

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.nodes import Node, Region

BOOL, _F8 = np.dtype(np.bool_), np.dtype(np.float64)


def filled(value: Any, count: int) -> Node:
    """Return the same number for each of `count` rows."""
    item: Any = np.asarray(value)[()]
    item = item.astype(item.dtype.newbyteorder("="))
    dtype: np.dtype[Any] = item.dtype
    name = engine.type_name(dtype)
    if name is None:
        source: npt.NDArray[Any] = np.broadcast_to(item, count)
        return Leaf(source)

    def lazy() -> _core.Lazy:
        return _core.lazy_program([("constant", name, item.tobytes())], [], [count])

    def read(region: Region) -> npt.NDArray[Any]:
        items: Any = np.full(region[0].stop - region[0].start, item, dtype)
        return items

    return Engine(str(item), lazy, read, (count,), dtype)


def both(left: Node, right: Node | None) -> Node:
    """Return where both hold."""
    return left if right is None else call(FUNCTIONS["logical_and"], left, right)


def no(node: Node) -> Node:
    """Return where it does not hold."""
    return call(FUNCTIONS["logical_not"], node)


def where_valid(node: Node, nulls: Node | None) -> Node:
    """Return where it holds and no value is missing."""
    return node if nulls is None else both(node, no(nulls))


def with_nan(node: Node, nulls: Node) -> Node:
    """Return values with what stands for those that are missing: NaN, NaT, or False."""
    if node.dtype == BOOL:
        return where_valid(node, nulls)
    node = cast_node(node, _F8) if node.dtype.kind in "iu" else node
    missing = np.array("NaT" if node.dtype.kind in "mM" else np.nan, node.dtype)
    return call(FUNCTIONS["where"], nulls, missing, node)


def plain_text(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return text without missing values, and where they were."""
    if values.dtype.kind == "S":
        values = np.strings.decode(values, "utf-8", "replace")
    if values.dtype.kind == "U":
        # NumPy reads characters of the other byte order as they stand.
        return values.astype(values.dtype.newbyteorder("=")).astype(np.dtypes.StringDType()), np.zeros(
            len(values), BOOL
        )
    items = values.tolist()
    missing = np.fromiter((one is None or one != one for one in items), BOOL, len(items))
    texts = ["" if is_null else str(one) for one, is_null in zip(items, missing, strict=True)]
    return np.array(texts, np.dtypes.StringDType()), missing
