"""What `index.py` says: a line and a row for each finding, a Markdown page.

In: cells, facts, remarks. Out: text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.hdf5.hdf5_contest import Cell
from bench.indexes.index_contest import Found, Remark
from bench.indexes.index_theirs import CHUNK_ROWS
from bench.tables import table_report
from bench.tables.table_facts import Fact

TITLES = {
    "builds": "Building an index, until the file is closed",
    "sizes": "What it adds to the file",
    "memory": "Memory of a process of its own that builds a complete index of float64",
    "queries": "One column of what is found, asked again and again with other numbers",
    "first": "The same, from a file that was opened for this one query",
    "rows": "All columns of what is found",
    "levels": "Other kinds of indexes, asked again and again",
    "complex": "A condition of three parts",
    "orders": "In order",
    "appends": "Appending to a table with two complete indexes",
    "sorted": "Sorted tables",
}
METHOD = (
    "The table is that of PyTables' chapter on optimization: col1 and col2 int32, col3 and col4 float64, "
    "numbers that rise, with noise of a tenth of where they are. All have two threads and keep it with "
    "Zstd 5 and shuffle, DuckDB with what it takes by itself. x: time of the other library over time of "
    "ours; medians of interleaved rounds. Every query in a row has other numbers; its rows are counted, "
    "and of some all numbers are compared with NumPy's; a library that answers wrong is not timed but "
    "named under Remarks. Of PyTables' `read_where` and its loop over rows the faster one is timed; its "
    f"chunks have {CHUNK_ROWS:,} rows: with those that it takes by itself (here all rows in one or a few) "
    "its indexed queries take a hundred times as long."
)
LEVELS = (
    "Levels: complete is full of ours, of PyTables and blosc2, and DuckDB's ART; partial is our partial, "
    "PyTables' medium at level 6, blosc2's partial; light is our light, PyTables' light at 6, blosc2's "
    "bucket; least is our zones, PyTables' ultralight at 3, blosc2's summary, which its tables have "
    "anyway. `coquina pytables` is the rows layout with an index in PyTables' own format, written and "
    "used by coquina."
)
PLACES = {
    True: "Files lie in memory: *first* is a file opened anew whose bytes need not be read from a disk.",
    False: "Files lie on a disk; what of them is in the page cache is left to the system.",
}


def line(found: Found) -> str:
    """A finding for the terminal."""
    return found.line() if isinstance(found, Remark) else table_report.line(found)


def part_of(found: Found) -> str:
    """The part that it belongs to."""
    return found.case.part if isinstance(found, Cell) else found.part


def body(findings: Sequence[Found], rows: int, *, in_memory: bool) -> Iterator[str]:
    """The Markdown page below its head."""
    numbers: list[Cell | Fact] = [one for one in findings if not isinstance(one, Remark)]
    yield f"{rows / 1e6:g} million rows. {METHOD}"
    yield LEVELS
    yield PLACES[in_memory]
    yield "## Goals"
    yield table_report.goals_table(numbers)
    if remarks := [one for one in findings if isinstance(one, Remark)]:
        yield "## Remarks"
        yield "\n".join(f"- {one.who}, {one.part}: {one.text}." for one in remarks)
    for part, title in TITLES.items():
        if some := [one for one in numbers if part_of(one) == part]:
            yield f"## {title}"
            yield from table_report.tables_of(some)


def row(found: Found) -> dict[str, object]:
    """A finding for JSON."""
    if isinstance(found, Remark):
        return {"part": found.part, "who": found.who, "remark": found.text}
    return table_report.row(found)
