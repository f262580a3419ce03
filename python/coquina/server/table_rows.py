"""Rows of tables: those that meet a condition, in an order, a window of them.

In: tables, and texts of requests. Out: columns of values for JSON, Arrow, CSV and Parquet.
Invariant: what a condition matched is found once for each state of a file, and kept for the windows to come;
it is kept as row numbers, of which there are at most so many.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.server.encodings import Encoded
from coquina.server.failures import bad_request, too_large
from coquina.server.json_values import json_bytes, plain
from coquina.tables.arrow import reader
from coquina.tables.arrow_module import pyarrow
from coquina.tables.plan import Plan
from coquina.tables.selection import Selection
from coquina.tables.table import Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.server.limits import Limits
    from coquina.server.objects import Found

_TEXT_MAX = 16_384
_CACHED = 8
#: Rows of one answer in JSON.
ROWS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Query:
    """Which rows, in which order. sort: a column, with "-" before it for the greatest first."""

    where: str | None = None
    sort: str | None = None

    @classmethod
    def of(cls, where: str | None, sort: str | None) -> Query:
        """Return a query without empty texts. Raises RequestError for one that is too long."""
        if len(where or "") > _TEXT_MAX or len(sort or "") > _TEXT_MAX:
            raise bad_request("a condition that is too long")
        where = (where or "").strip() and where
        return cls(where or None, sort or None)

    def on(self, rows: Any) -> Any:
        """Return those rows of a table, or of a selection, that are asked for, lazily."""
        found: Any = rows
        if self.where is not None:
            found = found.where(self.where)
        if self.sort is not None:
            name, is_down = self.sort.removeprefix("-"), self.sort.startswith("-")
            check_columns(rows, [name])
            found = found.order_by(name, is_down)
        return found


@dataclass(frozen=True, slots=True)
class Matched:
    """The rows of a query. total: how many. numbers: where they are in the table; None for all, in order."""

    total: int
    numbers: npt.NDArray[np.int64] | None


def table_of(found: Found) -> Table:
    """Return the table that an object is. Raises RequestError if it is none."""
    if found.kind != "table":
        raise bad_request(f"{found.path}: a {found.kind}, and no table")
    return found.node


def check_columns(table: Table | Selection, names: list[str]) -> None:
    """Raise RequestError for a column that a table does not have."""
    for name in names:
        if name not in table.columns:
            raise bad_request(f"there is no column {name[:80]!r}; there are {', '.join(table.columns)[:400]}")


def columns_of(table: Table, text: str | None) -> list[str]:
    """Return the columns that a text names, all of them for none."""
    names = [name for name in (text or "").split(",") if name] or list(table.columns)
    check_columns(table, names)
    return names


def matched(found: Found, query: Query, limits: Limits, stop: int) -> Matched:
    """Return the rows of a query, of those that are sorted or many at least the first `stop`.

    Raises RequestError with status 413 where the row numbers of the window alone are too many.
    """
    table = table_of(found)
    if query.where is None and query.sort is None:
        return Matched(len(table), None)
    if not found.file.is_settled:
        # It may change without anybody being told.
        return _match(query, table, limits, stop)
    cache = _cache(found)
    key = (found.path, query)
    with found.file.lock:
        known = cache.get(key)
    if known is not None and (known.numbers is None or min(stop, known.total) <= len(known.numbers)):
        return known
    made = _match(query, table, limits, stop)
    with found.file.lock:
        cache[key] = made
        cache.move_to_end(key)
        while len(cache) > _CACHED:
            cache.popitem(last=False)
    return made


def _cache(found: Found) -> OrderedDict[Any, Matched]:
    with found.file.lock:
        return found.file.known.setdefault("matched rows", OrderedDict[Any, Matched]())


def _match(query: Query, table: Table, limits: Limits, stop: int) -> Matched:
    rows = query.on(table)
    total = len(table) if query.where is None else int(rows.count())
    if total <= limits.rows:
        return Matched(total, rows.row_numbers())
    if stop > limits.rows:
        raise too_large(f"{total} rows match, and only the first {limits.rows} of so many are shown")
    # Few rows are sorted out of many without sorting all.
    return Matched(total, rows.head(max(stop, min(limits.rows, 1 << 16))).row_numbers())


@dataclass(frozen=True, slots=True)
class Window:
    """Rows of a result: from `start` to `stop`, with these columns."""

    start: int
    stop: int
    columns: list[str]


def window(start: int, stop: int | None, columns: list[str], most: int) -> Window:
    """Return a window of at most `most` rows. Raises RequestError for one that makes no sense."""
    if start < 0 or (stop is not None and stop < start):
        raise bad_request(f"rows {start} to {stop}")
    stop = start + min(100, most) if stop is None else stop
    if stop - start > most:
        raise too_large(f"{stop - start} rows are asked for, and at most {most} are sent at once")
    return Window(start, stop, columns)


def rows_as_json(found: Found, query: Query, wanted: Window, limits: Limits) -> Encoded:
    """Return a window of rows as JSON."""
    table = table_of(found)
    rows = matched(found, query, limits, wanted.stop)
    start, stop = min(wanted.start, rows.total), min(wanted.stop, rows.total)
    if rows.numbers is None:
        numbers = np.arange(start, stop)
        values = Selection(Plan(table, start=start, stop=stop)).to_dict(wanted.columns)
    else:
        numbers = rows.numbers[start:stop]
        values = {name: values_at(table, name, numbers) for name in wanted.columns}
    facts = {"start": start, "total": rows.total, "columns": wanted.columns}
    found_values = {name: plain(one) for name, one in values.items()}
    return Encoded(json_bytes({**facts, "values": found_values, "rows": numbers}), "application/json")


def values_at(table: Table, name: str, numbers: npt.NDArray[np.int64]) -> Any:
    """Return the values of a column in some rows, in their order."""
    if not len(numbers):
        return np.zeros(0)
    return table[name][numbers]


def rows_as_file(found: Found, query: Query, wanted: Window, kind: str, limits: Limits) -> Encoded:
    """Return a window of rows as an Arrow stream, a CSV file or a Parquet file. Raises ImportError."""
    table, pa = table_of(found), pyarrow()
    rows, skip = query.on(table), 0
    if rows is table:
        rows = Selection(Plan(table, start=wanted.start, stop=wanted.stop))
    elif wanted.stop < len(table):
        rows = rows.head(wanted.stop)
        skip = wanted.start
    source = reader(rows, wanted.columns)
    batches: list[Any] = []
    nbytes = 0
    for batch in source:
        batches.append(batch)
        nbytes += batch.nbytes
        if nbytes > limits.result_bytes:
            raise too_large(f"the rows take more than {limits.result_bytes} bytes")
    return _FILES[kind](pa.Table.from_batches(batches, source.schema).slice(skip))


def _arrow(rows: Any) -> Encoded:
    with io.BytesIO() as file:
        with pyarrow("ipc").new_stream(file, rows.schema) as stream:
            stream.write_table(rows)
        return Encoded(file.getvalue(), "application/vnd.apache.arrow.stream", "rows.arrow")


def _csv(rows: Any) -> Encoded:
    with io.BytesIO() as file:
        pyarrow("csv").write_csv(rows, file)
        return Encoded(file.getvalue(), "text/csv", "rows.csv")


def _parquet(rows: Any) -> Encoded:
    with io.BytesIO() as file:
        pyarrow("parquet").write_table(rows, file, compression="zstd")
        return Encoded(file.getvalue(), "application/vnd.apache.parquet", "rows.parquet")


_FILES = {"arrow": _arrow, "csv": _csv, "parquet": _parquet}
FILES = tuple(_FILES)
