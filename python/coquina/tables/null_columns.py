"""Columns of numbers that can be missing: values, and beside them a mask.

In: two stored parts. Out: a column of masked arrays.
Invariant: where the mask is true the stored value means nothing: it is read by nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import cast_values, is_array, without_missing
from coquina.tables.column import Column
from coquina.tables.number_columns import BitsColumn, NumberColumn
from coquina.tables.predicates import with_nan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, QueryColumn, Source
    from coquina.tables.stored import Stored


class NullableColumn(Column):
    """Values, some of which are missing: where a mask says so."""

    kind = "nullable"

    def __init__(self, name: str, values: Stored, mask: Stored) -> None:
        """The column of two parts. mask: bytes or truth values, true where there is no value."""
        self._inner = NumberColumn(name, values)
        self._mask = BitsColumn(name, mask)
        super().__init__(name, self._inner.dtype, self._inner.shape, is_nullable=True)

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return min(len(self._inner), len(self._mask))

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The values and the mask."""
        return (*self._inner.stored, *self._mask.stored)

    def sources(self) -> list[Source]:
        """Return what is to be gathered: values and mask."""
        return [*self._inner.sources(), *self._mask.sources()]

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return a masked array of the gathered parts."""
        return _masked(self._inner.values(parts[:1]), self._mask.values(parts[1:]))

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows, masked."""
        return _masked(self._inner.read(key), self._mask.read(key))

    def encode(self, values: Any) -> list[Part]:
        """Return a masked array, or a sequence with None, as values and mask."""
        given, mask = without_missing(values, False if self.dtype.kind == "b" else self.dtype.type(0))
        if mask.any() and is_array(given) and given.dtype.kind in "fcmM":
            given = np.where(mask, np.zeros((), given.dtype), given)
        if is_array(given) and given.dtype.kind == "f" and self.dtype.kind in "iu":
            # What pandas makes of integers some of which are missing.
            whole = given.astype(self.dtype) if _fits(given, self.dtype) else given
            given = whole if bool((whole == given).all()) else given
        items = cast_values(given, self.dtype, self.shape, self.described())
        return [items, np.ascontiguousarray(mask).view(np.uint8)]

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        path, kind, name, sources, _, detail = self._inner.query_column()
        return path, kind, name, sources, self._mask.stored[0].lazy(), detail

    def node(self) -> Node:
        """Return the values as an operand: NaN, or False, where there is none; integers as float64."""
        return with_nan(self._inner.node(), self.nulls())

    def raw(self) -> Node:
        """Return the stored values as an operand."""
        return self._inner.node()

    def nulls(self) -> Node:
        """Return where there is no value."""
        return self._mask.node()

    def is_null(self) -> Node:
        """Return where there is no value, or NaN; of rows with axes where the row is missing."""
        return self.nulls() if self.shape else super().is_null()

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        (values,), (mask,) = self._inner.stored, self._mask.stored
        return NullableColumn(f"{self.name}[{', '.join(map(str, index))}]", values.element(index), mask)


def _fits(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(((values >= float(limits.min)) & (values < float(limits.max))).all())


def _masked(values: npt.NDArray[Any], mask: npt.NDArray[Any]) -> Any:
    if mask.ndim < values.ndim:
        mask = np.broadcast_to(mask.reshape(*mask.shape, *(1,) * (values.ndim - mask.ndim)), values.shape)
    return np.ma.MaskedArray(values, mask)
