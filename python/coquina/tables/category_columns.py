"""Columns of codes: categories, whose values stand beside the codes, and PyTables' enumerations.

In: codes, and what they stand for. Out: a column of the values; of an enumeration of the numbers, with names
    in conditions.
Invariant: a code that is no category's is no value.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import cast_values, is_array, is_masked, is_missing, mask_of
from coquina.expressions.engine import type_name
from coquina.tables.column import Column, items_of
from coquina.tables.column_conditions import is_null, values_of
from coquina.tables.number_columns import OnePart
from coquina.tables.predicates import plain_text, with_nan
from coquina.tables.values import Coded, Utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, QueryColumn, Source
    from coquina.tables.stored import Stored

_TEXT: Any = np.dtypes.StringDType(na_object=None)


class EnumColumn(OnePart):
    """Numbers that have names: values are the numbers; names stand for them where values are given."""

    kind = "enum"

    def __init__(self, name: str, stored: Stored, members: dict[str, int]) -> None:
        """The column of a stored part. members: the numbers by their names."""
        super().__init__(name, stored, stored.dtype_out.base, stored.dtype.shape)
        self.members = dict(members)

    def number(self, value: Any) -> Any:
        """Return the number of a name, or what is no name itself. Raises ValueError for an unknown name."""
        if isinstance(value, bytes):
            value = value.decode()
        if not isinstance(value, str):
            return value
        if value not in self.members:
            raise ValueError(f"{self.described()}: {value!r} is not one of {', '.join(self.members)}")
        return self.members[value]

    def encode(self, values: Any) -> list[Part]:
        """Return numbers or names as numbers."""
        items: Any = np.asarray(values)
        if items.dtype.kind in "SUTO":
            numbers = [self.number(one) for one in items.reshape(-1).tolist()]
            values = np.array(numbers, object).reshape(items.shape)
        found = super().encode(values)
        unknown = np.setdiff1d(np.asarray(found[0]), list(self.members.values()))
        if len(unknown):
            raise ValueError(f"{self.described()}: {unknown[0]} is the number of no name")
        return found

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        name = type_name(self.dtype)
        members = list(self.members.items())
        return super().query_column() if name is None else self._queried("enumeration", name, members)

    def node(self) -> Node:
        """Return the numbers as an operand."""
        return self._scalars().leaf()

    def _of_part(self, name: str, part: Stored) -> Column:
        return EnumColumn(name, part, self.members)


class CategoricalColumn(Column):
    """Values out of a few categories. Code -1 is none; text that is none is None, else values are masked."""

    kind = "categorical"

    def __init__(self, name: str, codes: Stored, categories: npt.NDArray[Any], ordered: bool = False) -> None:
        """The column of codes, places in `categories`. ordered: they stand in an order of their own."""
        categories = np.asarray(categories)
        if categories.dtype.kind in "SUTO" and not _is_numbers(categories):
            categories = plain_text(categories)[0].astype(_TEXT)
        elif categories.dtype.kind == "O":
            categories = np.array(categories.tolist())
        super().__init__(name, categories.dtype, is_nullable=True)
        self._codes = codes
        self.categories = categories
        self.ordered = bool(ordered)
        self._places = {value: at for at, value in enumerate(categories.tolist())}

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return len(self._codes)

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The codes."""
        return (self._codes,)

    def sources(self) -> list[Source]:
        """Return what is to be gathered: codes."""
        return [self._codes.lazy()]

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return the categories of gathered codes."""
        (part,) = parts
        assert not isinstance(part, tuple)
        return self._of_codes(items_of(part, self._codes))

    def codes_of(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return gathered codes themselves."""
        (part,) = parts
        assert not isinstance(part, tuple)
        return items_of(part, self._codes)

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows."""
        return self._of_codes(self._codes[key])

    def _of_codes(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        missing = (codes < 0) | (codes >= len(self.categories))
        places = np.where(missing, 0, codes) if missing.any() else codes
        values = self.categories[places] if len(self.categories) else np.zeros(codes.shape, self.dtype)
        if self.text_kind:
            if missing.any():
                values[missing] = None
            return values
        return np.ma.MaskedArray(values, missing)

    def encode(self, values: Any) -> list[Part]:
        """Return values as codes. Raises ValueError for one that is no category."""
        if isinstance(values, Utf8):
            values = np.asarray(values)
        if isinstance(values, Coded):
            codes = np.asarray(values.codes)
            known = self._coded(values.categories.tolist()) if (codes >= 0).any() else np.empty(0, np.int64)
            places = np.append(known, [-1])[np.where(codes < 0, -1, codes)]
        elif is_masked(values):
            mask = mask_of(values)
            places = np.full(len(mask), -1)
            places[~mask] = self._coded(values.data[~mask].tolist())
        else:
            places = self._coded(list(values.tolist() if is_array(values) else values))
        dtype = self._codes.dtype_out
        return [cast_values(np.asarray(places, np.int64), dtype, (), self.described())]

    def _coded(self, values: list[Any]) -> npt.NDArray[np.int64]:
        places = self._places
        try:
            found = np.fromiter(map(places.get, values, repeat(-1)), np.int64, len(values))
        except TypeError as error:
            raise TypeError(f"{self.described()}: {error}") from None
        for at in np.flatnonzero(found < 0).tolist():
            value = values[at].decode() if isinstance(values[at], bytes) else values[at]
            if value in places:
                found[at] = places[value]
            elif not is_missing(value):
                known = ", ".join(map(str, list(places)[:8])) + (", ..." if len(places) > 8 else "")
                raise ValueError(
                    f"{self.described()}: {value!r} is not one of its categories ({known}); "
                    "t.append and t.modify add categories"
                )
        return found

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        codes = type_name(self._codes.dtype)
        own = None if self.text_kind else type_name(self.dtype)
        if self.text_kind:
            known: Any = ("text", self.categories.tolist(), self.ordered)
        elif self.dtype.kind in "mM":
            name = self.dtype.newbyteorder("=").name
            known = (name, self.categories.astype(np.int64).tolist(), self.ordered)
        elif own is not None:
            items = np.ascontiguousarray(self.categories, self.dtype.newbyteorder("="))
            known = (own, items.tobytes(), self.ordered)
        else:
            return super().query_column()
        if codes is None:
            return super().query_column()
        return self.name, "categories", codes, [self._codes.lazy()], None, known

    def node(self) -> Node:
        """Return the values of numeric categories as an operand: NaN or NaT where there is none."""
        return with_nan(values_of(self), self.nulls())

    def nulls(self) -> Node:
        """Return where the code is no category's."""
        return is_null(self)


def _is_numbers(values: npt.NDArray[Any]) -> bool:
    """Whether objects are numbers or the like, and no text."""
    return values.dtype.kind == "O" and not any(isinstance(one, str | bytes) for one in values.tolist())
