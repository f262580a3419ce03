"""`table["name"]`: a column as an array.

In: a column. Out: numbers are the array, or the view of a field, that they are stored in; others have keys,
    `==` and its like, and what is asked of values (`isin`, `is_null`, `startswith`).
Invariant: keys give NumPy's values; comparisons and questions give expressions of bool for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_listed, is_masked, mask_of
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call
from coquina.expressions.nodes import Constant, Node
from coquina.foreign_attributes import COLUMNS, no_attribute
from coquina.tables.predicates import no

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from coquina.tables.column import Column

_ROWS = 1 << 16  # read at a time by iteration


def array_of(column: Column) -> Any:
    """Return the array of a column."""
    if column.kind == "number" and not column.shape and not column.text_kind:
        return column.stored[0].source()
    if column.kind in ("bits", "time") and not column.shape:
        return ComputedColumn(column)
    return ColumnArray(column)


class _Questions:
    """What is asked of the values of a column."""

    __slots__ = ()
    _column: Column

    @property
    def column(self) -> Column:
        """The column that this is."""
        return self._column

    def isin(self, values: Iterable[Any]) -> Expr:
        """Return where the value is one of these."""
        return Expr(self._column.among(values))

    def is_null(self) -> Expr:
        """Return where there is no value, NaN or NaT."""
        return Expr(self._column.is_null())

    def not_null(self) -> Expr:
        """Return where there is a value."""
        return Expr(no(self._column.is_null()))

    def isnull(self) -> Expr:
        """Return where there is no value: pandas' name of `is_null`."""
        return self.is_null()

    def startswith(self, text: str) -> Expr:
        """Return where text starts with another."""
        return Expr(self._column.matching("startswith", text))

    def endswith(self, text: str) -> Expr:
        """Return where text ends with another."""
        return Expr(self._column.matching("endswith", text))

    def contains(self, text: str) -> Expr:
        """Return where text contains another."""
        return Expr(self._column.matching("contains", text))


class ComputedColumn(_Questions, Expr):
    """Truth values and seconds, computed of what is stored: an expression that can be assigned to."""

    __slots__ = ("_column",)

    def __init__(self, column: Column) -> None:
        """The array of a column that has a node."""
        super().__init__(column.node())
        self._column = column

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to rows."""
        assign(self._column, key, value)


class ColumnArray(_Questions):
    """A column of values that are no plain numbers. It has one axis, its rows, and axes of a row's value."""

    __slots__ = ("__weakref__", "_column")
    __array_ufunc__ = None  # NumPy's arrays leave operators to us
    __hash__ = object.__hash__

    def __init__(self, column: Column) -> None:
        """The array of a column."""
        self._column = column

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, which names what to write for pandas' and Polars' names."""
            raise AttributeError(no_attribute("the column", name, COLUMNS), name=name, obj=self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self._column.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and the axes of a row's value."""
        return (len(self._column), *self._column.shape)

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many values."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def node(self) -> Node:
        """The values as an operand of expressions. Raises TypeError for text of any length."""
        return self._column.node()

    @property
    def array_operand(self) -> Any:
        """What functions of arrays read: of numbers and times that can be missing `node`, else the values."""
        is_masked = self._column.is_nullable and not self._column.text_kind
        return Expr(self.node) if is_masked and not self._column.shape else self

    def __len__(self) -> int:
        """Return how many rows."""
        return len(self._column)

    def __getitem__(self, key: Any) -> Any:
        """Return the values of rows, by any key that NumPy takes."""
        keys = _keys(key)
        rows, rest = (keys[0], keys[1:]) if keys else (Ellipsis, ())
        if rows is Ellipsis:
            rows, rest = slice(None), keys
        if rows is None:
            return self._column.read(slice(None))[key]
        if isinstance(rows, int | np.integer) and type(cast("Any", rows)) is not bool:
            at = _row(int(cast("Any", rows)), len(self))
            return self._column.read(slice(at, at + 1))[(0, *rest)]
        if is_listed(rows) and not rows:
            rows = np.empty(0, np.int64)
        values = self._column.read(rows if isinstance(rows, slice) else np.asarray(rows))
        return values[(slice(None), *rest)] if rest else values

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to rows."""
        assign(self._column, key, value)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all values. Raises ValueError for `copy=False`, or if one is missing and not text."""
        if copy is False:
            raise ValueError("copy=False: the values are decoded into new memory")
        values = self._column.read(slice(None))
        if is_masked(values):
            if mask_of(values).any():
                raise ValueError(
                    f"{self._column.described()}: values are missing; [...] gives a masked array"
                )
            values = np.asarray(values.data)
        return values if dtype is None else values.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows; some are read at a time."""
        for start in range(0, len(self), _ROWS):
            yield from self[start : start + _ROWS]

    def __eq__(self, other: Any, /) -> Any:
        """Return where values equal `other`."""
        return self._compared("equal", other)

    def __ne__(self, other: Any, /) -> Any:
        """Return where there are values that differ from `other`."""
        return self._compared("not_equal", other)

    def __lt__(self, other: Any, /) -> Any:
        """Return where values are less than `other`."""
        return self._compared("less", other)

    def __le__(self, other: Any, /) -> Any:
        """Return where values are less than `other` or equal."""
        return self._compared("less_equal", other)

    def __gt__(self, other: Any, /) -> Any:
        """Return where values are greater than `other`."""
        return self._compared("greater", other)

    def __ge__(self, other: Any, /) -> Any:
        """Return where values are greater than `other` or equal."""
        return self._compared("greater_equal", other)

    def _compared(self, op: str, other: Any) -> Expr:
        return Expr(self._column.compared(op, operand_of(other)))

    def __repr__(self) -> str:
        """Say shape and dtype, and what it is."""
        if self._column.is_closed:
            return "<ColumnArray, closed>"
        return f"<ColumnArray {self.shape} {self.dtype}: {self._column.described()}>"


def operand_of(value: Any) -> Any:
    """Return what columns are compared with: a column, a node, an array, or a constant."""
    if isinstance(value, _Questions):
        return value.column
    if hasattr(value, "query_column"):
        return value
    if isinstance(value, np.ndarray | np.generic | Node) or not hasattr(value, "shape"):
        return cast("Any", value)
    node: Any = as_node(value)
    return node.value[()] if isinstance(node, Constant) else node


def _keys(key: Any) -> tuple[Any, ...]:
    return cast("Any", key) if isinstance(key, tuple) else (key,)


def _row(at: int, count: int) -> int:
    if not -count <= at < count:
        raise IndexError(f"index {at} is out of bounds for axis 0 with size {count}")
    return at % count


def _operator(name: str, *, swapped: bool = False) -> Callable[[Any, Any], Expr]:
    def operate(self: ColumnArray, other: Any, /) -> Expr:
        other = other.node if isinstance(other, ColumnArray) else other
        operands = (other, self.node) if swapped else (self.node, other)
        return Expr(call(FUNCTIONS[name], *operands))

    operate.__name__ = operate.__qualname__ = name
    operate.__doc__ = f"Return NumPy's `{name}`; NaN where a value is missing."
    return operate


def _unary(name: str) -> Callable[[Any], Expr]:
    def operate(self: ColumnArray, /) -> Expr:
        return Expr(call(FUNCTIONS[name], self.node))

    operate.__name__ = operate.__qualname__ = name
    operate.__doc__ = f"Return NumPy's `{name}`; NaN where a value is missing."
    return operate


for _method, _function in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}.items():
    setattr(ColumnArray, f"__{_method}__", _operator(_function))
    setattr(ColumnArray, f"__r{_method}__", _operator(_function, swapped=True))
for _method, _function in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(ColumnArray, f"__{_method}__", _unary(_function))


def assign(column: Column, key: Any, value: Any) -> None:
    """Write values to rows. Raises TypeError for text of any length, which the table writes."""
    if column.kind == "string":
        raise TypeError(
            f"{column.described()}: text of any length is changed through its table: "
            f"t.modify(rows, {{{column.name!r}: ...}}), where rows is a row number, a slice or a condition"
        )
    if len(_keys(key)) > 1:
        raise IndexError(f"{column.described()}: whole rows are assigned to")
    rows = np.arange(len(column))[key]
    shape = (rows.size, *column.shape)
    is_single = isinstance(value, str | bytes) or np.ndim(value) <= len(column.shape)
    if is_single:
        parts = column.encode([value] if rows.size else [])
        parts = [np.broadcast_to(np.asarray(part), (rows.size, *np.shape(part)[1:])) for part in parts]
    else:
        if len(value) != shape[0]:
            raise ValueError(f"{column.described()}: {len(value)} values for {shape[0]} rows")
        parts = column.encode(value)
    for stored, part in zip(column.stored, parts, strict=True):
        assert not isinstance(part, tuple)
        stored.write_at(rows.reshape(-1), part)
