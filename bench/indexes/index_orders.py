"""The parts `orders`, `appends` and `sorted` of `index.py`.

In: a plan. Out: cells: the first in an order; rows appended to tables with indexes; tables that are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bench.common import harness
from bench.hdf5.hdf5_contest import TABLES, Case
from bench.indexes import index_data
from bench.indexes.index_contest import (
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
)
from bench.indexes.index_data import FLOAT, Query, between
from bench.indexes.index_ours import SCAN, Ours
from bench.indexes.index_peers import COMPLETE, LEAST, Asker, Library, copy, remove, size
from bench.indexes.index_queries import MANY, opened
from bench.indexes.index_theirs import CTABLE
from bench.tables.table_facts import Fact
from bench.tables.table_peers import COLUMNS, DUCKDB, ROWS

HEAD, LOOP = 10, 1000
HEAD_LIMIT = 10e-3  # seconds
BATCHES = 10
PLAIN = ", no index"
APPEND_GOAL = 0.5  # the time without indexes over that with them
ROUNDS, EACH = 3, 6.0


def orders(plan: IndexPlan) -> Iterator[Found]:
    """The ten smallest; the first thousand of a loop in order. Nobody else's scan has an order."""
    wanted = index_data.in_order(plan.rows, FLOAT)
    with ExitStack() as stack:
        askers = opened(stack, {**with_indexes(plan), SCAN: scans(plan)[SCAN]})
        for work, count, limit in (
            (f"order_by, head({HEAD})", HEAD, HEAD_LIMIT),
            (f"a loop in order, its first {LOOP:,}", LOOP, None),
        ):
            call = head if count == HEAD else loop
            reads: dict[str, Callable[[], np.ndarray]] = {
                name: lambda asker=asker, call=call, count=count: call(asker, count)
                for name, asker in askers.items()
                if name != SCAN or count == HEAD
            }
            # blosc2 takes ten milliseconds for each row of its loop.
            some = min(count, 100)
            checks = {
                name: lambda asker=askers[name], call=call, some=some: np.array_equal(
                    call(asker, some), wanted[:some]
                )
                for name in reads
            }
            good, remarks = right_ones("orders", work, checks)
            yield from remarks
            case = Case("orders", work, f"{plan.label}, float64", 0, limit=limit, ours=COLUMNS)
            yield measured(plan, case, {name: reads[name] for name in good})


def head(asker: Asker, count: int) -> np.ndarray:
    """The smallest."""
    return asker.first(FLOAT, count)


def loop(asker: Asker, count: int) -> np.ndarray:
    """The same, row by row."""
    return asker.ascending(FLOAT, count)


def appends(plan: IndexPlan) -> Iterator[Found]:
    """A million rows (a tenth of the table, if that is less) in batches, until the file is closed.

    Ours leave so many open; of three times as many they are indexed.
    """
    for names, ours, times in (
        ((COLUMNS, TABLES, CTABLE, DUCKDB), COLUMNS, 1),
        ((ROWS,), ROWS, 1),
        ((COLUMNS,), COLUMNS, 3),
        ((ROWS,), ROWS, 3),
    ):
        libraries = [one for one in plan.libraries if one.name in names]
        sources = {one.name: (one, plan.indexed(one)) for one in libraries}
        sources |= {one.name + PLAIN: (one, plan.base(one)) for one in libraries}
        yield from to_files(plan, sources, ours, times)
    text = "its indexes are out of date after that; its time is with building them again"
    yield Remark("appends", CTABLE, text)


def to_files(plan: IndexPlan, sources: Contenders, ours: str, times: int) -> Iterator[Found]:
    """Some files, with indexes and without."""
    count = min(1_000_000, plan.rows // 10)
    new = index_data.more(plan.rows, times * count)
    batches = list(index_data.pieces(new, count // BATCHES))
    checks = {name: lambda name=name: is_right_after(plan, sources[name], batches) for name in sources}
    work = f"{len(batches)} batches of {len(batches[0][FLOAT]):,} rows"
    good, remarks = right_ones("appends", work, checks)
    yield from remarks
    calls = {name: lambda name=name: append(plan, sources[name], batches) for name in good}
    case = Case("appends", work, plan.label, 0, {ours + PLAIN: APPEND_GOAL}, ours=ours)
    yield cell(case, in_rounds(calls, ROUNDS, EACH))


def append(plan: IndexPlan, source: tuple[Library, Path], batches: list[index_data.Columns]) -> float:
    """Appends to a copy, which stays; returns the seconds."""
    library, path = source
    target = copy(path, plan.folder / f"grown{library.suffix}")
    asker = library.open(target, is_writable=True)
    watch = harness.Stopwatch()
    for batch in batches:
        asker.append(batch)
    asker.refresh()
    asker.close()
    return watch.seconds


def is_right_after(plan: IndexPlan, source: tuple[Library, Path], batches: list[index_data.Columns]) -> bool:
    """Whether the copy then answers with old and new rows."""
    append(plan, source, batches)
    library, _ = source
    old = index_data.columns(plan.rows)
    new = {name: np.concatenate([batch[name] for batch in batches]) for name in old}
    judge = Judge({name: np.concatenate([old[name], new[name]]) for name in old})
    asker = library.open(plan.folder / f"grown{library.suffix}")
    try:
        return all(judge.is_right(query, asker.column(query)) for query in around(new[FLOAT]))
    finally:
        asker.close()


def around(values: np.ndarray) -> list[Query]:
    """Ranges of different widths about some numbers."""
    return [
        between(FLOAT, float(value), float(value) + width, f"width {width:,}")
        for value, width in zip(values[:: len(values) // 3], (1, 100, 10_000), strict=False)
    ]


def in_files(plan: IndexPlan) -> Iterator[Found]:
    """Tables copied in the order of the column: the time of it, then queries of them."""
    libraries = [one for one in plan.libraries if one.name in (COLUMNS, ROWS, TABLES, CTABLE, DUCKDB)]
    targets = {one.name: plan.place(one, "sorted") for one in libraries}

    def sort(library: Library) -> float:
        source = plan.indexed(library) if library.name != DUCKDB else plan.base(library)
        remove(targets[library.name])
        return harness.clock(lambda: library.sort(source, targets[library.name], FLOAT), 1)

    seconds = in_rounds({one.name: lambda one=one: sort(one) for one in libraries}, 2, EACH)
    yield cell(Case("sorted", "copy(sort_by=)", f"{plan.label}, float64", 0, ours=COLUMNS), seconds)
    sizes = {name: size(path) / 1e6 for name, path in targets.items()}
    yield Fact("sorted", "the sorted table", plan.label, sizes, "MB")
    yield from of_sorted(plan, {one.name: (one, targets[one.name]) for one in libraries})


def of_sorted(plan: IndexPlan, files: Contenders) -> Iterator[Found]:
    """Queries: ours and DuckDB have no index there; PyTables' full one is built anew, as in the chapter."""
    tables, path = files[TABLES]
    tables.index(path, FLOAT, COMPLETE)
    blosc, folder = files[CTABLE]
    blosc.index(folder, FLOAT, LEAST)
    ours = next(one for one in plan.libraries if one.name == COLUMNS)
    indexed = copy(files[COLUMNS][1], plan.folder / f"sorted-indexed{ours.suffix}")
    ours.index(indexed, FLOAT, COMPLETE)
    contenders = {**files, "coquina columns, index": (Ours("columns"), indexed)}
    wanted = index_data.in_order(plan.rows, FLOAT)
    order = np.argsort(index_data.columns(plan.rows)[FLOAT], kind="stable")
    judge = Judge({name: values[order] for name, values in index_data.columns(plan.rows).items()})
    assert np.array_equal(judge.column(between(FLOAT, wanted[0], wanted[9], "")), wanted[:9])
    with ExitStack() as stack:
        askers = opened(stack, contenders)
        for hits in plan.hits:
            some = index_data.ranges(plan.rows, FLOAT, hits, MANY)
            case = Case("sorted", some[0].work, f"{plan.label}, float64", 0, ours=COLUMNS)
            yield from contest(plan, case, askers, some, judge)
