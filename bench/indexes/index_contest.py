"""What the parts of `index.py` have in common: its plan, the files of each library, turns, remarks.

In: libraries, queries. Out: cells, of those whose answers are NumPy's; a remark on each other one.
Invariant: no answer is timed that was not found equal to NumPy's; ours stops the bench if it is not.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.common import harness
from bench.common.harness import Call, Effort
from bench.hdf5.hdf5_contest import Case, Cell, Plan
from bench.indexes import index_data
from bench.indexes.index_data import NAMES, Query
from bench.indexes.index_ours import SCAN, Ours, OursAsPyTables
from bench.indexes.index_peers import COMPLETE, INDEXED, LEVELS, Asker, DuckDB, Library, copy
from bench.indexes.index_theirs import KERNEL, Blosc, PyTables
from bench.tables.table_facts import Fact

OURS = "coquina"  # what the names of ours begin with


@dataclass(frozen=True)
class Remark:
    """Something to be known about a library that is not a number."""

    part: str
    who: str
    text: str

    def line(self) -> str:
        """A line for the terminal."""
        return f"{self.part:11}{self.who}: {self.text}"


Found = Cell | Fact | Remark


def theirs() -> tuple[Library, ...]:
    """The other libraries."""
    return PyTables(), Blosc(), DuckDB()


@dataclass(frozen=True)
class IndexPlan(Plan):
    """Where files go, and how many rows they have."""

    rows: int
    seconds: float = 1.0
    levels: Sequence[str] = LEVELS
    libraries: Sequence[Library] = field(
        default_factory=lambda: (Ours("columns"), Ours("rows"), OursAsPyTables(), *theirs())
    )

    @property
    def effort(self) -> Effort:
        """How long to measure a case; who is slow sits out the last rounds."""
        return Effort(self.seconds, 3, 41, each=self.seconds / 3)

    @property
    def label(self) -> str:
        """The table as a reader says it."""
        return f"{self.rows / 1e6:g} M rows"

    @property
    def hits(self) -> list[int]:
        """The numbers of hits that make sense."""
        return [hits for hits in index_data.HITS if hits <= self.rows // 10]

    def base(self, library: Library) -> Path:
        """The table without indexes."""
        path = self.folder / f"{library.name.replace(' ', '-')}{library.suffix}"
        if not path.exists():
            library.write(path, index_data.columns(self.rows))
        return path

    def place(self, library: Library, level: str) -> Path:
        """Where the table with both columns indexed belongs."""
        return self.folder / f"{library.name.replace(' ', '-')}-{level}{library.suffix}"

    def indexed(self, library: Library, level: str = COMPLETE) -> Path:
        """The table with both columns indexed."""
        path = self.place(library, level)
        if not path.exists():
            copy(self.base(library), path)
            for column in INDEXED:
                library.index(path, column, level)
        return path


Contenders = Mapping[str, tuple[Library, Path]]


def with_indexes(plan: IndexPlan, level: str = COMPLETE) -> dict[str, tuple[Library, Path]]:
    """Each library that has an index of a level."""
    return {one.name: (one, plan.indexed(one, level)) for one in plan.libraries if level in one.kinds}


def scans(plan: IndexPlan) -> dict[str, tuple[Library, Path]]:
    """Ours and PyTables without an index."""
    ours, theirs = Ours("columns"), PyTables(KERNEL)
    return {SCAN: (ours, plan.base(ours)), KERNEL: (theirs, plan.base(PyTables()))}


class Judge:
    """NumPy's answers, each found once."""

    def __init__(self, some: index_data.Columns) -> None:
        """Of a table."""
        self._columns = some
        self._answers: dict[tuple[str, str], np.ndarray] = {}

    def column(self, query: Query) -> np.ndarray:
        """The column that is wanted."""
        key = (query.text, query.column)
        if key not in self._answers:
            self._answers[key] = query.answer(self._columns)
        return self._answers[key]

    def is_right(self, query: Query, found: np.ndarray) -> bool:
        """Whether an answer has the right numbers, in the order of the table."""
        return np.array_equal(np.asarray(found), self.column(query))

    def has_right_rows(self, query: Query, found: Mapping[str, np.ndarray] | np.ndarray) -> bool:
        """The same for all columns."""
        wanted = query.rows(self._columns)
        return all(np.array_equal(found[name], wanted[name]) for name in NAMES)  # type: ignore[call-overload]


def right_ones(
    part: str, work: str, is_right: Mapping[str, Callable[[], bool]]
) -> tuple[list[str], list[Remark]]:
    """Who answers right, and remarks on who does not. Raises AssertionError if that is one of ours."""
    good, remarks = [], []
    for name, check in is_right.items():
        try:
            text = None if check() else "another answer than NumPy's"
        except Exception as error:
            if name.startswith(OURS):
                raise
            text = f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
        if text is None:
            good.append(name)
        elif name.startswith(OURS):
            raise AssertionError(f"{part}, {work}, {name}: {text}")
        else:
            remarks.append(Remark(part, name, f"{work}: {text}; not timed"))
    return good, remarks


def measured(plan: IndexPlan, case: Case, calls: Mapping[str, Call]) -> Cell:
    """Times all calls in turns; a ratio is the median of those of the rounds that both were in."""
    return cell(case, harness.take_turns(calls, plan.effort, alike=False))


def cell(case: Case, seconds: Mapping[str, Sequence[float]]) -> Cell:
    """A case from the seconds of each round."""
    medians, ratios = harness.compared(seconds, case.ours)
    goals = {name: goal for name, goal in case.goals.items() if name in ratios}
    known = Case(case.part, case.work, case.data, case.nbytes, goals, case.limit, case.beyond, case.ours)
    return Cell(known, medians, ratios)


class Asking:
    """A call that asks the next query each time, and counts the rows of the answer.

    wrong: how many answers of a peer had another number of rows. One of ours is an error.
    """

    def __init__(self, name: str, read: Callable[[Query], object], queries: Iterable[Query]) -> None:
        """`read` of one query after the other."""
        self.name = name
        self.wrong = self.asked = 0
        self._read = read
        self._turn = itertools.cycle(queries)

    def __call__(self) -> None:
        """Ask the next one."""
        query = next(self._turn)
        found = self._read(query)
        self.asked += 1
        if query.count is None or len(found) == query.count:  # type: ignore[arg-type]
            return
        if self.name.startswith(OURS):
            raise AssertionError(f"{self.name}: {query.text}: {len(found)} rows, not {query.count}")  # type: ignore[arg-type]
        self.wrong += 1


def wrong_ones(case: Case, calls: Mapping[str, Asking]) -> Iterator[Remark]:
    """Remarks on peers that lost rows, or had too many, while they were timed."""
    for name, call in calls.items():
        if call.wrong:
            text = f"{case.work}: {call.wrong} of {call.asked} answers had other numbers of rows than NumPy's"
            yield Remark(case.part, name, text)


def contest(
    plan: IndexPlan, case: Case, askers: Mapping[str, Asker], queries: Sequence[Query], judge: Judge
) -> Iterator[Found]:
    """The column of queries: two of them looked at, the others timed, with their rows counted."""
    checks = {
        name: lambda asker=asker: all(judge.is_right(query, asker.column(query)) for query in queries[:2])
        for name, asker in askers.items()
    }
    good, remarks = right_ones(case.part, case.work, checks)
    yield from remarks
    calls = {name: Asking(name, askers[name].column, queries[2:]) for name in good}
    yield measured(plan, case, calls)
    yield from wrong_ones(case, calls)


def in_rounds(calls: Mapping[str, Callable[[], float]], rounds: int, each: float) -> dict[str, list[float]]:
    """Seconds that calls tell themselves, in turns; who has used up `each` sits out."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for _ in range(rounds):
        for name in order:
            if sum(seconds[name]) < each:
                gc.collect()
                seconds[name].append(calls[name]())
        order.reverse()
    return seconds
