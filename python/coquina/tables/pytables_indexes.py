"""The indexes of PyTables beside a table of records: found, checked, and asked as ours are.

In: a table in the rows layout. Out: `PyTablesIndex` by column; of rows with values in a range.
Source: docs/formats/pytables-indexes.md.
Invariant: only an index that PyTables would use is used; one that is damaged where it is read knows nothing.
    Its rows are candidates: the condition is computed on them, as PyTables does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CoquinaError, RowSet
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.places import inside
from coquina.hdf5.sessions import Session
from coquina.hdf5.untyped import h5py
from coquina.indexes.keys import UnorderedError, kind_of
from coquina.quoting import quoted
from coquina.tables.index_sources import index_source
from coquina.tables.pytables_index_groups import arrays_of, below, group_of
from coquina.tables.pytables_index_making import make_index
from coquina.tables.pytables_index_shape import (
    KINDS,
    READ,
    UnusableError,
    check_clean,
    reading_h5py,
    search_of,
    sizes_of,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from coquina._core import KeyRanges, PyTablesSearch
    from coquina.indexes.index import Check
    from coquina.indexes.source import IndexSource
    from coquina.tables.rows import RowsLayout
    from coquina.tables.table import Table

    Progress = Callable[[int, int], None]
    Keys = npt.NDArray[np.uint64]
    Rows = npt.NDArray[np.int64]

#: PyTables knows dates as the integers that are stored.
_TIMES = {"time": "int64"}
#: What damage raises, here and in the engine. Other errors are mistakes of ours, and are raised.
_DAMAGE = (UnusableError, CoquinaError, OSError)


def indexes_of(table: Table) -> Mapping[str, PyTablesIndex]:
    """Return the indexes of PyTables that a table has, by column; also those that are not usable.

    Those of columns whose values have no keys (long doubles) are left out.
    """
    layout: Any = table.layout
    return indexes_in(layout) if layout.kind == "rows" else {}


def indexes_in(layout: RowsLayout) -> Mapping[str, PyTablesIndex]:
    """Return those of a layout; see `indexes_of`."""
    if layout.their_indexes is None:
        layout.their_indexes = _found(layout)
    return layout.their_indexes


def _found(layout: RowsLayout) -> dict[str, PyTablesIndex]:
    group = group_of(layout)
    found: dict[str, PyTablesIndex] = {}
    for path in layout.columns if group is not None else ():
        h5 = below(group, path)
        if h5 is None or layout.columns[path].shape:
            continue
        try:
            source = index_source(layout, path, 0)
        except UnorderedError:
            continue
        dtype = _sorted_dtype(layout, path)
        if _keys_like(dtype, layout.field(path).is_bits) in (source.kind, _TIMES.get(source.kind)):
            found[path] = PyTablesIndex(layout, source, h5, dtype)
    return found


def _sorted_dtype(layout: RowsLayout, path: str) -> np.dtype[Any]:
    """Return the dtype in which PyTables sorts a column."""
    is_time = layout.columns[path].kind == "time"
    return np.dtype(np.float64) if is_time else layout.field(path).dtype


def _keys_like(dtype: np.dtype[Any], is_bits: bool) -> str:
    try:
        return "bool" if is_bits else kind_of(dtype)
    except UnorderedError:
        return ""


class PyTablesIndex:
    """An index of PyTables. It has what an `Index` has as far as queries need it.

    column: the path of the column that is indexed, also its name. kind: "pytables"; `level` is PyTables' own:
    "ultralight", "light", "medium" or "full". key_kind: how keys are made of values. is_exact: whether keys
    tell values apart.
    """

    kind = "pytables"

    def __init__(self, layout: RowsLayout, source: IndexSource, h5: Any, dtype: np.dtype[Any]) -> None:
        """The index in a group of h5py. dtype: of the values that it has."""
        self.name = self.column = source.name
        self.source = source
        self.key_kind = source.kind
        self.is_exact = source.is_exact
        self._layout, self._h5, self._dtype = layout, h5, dtype
        # No lock of ours: one that is held while h5py is called, which takes its own, makes threads wait for
        # each other if a visitor of h5py asks the index. Two threads that open it at once get the same.
        self._damage = ""
        self._opened: tuple[PyTablesSearch, dict[str, int]] | None = None
        self._session, self._place = Session.at(inside(layout.dataset))

    def __repr__(self) -> str:
        """Say of what it is, and whether it is used."""
        if not self._h5:
            return "<PyTablesIndex, closed>"
        reason = self.reason
        what = f"not usable: {quoted(reason)}" if reason else f"{self.level}, {self.rows} rows"
        return f"<PyTablesIndex of {self.column!r}: {what}>"

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked; `reason` says why not."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why it is not used; empty if it is."""
        try:
            self._open()
        except _DAMAGE as error:
            return told(error)
        return ""

    @property
    def level(self) -> str:
        """PyTables' name for what it stores of rows; empty if it is not usable."""
        search = self._usable()
        return "" if search is None else KINDS[search.item_bytes]

    @property
    def bucket_rows(self) -> int:
        """How many rows are told together, 1 for "full" ones."""
        search = self._usable()
        return 1 if search is None else search.bucket_rows

    @property
    def rows(self) -> int:
        """How many rows it knows of."""
        return self._layout.nrows if self.is_usable else 0

    @property
    def unindexed_rows(self) -> int:
        """The number of rows that it does not cover: none, or all."""
        return self._layout.nrows - self.rows

    @property
    def open_rows(self) -> int:
        """The old name of `unindexed_rows`."""
        return self.unindexed_rows

    @property
    def nbytes(self) -> int:
        """What its arrays take, compressed."""
        arrays = [self._h5.get(name) for name in self._h5]
        return sum(one.id.get_storage_size() for one in arrays if isinstance(one, h5py.Dataset))

    @property
    def runs(self) -> list[Any]:
        """None: it is not made of runs."""
        return []

    @property
    def info(self) -> dict[str, Any]:
        """What it is, for people."""
        reason, opened = self.reason, self._opened
        found: dict[str, Any] = {
            "name": self.name,
            "column": self.column,
            "kind": self.kind,
            "is_usable": not reason,
            "reason": reason,
        }
        if not reason and opened is not None:
            search, sizes = opened
            found |= {
                "level": KINDS[search.item_bytes],
                "optlevel": sizes["optlevel"],
                "reduction": sizes["reduction"],
                "slice_rows": sizes["slicesize"],
                "chunk_rows": sizes["chunksize"],
                "bucket_rows": search.bucket_rows,
                "rows": search.rows,
                "unindexed_rows": self.unindexed_rows,
            }
        return found | {"nbytes": self.nbytes}

    def lookup(
        self, keys: KeyRanges, *, missing: bool = False, check: Check | None = None, by_key: bool = False
    ) -> RowSet:
        """Return the rows whose key may be in a set.

        Rows of "full" indexes are told one by one, others as ranges: none is said to be in the answer.
        missing: the rows without a value too. check, by_key: not asked. One that is not usable gives a set
        that is open everywhere.
        """
        del check, by_key
        search = self._usable()
        if search is None:
            return RowSet.all(self._layout.nrows)
        try:
            found = search.find(keys, missing=missing)
        except _DAMAGE as error:
            self._damage = told(error)
            found = None
        if found is None:
            return RowSet.all(search.rows)
        rows, ranges = found
        return RowSet(rows, ranges.reshape(-1, 2), search.item_bytes < 8)

    def estimate(self, keys: KeyRanges, *, missing: bool = False) -> int:
        """Return about how many rows `lookup` gives at most, with those of ranges; a few chunks are read."""
        search = self._usable()
        if search is None:
            return self._layout.nrows
        try:
            return search.estimate(keys, missing=missing)
        except _DAMAGE as error:
            self._damage = told(error)
            return search.rows

    def count(
        self, keys: KeyRanges, *, missing: bool = False, check: Check | None = None, by_key: bool = False
    ) -> int | None:
        """Return None: only the condition itself tells."""
        del keys, missing, check, by_key

    def few(self, keys: KeyRanges, *, missing: bool, check: Check, most: int) -> tuple[int, int, None] | None:
        """Return what `estimate` says, how many rows are open, and no rows: these are looked up if wanted;
        None of an index that is not usable.
        """
        del check, most
        return (self.estimate(keys, missing=missing), 0, None) if self.is_usable else None

    def refresh(self, *, memory_limit: int = 1 << 30, progress: Progress | None = None) -> None:
        """Make it anew if it is out of date: a complete one, of whichever level it was."""
        if not self.is_usable:
            make_index(self._layout, self.column, memory_limit=memory_limit, progress=progress)

    def open_ranges(self) -> Rows:
        """Return the ranges of rows that it knows nothing of: none, or all."""
        return RowSet.all(self.unindexed_rows).open

    def in_order(
        self,
        *,
        descending: bool = False,
        window: int = 65536,
        keys: tuple[int, int] | None = None,
        by_prefix: bool = False,
    ) -> None:
        """Return None: rows with equal values are in no order."""
        del descending, window, keys, by_prefix

    def missing_rows(self) -> Rows:
        """Return none: rows without a value are not told apart."""
        return np.empty(0, np.int64)

    def _usable(self) -> PyTablesSearch | None:
        """Return the engine's search; None if the index is of no use, now."""
        try:
            return self._open()[0]
        except _DAMAGE:
            return None

    def _open(self) -> tuple[PyTablesSearch, dict[str, int]]:
        """Return the search of the checked index, and its sizes. Raises one of `_DAMAGE` if it is of no use,
        now.
        """
        if self._damage:
            raise UnusableError(self._damage)
        if not self._h5:
            raise UnusableError("it was removed, or its file is closed")
        self._check_unchanged()
        opened = self._opened
        if opened is None:
            opened = self._opened = self._read()
        rows = opened[0].rows
        if rows != self._layout.nrows:
            self._opened = None
            raise UnusableError(f"it is of {rows} rows, and there are {self._layout.nrows}")
        return opened

    def _check_unchanged(self) -> None:
        """Raise UnusableError if rows changed since the index was made, as far as anybody can tell."""
        check_clean(self._h5)
        if not self._session.is_writable:
            return
        if raw := self._session.why_raw():
            raise UnusableError(raw)
        if self._session.changes(self._place).total != self._layout.their_changes.get(self.column, 0):
            raise UnusableError("rows changed after it was made")

    def _read(self) -> tuple[PyTablesSearch, dict[str, int]]:
        dataset = self._layout.dataset
        if dataset.layout != "chunked":
            raise UnusableError(f"the table is {dataset.layout}")
        if self._dtype.str[1:] == "f2":
            raise UnusableError("PyTables sorts float16 by its bits, and not by value")
        with reading_h5py():
            links = [name for name in READ if isinstance(self._h5.get(name, getlink=True), h5py.HardLink)]
            arrays = arrays_of(self._layout, self._h5, links)
        lacking = [name for name in READ if not isinstance(arrays.get(name), Dataset)]
        if lacking:
            raise UnusableError(f"{', '.join(lacking)} is missing, or of a type that is none of arrays")
        sizes = sizes_of(self._h5)
        # Seconds are computed here and there, perhaps rounded otherwise in the last bit.
        is_rounded = self._layout.columns[self.column].kind == "time"
        search = search_of(
            arrays,
            sizes,
            self._dtype,
            self.key_kind,
            chunk_rows=dataset.chunks[0],
            is_rounded=is_rounded,
        )
        return search, sizes
