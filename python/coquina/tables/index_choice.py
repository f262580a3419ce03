"""Whether a condition is answered by indexes, and by which: what each way costs, from summaries alone.

In: what a condition asks of indexes, and the table. Out: `Choice`: the terms that are looked up, or the scan,
    and why.
Costs are bytes that are decoded, or what takes as long. A scan decodes the condition's columns in all boxes
of which nothing is known. An index gives rows; if it does not answer all of the condition, that is computed
in the boxes that these are in, and where the index knows nothing. What matched is decoded either way.
Invariant: the choice depends on the condition, the indexes and the stored bytes, and on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from coquina import _core
from coquina._core import Both, Either, RowSet, Term
from coquina.expressions import engine
from coquina.indexes import units
from coquina.indexes.access import is_forced
from coquina.indexes.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coquina._core import ConditionTerms, Lazy, Tree
    from coquina.expressions.nodes import Node
    from coquina.indexes.index import Index
    from coquina.tables.table import Table

#: What a row of an index costs: to decode it, and to put it in its order.
_ROW_BYTES = 96
#: What asking what a scan would pass over costs, for each box of the table, and in any case.
_SURVEYED_BYTES, _SURVEY_BYTES = 1 << 10, 1 << 17
#: What an index has to cost at most of what a scan costs.
_GAIN = 0.9
#: Estimates are in blocks of an index: rows of so few are looked up to learn how many they are.
_LOOKED_UP_ROWS = 1 << 15


@dataclass(frozen=True, slots=True)
class Choice:
    """How a condition is answered.

    tree: the terms that are looked up; None for a scan. is_whole: whether these are all of the condition.
    names: of the indexes. reason: why it is so, for people. rest: what has to be computed of rows that surely
    meet the terms. found: the rows of terms that have been looked up, whether the tree has them or not.
    """

    tree: Tree | None
    is_whole: bool
    names: tuple[str, ...]
    reason: str
    rest: list[Lazy] = field(default_factory=list["Lazy"])
    found: Mapping[Term, RowSet] = field(default_factory=dict[Term, RowSet])


@dataclass(frozen=True, slots=True)
class _Priced:
    """A tree and what its lookup costs: the rows that it gives, in how many places, and if these are sure.

    is_open: whether it gives ranges of rows, of which all of the condition has to be computed.
    """

    tree: Tree
    lookup: float
    rows: float
    places: float
    is_whole: bool
    is_open: bool


def boxes_of(table: Table) -> tuple[int, int]:
    """Return the rows of a chunk and of a block of the table, by its first column."""
    for column in table.layout.columns.values():
        for part in column.stored[-1:] if column.kind != "string" else column.stored[:1]:
            return int(part.array.chunks[0]), int(part.array.blocks[0])
    return 1, 1


class Pricing:
    """What the ways to answer one condition cost."""

    def __init__(self, table: Table, condition: Node, terms: ConditionTerms) -> None:
        """The costs of a condition on the rows of a table. terms: what it asks of indexes."""
        self._table = table
        self._condition = condition
        self._terms = terms
        self._count = table.nrows
        self._found: dict[Term, RowSet] = {}
        #: Indexes that were wanted, and could not be asked.
        self.useless: list[Index] = []
        self._row_bytes = _core.condition_row_bytes(engine.lower(condition))
        self._box_rows = max(1, boxes_of(table)[1])
        self._boxes = max(1, -(-self._count // self._box_rows))
        self._box_bytes = min(self._box_rows, self._count) * self._row_bytes

    def chosen(self) -> Choice:
        """Return how the condition is answered."""
        tree = self._terms.tree
        if isinstance(tree, bool):
            return Choice(None, False, (), "the condition is the same for all rows")
        best = self._priced(tree)
        if best is None:
            return Choice(None, False, (), f"{', '.join(sorted(_names(tree)))}: knows nothing of these rows")
        names, words = tuple(sorted(_names(best.tree))), f"some {round(best.rows)} of {self._count} rows"
        if not self._is_gain(best):
            return Choice(None, False, (), f"a scan costs less: {words} by {', '.join(names)}")
        rest = [] if best.is_whole else self._terms.rest(best.tree)
        return Choice(best.tree, best.is_whole, names, words, rest, self._found)

    def _is_gain(self, best: _Priced) -> bool:
        """Whether a tree costs less than a scan."""
        scan = _GAIN * self._boxes * self._box_bytes
        return is_forced() or self._is_worth(best.lookup, scan - self._computed(best))

    def _is_worth(self, lookup: float, saved: float) -> bool:
        """Whether a lookup costs less than it saves. saved: where a scan passes over nothing; zone maps are
        asked for how much it passes over only if that matters: no more than the lookup can be lost.
        """
        if lookup >= saved:
            return False
        survey = max(_SURVEY_BYTES, self._boxes * _SURVEYED_BYTES)
        return lookup <= survey or lookup < self._scanned * saved

    @cached_property
    def _scanned(self) -> float:
        """The part of all boxes in which the condition has to be computed, as far as zone maps tell."""
        if self._table.layout.is_writable:
            return 1
        boxes, unknown = _core.survey(engine.lower(self._condition), 0, self._count)
        return unknown / max(1, boxes)

    def _computed(self, priced: _Priced) -> float:
        """Return what computing the condition costs in the rows of a tree, if a scan passes over nothing."""
        if priced.is_whole:
            return 0
        row_bytes = self._row_bytes
        if not priced.is_open:
            row_bytes = min(row_bytes, sum(map(_core.condition_row_bytes, self._terms.rest(priced.tree))))
        return self._touched(priced) * row_bytes * self._box_rows

    def _touched(self, priced: _Priced) -> float:
        """Return how many boxes there is a row in, of rows anywhere, or of all rows of some places."""
        touched = self._boxes * (1 - exp(-priced.places / self._boxes))
        return max(touched, self._boxes * priced.rows / max(1, self._count)) if priced.is_open else touched

    def _priced(self, tree: Tree) -> _Priced | None:
        """Return the cheapest way to look up a tree, or a part of it that has all of its rows."""
        match tree:
            case Term():
                return self._priced_term(tree)
            case Both():
                return self._priced_both(tree)
            case Either():
                return self._priced_either(tree)
            case bool():
                return None

    def _priced_term(self, term: Term) -> _Priced | None:
        index = term.index
        asked = index.few(
            term.maybe,
            missing=term.missing is not False,
            check=partial(_checked, term),
            most=_LOOKED_UP_ROWS,
        )
        if asked is None:
            self.useless.append(index)
            return None
        rows, unknown, found = asked
        if unknown >= self._count and not is_forced():
            return None
        rows, is_sure = min(self._count, rows), index.kind in ("full", "partial")
        if found is not None:
            self._found[term] = found
            rows, unknown = len(found), found.open_rows
        # Candidates of other kinds come in buckets, of which each is one place.
        places = rows / max(1, units.ZONE_ROWS if index.kind == "zones" else index.bucket_rows)
        # What is open is scanned.
        lookup = places * _ROW_BYTES + unknown * self._row_bytes
        is_open = unknown > 0 or not is_sure
        return _Priced(term, lookup, rows + unknown, places, is_sure and term.is_whole, is_open)

    def _priced_both(self, tree: Both) -> _Priced | None:
        priced = [one for one in map(self._priced, tree.parts) if one is not None]
        priced.sort(key=lambda one: one.rows)
        best: _Priced | None = None
        for at, one in enumerate(priced):
            if best is None:
                best = self._joined([one], tree)
                continue
            more = self._joined(priced[: at + 1], tree)
            saved = self._computed(best) - self._computed(more)
            if is_forced() or self._is_worth(more.lookup - best.lookup, saved):
                best = more
        return best

    def _joined(self, parts: Sequence[_Priced], tree: Both) -> _Priced:
        """Return some parts of a tree together: rows are in both by chance, as far as is known."""
        rows, places = parts[0].rows, parts[0].places
        for one in parts[1:]:
            rows *= one.rows / max(1, self._count)
            places = min(places, one.places, max(rows, 1))
        is_all = tree.is_whole and len(parts) == len(tree.parts)
        trees = tuple([one.tree for one in parts])
        return _Priced(
            trees[0] if len(trees) == 1 else Both(trees, is_all),
            sum([one.lookup for one in parts]),
            rows,
            places,
            is_all and all(one.is_whole for one in parts),
            any(one.is_open for one in parts),
        )

    def _priced_either(self, tree: Either) -> _Priced | None:
        parts = [self._priced(part) for part in tree.parts]
        known = [one for one in parts if one is not None]
        if len(known) < len(parts):
            return None
        is_same = all(one.tree is part for one, part in zip(known, tree.parts, strict=True))
        return _Priced(
            tree if is_same else Either(tuple([one.tree for one in known])),
            sum([one.lookup for one in known]),
            min(self._count, sum([one.rows for one in known])),
            sum([one.places for one in known]),
            all(one.is_whole for one in known),
            any(one.is_open for one in known),
        )


def _names(tree: Tree) -> tuple[str, ...]:
    match tree:
        case Term():
            return (tree.index.name,)
        case Both() | Either():
            return tuple({name for part in tree.parts for name in _names(part)})
        case bool():
            return ()


def looked_up(tree: Tree, count: int, known: Mapping[Term, RowSet]) -> RowSet:
    """Return the rows of a tree. count: rows of the table. known: the rows of some terms.

    Rows of an exact set meet all parts of the tree; `Both` says whether there are others.
    """
    if isinstance(tree, bool):
        return RowSet.all(count) if tree else RowSet.none()
    if isinstance(tree, Term):
        found = known.get(tree)
        found = _looked_up_term(tree) if found is None else found
        return found if tree.is_whole else found.inexact()
    found = looked_up(tree.parts[0], count, known)
    for part in tree.parts[1:]:
        more = looked_up(part, count, known)
        found = found & more if isinstance(tree, Both) else found | more
    if isinstance(tree, Either) and any(isinstance(part, Both) and not part.is_whole for part in tree.parts):
        return found.inexact()
    return found


def _looked_up_term(term: Term) -> RowSet:
    return term.index.lookup(
        term.maybe, missing=term.missing is not False, check=partial(_checked, term), by_key=True
    )


def counted(term: Term, known: Mapping[Term, RowSet]) -> int | None:
    """Return how many rows meet a term; None if its index does not know the number.

    known: the rows of some terms.
    """
    found = known.get(term)
    if found is not None:
        return len(found) if found.is_exact and not found.open_ranges else None
    return term.index.count(term.sure, missing=bool(term.missing), check=partial(_checked, term), by_key=True)


def _checked(term: Term, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which rows have keys that a term wants, for those of which the index does not know that."""
    source = term.index.source
    keys, missing = keys_of(source.read(rows), source.kind)
    return term.maybe.has(keys) & ~missing
