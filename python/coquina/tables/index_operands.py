"""What indexes know the values of, found again in the trees of conditions.

In: columns and their indexes; nodes. Out: which parts of a tree are the values, codes, text or masks that an
    index was made of.
Invariant: parts are the same if they compute the same of what is stored in the same places, whichever objects
    they are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.fields import FieldSource
from coquina.arrays.views import View
from coquina.expressions.nodes import Call, Cast, Constant, Leaf
from coquina.expressions.reference import postorder
from coquina.tables.category_columns import CategoricalColumn
from coquina.tables.conditions import TextReader
from coquina.tables.null_columns import NullableColumn
from coquina.tables.string_columns import StringColumn
from coquina.tables.time_columns import DatetimeColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coquina.expressions.nodes import Node
    from coquina.indexes.index import Index
    from coquina.tables.columns import Column

    Role = Literal["values", "codes", "text", "mask"]

#: Kinds of indexes, the most useful first.
_KINDS = ("full", "pytables", "partial", "light", "zones")


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """What an index was made of.

    kind: of the keys. width: bytes of a text at most, 0 for any number. can_be_nan: whether a value can be
    NaN or NaT. can_be_null: whether a row can be without a value.
    """

    name: str
    index: Index
    kind: str
    width: int
    can_be_nan: bool
    can_be_null: bool


class Operands:
    """The operands of all indexes of a table, by what a condition has in their place."""

    def __init__(self, indexes: Mapping[str, Index], columns: Mapping[str, Column]) -> None:
        """The operands of these indexes, of those for one column the most useful."""
        self._tokens: dict[tuple[Any, ...], int] = {}
        self._roles: dict[int, tuple[Role, Operand]] = {}
        self._held: list[object] = []
        for index in sorted(indexes.values(), key=lambda one: _rank(one.kind)):
            self._add(index, columns)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._roles)

    def _add(self, index: Index, columns: Mapping[str, Column]) -> None:
        kind, column = index.source.kind, columns.get(index.column)
        if column is None and not index.source.is_expression:
            # One of the values that a column has in each row.
            column = TextReader(columns).column(index.column)
        text = column.dtype if column is not None and column.dtype.kind in "SU" else None
        # Of "U" too: a character of 4 bytes takes no more than these in UTF-8.
        width = 0 if text is None else text.itemsize
        nulls = column.nulls() if isinstance(column, NullableColumn | StringColumn) else None
        is_null = nulls is not None or isinstance(column, CategoricalColumn)
        operand = Operand(index.name, index, kind, width, kind in ("float32", "float64", "time"), is_null)
        if column is None:
            node = TextReader(columns).expression(index.column)
            self._know(node, "values", operand)
            if isinstance(node, Cast) and node.dtype.kind in "mM":
                # Conditions have integers in place of times.
                self._know(node.arg, "values", operand)
        elif isinstance(column, CategoricalColumn):
            self._know(column.stored[0].leaf(), "codes", operand)
        elif isinstance(column, StringColumn):
            self._put(self._text_key(column.stored[:2], is_new=True), "text", operand)
        elif text is not None:
            self._know(column.node(), "text", operand)
        elif isinstance(column, DatetimeColumn):
            self._know(column.node(), "values", operand)
            self._know(column.stored[0].viewed(np.int64).leaf(), "values", operand)
        else:
            self._know(column.raw(), "values", operand)
        if nulls is not None:
            self._know(nulls, "mask", operand)

    def _know(self, node: Node, role: Role, operand: Operand) -> None:
        self._held.append(node)
        self._put(self.tokens(postorder(node), is_new=True)[id(node)], role, operand)

    def _put(self, token: int | None, role: Role, operand: Operand) -> None:
        if token is not None:
            self._roles.setdefault(token, (role, operand))

    def role(self, token: int | None) -> tuple[Role, Operand] | tuple[None, None]:
        """Return what an index knows of a part of a condition."""
        return (None, None) if token is None else self._roles.get(token, (None, None))

    def of_parts(self, parts: Sequence[FieldSource]) -> tuple[Role, Operand] | tuple[None, None]:
        """Return what an index knows of stored parts."""
        if len(parts) > 1:
            return self.role(self._text_key(parts))
        return self.role(self._token(_place(parts[0], parts[0].dtype), is_new=False))

    def _text_key(self, parts: Sequence[FieldSource], *, is_new: bool = False) -> int | None:
        if is_new:
            self._held += parts
        return self._token(("text", *[_place(one, one.dtype) for one in parts]), is_new)

    def tokens(self, order: Iterable[Node], *, is_new: bool = False) -> dict[int, int | None]:
        """Return for each node, by its id, the number of what it computes; None if no index knows of it.

        order: nodes after what they are computed of. is_new: unknown ones get numbers.
        """
        found: dict[int, int | None] = {}
        for node in order:
            found[id(node)] = self._token_of(node, found, is_new)
        return found

    def _token_of(self, node: Node, found: dict[int, int | None], is_new: bool) -> int | None:
        match node:
            case Leaf():
                return self._token(_place(node.source, node.dtype), is_new)
            case Constant():
                return self._token(("constant", node.dtype.str, node.value.tobytes()), is_new)
            case Cast():
                below = found[id(node.arg)]
                if below is None or node.dtype == node.arg.dtype.newbyteorder("="):
                    return below
                return self._token(("cast", node.dtype.str, below), is_new)
            case Call():
                args = [found[id(arg)] for arg in node.args]
                return None if None in args else self._token(("call", node.function.name, *args), is_new)
            case _:
                return self._token(("node", id(node)), is_new)

    def _token(self, key: tuple[Any, ...], is_new: bool) -> int | None:
        return self._tokens.setdefault(key, len(self._tokens)) if is_new else self._tokens.get(key)


def _place(source: Any, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Return where values are stored: which bytes of the items of which array, and as what."""
    if isinstance(source, View):
        source = source.whole or source
    if isinstance(source, FieldSource):
        array, offset = source.place
        return "place", id(array), offset, dtype.str
    return "place", id(source), 0, dtype.str if isinstance(source, Array) else ""


def _rank(kind: str) -> int:
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
