"""The table of `index.py`, what is asked of it, and what NumPy answers.

In: a number of rows. Out: columns in memory; queries with their answers.
Source: the table and the condition of three parts are those of the chapter "Optimization tips" of PyTables'
manual and of its `indexed_search.py`: int32 and float64 numbers that rise, with noise of a tenth of where
they are, so that equal numbers lie apart and the smallest and largest of a part say little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

Columns = Mapping[str, np.ndarray]
Mask = Callable[[Columns], np.ndarray]

NAMES = ("col1", "col2", "col3", "col4")
INT, FLOAT = "col2", "col4"  # the columns that are indexed
DTYPE = np.dtype({"names": NAMES, "formats": ("<i4", "<i4", "<f8", "<f8")})
STEP, NOISE, SEED = 100_000, 0.1, 20
HITS = (0, 1, 100, 10_000, 1_000_000)
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
PIECE = 1_000_000  # rows that are appended at a time when a table is made


def noisy(start: int, stop: int, rng: np.random.Generator) -> np.ndarray:
    """The numbers of some rows."""
    values = np.arange(start, stop, dtype=np.float64)
    for first in range(start, stop, STEP):
        last = min(first + STEP, stop)
        values[first - start : last - start] += rng.normal(0, NOISE * last, last - first)
    return values


def columns_of(values: np.ndarray) -> Columns:
    """The four columns, of which two and two are the same."""
    whole = values.astype(np.int32)
    return dict(zip(NAMES, (whole, whole, values, values), strict=True))


@lru_cache(maxsize=2)
def columns(rows: int) -> Columns:
    """The table."""
    return columns_of(noisy(0, rows, np.random.default_rng(SEED)))


def more(rows: int, count: int) -> Columns:
    """Rows that are appended to it."""
    return columns_of(noisy(rows, rows + count, np.random.default_rng(SEED + 1)))


def records(some: Columns) -> np.ndarray:
    """Columns as records."""
    made = np.empty(len(some[FLOAT]), DTYPE)
    for name in NAMES:
        made[name] = some[name]
    return made


def pieces(some: Columns, rows: int = PIECE) -> Iterator[Columns]:
    """The rows, some at a time."""
    for start in range(0, len(some[FLOAT]), rows):
        yield {name: values[start : start + rows] for name, values in some.items()}


@dataclass(frozen=True)
class Query:
    """A condition, and the column that is wanted.

    work: how it is told. text: for PyTables, blosc2 and us. count: of the rows, if that is known beforehand.
    """

    work: str
    text: str
    mask: Mask
    column: str = FLOAT
    count: int | None = None

    @property
    def sql(self) -> str:
        """The condition for DuckDB."""
        return self.text.replace("&", "and").replace("|", "or").replace("==", "=")

    def answer(self, some: Columns) -> np.ndarray:
        """What NumPy finds."""
        return some[self.column][self.mask(some)]

    def rows(self, some: Columns) -> Columns:
        """What NumPy finds, of all columns."""
        mask = self.mask(some)
        return {name: values[mask] for name, values in some.items()}


def between(column: str, low: float, high: float, work: str, count: int | None = None) -> Query:
    """From low until below high."""

    def mask(t: Columns) -> np.ndarray:
        return (t[column] >= low) & (t[column] < high)

    return Query(work, f"({column} >= {low!r}) & ({column} < {high!r})", mask, column, count)


@lru_cache(maxsize=2)
def in_order(rows: int, column: str) -> np.ndarray:
    """A column of the table, sorted."""
    return np.sort(columns(rows)[column])


def told(hits: int) -> str:
    """A number of hits as a reader says it."""
    return f"{hits:,} hit{'' if hits == 1 else 's'}"


def ranges(rows: int, column: str, hits: int, count: int) -> list[Query]:
    """Ranges somewhere in the table that so many rows are in; of whole numbers it is about so many."""
    rng = np.random.default_rng((SEED, hits))
    values = in_order(rows, column)
    made = []
    for place in rng.integers(rows // 50, rows - rows // 50 - hits, count).tolist():
        if column == FLOAT:
            low, high = values[place], values[place + max(hits, 1)]
            if hits == 0:
                low = np.nextafter(low, high)
            made.append(between(column, float(low), float(high), told(hits), hits))
        else:
            low = int(values[place])
            first, last = np.searchsorted(values, [low, low + hits])
            made.append(between(column, low, low + hits, f"about {told(hits)}", int(last - first)))
    return made


def equal(rows: int, column: str, count: int) -> list[Query]:
    """Numbers that rows of the table have."""
    places = np.random.default_rng(SEED).integers(0, rows, count)

    def query(value: float) -> Query:
        first, last = (int(np.searchsorted(in_order(rows, column), value, side)) for side in SIDES)
        text = f"{column} == {value!r}"
        return Query("equal to a number", text, lambda t: t[column] == value, column, last - first)

    return [query(value) for value in columns(rows)[column][places].tolist()]


def complex_queries(rows: int, width: int, count: int) -> list[Query]:
    """The chapter's condition of three parts, around numbers somewhere in the table."""

    def query(base: int) -> Query:
        inf1, sup1, inf2, sup2 = base - width // 2, base, 2 * base - width / 2, 2.0 * base
        text = (
            f"(({inf2} <= col4) & (col4 < {sup2})) | "
            f"(({inf1} < col2) & (col2 < {sup1})) & ((col1 + 3.1 * col2 + col3 * col4) > 3)"
        )

        def mask(t: Columns) -> np.ndarray:
            return three_parts(t, (inf1, sup1, inf2, sup2))

        return Query(f"width {width:,}", text, mask, FLOAT, np.count_nonzero(mask(columns(rows))))

    bases = np.random.default_rng((SEED, width)).integers(rows // 50, rows, count)
    return [query(base) for base in bases.tolist()]


def three_parts(t: Columns, bounds: tuple[int, int, float, float]) -> np.ndarray:
    """The condition; the last part only where it matters."""
    inf1, sup1, inf2, sup2 = bounds
    mask = (inf2 <= t["col4"]) & (t["col4"] < sup2)
    rows = np.flatnonzero((inf1 < t["col2"]) & (t["col2"] < sup1))
    a, b, c, d = (t[name][rows] for name in NAMES)
    mask[rows] |= (a + 3.1 * b + c * d) > 3
    return mask
