"""The nodes of a text that the engine bound to columns, for those who look at them.

In: what the engine read. Out: a node of it, whose parts are made when they are wanted: to ask indexes, and to
explain.
Invariant: the parts compute what the engine computes. Times are integers in them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS
from coquina.expressions.nodes import BoundCall, Cast, Constant, Node
from coquina.expressions.table import Function
from coquina.tables.elsewhere import source_node
from coquina.tables.predicates import (
    among_items,
    among_numbers,
    among_strings,
    filled,
    looked_up,
    matching_items,
    matching_strings,
)
from coquina.tables.string_columns import StringColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coquina._core import Lazy, ReadText
    from coquina.tables.column import Column

    Place = tuple[int, list[int]]

_INT64, _SINGLE = np.dtype(np.int64), np.dtype(np.float32)
_KERNELS = {function.kernel: function for function in FUNCTIONS.values() if function.kernel}


class TextCall(BoundCall):
    """A call of a text."""

    __slots__ = ("_number", "_parts")

    def __init__(self, parts: BoundParts, number: int, dtype: np.dtype[Any]) -> None:
        """The node of this number."""
        Node.__init__(self, (parts.count,), dtype)
        self._parts = parts
        self._number = number

    def lazy(self) -> Lazy:
        """Return the items."""
        return self._parts.read.lazy(self._number)

    @property
    def function(self) -> Function:  # type: ignore[override]
        """The function."""
        return self._parts.function(self._number)

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return self._parts.args(self._number)


class BoundParts:
    """The nodes of a text, each made when it is wanted.

    columns: those that it was bound to. params: the nodes of parameters with a value for each row, by name.
    """

    def __init__(
        self, read: ReadText, columns: Sequence[Column], params: Mapping[str, Any], count: int
    ) -> None:
        """The nodes of what the engine read for `count` rows."""
        self.read = read
        self.count = count
        self._columns = columns
        self._params = params
        self._made: dict[int, Node] = {}
        self._args: dict[int, tuple[Node, ...]] = {}

    @cached_property
    def _nodes(self) -> list[tuple[Any, ...]]:
        return self.read.nodes()

    @cached_property
    def _inputs(self) -> list[tuple[Lazy, tuple[Any, ...]]]:
        return self.read.inputs()

    def root(self, number: int) -> Node:
        """Return a node that has a value for each row."""
        if self.read.is_call(number):
            return TextCall(self, number, _held(self.read.type_of(number)))
        node = self.node(number)
        return filled(node.value[()], self.count) if isinstance(node, Constant) else node

    def values(self, number: int) -> Node:
        """Return a node that has a value for each row, as its own type: times as times."""
        dtype = np.dtype(self.read.type_of(number))
        node = self.root(number)
        if node.dtype != dtype:
            node = Cast(node, dtype)
            node.lowered = self.read.lazy(number)
        return node

    def function(self, number: int) -> Function:
        """Return what a node calls."""
        name: str = self._nodes[number][1]
        return FUNCTIONS.get(name) or _KERNELS.get(name) or _unnamed(name, len(self._nodes[number][2]))

    def args(self, number: int) -> tuple[Node, ...]:
        """Return what a node is computed of."""
        made = self._args.get(number)
        if made is None:
            made = self._args[number] = self._arguments(*self._nodes[number])
        return made

    def _arguments(self, kind: str, *rest: Any) -> tuple[Node, ...]:
        args, taken = ([rest[0]], rest[1]) if kind == "cast" else (rest[1], rest[2])
        return tuple([self._taken(arg, _held(name)) for arg, name in zip(args, taken, strict=True)])

    def node(self, number: int) -> Node:
        """Return a node."""
        found = self._made.get(number)
        if found is None:
            found = self._made[number] = self._node(number)
        return found

    def _node(self, number: int) -> Node:
        kind, *rest = self._nodes[number]
        dtype = _held(rest[-1])
        match kind:
            case "constant":
                return Constant(_items(rest[0], dtype).reshape(()))
            case "load":
                return self._loaded(rest[0], dtype)
            case "cast":
                (arg,) = self.args(number)
                if isinstance(arg, Constant):
                    return Constant(arg.value.astype(dtype))
                return Cast(arg, dtype)
            case _:
                args = self.args(number)
                if any(arg.shape for arg in args):
                    return TextCall(self, number, dtype)
                values = [arg.value for arg in args if isinstance(arg, Constant)]
                with np.errstate(all="ignore"):
                    return Constant(np.asarray(self.function(number).apply(*values), dtype))

    def _taken(self, number: int, dtype: np.dtype[Any]) -> Node:
        """Return a node as items of a dtype: halves are single to some."""
        node = self.node(number)
        if node.dtype == dtype:
            return node
        return Constant(node.value.astype(dtype)) if isinstance(node, Constant) else Cast(node, dtype)

    def _column(self, place: Place) -> Column:
        number, element = place
        return self._columns[number].element(tuple(element)) if element else self._columns[number]

    def _loaded(self, number: int, dtype: np.dtype[Any]) -> Node:
        """Return what an input is."""
        lazy, (kind, *rest) = self._inputs[number]
        if kind == "parameter":
            node = self._params[rest[0]]
            return Cast(node, _INT64) if node.dtype.kind in "mM" else node
        if kind == "other":
            return source_node(dtype.name, lazy)
        column = self._column(rest[0])
        stored = column.stored[0]
        match kind:
            case "values":
                if column.dtype.kind in "mM":
                    return stored.viewed(_INT64).leaf()
                return stored.leaf() if column.kind == "time" else column.raw()
            case "mask":
                nulls = column.nulls()
                return source_node(dtype.name, lazy) if nulls is None else nulls
            case "lookup":
                items = _held(rest[1])
                return looked_up(stored, _items(rest[2], items), _items(rest[3], items)[0])
            case "among":
                if column.kind == "bits":
                    return column.among(_items(rest[2], dtype).tolist())
                stored = stored.viewed(_INT64) if column.kind == "datetime" else stored
                return among_numbers(stored, _items(rest[2], np.dtype(rest[1])))
            case "among texts":
                if isinstance(column, StringColumn):
                    texts = [text.decode() for text in rest[1]]
                    return among_strings(column.parts, column.rows_of, texts, self.count)
                return among_items(stored, [_constant(text, column) for text in rest[1]])
            case _:
                if isinstance(column, StringColumn):
                    return matching_strings(
                        column.parts, column.rows_of, rest[1], rest[2].decode(), self.count
                    )
                return matching_items(stored, rest[1], _constant(rest[2], column))


def _held(name: str | None) -> np.dtype[Any]:
    """Return what a type is computed as: times are integers."""
    dtype = np.dtype(name)
    return _INT64 if dtype.kind in "mM" else dtype


def _items(raw: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return items as the engine has them: those of half precision are single."""
    return np.frombuffer(raw, _SINGLE if dtype == np.float16 else dtype).astype(dtype)


def _constant(text: bytes, column: Column) -> Any:
    return text if column.dtype.kind == "S" else text.decode()


def _unnamed(name: str, arity: int) -> Function:
    """Return a function that only the engine has."""

    def apply(*_: Any) -> Any:
        raise TypeError(f"{name} is computed by the engine")

    return Function(
        name, apply, name, arity, lambda types: (*map(np.dtype, types), engine.native(np.dtype("f8")))
    )


__all__ = ["BoundParts", "TextCall"]
