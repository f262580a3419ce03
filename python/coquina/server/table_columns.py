"""Columns of tables: what they are, their statistics, and two of them as points of a plot.

In: tables, and texts of requests. Out: dicts for JSON, and pairs of float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.server.failures import bad_request
from coquina.server.statistics import BINS_MAX, Moments
from coquina.server.table_rows import check_columns, matched, table_of
from coquina.tables.plan import Plan
from coquina.tables.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.server.limits import Limits
    from coquina.server.objects import Found
    from coquina.server.table_rows import Query
    from coquina.tables.layout import ColumnSpec
    from coquina.tables.table import Table

#: Rows that are read at a time, and all rows that statistics are of; of larger tables they are of a sample.
_WINDOW = 1 << 20
_ROWS_MAX = 1 << 26
#: Values that are counted each, and those that are listed.
_DISTINCT_MAX = 10_000
_TOP = 20


def schema(found: Found) -> dict[str, Any]:
    """Return the columns of a table: names, dtypes, kinds, sizes, and which have an index."""
    table = table_of(found)
    stored: dict[str, Any] = table.info.get("columns", {})
    indexed = {name for names in table.indexes for name in names.split(",")}
    columns: list[dict[str, Any]] = []
    for spec in table.schema:
        sizes = stored.get(spec.name, {})
        columns.append(
            {
                "name": spec.name,
                "dtype": "text" if spec.dtype.kind in "TO" else str(spec.dtype),
                "shape": list(spec.shape),
                "kind": kind_of(spec),
                "nullable": spec.nullable,
                "zone": spec.zone,
                "indexed": spec.name in indexed,
                "nbytes": sizes.get("nbytes"),
                "stored": sizes.get("cbytes"),
            }
        )
    return {"rows": len(table), "columns": columns}


def kind_of(spec: ColumnSpec) -> str:
    """Return what the values of a column are, for those who show them."""
    if spec.children:
        return "nested"
    if spec.shape:
        return "array"
    if spec.categories is not None or spec.enum is not None:
        return "category"
    if spec.time is not None:
        return "time"
    kinds = {"b": "bool", "f": "float", "c": "complex", "M": "time", "m": "time", "V": "bytes"}
    return kinds.get(spec.dtype.kind, "integer" if spec.dtype.kind in "iu" else "text")


@dataclass(frozen=True, slots=True)
class ColumnRequest:
    """A column, and how many bins its histogram has."""

    name: str
    bins: int = 64


def _spec(table: Table, name: str) -> ColumnSpec:
    check_columns(table, [name])
    return next(one for one in table.schema if one.name == name)


def statistics(found: Found, query: Query, wanted: ColumnRequest) -> dict[str, Any]:
    """Return what the values of a column are like, in the rows of a query.

    Numbers get moments and a histogram, others their most frequent values. Memory: some windows of rows. Of
    tables with very many rows only windows from all over are looked at.
    """
    table = table_of(found)
    spec = _spec(table, wanted.name)
    if not 1 <= wanted.bins <= BINS_MAX:
        raise bad_request(f"bins {wanted.bins}: takes 1 to {BINS_MAX}")
    source = _Source(found, query)
    kind = kind_of(spec)
    return {"kind": kind, "sampled": source.sampled, **_of_kind(source, spec, wanted)}


def _of_kind(source: _Source, spec: ColumnSpec, wanted: ColumnRequest) -> dict[str, Any]:
    kind = kind_of(spec)
    if kind in ("integer", "float", "bool") or (kind == "time" and spec.dtype.kind in "mM"):
        return _of_numbers(source, wanted, is_time=kind == "time")
    if kind in ("text", "category"):
        return _of_values(source, wanted.name)
    return {"count": sum(len(values) for values in source.windows(wanted.name)), "nulls": 0}


class _Source:
    """The rows of a query, a window of them at a time."""

    def __init__(self, found: Found, query: Query) -> None:
        self._table = table_of(found)
        self._query = query
        # A condition that makes no sense is told of also where there are no rows.
        query.on(self._table).plan.condition()
        self._count = len(self._table)

    @property
    def sampled(self) -> int | None:
        """How many rows are looked at, if these are not all."""
        return None if self._count <= _ROWS_MAX else _ROWS_MAX

    def windows(self, name: str) -> Iterator[Any]:
        """Iterate over windows of values of a column: all, or some from all over the table."""
        for rows in self._parts():
            for batch in self._query.on(rows).select([name]).batches(_WINDOW):
                yield batch[name]

    def _parts(self) -> Iterator[Any]:
        if self.sampled is None:
            yield self._table
            return
        parts = max(1, _ROWS_MAX // _WINDOW)
        for part in range(parts):
            start = part * self._count // parts
            yield Selection(Plan(self._table, start=start, stop=start + _ROWS_MAX // parts))


def _unmasked(values: Any) -> Any:
    """Return the values that are there."""
    return values[~np.ma.getmaskarray(values)].data if np.ma.isMaskedArray(values) else values


def _plain(values: Any, is_time: bool) -> tuple[npt.NDArray[Any], int]:
    """Return the values that are there, and how many are missing."""
    made: npt.NDArray[Any] = np.asarray(_unmasked(values))
    missing = len(values) - len(made)
    if is_time:
        good = ~np.isnat(made)
        missing += int(made.size - np.count_nonzero(good))
        made = made[good].view("i8")
    if made.dtype.kind == "b":
        made = made.view("u1")
    return made, missing


def _of_numbers(source: _Source, wanted: ColumnRequest, *, is_time: bool) -> dict[str, Any]:
    moments, nulls, nans = Moments(), 0, 0
    dtype: Any = None
    for window in source.windows(wanted.name):
        dtype = window.dtype
        values, missing = _plain(window, is_time)
        nulls += missing
        good = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        nans += values.size - good.size
        moments.add(good)
    facts = {**moments.to_dict(), "nulls": nulls, "nans": nans}
    edges = _edges(moments, wanted.bins)
    counts = np.zeros(max(0, len(edges) - 1), np.int64)
    if len(edges):
        for window in source.windows(wanted.name):
            values, _ = _plain(window, is_time)
            good = values[np.isfinite(values)] if values.dtype.kind == "f" else values
            counts += np.histogram(good, len(counts), (edges[0], edges[-1]))[0]
    facts["histogram"] = {"edges": edges, "counts": counts}
    return _with_times(facts, dtype) if is_time else facts


def _edges(moments: Moments, bins: int) -> npt.NDArray[np.float64]:
    if moments.least is None or moments.greatest is None:
        return np.zeros(0)
    low, high = float(moments.least), float(moments.greatest)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    return edges if (np.diff(edges) > 0).all() else np.array([low, high])


def _with_times(facts: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the statistics of times with times as ISO text."""

    def time(value: float | int | None) -> Any:
        if value is None or dtype.kind == "m":
            return value
        return np.asarray(round(value)).astype("i8").view(dtype)

    for name in ("min", "max", "mean"):
        facts[name] = time(facts[name])
    facts["std"] = None
    facts["histogram"]["edges"] = [time(one) for one in facts["histogram"]["edges"].tolist()]
    return facts


def _of_values(source: _Source, name: str) -> dict[str, Any]:
    counts: dict[Any, int] = {}
    count = nulls = 0
    is_whole = True
    for window in source.windows(name):
        values, counted, missing = _counted(window)
        count += int(counted.sum())
        nulls += missing
        for value, number in zip(values, counted.tolist(), strict=True):
            if value in counts or len(counts) < _DISTINCT_MAX:
                counts[value] = counts.get(value, 0) + number
            else:
                is_whole = False
    top = sorted(counts.items(), key=lambda one: (-one[1], str(one[0])))[:_TOP]
    known = sorted(map(str, counts)) if is_whole else []
    return {
        "count": count,
        "nulls": nulls,
        "distinct": len(counts) if is_whole else None,
        "min": known[0] if known else None,
        "max": known[-1] if known else None,
        "top": [list(one) for one in top],
    }


def _counted(window: Any) -> tuple[list[Any], npt.NDArray[np.int64], int]:
    """Return the different values of a window, how often each comes, and how many are missing."""
    texts: list[Any] = np.asarray(_unmasked(window), object).tolist()
    missing = len(window) - len(texts)
    counts: dict[Any, int] = {}
    for one in texts:
        if one is None or one != one:
            missing += 1
        else:
            text = one.decode("utf-8", "backslashreplace") if isinstance(one, bytes) else one
            counts[text] = counts.get(text, 0) + 1
    return list(counts), np.array(list(counts.values()), np.int64), missing


@dataclass(frozen=True, slots=True)
class PointsRequest:
    """Two columns, and how many points are drawn at most."""

    x: str
    y: str
    most: int = 100_000


@dataclass(frozen=True, slots=True)
class Points:
    """Points of a plot. pairs: x and y in turn. total: how many rows there are."""

    pairs: npt.NDArray[np.float64]
    total: int


def points(found: Found, query: Query, wanted: PointsRequest, limits: Limits) -> Points:
    """Return two columns as float64, of every n-th row where there are more than so many."""
    table = table_of(found)
    for name in (wanted.x, wanted.y):
        spec = _spec(table, name)
        if kind_of(spec) not in ("integer", "float", "bool", "time") or spec.dtype.kind in "TOSU":
            raise bad_request(f"column {name!r}: a plot is of numbers and times")
    if not 1 <= wanted.most <= 10_000_000:
        raise bad_request(f"most {wanted.most}: takes 1 to 10000000")
    rows = matched(found, query, limits, 0)
    step = max(1, -(-rows.total // wanted.most))
    if rows.numbers is None:
        plan = Plan(table, start=0, stop=rows.total, step=step)
        values: dict[str, Any] = Selection(plan).to_dict(list({wanted.x: 0, wanted.y: 0}))
    else:
        numbers = rows.numbers[::step]
        values = {name: table[name][numbers] for name in (wanted.x, wanted.y)}
    pairs = np.stack([_numbers(values[wanted.x]), _numbers(values[wanted.y])], axis=-1)
    return Points(pairs, rows.total)


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    """Return numbers, and times as milliseconds since 1970; NaN for what is missing."""
    plain: npt.NDArray[Any] = np.ma.getdata(values)  # pyright: ignore[reportUnknownMemberType]
    if plain.dtype.kind in "mM":
        made = plain.astype(f"{plain.dtype.kind}8[us]").astype("f8") / 1000
        made[np.isnat(plain)] = np.nan
    else:
        made = plain.astype("f8")
    if np.ma.isMaskedArray(values):
        made[np.ma.getmaskarray(values)] = np.nan
    return made
