"""What is indexed: a column, an expression with a value for each row, or a 1-d array.

In: how to get at the values. Out: an `IndexSource`, which is all that an index knows of a table.
Invariant: what is given is of the rows as they are when it is asked for; nothing here holds values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from coquina import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from coquina.arrays.array import Array

    Source = _core.Lazy | tuple[_core.Lazy, _core.Lazy]


class Freshness(Protocol):
    """Whether what was recorded of some arrays is still so. Asked at every use of an index: it is cheap.

    reason: why not, for people.
    """

    reason: str

    def check(self) -> bool | None:
        """Return True if nothing was written since, but through the index' owner; False if that is unknown:
        fingerprints tell, and then `verified` is called; None if nothing can be known.
        """

    def verified(self) -> None:
        """The fingerprints that are not those of the values any longer are forgotten: all is true again."""

    @property
    def is_stamped(self) -> bool:
        """Whether what `stamp` returned last still holds for the next who opens the index."""
        ...

    def stamp(self) -> dict[str, Any]:
        """Return what is to be kept beside an index, in JSON, for the next who opens it."""
        ...


class AlwaysFresh:
    """For arrays that nobody else can write to."""

    reason = ""
    is_stamped = True

    def check(self) -> bool | None:
        """Return True."""
        return True

    def verified(self) -> None:
        """Nothing."""

    def stamp(self) -> dict[str, Any]:
        """Return nothing."""
        return {}


def _always(stamp: dict[str, Any]) -> Freshness:
    del stamp
    return AlwaysFresh()


@dataclass(frozen=True)
class IndexSource:
    """What is indexed.

    name: the column, the text of an expression, or "" for an array.
    kind: how keys are made of values; see `keys`. dtype: of the values that have keys: codes of categories,
        text as `StringDType`.
    count: how many rows there are. lazies: the engine's sources of the values; a pair is offsets and bytes
        of text; missing: where there is none, as bool. Both are made anew whenever they are asked for.
    fingerprinted: all sources whose bytes a value depends on.
    arrays: what is stored that the values are made of. columns: the paths of the columns that they are in.
    freshness: of these arrays, given what was kept beside the index (nothing for a new one).
    is_exact: whether keys tell values apart.
    """

    name: str
    kind: str
    dtype: np.dtype[Any]
    count: Callable[[], int]
    lazies: Callable[[], Source]
    missing: Callable[[], _core.Lazy | None]
    fingerprinted: Callable[[], list[Source]]
    arrays: Callable[[], Sequence[Array]]
    columns: tuple[str, ...] = ()
    freshness: Callable[[dict[str, Any]], Freshness] = _always
    is_expression: bool = False

    def has(self, keys: _core.KeyRanges, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which rows have values whose keys are in ranges."""
        found, there = self.keys_at(rows)
        return keys.has(found) & there

    def keys_at(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """Return the keys of rows, and which of them have one."""
        return _core.row_keys(self.lazies(), self.missing(), self.kind, rows)

    @property
    def is_exact(self) -> bool:
        """Whether different values have different keys; of text the first 8 bytes are keys."""
        return self.kind not in ("S", "U", "text")
