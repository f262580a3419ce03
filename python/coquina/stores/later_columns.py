"""Columns that are made when they are first used, for tables that open without reading them.

In: name, dtype and length of a column, and what makes it. Out: a column of that kind.
Invariant: it is made once, whichever thread uses it first.
"""

from __future__ import annotations

from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from coquina.tables.columns import CategoricalColumn, Column, NullableColumn
from coquina.tables.values import TEXT_OR_NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


class _Later:
    """A column that is made when anything of it is used but its name, dtype and length."""

    def __len__(self) -> int:
        """Return how many rows there are."""
        return vars(self)["rows_known"]

    @property
    def is_closed(self) -> bool:
        """Whether the table was closed: a copy is in memory."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Make the column, when the first of its parts is asked for."""
        known: dict[str, Any] = vars(self)
        if name.startswith("__") or "make" not in known:
            raise AttributeError(name)
        with known["lock"]:
            if (make := known["make"]) is not None:
                for part, value in cast("dict[str, Any]", vars(make())).items():
                    known.setdefault(part, value)
                known["make"] = None
        if name not in known:
            raise AttributeError(name)
        return known[name]


@lru_cache(maxsize=16)
def _later_kind(kind: type[Column]) -> type[Column]:
    return cast("type[Column]", type(f"Later{kind.__name__}", (_Later, kind), {}))


def later(
    kind: type[Column],
    name: str,
    rows: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    make: Callable[[], Column],
    **more: Any,
) -> Any:
    """Return a column that `make` makes when it is first used. more: attributes that it has before."""
    column = object.__new__(_later_kind(kind))
    is_nullable = kind is NullableColumn or dtype == TEXT_OR_NONE or kind is CategoricalColumn
    Column.__init__(column, name, dtype, shape, is_nullable=is_nullable)
    vars(column).update(rows_known=rows, lock=RLock(), make=make, **more)
    return column


__all__ = ["later"]
