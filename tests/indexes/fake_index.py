"""An index made of plain NumPy, that says what indexes say: with rows that it knows nothing of, if wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

import coquina as cq
from coquina._core import KeyRanges, RowSet
from coquina.expressions.expression import Expr
from coquina.indexes.keys import kind_of
from coquina.tables.conditions import expression
from coquina.tables.table import Table
from tests.reference.keys import keys_of

NONE = np.empty((0, 2), np.int64)


class FakeIndex:
    """kind: as of an index. unknown: open ranges. blur: bits that keys have lost: some rows are unsure."""

    def __init__(
        self,
        table: cq.Table,
        column: str,
        *,
        kind: str = "full",
        unknown: Any = NONE,
        blur: int = 0,
        bucket_rows: int = 64,
    ) -> None:
        keys, self.gone, key_kind = entries(table, column)
        is_expression = column not in table.layout.columns
        self.name, self.column, self.kind = f"by {column}", column, kind
        self.source = SimpleNamespace(kind=key_kind, is_expression=is_expression)
        self.is_usable, self.reason = True, ""
        self.bucket_rows = bucket_rows if kind in ("light", "zones") else 1
        self.low, self.room = keys >> np.uint64(blur) << np.uint64(blur), np.uint64((1 << blur) - 1)
        self.unknown = np.asarray(unknown, np.int64).reshape(-1, 2)
        self.asked = 0

    def _flags(self, keys: KeyRanges) -> tuple[Any, Any]:
        sure, maybe = np.zeros((2, len(self.low)), bool)
        top = self.low + np.minimum(self.room, ~self.low)
        for first, last in keys.pairs():
            sure |= (self.low >= first) & (top <= last)
            maybe |= (top >= first) & (self.low <= last)
        return sure & ~self.gone, maybe & ~self.gone

    def lookup(self, keys: KeyRanges, *, missing: bool = False, check: Any, by_key: bool) -> RowSet:
        assert by_key
        assert all(first <= last for first, last in keys.pairs())
        assert all(keys.low[1:] > keys.high[:-1])
        self.asked += 1
        sure, maybe = self._flags(keys)
        found = maybe | self.gone if missing else maybe
        for start, stop in self.unknown:
            found[start:stop] = False
        rows = np.flatnonzero(found)
        if self.bucket_rows == 1:
            return RowSet(rows, self.unknown, bool((sure == maybe).all()))
        buckets = np.zeros(len(found) // self.bucket_rows + 1, bool)
        buckets[rows // self.bucket_rows] = True
        for start, stop in self.unknown:
            buckets[start // self.bucket_rows : -(-stop // self.bucket_rows)] = True
        starts = np.flatnonzero(buckets) * self.bucket_rows
        ends = np.minimum(starts + self.bucket_rows, len(found))
        return RowSet(rows[:0], np.stack([starts, ends], 1)[starts < ends])

    def estimate(self, keys: KeyRanges, *, missing: bool = False) -> int:
        found = self._flags(keys)[1]
        count = int(np.count_nonzero(found | self.gone if missing else found))
        return min(len(self.low), count * self.bucket_rows)

    def count(self, keys: KeyRanges, *, missing: bool = False, check: Any, by_key: bool) -> int | None:
        sure, maybe = self._flags(keys)
        if len(self.unknown) or self.bucket_rows > 1 or (sure != maybe).any():
            return None
        return int(np.count_nonzero(maybe | self.gone if missing else maybe))

    def few(self, keys: KeyRanges, *, missing: bool, check: Any, most: int) -> tuple[int, int, RowSet | None]:
        rows, open_rows = self.estimate(keys, missing=missing), int(np.diff(self.unknown).sum())
        if self.kind not in ("full", "partial") or rows > most:
            return rows, open_rows, None
        return rows, open_rows, self.lookup(keys, missing=missing, check=check, by_key=True)

    def open_ranges(self) -> Any:
        return self.unknown


def entries(table: cq.Table, name: str) -> tuple[Any, Any, str]:
    """Return keys, which rows have none, and their kind."""
    column = table.layout.columns.get(name)
    if column is None:
        values = Expr(expression(name, table.layout.columns))[...]
    elif column.kind == "categorical":
        codes = column.stored[0]
        values = codes[:]
        return keys_of(values, codes.dtype.name)[0], values < 0, codes.dtype.name
    else:
        values = column.read(slice(None))
    kind = kind_of(values.dtype)
    return *keys_of(values, kind), kind


@contextmanager
def indexed(*indexes: FakeIndex) -> Iterator[None]:
    """Tables have these indexes, and no others, in the `with` block."""
    known = {index.name: index for index in indexes}
    store = SimpleNamespace(is_empty=not known, indexes=known)
    with (
        mock.patch.object(Table, "index_store", property(lambda table: store)),
        mock.patch.object(Table, "indexes", property(lambda table: known)),
    ):
        yield
