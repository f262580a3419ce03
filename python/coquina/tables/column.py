"""What all columns of tables have in common, whichever layout stores them.

In: stored parts. Out: the engine's sources of them, values for people, and conditions.
Invariant: a comparison, a match or `among` is false where a value is missing, `!=` too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.tables.column_arrays import array_of
from coquina.tables.column_conditions import MATCHES, among, compared, is_null, matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from coquina import _core
    from coquina.expressions.nodes import Node
    from coquina.tables.stored import Stored

    Part = npt.NDArray[Any] | tuple[npt.NDArray[Any], npt.NDArray[Any]]
    Source = _core.Lazy | tuple[_core.Lazy, _core.Lazy]
    #: Path, kind, type, sources, mask and detail, as `_core.QueryColumns` takes them.
    QueryColumn = tuple[str, str, str, list[_core.Lazy], _core.Lazy | None, Any]


class Column(ABC):
    """One column without columns below it.

    name: its path from the table. kind: what its values are, "number" (also bool, complex and strings of
        fixed width), "bits", "enum", "time", "datetime", "categorical", "nullable" or "string".
    dtype, shape: of the values that people get, and the axes of one. is_nullable: whether one can be missing.
    """

    kind: str
    #: The dtype of values that are shown as their items are stored; None for others.
    viewed: np.dtype[Any] | None = None

    def __init__(
        self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...] = (), *, is_nullable: bool = False
    ) -> None:
        """Made by what each kind of column is made of."""
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.is_nullable = is_nullable

    @abstractmethod
    def __len__(self) -> int:
        """Return how many rows there are now."""

    @property
    @abstractmethod
    def stored(self) -> tuple[Stored, ...]:
        """The parts that are stored; of strings the offsets and the bytes are two."""

    @abstractmethod
    def sources(self) -> list[Source]:
        """Return what is to be gathered: a pair is offsets, one more than rows, and bytes of text."""

    @abstractmethod
    def values(self, parts: Sequence[Part]) -> npt.NDArray[Any]:
        """Return the values of gathered parts: a masked array where they can be missing, but for text."""

    @abstractmethod
    def encode(self, values: Any) -> list[Part]:
        """Return values as the parts that are stored. Raises ValueError or TypeError for others."""

    @abstractmethod
    def node(self) -> Node:
        """Return the values as an operand of expressions. Raises TypeError where they are none."""

    def raw(self) -> Node:
        """Return the values in their own dtype, as an operand that means nothing where `nulls` is true.

        Comparisons take this one: `node` has integers that can be missing as float64, which rounds them.
        """
        return self.node()

    @abstractmethod
    def read(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows, by any key that NumPy takes and that leaves an axis.

        A key may be lowered already, but for text.
        """

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it. Raises UnsupportedError for unknown types."""
        raise UnsupportedError(f"{self.described()} has no conditions")

    @property
    def is_closed(self) -> bool:
        """Whether the table was closed, or its file."""
        return any(part.array.is_closed for part in self.stored)

    def array(self) -> Any:
        """Return what `table[name]` is: an array with keys, operators and functions."""
        return array_of(self)

    def nulls(self) -> Node | None:
        """Return where there is no value; None if that is never."""
        return None

    def is_null(self) -> Node:
        """Return where there is no value; NaN and NaT are none."""
        self.check_scalar()
        return is_null(self)

    def compared(self, op: str, value: Any) -> Node:
        """Return where values compare so with `value`, a constant, a node, or another column.

        op: the name of NumPy's function. Raises TypeError or ValueError for what cannot be compared.
        """
        self.check_scalar()
        if isinstance(value, Column):
            value.check_scalar()
        if value is None:
            raise TypeError(f"{self.described()}: nothing is compared with None; 'is null' asks for it")
        return compared(self, op, value)

    def among(self, values: Iterable[Any]) -> Node:
        """Return where the value is one of these."""
        self.check_scalar()
        return among(self, values)

    def matching(self, op: str, text: Any) -> Node:
        """Return where text starts with, ends with or contains another. op: one of `MATCHES`."""
        self.check_scalar()
        if op not in MATCHES:
            raise ValueError(f"{op!r}: one of {', '.join(MATCHES)}")
        return matching(self, op, text)

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values that each row has along axes of its own, as a column."""
        raise TypeError(
            f"{self.described()} has no axes of its own: [{', '.join(map(str, index))}] names no part"
        )

    @property
    def text_kind(self) -> str | None:
        """Whether values are text: "U" if they are, else None."""
        return "U" if self.dtype.kind in "SUT" else None

    def described(self) -> str:
        """Return what to call the column in a sentence."""
        kinds = {"number": f"{self.dtype}", "string": "text", "nullable": f"nullable {self.dtype}"}
        what = kinds.get(self.kind, f"{self.kind} of {self.dtype}")
        return f"column {self.name!r} ({what}{self.shape if self.shape else ''})"

    def check_scalar(self) -> None:
        """Raise TypeError if a row has more than one value."""
        if self.shape:
            index = ", ".join("0" * len(self.shape))
            raise TypeError(
                f"{self.described()}: rows have values of shape {self.shape}; {self.name}[{index}] is one"
            )

    def __repr__(self) -> str:
        """Name it and its rows."""
        if self.is_closed:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__} {self.described()}, {len(self)} rows>"


def items_of(part: npt.NDArray[Any], stored: Stored) -> npt.NDArray[Any]:
    """Return a gathered part, bytes or items, as values of `stored` in the machine's byte order."""
    dtype = stored.dtype_out
    items = np.asarray(part)
    if items.dtype != dtype.base:
        items = np.ascontiguousarray(items).view(np.uint8).reshape(-1).view(dtype.base)
    return items.reshape(-1, *dtype.shape)
