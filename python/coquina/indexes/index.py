"""`Index`: which rows have values in a range, of a column, an expression or an array.

In: keys, as ranges. Out: rows, and open ranges of which it knows nothing.
Source: docs/formats/indexes.md.
Invariant: a row is in the answer if its value is in a range; damage, or changes that nobody told, only make
    more ranges open.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coquina._core import CorruptError, CurrentIndex, IndexState, KeyRanges, RowSet
from coquina.indexes import units
from coquina.indexes.places import DAMAGE, IndexPlace
from coquina.locks import NodeLock
from coquina.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina._core import IndexMetadata
    from coquina.indexes.places import Place
    from coquina.indexes.source import Freshness, IndexSource

    Rows = npt.NDArray[np.int64]
    Check = Callable[[Rows], npt.NDArray[np.bool_]]
    Progress = Callable[[int, int], None]

_NO_ROWS, _NO_RANGES = np.empty(0, np.int64), np.empty((0, 2), np.int64)


class Run(NamedTuple):
    """A run of an index.

    number: its name among the runs of its index, and in the spans that it owns. entries: rows with a key.
    missing: rows (buckets) without one. rows: how many rows it was made of.
    """

    number: int
    entries: int
    missing: int
    rows: int


class Now(NamedTuple):
    """What can be asked as long as nothing changes, and what it is of."""

    state: IndexState
    core: CurrentIndex


class Index:
    """An index of a table or an array; returned by `create_index` and listed in `indexes`.

    name: of the index. column: the name of a column, the text of an expression, or "" for an array.
    kind: "full", "partial", "light" or "zones". source: the indexed values.
    key_kind: how keys are made from values, see `coquina.indexes.keys`. bucket_rows: rows of a bucket; 1
        except for "light".

    >>> import coquina as cq
    >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2]})
    >>> t.create_index("x").kind
    'full'
    """

    def __init__(
        self, place: Callable[[], Place], key: str, meta: IndexMetadata, source: IndexSource
    ) -> None:
        """Made by `IndexStore`. key: what it is called in the place."""
        self.key = key
        self.name = meta.name
        self.column = meta.column
        self.is_expression = meta.is_expression
        self.kind = meta.kind
        self.key_kind = meta.key_kind
        self.bucket_rows = meta.bucket_rows
        self.source = source
        self._place = place
        self._meta = meta
        self._lock = NodeLock()
        self._state: IndexState | None = None
        self._freshness: Freshness | None = None
        self._now: Now | None = None
        self._damage = ""
        self._is_changed = False
        self.is_closed = False

    @property
    def is_exact(self) -> bool:
        """Whether keys tell values apart."""
        return self.source.is_exact

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked; `reason` says why not."""
        return self._current() is not None

    @property
    def reason(self) -> str:
        """Why it is not used; empty if it is."""
        if self._current() is not None:
            return ""
        return self._damage or ("" if self._freshness is None else self._freshness.reason)

    @property
    def rows(self) -> int:
        """How many rows it knows of."""
        now = self._current()
        return 0 if now is None else now.core.nrows - now.core.open_rows

    @property
    def unindexed_rows(self) -> int:
        """The number of rows that it does not cover: queries scan these."""
        now = self._current()
        return self.source.count() if now is None else now.core.open_rows

    @property
    def open_rows(self) -> int:
        """The old name of `unindexed_rows`."""
        return self.unindexed_rows

    @property
    def nbytes(self) -> int:
        """What it takes, compressed."""
        now = self._current()
        if now is None:
            return 0
        runs = [run[0] for run in now.state.runs]
        return IndexPlace(self._place()).nbytes(self.key, runs) + now.state.list_bytes

    @property
    def runs(self) -> tuple[Run, ...]:
        """Its runs that own rows; empty if it is not usable, or has zones."""
        now = self._current()
        if now is None:
            return ()
        owning = {number for number, _ in now.core.runs}
        return tuple([Run(*run) for run in now.state.runs if run[0] in owning])

    @property
    def info(self) -> dict[str, Any]:
        """What it is, for people."""
        return {
            "name": self.name,
            "column": self.column,
            "kind": self.kind,
            "keys": self.key_kind,
            "rows": self.rows,
            "unindexed_rows": self.unindexed_rows,
            "runs": len(self.runs),
            "nbytes": self.nbytes,
            "is_usable": self.is_usable,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        """Say what it is of, and how much it knows."""
        state = quoted(self.reason or f"{self.rows} rows, {self.unindexed_rows} unindexed")
        return (
            f"<Index {self.name!r} of {self.column!r} ({'closed' if self.is_closed else self.kind}, {state})>"
        )

    def lookup(
        self, keys: KeyRanges, *, missing: bool = False, check: Check | None = None, by_key: bool = False
    ) -> RowSet:
        """Return the rows whose key is in a set.

        missing: the rows without a value too. check: tells of rows whether they belong to the answer, where
        keys do not: where an entry is not exact, and with a key that is an end of a range where keys do not
        tell values apart. Without it such rows are in the set, which is not exact then.
        by_key: rows belong to the answer if their keys are in the ranges, also where keys do not tell values
        apart.
        An index that is not usable gives a set that is open everywhere.
        """
        now = self._current()
        if now is None:
            return RowSet.all(self.source.count())
        return self._found(now, keys, missing=missing, check=check, by_key=by_key)

    def few(
        self, keys: KeyRanges, *, missing: bool, check: Check, most: int
    ) -> tuple[int, int, RowSet | None] | None:
        """Return the estimate, the unindexed rows, and the rows if at most `most`; None if not usable."""
        now = self._current()
        if now is None:
            return None
        rows, open_rows = now.core.estimate(keys, missing), now.core.open_rows
        if rows > most or self.kind == "zones" or self.bucket_rows > 1:
            return rows, open_rows, None
        return rows, open_rows, self._found(now, keys, missing=missing, check=check, by_key=True)

    def _found(
        self, now: Now, keys: KeyRanges, *, missing: bool, check: Check | None, by_key: bool
    ) -> RowSet:
        try:
            sure, unsure = now.core.lookup(keys, missing, by_key or self.is_exact)
        except DAMAGE as error:
            if self._now is not now:
                # It was made anew meanwhile, and what was asked is gone.
                return self.lookup(keys, missing=missing, check=check, by_key=by_key)
            self._spoil(error)
            return RowSet.all(self.source.count())
        if unsure is None:
            return sure
        kept = unsure if check is None else unsure[check(unsure)]
        return sure | RowSet(kept, _NO_RANGES, check is not None)

    def estimate(self, keys: KeyRanges, *, missing: bool = False) -> int:
        """Return how many rows `lookup` gives at most, without those of open ranges; from memory alone.

        Kinds "light" and "zones": how many rows are candidates.
        """
        now = self._current()
        return 0 if now is None else now.core.estimate(keys, missing)

    def count(
        self, keys: KeyRanges, *, missing: bool = False, check: Check | None = None, by_key: bool = False
    ) -> int | None:
        """Return how many rows `lookup` would give; None where that is not known exactly: something is open,
        or rows are known by buckets and zones only, or keys do not tell values apart.
        """
        now = self._current()
        if now is None or not now.core.tells_rows:
            return None
        try:
            count = now.core.count(keys, missing, by_key or self.is_exact)
        except DAMAGE as error:
            self._spoil(error)
            return None
        if count is not None:
            return count
        found = self.lookup(keys, missing=missing, check=check, by_key=by_key)
        return len(found) if found.is_exact and not found.open_ranges else None

    def open_ranges(self) -> Rows:
        """Return the ranges of rows that it knows nothing of: pairs, ascending, not adjacent."""
        now = self._current()
        return RowSet.all(self.source.count()).open if now is None else now.core.open

    def in_order(
        self,
        *,
        descending: bool = False,
        window: int = 65536,
        keys: tuple[int, int] | None = None,
        by_prefix: bool = False,
    ) -> list[Iterator[Rows]] | None:
        """Return for each run the rows that it owns in the order of their keys, some at a time.

        Equal keys: by row, ascending (descending, if `descending`). Rows without a key are not among them,
        see `missing_rows`; nor are those of open ranges. None where there is no order: of kinds "light" and
        "zones", of text unless `by_prefix`, of what is not usable. Damage is raised: the rows are no set that
        could be open.
        keys: the least and the greatest; some rows beside them may be there.
        """
        now = self._current()
        if now is None or self.kind == "zones" or self.bucket_rows > 1 or not (self.is_exact or by_prefix):
            return None
        ends = None if keys is None else list(keys)
        core, count = now.core, len(now.core.runs)
        return [_in_order(core, run, window, descending=descending, keys=ends) for run in range(count)]

    def rows_at(self, start: int, stop: int) -> Rows | None:
        """Return rows by their places in the order of values; None where one run does not have them all."""
        now = self._current()
        if now is None or not self.is_exact or not now.core.tells_rows:
            return None
        if [owns for _, owns in now.core.runs] != [True] or stop > now.core.places(0, None)[1]:
            return None
        return now.core.rows_at(0, start, stop)

    def missing_rows(self) -> Rows:
        """Return the rows without a value, ascending; without those of open ranges."""
        now = self._current()
        if now is None or self.kind == "zones" or self.bucket_rows > 1:
            return _NO_ROWS
        return now.core.missing_rows()

    def look(self) -> None:
        """Values are about to be written by its owner: see before that whether it is right so far."""
        with self._lock:
            if self._freshness is None and not self._damage:
                try:
                    self._freshness = self.source.freshness(self._meta.stamp)
                    self._freshness.check()
                except DAMAGE as error:
                    self._spoil(error)

    def build(self, *, memory_limit: int = 1 << 30, progress: Progress | None = None) -> None:
        """Index all rows again."""
        with self._lock:
            before = self._freshness
            try:
                self._extend(self._fresh_state(), memory_limit, progress, whole=True)
            except BaseException:
                self._freshness = before
                raise

    def refresh(self, *, memory_limit: int = 1 << 30, progress: Progress | None = None) -> None:
        """Index what is open: changed rows, and those that came behind the last."""
        with self._lock:
            now = self._current()
            if now is None and self._state is None:
                self.build(memory_limit=memory_limit, progress=progress)
            elif self._state is not None and (now is None or now.core.open_rows):
                if now is None:
                    # Whether anything was written cannot be known, so what is taken over is compared.
                    self._compare(self._state)
                self._extend(self._state, memory_limit, progress, whole=False)

    def compact(self, *, memory_limit: int = 1 << 30, progress: Progress | None = None) -> None:
        """Index what is open, and make one run of all; one that was already is left."""
        with self._lock:
            now = self._current()
            if now is None or self.kind in ("zones", "partial"):
                self.refresh(memory_limit=memory_limit, progress=progress)
            elif now.core.open_rows or len(now.core.runs) > 1 or not all(owns for _, owns in now.core.runs):
                self._extend(now.state, memory_limit, progress, whole=True)

    def changed(self, start: int, stop: int) -> None:
        """Rows are about to change, or did: what was known of them is forgotten."""
        with self._lock:
            state = self._loaded()
            if state is not None and state.changed(start, stop):
                self._is_changed = True
                self._now = None

    def resized(self, nrows: int) -> None:
        """There are so many rows now."""
        with self._lock:
            state = self._loaded() if nrows < self._meta.rows else self._state
            self._now = None
            if state is not None and state.resized(nrows):
                self._is_changed = True

    def rename(self, name: str, source: IndexSource) -> None:
        """Give it another name, and what it is of."""
        with self._lock:
            self.name, self.column, self.source = name, source.name, source
            self._meta = self._meta.renamed(name, source.name)
            self._now = None
            state = self._loaded()
            if state is not None:
                state.rename(IndexPlace(self._place()), name, source.name)
                self._freshness = source.freshness(self._meta.stamp)

    @property
    def is_idle(self) -> bool:
        """Whether nobody has asked or told it anything yet, and there are as many rows as it knows."""
        return self._state is None and self._meta.rows == self.source.count()

    def save(self) -> None:
        """Write what has become of it, if it is worth while: for who closes the table."""
        with self._lock:
            state, freshness = self._state, self._freshness
            if state is None or freshness is None or not self._place().is_writable:
                return
            now = self._now if self._is_changed else self._current()
            if self._is_changed or (now is not None and not freshness.is_stamped):
                state.save(IndexPlace(self._place()), self.source.count(), _stamp_of(freshness))
                self._meta, self._is_changed = state.metadata, False

    def _extend(
        self, state: IndexState, memory_limit: int, progress: Progress | None, *, whole: bool
    ) -> None:
        nrows, source, freshness = self.source.count(), self.source, self._freshness
        assert freshness is not None
        place = IndexPlace(self._place())
        # What a killed program left has numbers that will be given again.
        state.sweep(place, self._meta)
        freshness.check()

        def stamp() -> str:
            # All values have been read and compared by now.
            freshness.verified()
            return json.dumps(freshness.stamp())

        state.extend(
            place,
            (source.lazies(), source.missing(), source.fingerprinted()),
            nrows,
            stamp,
            whole=whole,
            memory_limit=memory_limit,
            progress=progress,
        )
        self._meta, self._is_changed, self._damage = state.metadata, False, ""
        # Its runs are opened when somebody asks.
        self._state = self._now = None

    def _fresh_state(self) -> IndexState:
        """Return a state of nothing, with numbers that are not in use."""
        self.key_kind = self.source.kind
        self._freshness = self.source.freshness({})
        empty = self._meta.emptied(self.source.kind, str(self.source.dtype))
        return IndexState(self.key, empty, units.params())

    # What is so now

    def _current(self) -> Now | None:
        """Return what can be asked now; None if nothing can. Cheap, as long as nothing changes."""
        now = self._now
        if now is not None and now.core.nrows == self.source.count():
            freshness = self._freshness
            if freshness is not None and freshness.check() is True:
                return now
        with self._lock:
            state = self._loaded()
            try:
                self._now = None if state is None else self._made(state)
            except DAMAGE as error:
                self._spoil(error)
            return self._now

    def _loaded(self) -> IndexState | None:
        if self._state is None and not self._damage:
            try:
                self._state = self._opened()
            except DAMAGE as error:
                self._spoil(error)
        return self._state

    def _opened(self) -> IndexState:
        """Open what is stored. Raises CorruptError for what is damaged, and of values of another kind."""
        meta, source = self._meta, self.source
        if meta.key_kind != source.kind:
            raise CorruptError(f"made of {meta.key_kind}, and {source.name!r} is {source.kind} now")
        if self._freshness is None:
            self._freshness = source.freshness(meta.stamp)
        return IndexState.load(IndexPlace(self._place()), self.key, meta, units.params())

    def _made(self, state: IndexState) -> Now | None:
        freshness = self._freshness
        fresh = None if freshness is None else freshness.check()
        if freshness is None or fresh is None:
            return None
        nrows = self.source.count()
        is_changed = state.resized(nrows)
        if not fresh:
            is_changed |= self._compare(state)
            freshness.verified()
        self._is_changed |= is_changed
        return Now(state, state.current(nrows))

    def _compare(self, state: IndexState) -> bool:
        """Forget the spans whose values have other fingerprints now; return whether there are some."""
        return state.verify(self.source.fingerprinted())

    def _spoil(self, error: Exception) -> None:
        self._damage = f"damaged: {error}" if str(error) else f"damaged: {type(error).__name__}"
        self._state = self._now = None


def _stamp_of(freshness: Freshness) -> Callable[[], str]:
    """Return what gives the stamp of an index as JSON."""
    return lambda: json.dumps(freshness.stamp())


def _in_order(
    core: CurrentIndex, run: int, window: int, *, descending: bool, keys: list[int] | None
) -> Iterator[Rows]:
    """Yield the rows that a run owns in the order of their keys, some at a time.

    keys: the least and the greatest; a few more rows beside them may be there.
    """
    start, stop = core.places(run, keys)
    for at in range(0, stop - start, window):
        if descending:
            rows = core.rows_at(run, max(start, stop - at - window), stop - at)[::-1]
        else:
            rows = core.rows_at(run, start + at, min(start + at + window, stop))
        if len(rows):
            yield rows


__all__ = ["Index"]
