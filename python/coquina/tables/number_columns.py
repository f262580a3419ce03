"""Columns that show what is stored: numbers, truth values, complex numbers, strings of fixed width.

In: a stored part. Out: a column, of which each row has one value, or an array of them.
Source: NumPy's comparisons. Constants are weak as Python's numbers are in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import cast_values
from coquina.expressions.engine import type_name
from coquina.expressions.functions import FUNCTIONS, call
from coquina.tables.column import Column, items_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, QueryColumn, Source
    from coquina.tables.stored import Stored

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

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        return self._of_part(f"{self.name}[{', '.join(map(str, index))}]", self._part.element(index))

    def _of_part(self, name: str, part: Stored) -> Column:
        """Return a column like this one, over another part."""
        made: Any = type(self)
        return made(name, part)

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
