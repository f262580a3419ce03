"""The part `aggregates` of `table.py`: sums, means, groups and the first in order, in the columns layout.

In: a plan. Out: a `Cell` for each, on the ERA5-like table, on real flights, whose keys are strings, and on
words, of which 400,000 differ.
Answers are tuples of columns; the rows of groups come in any order, and float32 sums in any precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import coquina as cq
from bench.common import data
from bench.hdf5.hdf5_contest import Case, Cell, Plan, measured
from bench.tables import table_data, table_texts
from bench.tables.table_data import Columns
from bench.tables.table_peers import COLUMNS, DUCKDB, PANDAS, POLARS, connected, frame_of
from bench.tables.table_queries import EACH_GOALS

Answer = tuple[Any, ...]
BOX = "(lat > 50) & (20 <= lon) & (lon < 50)"
BOX_SQL = 'lat > 50 and 20 <= "lon" and "lon" < 50'


@dataclass(frozen=True)
class Work:
    """What is wanted, as each library is asked. keys: how many columns of the answer are the group's."""

    name: str
    keys: int
    ours: Callable[[Any], Answer]
    sql: str
    polars: Callable[[Any, Any], Any]
    pandas: Callable[[Any], Answer]
    judge: Callable[[Columns], Answer]


def fields(records: np.ndarray) -> Answer:
    """The columns of records."""
    return tuple(records[name] for name in records.dtype.names or ())


def series(grouped: Any) -> Answer:
    """Keys and values of pandas' groups."""
    return fields(grouped.reset_index().to_records(index=False))


def grouped(t: Columns, keys: tuple[str, ...], fold: Callable[[np.ndarray, int], np.ndarray]) -> Answer:
    """NumPy's groups: `fold` gets the number of each row's group, and how many there are."""
    codes, known = np.zeros(len(t[keys[0]]), np.int64), []
    for key in keys:
        values, inverse = np.unique(t[key], return_inverse=True)
        known.append(values)
        codes = codes * len(values) + inverse
    there, codes = np.unique(codes, return_inverse=True)
    places = np.unravel_index(there, [len(values) for values in known])
    columns = [values[place] for values, place in zip(known, places, strict=True)]
    return (*columns, fold(codes, len(there)))


def means(values: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    """The mean of each group."""
    return lambda codes, n: np.bincount(codes, values, n) / np.bincount(codes, minlength=n)


def sums(values: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    """The sum of each group."""
    return lambda codes, n: np.bincount(codes, values, n)


def counts(codes: np.ndarray, n: int) -> np.ndarray:
    """The rows of each group."""
    return np.bincount(codes, minlength=n)


WEATHER = [
    Work(
        "sum where time < 10",
        0,
        lambda t: (t.where("time < 10").sum("precip"),),
        'select sum(precip) from t where "time" < 10',
        lambda pl, t: t.filter(pl.col("time") < 10).select(pl.col("precip").sum()),
        lambda t: (t.query("time < 10")["precip"].sum(),),
        lambda t: (t["precip"][t["time"] < 10].sum(dtype="f8"),),
    ),
    Work(
        "mean in a box",
        0,
        lambda t: (t.where(BOX).mean("air"),),
        f"select avg(air) from t where {BOX_SQL}",
        lambda pl, t: t.filter(pl.sql_expr(BOX_SQL)).select(pl.col("air").mean()),
        lambda t: (t.query(BOX)["air"].mean(),),
        lambda t: (t["air"][(t["lat"] > 50) & (t["lon"] >= 20) & (t["lon"] < 50)].mean(dtype="f8"),),
    ),
    Work(
        "mean by time",
        1,
        lambda t: fields(t.group_by("time").agg(air=("air", "mean"))),
        'select "time", avg(air) from t group by "time"',
        lambda pl, t: t.group_by("time").agg(pl.col("air").mean()),
        lambda t: series(t.groupby("time", sort=False)["air"].mean()),
        lambda t: grouped(t, ("time",), means(t["air"])),
    ),
    Work(
        "mean by lat and time",
        2,
        lambda t: fields(t.group_by(["lat", "time"]).agg(air=("air", "mean"))),
        'select lat, "time", avg(air) from t group by lat, "time"',
        lambda pl, t: t.group_by("lat", "time").agg(pl.col("air").mean()),
        lambda t: series(t.groupby(["lat", "time"], sort=False)["air"].mean()),
        lambda t: grouped(t, ("lat", "time"), means(t["air"])),
    ),
    Work(
        "10 coldest",
        0,
        lambda t: (t.order_by("air").head(10)["air"],),
        "select air from t order by air limit 10",
        lambda pl, t: t.select("air").sort("air").head(10),
        lambda t: (t["air"].nsmallest(10).to_numpy(),),
        lambda t: (np.sort(np.partition(t["air"], 10)[:10]),),
    ),
]
FLIGHTS = [
    Work(
        "mean where carrier is UA",
        0,
        lambda t: (t.where("(carrier == 'UA') & (distance > 1000)").mean("distance"),),
        "select avg(distance) from t where carrier = 'UA' and distance > 1000",
        lambda pl, t: t.filter((pl.col("carrier") == "UA") & (pl.col("distance") > 1000)).select(
            pl.col("distance").mean()
        ),
        lambda t: (t.query("(carrier == 'UA') & (distance > 1000)")["distance"].mean(),),
        lambda t: (t["distance"][(t["carrier"] == b"UA") & (t["distance"] > 1000)].mean(dtype="f8"),),
    ),
    Work(
        "mean by carrier",
        1,
        lambda t: fields(t.group_by("carrier").agg(distance=("distance", "mean"))),
        "select carrier, avg(distance) from t group by carrier",
        lambda pl, t: t.group_by("carrier").agg(pl.col("distance").mean()),
        lambda t: series(t.groupby("carrier", sort=False)["distance"].mean()),
        lambda t: grouped(t, ("carrier",), means(t["distance"])),
    ),
    Work(
        "count by carrier and origin",
        2,
        lambda t: fields(t.group_by(["carrier", "origin"]).agg(n="count")),
        "select carrier, origin, count(*) from t group by carrier, origin",
        lambda pl, t: t.group_by("carrier", "origin").agg(pl.len()),
        lambda t: series(t.groupby(["carrier", "origin"], sort=False).size()),
        lambda t: grouped(t, ("carrier", "origin"), counts),
    ),
    Work(
        "10 shortest",
        0,
        lambda t: (t.order_by("distance").head(10)["distance"],),
        "select distance from t order by distance limit 10",
        lambda pl, t: t.select("distance").sort("distance").head(10),
        lambda t: (t["distance"].nsmallest(10).to_numpy(),),
        lambda t: (np.sort(t["distance"])[:10],),
    ),
]
WORDS = [
    Work(
        "sum by word",
        1,
        lambda t: fields(t.group_by("word").agg(value=("value", "sum"))),
        "select word, sum(value) from t group by word",
        lambda pl, t: t.group_by("word").agg(pl.col("value").sum()),
        lambda t: series(t.groupby("word", sort=False)["value"].sum()),
        lambda t: grouped(t, ("word",), sums(t["value"])),
    ),
]


def aggregates(plan: Plan) -> Iterator[Cell]:
    """The weather, then flights and words: with strings of fixed size, then as text of any length."""
    columns, _ = table_data.era5(plan.quick)
    paths = table_data.files(plan)
    yield from contest(
        plan,
        (paths["columns"], paths["parquet"]),
        frame_of(columns),
        columns,
        WEATHER,
        table_data.label(plan),
    )
    rows = data.load("flights")
    flights = {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names or ()}
    yield from strings(plan, "flights", flights, FLIGHTS)
    words = table_texts.words(table_texts.QUICK_ROWS if plan.quick else table_texts.ROWS)
    yield from strings(plan, "words", words, WORDS)


def strings(plan: Plan, name: str, columns: Columns, works: list[Work]) -> Iterator[Cell]:
    """The works on a table whose keys are strings of fixed size, and then text of any length."""
    text = {
        name: values.astype(str).astype(object) if values.dtype.kind == "S" else values
        for name, values in columns.items()
    }
    frame, parquet = frame_of(text), plan.folder / f"{name}.parquet"
    table_data.write_parquet(parquet, text)
    for kind, values in {"of fixed size": columns, "text": frame}.items():
        path = plan.folder / f"{name}.h5"
        cq.create_table(path, values, mode="w", codec=table_data.CODEC, level=table_data.LEVEL).close()
        label = f"{name}, {len(frame)} rows, keys {kind}"
        yield from contest(plan, (path, parquet), frame, columns, works, label)


def contest(
    plan: Plan, paths: tuple[Path, Path], frame: Any, columns: Columns, works: list[Work], label: str
) -> Iterator[Cell]:
    """Each work, when all have found what NumPy finds."""
    import polars as pl

    ours, parquet = paths
    connection = connected()
    connection.execute(f"create view t as select * from '{parquet}'")

    def by_polars(work: Work) -> Answer:
        return tuple(one.to_numpy() for one in work.polars(pl, pl.scan_parquet(parquet)).collect())

    nbytes = sum(values.nbytes for values in columns.values())
    with cq.open_table(ours) as table:
        for work in works:
            calls: dict[str, Callable[[], Answer]] = {
                COLUMNS: lambda work=work: work.ours(table),
                DUCKDB: lambda work=work: tuple(connection.execute(work.sql).fetchnumpy().values()),
                POLARS: lambda work=work: by_polars(work),
                PANDAS: lambda work=work: work.pandas(frame),
            }
            agree(work, calls, work.judge(columns))
            case = Case("aggregates", work.name, label, nbytes, EACH_GOALS, ours=COLUMNS)
            yield measured(plan, case, calls)


def agree(work: Work, calls: Mapping[str, Callable[[], Answer]], expected: Answer) -> None:
    """Stops the bench where a library's answer is another than NumPy's, but for the last digits."""
    wanted = in_order(expected, work.keys)
    for library, call in calls.items():
        found = in_order(call(), work.keys)
        # Some sum float32 in float32.
        same = len(found) == len(wanted) and all(
            np.array_equal(a, b)
            if a.dtype.kind == "U"
            else a.shape == b.shape and np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3)
            for a, b in zip(found, wanted, strict=True)
        )
        if not same:
            raise AssertionError(f"{library}, {work.name}: another result than NumPy's")


def in_order(answer: Answer, keys: int) -> list[np.ndarray]:
    """The columns of an answer, the rows sorted by the first of them."""
    columns = [np.atleast_1d(np.asarray(one)) for one in answer]
    columns = [one.astype(str) if one.dtype.kind in "SOT" else one for one in columns]
    if not keys:
        return columns
    order = np.lexsort(columns[:keys])
    return [one[order] for one in columns]
