"""Columns of lists, mappings and other values of any length, which are read by their numbers.

In: which value each row has, and what gives the values of some numbers. Out: a column of Python's objects.
Invariant: conditions know of such a value whether it is there, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coquina.arrays.creation import asarray
from coquina.expressions.functions import as_node
from coquina.tables.column import Column, items_of
from coquina.tables.stored import Stored
from coquina.tables.value_kinds import arrow_of, objects_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, Source

    #: What gives the values of some numbers.
    Take = Callable[[list[int]], list[Any]]


class ValuesColumn(Column):
    """Lists, mappings, bytes of any length, or all of these: objects, None where there is none."""

    kind = "values"

    def __init__(
        self,
        name: str,
        numbers: npt.NDArray[np.int64],
        take: Take,
        values: dict[str, Any],
        *,
        is_nullable: bool,
    ) -> None:
        """numbers: which value each row has. values: what they are, as a schema describes them."""
        super().__init__(name, np.dtype(object), is_nullable=is_nullable)
        self.described_values = values
        self._numbers, self._take = numbers, take
        self._source: Stored | None = None
        self._nulls: Node | None = None

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._numbers)

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Nothing: values lie in no array."""
        return ()

    def of_rows(self, rows: npt.NDArray[np.int64]) -> ValuesColumn:
        """Return the column of some of the rows."""
        values = self.described_values
        return ValuesColumn(self.name, self._numbers[rows], self._take, values, is_nullable=self.is_nullable)

    def sources(self) -> list[Source]:
        """Return what is to be gathered: the numbers of values."""
        return [self._stored_numbers().lazy()]

    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return the values of gathered numbers."""
        (part,) = parts
        assert not isinstance(part, tuple)
        return self._of(items_of(part, self._stored_numbers()))

    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows."""
        return self._of(self._stored_numbers()[key])

    def encode(self, values: Any) -> list[Part]:
        """Raise TypeError: a table of python-blosc2 packs them."""
        raise TypeError(f"{self.described()}: its values are packed by the table")

    def node(self) -> Node:
        """Raise TypeError: objects are no operands."""
        raise TypeError(
            f"{self.described()} is no operand of expressions; is_null() asks for what is missing"
        )

    def nulls(self) -> Node | None:
        """Return where there is no value: all values are read for it."""
        if not self.is_nullable:
            return None
        if self._nulls is None:
            missing = [one is None for one in self._take(self._numbers.tolist())]
            self._nulls = as_node(np.array(missing, bool))
        return self._nulls

    def arrow_type(self) -> Any:
        """Return the Arrow type of the values. Raises TypeError for values of several kinds."""
        return arrow_of(self.described_values)

    def is_null(self) -> Node:
        """Return where there is no value: all values are read for it."""
        nulls = self.nulls()
        return as_node(np.zeros(len(self), bool)) if nulls is None else nulls

    def compared(self, op: str, value: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(f"{self.described()} is not compared with {value!r}")

    def among(self, values: Iterable[Any]) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(f"{self.described()}: takes no 'in'")

    def matching(self, op: str, text: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(f"{self.described()}: {op} takes text")

    def _of(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found = objects_of(self._take(numbers.reshape(-1).tolist()))
        return found.reshape(numbers.shape)

    def _stored_numbers(self) -> Stored:
        if self._source is None:
            array = asarray(self._numbers)
            self._source = Stored(array, array.dtype)
        return self._source
