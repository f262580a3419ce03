"""The parts `first`, `queries`, `rows`, `levels` and `complex` of `index.py`.

In: a plan. Out: cells, a remark on each answer that is wrong, and on how ours and DuckDB go about it.
Goals: with complete indexes and 1 to 10,000 hits ten times as fast as PyTables, and as fast as the others;
and faster than a scan whenever `will_use_index` says that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from bench.common import harness
from bench.hdf5.hdf5_contest import TABLES, Case, same
from bench.indexes import index_data
from bench.indexes.index_contest import (
    Asking,
    Contenders,
    Found,
    IndexPlan,
    Judge,
    Remark,
    cell,
    contest,
    in_rounds,
    measured,
    right_ones,
    scans,
    with_indexes,
    wrong_ones,
)
from bench.indexes.index_data import FLOAT, INT, Query
from bench.indexes.index_ours import SCAN
from bench.indexes.index_peers import Asker, remove
from bench.indexes.index_theirs import CTABLE
from bench.tables.table_peers import COLUMNS, DUCKDB

GOALS = {TABLES: 10.0, CTABLE: 1.0, DUCKDB: 1.0}
GOAL_HITS = (1, 100, 10_000)
MANY = 400  # queries, so that none comes twice
OPENINGS, EACH = 8, 1.5
WIDTHS = (0, 1, 100, 10_000, 1_000_000)
COMPLEX = 30  # queries of each width, whose answers take NumPy a while


def goals_of(hits: int, asker: Asker | None = None, query: Query | None = None) -> dict[str, float]:
    """What we want at so many hits; beyond a scan where the plan says that it is none."""
    goals = dict(GOALS) if hits in GOAL_HITS else {}
    if asker is not None and query is not None and asker.is_by_index(query):
        goals[SCAN] = 1.0
    return goals


def kinds_of_queries(plan: IndexPlan) -> Iterator[tuple[int, str, list[Query]]]:
    """Hits, data, queries: an equal number, then ranges, of float64 and then of int32."""
    for column, kind in ((FLOAT, "float64"), (INT, "int32")):
        label = f"{plan.label}, {kind}"
        yield 1, label, index_data.equal(plan.rows, column, MANY)
        for hits in plan.hits:
            if hits or column == FLOAT:
                yield hits, label, index_data.ranges(plan.rows, column, hits, MANY)


def opened(stack: ExitStack, contenders: Contenders) -> dict[str, Asker]:
    """All of them, closed with the stack."""
    askers = {}
    for name, (library, path) in contenders.items():
        askers[name] = library.open(path)
        stack.callback(askers[name].close)
    return askers


def queries(plan: IndexPlan) -> Iterator[Found]:
    """One column of rows that an index tells, again and again with other numbers."""
    judge, ways = Judge(index_data.columns(plan.rows)), Ways("queries")
    with ExitStack() as stack:
        askers = opened(stack, {**with_indexes(plan), **scans(plan)})
        for hits, label, some in kinds_of_queries(plan):
            ways.look(f"{some[0].work} ({label.split(', ')[1]})", askers, some[0])
            goals = goals_of(hits, askers[COLUMNS], some[0])
            case = Case("queries", some[0].work, label, 0, goals, ours=COLUMNS)
            yield from contest(plan, case, askers, some, judge)
    yield from ways.remarks()


class Ways:
    """Who says that it answers by a scan though there is an index."""

    def __init__(self, part: str) -> None:
        """In a part."""
        self._part = part
        self._works: dict[str, list[str]] = {}

    def look(self, work: str, askers: Mapping[str, Asker], query: Query) -> None:
        """Asks ours and DuckDB."""
        for name, asker in askers.items():
            if name in (COLUMNS, DUCKDB) and asker.is_by_index(query) is False:
                self._works.setdefault(name, []).append(work)

    def remarks(self) -> Iterator[Remark]:
        """What was said."""
        for name, works in self._works.items():
            yield Remark(self._part, name, f"says that it scans for {'; '.join(works)}")


def first(plan: IndexPlan) -> Iterator[Found]:
    """A file opened anew for each query: with the opening, and without."""
    judge = Judge(index_data.columns(plan.rows))
    contenders = {**with_indexes(plan), **scans(plan)}
    label = f"{plan.label}, float64"
    for hits in plan.hits:
        some = index_data.ranges(plan.rows, FLOAT, hits, OPENINGS + 1)
        yield from opened_anew(contenders, some, judge, hits, label)


def opened_anew(
    contenders: Contenders, some: Sequence[Query], judge: Judge, hits: int, label: str
) -> Iterator[Found]:
    """The first query shows who is right, and each later one is looked at, too."""
    asked: dict[str, list[float]] = {name: [] for name in contenders}

    def once(name: str, query: Query) -> float:
        library, path = contenders[name]
        watch = harness.Stopwatch()
        asker = library.open(path)
        opening = watch.lap()
        found = asker.column(query)
        asking = watch.lap()
        asker.close()
        same(f"{name}, {query.text}", found, judge.column(query))
        asked[name].append(asking)
        return opening + asking

    def is_right(name: str) -> bool:
        library, path = contenders[name]
        asker = library.open(path)
        try:
            return judge.is_right(some[0], asker.column(some[0]))
        finally:
            asker.close()

    checks = {name: lambda name=name: is_right(name) for name in contenders}
    good, remarks = right_ones("first", some[0].work, checks)
    yield from remarks
    turns = {name: iter(some[1:]) for name in good}
    calls: dict[str, Callable[[], float]] = {
        name: lambda name=name: once(name, next(turns[name])) for name in good
    }
    together = in_rounds(calls, OPENINGS, EACH)
    goals = goals_of(hits)
    yield cell(Case("first", f"{some[0].work}, opened and asked", label, 0, goals, ours=COLUMNS), together)
    alone = {name: asked[name] for name in good}
    yield cell(Case("first", f"{some[0].work}, asked", label, 0, ours=COLUMNS), alone)


def rows(plan: IndexPlan) -> Iterator[Found]:
    """All columns of the rows."""
    judge = Judge(index_data.columns(plan.rows))
    with ExitStack() as stack:
        askers = opened(stack, {**with_indexes(plan), **scans(plan)})
        for hits in plan.hits[1:]:
            some = index_data.ranges(plan.rows, FLOAT, hits, MANY)
            checks = {
                name: lambda asker=asker, some=some: all(
                    judge.has_right_rows(query, asker.rows(query)) for query in some[:2]
                )
                for name, asker in askers.items()
            }
            good, remarks = right_ones("rows", some[0].work, checks)
            yield from remarks
            case = Case("rows", some[0].work, f"{plan.label}, float64", 0, goals_of(hits), ours=COLUMNS)
            calls = {name: reading(name, askers[name], some[2:]) for name in good}
            yield measured(plan, case, calls)
            yield from wrong_ones(case, calls)


def reading(name: str, asker: Asker, some: Sequence[Query]) -> Asking:
    """A call that asks for rows and counts them."""

    class Counted:
        def __init__(self, found: object) -> None:
            self.values = found[FLOAT]  # type: ignore[index]

        def __len__(self) -> int:
            return len(self.values)

    return Asking(name, lambda query: Counted(asker.rows(query)), some)


def levels(plan: IndexPlan) -> Iterator[Found]:
    """What other kinds of index make of the same queries."""
    judge = Judge(index_data.columns(plan.rows))
    for level in plan.levels[1:]:
        with ExitStack() as stack:
            askers = opened(stack, with_indexes(plan, level))
            for hits in plan.hits:
                some = index_data.ranges(plan.rows, FLOAT, hits, MANY)
                case = Case("levels", f"{level}: {some[0].work}", f"{plan.label}, float64", 0, ours=COLUMNS)
                yield from contest(plan, case, askers, some, judge)
        for library in plan.libraries:
            remove(plan.place(library, level))


def three(plan: IndexPlan) -> Iterator[Found]:
    """The chapter's condition of three parts, over widths; both columns have an index."""
    judge, ways = Judge(index_data.columns(plan.rows)), Ways("complex")
    with ExitStack() as stack:
        askers = opened(stack, {**with_indexes(plan), **scans(plan)})
        for width in WIDTHS:
            if width > plan.rows // 10:
                continue
            some = index_data.complex_queries(plan.rows, width, COMPLEX)
            found = len(judge.column(some[0]))
            ways.look(some[0].work, askers, some[0])
            goals = goals_of(-1, askers[COLUMNS], some[0])
            label = f"{plan.label}, {found:,} hits at first"
            case = Case("complex", some[0].work, label, 0, goals, ours=COLUMNS)
            yield from contest(plan, case, askers, some, judge)
    yield from ways.remarks()
