"""Conditions that are no arithmetic: text that matches, values among others, codes looked up.

In: parts of columns and constants. Out: nodes of booleans, one for each row. The engine has its own sources
for them; beside each stands the same in plain NumPy.
Invariant: rows without a value are the business of the caller, but for codes.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.casting import is_masked, mask_of
from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, call
from coquina.expressions.nodes import Boxes, Engine, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node, Region
    from coquina.tables.stored import Stored

    Strings = Callable[[slice], npt.NDArray[Any]]

BOOL = np.dtype(np.bool_)
#: Comparisons, by the names that NumPy has for them, and what each is with its operands swapped.
MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
SIGNS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">"} | {
    "greater_equal": ">="
}
_POINTS = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
MATCHES = ("startswith", "endswith", "contains")


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


def either(left: Node, right: Node) -> Node:
    """Return where any of both holds."""
    return call(FUNCTIONS["logical_or"], left, right)


def no(node: Node) -> Node:
    """Return where it does not hold."""
    return call(FUNCTIONS["logical_not"], node)


def where_valid(node: Node, nulls: Node | None) -> Node:
    """Return where it holds and no value is missing."""
    return node if nulls is None else both(node, no(nulls))


def looked_up(codes: Stored, table: npt.NDArray[Any], missing: Any) -> Node:
    """Return `table[code]` for each code, and `missing` for a code that is no place in the table."""
    table = np.ascontiguousarray(table)
    other = np.asarray(missing, table.dtype)
    type_name = str(engine.type_name(codes.dtype))

    def lazy() -> _core.Lazy:
        return _core.lazy_lookup(
            codes.lazy(), type_name, table.tobytes(), table.dtype.itemsize, other.tobytes()
        )

    def read(region: Region) -> npt.NDArray[Any]:
        found = codes[region[0]]
        is_in = (found >= 0) & (found < len(table))
        out = np.full(len(found), other)
        out[is_in] = table[found[is_in]]
        return out

    return Engine("lookup", lazy, read, codes.shape, table.dtype, (codes.leaf(),))


def among_numbers(stored: Stored, values: npt.NDArray[Any]) -> Node:
    """Return where a number is one of `values`, which have its dtype in the machine's byte order."""
    values = np.ascontiguousarray(values, stored.dtype_out)
    type_name = engine.type_name(stored.dtype)

    def lazy() -> _core.Lazy:
        return _core.lazy_isin(stored.lazy(), str(type_name), values.tobytes())

    def read(region: Region) -> npt.NDArray[Any]:
        return np.isin(stored[region[0]], values)

    args = (stored.leaf(),)
    if type_name is None or stored.dtype.kind == "c":
        return Boxes("isin", read, stored.shape, BOOL, args=args)
    return Engine("isin", lazy, read, stored.shape, BOOL, args)


def matching_items(stored: Stored, op: str, constant: Any) -> Node:
    """Return where strings of fixed width, `S` or `U`, compare so, or match. constant: of the same kind."""
    kind = stored.dtype.kind
    wanted = np.array(constant, kind)
    raw = _raw(constant)

    def lazy() -> _core.Lazy:
        return _core.lazy_match(stored.lazy(), kind, op, raw)

    def read(region: Region) -> npt.NDArray[Any]:
        return _matched(op, stored[region[0]], wanted)

    return Engine(f"{op} {constant!r}", lazy, read, stored.shape, BOOL, (stored.leaf(),))


def among_items(stored: Stored, constants: Sequence[Any]) -> Node:
    """Return where a string of fixed width is one of these, which are of the same kind."""
    kind = stored.dtype.kind

    def lazy() -> _core.Lazy:
        return _core.lazy_isin_bytes(stored.lazy(), kind, [_raw(one) for one in constants])

    def read(region: Region) -> npt.NDArray[Any]:
        items = stored[region[0]]
        return np.isin(items, np.array(list(constants), kind)) if constants else np.zeros(len(items), BOOL)

    return Engine(f"isin {len(constants)} texts", lazy, read, stored.shape, BOOL, (stored.leaf(),))


def _raw(text: str | bytes) -> bytes:
    """Return text as items of fixed width are stored, without the zeros behind it, which do not count."""
    if isinstance(text, bytes):
        return text.rstrip(b"\0")
    return text.rstrip("\0").encode(_POINTS, "surrogatepass")


def matching_strings(
    parts: tuple[Stored, Stored], read_rows: Strings, op: str, constant: str, count: int
) -> Node:
    """Return where strings of any length compare so, or match. parts: offsets and bytes of text."""
    offsets, data = parts

    def lazy() -> _core.Lazy:
        return _core.lazy_match_strings(offsets.lazy(), data.lazy(), op, constant.encode())

    def read(region: Region) -> npt.NDArray[Any]:
        return _matched(op, read_rows(region[0]), np.array(constant, np.dtypes.StringDType()))

    return Engine(f"{op} {constant!r}", lazy, read, (count,), BOOL)


def among_strings(
    parts: tuple[Stored, Stored], read_rows: Strings, constants: Sequence[str], count: int
) -> Node:
    """Return where a string of any length is one of these."""
    offsets, data = parts

    def lazy() -> _core.Lazy:
        return _core.lazy_isin_strings(offsets.lazy(), data.lazy(), list(constants))

    def read(region: Region) -> npt.NDArray[Any]:
        found = read_rows(region[0])
        among = set(constants)
        return np.fromiter((one in among for one in found.tolist()), BOOL, len(found))

    return Engine(f"isin {len(constants)} texts", lazy, read, (count,), BOOL)


def by_values(
    name: str, apply: Callable[..., Any], reads: Sequence[Strings], count: int, args: tuple[Node, ...] = ()
) -> Node:
    """Return a condition that NumPy computes of the values of rows: `apply` of what each of `reads` gives."""

    def read(region: Region) -> npt.NDArray[Any]:
        return np.asarray(apply(*[one(region[0]) for one in reads]), BOOL)

    return Boxes(name, read, (count,), BOOL, args=args)


def read_rows(node: Node, rows: slice) -> npt.NDArray[Any]:
    """Return the values of a node for rows."""
    return engine.read(node, (rows,), 1)


def compared_values(op: str, left: Strings, right: Strings, count: int) -> Node:
    """Return where values of rows compare so, by NumPy; missing ones, masked or None, never do."""
    return by_values(f"{op} of text", partial(_compared, op), (left, right), count)


def _compared(op: str, left: Any, right: Any) -> npt.NDArray[Any]:
    nulls = np.zeros(len(left), BOOL)
    given: list[Any] = []
    for values in (left, right):
        if is_masked(values):
            nulls |= mask_of(values)
            values = values.data
        if values.dtype.kind in "SUTO":
            values, missing = plain_text(values)
            nulls |= missing
        given.append(values)
    return getattr(np, op)(*given) & ~nulls


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


def _matched(op: str, items: Any, constant: Any) -> npt.NDArray[Any]:
    if op not in MATCHES:
        return getattr(np, op)(items, constant)
    if op == "contains":
        return np.asarray(np.strings.find(items, constant) >= 0)
    return np.asarray(getattr(np.strings, op)(items, constant))
