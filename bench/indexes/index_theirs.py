"""PyTables and python-blosc2 for `index.py`.

In: columns, queries. Out: files; answers as NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any, ClassVar

import blosc2
import numpy as np
import tables

from bench.common import harness
from bench.indexes.index_data import DTYPE, NAMES, Columns, Query, pieces, records
from bench.indexes.index_peers import CODEC, COMPLETE, LEAST, LEVEL, LIGHT, PARTIAL, Asker, Library, remove
from bench.tables.table_peers import TABLES

KERNEL, CTABLE = "PyTables in-kernel", "blosc2 CTable"
FILTERS = tables.Filters(complevel=LEVEL, complib=f"blosc2:{CODEC}", shuffle=True)
# With its own choice all rows lie in a chunk or two; an index then has no chunks to tell apart.
CHUNK_ROWS = 16_384
OPTLEVELS = {"ultralight": 3, "light": 6, "medium": 6, "full": 9}


Way = Callable[[Any, Query], np.ndarray]


def by_numbers(table: Any, query: Query) -> np.ndarray:
    """All rows at once."""
    return table.read_where(query.text, field=query.column)


def one_by_one(table: Any, query: Query) -> np.ndarray:
    """A loop over rows."""
    dtype = table.coldtypes[query.column]
    return np.fromiter((row[query.column] for row in table.where(query.text)), dtype)


class TablesAsker(Asker):
    """PyTables: rows by their numbers or one by one, whichever was faster the first time."""

    def __init__(self, path: Path, is_writable: bool, ways: dict[str, Way]) -> None:
        """Opens it."""
        self._file = tables.open_file(str(path), "a" if is_writable else "r")
        self._table: Any = self._file.root.table
        self._ways = ways

    def column(self, query: Query) -> np.ndarray:
        """One column; the way is chosen by the kind of query, at its first."""
        if query.work not in self._ways:
            seconds = {
                way: harness.clock(lambda way=way: way(self._table, query), 2)
                for way in (by_numbers, one_by_one)
            }
            self._ways[query.work] = min(seconds, key=seconds.__getitem__)
        return self._ways[query.work](self._table, query)

    def rows(self, query: Query) -> Any:
        """Records."""
        return self._table.read_where(query.text)

    def first(self, column: str, count: int) -> np.ndarray:
        """Of sorted records."""
        return self._table.read_sorted(column, stop=count)[column]

    def ascending(self, column: str, count: int) -> np.ndarray:
        """Row by row."""
        return np.array([row[column] for row in self._table.itersorted(column, stop=count)])

    def append(self, batch: Columns) -> None:
        """Records; indexes are brought up to date when the file is closed."""
        self._table.append(records(batch))

    def close(self) -> None:
        """The file."""
        self._file.close()

    def is_by_index(self, query: Query) -> bool | None:
        """As it says."""
        return bool(self._table.will_query_use_indexing(query.text))

    def create(self, column: str, kind: str) -> None:
        """An index, with the filters that it has by itself."""
        self._table.colinstances[column].create_index(optlevel=OPTLEVELS[kind], kind=kind)

    def copy_sorted(self, target: Path, column: str) -> None:
        """Another file in the order of a column."""
        with tables.open_file(str(target), "w") as file:
            options = {"sortby": column, "checkCSI": True, "chunkshape": CHUNK_ROWS, "filters": FILTERS}
            self._table.copy(file.root, "table", **options)


class PyTables(Library):
    """PyTables' tables. What is found to be the faster way to ask is kept from one opening to the next."""

    suffix = ".h5"
    kinds: ClassVar[Mapping[str, str]] = {
        COMPLETE: "full",
        PARTIAL: "medium",
        LIGHT: "light",
        LEAST: "ultralight",
    }

    def __init__(self, name: str = TABLES) -> None:
        """As a contender of this name."""
        self.name = name
        self._ways: dict[str, Way] = {}

    def write(self, path: Path, some: Columns) -> None:
        """A table, told how many rows there will be."""
        with tables.open_file(str(path), "w") as file:
            count = len(some[NAMES[0]])
            table = file.create_table(
                "/", "table", DTYPE, filters=FILTERS, chunkshape=CHUNK_ROWS, expectedrows=count
            )
            for batch in pieces(some):
                table.append(records(batch))

    def open(self, path: Path, *, is_writable: bool = False) -> TablesAsker:
        """The table of a file."""
        return TablesAsker(path, is_writable, self._ways)

    def build(self, path: Path, column: str, kind: str) -> Callable[[], object]:
        """`create_index` with the effort that goes with the kind."""
        asker = self.open(path, is_writable=True)

        def call() -> None:
            asker.create(column, kind)
            asker.close()

        return call

    def sort(self, path: Path, target: Path, column: str) -> None:
        """`copy(sortby=)`."""
        asker = self.open(path)
        asker.copy_sorted(target, column)
        asker.close()


class BloscAsker(Asker):
    """python-blosc2."""

    def __init__(self, path: Path, is_writable: bool) -> None:
        """Opens it."""
        self._table: Any = blosc2.CTable.open(str(path), mode="a" if is_writable else "r")
        self._indexed = [one.col_name for one in self._table.indexes if one.kind != "summary"]

    def column(self, query: Query) -> np.ndarray:
        """One column."""
        return self._table.where(query.text)[query.column][:]

    def rows(self, query: Query) -> Any:
        """All columns."""
        found = self._table.where(query.text)
        return {name: found[name][:] for name in NAMES}

    def first(self, column: str, count: int) -> np.ndarray:
        """A slice of the sorted table, which reads no more."""
        found = self._table.sorted_slice(column, slice(0, count))
        return {name: found[name][:] for name in NAMES}[column]

    def ascending(self, column: str, count: int) -> np.ndarray:
        """Row by row."""
        return np.array([getattr(row, column) for row in self._table.iter_sorted(column, stop=count)])

    def append(self, batch: Columns) -> None:
        """Without looking at each number; indexes are then out of date."""
        self._table.extend(dict(batch), validate=False)

    def refresh(self) -> None:
        """Builds the indexes again."""
        for column in self._indexed:
            self._table.rebuild_index(column)

    def close(self) -> None:
        """The table."""
        self._table.close()


class Blosc(Library):
    """python-blosc2's tables, in a folder."""

    name = CTABLE
    suffix = ".b2d"
    kinds: ClassVar[Mapping[str, str]] = {
        COMPLETE: "full",
        PARTIAL: "partial",
        LIGHT: "bucket",
        LEAST: "summary",
    }

    def write(self, path: Path, some: Columns) -> None:
        """A table; when it is closed, it gets the smallest and largest of its blocks."""
        remove(path)
        kinds = {"i": (int, blosc2.int32), "f": (float, blosc2.float64)}
        specs = {name: kinds[DTYPE[name].kind] for name in NAMES}
        fields = [(name, plain, blosc2.field(spec())) for name, (plain, spec) in specs.items()]
        table = blosc2.CTable(
            make_dataclass("Row", fields),
            urlpath=str(path),
            mode="w",
            expected_size=len(some[NAMES[0]]),
            cparams={"codec": blosc2.Codec.ZSTD, "clevel": LEVEL},
        )
        for batch in pieces(some):
            table.extend(dict(batch), validate=False)
        table.close()

    def open(self, path: Path, *, is_writable: bool = False) -> Asker:
        """The table of a folder."""
        return BloscAsker(path, is_writable)

    def build(self, path: Path, column: str, kind: str) -> Callable[[], object]:
        """`create_index`; of the kind that is there already the old one is dropped first."""
        table: Any = blosc2.CTable.open(str(path), mode="a")
        if any(one.col_name == column for one in table.indexes):
            table.drop_index(column)

        def call() -> None:
            table.create_index(column, kind=blosc2.IndexKind(kind))
            table.close()

        return call

    def sort(self, path: Path, target: Path, column: str) -> None:
        """A sorted copy in memory, then saved: a copy of a sorted view is not in order."""
        remove(target)
        table: Any = blosc2.CTable.open(str(path))
        table.sort_by(column).save(str(target))
