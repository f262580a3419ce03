"""The libraries of `index.py` behind the same calls: a table made, indexed, opened, asked.

In: columns, queries. Out: files; answers as NumPy arrays. Each has two threads, and Zstd 5 with shuffle.
Levels say which kinds of index are beside each other; what a library calls them is in its `kinds`.
Invariant: an answer has rows in the order of the table, but where an order was asked for.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bench.common import harness
from bench.indexes.index_data import FLOAT, INT, NAMES, Columns, Query, pieces
from bench.tables.table_peers import THREADS

COMPLETE, PARTIAL, LIGHT, LEAST = "complete", "partial", "light", "least"
INDEXED = (INT, FLOAT)
LEVELS = (COMPLETE, PARTIAL, LIGHT, LEAST)
CODEC, LEVEL = "zstd", 5


class Asker(ABC):
    """A table that is open."""

    @abstractmethod
    def column(self, query: Query) -> np.ndarray:
        """One column of the rows that meet a condition."""

    @abstractmethod
    def rows(self, query: Query) -> Any:
        """All columns of them, as the library gives rows: records, or a mapping of columns."""

    @abstractmethod
    def first(self, column: str, count: int) -> np.ndarray:
        """The smallest numbers of a column, with their rows read: `order_by` and the first of it."""

    @abstractmethod
    def ascending(self, column: str, count: int) -> np.ndarray:
        """The same, one row after the other, as a loop over sorted rows meets them."""

    @abstractmethod
    def append(self, batch: Columns) -> None:
        """More rows."""

    @abstractmethod
    def close(self) -> None:
        """Closes the file."""

    def refresh(self) -> None:
        """Brings indexes up to date, where appending does not."""
        return

    def is_by_index(self, query: Query) -> bool | None:
        """Whether it says that an index answers this; None if it does not say."""
        return None


class Library(ABC):
    """Something that keeps tables in files. kinds: what it calls each level."""

    name: str
    suffix: str
    kinds: ClassVar[Mapping[str, str]]

    @abstractmethod
    def write(self, path: Path, some: Columns) -> None:
        """A file without indexes."""

    @abstractmethod
    def open(self, path: Path, *, is_writable: bool = False) -> Asker:
        """The table of a file."""

    @abstractmethod
    def build(self, path: Path, column: str, kind: str) -> Callable[[], object]:
        """Opens a file for writing; returns what builds the index and closes the file."""

    def sort(self, path: Path, target: Path, column: str) -> None:
        """Another file with the rows in the order of a column, through its complete index."""
        raise NotImplementedError

    def index(self, path: Path, column: str, level: str) -> float:
        """Indexes a column; returns the seconds until the file was closed."""
        return harness.clock(self.build(path, column, self.kinds[level]), 1)


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    return path.stat().st_size


def copy(source: Path, target: Path) -> Path:
    """A file or folder once more, with its time: as ours would be found by who goes on with it."""
    remove(target)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)
    return target


def remove(path: Path) -> None:
    """Removes a file or folder that may be there."""
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        os.remove(path)


class DuckAsker(Asker):
    """DuckDB; what is asked goes as SQL."""

    def __init__(self, path: Path, is_writable: bool) -> None:
        """Connects to it."""
        import duckdb

        options: dict[str, Any] = {"threads": THREADS, "preserve_insertion_order": True}
        self._connection = duckdb.connect(str(path), read_only=not is_writable, config=options)
        self._is_growing = False  # rows are put in within one transaction

    def column(self, query: Query) -> np.ndarray:
        """One column."""
        sql = f"select {query.column} from t where {query.sql}"
        return self._connection.execute(sql).fetchnumpy()[query.column]

    def rows(self, query: Query) -> Any:
        """All columns."""
        return self._connection.execute(f"select * from t where {query.sql}").fetchnumpy()

    def first(self, column: str, count: int) -> np.ndarray:
        """With `limit`."""
        sql = f"select * from t order by {column} limit {count}"
        return self._connection.execute(sql).fetchnumpy()[column]

    def ascending(self, column: str, count: int) -> np.ndarray:
        """Row by row, with `limit`: else it sorts all rows."""
        found = self._connection.execute(f"select * from t order by {column} limit {count}")
        place = NAMES.index(column)
        return np.array([row[place] for row in iter(found.fetchone, None)])

    def append(self, batch: Columns) -> None:
        """From Arrow, without a copy."""
        import pyarrow as pa

        if not self._is_growing:
            self._connection.execute("begin")
            self._is_growing = True
        self._connection.register("batch", pa.table(dict(batch)))
        self._connection.execute("insert into t select * from batch")

    def close(self) -> None:
        """What was written goes into the file."""
        if self._is_growing:
            self._connection.execute("commit")
        self._connection.close()

    def execute(self, sql: str) -> None:
        """A statement."""
        self._connection.execute(sql)

    def is_by_index(self, query: Query) -> bool | None:
        """What `explain` says."""
        sql = f"explain analyze select {query.column} from t where {query.sql}"
        return "Index Scan" in self._connection.execute(sql).fetchall()[0][1]


class DuckDB(Library):
    """DuckDB's own file. Its indexes are radix trees; row groups have their smallest and largest anyway."""

    name = "DuckDB"
    suffix = ".duckdb"
    kinds: ClassVar[Mapping[str, str]] = {COMPLETE: "ART"}

    def write(self, path: Path, some: Columns) -> None:
        """A table, all of it in one transaction."""
        import pyarrow as pa

        remove(path)
        asker = DuckAsker(path, is_writable=True)
        asker.execute("create table t (col1 integer, col2 integer, col3 double, col4 double)")
        for batch in pieces(some):
            asker.append({name: pa.array(values) for name, values in batch.items()})
        asker.close()

    def open(self, path: Path, *, is_writable: bool = False) -> Asker:
        """The database."""
        return DuckAsker(path, is_writable)

    def build(self, path: Path, column: str, kind: str) -> Callable[[], object]:
        """`create index`, and all of it into the file."""
        asker = DuckAsker(path, is_writable=True)

        def call() -> None:
            asker.execute(f"create index by_{column} on t ({column})")
            asker.execute("checkpoint")
            asker.close()

        return call

    def sort(self, path: Path, target: Path, column: str) -> None:
        """A table made by a query."""
        remove(target)
        asker = DuckAsker(target, is_writable=True)
        asker.execute(f"attach '{path}' as source (read_only)")
        asker.execute(f"create table t as select * from source.t order by {column}")
        asker.close()
