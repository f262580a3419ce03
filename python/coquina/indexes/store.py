"""The indexes of one table or array: made, dropped, listed, and told of changes.

In: a place for arrays, and sources by what they are of. Out: `Index` objects by name.
Source: docs/formats/indexes.md, "Metadata".
Invariant: an index' metadata are written last and name all that belongs to it; what they do not name is
    removed.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from coquina._core import CoquinaError, IndexMetadata
from coquina.changes import new_writer_id
from coquina.indexes import units
from coquina.indexes.index import Index
from coquina.indexes.places import DAMAGE, PREFIX, IndexPlace, reading
from coquina.lazy_property import lazy_property
from coquina.locks import NodeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coquina.indexes.places import Place
    from coquina.indexes.source import IndexSource

KINDS = ("full", "partial", "light", "zones")
#: Unindexed rows are indexed when they are so many, at a flush, and at the end, where more may be left.
FLUSH_ROWS, CLOSE_ROWS = 1 << 20, 1 << 16
#: That is one row of so many that are known, of no more bytes than these: a query looks at them in some
#: milliseconds, and to index them takes as long as tens of queries.
_OPEN_SHARE, _OPEN_BYTES = 8, 32 << 20


class IndexStore:
    """The indexes of a table, or of an array. writer_id: of the handle that reports changes."""

    def __init__(
        self, place: Callable[[bool], Place | None], source: Callable[[int, str], IndexSource]
    ) -> None:
        """place: gives where the indexes are, made if True is given and there is none, else None.

        source: makes the source of a column or an expression from the writer id and its text; it raises
            KeyError, TypeError or ValueError if the columns no longer exist.
        """
        self.writer_id = new_writer_id()
        self._place_of = place
        self._source = source
        self._lock = NodeLock()
        self._place: Place | None = None
        # What is there and cannot be understood: new ones take their names.
        self._lost: set[str] = set()

    @lazy_property
    def indexes(self) -> Mapping[str, Index]:
        """All indexes by name, also those that are not usable: the same object until there are others."""
        with self._lock:
            return MappingProxyType(self._read())

    def _now(self, indexes: Iterable[Index]) -> None:
        """Have these indexes, and no others."""
        self.indexes = MappingProxyType({one.name: one for one in indexes})

    def close(self) -> None:
        """Note that the table is closed, and its indexes with it."""
        for one in vars(self).get("indexes", {}).values():
            one.is_closed = True

    @property
    def is_empty(self) -> bool:
        """Whether there are no indexes: cheap after it was asked once."""
        return not self.indexes

    def create(
        self,
        source: IndexSource,
        *,
        kind: str = "full",
        name: str | None = None,
        memory_limit: int = 1 << 30,
        progress: Callable[[int, int], None] | None = None,
    ) -> Index:
        """Make an index, and return it. Raises ValueError for a name that is taken, or an unknown kind."""
        if kind not in KINDS:
            raise ValueError(f"create_index: kind {kind!r}: one of {', '.join(map(repr, KINDS))}")
        with self._lock:
            wanted = (source.name or "values") if name is None else name
            if wanted in self.indexes:
                raise ValueError(f"create_index: {wanted!r} has an index already; drop_index removes it")
            place = self._made_place()
            key = self._key(place, wanted)
            described = (wanted, source.name, source.is_expression, kind, source.kind, str(source.dtype))
            meta = IndexMetadata(described, units.params())
            made = Index(self._made_place, key, meta, source)
            try:
                made.build(memory_limit=memory_limit, progress=progress)
            except BaseException:
                if not place.is_broken:
                    self._remove(place, key)
                raise
            self._now([*self.indexes.values(), made])
            return made

    def drop(self, name: str) -> None:
        """Remove an index. Raises KeyError if there is none of this name."""
        with self._lock:
            found = self.indexes
            if name not in found:
                known = ", ".join(map(repr, found)) or "none"
                raise KeyError(f"there is no index {name!r}; there are {known}")
            gone = found[name]
            self._now([one for one in found.values() if one is not gone])
            self._remove(self._made_place(), gone.key)

    # What the owner of the values tells. All of these are cheap where there are no indexes.

    def look(self) -> None:
        """Something is about to be written: whether indexes were right until then is seen now or never."""
        for index in self.indexes.values():
            index.look()

    def changed(self, columns: Iterable[str] | None, start: int, stop: int) -> None:
        """Rows change in these columns; None for all: before they do, so that a failure leaves them open."""
        wanted = None if columns is None else set(columns)
        for index in self.indexes.values():
            if wanted is None or not index.source.columns or wanted.intersection(index.source.columns):
                index.changed(start, stop)

    def resized(self, nrows: int) -> None:
        """There are so many rows now, fewer or more."""
        for index in self.indexes.values():
            index.resized(nrows)

    def renamed(self, old: str, new: str) -> None:
        """A column has got another name; indexes of expressions of it are dropped."""
        for name, index in list(self.indexes.items()):
            if _is_of(old, index) and index.is_expression:
                self.drop(name)
            elif _is_of(old, index):
                self._rename(name, index, old, new)

    def dropped(self, column: str) -> None:
        """A column is gone, and with it the indexes that need it."""
        for name, index in list(self.indexes.items()):
            if _is_of(column, index):
                self.drop(name)

    def flushed(self) -> None:
        """Rows were flushed: where much is open, 2^20 rows, it is indexed."""
        for index in self._writable():
            if index.unindexed_rows >= FLUSH_ROWS and index.is_usable:
                index.refresh()

    def closing(self) -> None:
        """The table is about to be closed: what is open is indexed if it is much, and all is saved."""
        for index in self._writable():
            if index.unindexed_rows >= _unindexed_rows_max(index) and index.is_usable:
                index.refresh()
            index.save()
        if self._place is not None:
            self._place.close()

    def compact(self) -> None:
        """Make one run of each index."""
        for index in self.indexes.values():
            index.compact()

    def _writable(self) -> list[Index]:
        """Return the indexes that may have something to be written."""
        found = self.indexes
        if not found or not self._made_place().is_writable:
            return []
        return [index for index in found.values() if not index.is_idle]

    def _rename(self, name: str, index: Index, old: str, new: str) -> None:
        column = new + index.column[len(old) :]
        is_named = name == index.column
        index.rename(
            column if is_named and column not in self.indexes else name, self._source(self.writer_id, column)
        )
        self._now(self.indexes.values())

    def _read(self) -> dict[str, Index]:
        """Return what the place has. What cannot be read is left out, but for what says its name."""
        try:
            place = self._place = self._place_of(False)
            if place is None:
                return {}
            with reading("the indexes"):
                texts = dict(place.attrs)
        except DAMAGE:
            return {}
        found: dict[str, Index] = {}
        self._lost.clear()
        for attribute, text in texts.items():
            if not attribute.startswith(PREFIX):
                continue
            key = attribute[len(PREFIX) :]
            try:
                meta = IndexMetadata.read(text, units.params())
            except CoquinaError:
                self._lost.add(key)
                continue
            source = self._source_of(meta.column)
            if source is None:
                self._lost.add(key)
            else:
                found[meta.name] = Index(self._made_place, key, meta, source)
        return found

    def _source_of(self, column: str) -> IndexSource | None:
        """Return what an index is of; None for what is gone, or of another type, since it was made."""
        try:
            return self._source(self.writer_id, column)
        except (CoquinaError, KeyError, TypeError, ValueError):
            return None

    def _made_place(self) -> Place:
        if self._place is None:
            self._place = self._place_of(True)
        assert self._place is not None
        return self._place

    def _key(self, place: Place, name: str) -> str:
        """Return what an index is called in the place, and remove what is there of this name."""
        start = re.sub(r"[^A-Za-z0-9_]", "_", name)[:40] or "_"
        key, count = start, 1
        while PREFIX + key in place.attrs and key not in self._lost:
            count += 1
            key = f"{start}_{count}"
        self._lost.discard(key)
        self._remove(place, key)
        return key

    def _remove(self, place: Place, key: str) -> None:
        """Remove an index: what names it first."""
        if PREFIX + key in place.attrs:
            del place.attrs[PREFIX + key]
            IndexPlace(place).flush()
        if key in place.names(""):
            place.remove(key)
            IndexPlace(place).flush()


def _is_of(column: str, index: Index) -> bool:
    """Whether an index needs a column, or one below it."""
    return any(one == column or one.startswith(f"{column}/") for one in index.source.columns)


def _unindexed_rows_max(index: Index) -> int:
    """Return how many rows are left open at the end, less one."""
    row_bytes = sum([array.nbytes for array in index.source.arrays()]) // max(1, index.source.count())
    few = min(FLUSH_ROWS, index.rows // _OPEN_SHARE, _OPEN_BYTES // max(1, row_bytes))
    return max(CLOSE_ROWS, few)
