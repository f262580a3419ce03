"""What stands for values while a condition is read: columns, nodes, nodes that can be missing, constants.

In: columns and parameters. Out: operands of functions of items, and of comparisons.
Invariant: a comparison is false where an operand is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_array, is_listed, is_of_pandas
from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, as_node, call
from coquina.expressions.nodes import Boxes, Constant, Node
from coquina.expressions.table import Function
from coquina.tables.column import Column
from coquina.tables.column_arrays import operand_of
from coquina.tables.listed_values import types_in
from coquina.tables.number_columns import representable
from coquina.tables.predicates import BOOL, MIRRORED, either, filled, where_valid
from coquina.tables.time_columns import instant_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Region

    Values = list[Any] | npt.NDArray[Any]

#: Values that are equal to an expression are asked for one by one if there are no more than this.
_EQUALS_MAX = 16


BITWISE = {
    FUNCTIONS["bitwise_and"]: "&",
    FUNCTIONS["bitwise_or"]: "|",
    FUNCTIONS["bitwise_xor"]: "^",
    FUNCTIONS["invert"]: "~",
}
LOGICAL = {FUNCTIONS["logical_and"]: "and", FUNCTIONS["logical_or"]: "or", FUNCTIONS["logical_not"]: "not"}


def _complex(real: Any, imag: Any) -> Any:
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.complex128)
    out.real, out.imag = real, imag
    return out


_F8, _C16 = np.dtype(np.float64), np.dtype(np.complex128)
#: numexpr's function, which NumPy has no name for.
COMPLEX = Function("complex", _complex, None, 2, lambda types: (_F8, _F8, _C16))


@dataclass(frozen=True, slots=True)
class Masked:
    """Values for each row, and where there is none."""

    node: Node
    nulls: Node


def lowered(value: Any) -> Any:
    """Return a column as a node, `Masked` if its values can be missing; anything else as it is."""
    if not isinstance(value, Column):
        return value
    value.check_scalar()
    nulls = value.nulls()
    return value.raw() if nulls is None else Masked(value.raw(), nulls)


def as_truth(value: Any) -> Any:
    """Return truth values that can be missing as plain ones: false where they are."""
    if isinstance(value, Masked) and value.node.dtype == BOOL:
        return where_valid(value.node, value.nulls)
    return value


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the dtype of an operand."""
    if isinstance(value, Masked):
        return value.node.dtype
    return value.dtype if isinstance(value, Node) else np.asarray(value).dtype


def parameter(value: Any, name: str, count: int) -> Any:
    """Return what a parameter is as an operand. Raises TypeError and ValueError for what cannot be one."""
    if is_of_pandas(value):
        value = value.to_numpy()
    if is_listed(value):
        raise TypeError(f"{name!r} is a {type(value).__name__}, which stands behind 'in' only")
    value = operand_of(value)
    if isinstance(value, Column) or type(value) in (bool, int, float, complex, str, bytes):
        return value
    if isinstance(value, np.str_ | np.bytes_ | np.bool_):
        return cast("Any", value).item()
    if isinstance(value, datetime):
        return np.datetime64(value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value, "us")
    if isinstance(value, date):
        return np.datetime64(value, "D")
    if isinstance(value, timedelta):
        return np.timedelta64(value, "us")
    if is_array(value) and value.dtype.kind in "OT" and value.ndim:
        value = np.array(value.tolist())
    node = as_node(value)
    if node.shape not in ((), (count,)):
        raise ValueError(f"{name!r} has shape {node.shape}: one value, or one for each of {count} rows")
    return node.value[()] if isinstance(node, Constant) else node


def values_of(value: Any) -> Values | None:
    """Return the values of a list or the like, that stands behind `in`; None for anything else.

    Numbers and times of an array stay in it.
    """
    if is_listed(value):
        return list(value)
    if is_of_pandas(value):
        value = value.to_numpy()
    if is_array(value) and value.ndim == 1:
        return value if value.dtype.kind in "biufcmM" else value.tolist()
    return None


def compared(op: str, left: Any, right: Any) -> Node:
    """Return where operands compare so, of which one at least is a column or a node."""
    if not isinstance(left, Column) and isinstance(right, Column):
        return compared(MIRRORED[op], right, left)
    if isinstance(left, Column):
        if isinstance(right, Masked):
            return where_valid(left.compared(op, right.node), right.nulls)
        return left.compared(op, right)
    nulls: list[Node] = []
    nodes: list[Any] = []
    for value in (left, right):
        nulls += [value.nulls] if isinstance(value, Masked) else []
        nodes.append(value.node if isinstance(value, Masked) else value)
    node = call(FUNCTIONS[op], *fitted(nodes))
    for mask in nulls:
        node = where_valid(node, mask)
    return node


def fitted(operands: Sequence[Any]) -> list[Any]:
    """Return operands with constant text as what is beside it: dates, bytes, or characters."""
    kinds = {one.dtype.kind for one in operands if isinstance(one, Node)}
    return [_fitted(one, kinds) for one in operands]


def _fitted(value: Any, kinds: set[str]) -> Any:
    if isinstance(value, str) and "M" in kinds:
        return instant_of(value)
    if isinstance(value, str) and "S" in kinds and "U" not in kinds:
        return value.encode()
    return value.decode() if isinstance(value, bytes) and "U" in kinds and "S" not in kinds else value


def is_missing(value: Any, count: int) -> Node:
    """Return where an operand has no value."""
    if isinstance(value, Column):
        return value.is_null()
    nulls = value.nulls if isinstance(value, Masked) else None
    node = value.node if isinstance(value, Masked) else value
    if isinstance(node, Node) and node.dtype.kind in "fcmM":
        asked = call(FUNCTIONS["isnat" if node.dtype.kind in "mM" else "isnan"], node)
        node = asked if nulls is None else either(asked, nulls)
        return node if node.shape else filled(bool(getattr(node, "value", False)), count)
    return filled(False, count) if nulls is None else nulls


def among(value: Any, values: Values, count: int) -> Node:
    """Return where an operand is one of some values: constants, columns, nodes, None for what is missing."""
    plain: Values = values
    others: list[Any] = []
    if any(issubclass(one, (type(None), Column, Node, Masked)) for one in types_in(values)):
        others = [one for one in values if one is None or isinstance(one, Column | Node | Masked)]
        plain = [one for one in values if one is not None and not isinstance(one, Column | Node | Masked)]
    if isinstance(value, Column):
        value.check_scalar()
        node = value.among(plain)
    elif len(plain) <= _EQUALS_MAX:
        node = filled(False, count)
        for one in list(plain):
            node = either(node, compared("equal", value, one))
    else:
        node = _among_many(value, plain)
    for one in others:
        node = either(node, is_missing(value, count) if one is None else compared("equal", value, one))
    return node


def _among_many(value: Any, values: Values) -> Node:
    inner = value.node if isinstance(value, Masked) else value
    # NumPy would compare integers of two types, or those of a list, as float64.
    is_real = inner.dtype.kind in "biuf"
    wanted = representable(values, inner.dtype, _refused) if is_real else np.asarray(values)
    read = partial(_isin, inner, wanted)
    node = Boxes(f"isin {len(values)} values", read, inner.shape, BOOL, args=(inner,))
    return where_valid(node, value.nulls) if isinstance(value, Masked) else node


def _refused(op: str, value: Any) -> TypeError:
    return TypeError(f"numbers are not compared by {op} with {value}")


def _isin(node: Node, values: npt.NDArray[Any], region: Region) -> npt.NDArray[Any]:
    return np.isin(engine.read(node, region, 1), values)


def check_truths(function: Function, operands: list[Any]) -> None:
    """Raise TypeError for operands of `&` and `and` that are no conditions."""
    sign = LOGICAL.get(function) or BITWISE[function]
    for one in operands:
        dtype = dtype_of(one)
        if dtype.kind == "b" or (function in BITWISE and dtype.kind in "iu"):
            continue
        what = "conditions" if function in LOGICAL else "conditions or integers"
        raise TypeError(
            f"{sign} takes {what}, not {dtype}; comparisons stand in brackets: (x > 1) {sign} (y < 2)"
            if sign not in ("~", "not")
            else f"{sign} takes {what}, not {dtype}"
        )
