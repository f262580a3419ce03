"""Columns of integers from 2**63 on, which pyarrow's readers of text take for floating-point numbers.

In: batches as such a reader gives them. Out: the names of the columns that are to be read as uint64.
Why: float64 has 53 bits, so identifiers of 64 bits would be changed without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.tables.arrow_module import pyarrow

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST, _MOST = 2.0**63, 2.0**64


class WideIntegers:
    """Which columns of float64 are whole numbers, some of them from 2**63 on, that no int64 holds."""

    def __init__(self) -> None:
        """Know of no column yet."""
        self._largest: dict[str, float] = {}
        self._others: set[str] = set()

    def look(self, batch: Any) -> None:
        """Look at some rows."""
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name in self._others or column.type != pyarrow().float64():
                self._others.add(name)
                continue
            values = column.drop_null().to_numpy(zero_copy_only=False)
            if not bool(((values >= 0) & (values <= _MOST) & (values == np.floor(values))).all()):
                self._others.add(name)
            elif len(values):
                self._largest[name] = max(float(values.max()), self._largest.get(name, 0))

    def those(self, read: Callable[[list[str]], object]) -> list[str]:
        """Return the columns that can be read as uint64. read: reads all rows, with these columns so."""
        found: list[str] = []
        for name, largest in self._largest.items():
            if name in self._others or largest < _LEAST:
                continue
            try:
                read([name])
            except pyarrow().ArrowInvalid:
                # Written with a point or an exponent, or with more than 64 bits.
                continue
            found.append(name)
        return found
