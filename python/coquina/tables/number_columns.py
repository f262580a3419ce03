"""Columns that show what is stored: numbers, truth values, complex numbers, strings of fixed width.

In: a stored part. Out: a column, of which each row has one value, or an array of them.
Source: NumPy's comparisons. Constants are weak as Python's numbers are in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import cast_values, is_array, is_listed
from coquina.expressions.engine import type_name
from coquina.expressions.functions import FUNCTIONS, call
from coquina.expressions.nodes import Node
from coquina.tables.column import Column, items_of
from coquina.tables.listed_values import listed, texts_in, types_in, uniform
from coquina.tables.predicates import (
    MATCHES,
    among_items,
    among_numbers,
    either,
    filled,
    matching_items,
    no,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from coquina.tables.column import Part, QueryColumn, Source
    from coquina.tables.stored import Stored

    Refused = Callable[[str, Any], TypeError]

_BOOL = np.dtype(np.bool_)
#: What conditions call items that they have no kernels for.
_KINDS = {"S": "bytes", "U": "points", "f": "halves"}


class OnePart(Column):
    """A column of which one part is stored, that says itself which rows have no value."""

    def __init__(self, name: str, part: Stored, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        """A column over `part`, whose values are shown as `dtype`."""
        super().__init__(name, dtype, shape)
        self._part = part
        self._array = part.array
        self._sources: list[Source] = []

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return self._array.shape[0]

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The parts that are stored."""
        return (self._part,)

    def sources(self) -> list[Source]:
        """Return what is to be gathered."""
        if not self._sources:
            self._sources = [self._part.lazy()]
        return self._sources

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return the values of the gathered part."""
        (part,) = parts
        assert not isinstance(part, tuple)
        return self._shown(items_of(part, self._part))

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows."""
        return self._shown(self._part[key])

    def encode(self, values: Any) -> list[Part]:
        """Return values as they are stored."""
        return [cast_values(values, self._part.dtype_out.base, self.shape, self.described())]

    def _queried(self, kind: str, type_name: str, detail: Any = None) -> QueryColumn:
        return self.name, kind, type_name, [self._part.query_source()], None, detail

    def _shown(self, items: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return stored items as people see them."""
        return items

    def _scalars(self) -> Stored:
        self.check_scalar()
        return self._part


class NumberColumn(OnePart):
    """Numbers, truth values, or strings of fixed width, as they are stored."""

    kind = "number"

    def __init__(self, name: str, stored: Stored) -> None:
        """The column of a stored part."""
        super().__init__(name, stored, stored.dtype_out.base, stored.dtype.shape)
        if not self.shape and self.dtype.itemsize:
            self.viewed = self.dtype

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return the gathered part as it is."""
        (part,) = parts
        assert not isinstance(part, tuple)
        is_bytes = part.dtype == np.uint8 and not self.shape
        return part.view(self.dtype) if is_bytes else items_of(part, self._part)

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        name = type_name(self.dtype)
        kind = "numbers" if name else _KINDS.get(self.dtype.kind)
        kind = None if self.dtype.kind == "f" and self.dtype != np.float16 and not name else kind
        return super().query_column() if kind is None else self._queried(kind, name or "")

    def node(self) -> Node:
        """Return the values as an operand."""
        return self._scalars().leaf()

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        return NumberColumn(f"{self.name}[{', '.join(map(str, index))}]", self._part.element(index))

    def _compared(self, op: str, value: Any) -> Node:
        if self.text_kind:
            constant = self._text(value)
            if constant is not None:
                return matching_items(self._part, op, constant)
            if not (isinstance(value, Node) or is_array(value)):
                raise self.refused(op, repr(value))
        return compared_numbers(self, op, value)

    def _text(self, value: Any) -> Any:
        """Return a constant in the kind of our strings; None if it is no text."""
        if not isinstance(value, str | bytes):
            return None
        if self.dtype.kind == "S":
            return value.encode() if isinstance(value, str) else bytes(value)
        return value.decode() if isinstance(value, bytes) else str(value)

    def _texts(self, values: Any) -> list[Any]:
        """Return those of some constants that are text, in the kind of our strings."""
        given = texts_in(values)
        types = set(map(type, given))
        if types == {str}:
            return [one.encode() for one in given] if self.dtype.kind == "S" else given
        if types == {bytes} and self.dtype.kind == "S":
            return given
        return [text for text in map(self._text, given) if text is not None]

    def among(self, values: Iterable[Any]) -> Node:
        """Return where the value is one of these, which are compared as by `==`."""
        self.check_scalar()
        if self.text_kind:
            return among_items(self._part, self._texts(values))
        return among_numbers(self._part, representable(values, self.dtype, self.refused))

    def is_null(self) -> Node:
        """Return where there is no number: NaN."""
        self.check_scalar()
        if self.dtype.kind not in "fc":
            return super().is_null()
        return call(FUNCTIONS["isnan"], self.node())

    def matching(self, op: str, text: Any) -> Node:
        """Return where text starts with, ends with or contains another."""
        self.check_scalar()
        if not self.text_kind or op not in MATCHES:
            return super().matching(op, text)
        constant = self._text(text)
        if constant is None:
            raise TypeError(f"{self.described()}: {op} takes text, not {text!r}")
        return matching_items(self._part, op, constant)


class BitsColumn(OnePart):
    """Truth values that are stored as bytes: all but 0 are true."""

    kind = "bits"

    def __init__(self, name: str, stored: Stored) -> None:
        """The column of a part of bytes."""
        if stored.dtype.base.itemsize != 1:
            raise ValueError(f"column {name!r}: truth values of {stored.dtype}, not of a byte each")
        super().__init__(name, stored.viewed((np.uint8, stored.dtype.shape)), _BOOL, stored.dtype.shape)

    def _shown(self, items: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return items != 0

    def encode(self, values: Any) -> list[Part]:
        """Return values as bytes 0 and 1."""
        return [cast_values(values, _BOOL, self.shape, self.described()).view(np.uint8)]

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        return self._queried("numbers", "bool")

    def node(self) -> Node:
        """Return the truth values as an operand."""
        return call(FUNCTIONS["not_equal"], self._scalars().leaf(), 0)

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        return BitsColumn(f"{self.name}[{', '.join(map(str, index))}]", self._part.element(index))

    def _compared(self, op: str, value: Any) -> Node:
        return compared_numbers(self, op, value)

    def among(self, values: Iterable[Any]) -> Node:
        """Return where the value is one of these."""
        self.check_scalar()
        wanted = representable(values, _BOOL, self.refused).tolist()
        node = filled(False, len(self))
        if True in wanted:
            node = either(node, self.node())
        return either(node, no(self.node())) if False in wanted else node


def compared_numbers(column: Column, op: str, value: Any, node: Node | None = None) -> Node:
    """Return where numbers of a column compare so with a number, an array of one for each row, or a node."""
    value = weak(value)
    if isinstance(value, str | bytes):
        raise column.refused(op, f"text, {value!r}")
    if is_listed(value):
        raise column.refused(op, f"a {type(value).__name__}; isin asks for one of several values")
    return call(FUNCTIONS[op], column.node() if node is None else node, value)


def weak(value: Any) -> Any:
    """Return an integer of NumPy's, which is exact, as one of Python's, which takes on any integer dtype."""
    if is_array(value) and value.ndim == 0 and value.dtype.kind in "biuSU":
        value = value[()]
    if isinstance(value, np.bool_):
        return bool(cast("Any", value))
    return int(cast("Any", value)) if isinstance(value, np.integer) else value


def representable(values: Iterable[Any], dtype: np.dtype[Any], refused: Refused) -> npt.NDArray[Any]:
    """Return those of some numbers that equal a value of `dtype`, as an array of it.

    Python's floats are rounded to `dtype`, as in comparisons with them; those of NumPy are not.
    refused: returns the error for "in" and a value that is no number.
    """
    values = listed(values)
    given = uniform(values)
    if given is not None and given.dtype.kind in "biufc":
        is_rounded = given.dtype.kind in "biu" or types_in(values) in ({float}, {complex})
        return _numbers(given, dtype, is_rounded=is_rounded)
    found: list[Any] = []
    for value in map(weak, values):
        if not isinstance(value, bool | int | float | complex | np.number):
            raise refused("in", "nothing, None" if value is None else repr(value))
        found += _exact_number(value, dtype)
    return np.array(found, dtype)


def _numbers(given: Any, dtype: np.dtype[Any], *, is_rounded: bool) -> npt.NDArray[Any]:
    """Return those of an array that equal a value of `dtype`, or are rounded to one."""
    if given.dtype.kind == "c" and dtype.kind == "f":
        given = given.real[given.imag == 0]
    if not is_rounded or dtype.kind not in "fc":
        return _exact(given.astype(np.uint8) if given.dtype.kind == "b" else given, dtype)
    with np.errstate(all="ignore"):
        # As one by one: by way of Python's float.
        return given.astype(np.complex128 if given.dtype.kind == "c" else np.float64).astype(dtype)


def _exact_number(number: Any, dtype: np.dtype[Any]) -> list[Any]:
    """Return a number as one of `dtype`, in a list; an empty list if it equals none."""
    value: Any = number
    kinds = (bool, int, float, complex) if dtype.kind in "fc" else (bool, int)
    if type(value) not in kinds:
        return _exact(np.asarray([value]), dtype).tolist()
    if dtype.kind == "b":
        return [bool(value)] if value in (0, 1) else []
    if dtype.kind in "iu":
        return [int(value)] if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max else []
    if type(value) is complex and dtype.kind == "f":
        return [] if value.imag else _exact_number(value.real, dtype)
    with np.errstate(all="ignore"):
        value = value if type(number) is complex else float(number)
        return [np.asarray(value).astype(dtype)[()]]


def _exact(values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = values.real[values.imag == 0]
    if dtype.kind in "biu":
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if values.dtype.kind == "f":
            values = values.astype(np.result_type(values, np.float64))
            values = values[np.isfinite(values) & (values == np.floor(values))]
            # The greatest integers round up to a float that is none of them; the next power of two is one.
            return values[(values >= low) & (values < float(high + 1))].astype(dtype)
        return values[(values >= low) & (values <= high)].astype(dtype)
    with np.errstate(all="ignore"):
        found = values.astype(dtype)
    return found[found == values] if values.dtype.kind in "fc" else found
