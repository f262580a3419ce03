"""Our tables for `index.py`, in both layouts.

In: columns, queries. Out: files; answers as NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

import coquina as cq
from bench.indexes.index_data import DTYPE, Columns, Query, pieces, records
from bench.indexes.index_peers import CODEC, COMPLETE, LEAST, LEVEL, LIGHT, PARTIAL, Asker, Library
from bench.tables.table_peers import COLUMNS, ROWS

SCAN, AS_PYTABLES = "coquina scan", "coquina pytables"


class OurAsker(Asker):
    """Our table."""

    def __init__(self, path: Path, is_writable: bool) -> None:
        """Opens it."""
        self._table: Any = cq.open_table(path, mode="r+" if is_writable else "r")

    def column(self, query: Query) -> np.ndarray:
        """One column."""
        return self._table.where(query.text)[query.column]

    def rows(self, query: Query) -> Any:
        """Records."""
        return self._table.where(query.text).to_numpy()

    def first(self, column: str, count: int) -> np.ndarray:
        """Records of the first in order."""
        return self._table.order_by(column).head(count)[column]

    def ascending(self, column: str, count: int) -> np.ndarray:
        """Row by row."""
        return np.array([row[column] for row in islice(self._table.itersorted(column), count)])

    def append(self, batch: Columns) -> None:
        """What the indexes need for it is done at the flush."""
        self._table.append(batch)

    def close(self) -> None:
        """The table and its file."""
        self._table.close()

    def is_by_index(self, query: Query) -> bool | None:
        """As it says."""
        return bool(self._table.will_use_index(query.text))


class Ours(Library):
    """Tables of ours. kind: the one complete index that is used, ours or PyTables'."""

    suffix = ".h5"
    kinds: ClassVar[Mapping[str, str]] = {
        COMPLETE: "full",
        PARTIAL: "partial",
        LIGHT: "light",
        LEAST: "zones",
    }

    def __init__(self, layout: Literal["columns", "rows"]) -> None:
        """Of a layout."""
        self._layout: Literal["columns", "rows"] = layout
        self.name = {"columns": COLUMNS, "rows": ROWS}[layout]

    def write(self, path: Path, some: Columns) -> None:
        """A table, told how many rows there will be."""
        count = len(next(iter(some.values())))
        options: Any = {"layout": self._layout, "codec": CODEC, "level": LEVEL, "expected_rows": count}
        with cq.create_table(path, DTYPE, mode="w", **options) as table:
            for batch in pieces(some):
                table.append(records(batch) if self._layout == "rows" else batch)

    def open(self, path: Path, *, is_writable: bool = False) -> Asker:
        """The table of a file."""
        return OurAsker(path, is_writable)

    def build(self, path: Path, column: str, kind: str) -> Callable[[], object]:
        """`create_index`, and the file closed."""
        table: Any = cq.open_table(path, mode="r+")

        def call() -> None:
            table.create_index(column, kind=kind)
            table.close()

        return call

    def sort(self, path: Path, target: Path, column: str) -> None:
        """`copy(sort_by=)`."""
        table: Any = cq.open_table(path)
        table.copy(target, sort_by=column, codec=CODEC, level=LEVEL).close()
        table.close()


class OursAsPyTables(Ours):
    """Our rows, with an index as PyTables writes it."""

    kinds: ClassVar[Mapping[str, str]] = {COMPLETE: "pytables"}

    def __init__(self) -> None:
        """Of the layout that PyTables has."""
        super().__init__("rows")
        self.name = AS_PYTABLES
